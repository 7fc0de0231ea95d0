// SPDX-License-Identifier: LGPL-2.1-or-later
// State of a factorisation, host and device.
#ifndef CUV_NTF_OBJECT_CUH
#define CUV_NTF_OBJECT_CUH

#include "cuv-wait.h"
#include "ntf/ntf.cuh"
#include "ntf/ntf.h"

// Bound of enqueued multiplications, i.e. of the latency of cancelling: about 2
// ms on an H200, 20 ms on a T4.
#define CUV_NTF_MAX_WORK 0x1p35

struct _CuvNtfCuda {
  CuvArena arena = {};
  CuvBuffer residual = {};
  CuvNtfState state = {};
  CuvNtfFound *found = nullptr, *found_to = nullptr;
  CuvNtfProgress *progress_to = nullptr;
  CuvNtfFactors
      factors = {}; // pinned memory; u and w laid out as on the device
  float *v_columns = nullptr; // v laid out as on the device
  double work = 0;            // enqueued since the last wait
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

static inline int
cuv_ntf_wait (CuvNtfCuda *self)
{
  self->work = 0;
  return cuv_wait_stream (&self->wait, self->stream);
}

// Waits; returns -1 also if enqueuing failed.
static inline int
cuv_ntf_end (CuvNtfCuda *self, int enqueued)
{
  return cuv_ntf_wait (self) == 0 && enqueued != -1 ? 0 : -1;
}

#endif
