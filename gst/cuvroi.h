/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A part of the frame to look at. */
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

#define CUV_ROI_TAKES                                                          \
  "four pixel coordinates left,top,right,bottom from 0 up, with left < right " \
  "and top < bottom"

/* Reads "left,top,right,bottom"; NULL and "" are all 0, the whole frame. FALSE
 * if it is neither that nor a rectangle with pixels in it. */
CUV_API bool cuv_roi_parse (const char *text, CuvRoi *roi);

/* What both have; no pixels, but a place inside b, if that is nothing. */
CUV_API CuvRoi cuv_roi_intersect (const CuvRoi *a, const CuvRoi *b);

/* The part of a frame of this size that the roi is. */
CUV_API CuvRoi cuv_roi_in_frame (const CuvRoi *roi, int width, int height);

/* That part as a frame of its own. */
CUV_API CuvFrame cuv_frame_crop (const CuvFrame *frame, const CuvRoi *roi);

CUV_END

#endif
