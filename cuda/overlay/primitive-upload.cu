// SPDX-License-Identifier: LGPL-2.1-or-later
// Copies the list of a frame to device memory: bytes, then primitives. From
// frame to frame primitives move, but the masks of labels are kept, and other
// bytes, such as those of pictures, often stay the same.
#include "overlay/primitive-upload.cuh"

#include <algorithm>
#include <string.h>

#define CUV_OVERLAY_FIRST_CAPACITY ((size_t) 256 << 10) // bytes
#define CUV_OVERLAY_COMPARE_BLOCK 4096                  // bytes
#define CUV_OVERLAY_ALIGNMENT 16

static size_t
capacity_for (size_t size)
{
  size_t capacity = CUV_OVERLAY_FIRST_CAPACITY;

  while (capacity < size)
    capacity *= 2;
  return capacity;
}

// Returns the offset of the primitives, which follow the bytes.
static size_t
primitives_at (const CuvOverlayList *list)
{
  return ((size_t) list->n_bytes + CUV_OVERLAY_ALIGNMENT - 1)
      & ~(size_t) (CUV_OVERLAY_ALIGNMENT - 1);
}

static size_t
size_of (const CuvOverlayList *list)
{
  return primitives_at (list)
      + sizeof (CuvPrimitive) * (size_t) list->n_primitives;
}

int
cuv_overlay_list_reserve (
    CuvOverlayListMemory *self, const CuvOverlayList *list, size_t scratch)
{
  const size_t size = size_of (list);
  CuvOverlayListMemory larger = {};

  if (self->device != nullptr && size <= self->capacity[0]
      && size + scratch <= self->capacity[1])
    return 0;
  larger.capacity[0] = std::max (self->capacity[0], capacity_for (size));
  larger.capacity[1] =
      std::max (self->capacity[1], capacity_for (size + scratch));
  larger.pinned =
      (uint8_t *) cuv_arena_pinned (&larger.arena, larger.capacity[0]);
  if (larger.pinned != nullptr)
    larger.device =
        (uint8_t *) cuv_arena_alloc (&larger.arena, larger.capacity[1]);
  if (larger.device == nullptr) {
    cuv_arena_clear (&larger.arena);
    return -1;
  }
  cuv_arena_clear (&self->arena);
  *self = larger;
  return 0;
}

// Returns how many of the first bytes need not be compared.
static size_t
n_known (const CuvOverlayListMemory *self, const CuvOverlayList *list)
{
  return self->epoch == list->epoch ? std::min (self->n_kept, self->n_valid)
                                    : 0;
}

// Copies the blocks of a list that have changed to pinned memory, and returns
// the offset of the first. Comparing takes a fifth of the time of copying to
// memory that the device has read.
static size_t
update_pinned (CuvOverlayListMemory *self, const CuvOverlayList *list)
{
  const size_t n = (size_t) list->n_bytes, primitives = primitives_at (list);
  size_t changed = primitives;

  for (size_t at = n_known (self, list); at < n;
       at += CUV_OVERLAY_COMPARE_BLOCK) {
    const size_t size = std::min ((size_t) CUV_OVERLAY_COMPARE_BLOCK, n - at);

    if (at + size <= self->n_valid
        && memcmp (self->pinned + at, list->bytes + at, size) == 0)
      continue;
    memcpy (self->pinned + at, list->bytes + at, size);
    changed = std::min (changed, at);
  }
  memcpy (
      self->pinned + primitives, list->primitives, size_of (list) - primitives);
  return changed;
}

int
cuv_overlay_list_upload (CuvOverlayListMemory *self, const CuvOverlayList *list,
    CuvOverlayDeviceList *on_device, cudaStream_t stream)
{
  const size_t changed = update_pinned (self, list);

  self->n_valid = 0; // in case the copy fails
  CUV_CUDA_TRY (cudaMemcpyAsync (self->device + changed, self->pinned + changed,
      size_of (list) - changed, cudaMemcpyHostToDevice, stream));
  self->n_valid = (size_t) list->n_bytes;
  self->n_kept = (size_t) list->n_kept;
  self->epoch = list->epoch;
  *on_device = CuvOverlayDeviceList{ self->device,
    (const CuvPrimitive *) (self->device + primitives_at (list)),
    self->device + size_of (list) };
  return 0;
}
