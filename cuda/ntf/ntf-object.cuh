// SPDX-License-Identifier: LGPL-2.1-or-later
// The object behind ntf.h: memory, and what is enqueued for it.
#ifndef CUV_NTF_OBJECT_CUH
#define CUV_NTF_OBJECT_CUH

#include "cuv-wait.h"
#include "ntf/ntf.cuh"
#include "ntf/ntf.h"

// Limit of multiplications enqueued at a time, and so of the delay before a
// cancelled call returns: about 2 ms on an H200, 20 ms on a T4.
#define CUV_NTF_MAX_WORK 0x1p35

struct _CuvNtfCuda {
  CuvArena arena = {};     // all memory but the residual's
  CuvBuffer residual = {}; // a map, on the device
  CuvNtfState state = {};  // sizes and device memory: the kernels' parameter
  CuvNtfFound *found = nullptr; // on the device

  // pinned host memory, copies of what is on the device
  CuvNtfFound *host_found = nullptr;
  CuvNtfProgress *host_progress = nullptr;
  CuvNtfFactors factors = {};
  float *host_v = nullptr; // v of factors as on the device: column by column

  double work = 0; // multiplications enqueued since the last wait
  double max_work = CUV_NTF_MAX_WORK;
  const int32_t *cancel = nullptr;
  cudaStream_t stream = nullptr;
  CuvWait wait = {};

  ~_CuvNtfCuda ();
};

// Copy the factors of all modes from and to self->factors, synchronously.
// Return 0 or -1.
int cuv_ntf_upload (CuvNtfCuda *self);
int cuv_ntf_download (CuvNtfCuda *self);

// Waits for all that is enqueued. Returns 0 or -1.
static inline int
cuv_ntf_wait (CuvNtfCuda *self)
{
  self->work = 0;
  return cuv_wait_stream (&self->wait, self->stream);
}

// Waits even if enqueuing failed, as memory may still be in use. Returns -1 if
// either failed.
static inline int
cuv_ntf_end (CuvNtfCuda *self, int enqueued)
{
  return cuv_ntf_wait (self) == 0 && enqueued != -1 ? 0 : -1;
}

#endif
