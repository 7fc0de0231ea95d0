/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* State of a factorisation on the CPU, shared with its initialisation. */
#ifndef CUV_NTF_CPU_PRIVATE_H
#define CUV_NTF_CPU_PRIVATE_H

#include "cpu/ntf-cpu.h"
#include "cpu/ntf-dsp.h"

/* Each task has a fixed band of the tensor's rows and sums of its own, which
 * are added in the order of tasks: results do not depend on the number of
 * threads. */
enum { CUV_NTF_TASKS = 32 };

typedef struct {
  float *sums[CUV_NTF_MODES]; /* numerators of v and w: size x stride */
  float *map;                 /* of a row: width x stride or depth x padded */
  float *columns;             /* depth x stride */
  CuvNtfScan scan;
  double square, residual; /* squared norms of G and of the residual */
  /* squared norms of the positive and negative parts of maps */
  double parts[2][CUV_NTF_MAX_RANK];
} CuvNtfTask;

struct _CuvNtfCpu {
  CuvNtfTensor tensor;
  CuvNtfFactors factors;
  CuvNtfDsp dsp;
  CuvNtfTask tasks[CUV_NTF_TASKS];
  float *v_transposed; /* rank x padded */

  int padded; /* width, up to a multiple of CUV_NTF_LANES */
  const int32_t *cancel;
  int n_threads; /* of the call */

  /* state of a run */
  CuvNtfParams params;
  CuvNtfResult result;
  CuvNtfGram grams[CUV_NTF_MODES];
  CuvNtfUpdate updates[CUV_NTF_MODES];

  /* arguments of the row functions */
  int mode;
  const CuvCube *cube;
  const double *ignore;
  int z;               /* depth of the cube's first band */
  float *residual_map; /* height x width */
};

typedef void (*CuvNtfRowFunc) (CuvNtfCpu *self, CuvNtfTask *task, int y);

/* Calls func for each row in 0 .. n_rows - 1, split over tasks. false if
 * cancelled; then some rows are left out. */
bool cuv_ntf_cpu_rows (CuvNtfCpu *self, int n_rows, CuvNtfRowFunc func);

void cuv_ntf_cpu_clear_sums (CuvNtfCpu *self, int mode);

static inline const float *
cuv_ntf_row (const CuvNtfCpu *self, int y)
{
  const CuvNtfTensor *g = &self->tensor;

  return &g->values[(size_t) y * (size_t) g->depth * (size_t) g->width];
}

static inline float *
cuv_ntf_factor (const CuvNtfCpu *self, int mode, int i)
{
  return &self->factors.mode[mode][i * self->factors.stride];
}

/* Initialises the factors by NNDSVD; false if cancelled. */
bool cuv_ntf_cpu_nndsvd (CuvNtfCpu *self);

#endif
