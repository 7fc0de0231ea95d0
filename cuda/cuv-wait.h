/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Waits for the GPU with low CPU use and latency: the driver's own waits either
 * spin while the GPU works, or add some 40 us for an interrupt. These functions
 * sleep for most of the usual duration, then poll, or sleep again if it is long
 * or the GPU is busy. */
#ifndef CUV_WAIT_H
#define CUV_WAIT_H

#include <stdbool.h>
#include <stdint.h>
#include "cuv-cuda.h"

CUV_BEGIN

/* One per kind of work; not thread-safe. Initialise it with zeros. */
typedef struct {
  int64_t usual; /* recent duration of a wait in nanoseconds */
} CuvWait;

/* Wait for all work on the stream, or before the event (a cudaEvent_t). Return
 * 0 or -1. */
CUV_API int cuv_wait_stream (CuvWait *self, CuvCudaStream stream);
CUV_API int cuv_wait_event (CuvWait *self, void *event);

/* The threads that wait for the GPU. libcuvdetect has its own copy of this
 * code, which counts them together with those of libgstcuvision:
 * cuv_waiters_join() makes this copy count with another one, which is never
 * unloaded. Returns the waiters that it used before; threads that wait already
 * stay counted there. */
typedef struct _CuvWaiters CuvWaiters;
CUV_API CuvWaiters *cuv_waiters (void);
CUV_API CuvWaiters *cuv_waiters_join (CuvWaiters *waiters);

/* Whether several threads wait for the GPU, at the same time or within some two
 * milliseconds of each other: then it has enough to do, or they have, and what
 * shortens a frame at the expense of others only costs time. */
CUV_API bool cuv_gpu_is_busy (void);

CUV_END

#endif
