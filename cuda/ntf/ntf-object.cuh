// SPDX-License-Identifier: LGPL-2.1-or-later
// CuvNtfCuda, the object of ntf.h, shared by ntf.cu, which allocates it and
// moves data in and out, and ntf-run.cu, which enqueues iterations.
#ifndef CUV_NTF_OBJECT_CUH
#define CUV_NTF_OBJECT_CUH

#include "cuv-wait.h"
#include "ntf/ntf-state.cuh"
#include "ntf/ntf.h"

// Multiplications enqueued before the host waits and checks *cancel. They take
// about 2 ms on an H200 and 20 ms on a T4, which is how long cancelling may be
// delayed.
#define CUV_NTF_MAX_WORK 0x1p35

struct _CuvNtfCuda {
  CuvArena arena = {};     // all memory but the residual's
  CuvBuffer residual = {}; // in device memory: height x width floats
  CuvNtfState state = {};  // kernel argument: sizes and device pointers
  CuvNtfFound *found =
      nullptr; // in device memory: result of a scan for bad samples

  // pinned host memory, copied from or to the device
  CuvNtfFound *host_found = nullptr;
  CuvNtfProgress *host_progress = nullptr;
  CuvNtfFactors factors = {};
  float *host_v = nullptr; // v in the device's layout, column by column

  double work = 0; // multiplications enqueued since the last wait
  double max_work = CUV_NTF_MAX_WORK;
  const int32_t *cancel = nullptr; // the caller's; nonzero cancels the run
  cudaStream_t stream = nullptr;   // stream of all work
  CuvWait wait = {};

  ~_CuvNtfCuda ();
};

// cuv_ntf_upload() copies the factors of all modes to the device,
// cuv_ntf_download() copies them back; both wait. Return 0 or -1.
int cuv_ntf_upload (CuvNtfCuda *self);
int cuv_ntf_download (CuvNtfCuda *self);

// Waits for all enqueued work. Returns 0 or -1.
static inline int
cuv_ntf_wait (CuvNtfCuda *self)
{
  self->work = 0;
  return cuv_wait_stream (&self->wait, self->stream);
}

// Waits even if enqueuing failed, because earlier kernels may still use the
// memory. Returns -1 if enqueuing or the wait failed, otherwise 0.
static inline int
cuv_ntf_end (CuvNtfCuda *self, int enqueued)
{
  return cuv_ntf_wait (self) == 0 && enqueued != -1 ? 0 : -1;
}

#endif
