/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Scores of four windows at a time. The operations and their order are those of
 * rcd-distance.h, so that the bits are equal. */
#include "cpu/rcd-dsp-template.h"
#include "cuvavx2.h"

#include <math.h>

typedef double Doubles __attribute__ ((vector_size (32)));
typedef int64_t Ints __attribute__ ((vector_size (32)));

enum { N_WINDOWS = 4 };

/* Sums are read four at a time. */
enum { MAX_SUMS = (CUV_RCD_MAX_SUMS + 3) / 4 * 4 };

/* ---- sums ---- */

/* Returns (double) v, rounded as the cast does: both 32-bit halves are exact
 * doubles, and their sum is rounded once. */
CUV_INLINE Doubles
to_double (Ints v)
{
  const __m256i sign = _mm256_set1_epi64x (0x4530000080000000); /* 2^84+2^63 */
  const __m256i low_bits = _mm256_set1_epi64x (0x4330000000000000); /* 2^52 */
  const __m256d both = _mm256_set1_pd (0x1p84 + 0x1p63 + 0x1p52);
  __m256i high = _mm256_xor_si256 (_mm256_srli_epi64 ((__m256i) v, 32), sign);
  __m256i low = _mm256_blend_epi32 (low_bits, (__m256i) v, 0x55);

  return (Doubles) _mm256_add_pd (
      _mm256_sub_pd (_mm256_castsi256_pd (high), both),
      _mm256_castsi256_pd (low));
}

/* Returns sums k .. k + 3 of a window. */
CUV_INLINE Ints
window_sums (const CuvRcdWindowRow *row, const CuvRcdWindowEdges *edges, int k)
{
  return (Ints) load (row->lower + edges->right + k)
      - (Ints) load (row->lower + edges->left + k)
      - (Ints) load (row->upper + edges->right + k)
      + (Ints) load (row->upper + edges->left + k);
}

CUV_INLINE void
transpose (Ints v[4])
{
  const __m256i a = _mm256_unpacklo_epi64 ((__m256i) v[0], (__m256i) v[1]);
  const __m256i b = _mm256_unpackhi_epi64 ((__m256i) v[0], (__m256i) v[1]);
  const __m256i c = _mm256_unpacklo_epi64 ((__m256i) v[2], (__m256i) v[3]);
  const __m256i d = _mm256_unpackhi_epi64 ((__m256i) v[2], (__m256i) v[3]);

  v[0] = (Ints) _mm256_permute2x128_si256 (a, c, 0x20);
  v[1] = (Ints) _mm256_permute2x128_si256 (b, d, 0x20);
  v[2] = (Ints) _mm256_permute2x128_si256 (a, c, 0x31);
  v[3] = (Ints) _mm256_permute2x128_si256 (b, d, 0x31);
}

CUV_INLINE void
load_sums (const CuvRcdWindowRow *row, const CuvRcdWindowEdges *edges, int n,
    Ints *sums)
{
  for (int k = 0; k < CUV_RCD_SUMS (n); k += 4) {
    for (int i = 0; i < N_WINDOWS; i++)
      sums[k + i] = window_sums (row, &edges[i], k);
    transpose (sums + k);
  }
}

/* Returns v * x mod 2^64 for 0 <= x < 2^32. */
CUV_INLINE Ints
multiply (Ints v, Ints x)
{
  __m256i low = _mm256_mul_epu32 ((__m256i) v, (__m256i) x);
  __m256i high =
      _mm256_mul_epu32 (_mm256_srli_epi64 ((__m256i) v, 32), (__m256i) x);

  return (Ints) _mm256_add_epi64 (low, _mm256_slli_epi64 (high, 32));
}

/* Applies cuv_rcd_move_origin() to four windows. */
CUV_INLINE void
move_origin (Ints *sums, int n, Ints pixels, Ints x, Ints y)
{
  Ints *q = sums + n;

  for (int j = 2; j < n; j++) {
    q[cuv_rcd_packed_index (n, 0, j)] -= multiply (sums[j], x);
    q[cuv_rcd_packed_index (n, 1, j)] -= multiply (sums[j], y);
  }
  q[cuv_rcd_packed_index (n, 0, 0)] +=
      multiply (multiply (pixels, x) - 2 * sums[0], x);
  q[cuv_rcd_packed_index (n, 1, 1)] +=
      multiply (multiply (pixels, y) - 2 * sums[1], y);
  q[cuv_rcd_packed_index (n, 0, 1)] += multiply (multiply (pixels, x), y)
      - multiply (sums[1], x) - multiply (sums[0], y);
  sums[0] -= multiply (pixels, x);
  sums[1] -= multiply (pixels, y);
}

/* ---- covariance ---- */

/* Computes cuv_rcd_covariance() of four windows. */
CUV_INLINE void
covariance (const Ints *sums, int n, int64_t pixels, double lambda, Doubles *c)
{
  const double inv_n = 1.0 / (double) pixels;
  const double inv_n_minus_1 = 1.0 / (double) (pixels - 1);
  Doubles s[CUV_RCD_MAX_FEATURES];
  int k = 0;

  for (int i = 0; i < n; i++)
    s[i] = to_double (sums[i]);
  for (int i = 0; i < n; i++) {
    for (int j = i; j < n; j++, k++)
      c[k] = (to_double (sums[n + k]) - s[i] * s[j] * inv_n) * inv_n_minus_1
          + (i == j ? lambda : 0.0);
  }
}

