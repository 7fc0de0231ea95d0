/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sliding-window detection with boosted classifiers: types and entry points.
 *
 * The folder, in the order in which data passes through it:
 *   model/      a model file -> CuvWaldboostModel, immutable and shared
 *     file.c           finds and reads the file
 *     reader.c         recognises the format and walks the XML
 *     opencv*.c        OpenCV cascades: stages and trees; features
 *     butfit*.c        BUT FIT's WaldBoostClassifier: stages; features
 *     wbd.c            WBDetector of opencv_contrib
 *     values.c         words and numbers in XML text
 *     model.c          the finished model: derived fields, reference count
 *   reference/  the definition of the result, in plain C
 *     plan.c           model + parameters + frame size -> CuvWaldboostPlan
 *     pyramid.c        its levels and their resize taps
 *     integral.c       resized rows and rows of integral images
 *     waldboost.c      features and classifiers, for one row of windows
 *   cpu/        the scan of a whole frame: strips, threads, memory
 *     waldboost-dsp.c  function table: plain C, overwritten by x86/
 *     x86/             the same in AVX2
 *   grouping/   hits -> boxes
 *     grouping.c       groups of similar boxes, as cv::groupRectangles
 *     suppression.c    non-maximum suppression
 *     cells.c          neighbour search for both
 *   scanner.c   all of it for a frame or a region, on the CPU or the GPU
 *               (cuda/waldboost)
 *   gstwaldboost*.c, plugin.c   the element
 */
#ifndef CUV_WALDBOOST_H
#define CUV_WALDBOOST_H

#include <stdbool.h>
#include <stddef.h>
#include "cuv-frame.h"
#include "waldboost/waldboost-types.h"

/* ---- what to scan ---- */

#define CUV_WALDBOOST_MIN_SCALE_FACTOR 1.001

#define CUV_WALDBOOST_MAX_SEGMENTS 32

typedef struct {
  CuvScan scan;
  double scale_factor;                /* OPENCV: from a level to the next */
  int32_t octaves, levels_per_octave; /* DENSE: 0 = 4 of 8 */
  /* Sizes of boxes to look for, frame pixels; 0 = no limit. Where none of the
   * levels of OPENCV lies between them, the one nearest to the minimum is
   * scanned. */
  int32_t min_width, min_height;
  int32_t max_width, max_height;
  /* Of WaldBoost models: after how many weak classifiers survivors are counted
   * and the GPU closes up; none = 1, 8, 64, 256, 512. */
  int32_t n_segments, segment_end[CUV_WALDBOOST_MAX_SEGMENTS];
  CuvRearrangement rearrangement;
  int32_t block_size; /* 8, 16, 32, or 0 = what measured fastest */
} CuvWaldboostParams;

/* The levels for frames of width x height. n_levels is 0 if no window fits.
 * NULL if memory runs out, or if an OPENCV scan's scale_factor is below
 * CUV_WALDBOOST_MIN_SCALE_FACTOR, a DENSE scan's octaves and levels_per_octave
 * are not in 0 .. 16 and 0 .. 64, n_segments is not in 0 ..
 * CUV_WALDBOOST_MAX_SEGMENTS, an end is below 1, or block_size is another one.
 * Segments need not be in order and may go beyond the model. Free with
 * cuv_waldboost_plan_free(). */
CuvWaldboostPlan *cuv_waldboost_plan_new (const CuvWaldboostModel *model,
    const CuvWaldboostParams *params, int width, int height);
void cuv_waldboost_plan_free (CuvWaldboostPlan *plan); /* NULL is allowed */

/* ---- grouping ---- */

/* An object in the frame: the mean of the windows that agree on it, or one
 * window. */
typedef struct {
  int32_t x, y, width, height; /* frame pixels, inside the frame */
  float score;                 /* the largest of the windows' */
  int32_t neighbours;          /* number of windows */
} CuvWaldboostBox;

/* Where a window is in the frame; may reach over its edge by rounding. */
CuvWaldboostBox cuv_waldboost_box (
    const CuvWaldboostPlan *plan, const CuvWaldboostHit *hit);

typedef enum {
  CUV_GROUPING_AUTO, /* NEIGHBORS or WBD as the scan is, NMS for DENSE */
  CUV_GROUPING_NONE, /* one box for each window */
  /* as cv::groupRectangles (eps 0.2): groups of more than min_neighbours
   * similar windows, in the order of each group's first */
  CUV_GROUPING_NEIGHBORS,
  /* the same as WBDetector calls it: eps 0.7; scores are 0 or more */
  CUV_GROUPING_WBD,
  /* non-maximum suppression: windows by falling score, equal ones by level, y,
   * x; one is dropped if its intersection over union with a kept one, in
   * pixels, the quotient in double, is above nms_iou. Of its neighbours, each
   * is counted for the first kept one that drops it */
  CUV_GROUPING_NMS,
} CuvGroupingMethod;

typedef struct {
  CuvGroupingMethod method;
  int min_neighbours; /* of NEIGHBORS and WBD; 0 = NONE */
  double nms_iou;     /* 0 .. 1 */
} CuvGrouping;

typedef struct _CuvWaldboostGrouper CuvWaldboostGrouper;

/* Holds the memory that grouping needs, which grows with the largest number of
 * hits seen. NULL if memory runs out. */
CuvWaldboostGrouper *cuv_waldboost_grouper_new (void);
void cuv_waldboost_grouper_free (CuvWaldboostGrouper *self); /* NULL allowed */

/* Makes boxes of hits, clipped to the frame. They live until the next run.
 * Returns their number, or -1 if memory runs out. */
int cuv_waldboost_group (CuvWaldboostGrouper *self,
    const CuvWaldboostPlan *plan, const CuvGrouping *grouping,
    const CuvWaldboostHit *hits, int n_hits, const CuvWaldboostBox **boxes);

/* The same for boxes of any origin; AUTO is NEIGHBORS. Does not clip them. */
int cuv_waldboost_group_boxes (CuvWaldboostGrouper *self,
    const CuvGrouping *grouping, const CuvWaldboostBox *in, int n,
    const CuvWaldboostBox **boxes);

#endif
