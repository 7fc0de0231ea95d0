/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Non-negative factorisation of a tensor: the reference. It takes its time, and
 * says what the fast versions have to find, to 1e-5 after ten iterations. */
#ifndef CUV_NTF_H
#define CUV_NTF_H

#include <stdbool.h>
#include <stddef.h>
#include "spectral/ntf-types.h"

/* Every value of a factor stays between these two: what vanishes can come back,
 * products neither overflow nor become denormal. */
#define CUV_NTF_LEAST 1e-12
#define CUV_NTF_MOST 1e13

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

/* Rows are padded with zeros to `stride` values, a multiple of CUV_NTF_LANES.
 */
#define CUV_NTF_LANES 8

typedef struct {
  int32_t size[CUV_NTF_MODES]; /* height, width, depth */
  int32_t rank, stride;
  float *mode[CUV_NTF_MODES]; /* size x stride */
} CuvNtfFactors;

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

/* ---- where it starts ---- */

/* The value at = row x rank + column of a mode; round 0 is the start, later
 * ones are the iterations that terms were revived after. */
float cuv_ntf_random (uint32_t seed, uint32_t round, int mode, uint32_t at);
void cuv_ntf_randomise (CuvNtfFactors *self, uint32_t seed);

/* Brings what is there into the range, and w to the tensor's scale. */
void cuv_ntf_resume (CuvNtfFactors *self, double scale);

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

/* For iteration n, counted from 1. HALS begins with one of MU: it would throw
 * out terms that a start out of proportion does not need. */
void cuv_ntf_update_init (CuvNtfUpdate *self, const CuvNtfParams *params, int n,
    const CuvNtfFactors *factors, CuvNtfGram grams[CUV_NTF_MODES], int mode);
void cuv_ntf_update_row (
    const CuvNtfUpdate *self, const float *numerators, float *row);

/* Iteration n, taken literally. */
void cuv_ntf_iterate (const CuvNtfTensor *tensor, const CuvNtfParams *params,
    int n, CuvNtfFactors *factors);

/* ---- how it goes, and how it ends ---- */

/* |G - sum of terms| / |G|. */
double cuv_ntf_error (const CuvNtfTensor *tensor, const CuvNtfFactors *factors);

/* Of each term |u| |v| |w|; and which are dead: weaker than 1e-6 of all
 * together. If G is 0 all are. */
void cuv_ntf_weights (const CuvNtfFactors *self, double *weights);
double cuv_ntf_find_dead (const CuvNtfFactors *self, bool *dead);

/* Gives dead terms new random columns; how many there are, unless all are. */
int cuv_ntf_revive (CuvNtfFactors *self, uint32_t seed, uint32_t round);

/* Whether iteration n, counted from 1, is followed by a test; the end always
 * is. */
bool cuv_ntf_has_test (const CuvNtfParams *params, int n);

/* Notes a test's error, and whether the tolerance says to stop. */
void cuv_ntf_note (
    CuvNtfResult *result, const CuvNtfParams *params, double error);

/* Makes zeros of dead terms, and of what is too small for a float beside its
 * column's largest; brings w to G's scale, normalises, and counts the terms
 * that are left. */
void cuv_ntf_finish (CuvNtfFactors *self, const CuvNtfParams *params,
    double scale, CuvNtfResult *result);

/* A whole run of the reference, from random or, with init = PREVIOUS, from what
 * is in factors. */
void cuv_ntf_run (const CuvNtfTensor *tensor, const CuvNtfParams *params,
    CuvNtfFactors *factors, CuvNtfResult *result);

#endif
