// SPDX-License-Identifier: LGPL-2.1-or-later
// Uploads from pinned and, in chunks, from pageable memory.
#include "cuv-upload.h"
#include "cuv-cuda.cuh"
#include "cuv-wait.h"

#include <new>
#include <string.h>

// Double buffering: a worker fills one slot while the other is transferred.
enum { SLOTS = 2 };

struct _CuvUpload {
  CuvBuffer memory; // on the device, for the caller
  CuvArena arena;   // memory of the slots
  uint8_t *staging; // pinned: the slots of each worker, a chunk each
  cudaEvent_t sent[CUV_UPLOAD_WORKERS][SLOTS]; // recorded when a slot may be
                                               // overwritten
  int next[CUV_UPLOAD_WORKERS];                // index of the slot to fill
  CuvWait waits[CUV_UPLOAD_WORKERS];           // for a free slot
};

extern "C" CuvUpload *
cuv_upload_new (void)
{
  CuvUpload *self = new (std::nothrow) CuvUpload ();

  if (self == nullptr)
    cuv_cuda_record (cudaErrorMemoryAllocation, "new CuvUpload");
  return self;
}

extern "C" void
cuv_upload_free (CuvUpload *self)
{
  if (self == nullptr)
    return;
  for (auto &events : self->sent) {
    for (cudaEvent_t event : events) {
      if (event == nullptr)
        continue;
      cuv_cuda_record (cudaEventSynchronize (event), "cudaEventSynchronize");
      cuv_cuda_record (cudaEventDestroy (event), "cudaEventDestroy");
    }
  }
  cuv_arena_clear (&self->arena);
  cuv_buffer_clear (&self->memory);
  delete self;
}

extern "C" uint8_t *
cuv_upload_reserve (CuvUpload *self, size_t size)
{
  // padded, so that vector loads may overrun the end
  return cuv_buffer_reserve (&self->memory, (size + 511) / 256 * 256) == 0
      ? (uint8_t *) self->memory.data
      : nullptr;
}

extern "C" int
cuv_upload_pinned (
    CuvUpload *self, const void *data, size_t size, CuvCudaStream stream)
{
  CUV_CUDA_TRY (cudaMemcpyAsync (self->memory.data, data, size,
      cudaMemcpyHostToDevice, (cudaStream_t) stream));
  return 0;
}

extern "C" int
cuv_upload_begin_chunks (CuvUpload *self)
{
  if (self->staging == nullptr)
    self->staging = (uint8_t *) cuv_arena_pinned (
        &self->arena, CUV_UPLOAD_WORKERS * SLOTS * CUV_UPLOAD_CHUNK);
  if (self->staging == nullptr)
    return -1;
  for (auto &events : self->sent) {
    for (cudaEvent_t &event : events) {
      if (event == nullptr)
        CUV_CUDA_TRY (
            cudaEventCreateWithFlags (&event, cudaEventDisableTiming));
    }
  }
  return 0;
}

extern "C" int
cuv_upload_chunk (CuvUpload *self, int worker, const void *data, size_t at,
    size_t size, CuvCudaStream stream)
{
  const int slot = self->next[worker];
  const cudaEvent_t sent = self->sent[worker][slot];
  uint8_t *chunk = self->staging + (worker * SLOTS + slot) * CUV_UPLOAD_CHUNK;

  if (cuv_wait_event (&self->waits[worker], sent) != 0)
    return -1;
  memcpy (chunk, data, size);
  CUV_CUDA_TRY (cudaMemcpyAsync ((uint8_t *) self->memory.data + at, chunk,
      size, cudaMemcpyHostToDevice, (cudaStream_t) stream));
  CUV_CUDA_TRY (cudaEventRecord (sent, (cudaStream_t) stream));
  self->next[worker] = (slot + 1) % SLOTS;
  return 0;
}
