/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The steps of a scan that have more than one version, and what they share. */
#ifndef CUV_WALDBOOST_SCAN_H
#define CUV_WALDBOOST_SCAN_H

#include "waldboost.h"

/* What a scan found so far. Each thread has one of its own. */
typedef struct {
  CuvWaldboostHit *hits; /* by rising x in a row of windows */
  int32_t n_hits, capacity;
  uint64_t lost;       /* hits beyond the capacity */
  uint64_t windows;    /* visited */
  uint64_t weak;       /* evaluated on visited windows, a tree counts once */
  uint64_t *survivors; /* visited windows that passed the first segment_end[s]
                        * weak classifiers, of each segment s of the plan */
} CuvHitList;

static inline void
cuv_hit_list_add (CuvHitList *self, int level, int x, int y, float score)
{
  if (self->n_hits < self->capacity)
    self->hits[self->n_hits++] = (CuvWaldboostHit){ level, x, y, score };
  else
    self->lost++;
}

/* Counts a window that was visited: passed as cuv_evaluate_window() says. A
 * cascade's stage is always evaluated to its end, so the first threshold that
 * a window fails says how many were evaluated. */
static inline void
cuv_hit_list_count (CuvHitList *self, const CuvWaldboostPlan *plan, int passed)
{
  int n_weak = plan->segment_end[plan->n_segments - 1];

  self->windows++;
  self->weak += (uint64_t) (passed < n_weak ? passed + 1 : n_weak);
  for (int s = 0; s < plan->n_segments && passed >= plan->segment_end[s]; s++)
    self->survivors[s]++;
}

typedef struct _CuvWaldboostTables CuvWaldboostTables;

/* Integral pictures, modulo 2^32 in plain C, from some row of a level on:
 *
 * sums, squares: element (x, y) is the sum of the pixels, or of their squares,
 * left of column x and above row y.
 * tilted: the sum of the pixels (i, j) above row y with |i - x + 1| <= y - j -
 * 1: a triangle that opens upwards from (x, y).
 *
 * All have the same stride. Models without HAAR have sums only; tilted is there
 * if the model's tilted is set. */
typedef struct {
  const void *sums, *squares, *tilted; /* the row at the windows' top */
  ptrdiff_t stride;                    /* elements from a row to the next */
} CuvIntegrals;

/* The windows of one row of a level. */
typedef struct {
  const CuvWaldboostModel *model;
  const CuvWaldboostPlan *plan;
  const CuvWaldboostTables *tables; /* NULL in plain C */
  CuvIntegrals integrals;
  int32_t level, step, n_x;
  int32_t y; /* of the windows, level pixels */
} CuvScanRow;

/* Plain C: the definition of the result. */
void cuv_resize_row (uint8_t *out, int width, const uint8_t *top,
    const uint8_t *bottom, int n_in, int bottom_weight, const CuvTap *taps,
    uint16_t *column);
void cuv_sum_row (void *sums, const void *above, const uint8_t *grey, int width,
    int step, ptrdiff_t stride);
void cuv_square_row (void *squares, const void *above, const uint8_t *grey,
    int width, int step, ptrdiff_t stride);
void cuv_tilted_row (void *tilted, const void *above, const void *above_that,
    const uint8_t *grey, const uint8_t *grey_above, int width, int step,
    ptrdiff_t stride);
void cuv_scan_row (const CuvScanRow *row, CuvHitList *list);

/* Evaluates the window whose top left corner is x columns right of the first
 * one, in plain C's integral pictures. Returns the number of weak classifiers
 * that it passed before the one that it failed; -1 if it failed a cascade's
 * contrast check, before any; the model's n_weak for a hit, whose score is then
 * set. Failing a WaldBoost model's final test is failing its last weak
 * classifier. A score is the difference of the last sum and its threshold, in
 * WaldBoost models the final one: taken in double of STAGES, in float of FLOAT,
 * and of FIXED the integers' times 2^-fixed_bits in double; then a float. */
int cuv_evaluate_window (const CuvWaldboostModel *model,
    const CuvIntegrals *integrals, int x, float *score);

#endif