/* Applies cuv_rcd_scale_xy() to four windows. */
CUV_INLINE void
scale_xy (Doubles *c, int n, double fx, double fy, double lambda)
{
  for (int j = 2; j < n; j++) {
    c[cuv_rcd_packed_index (n, 0, j)] *= fx;
    c[cuv_rcd_packed_index (n, 1, j)] *= fy;
  }
  c[0] = (c[0] - lambda) * (fx * fx) + lambda;
  c[1] = c[1] * (fx * fy);
  c[n] = (c[n] - lambda) * (fy * fy) + lambda;
}

/* Computes cuv_rcd_window_covariance() of four windows. */
CUV_INLINE void
window_covariance (const CuvRcdWindowRow *row, const CuvRcdWindowEdges *edges,
    int n, Doubles *c)
{
  const int64_t pixels = (int64_t) row->width * row->height;
  Ints sums[MAX_SUMS];

  load_sums (row, edges, n, sums);
  if (n == 9)
    move_origin (sums, n, (Ints){ pixels, pixels, pixels, pixels },
        (Ints){ edges[0].x, edges[1].x, edges[2].x, edges[3].x },
        (Ints){ row->y, row->y, row->y, row->y });
  covariance (sums, n, pixels, row->lambda, c);
  if (n == 9)
    scale_xy (c, n, row->model->width / row->width,
        row->model->height / row->height, row->lambda);
}

/* ---- JBLD ---- */

/* Computes cuv_rcd_det() of four windows. */
CUV_INLINE Doubles
determinant (Doubles *c, int n)
{
  Doubles det = { 1.0, 1.0, 1.0, 1.0 };
  Ints positive = { -1, -1, -1, -1 };

  for (int k = 0; k < n; k++) {
    const Doubles pivot = c[cuv_rcd_packed_index (n, k, k)],
                  inv_pivot = 1.0 / pivot;

    positive &= pivot > 0.0;
    det *= pivot;
    for (int i = k + 1; i < n; i++) {
      const Doubles f = c[cuv_rcd_packed_index (n, k, i)] * inv_pivot;

      for (int j = i; j < n; j++)
        c[cuv_rcd_packed_index (n, i, j)] -=
            f * c[cuv_rcd_packed_index (n, k, j)];
    }
  }
  return (Doubles) ((Ints) det & positive);
}

/* Computes cuv_rcd_jbld() of four windows. */
CUV_INLINE Doubles
jbld (Doubles *c, int n, const CuvRcdModel *model)
{
  const double inf = (double) INFINITY;
  const Doubles infinite = { inf, inf, inf, inf };
  Doubles middle[CUV_RCD_MAX_PACKED], det, det_middle, score;
  Ints defined;

  for (int k = 0; k < CUV_RCD_TRIANGLE (n); k++)
    middle[k] = (c[k] + model->c[k]) * 0.5;
  det = determinant (c, n);
  det_middle = determinant (middle, n);
  score = det_middle * det_middle / (det * model->det);
  defined = (det > 0.0) & (det_middle > 0.0) & (score >= 0.0);
  return (Doubles) _mm256_blendv_pd (
      (__m256d) infinite, (__m256d) score, (__m256d) defined);
}

CUV_INLINE void
score_four (const CuvRcdWindowRow *row, const CuvRcdWindowEdges *edges, int n,
    double *scores)
{
  Doubles c[CUV_RCD_MAX_PACKED];

  window_covariance (row, edges, n, c);
  _mm256_storeu_pd (scores, (__m256d) jbld (c, n, row->model));
}

static void
score_row (const CuvRcdWindowRow *row, const CuvRcdWindowEdges *edges,
    int n_windows, double *scores)
{
  const bool can = row->metric == CUV_RCD_JBLD
      && (int64_t) row->width * row->height > row->n;
  int i = 0;

  for (; can && i + N_WINDOWS <= n_windows; i += N_WINDOWS) {
    if (row->n == 3)
      score_four (row, edges + i, 3, scores + i);
    else if (row->n == 5)
      score_four (row, edges + i, 5, scores + i);
    else
      score_four (row, edges + i, 9, scores + i);
  }
  cuv_rcd_score_row (row, edges + i, n_windows - i, scores + i);
}

/* The loops over samples are the template's: the compiler vectorises them. */
void
cuv_rcd_dsp_init_avx2 (CuvRcdDsp *self)
{
  *self = (CuvRcdDsp){
    .samples = cuv_rcd_samples,
    .grey = cuv_rcd_grey_row,
    .gradients = cuv_rcd_gradients,
    .abs_derivatives = cuv_rcd_abs_derivatives,
    .sums = cuv_rcd_sums_avx2,
    .score = score_row,
  };
}
