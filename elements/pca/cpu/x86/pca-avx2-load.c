/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Loads tiles from cubes of any layout: bands are copied row by row, or blocks
 * of bands and pixels are transposed. Bytes become 16-bit integers, other
 * samples doubles. */
#include "cpu/pca-dsp.h"
#include "cuvavx2.h"

#include <string.h>

/* A run of n pixels of a row; at: its first pixel in the tile. */
typedef struct {
  const CuvCube *cube;
  const uint8_t *from; /* band 0 of the first pixel */
  CuvPcaTile *tile;
  int at, n;
} Run;

/* Inlined into callers with a constant step, so that the compiler vectorises
 * contiguous rows. */
#define CUV_COPY(name, in, out)                                                \
  static inline void name (const uint8_t *from, int64_t step, int n, out *to)  \
  {                                                                            \
    for (int i = 0; i < n; i++) {                                              \
      in value;                                                                \
      memcpy (&value, from + i * step, sizeof value);                          \
      to[i] = (out) value;                                                     \
    }                                                                          \
  }

CUV_COPY (copy_u8, uint8_t, int16_t)
CUV_COPY (copy_u16, uint16_t, double)
CUV_COPY (copy_f32, float, double)

static inline void
copy_with_step (
    const Run *run, const uint8_t *from, int64_t step, int k, int first, int n)
{
  const int at = k * CUV_PCA_TILE + run->at + first;

  if (run->cube->format == CUV_CUBE_U8)
    copy_u8 (from, step, n, run->tile->narrow + at);
  else if (run->cube->format == CUV_CUBE_U16)
    copy_u16 (from, step, n, run->tile->rows + at);
  else
    copy_f32 (from, step, n, run->tile->rows + at);
}

/* Copies n pixels of a band to row k from `first` on. */
static void
copy_band (const Run *run, int band, int k, int first, int n)
{
  const CuvCube *cube = run->cube;
  const int size = cuv_cube_sample_size (cube->format);
  const uint8_t *from =
      run->from + band * cube->band_step + first * cube->pixel_step;

  if (cube->pixel_step == size)
    copy_with_step (run, from, size, k, first, n);
  else
    copy_with_step (run, from, cube->pixel_step, k, first, n);
}

static inline void
transpose_u8 (const uint8_t *from, int64_t step, int16_t *to)
{
  __m128i a[16], b[16];

  for (int i = 0; i < 16; i++)
    a[i] = _mm_loadu_si128 ((const __m128i *) (from + i * step));
  for (int round = 0; round < 2; round++) {
    for (int i = 0; i < 8; i++) {
      b[2 * i] = _mm_unpacklo_epi8 (a[i], a[i + 8]);
      b[2 * i + 1] = _mm_unpackhi_epi8 (a[i], a[i + 8]);
    }
    for (int i = 0; i < 8; i++) {
      a[2 * i] = _mm_unpacklo_epi8 (b[i], b[i + 8]);
      a[2 * i + 1] = _mm_unpackhi_epi8 (b[i], b[i + 8]);
    }
  }
  for (int i = 0; i < 16; i++)
    _mm256_storeu_si256 (
        (__m256i *) (to + i * CUV_PCA_TILE), _mm256_cvtepu8_epi16 (a[i]));
}

static inline void
transpose_u16 (const uint8_t *from, int64_t step, double *to)
{
  __m128i a[8], b[8];

  for (int i = 0; i < 8; i++)
    a[i] = _mm_loadu_si128 ((const __m128i *) (from + i * step));
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < 4; i++) {
      b[2 * i] = _mm_unpacklo_epi16 (a[i], a[i + 4]);
      b[2 * i + 1] = _mm_unpackhi_epi16 (a[i], a[i + 4]);
    }
    memcpy (a, b, sizeof a);
  }
  for (int i = 0; i < 8; i++) {
    const __m256i wide = _mm256_cvtepu16_epi32 (a[i]);

    _mm256_storeu_pd (to + i * CUV_PCA_TILE,
        _mm256_cvtepi32_pd (_mm256_castsi256_si128 (wide)));
    _mm256_storeu_pd (to + i * CUV_PCA_TILE + 4,
        _mm256_cvtepi32_pd (_mm256_extracti128_si256 (wide, 1)));
  }
}

