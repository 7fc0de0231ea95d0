/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Cuts a plan to the windows whose centres lie in regions of the frame. A cut
 * is a plan of its own, whose levels are pieces of the levels of the whole
 * plan, with the same pixels: scanned, a window gives the same answer. The
 * windows that plan->skip omits depend on where the rows of a piece begin. */
#ifndef CUV_WALDBOOST_CUT_H
#define CUV_WALDBOOST_CUT_H

#include "cuvroi.h"
#include "waldboost.h"

/* A piece of a level. */
typedef struct {
  int32_t level; /* of the whole plan */
  CuvRoi rect;   /* pixels of that level */
} CuvWaldboostPiece;

typedef struct {
  const CuvWaldboostPlan *whole;
  /* n_levels is 0 if no window is centred in a region */
  CuvWaldboostPlan plan;
  CuvWaldboostPiece *pieces; /* for each level of plan */
  CuvRoi part;               /* of the frame: what plan scans */
  int64_t cost;              /* in pixels, of all pieces */
} CuvWaldboostCut;

/* Cuts the plan of a frame that is not turned; it must outlive the cut. Regions
 * are in pixels of the frame and may exceed it and overlap each other. Returns
 * NULL if memory runs out. */
CuvWaldboostCut *cuv_waldboost_cut_new (
    const CuvWaldboostPlan *whole, const CuvRoi *regions, int n_regions);
void cuv_waldboost_cut_free (CuvWaldboostCut *self); /* NULL is allowed */

/* Returns whether time and memory are at most those of the whole plan. */
bool cuv_waldboost_cut_saves_work (const CuvWaldboostCut *self);

/* Converts hits of the cut, in place, to hits of the whole plan, sorted, each
 * window once. Returns their number. */
int cuv_waldboost_cut_restore (
    const CuvWaldboostCut *self, CuvWaldboostHit *hits, int n_hits);

/* Keeps, in place, the hits whose box has its centre in a region. Returns their
 * number. */
int cuv_waldboost_keep_centred (const CuvWaldboostPlan *plan,
    const CuvRoi *regions, int n_regions, CuvWaldboostHit *hits, int n_hits);

#endif
