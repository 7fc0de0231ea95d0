/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The plain C version of the scan, which defines the result. Every other
 * version returns the same bits. */
#ifndef CUV_WALDBOOST_SCAN_H
#define CUV_WALDBOOST_SCAN_H

#include "waldboost.h"

/* Hits and counters of a scan so far; one per thread. */
typedef struct {
  CuvWaldboostHit *hits; /* sorted by x within a row of windows */
  int32_t n_hits, capacity;
  uint64_t lost;    /* hits beyond the capacity */
  uint64_t windows; /* windows visited */
  uint64_t weak;    /* weak classifiers evaluated in them; a tree counts once */
  /* for each segment s of the plan: visited windows that passed the first
   * segment_end[s] weak classifiers */
  uint64_t *survivors;
} CuvHitList;

static inline void
cuv_hit_list_add (CuvHitList *self, int level, int x, int y, float score)
{
  if (self->n_hits < self->capacity)
    self->hits[self->n_hits++] = (CuvWaldboostHit){ level, x, y, score };
  else
    self->lost++;
}

/* Counts a visited window; passed is the result of cuv_evaluate_window(). A
 * cascade's stage is always evaluated to its end, so the number of evaluated
 * weak classifiers follows from the threshold that was not reached. */
static inline void
cuv_hit_list_count (CuvHitList *self, const CuvWaldboostPlan *plan, int passed)
{
  int n_weak = plan->segment_end[plan->n_segments - 1];

  self->windows++;
  self->weak += (uint64_t) (passed < n_weak ? passed + 1 : n_weak);
  for (int s = 0; s < plan->n_segments && passed >= plan->segment_end[s]; s++)
    self->survivors[s]++;
}

/* ---- the plan ---- */

/* Adds levels and taps to a plan whose scan and frame size are set. Returns
 * false if memory runs out. */
bool cuv_pyramid_fill (CuvWaldboostPlan *plan, const CuvWaldboostModel *model,
    const CuvWaldboostParams *params);

/* Returns the rotation of pictures of width x height pixels after which objects
 * that are rotated clockwise by `degrees` are upright. */
CuvTurn cuv_turn_new (int degrees, int width, int height);

/* Makes row y of the rotated picture, turn->width pixels, from a grey
 * picture. */
void cuv_turn_row (const CuvTurn *turn, const uint8_t *in, ptrdiff_t stride,
    int width, int height, int y, uint8_t *out);

/* Returns whether the box of a window in a rotated picture lies in the
 * frame. */
bool cuv_turn_keeps (const CuvWaldboostPlan *plan,
    const CuvWaldboostLevel *level, int level_x, int level_y);

/* Adds the ranges of windows to a plan with levels. Returns false if memory
 * runs out.
 */
bool cuv_turn_add_ranges (CuvWaldboostPlan *plan,
    const CuvWaldboostModel *model, CuvWaldboostLevel *levels);

/* Converts a box in the plan's picture to one in the upright, enlarged
 * frame. */
CuvWaldboostBox cuv_turn_back (
    const CuvWaldboostPlan *plan, CuvWaldboostBox box);

/* Compares two int32_t, for qsort(). */
CUV_API int cuv_compare_ints (const void *a, const void *b);

/* Scales a length or position from a side of n_level pixels to one of n_frame
 * pixels and rounds it, halves up: from a DENSE level to the picture, or from
 * an enlarged frame to the frame. A position may be negative. */
static inline int
cuv_scale_to_frame (int length, int n_level, int n_frame)
{
  const int64_t value = (int64_t) length * n_frame + n_level / 2;

  return (
      int) (value >= 0 ? value / n_level : -((n_level - 1 - value) / n_level));
}

/* ---- rows ---- */

typedef struct _CuvWaldboostTables CuvWaldboostTables;

/* Integral images of a level from some row on, modulo 2^32 in plain C:
 *
 * sums, squares: element (x, y) is the sum of the pixels, or of their squares,
 * left of column x and above row y.
 * tilted: the sum of the pixels (i, j) above row y with |i - x + 1| <= y - j -
 * 1: a triangle that opens upwards from (x, y).
 *
 * All have the same stride. squares is only used for HAAR, tilted only if the
 * model's tilted is set; otherwise they are NULL. */
typedef struct {
  /* element in the row at the top of the windows */
  const void *sums, *squares, *tilted;
  ptrdiff_t stride; /* elements per row */
} CuvIntegrals;

/* A row of windows of a level. */
typedef struct {
  const CuvWaldboostModel *model;
  const CuvWaldboostPlan *plan;
  const CuvWaldboostTables *tables; /* tables of a SIMD version, or NULL */
  CuvIntegrals integrals;
  int32_t level, step, n_x; /* step and n_x are those of the level */
  int32_t y;                /* top of the windows in pixels of the level */
  CuvRange range;           /* Haar cascades: windows that may have enough
                             * contrast */
} CuvScanRow;

/* CuvWaldboostDsp (cpu/waldboost-dsp.h) describes these functions. */
void cuv_resize_row (uint8_t *out, int width, const uint8_t *top,
    const uint8_t *bottom, int n_in, int bottom_weight, const CuvTap *taps,
    uint16_t *column);
CUV_API void cuv_sum_row (void *sums, const void *above, const uint8_t *grey,
    int width, int step, ptrdiff_t stride);
void cuv_square_row (void *squares, const void *above, const uint8_t *grey,
    int width, int step, ptrdiff_t stride);
void cuv_tilted_row (void *tilted, const void *above, const void *two_above,
    const uint8_t *grey, const uint8_t *grey_above, int width, int step,
    ptrdiff_t stride);
void cuv_scan_row (const CuvScanRow *row, CuvHitList *list);

/* Returns the code of a feature of 3x3 blocks in the window whose top left
 * corner is at column x. Of the model, only feature, block_value and inclusive
 * are read. */
CUV_API int cuv_grid_code (const CuvWaldboostModel *model,
    const CuvIntegrals *integrals, int x, const CuvGridNode *node);

/* Evaluates the window whose top left corner is at column x of the integral
 * images. Returns the number of weak classifiers that the window passes before
 * it fails one; -1 if it fails a cascade's contrast check, which precedes all
 * of them; the model's n_weak for a hit, and then sets *score. A WaldBoost
 * model's final test counts as part of its last weak classifier.
 *
 * The score is the last sum minus its threshold, in WaldBoost models minus
 * final_threshold, rounded to float: computed in double for STAGES, in float
 * for FLOAT, and for FIXED from the integers, times 2^-fixed_bits in double. */
CUV_API int cuv_evaluate_window (const CuvWaldboostModel *model,
    const CuvIntegrals *integrals, int x, float *score);

/* Returns the sum of a cascade's last stage in a window that is a hit. */
double cuv_last_stage_sum (
    const CuvWaldboostModel *model, const CuvIntegrals *integrals, int x);

#endif
