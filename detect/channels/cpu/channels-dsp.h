/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Function table of channels: the inner loops that have more than one version.
 *
 * Functions may read and write up to CUV_CHANNELS_PADDING elements beyond the
 * width of a row. The values written there are arbitrary. */
#ifndef CUV_CHANNELS_DSP_H
#define CUV_CHANNELS_DSP_H

#include "channels/trees.h"
#include "cpu/waldboost-dsp.h"

#define CUV_CHANNELS_PADDING 64

/* A row of a plane (at) and the rows above and below it. Elements -1 and width
 * repeat elements 0 and width - 1. */
typedef struct {
  const uint8_t *above, *at, *below;
} CuvChannelsRows;

/* A row of windows of a level. Node i of trees->nodes compares the byte that is
 * offsets[i] after the window's first. */
typedef struct {
  const CuvChannelsTrees *trees;
  const CuvWaldboostPlan *plan;
  const int32_t *offsets;
  const uint8_t *blocks; /* the first byte of the first window */
  int32_t level, n_x, y; /* y: top of the windows in pixels of the level */
} CuvChannelsScanRow;

typedef struct {
  CuvResizeRow resize_row;

  /* Computes the magnitude and direction of each pixel's strongest gradient. */
  void (*gradient_row) (const CuvChannelsRows planes[CUV_CHANNELS_COLORS],
      int width, uint16_t *magnitudes, uint8_t *bins);

  /* sums += in - out */
  void (*move_sums) (
      uint16_t *sums, const uint16_t *in, const uint16_t *out, int width);

  /* Computes cuv_channels_normalise() for a row. sums: the sum of 11 rows in
   * each column, valid from -CUV_CHANNELS_RADIUS to width + CUV_CHANNELS_RADIUS
   * - 1. */
  void (*normalise_row) (const uint16_t *magnitudes, const uint16_t *sums,
      int width, uint8_t *out);

  /* Sums the colours of each block in a row of blocks. rows: shrink rows of
   * pixels of each plane; pitch: elements between two channels of sums. */
  void (*sum_colors) (const uint8_t *const rows[CUV_CHANNELS_COLORS][4],
      int shrink, int columns, uint16_t *sums, ptrdiff_t pitch);
  /* Sums the magnitudes: all as channel 0, and those of each direction. */
  void (*sum_gradients) (const uint8_t *const magnitudes[4],
      const uint8_t *const bins[4], int shrink, int columns, uint16_t *sums,
      ptrdiff_t pitch);

  /* Weights sums by 1 2 1 in both directions and divides them by 2^shift.
   * Elements -1 and columns repeat elements 0 and columns - 1. */
  void (*smooth_row) (const uint16_t *above, const uint16_t *at,
      const uint16_t *below, int columns, int shift, uint8_t *out);

  /* Appends the accepted windows to list, and counts all windows in it. */
  void (*scan_row) (const CuvChannelsScanRow *row, CuvHitList *list);
} CuvChannelsDsp;

/* Returns the functions for the running CPU. */
CuvChannelsDsp cuv_channels_dsp (void);

/* ---- versions ---- */

extern const CuvChannelsDsp cuv_channels_dsp_c, cuv_channels_dsp_avx2;

#endif
