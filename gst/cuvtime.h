/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef CUV_TIME_H
#define CUV_TIME_H

#include <time.h>

/* Sets *start, of CLOCK_MONOTONIC, to now and returns the time since. */
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

#endif
