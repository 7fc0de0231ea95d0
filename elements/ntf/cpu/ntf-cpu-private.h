/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* State of a factorisation on the CPU, shared with its initialisation. */
#ifndef CUV_NTF_CPU_PRIVATE_H
#define CUV_NTF_CPU_PRIVATE_H

#include "cpu/ntf-cpu.h"
#include "cpu/ntf-dsp.h"

/* Each task has a fixed band of the tensor's rows and its own sums, which are
 * added in task order, so results do not depend on the number of threads. */
enum { CUV_NTF_TASKS = 32 };

typedef struct {
  float *sums[CUV_NTF_MODES]; /* numerators of v and w: size x stride */
  float *map;        /* map of a row: width x stride or depth x padded */
  float *columns;    /* depth x stride */
  float *transposed; /* MATRIX: v of a row, rank x padded */
  double *gram;      /* MATRIX: the task's part of v's Gram matrix */
  CuvNtfScan scan;
  double square, residual; /* squared norms of G and of the residual */
  /* squared norms of the positive and negative parts of maps */
  double parts[2][CUV_NTF_MAX_RANK];
  /* result of a search for a pixel */
  double best;
  int best_pixel;
} CuvNtfTask;

struct _CuvNtfCpu {
  CuvNtfTensor tensor;
  CuvNtfFactors factors;
  CuvNtfDsp dsp;
  CuvNtfTask tasks[CUV_NTF_TASKS];
  float *v_transposed; /* rank x padded */
  bool is_matrix;      /* whether the tensor is pixels x depth */

  int padded; /* width, rounded up to a multiple of CUV_NTF_LANES */
  const int32_t *cancel;
  int n_threads; /* threads of the current call */

  /* state of the current run */
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
  float *mean;         /* MATRIX: mean of the pixels, depth values */
  float *offset;       /* subtracted from maps, if not NULL: stride values */
  const double *probe; /* probe of a search, rank values */
};

typedef void (*CuvNtfRowFunc) (CuvNtfCpu *self, CuvNtfTask *task, int y);

/* Calls func for each row in 0 .. n_rows - 1, split over tasks. Returns false
 * if cancelled; then some rows are left out. */
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
  return &self->factors.mode[mode][(size_t) i * (size_t) self->factors.stride];
}

/* Returns v at the first pixel of a row of a MATRIX. */
static inline float *
cuv_ntf_pixels (const CuvNtfCpu *self, int y)
{
  return cuv_ntf_factor (self, CUV_NTF_V, y * self->tensor.width);
}

/* Fill w, or all factors of a MATRIX, with random numbers. A MATRIX has many
 * values, so the second function can be cancelled and returns false then. */
void cuv_ntf_cpu_randomise_w (CuvNtfCpu *self);
bool cuv_ntf_cpu_randomise_matrix (CuvNtfCpu *self);

/* Updates v and w of a MATRIX. Returns false if cancelled. */
bool cuv_ntf_cpu_iterate_matrix (CuvNtfCpu *self);

/* Updates v or w, whose numerators are in the sums of the tasks. */
bool cuv_ntf_cpu_update_mode (CuvNtfCpu *self, int mode);
void cuv_ntf_cpu_init_update (CuvNtfCpu *self, int mode);

/* Writes n rows of a factor column by column: rank x padded. */
void cuv_ntf_cpu_transpose (
    const CuvNtfCpu *self, const float *rows, int n, float *to);

/* Initialise the factors by NNDSVD, or w of a MATRIX by N-FINDR. Return false
 * if cancelled. */
bool cuv_ntf_cpu_nndsvd (CuvNtfCpu *self);
bool cuv_ntf_cpu_nfindr (CuvNtfCpu *self);

/* Sets w to the strongest orthonormal vectors of pixels x depth; the iteration
 * starts from w. mean: NULL, or depth values to subtract from each pixel; then
 * offset receives the mean's map by these vectors, stride values. */
bool cuv_ntf_cpu_find_vectors (
    CuvNtfCpu *self, const float *mean, float *offset);

/* Computes a row's map, width x stride: G times w, minus the offset. */
void cuv_ntf_cpu_map_row (CuvNtfCpu *self, int y, float *map);

/* Sets the factor of a mode to the sums that func adds over all rows. */
bool cuv_ntf_cpu_sum_rows (CuvNtfCpu *self, int mode, CuvNtfRowFunc func);

#endif
