/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A region of interest. */
#ifndef CUV_ROI_H
#define CUV_ROI_H

#include <stdbool.h>
#include "cuv-api.h"
#include "cuv-frame.h"

CUV_BEGIN

/* Pixels; right and bottom are outside. */
typedef struct {
  int left, top, right, bottom;
} CuvRoi;

/* The message for a text that cannot be parsed. */
#define CUV_ROI_EXPECTED                                                       \
  "expected left,top,right,bottom in pixels, with 0 <= left < right and 0 <= " \
  "top < bottom"

/* Parses "left,top,right,bottom"; NULL and "" mean the whole frame, all zeros.
 * FALSE for any other text and for empty rectangles; roi is unchanged then. */
CUV_API bool cuv_roi_parse (const char *text, CuvRoi *roi);

/* Intersection of a and b; if empty, clamped into b. */
CUV_API CuvRoi cuv_roi_intersect (const CuvRoi *a, const CuvRoi *b);

/* The roi clipped to a frame of this size. */
CUV_API CuvRoi cuv_roi_in_frame (const CuvRoi *roi, int width, int height);

/* The roi, which lies in the frame, as a frame that shares its pixels. */
CUV_API CuvFrame cuv_frame_crop (const CuvFrame *frame, const CuvRoi *roi);

CUV_END

#endif
