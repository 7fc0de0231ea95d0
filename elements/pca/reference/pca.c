/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tiles of a cube's samples, and sums of products of bands. */
#include "pca.h"

#include <math.h>
#include <stdlib.h>

CuvPcaBands
cuv_pca_all_bands (int n)
{
  CuvPcaBands bands = { .n = n };

  for (int k = 0; k < n; k++)
    bands.index[k] = k;
  return bands;
}

bool
cuv_pca_tile_init (CuvPcaTile *self, int n)
{
  const size_t size =
      (size_t) CUV_PCA_STRIDE (n) * CUV_PCA_TILE * sizeof (double);

  *self = (CuvPcaTile){ .n = n, .rows = aligned_alloc (64, size) };
  if (self->rows == NULL)
    return false;
  memset (self->rows, 0, size);
  self->narrow = (int16_t *) self->rows;
  return true;
}

void
cuv_pca_tile_clear (CuvPcaTile *self)
{
  free (self->rows);
  *self = (CuvPcaTile){ 0 };
}

int64_t
cuv_pca_n_tiles (const CuvCube *cube)
{
  return ((int64_t) cube->width * cube->height + CUV_PCA_TILE - 1)
      / CUV_PCA_TILE;
}

int64_t
cuv_pca_chunk_tiles (const CuvCube *cube)
{
  return (cuv_pca_n_tiles (cube) + CUV_PCA_CHUNKS - 1) / CUV_PCA_CHUNKS;
}

static double
sample (const CuvCube *cube, int64_t pixel, int band)
{
  return cuv_cube_sample (cube,
      cube->data + pixel / cube->width * cube->row_step
          + pixel % cube->width * cube->pixel_step + band * cube->band_step);
}

/* Whether a pixel is valid; its samples are `step` apart. */
static bool
is_valid (const double *samples, int step, const CuvPcaBands *bands,
    CuvCubeFormat format)
{
  const double ignored =
      format == CUV_CUBE_F32 ? (double) (float) bands->ignore : bands->ignore;

  for (int k = 0; k < bands->n; k++) {
    const double s = samples[k * step];

    if (s - s != 0.0 || (bands->has_ignore && s == ignored))
      return false;
  }
  return true;
}

static void
exclude (CuvPcaTile *tile, int p)
{
  for (int k = 0; k <= tile->n; k++)
    tile->rows[k * CUV_PCA_TILE + p] = 0.0;
  tile->left_out[p] = true;
  tile->n_left_out++;
}

void
cuv_pca_load (const CuvCube *cube, const CuvPcaBands *bands, int64_t tile,
    CuvPcaTile *out)
{
  const int64_t first = tile * CUV_PCA_TILE;
  const int64_t left = (int64_t) cube->width * cube->height - first;

  out->count = (int32_t) (left < CUV_PCA_TILE ? left : CUV_PCA_TILE);
  out->is_exact = cube->format != CUV_CUBE_F32;
  out->is_narrow = false;
  out->n_left_out = 0;
  memset (out->left_out, 0, sizeof out->left_out);
  memset (
      out->rows, 0, (size_t) (out->n + 1) * CUV_PCA_TILE * sizeof *out->rows);
  for (int p = 0; p < out->count; p++) {
    for (int k = 0; k < out->n; k++)
      out->rows[k * CUV_PCA_TILE + p] =
          sample (cube, first + p, bands->index[k]);
    out->rows[out->n * CUV_PCA_TILE + p] = 1.0;
    if (!is_valid (out->rows + p, CUV_PCA_TILE, bands, cube->format))
      exclude (out, p);
  }
}

typedef struct {
  int count;
  float least[CUV_CUBE_MAX_BANDS], most[CUV_CUBE_MAX_BANDS];
  double sum[CUV_CUBE_MAX_BANDS];
} Spread;

static void
add_to_spread (const double *samples, int n, Spread *to)
{
  const bool is_first = to->count++ == 0;

  for (int k = 0; k < n; k++) {
    const float value = (float) samples[k];

    to->least[k] = is_first ? value : fminf (to->least[k], value);
    to->most[k] = is_first ? value : fmaxf (to->most[k], value);
    to->sum[k] += samples[k];
  }
}

