/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Function table of a scan: the inner loops that have more than one version. */
#ifndef CUV_WALDBOOST_DSP_H
#define CUV_WALDBOOST_DSP_H

#include "reference/waldboost-reference.h"

/* Rows of integral images have stride elements, at least the level's width +
 * CUV_SUMS_PADDING. Element size and column order are private to a version.
 * The argument `step` of the row functions is the step between the level's
 * windows. */
#define CUV_SUMS_PADDING 96

/* Makes one row of a level, with width pixels, from two rows of its source,
 * each with n_in pixels; top and bottom may be the same row. column is scratch
 * memory of n_in + 16 elements. */
typedef void (*CuvResizeRow) (uint8_t *out, int width, const uint8_t *top,
    const uint8_t *bottom, int n_in, int bottom_weight, const CuvTap *taps,
    uint16_t *column);

typedef struct {
  CuvWaldboostTables *tables; /* for CuvScanRow; owned; NULL in plain C */
  size_t sum_size;            /* bytes of an element of any integral image */

  CuvResizeRow resize_row;

  /* Make row y + 1 of an integral image, with width + 1 elements, from its row
   * y (above) and pixel row y. */
  void (*sum_row) (void *sums, const void *above, const uint8_t *grey,
      int width, int step, ptrdiff_t stride);
  void (*square_row) (void *squares, const void *above, const uint8_t *grey,
      int width, int step, ptrdiff_t stride);

  /* Makes row y + 1 of the tilted image, which also depends on row y - 1 of the
   * image (two_above) and pixel row y - 1 (grey_above). Rows above the first
   * one are 0. */
  void (*tilted_row) (void *tilted, const void *above, const void *two_above,
      const uint8_t *grey, const uint8_t *grey_above, int width, int step,
      ptrdiff_t stride);

  /* Appends the hits of a row of windows to list and counts the windows. If
   * plan->skip is set, a window rejected by the first stage makes the scan skip
   * the next one, unless it was rejected for too little contrast. */
  void (*scan_row) (const CuvScanRow *row, CuvHitList *list);
} CuvWaldboostDsp;

/* Fills in the plain C functions, then those of the running CPU. If a version
 * does not support the model, or memory for its tables runs out, the functions
 * that depend on the tables remain plain C. The tables depend on stride. */
void cuv_waldboost_dsp_init (
    CuvWaldboostDsp *self, const CuvWaldboostModel *model, ptrdiff_t stride);
/* self may be all zeros */
void cuv_waldboost_dsp_clear (CuvWaldboostDsp *self);

/* Returns the resize function of the running CPU, which needs no model. */
CUV_API CuvResizeRow cuv_waldboost_resize_row (void);

/* functions defined in cpu/x86 */
CuvResizeRow cuv_waldboost_resize_row_avx2 (void);
void cuv_waldboost_dsp_init_avx2 (
    CuvWaldboostDsp *self, const CuvWaldboostModel *model, ptrdiff_t stride);
void cuv_waldboost_tables_free_avx2 (CuvWaldboostTables *tables);

#endif
