/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The cubes of the benchmarks on CPU and GPU. */
#ifndef PCA_BENCH_H
#define PCA_BENCH_H

#include "pca-inputs.h"

typedef struct {
  const char *name;
  CuvCubeFormat format;
  PcaLayout layout;
  int width, height, n;
  CuvPcaTiming timing;
  bool alike; /* equal noise in all bands: eigenvalues of the noise are close */
} PcaBenchCase;

extern const PcaBenchCase pca_bench_cases[];
enum { PCA_N_BENCH_CASES = 17 };

CuvPcaParams pca_bench_params (const PcaBenchCase *c);

/* Whether CUV_BENCH_SHAPE names the case or is not set. */
bool pca_bench_wants (const PcaBenchCase *c);

#endif
