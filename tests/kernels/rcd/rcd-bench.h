/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Searches that benchmarks time, in frames of 2048 x 1152. */
#ifndef RCD_BENCH_H
#define RCD_BENCH_H

#include "rcd-inputs.h"

enum { RCD_BENCH_WIDTH = 2048, RCD_BENCH_HEIGHT = 1152 };

typedef struct {
  const char *name, *format;
  CuvRcdFeatures features;
  CuvRcdMetric metric;
  int stride, n_targets; /* stride in pixels */
  int width, height;     /* of a target */
  int radius;            /* of a local search; 0 = the whole frame */
  int refine;
} RcdBenchCase;

extern const RcdBenchCase rcd_bench_cases[];
enum { RCD_N_BENCH_CASES = 10 };

/* Makes the input of a search. Targets are parts of the frame, in 8 scales up
 * to 2. */
void rcd_bench_input (RcdInput *self, const RcdBenchCase *bench);

/* Reports the time of the method of the thesis, with 20 integral images in
 * single precision, and the errors of its distances. */
void bench_float_planes (void);

#endif
