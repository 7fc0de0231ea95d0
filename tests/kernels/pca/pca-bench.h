/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The cubes that are timed, on CPU and GPU. */
#ifndef PCA_BENCH_H
#define PCA_BENCH_H

#include "pca-inputs.h"

typedef struct {
  const char *name;
  CuvCubeFormat format;
  PcaLayout layout;
  int width, height, n;
  CuvPcaTiming timing;
  bool alike; /* noise of the bands: components of it are near each other */
} PcaBenchCase;

extern const PcaBenchCase pca_bench_cases[];
enum { PCA_N_BENCH_CASES = 15 };

CuvPcaParams pca_bench_params (const PcaBenchCase *c);

/* Whether CUV_BENCH_SHAPE names it or is not set. */
bool pca_bench_wants (const PcaBenchCase *c);

#endif
