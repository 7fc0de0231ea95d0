// SPDX-License-Identifier: LGPL-2.1-or-later
// A factorisation's memory, on both sides.
#ifndef CUV_NTF_OBJECT_CUH
#define CUV_NTF_OBJECT_CUH

#include "cuv-wait.h"
#include "ntf/ntf.cuh"
#include "ntf/ntf.h"

// Multiplications that may be under way when a run is cancelled: about 2 ms of
// an H200, 20 of a T4.
#define CUV_NTF_MAX_WORK 0x1p35

struct _CuvNtfCuda {
  CuvArena arena = {};
  CuvBuffer residual = {};
  CuvNtfState state = {};
  CuvNtfFound *found = nullptr, *found_to = nullptr;
  CuvNtfProgress *progress_to = nullptr;
  CuvNtfFactors factors = {}; // in pinned memory; u and w as on the device
  float *v_columns = nullptr; // v as it is there
  double work = 0;            // since the host waited
  double max_work = CUV_NTF_MAX_WORK;
  const int32_t *cancel = nullptr;
  cudaStream_t stream = nullptr;
  CuvWait wait = {};

  ~_CuvNtfCuda ();
};

// Of all modes, from and to self->factors; they wait. 0 or -1.
int cuv_ntf_upload (CuvNtfCuda *self);
int cuv_ntf_download (CuvNtfCuda *self);

// For all that was enqueued.
static inline int
cuv_ntf_wait (CuvNtfCuda *self)
{
  self->work = 0;
  return cuv_wait_stream (&self->wait, self->stream);
}

// The same, and -1 if not all could be enqueued.
static inline int
cuv_ntf_end (CuvNtfCuda *self, int enqueued)
{
  return cuv_ntf_wait (self) == 0 && enqueued != -1 ? 0 : -1;
}

#endif
