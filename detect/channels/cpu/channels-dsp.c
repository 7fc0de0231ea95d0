/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Plain C versions of the inner loops. Also chooses the version for the running
 * CPU. */
#include "config.h"
#include "channels/cpu/channels-dsp.h"

#include <stdlib.h>
#include <string.h>
#include "channels/cpu/channels-rows.h"
#include "cpu/waldboost-dsp.h"
#include "cuvcpu.h"

/* ---- gradients ---- */

/* Returns floor (sqrt (square)). Rounding to float does not change the
 * result: the float nearest to the root of k^2 - 1 is less than k for all k
 * up to 361. */
static int
root_of (int square)
{
  return (int) sqrtf ((float) square);
}

static void
gradient_row (const CuvChannelsRows planes[CUV_CHANNELS_COLORS], int width,
    uint16_t *magnitudes, uint8_t *bins)
{
  for (int x = 0; x < width; x++) {
    CuvGradient strongest = { 0, 0 };
    int most = 0;

    for (int i = 0; i < CUV_CHANNELS_COLORS; i++) {
      const CuvGradient self = { planes[i].at[x + 1] - planes[i].at[x - 1],
        planes[i].below[x] - planes[i].above[x] };
      const int square = self.dx * self.dx + self.dy * self.dy;

      if (square > most) {
        most = square;
        strongest = self;
      }
    }
    magnitudes[x] = (uint16_t) root_of (most);
    bins[x] = (uint8_t) cuv_channels_direction (strongest);
  }
}

/* ---- blocks ---- */

static void
sum_colors (const uint8_t *const rows[CUV_CHANNELS_COLORS][4], int shrink,
    int columns, uint16_t *sums, ptrdiff_t pitch)
{
  for (int channel = 0; channel < CUV_CHANNELS_COLORS; channel++) {
    for (int column = 0; column < columns; column++) {
      int sum = 0;

      for (int y = 0; y < shrink; y++) {
        for (int x = column * shrink; x < (column + 1) * shrink; x++)
          sum += cuv_channels_color (
              channel, rows[0][y][x], rows[1][y][x], rows[2][y][x]);
      }
      sums[channel * pitch + column] = (uint16_t) sum;
    }
  }
}

static void
sum_gradients (const uint8_t *const magnitudes[4], const uint8_t *const bins[4],
    int shrink, int columns, uint16_t *sums, ptrdiff_t pitch)
{
  for (int channel = 0; channel <= CUV_CHANNELS_BINS; channel++)
    memset (sums + channel * pitch, 0, (size_t) columns * sizeof *sums);
  for (int y = 0; y < shrink; y++) {
    for (int x = 0; x < columns * shrink; x++) {
      const int column = x / shrink, value = magnitudes[y][x];
      uint16_t *total = &sums[column];
      uint16_t *part = &sums[(1 + bins[y][x]) * pitch + column];

      *total = (uint16_t) (*total + value);
      *part = (uint16_t) (*part + value);
    }
  }
}

/* ---- windows ---- */

static int
evaluate (const CuvChannelsScanRow *row, int x, int32_t *score)
{
  const CuvChannelsTrees *trees = row->trees;
  const int n_nodes = (1 << trees->depth) - 1;
  const uint8_t *blocks = row->blocks + x;
  int32_t sum = 0;

  for (int tree = 0; tree < trees->n_trees; tree++) {
    const ptrdiff_t first = (ptrdiff_t) tree * n_nodes;
    int at = 0;

    while (at < n_nodes)
      at = 2 * at + 1
          + (blocks[row->offsets[first + at]]
              >= trees->nodes[first + at].threshold);
    sum += trees->leaves[((ptrdiff_t) tree << trees->depth) + at - n_nodes];
    if (sum < trees->thresholds[tree])
      return tree;
  }
  *score = sum - trees->final_threshold;
  return *score > 0 ? trees->n_trees : trees->n_trees - 1;
}

static void
scan_row (const CuvChannelsScanRow *row, CuvHitList *list)
{
  const CuvWaldboostPlan *plan = row->plan;

  for (int x = 0; x < row->n_x; x++) {
    int32_t score = 0;
    const int passed = evaluate (row, x, &score);

    cuv_hit_list_count (list, plan, passed);
    if (passed == row->trees->n_trees)
      cuv_hit_list_add (list, row->level, plan->first + x * row->trees->shrink,
          row->y, (float) score / 256);
  }
}

/* ---- the choice ---- */

const CuvChannelsDsp cuv_channels_dsp_c = { cuv_resize_row, gradient_row,
  cuv_channels_move_sums, cuv_channels_normalise_row, sum_colors, sum_gradients,
  cuv_channels_smooth_row, scan_row };

CuvChannelsDsp
cuv_channels_dsp (void)
{
  CuvChannelsDsp self = cuv_channels_dsp_c;

#if HAVE_SIMD
  if (cuv_cpu_flags () & CUV_CPU_SIMD)
    self = cuv_channels_dsp_avx2;
#endif
  self.resize_row = cuv_waldboost_resize_row ();
  return self;
}
