/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Non-negative factorisation of a tensor: the reference. It takes its time, and
 * says what the fast versions have to find, to 1e-5 after ten iterations. */
#ifndef CUV_NTF_H
#define CUV_NTF_H

#include "ntf/ntf-factors.h"

/* ---- the tensor ---- */

/* values[(y * depth + z) * width + x], of which none is above 1: G is `scale`,
 * a power of two, times as large. */
typedef struct {
  int32_t height, width, depth;
  float *values;
  double scale;
} CuvNtfTensor;

/* Looks at rows from first to below end, after scan = { 0 }. Samples that are
 * *ignore, which may be NULL, count as 0, here and below. */
void cuv_ntf_scan_rows (const CuvCube *cube, const double *ignore, int first,
    int end, CuvNtfScan *scan);
void cuv_ntf_scan_merge (CuvNtfScan *scan, const CuvNtfScan *later);

/* The power of two to divide a cube's samples by: 256 and 65536 for integers,
 * else the first above the largest. */
double cuv_ntf_scale (CuvCubeFormat format, float largest);

/* Copies rows of all bands to those of the tensor from depth z on, divided by
 * its scale; what is negative or not finite becomes 0. */
void cuv_ntf_load_rows (CuvNtfTensor *self, const CuvCube *cube,
    const double *ignore, int z, int first, int end);

/* ---- factors ---- */

/* What a stride is a multiple of. */
#define CUV_NTF_LANES 8

static inline int
cuv_ntf_pad (int n)
{
  return (n + CUV_NTF_LANES - 1) / CUV_NTF_LANES * CUV_NTF_LANES;
}

/* n floats that are 0, for vectors; NULL if there is no memory. free() them. */
float *cuv_ntf_alloc (size_t n);

/* All zeros. FALSE if there is no memory; then, too, clear() is allowed. */
bool cuv_ntf_factors_init (
    CuvNtfFactors *self, int height, int width, int depth, int rank);
void cuv_ntf_factors_clear (CuvNtfFactors *self);

/* ---- an iteration ---- */

/* M = X^T X of a mode; rank x rank, row by row. */
typedef double CuvNtfGram[CUV_NTF_MAX_RANK * CUV_NTF_MAX_RANK];
void cuv_ntf_gram (const CuvNtfFactors *self, int mode, double *gram);

/* Of one mode: what turns numerators into new values, row by row. */
typedef struct {
  CuvNtfAlgorithm algorithm;
  CuvNtfSchedule schedule;
  int32_t rank;
  CuvNtfGram product; /* of the other modes' M, value by value */
  double penalty[CUV_NTF_MAX_RANK];
  bool waits[CUV_NTF_MAX_RANK]; /* HALS: another column of the term vanished */
} CuvNtfUpdate;

void cuv_ntf_update_init (CuvNtfUpdate *self, const CuvNtfParams *params,
    const CuvNtfFactors *factors, CuvNtfGram grams[CUV_NTF_MODES], int mode);
void cuv_ntf_update_row (
    const CuvNtfUpdate *self, const float *numerators, float *row);

/* An iteration, taken literally. */
void cuv_ntf_iterate (const CuvNtfTensor *tensor, const CuvNtfParams *params,
    CuvNtfFactors *factors);

/* ---- how good it is ---- */

/* |G - sum of terms| / |G|. */
double cuv_ntf_error (const CuvNtfTensor *tensor, const CuvNtfFactors *factors);

/* A whole run of the reference, from random or, with init = PREVIOUS, from what
 * is in factors. */
void cuv_ntf_run (const CuvNtfTensor *tensor, const CuvNtfParams *params,
    CuvNtfFactors *factors, CuvNtfResult *result);

#endif
