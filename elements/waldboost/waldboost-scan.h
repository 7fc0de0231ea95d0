/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The steps of a scan that have more than one version, and what they share. */
#ifndef CUV_WALDBOOST_SCAN_H
#define CUV_WALDBOOST_SCAN_H

#include "waldboost.h"

/* Hits found so far; those beyond the capacity are counted only. */
typedef struct {
  CuvWaldboostHit *hits;
  int32_t n_hits, capacity;
  uint64_t lost, windows, stage_0;
} CuvHitList;

static inline void
cuv_hit_list_add (CuvHitList *self, int level, int x, int y, float score)
{
  if (self->n_hits < self->capacity)
    self->hits[self->n_hits++] = (CuvWaldboostHit){ level, x, y, score };
  else
    self->lost++;
}

typedef struct _CuvWaldboostTables CuvWaldboostTables;

/* The windows of one row of a level. */
typedef struct {
  const CuvWaldboostModel *model;
  const CuvWaldboostTables *tables; /* NULL in plain C */
  const void *sums; /* the integral picture's row at the windows' top */
  ptrdiff_t stride; /* sums in each of its rows */
  int32_t level, step, n_x;
  int32_t y; /* of the windows, level pixels */
} CuvScanRow;

/* One version of each step. Sums have a size and an order of their own in each
 * version; a row has stride of them, at least the level's width +
 * CUV_SUMS_PADDING. */
typedef struct {
  size_t sum_size; /* bytes */
  /* Makes one row of a level, width pixels, of two rows of the frame, which has
   * n_in pixels across. column holds n_in + 16 elements of scratch memory. */
  void (*resize_row) (uint8_t *out, int width, const uint8_t *top,
      const uint8_t *bottom, int n_in, int bottom_weight, const CuvTap *taps,
      uint16_t *column);
  /* Makes a row of the integral picture of the row above it. */
  void (*sum_row) (void *sums, const void *above, const uint8_t *grey,
      int width, int step, ptrdiff_t stride);
  void (*scan_row) (const CuvScanRow *row, CuvHitList *list);
} CuvWaldboostSteps;

#define CUV_SUMS_PADDING 96

/* Plain C: the definition of the result. */
void cuv_resize_row (uint8_t *out, int width, const uint8_t *top,
    const uint8_t *bottom, int n_in, int bottom_weight, const CuvTap *taps,
    uint16_t *column);
void cuv_sum_row (void *sums, const void *above, const uint8_t *grey, int width,
    int step, ptrdiff_t stride);
void cuv_scan_row (const CuvScanRow *row, CuvHitList *list);

/* Evaluates the window whose top left corner is at sums, in an integral picture
 * of stride sums a row. Returns the number of weak classifiers that it passed:
 * the model's n_weak for a hit, whose score is then set. */
int cuv_evaluate_window (const CuvWaldboostModel *model, const uint32_t *sums,
    ptrdiff_t stride, float *score);

/* Overwrites the steps that this version has. Returns the tables that its
 * scan_row needs, or NULL, with scan_row and sum_row as they were, if the model
 * is not one for it or memory runs out. */
CuvWaldboostTables *cuv_waldboost_avx2_init (
    CuvWaldboostSteps *steps, const CuvWaldboostModel *model, ptrdiff_t stride);
void cuv_waldboost_avx2_free (CuvWaldboostTables *tables);

#endif
