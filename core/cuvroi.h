/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A region of interest. */
#ifndef CUV_ROI_H
#define CUV_ROI_H

#include <stdbool.h>
#include "cuv-api.h"
#include "cuv-frame.h"

CUV_BEGIN

/* A rectangle in pixels. All zeros mean the whole frame. */
typedef struct {
  int left;   /* first column */
  int top;    /* first row */
  int right;  /* the column after the last */
  int bottom; /* the row after the last */
} CuvRoi;

/* The message for a text that cannot be parsed. */
#define CUV_ROI_EXPECTED                                                       \
  "expected left,top,right,bottom in pixels, with 0 <= left < right and 0 <= " \
  "top < bottom"

/* Parses a region of interest.
 *
 * @text: "left,top,right,bottom"; NULL or "": the whole frame
 * @roi: set to the region; unchanged on failure
 *
 * Returns: FALSE for any other text and for empty rectangles */
CUV_API bool cuv_roi_parse (const char *text, CuvRoi *roi);

/* Intersects two regions.
 *
 * @a: one region
 * @b: another one
 *
 * Returns: the intersection; if that is empty, an empty region inside b */
CUV_API CuvRoi cuv_roi_intersect (const CuvRoi *a, const CuvRoi *b);

/* Clips a region to a frame.
 *
 * @roi: a region, all zeros for the whole frame
 * @width: columns of the frame
 * @height: rows of the frame
 *
 * Returns: the part in the frame, which may be empty */
CUV_API CuvRoi cuv_roi_in_frame (const CuvRoi *roi, int width, int height);

/* Makes a frame of a region.
 *
 * @frame: a frame
 * @roi: a region inside the frame; left and top should be multiples of the
 * chroma subsampling
 *
 * Returns: a frame that shares the pixels */
CUV_API CuvFrame cuv_frame_crop (const CuvFrame *frame, const CuvRoi *roi);

CUV_END

#endif
