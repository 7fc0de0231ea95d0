/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The sliding-window detector on the CPU.
 *
 * model and parameters -> plan (pyramid.c) -> hits (waldboost.c, the reference;
 * waldboost-avx2.c; composed by waldboost-cpu.c) -> boxes (grouping.c). */
#ifndef CUV_WALDBOOST_H
#define CUV_WALDBOOST_H

#include <stdbool.h>
#include <stddef.h>
#include "cuv-frame.h"
#include "waldboost/waldboost-types.h"

/* ---- what to scan ---- */

#define CUV_WALDBOOST_MIN_SCALE_FACTOR 1.001

typedef struct {
  double scale_factor; /* from a level to the next */
  /* Sizes of boxes to look for, frame pixels; 0 = no limit. Where none of the
   * levels lies between them, the one nearest to the minimum is scanned. */
  int32_t min_width, min_height;
  int32_t max_width, max_height;
} CuvWaldboostParams;

/* The levels for frames of width x height. n_levels is 0 if the model's window
 * is larger than the frame. NULL if memory runs out or scale_factor is below
 * CUV_WALDBOOST_MIN_SCALE_FACTOR. Free with cuv_waldboost_plan_free(). */
CuvWaldboostPlan *cuv_waldboost_plan_new (const CuvWaldboostModel *model,
    const CuvWaldboostParams *params, int width, int height);
void cuv_waldboost_plan_free (CuvWaldboostPlan *plan); /* NULL is allowed */

/* ---- scanning ---- */

typedef struct _CuvWaldboostCpu CuvWaldboostCpu;

/* All that a frame needs is allocated here; NULL if memory runs out. Model and
 * plan must outlive it. */
CuvWaldboostCpu *cuv_waldboost_cpu_new (
    const CuvWaldboostModel *model, const CuvWaldboostPlan *plan);
void cuv_waldboost_cpu_free (CuvWaldboostCpu *self); /* NULL is allowed */

/* Scans a frame of the plan's size in host memory, with at most n_threads
 * threads (0 = one per processor). The result is the same for any number of
 * them; its hits live until the next run. */
void cuv_waldboost_cpu_run (CuvWaldboostCpu *self, const CuvFrame *frame,
    int n_threads, CuvWaldboostResult *result);

/* ---- grouping ---- */

/* An object in the frame: the mean of the windows that agree on it. */
typedef struct {
  int32_t x, y, width, height; /* frame pixels, inside the frame */
  float score;                 /* the largest of the windows' */
  int32_t neighbours;          /* number of windows */
} CuvWaldboostBox;

typedef struct _CuvWaldboostGrouper CuvWaldboostGrouper;

/* Holds the memory that grouping needs, which grows with the largest number of
 * hits seen. NULL if memory runs out. */
CuvWaldboostGrouper *cuv_waldboost_grouper_new (void);
void cuv_waldboost_grouper_free (CuvWaldboostGrouper *self); /* NULL allowed */

/* Makes boxes of hits: groups of more than min_neighbours similar windows, in
 * the order of each group's first hit, or with min_neighbours 0 one box for
 * each hit. They live until the next run. Returns their number, or -1 if memory
 * runs out. */
int cuv_waldboost_group (CuvWaldboostGrouper *self,
    const CuvWaldboostPlan *plan, const CuvWaldboostHit *hits, int n_hits,
    int min_neighbours, const CuvWaldboostBox **boxes);

/* The same for boxes of any origin; does not clip them. */
int cuv_waldboost_group_boxes (CuvWaldboostGrouper *self,
    const CuvWaldboostBox *in, int n, int min_neighbours,
    const CuvWaldboostBox **boxes);

#endif
