/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sums, projections and pixels of a tile with AVX2. FMA gives the same result
 * as C because products of floats are exact in double. */
#include "cpu/pca-dsp.h"
#include "cuvavx2.h"

/* Register blocking. */
enum { BLOCK_ROWS = 3, BLOCK_COLUMNS = 4, UNROLLED = 4 };

/* Returns the horizontal sums of four vectors: (lane 0 + lane 1) + (lane 2 +
 * lane 3). */
static inline __m256d
add_lanes (const __m256d sums[BLOCK_COLUMNS])
{
  const __m256d a = _mm256_hadd_pd (sums[0], sums[1]);
  const __m256d b = _mm256_hadd_pd (sums[2], sums[3]);

  return _mm256_add_pd (
      _mm256_permute2f128_pd (a, b, 0x20), _mm256_permute2f128_pd (a, b, 0x31));
}

/* Converts integers 0 <= value < 2^52. */
static inline __m256i
to_integers (__m256d value)
{
  const __m256d magic = _mm256_set1_pd (0x1p52);

  return _mm256_xor_si256 (_mm256_castpd_si256 (_mm256_add_pd (value, magic)),
      _mm256_castpd_si256 (magic));
}

static inline void
store_row (__m256d addend, bool is_exact, CuvPcaSum *sums)
{
  if (is_exact)
    store (sums, _mm256_add_epi64 (load (sums), to_integers (addend)));
  else
    _mm256_storeu_pd (
        &sums->d, _mm256_add_pd (_mm256_loadu_pd (&sums->d), addend));
}

static inline void
pca_add_block (const double *a, const double *b, bool is_exact, CuvPcaSum *sums,
    int stride)
{
  __m256d acc[BLOCK_ROWS][BLOCK_COLUMNS];

  for (int i = 0; i < BLOCK_ROWS; i++) {
    for (int j = 0; j < BLOCK_COLUMNS; j++)
      acc[i][j] = _mm256_setzero_pd ();
  }
  for (int p = 0; p < CUV_PCA_TILE; p += CUV_PCA_LANES) {
    const __m256d a0 = _mm256_load_pd (a + p);
    const __m256d a1 = _mm256_load_pd (a + CUV_PCA_TILE + p);
    const __m256d a2 = _mm256_load_pd (a + 2 * CUV_PCA_TILE + p);

    for (int j = 0; j < BLOCK_COLUMNS; j++) {
      const __m256d bj = _mm256_load_pd (b + j * CUV_PCA_TILE + p);

      acc[0][j] = _mm256_fmadd_pd (a0, bj, acc[0][j]);
      acc[1][j] = _mm256_fmadd_pd (a1, bj, acc[1][j]);
      acc[2][j] = _mm256_fmadd_pd (a2, bj, acc[2][j]);
    }
  }
  for (int i = 0; i < BLOCK_ROWS; i++)
    store_row (add_lanes (acc[i]), is_exact, sums + i * stride);
}

/* Each lane adds 16 products of bytes: far below 2^31. */
static inline void
add_narrow_block (
    const int16_t *a, const int16_t *b, CuvPcaSum *sums, int stride)
{
  __m256i acc[BLOCK_ROWS][BLOCK_COLUMNS];

  for (int i = 0; i < BLOCK_ROWS; i++) {
    for (int j = 0; j < BLOCK_COLUMNS; j++)
      acc[i][j] = _mm256_setzero_si256 ();
  }
  for (int p = 0; p < CUV_PCA_TILE; p += 16) {
    const __m256i a0 = load (a + p), a1 = load (a + CUV_PCA_TILE + p);
    const __m256i a2 = load (a + 2 * CUV_PCA_TILE + p);

    for (int j = 0; j < BLOCK_COLUMNS; j++) {
      const __m256i bj = load (b + j * CUV_PCA_TILE + p);

      acc[0][j] = _mm256_add_epi32 (acc[0][j], _mm256_madd_epi16 (a0, bj));
      acc[1][j] = _mm256_add_epi32 (acc[1][j], _mm256_madd_epi16 (a1, bj));
      acc[2][j] = _mm256_add_epi32 (acc[2][j], _mm256_madd_epi16 (a2, bj));
    }
  }
  for (int i = 0; i < BLOCK_ROWS; i++) {
    const __m256i pairs =
        _mm256_hadd_epi32 (_mm256_hadd_epi32 (acc[i][0], acc[i][1]),
            _mm256_hadd_epi32 (acc[i][2], acc[i][3]));
    const __m128i addend = _mm_add_epi32 (
        _mm256_castsi256_si128 (pairs), _mm256_extracti128_si256 (pairs, 1));
    CuvPcaSum *to = sums + i * stride;

    store (to, _mm256_add_epi64 (load (to), _mm256_cvtepi32_epi64 (addend)));
  }
}

