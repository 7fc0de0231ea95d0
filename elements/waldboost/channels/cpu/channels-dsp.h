/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Function table of channels: the inner loops that have more than one version.
 *
 * All rows may be read and written up to CUV_CHANNELS_PADDING elements beyond
 * their width; what is written there is arbitrary. */
#ifndef CUV_CHANNELS_DSP_H
#define CUV_CHANNELS_DSP_H

#include "channels/trees.h"
#include "cpu/waldboost-dsp.h"

#define CUV_CHANNELS_PADDING 64

/* Three rows of a plane: the one above, the row itself and the one below.
 * Elements -1 and width are those of the edge. */
typedef struct {
  const uint8_t *above, *at, *below;
} CuvChannelsRows;

/* A row of windows of a level. A node compares the byte at its offset from the
 * window's first block; offsets are those of trees->nodes. */
typedef struct {
  const CuvChannelsTrees *trees;
  const CuvWaldboostPlan *plan;
  const int32_t *offsets;
  const uint8_t *blocks; /* of the first window: channel 0, column 0, row 0 */
  int32_t level, n_x, y; /* y: of the windows, level pixels */
} CuvChannelsScanRow;

typedef struct {
  CuvResizeRow resize_row;

  /* The magnitude and direction of each pixel's strongest gradient. */
  void (*gradient_row) (const CuvChannelsRows planes[CUV_CHANNELS_COLORS],
      int width, uint16_t *magnitudes, uint8_t *bins);

  /* sums += in - out */
  void (*move_sums) (
      uint16_t *sums, const uint16_t *in, const uint16_t *out, int width);

  /* Magnitudes relative to their surroundings. sums: of 11 rows, valid from
   * -CUV_CHANNELS_RADIUS to width + CUV_CHANNELS_RADIUS - 1. */
  void (*normalise_row) (const uint16_t *magnitudes, const uint16_t *sums,
      int width, uint8_t *out);

  /* Sums of blocks of a row of blocks. rows: pointers to the rows of pixels of
   * each plane, shrink of them; sums: pitch elements from channel to channel.
   */
  void (*sum_colors) (const uint8_t *const rows[CUV_CHANNELS_COLORS][4],
      int shrink, int columns, uint16_t *sums, ptrdiff_t pitch);
  /* The same of the magnitude, channel 0, and the directions. */
  void (*sum_gradients) (const uint8_t *const magnitudes[4],
      const uint8_t *const bins[4], int shrink, int columns, uint16_t *sums,
      ptrdiff_t pitch);

  /* Sums weighted by 1 2 1 in both directions, divided by 2^shift. Elements -1
   * and columns are those of the edge. */
  void (*smooth_row) (const uint16_t *above, const uint16_t *at,
      const uint16_t *below, int columns, int shift, uint8_t *out);

  /* Appends the accepted windows to list and counts the windows. */
  void (*scan_row) (const CuvChannelsScanRow *row, CuvHitList *list);
} CuvChannelsDsp;

/* The functions of the running CPU. */
CuvChannelsDsp cuv_channels_dsp (void);

/* ---- versions ---- */

extern const CuvChannelsDsp cuv_channels_dsp_c, cuv_channels_dsp_avx2;

#endif
