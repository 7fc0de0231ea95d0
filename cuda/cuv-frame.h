/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A raw video frame as algorithms see it, in host or device memory.
 *
 * Every raw format is a set of components with a row stride, a sample step and
 * a subsampling: the planes of I420, the interleaved chroma of NV12, the
 * Y0 U Y1 V of YUY2 and the bytes of BGRx all read the same way, so no
 * algorithm knows a format by name. */
#ifndef CUV_FRAME_H
#define CUV_FRAME_H

#include <stdint.h>
#include "cuv-api.h"

/* One of a frame's components, such as Y or R. */
typedef struct {
  uint8_t *data;  /* the component's sample for the top left pixel */
  int32_t stride; /* bytes from one row of samples to the next */
  int32_t step;   /* bytes from one sample to the next in its row */
  int32_t xsub;   /* log2 of the pixels that share a sample, across */
  int32_t ysub;   /* and down */
} CuvComponent;

/* What the components are. */
typedef enum {
  CUV_MODEL_GREY, /* 1 component */
  CUV_MODEL_YUV,  /* Y U V */
  CUV_MODEL_RGB,  /* R G B, and A where the format has one */
} CuvModel;

/* A frame. */
typedef struct {
  CuvModel model;            /* what the components are */
  int32_t width;             /* columns of pixels */
  int32_t height;            /* rows of pixels */
  int32_t n_components;      /* 1, 3 or 4 */
  CuvComponent component[4]; /* the first n_components are set */
} CuvFrame;

/* Computes BT.601 luma of 8-bit R, G, B in 15-bit fixed point; equals OpenCV
 * 4.6's COLOR_BGR2GRAY for every colour.
 *
 * @r: red, 0 .. 255
 * @g: green
 * @b: blue
 *
 * Returns: 0 .. 255 */
CUV_HOST_DEVICE uint8_t
cuv_grey_of_rgb (int r, int g, int b)
{
  return (uint8_t) ((9798 * r + 19235 * g + 3735 * b + 16384) >> 15);
}

/* Returns the luma of a pixel: Y, or computed from R, G, B.
 *
 * @frame: a frame
 * @x: column, 0 .. width - 1
 * @y: row, 0 .. height - 1
 *
 * Returns: 0 .. 255 */
CUV_HOST_DEVICE uint8_t
cuv_frame_grey (const CuvFrame *frame, int x, int y)
{
  const CuvComponent *c = frame->component;
  int64_t at0 = (int64_t) y * c[0].stride + x * c[0].step;

  if (frame->model != CUV_MODEL_RGB)
    return c[0].data[at0];
  return cuv_grey_of_rgb (c[0].data[at0],
      c[1].data[(int64_t) y * c[1].stride + x * c[1].step],
      c[2].data[(int64_t) y * c[2].stride + x * c[2].step]);
}

/* Sets a pixel to grey, keeping its alpha. Chroma is set by the first of the
 * pixels that share it.
 *
 * @frame: a frame
 * @x: column, 0 .. width - 1
 * @y: row, 0 .. height - 1
 * @grey: luma, 0 .. 255 */
CUV_HOST_DEVICE void
cuv_frame_set_grey (const CuvFrame *frame, int x, int y, uint8_t grey)
{
  for (int i = 0; i < frame->n_components && i < 3; i++) {
    const CuvComponent *c = &frame->component[i];
    const int shared_x = (1 << c->xsub) - 1, shared_y = (1 << c->ysub) - 1;

    if ((x & shared_x) == 0 && (y & shared_y) == 0)
      c->data[(int64_t) (y >> c->ysub) * c->stride
          + (int64_t) (x >> c->xsub) * c->step] =
          frame->model == CUV_MODEL_YUV && i > 0 ? 128 : grey;
  }
}

#endif
