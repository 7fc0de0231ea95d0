/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Canny's edge detector in integers: the C reference.
 *
 * J. Canny, A Computational Approach to Edge Detection, PAMI 1986; directions
 * are quantised as in OpenCV. 3x3 Sobel gradients with replicated borders; the
 * outermost pixels are never edges. */
#ifndef CUV_CANNY_H
#define CUV_CANNY_H

#include "cuv-frame.h"
#include "hough/hough-types.h"

/* Planes of width x height, row by row. */
typedef struct {
  int32_t width, height;
  uint8_t *grey;
  int16_t *gx, *gy;
  int32_t *norms; /* L2: squared; owns the memory of all planes */
  uint8_t *edges; /* 255 or 0 */
  int32_t *stack; /* pixels to visit in hysteresis */
} CuvCanny;

/* Allocates memory for frames up to this size; returns NULL if out of
 * memory. */
CuvCanny *cuv_canny_new (int width, int height);

/* Finds the edges of a frame's luma. */
void cuv_canny_run (
    CuvCanny *self, const CuvFrame *frame, const CuvCannyParams *params);
void cuv_canny_free (CuvCanny *self);

#endif
