/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Crops objects out of frames, and a map of this folder.
 *
 *   gstvisioncrop.c          the element: caps, and a picture per object
 *   gstvisioncropsettings.c  its properties
 *   plan.c                   which pixels of the frame make the picture
 *   gstcroppicture.c         the picture: copies, scales, moves metadata
 *   plugin.c                 registers the element
 *
 * A frame: gstvisioncrop.c collects its objects; for each, cuv_crop_plan()
 * plans the picture and gst_crop_draw() makes it, on the CPU. This header
 * declares plan.c, plain C; tests call it, too. All sizes are in pixels. */
#ifndef CUV_CROP_H
#define CUV_CROP_H

#include <stdbool.h>

typedef struct {
  int x, y, width, height;
} CuvCropRect;

typedef struct {
  CuvCropRect source; /* part of the frame */
  CuvCropRect dest;   /* part of the picture; the rest is black */
  int width, height;  /* size of the picture */
} CuvCropPlan;

typedef struct {
  double margin;     /* added on each side of the box, as a fraction of its
                      * width and height */
  int width, height; /* size of the picture; 0 = computed from the other one;
                        both 0 = size of the source */
  bool add_borders; /* keep the aspect ratio if both width and height are set */
  int align_x, align_y; /* the source begins at multiples of these, for chroma
                         * samples */
} CuvCropRequest;

#define CUV_CROP_MAX 32767 /* maximum width and height of a picture */

/* Maximum number of pixels in all pictures of a frame. */
#define CUV_CROP_FRAME_PIXELS (1u << 26)
/* Maximum aspect ratio of a picture of which only one side is given: otherwise
 * an object one pixel wide could make a picture of gigabytes. */
#define CUV_CROP_RATIO 16

/* Plans the picture of a box, which may exceed the frame. Returns FALSE if no
 * pixel of the box is in the frame. */
bool cuv_crop_plan (CuvCropPlan *plan, const CuvCropRequest *request,
    unsigned x, unsigned y, unsigned w, unsigned h, int frame_width,
    int frame_height);

/* Converts a rectangle of the frame to the picture, clipped to the picture. The
 * result has at least one pixel. */
CuvCropRect cuv_crop_map (
    const CuvCropPlan *plan, unsigned x, unsigned y, unsigned w, unsigned h);

#endif