static inline __m256d
load_f32 (const uint8_t *from)
{
  return _mm256_cvtps_pd (_mm_loadu_ps ((const float *) from));
}

/* Stores the lower halves to one row and the upper ones two rows below. */
static inline void
store_halves (__m256d low, __m256d high, double *to)
{
  const __m256d middle = _mm256_permute2f128_pd (low, high, 0x21);

  _mm256_storeu_pd (to, _mm256_blend_pd (low, middle, 0xc));
  _mm256_storeu_pd (to + 2 * CUV_PCA_TILE, _mm256_blend_pd (middle, high, 0xc));
}

static inline void
transpose_f32 (const uint8_t *from, int64_t step, double *to)
{
  const __m256d a = load_f32 (from), b = load_f32 (from + step);
  const __m256d c = load_f32 (from + 2 * step), d = load_f32 (from + 3 * step);

  store_halves (_mm256_unpacklo_pd (a, b), _mm256_unpacklo_pd (c, d), to);
  store_halves (
      _mm256_unpackhi_pd (a, b), _mm256_unpackhi_pd (c, d), to + CUV_PCA_TILE);
}

/* Transposes a block to rows from k on and pixels from p on. */
static inline void
transpose_block (const Run *run, int band, int k, int p)
{
  const CuvCube *cube = run->cube;
  const uint8_t *from =
      run->from + p * cube->pixel_step + band * cube->band_step;
  const int at = k * CUV_PCA_TILE + run->at + p;

  if (cube->format == CUV_CUBE_U8)
    transpose_u8 (from, cube->pixel_step, run->tile->narrow + at);
  else if (cube->format == CUV_CUBE_U16)
    transpose_u16 (from, cube->pixel_step, run->tile->rows + at);
  else
    transpose_f32 (from, cube->pixel_step, run->tile->rows + at);
}

static bool
are_consecutive (const CuvPcaBands *bands, int k, int size)
{
  return k >= 0 && k + size <= bands->n
      && bands->index[k + size - 1] == bands->index[k] + size - 1;
}

/* Transposes blocks of consecutive bands. The last block may overlap the
 * previous one, so that nothing beyond a pixel's samples is read. */
static void
transpose_pixels (const Run *run, const CuvPcaBands *bands, int p, int size)
{
  for (int k = 0; k < bands->n;) {
    const int first = k + size <= bands->n ? k : bands->n - size;

    if (are_consecutive (bands, first, size)) {
      transpose_block (run, bands->index[first], first, p);
      k = first + size;
    } else {
      copy_band (run, bands->index[k], k, p, size);
      k++;
    }
  }
}

/* Transposes blocks of pixels one after the other, in memory order. */
static void
transpose_run (const Run *run, const CuvPcaBands *bands)
{
  const int size = 16 / cuv_cube_sample_size (run->cube->format);
  const int rest = run->n % size;

  for (int p = 0; p + size <= run->n; p += size)
    transpose_pixels (run, bands, p, size);
  for (int k = 0; k < bands->n; k++)
    copy_band (run, bands->index[k], k, run->n - rest, rest);
}

static void
load_run (const Run *run, const CuvPcaBands *bands)
{
  const CuvCube *cube = run->cube;
  const int size = cuv_cube_sample_size (cube->format);

  if (cube->band_step == size && cube->pixel_step != size
      && bands->n * size >= 16) {
    transpose_run (run, bands);
    return;
  }
  for (int k = 0; k < bands->n; k++)
    copy_band (run, bands->index[k], k, 0, run->n);
}

