/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sliding-window detection with boosted classifiers: types and entry points,
 * and a map of this folder.
 *
 * A picture, from the caller to its objects:
 *   cuvdetect.c            the interface of cuvdetect.h, for programs without
 *                          GStreamer; elements/waldboost/ calls detector.h
 *   detector.c             picture -> boxes, with a backend for each rotation
 *   backend.c              picture or region of interest -> hits of each model:
 *                          cpu/, channels/ or ../cuda/waldboost
 *   grouping/              hits -> boxes; see grouping/grouping.h
 *
 *   model/      a model file -> CuvWaldboostModel, immutable and shared;
 *               see model/reader.h
 *   reference/  the definition of the result, in plain C
 *     plan.c           model + parameters + frame size -> CuvWaldboostPlan
 *     pyramid.c        levels of the plan and their resize taps
 *     cut.c            the part of a plan that is centred in regions
 *     turn.c           rotated pictures
 *     integral.c       resized rows and rows of integral images
 *     waldboost.c      features and classifiers, for one row of windows
 *   cpu/        scans a whole frame: strips, threads, memory
 *     waldboost-cpu.c         the scan; -memory.c allocates what it needs
 *     scan-work.c             combines the threads' hits into a result
 *     waldboost-dsp.c         function table: plain C, overwritten by x86/
 *     x86/                    the same in AVX2; see x86/waldboost-avx2.h
 *   channels/   aggregated channels of a picture: colours and gradients in
 *               blocks; see channels/channels.h
 *
 * Functions marked CUV_API are exported for plugins and programs of the same
 * version.
 *
 * Sources. Integral images, Haar features and cascades of stages: P. Viola,
 * M. Jones, Rapid Object Detection using a Boosted Cascade of Simple
 * Features, CVPR 2001; tilted features: R. Lienhart, J. Maydt, An Extended
 * Set of Haar-like Features for Rapid Object Detection, ICIP 2002. A
 * threshold after each weak classifier: J. Sochman, J. Matas, WaldBoost -
 * Learning for Time Constrained Sequential Detection, CVPR 2005. LBP of 3x3
 * blocks: L. Zhang et al., Face Detection Based on Multi-Block LBP
 * Representation, ICB 2007. LRD and LRP: M. Hradis, A. Herout, P. Zemcik,
 * Local Rank Patterns - Novel Features for Rapid Object Detection, ICCVG
 * 2008. The details of OPENCV and WBD scans are those of OpenCV's source. */
#ifndef CUV_WALDBOOST_H
#define CUV_WALDBOOST_H

#include <stdbool.h>
#include <stddef.h>
#include "cuv-rgb.h"
#include "waldboost/waldboost-types.h"

/* ---- what to scan ---- */

#define CUV_WALDBOOST_MIN_SCALE_FACTOR 1.001

#define CUV_WALDBOOST_MAX_OCTAVES 16

#define CUV_WALDBOOST_MAX_SEGMENTS 32

#define CUV_WALDBOOST_MAX_UPSCALE 8

/* Models that can be searched for in one scan. */
#define CUV_WALDBOOST_MAX_MODELS 16

/* Limits of an enlarged or rotated picture. */
#define CUV_WALDBOOST_MAX_SIDE 32767
#define CUV_WALDBOOST_MAX_PIXELS (1 << 26)

typedef struct {
  CuvScan scan;
  /* OPENCV: ratio of the scales of successive levels */
  double scale_factor;
  /* DENSE: 0 = 4 octaves, 8 levels per octave */
  int32_t octaves, levels_per_octave;
  /* Factor by which the frame is enlarged before the scan, to find objects
   * smaller than the window: 1 to CUV_WALDBOOST_MAX_UPSCALE, 0 = 1. The
   * result is that of scanning the frame resized by cv::resize
   * (INTER_LINEAR_EXACT). */
  double upscale;
  /* Rotation of the objects to search for, in degrees clockwise. */
  int32_t rotation; /* -180 to 180 */
  /* Object sizes to search for, in frame pixels; 0 = no limit. If an OPENCV
   * scan has no level between the limits, the one nearest to the minimum is
   * scanned. */
  int32_t min_width, min_height;
  int32_t max_width, max_height;
  /* WaldBoost models: numbers of weak classifiers after which survivors are
   * counted, and compacted on the GPU; n_segments = 0: after 1, 8, 64, 256,
   * 512. */
  int32_t n_segments, segment_end[CUV_WALDBOOST_MAX_SEGMENTS];
  CuvRearrangement rearrangement;
  int32_t block_size; /* 8, 16 or 32; 0 = the fastest measured */
  CuvRgbMatrix rgb;   /* models on channels: converts YUV frames to RGB */
} CuvWaldboostParams;

/* Plans the scan of frames of width x height pixels; n_levels is 0 if no window
 * fits. AUTO scans a model on channels at the model's own levels and ignores
 * octaves and levels_per_octave. Returns NULL if memory runs out or a parameter
 * is out of range: a scan other than AUTO or DENSE with a model on channels;
 * OPENCV with scale_factor < CUV_WALDBOOST_MIN_SCALE_FACTOR; DENSE with octaves
 * outside 0 to 16 or levels_per_octave outside 0 to 64; upscale or rotation
 * outside their ranges; a picture that cuv_waldboost_picture_size() rejects;
 * n_segments outside 0 to CUV_WALDBOOST_MAX_SEGMENTS; a segment_end < 1;
 * block_size not 0, 8, 16 or 32. Segment ends may be in any order and beyond
 * the model's end. Free with cuv_waldboost_plan_free(). */