void
cuv_pca_find_pivots (
    const CuvCube *cube, const CuvPcaBands *bands, float *pivots)
{
  const bool is_exact = cube->format != CUV_CUBE_F32;
  const int n = is_exact ? 0 : cuv_pca_pivot_pixels (cube);
  double samples[CUV_CUBE_MAX_BANDS];
  Spread spread = { 0 };

  for (int i = 0; i < n; i++) {
    for (int k = 0; k < bands->n; k++)
      samples[k] =
          sample (cube, cuv_pca_pivot_pixel (cube, i), bands->index[k]);
    if (is_valid (samples, 1, bands, cube->format))
      add_to_spread (samples, bands->n, &spread);
  }
  for (int k = 0; k < bands->n; k++)
    pivots[k] = cuv_pca_pivot (
        spread.least[k], spread.most[k], spread.sum[k], spread.count);
}

void
cuv_pca_shift (CuvPcaTile *tile, const float *pivots)
{
  const double *ones = tile->rows + tile->n * CUV_PCA_TILE;

  for (int k = 0; k < (tile->is_exact ? 0 : tile->n); k++) {
    double *row = tile->rows + k * CUV_PCA_TILE;
    const double pivot = pivots[k];

    for (int p = 0; p < (pivot != 0.0 ? CUV_PCA_TILE : 0); p++)
      row[p] = (float) (row[p] - ones[p] * pivot);
  }
}

void
cuv_pca_set_pivots (CuvPcaSum *sums, int n, const float *pivots)
{
  for (int k = 0; k < n; k++)
    sums[n * CUV_PCA_STRIDE (n) + k].d = pivots[k];
}

/* The result is exact for integers: a tile's sum of products is below 2^53. The
 * product of two floats is exact in double. */
static double
sum_of_products (const double *a, const double *b)
{
  double lanes[CUV_PCA_LANES] = { 0 };

  for (int p = 0; p < CUV_PCA_TILE; p++)
    lanes[p % CUV_PCA_LANES] += a[p] * b[p];
  return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
}

void
cuv_pca_add (const CuvPcaTile *tile, CuvPcaSum *sums)
{
  for (int i = 0; i <= tile->n; i++) {
    for (int j = i; j <= tile->n; j++) {
      CuvPcaSum *sum = &sums[i * CUV_PCA_STRIDE (tile->n) + j];
      const double addend = sum_of_products (
          &tile->rows[i * CUV_PCA_TILE], &tile->rows[j * CUV_PCA_TILE]);

      if (tile->is_exact)
        sum->i += (int64_t) addend;
      else
        sum->d += addend;
    }
  }
}

void
cuv_pca_merge (int n, bool is_exact, const CuvPcaSum *chunk, CuvPcaSum *sums)
{
  for (int i = 0; i < CUV_PCA_SUMS (n); i++) {
    if (is_exact)
      sums[i].i += chunk[i].i;
    else
      sums[i].d += chunk[i].d;
  }
}

bool
cuv_pca_sums (const CuvCube *cube, const CuvPcaBands *bands, CuvPcaSum *sums)
{
  const int64_t n_tiles = cuv_pca_n_tiles (cube);
  const int64_t chunk_tiles = cuv_pca_chunk_tiles (cube);
  const size_t size = (size_t) CUV_PCA_SUMS (bands->n) * sizeof *sums;
  CuvPcaSum *chunk = malloc (size);
  float pivots[CUV_CUBE_MAX_BANDS];
  CuvPcaTile tile;
  bool ok = cuv_pca_tile_init (&tile, bands->n) && chunk != NULL;

  memset (sums, 0, size);
  cuv_pca_find_pivots (cube, bands, pivots);
  for (int64_t first = 0; ok && first < n_tiles; first += chunk_tiles) {
    memset (chunk, 0, size);
    for (int64_t t = first; t < first + chunk_tiles && t < n_tiles; t++) {
      cuv_pca_load (cube, bands, t, &tile);
      cuv_pca_shift (&tile, pivots);
      cuv_pca_add (&tile, chunk);
    }
    cuv_pca_merge (bands->n, cube->format != CUV_CUBE_F32, chunk, sums);
  }
  cuv_pca_set_pivots (sums, bands->n, pivots);
  cuv_pca_tile_clear (&tile);
  free (chunk);
  return ok;
}