static void
pca_add_avx2 (const CuvPcaTile *tile, CuvPcaSum *sums)
{
  const int stride = CUV_PCA_STRIDE (tile->n);

  for (int i = 0; i <= tile->n; i += BLOCK_ROWS) {
    for (int j = i / BLOCK_COLUMNS * BLOCK_COLUMNS; j <= tile->n;
         j += BLOCK_COLUMNS) {
      const int a = i * CUV_PCA_TILE, b = j * CUV_PCA_TILE;
      CuvPcaSum *to = sums + i * stride + j;

      if (tile->is_narrow)
        add_narrow_block (tile->narrow + a, tile->narrow + b, to, stride);
      else
        pca_add_block (
            tile->rows + a, tile->rows + b, tile->is_exact, to, stride);
    }
  }
}

static inline __m256d
load_pixels4 (const CuvPcaTile *tile, bool is_narrow, int at)
{
  if (!is_narrow)
    return _mm256_load_pd (tile->rows + at);
  return _mm256_cvtepi32_pd (_mm_cvtepi16_epi32 (
      _mm_loadl_epi64 ((const __m128i *) (tile->narrow + at))));
}

static inline void
store_ints (__m256d value, const CuvPcaGains *gains, int32_t *out)
{
  /* max returns the second operand for NaN */
  value = _mm256_max_pd (value, _mm256_setzero_pd ());
  value = _mm256_min_pd (value, _mm256_set1_pd (gains->top));
  value = _mm256_add_pd (value, _mm256_set1_pd (gains->bias));
  _mm_storeu_si128 ((__m128i *) out, _mm256_cvttpd_epi32 (value));
}

/* Projects 16 pixels from pixel p on. */
static inline void
project_16 (const CuvPcaTile *tile, const CuvPcaGains *gains, bool is_narrow,
    int p, int32_t *out)
{
  __m256d acc[CUV_PCA_SHOWN][UNROLLED];

  for (int c = 0; c < CUV_PCA_SHOWN; c++) {
    for (int u = 0; u < UNROLLED; u++)
      acc[c][u] = _mm256_set1_pd (gains->offset[c]);
  }
  for (int b = 0; b < tile->n; b++) {
    const __m256d g0 = _mm256_broadcast_sd (&gains->gain[0][b]);
    const __m256d g1 = _mm256_broadcast_sd (&gains->gain[1][b]);
    const __m256d g2 = _mm256_broadcast_sd (&gains->gain[2][b]);

    for (int u = 0; u < UNROLLED; u++) {
      const __m256d s =
          load_pixels4 (tile, is_narrow, b * CUV_PCA_TILE + p + 4 * u);

      acc[0][u] = _mm256_add_pd (acc[0][u], _mm256_mul_pd (g0, s));
      acc[1][u] = _mm256_add_pd (acc[1][u], _mm256_mul_pd (g1, s));
      acc[2][u] = _mm256_add_pd (acc[2][u], _mm256_mul_pd (g2, s));
    }
  }
  for (int c = 0; c < CUV_PCA_SHOWN; c++) {
    for (int u = 0; u < UNROLLED; u++)
      store_ints (acc[c][u], gains, out + c * CUV_PCA_TILE + p + 4 * u);
  }
}

static void
project (const CuvPcaTile *tile, const CuvPcaGains *gains, int32_t *out)
{
  for (int p = 0; p < CUV_PCA_TILE; p += 4 * UNROLLED) {
    if (tile->is_narrow)
      project_16 (tile, gains, true, p, out);
    else
      project_16 (tile, gains, false, p, out);
  }
}

static void
pca_paint_avx2 (const CuvPcaTile *tile, const int32_t *values, uint8_t *out)
{
  const __m256i opaque = _mm256_set1_epi32 ((int) 0xff000000);

  if (tile->n_left_out > 0 || tile->count < CUV_PCA_TILE) {
    cuv_pca_paint (tile, values, out);
    return;
  }
  for (int p = 0; p < CUV_PCA_TILE; p += 8) {
    const __m256i r = load (values + p);
    const __m256i g = load (values + CUV_PCA_TILE + p);
    const __m256i b = load (values + 2 * CUV_PCA_TILE + p);
    const __m256i rg = _mm256_or_si256 (r, _mm256_slli_epi32 (g, 8));
    const __m256i ba = _mm256_or_si256 (_mm256_slli_epi32 (b, 16), opaque);

    store (out + 4 * p, _mm256_or_si256 (rg, ba));
  }
}

void
cuv_pca_dsp_init_avx2 (CuvPcaDsp *self)
{
  self->load = cuv_pca_avx2_load;
  self->add = pca_add_avx2;
  self->project = project;
  self->paint = pca_paint_avx2;
}