CUV_API CuvWaldboostPlan *cuv_waldboost_plan_new (
    const CuvWaldboostModel *model, const CuvWaldboostParams *params, int width,
    int height);
/* NULL is allowed. */
CUV_API void cuv_waldboost_plan_free (CuvWaldboostPlan *plan);

/* Replaces the size of a frame by its size after rotation and enlargement.
 * Returns false if a side or the area then exceeds the limits; a frame that is
 * neither rotated nor enlarged may have any size. */
CUV_API bool cuv_waldboost_picture_size (
    const CuvWaldboostParams *params, int *width, int *height);

/* ---- grouping ---- */

/* A box in the frame: the mean of a group of windows, or a single window. */
typedef struct {
  int32_t x, y, width, height; /* in frame pixels */
  float score;                 /* maximum score of the windows */
  int32_t neighbours;          /* number of windows */
  /* degrees clockwise: the plan's rotation; for a group, the most frequent
   * one, on a tie the first of these */
  int32_t rotation;
  double weight; /* maximum weight of the windows, 0 without weights */
} CuvWaldboostBox;

/* Returns the window of a hit, in pixels of the enlarged frame; rounding may
 * move it beyond the edge. A window of a rotated picture keeps its centre, and
 * its sides are rotated to the nearest multiple of 90 degrees. */
CUV_API CuvWaldboostBox cuv_waldboost_box (
    const CuvWaldboostPlan *plan, const CuvWaldboostHit *hit);

typedef enum {
  /* NEIGHBORS for OPENCV scans, WBD for WBD, NMS for DENSE */
  CUV_GROUPING_AUTO,
  CUV_GROUPING_NONE, /* one box per window */
  /* as cv::groupRectangles with eps 0.2: groups of more than min_neighbours
   * similar windows, in the order of the groups' first windows */
  CUV_GROUPING_NEIGHBORS,
  /* as NEIGHBORS with WBDetector's eps of 0.7; scores are 0 or more */
  CUV_GROUPING_WBD,
  /* non-maximum suppression in the order of descending scores, equal scores by
   * scan, level, y, x. A window is dropped if its intersection with a kept
   * window divided by their union is above nms_iou, or divided by the smaller
   * window is above nms_inside (areas in pixels, quotients in double). A
   * dropped window is a neighbour of the first kept window that drops it */
  CUV_GROUPING_NMS,
  CUV_GROUPING_EPS, /* as NEIGHBORS with any eps; boxes may have any size */
} CuvGroupingMethod;

typedef struct {
  CuvGroupingMethod method;
  int min_neighbours; /* NEIGHBORS, WBD, EPS; 0 = like NONE */
  double nms_iou;     /* NMS: maximum of intersection / union, 0 to 1 */
  double nms_inside;  /* NMS: maximum of intersection / smaller area, 0 to 1 */
  double eps;         /* EPS: at most 2^20 in magnitude */
} CuvGrouping;

/* The defaults of NMS, with which training sets a model's threshold. The
 * intersection over union of an object and a window of twice its size around
 * it, or half its size inside it, is only 1/4. */
#define CUV_NMS_IOU 0.3
#define CUV_NMS_INSIDE 0.65

typedef struct _CuvWaldboostGrouper CuvWaldboostGrouper;

/* Creates a grouper, which owns the memory of the grouping; this grows with the
 * largest number of hits so far. Returns NULL if memory runs out. */
CUV_API CuvWaldboostGrouper *cuv_waldboost_grouper_new (void);
/* NULL is allowed */
CUV_API void cuv_waldboost_grouper_free (CuvWaldboostGrouper *self);

/* The hits of one scan of a frame. */
typedef struct {
  const CuvWaldboostPlan *plan;
  const CuvWaldboostHit *hits;
  int n;
  const double *weights; /* for each hit, or NULL */
} CuvWaldboostHits;

/* Groups the hits of all scans of a frame into boxes, clipped to the frame and
 * valid until the next call. The plans of scans with hits may differ only in
 * their rotation. Hits are grouped in the order of the scans; windows of
 * rotated pictures whose boxes exceed the frame are dropped. Returns the number
 * of boxes, or -1 if memory runs out. */
int cuv_waldboost_group_scans (CuvWaldboostGrouper *self,
    const CuvGrouping *grouping, const CuvWaldboostHits *scans, int n_scans,
    const CuvWaldboostBox **boxes);

/* Groups the hits of one scan. */
CUV_API int cuv_waldboost_group (CuvWaldboostGrouper *self,
    const CuvWaldboostPlan *plan, const CuvGrouping *grouping,
    const CuvWaldboostHit *hits, int n_hits, const CuvWaldboostBox **boxes);

/* Groups n boxes, which are not clipped. AUTO is NEIGHBORS. */
int cuv_waldboost_group_boxes (CuvWaldboostGrouper *self,
    const CuvGrouping *grouping, const CuvWaldboostBox *in, int n,
    const CuvWaldboostBox **boxes);

#endif
