/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which pixels of a frame make the picture of an object. All in pixels. */
#ifndef CUV_CROP_H
#define CUV_CROP_H

#include <stdbool.h>

typedef struct {
  int x, y, width, height;
} CuvCropRect;

typedef struct {
  CuvCropRect source; /* of the frame */
  CuvCropRect dest;   /* of the picture, black around it */
  int width, height;  /* of the picture */
} CuvCropPlan;

typedef struct {
  double margin;     /* part of the box's width and height, on each side */
  int width, height; /* of the picture; 0 = follows from the other, or both from
                      * the source */
  bool add_borders;  /* keep the aspect ratio where both are given */
  int align_x, align_y; /* the source begins at multiples: chroma samples */
} CuvCropRequest;

#define CUV_CROP_MAX 32767 /* width and height of a picture */

/* The pictures of a frame may together have so many pixels. */
#define CUV_CROP_FRAME_PIXELS (1u << 26)
#define CUV_CROP_RATIO                                                         \
  16 /* of a side that follows from the other: a line of                       \
      * pixels makes no picture of gigabytes */

/* FALSE if no pixel of the box is in the frame. The box may exceed it. */
bool cuv_crop_plan (CuvCropPlan *plan, const CuvCropRequest *request,
    unsigned x, unsigned y, unsigned w, unsigned h, int frame_width,
    int frame_height);

/* Where a rectangle of the frame is in the picture, at least a pixel; parts
 * outside are cut. */
CuvCropRect cuv_crop_map (
    const CuvCropPlan *plan, unsigned x, unsigned y, unsigned w, unsigned h);

#endif
