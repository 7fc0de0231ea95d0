/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sums of features and of their products over cells, windows and boxes. */
#include "rcd.h"
#include "rcd/rcd-distance.h"
#include "rcd/rcd-pixel.h"

#include <string.h>

static void
add_pixel (int64_t *sums, const int32_t *z, int n)
{
  int k = n;

  for (int i = 0; i < n; i++) {
    sums[i] += z[i];
    for (int j = i; j < n; j++)
      sums[k++] += (int64_t) z[i] * z[j];
  }
}

static void
add_pixels (const CuvFrame *frame, CuvRcdFeatures features, int left, int top,
    int right, int bottom, int64_t *sums)
{
  const int n = cuv_rcd_n_features (features);
  int32_t z[CUV_RCD_MAX_FEATURES];

  for (int y = top; y < bottom; y++) {
    for (int x = left; x < right; x++) {
      cuv_rcd_pixel (frame, features, x, y, z);
      add_pixel (sums, z, n);
    }
  }
}

void
cuv_rcd_cell_sums (const CuvFrame *frame, CuvRcdFeatures features,
    const CuvRcdGrid *grid, int64_t *cells)
{
  const int n_sums = CUV_RCD_SUMS (cuv_rcd_n_features (features));

  for (int row = 0; row < grid->n_rows; row++) {
    for (int column = 0; column < grid->n_columns; column++) {
      memset (cells, 0, (size_t) n_sums * sizeof *cells);
      add_pixels (frame, features, grid->x[column], grid->y[row],
          grid->x[column + 1], grid->y[row + 1], cells);
      cells += n_sums;
    }
  }
}

void
cuv_rcd_integrate (const int64_t *cells, int n_sums, const CuvRcdGrid *grid,
    int64_t *integrals)
{
  const size_t pitch = (size_t) (grid->n_columns + 1) * (size_t) n_sums;

  memset (integrals, 0, pitch * sizeof *integrals);
  for (int row = 0; row < grid->n_rows; row++) {
    const int64_t *above = integrals;
    int64_t row_sums[CUV_RCD_MAX_SUMS] = { 0 };

    integrals += pitch;
    memset (integrals, 0, (size_t) n_sums * sizeof *integrals);
    for (size_t at = (size_t) n_sums; at < pitch; at++)
      integrals[at] = above[at] + (row_sums[at % (size_t) n_sums] += *cells++);
  }
}

void
cuv_rcd_window_sums (const int64_t *integrals, int n_sums,
    const CuvRcdGrid *grid, int left, int top, int right, int bottom,
    int64_t *sums)
{
  const ptrdiff_t pitch = (ptrdiff_t) (grid->n_columns + 1) * n_sums;
  const int64_t *upper = integrals + top * pitch;
  const int64_t *lower = integrals + bottom * pitch;

  for (int k = 0; k < n_sums; k++)
    sums[k] = lower[(ptrdiff_t) right * n_sums + k]
        - lower[(ptrdiff_t) left * n_sums + k]
        - upper[(ptrdiff_t) right * n_sums + k]
        + upper[(ptrdiff_t) left * n_sums + k];
}

void
cuv_rcd_box_sums (const CuvFrame *frame, CuvRcdFeatures features,
    const CuvRcdBox *box, int64_t *sums)
{
  const int n = cuv_rcd_n_features (features);

  memset (sums, 0, (size_t) CUV_RCD_SUMS (n) * sizeof *sums);
  add_pixels (frame, features, box->x, box->y, box->x + box->width,
      box->y + box->height, sums);
  if (features == CUV_RCD_TUZEL9)
    cuv_rcd_move_origin (
        sums, n, (int64_t) box->width * box->height, box->x, box->y);
}
