/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Waiting for the GPU at little cost of the CPU: the driver's own waits either
 * spin for as long as the GPU works, or take an interrupt and some 40 us more.
 * A wait here sleeps for most of the time that it usually takes, then polls. */
#ifndef CUV_WAIT_H
#define CUV_WAIT_H

#include <stdint.h>
#include "cuv-cuda.h"

CUV_BEGIN

/* One for each kind of work, as long as that is done; by one thread at a time.
 * All 0 at first. */
typedef struct {
  int64_t usual; /* nanoseconds that a wait takes, of late */
} CuvWait;

/* Returns when all work on the stream is done, or all work before the event (a
 * cudaEvent_t). 0, or -1 if that failed. */
CUV_API int cuv_wait_stream (CuvWait *self, CuvCudaStream stream);
CUV_API int cuv_wait_event (CuvWait *self, void *event);

CUV_END

#endif
