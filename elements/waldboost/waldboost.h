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
 *     write.c          a classifier as BUT FIT's or OpenCV's XML
 *   reference/  the definition of the result, in plain C
 *     plan.c           model + parameters + frame size -> CuvWaldboostPlan
 *     pyramid.c        its levels and their resize taps
 *     integral.c       resized rows and rows of integral images
 *     waldboost.c      features and classifiers, for one row of windows
 *   cpu/        the scan of a whole frame: strips, threads, memory
 *     waldboost-dsp.c  function table: plain C, overwritten by x86/
 *     x86/             the same in AVX2, by kind of model:
 *       lbp-avx2.c       OpenCV cascades of LBP stumps; LBP trees are plain C
 *       boost*-avx2.c    WaldBoost models of LBP, LRD and LRP features
 *       haar*-avx2.c     OpenCV cascades of Haar stumps and trees
 *       grid-avx2.h      the 3x3 blocks of lbp and boost
 *       tables-avx2.c    what the tables of all kinds share
 *   grouping/   hits -> boxes
 *     grouping.c       groups of similar boxes, as cv::groupRectangles
 *     suppression.c    non-maximum suppression
 *     cells.c          neighbour search for both
 *   train/      pictures with objects -> model; see train/train.h
 *   backend.c   all of it for a frame or a region, on the CPU or the GPU
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

#define CUV_WALDBOOST_MAX_UPSCALE 8

/* Limits of a picture that is enlarged or turned. */
#define CUV_WALDBOOST_MAX_SIDE 32767
#define CUV_WALDBOOST_MAX_PIXELS (1 << 26)

typedef struct {
  CuvScan scan;
  double scale_factor;                /* OPENCV: ratio of successive levels */
  int32_t octaves, levels_per_octave; /* DENSE: 0 = 4 octaves, 8 levels */
  /* The frame is enlarged so many times before the scan, which finds objects
   * smaller than the window: 1 .. CUV_WALDBOOST_MAX_UPSCALE, 0 = 1. The result
   * is that of the frame resized by cv::resize (INTER_LINEAR_EXACT). */
  double upscale;
  /* Looks for objects that are turned by so many degrees, clockwise. */
  int32_t rotation; /* -180 .. 180 */
  /* Object sizes to look for, frame pixels; 0 = no limit. If no level of an
   * OPENCV scan is between them, the one nearest to the minimum is scanned. */
  int32_t min_width, min_height;
  int32_t max_width, max_height;
  /* WaldBoost models: numbers of weak classifiers after which survivors are
   * counted and the GPU compacts them; n_segments 0 = 1, 8, 64, 256, 512. */
  int32_t n_segments, segment_end[CUV_WALDBOOST_MAX_SEGMENTS];
  CuvRearrangement rearrangement;
  int32_t block_size; /* 8, 16, 32, 0 = the fastest measured */
} CuvWaldboostParams;

/* Plans the scan of frames of width x height pixels; n_levels is 0 if no window
 * fits. NULL if memory runs out or a parameter is out of range: OPENCV with
 * scale_factor < CUV_WALDBOOST_MIN_SCALE_FACTOR; DENSE with octaves not in
 * 0 .. 16 or levels_per_octave not in 0 .. 64; upscale or rotation; a picture
 * that cuv_waldboost_picture_size() refuses; n_segments not in 0 ..
 * CUV_WALDBOOST_MAX_SEGMENTS; a segment_end < 1; block_size not 0, 8, 16 or 32.
 * Segment ends may be in any order and beyond the model's end. Free with
 * cuv_waldboost_plan_free(). */
CuvWaldboostPlan *cuv_waldboost_plan_new (const CuvWaldboostModel *model,
    const CuvWaldboostParams *params, int width, int height);
void cuv_waldboost_plan_free (CuvWaldboostPlan *plan); /* NULL is allowed */

/* The size of frames of width x height pixels once turned and enlarged. False
 * if a side or the area is above the limits, unless they are neither. */
bool cuv_waldboost_picture_size (
    const CuvWaldboostParams *params, int *width, int *height);

/* ---- grouping ---- */

/* An object in the frame: the mean of a group of windows, or one window. */
typedef struct {
  int32_t x, y, width, height; /* frame pixels */
  float score;                 /* maximum over the windows */
  int32_t neighbours;          /* number of windows */
  int32_t rotation;            /* degrees, clockwise: that of the plan, or of
                                * most windows of a group, the first such one */
} CuvWaldboostBox;

/* The window of a hit in the frame as the plan enlarges it; rounding may move
 * it over the edge. A window of a turned picture has the same centre in the
 * frame, and its sides are turned to the nearest multiple of 90 degrees. */
CuvWaldboostBox cuv_waldboost_box (
    const CuvWaldboostPlan *plan, const CuvWaldboostHit *hit);

typedef enum {
  CUV_GROUPING_AUTO, /* by scan: NEIGHBORS for OPENCV, WBD, NMS for DENSE */
  CUV_GROUPING_NONE, /* one box per window */
  /* as cv::groupRectangles with eps 0.2: groups of more than min_neighbours
   * similar windows, in the order of the first window of each */
  CUV_GROUPING_NEIGHBORS,
  /* the same with WBDetector's eps of 0.7; scores are 0 or more */
  CUV_GROUPING_WBD,
  /* non-maximum suppression: windows by descending score, equal scores by
   * scan, level, y, x; a window is dropped if its intersection over union with
   * a kept one (pixel areas, quotient in double) is above nms_iou. A dropped
   * window is a neighbour of the first kept one that drops it */
  CUV_GROUPING_NMS,
} CuvGroupingMethod;

typedef struct {
  CuvGroupingMethod method;
  int min_neighbours; /* NEIGHBORS, WBD; 0 = as NONE */
  double nms_iou;     /* NMS, 0 .. 1 */
} CuvGrouping;

typedef struct _CuvWaldboostGrouper CuvWaldboostGrouper;

/* Owns the memory of the grouping, which grows with the largest number of hits
 * seen. NULL if memory runs out. */
CuvWaldboostGrouper *cuv_waldboost_grouper_new (void);
void cuv_waldboost_grouper_free (CuvWaldboostGrouper *self); /* NULL allowed */

/* The hits of one scan of a frame. */
typedef struct {
  const CuvWaldboostPlan *plan;
  const CuvWaldboostHit *hits;
  int n;
} CuvWaldboostHits;

/* Groups the hits of the scans of a frame, whose plans differ in their rotation
 * only, except those without hits, into boxes, clipped to the frame and valid
 * until the next call. All are grouped together, in the order of the scans,
 * except windows of turned pictures whose boxes do not lie in the frame.
 * Returns the number of boxes, or -1 if memory runs out. */
int cuv_waldboost_group_scans (CuvWaldboostGrouper *self,
    const CuvGrouping *grouping, const CuvWaldboostHits *scans, int n_scans,
    const CuvWaldboostBox **boxes);

/* Those of one scan. */
int cuv_waldboost_group (CuvWaldboostGrouper *self,
    const CuvWaldboostPlan *plan, const CuvGrouping *grouping,
    const CuvWaldboostHit *hits, int n_hits, const CuvWaldboostBox **boxes);

/* The same for any boxes, not clipped; AUTO is NEIGHBORS. */
int cuv_waldboost_group_boxes (CuvWaldboostGrouper *self,
    const CuvGrouping *grouping, const CuvWaldboostBox *in, int n,
    const CuvWaldboostBox **boxes);

#endif
