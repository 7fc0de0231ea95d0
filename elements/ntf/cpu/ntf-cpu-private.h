/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef CUV_NTF_CPU_PRIVATE_H
#define CUV_NTF_CPU_PRIVATE_H

#include "cpu/ntf-cpu.h"
#include "cpu/ntf-dsp.h"

/* Rows of G are dealt with in pieces, each of which sums for itself; then the
 * pieces are added in their order. So threads do not matter. */
enum { CUV_NTF_PIECES = 32 };

typedef struct {
  float *sums[CUV_NTF_MODES]; /* of v and w: size x stride */
  float *map;                 /* of one row: width x stride, depth x padded */
  float *columns;             /* depth x stride */
  CuvNtfScan scan;
  double square, rest;                /* of G, and of what terms leave of it */
  double halves[2][CUV_NTF_MAX_RANK]; /* squares of maps above, below 0 */
} CuvNtfPiece;

typedef void (*CuvNtfWork) (CuvNtfCpu *self, CuvNtfPiece *piece, int y);

struct _CuvNtfCpu {
  CuvNtfTensor tensor;
  CuvNtfFactors factors;
  CuvNtfSteps steps;
  CuvNtfPiece pieces[CUV_NTF_PIECES];
  float *across; /* v: rank x padded width */
  int padded;
  const int32_t *cancel;

  /* of a run */
  CuvNtfParams params;
  CuvNtfResult result;
  CuvNtfGram grams[CUV_NTF_MODES];
  CuvNtfUpdate updates[CUV_NTF_MODES];

  /* of what pieces do now */
  CuvNtfWork work;
  int n_rows, mode;
  const CuvCube *cube;
  const double *ignore;
  int z;
  float *residual;
};

/* Has work() called for each row from 0 to below n_rows, until cancelled; FALSE
 * if it was. */
bool cuv_ntf_cpu_rows (
    CuvNtfCpu *self, int n_rows, CuvNtfWork work, int n_threads);

/* Of the pieces, before they add to a mode's sums. */
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

/* Starts from the singular vectors; FALSE if cancelled. */
bool cuv_ntf_cpu_nndsvd (CuvNtfCpu *self, int n_threads);

#endif
