/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Three components as red, green and blue: projection, percentiles, pixels. */
#include "pca.h"

#include <stddef.h>

void
cuv_pca_gains_init (CuvPcaGains *self, const CuvPcaBasis *basis,
    const CuvPcaDisplay *display, const CuvPcaLimits *limits)
{
  cuv_pca_set_gains (cuv_pca_group_single (), self, basis, display, limits, 0);
}

void
cuv_pca_gains_init_bins (
    CuvPcaGains *self, const CuvPcaBasis *basis, const CuvPcaDisplay *display)
{
  cuv_pca_set_gains (cuv_pca_group_single (), self, basis, display, NULL, 1);
}

void
cuv_pca_limits_init (
    CuvPcaLimits *self, const int64_t *bins, const CuvPcaDisplay *display)
{
  for (int c = 0; c < CUV_PCA_SHOWN; c++)
    cuv_pca_find_limits (self, bins + c * CUV_PCA_BINS, display->percentile, c);
}

/* Clamps to 0 .. top and adds bias; NaN becomes 0 before. */
static int32_t
to_int (double value, double top, double bias)
{
  const double v = value > 0.0 ? value : 0.0;

  return (int32_t) ((v < top ? v : top) + bias);
}

void
cuv_pca_project (const CuvPcaTile *tile, const CuvPcaGains *gains, int32_t *out)
{
  for (int c = 0; c < CUV_PCA_SHOWN; c++) {
    for (int p = 0; p < CUV_PCA_TILE; p++) {
      double value = gains->offset[c];

      for (int b = 0; b < tile->n; b++)
        value += gains->gain[c][b] * tile->rows[b * CUV_PCA_TILE + p];
      out[c * CUV_PCA_TILE + p] = to_int (value, gains->top, gains->bias);
    }
  }
}

void
cuv_pca_paint (const CuvPcaTile *tile, const int32_t *values, uint8_t *out)
{
  for (int p = 0; p < tile->count; p++) {
    for (int c = 0; c < CUV_PCA_SHOWN; c++)
      out[4 * p + c] =
          tile->left_out[p] ? 0 : (uint8_t) values[c * CUV_PCA_TILE + p];
    out[4 * p + 3] = 255;
  }
}
