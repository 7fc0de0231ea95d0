// SPDX-License-Identifier: LGPL-2.1-or-later
// The primitives of a frame in device memory.
#ifndef CUV_OVERLAY_PRIMITIVE_UPLOAD_CUH
#define CUV_OVERLAY_PRIMITIVE_UPLOAD_CUH

#include "cuv-cuda.cuh"
#include "overlay/overlay-types.h"

// Memory for one list at a time. Initialise it with zeros; free it with
// cuv_arena_clear (&arena).
typedef struct {
  CuvArena arena;
  uint8_t *pinned, *device; // bytes, then primitives, then on the device
                            // scratch
  size_t capacity[2];       // bytes of pinned and of device
  size_t n_valid;           // bytes of the last list that are the same in both
  size_t n_kept;            // n_kept and epoch of the last list
  uint64_t epoch;
} CuvOverlayListMemory;

// Where a list is on the device.
typedef struct {
  const uint8_t *bytes;
  const CuvPrimitive *primitives;
  uint8_t *scratch; // 16-byte aligned
} CuvOverlayDeviceList;

// Reserves memory for a list, and scratch memory on the device. Returns 0 or
// -1.
int cuv_overlay_list_reserve (
    CuvOverlayListMemory *self, const CuvOverlayList *list, size_t scratch);

// Copies a list to the device, from the first block that differs from the last
// list. Work that uses the last list must have ended. Returns 0 or -1.
int cuv_overlay_list_upload (CuvOverlayListMemory *self,
    const CuvOverlayList *list, CuvOverlayDeviceList *on_device,
    cudaStream_t stream);

#endif