static void
load_runs (const CuvCube *cube, const CuvPcaBands *bands, int64_t first,
    CuvPcaTile *out)
{
  int64_t y = first / cube->width, x = first % cube->width;
  int at = 0;

  while (at < out->count) {
    const int64_t left = cube->width - x;
    const Run run = { cube,
      cube->data + y * cube->row_step + x * cube->pixel_step, out, at,
      (int) (left < out->count - at ? left : out->count - at) };

    load_run (&run, bands);
    at += run.n;
    x = 0;
    y++;
  }
}

#define CUV_MARK(name, type)                                                   \
  static inline void name (const type *row, type ignore, bool *left_out)       \
  {                                                                            \
    for (int p = 0; p < CUV_PCA_TILE; p++)                                     \
      left_out[p] |= row[p] == ignore;                                         \
  }

CUV_MARK (mark_narrow, int16_t)
CUV_MARK (mark_wide, double)

static void
mark_ignored (const CuvPcaBands *bands, CuvPcaTile *tile)
{
  const double ignore =
      tile->is_exact ? bands->ignore : (double) (float) bands->ignore;

  if (!bands->has_ignore)
    return;
  for (int k = 0; k < tile->n; k++) {
    if (!tile->is_narrow)
      mark_wide (tile->rows + k * CUV_PCA_TILE, ignore, tile->left_out);
    else if (ignore >= 0.0 && ignore <= 255.0
        && ignore == (double) (int) ignore)
      mark_narrow (
          tile->narrow + k * CUV_PCA_TILE, (int16_t) ignore, tile->left_out);
  }
}

/* Marks pixels with a sample that is not finite: a sum of floats in double is
 * finite if and only if they all are. The sums of 16 pixels stay in
 * registers. */
static void
mark_not_finite (CuvPcaTile *tile)
{
  if (tile->is_exact)
    return;
  for (int first = 0; first < CUV_PCA_TILE; first += 16) {
    double sum[16] = { 0 };

    for (int k = 0; k < tile->n; k++) {
      const double *row = tile->rows + k * CUV_PCA_TILE + first;

      for (int i = 0; i < 16; i++)
        sum[i] += row[i];
    }
    for (int i = 0; i < 16; i++)
      tile->left_out[first + i] |= sum[i] - sum[i] != 0.0;
  }
}

static void
clear_pixel (CuvPcaTile *tile, int p)
{
  for (int k = 0; k <= tile->n; k++) {
    if (tile->is_narrow)
      tile->narrow[k * CUV_PCA_TILE + p] = 0;
    else
      tile->rows[k * CUV_PCA_TILE + p] = 0.0;
  }
}

static void
set_last_row (CuvPcaTile *tile)
{
  const int at = tile->n * CUV_PCA_TILE;

  for (int p = 0; p < tile->count; p++) {
    if (tile->is_narrow)
      tile->narrow[at + p] = 1;
    else
      tile->rows[at + p] = 1.0;
  }
}

void
cuv_pca_avx2_load (const CuvCube *cube, const CuvPcaBands *bands, int64_t tile,
    CuvPcaTile *out)
{
  const int64_t first = tile * CUV_PCA_TILE;
  const int64_t left = (int64_t) cube->width * cube->height - first;

  out->count = (int32_t) (left < CUV_PCA_TILE ? left : CUV_PCA_TILE);
  out->is_exact = cube->format != CUV_CUBE_F32;
  out->is_narrow = cube->format == CUV_CUBE_U8;
  out->n_left_out = 0;
  memset (out->left_out, 0, sizeof out->left_out);
  load_runs (cube, bands, first, out);
  set_last_row (out);
  for (int p = out->count; p < CUV_PCA_TILE; p++)
    clear_pixel (out, p);
  mark_ignored (bands, out);
  mark_not_finite (out);
  for (int p = 0; p < out->count; p++) {
    if (out->left_out[p])
      clear_pixel (out, p);
    out->n_left_out += out->left_out[p];
  }
  memset (out->left_out + out->count, 0, CUV_PCA_TILE - (size_t) out->count);
}
