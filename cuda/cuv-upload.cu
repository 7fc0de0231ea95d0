// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuv-upload.h"
#include "cuv-cuda.cuh"
#include "cuv-wait.h"

#include <new>
#include <string.h>

// While one slot of a worker goes up it fills the other.
enum { SLOTS = 2 };

struct _CuvUpload {
  CuvBuffer memory;
  CuvArena arena; // the slots'
  uint8_t *pieces;
  cudaEvent_t sent[CUV_UPLOAD_WORKERS][SLOTS];
  int next[CUV_UPLOAD_WORKERS];      // slot
  CuvWait waits[CUV_UPLOAD_WORKERS]; // of pieces
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
  // vectors that begin inside may be loaded whole
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
cuv_upload_begin_pieces (CuvUpload *self)
{
  if (self->pieces == nullptr)
    self->pieces = (uint8_t *) cuv_arena_pinned (
        &self->arena, CUV_UPLOAD_WORKERS * SLOTS * CUV_UPLOAD_PIECE);
  if (self->pieces == nullptr)
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
cuv_upload_piece (CuvUpload *self, int worker, const void *data, size_t at,
    size_t size, CuvCudaStream stream)
{
  const int slot = self->next[worker];
  const cudaEvent_t sent = self->sent[worker][slot];
  uint8_t *piece = self->pieces + (worker * SLOTS + slot) * CUV_UPLOAD_PIECE;

  if (cuv_wait_event (&self->waits[worker], sent) != 0)
    return -1;
  memcpy (piece, data, size);
  CUV_CUDA_TRY (cudaMemcpyAsync ((uint8_t *) self->memory.data + at, piece,
      size, cudaMemcpyHostToDevice, (cudaStream_t) stream));
  CUV_CUDA_TRY (cudaEventRecord (sent, (cudaStream_t) stream));
  self->next[worker] = (slot + 1) % SLOTS;
  return 0;
}
