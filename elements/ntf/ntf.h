/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Non-negative factorisation of a tensor: the reference. The fast versions on
 * the CPU and the GPU are within the tolerance that docs/spectralntf.md states.
 *
 * A cube, or a window of grey frames: gstspectralntf.c -> backend.c ->
 * cpu/ntf-cpu.c, or cuda/ntf/ntf.cu where there is a GPU -> factors as metadata
 * and a picture of them.
 *
 *   plugin.c                   registers the element
 *   gstspectralntf.c           the element
 *   gstspectralntfsettings.c   its properties
 *   gstspectralntfbands.c      the bands that are factorised
 *   gstspectralntfwindow.c     the sliding window of grey video
 *   gstspectralntfmeta.c       factors as metadata
 *   backend.c                  on the CPU or the GPU
 *   reference/                 the definition, in plain C:
 *     ntf-tensor.c               from a cube's samples to a tensor
 *     ntf.c                      factors, an iteration, the error, a run
 *     ntf-update.c               new values of a row
 *     ntf-sum-to-one.c           and of a row that sums to 1
 *     ntf-paint.c                pictures of factors and residuals
 *   cpu/                       the same made fast:
 *     ntf-cpu.c                  a run on threads, and iterations on a tensor
 *     ntf-matrix.c               iterations on a matrix, pixels x depth
 *     ntf-nndsvd.c               initialisation by singular vectors
 *     ntf-nfindr.c               and by spectra of pixels
 *     ntf-rows.c                 rows as tasks on threads
 *     ntf-dsp.c                  function table of the inner loops, in C
 *     x86/ntf-avx2.c             and in AVX2
 *   ../../cuda/ntf/ntf-factors.h  initial and final factors, for gcc and nvcc
 *   ../../cuda/ntf/            the same on the GPU
 */
#ifndef CUV_NTF_H
#define CUV_NTF_H

#include "ntf/ntf-factors.h"

/* ---- the tensor ---- */

/* values[(y * depth + z) * width + x], in 0 .. 1. The tensor G is values times
 * scale, a power of two. */
typedef struct {
  int32_t height, width, depth;
  float *values;
  double scale;
} CuvNtfTensor;

/* Adds rows first .. end - 1 of a cube to a scan that begins as { 0 }. Samples
 * equal to *ignore count as 0, here and below; ignore may be NULL. */
void cuv_ntf_scan_rows (const CuvCube *cube, const double *ignore, int first,
    int end, CuvNtfScan *scan);
void cuv_ntf_scan_merge (CuvNtfScan *scan, const CuvNtfScan *later);

/* Returns the power of two that samples are divided by: 256 and 65536 for
 * integers, otherwise the smallest above the largest sample. */
double cuv_ntf_scale (CuvCubeFormat format, float largest);

/* Copies rows first .. end - 1 of all bands to depths z, z + 1, ... of the
 * tensor, divided by its scale. Negative and non-finite samples become 0. */
void cuv_ntf_load_rows (CuvNtfTensor *self, const CuvCube *cube,
    const double *ignore, int z, int first, int end);

/* ---- factors ---- */

/* Strides are multiples of this. */
#define CUV_NTF_LANES 8

static inline int
cuv_ntf_pad (int n)
{
  return (n + CUV_NTF_LANES - 1) / CUV_NTF_LANES * CUV_NTF_LANES;
}

/* Returns n zeros, aligned to 64 bytes, or NULL if out of memory. free()
 * them. */
float *cuv_ntf_alloc (size_t n);

/* Initialises factors with zeros; those of a MATRIX have height 1 and the
 * number of pixels as width. Returns false if out of memory; then call
 * cuv_ntf_factors_clear(), too. */
bool cuv_ntf_factors_init (
    CuvNtfFactors *self, int height, int width, int depth, int rank);
void cuv_ntf_factors_clear (CuvNtfFactors *self);

/* ---- an iteration ---- */

/* Gram matrix X^T X of a mode's factor; rank x rank, row by row. */
typedef double CuvNtfGram[CUV_NTF_MAX_RANK * CUV_NTF_MAX_RANK];
void cuv_ntf_gram (const CuvNtfFactors *self, int mode, double *gram);

/* Adds the Gram matrix of n rows. */
void cuv_ntf_add_gram (
    const float *rows, size_t n, int rank, int stride, double *gram);

/* The update rule of one mode, applied row by row. */
typedef struct {
  CuvNtfAlgorithm algorithm;
  CuvNtfSchedule schedule;
  bool sums_to_one; /* whether each row sums to 1 */
  int32_t rank;
  CuvNtfGram
      product; /* elementwise product of the other modes' Gram matrices */
  double penalty[CUV_NTF_MAX_RANK];
  double divisors[CUV_NTF_MAX_RANK]; /* HALS: the product's diagonal, damped */
  /* HALS: the column is not updated, because another column of the term is 0 */
  bool is_fixed[CUV_NTF_MAX_RANK];
} CuvNtfUpdate;

void cuv_ntf_update_init (CuvNtfUpdate *self, const CuvNtfParams *params,
    const CuvNtfFactors *factors, CuvNtfGram grams[CUV_NTF_MODES], int mode);

/* Updates a row. numerators: the row of the tensor times the other modes'
 * factors (MTTKRP). */
void cuv_ntf_update_row (
    const CuvNtfUpdate *self, const float *numerators, float *row);

/* Updates a row if sums_to_one is set, by solving the least-squares problem at
 * once. */
void cuv_ntf_sum_to_one_row (
    const CuvNtfUpdate *self, const float *numerators, float *row);

/* Computes one iteration, straight from the definition. */
void cuv_ntf_iterate (const CuvNtfTensor *tensor, const CuvNtfParams *params,
    CuvNtfFactors *factors);

/* ---- error and run ---- */

/* Returns the relative error, |G - sum of terms| / |G| in Frobenius norms. */
double cuv_ntf_error (const CuvNtfTensor *tensor, const CuvNtfFactors *factors);

/* Computes a whole run. It begins with random factors or, with init = PREVIOUS,
 * with those in factors. */
void cuv_ntf_run (const CuvNtfTensor *tensor, const CuvNtfParams *params,
    CuvNtfFactors *factors, CuvNtfResult *result);

/* ---- pictures: pixels are R, G, B, 255; rows have stride bytes ---- */

#define CUV_NTF_SHOWN 3

/* Paints the maps of three terms, u v^T or of a MATRIX v, as red, green and
 * blue, each scaled to its own maximum. terms: numbers from 1; 0 and numbers
 * above the rank are black. */
void cuv_ntf_paint_terms (const CuvNtfFactors *factors, int width, int height,
    const int32_t terms[CUV_NTF_SHOWN], uint8_t *pixels, size_t stride);

/* Paints a map of residuals >= 0 in grey; white is three times their RMS. */
void cuv_ntf_paint_residual (
    const float *map, int width, int height, uint8_t *pixels, size_t stride);

#endif
