/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The inner loops in C, and the choice of those that the CPU supports. */
#include "cpu/hough-dsp-c.h"
#include "config.h"
#include "cuvcpu.h"

#include <stdlib.h>

static void
gradients (const uint8_t *const rows[3], int width, CuvCannyNorm norm,
    int16_t *scratch, const CuvGradientRow *out)
{
  for (int x = 0; x < width; x++) {
    int l = x > 0 ? x - 1 : 0, r = x < width - 1 ? x + 1 : x;
    int gx = rows[0][r] + 2 * rows[1][r] + rows[2][r] - rows[0][l]
        - 2 * rows[1][l] - rows[2][l];
    int gy = rows[2][l] + 2 * rows[2][x] + rows[2][r] - rows[0][l]
        - 2 * rows[0][x] - rows[0][r];

    out->gx[x] = (int16_t) gx;
    out->gy[x] = (int16_t) gy;
    if (norm == CUV_CANNY_L1)
      out->l1[x] = (int16_t) (abs (gx) + abs (gy));
    else
      out->l2[x] = gx * gx + gy * gy;
  }
}

static void
bin (const CuvHoughLayout *layout, const int16_t *gx, const int16_t *gy, int n,
    uint16_t *bins)
{
  for (int i = 0; i < n; i++)
    bins[i] = (uint16_t) cuv_hough_orientation_bin (layout, gx[i], gy[i]);
}

static int
hough_find_cells_c (
    const uint32_t *cells, int n, uint32_t threshold, int32_t *found)
{
  int n_found = 0;

  for (int i = 0; i < n; i++) {
    if (cells[i] > threshold)
      found[n_found++] = i;
  }
  return n_found;
}

void
cuv_hough_dsp_init (CuvHoughDsp *self)
{
  *self = (CuvHoughDsp){
    .grey = cuv_grey_row,
    .blur_across = cuv_blur_across,
    .blur_down = cuv_blur_down,
    .gradients = gradients,
    .suppress = cuv_suppress,
    .find_seed = cuv_find_seed,
    .list = cuv_list,
    .bin = bin,
    .vote = cuv_vote,
    .vote_pair = cuv_vote_pair,
    .add_counts = cuv_add_counts,
    .gather = cuv_gather,
    .find_cells = hough_find_cells_c,
    .gather_threshold = 80,
  };
#if HAVE_SIMD
  if (cuv_cpu_flags () & CUV_CPU_SIMD)
    cuv_hough_dsp_init_avx2 (self);
#endif
}
