/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Scores: projections of pixels onto components, as floats. */
#include "pca.h"

#include <math.h>
#include <string.h>

/* Reads the samples of a band, centred unless mode is SECOND_MOMENTS. */
static void
read_tile_row (
    const CuvPcaTile *tile, const CuvPcaBasis *basis, int b, double *row)
{
  const double mean =
      basis->mode == CUV_PCA_SECOND_MOMENTS ? 0.0 : basis->mean[b];

  for (int p = 0; p < CUV_PCA_TILE; p++)
    row[p] = (tile->is_narrow ? (double) tile->narrow[b * CUV_PCA_TILE + p]
                              : tile->rows[b * CUV_PCA_TILE + p])
        - mean;
}

/* Returns the weight of a band in a component. Mode pearson divides by the
 * deviation; bands without variance have weight 0. */
static double
weight_of (const CuvPcaBasis *basis, int k, int b)
{
  const double v = basis->vectors[k * basis->n + b];

  return basis->mode != CUV_PCA_PEARSON ? v
      : basis->deviation[b] > 0         ? v / basis->deviation[b]
                                        : 0.0;
}

void
cuv_pca_score (
    const CuvPcaTile *tile, const CuvPcaBasis *basis, int n_scores, double *out)
{
  double row[CUV_PCA_TILE];

  memset (out, 0, (size_t) (n_scores * CUV_PCA_TILE) * sizeof *out);
  for (int b = 0; b < tile->n; b++) {
    read_tile_row (tile, basis, b, row);
    for (int k = 0; k < n_scores; k++) {
      const double weight = weight_of (basis, k, b);
      double *sums = &out[k * CUV_PCA_TILE];

      for (int p = 0; p < CUV_PCA_TILE; p++)
        sums[p] += weight * row[p];
    }
  }
}

void
cuv_pca_store_scores (const CuvPcaTile *tile, int64_t first,
    const double *values, const CuvPcaScores *to)
{
  for (int p = 0; p < tile->count; p++) {
    float *pixel = to->values + (first + p) / to->width * to->row_step
        + (first + p) % to->width * to->pixel_step;

    for (int k = 0; k < to->n; k++)
      pixel[k * to->band_step] = tile->left_out[p] || values == NULL
          ? NAN
          : (float) values[k * CUV_PCA_TILE + p];
  }
}
