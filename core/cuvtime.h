/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measures how long steps take. */
#ifndef CUV_TIME_H
#define CUV_TIME_H

#include <stdint.h>
#include <time.h>

/* Returns the microseconds since *start, a time of CLOCK_MONOTONIC, and sets it
 * to now. */
static inline float
cuv_microseconds_since (struct timespec *start)
{
  struct timespec now;
  float us;

  clock_gettime (CLOCK_MONOTONIC, &now);
  us = (float) (now.tv_sec - start->tv_sec) * 1e6f
      + (float) (now.tv_nsec - start->tv_nsec) / 1e3f;
  *start = now;
  return us;
}

/* Returns the processor time of the calling thread, in nanoseconds. */
static inline int64_t
cuv_thread_ns (void)
{
  struct timespec time;

  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &time);
  return (int64_t) time.tv_sec * 1000000000 + time.tv_nsec;
}

#endif
