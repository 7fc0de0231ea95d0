/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Computes the features of a pixel, for gcc and nvcc. */
#ifndef CUV_RCD_PIXEL_H
#define CUV_RCD_PIXEL_H

#include "cuv-frame.h"
#include "rcd/rcd-types.h"

CUV_HOST_DEVICE int
cuv_rcd_n_features (CuvRcdFeatures features)
{
  return CUV_RCD_N_FEATURES (features);
}

/* Returns the BT.2020 luma of 8-bit R, G and B. Weights are in 16-bit fixed
 * point. */
CUV_HOST_DEVICE int
cuv_rcd_grey_of_rgb (int r, int g, int b)
{
  return (17216 * r + 44434 * g + 3886 * b + 32768) >> 16;
}

/* Returns the sample of component i at pixel (x, y). */
CUV_HOST_DEVICE int
cuv_rcd_sample (const CuvFrame *frame, int i, int x, int y)
{
  const CuvComponent *c = &frame->component[i];

  return c->data[(int64_t) (y >> c->ysub) * c->stride
      + (int64_t) (x >> c->xsub) * c->step];
}

/* Returns the value from which gradients are computed. The frame's border is
 * repeated beyond it. */
CUV_HOST_DEVICE int
cuv_rcd_grey (const CuvFrame *frame, int x, int y)
{
  x = x < 0 ? 0 : x < frame->width ? x : frame->width - 1;
  y = y < 0 ? 0 : y < frame->height ? y : frame->height - 1;
  if (frame->model != CUV_MODEL_RGB)
    return cuv_rcd_sample (frame, 0, x, y);
  return cuv_rcd_grey_of_rgb (cuv_rcd_sample (frame, 0, x, y),
      cuv_rcd_sample (frame, 1, x, y), cuv_rcd_sample (frame, 2, x, y));
}

CUV_HOST_DEVICE int
cuv_rcd_abs (int v)
{
  return v < 0 ? -v : v;
}

/* Return Sobel gradients of 3 x 3 grey values, which are given row by row. */
CUV_HOST_DEVICE int
cuv_rcd_gradient_x (const int g[9])
{
  return g[2] + 2 * g[5] + g[8] - g[0] - 2 * g[3] - g[6];
}

CUV_HOST_DEVICE int
cuv_rcd_gradient_y (const int g[9])
{
  return g[6] + 2 * g[7] + g[8] - g[0] - 2 * g[1] - g[2];
}

/* Writes all features of pixel (x, y) to z, in the order of CuvRcdFeatures. */
CUV_HOST_DEVICE void
cuv_rcd_pixel (
    const CuvFrame *frame, CuvRcdFeatures features, int x, int y, int32_t *z)
{
  int g[9], n = 0, ix, iy;

  for (int i = 0; i < 9; i++)
    g[i] = cuv_rcd_grey (frame, x + i % 3 - 1, y + i / 3 - 1);
  ix = cuv_rcd_gradient_x (g);
  iy = cuv_rcd_gradient_y (g);
  if (features == CUV_RCD_GREY_GRAD) {
    z[0] = g[4];
    z[1] = ix;
    z[2] = iy;
    return;
  }
  if (features == CUV_RCD_TUZEL9) {
    z[n++] = x;
    z[n++] = y;
  }
  for (int i = 0; i < 3; i++)
    z[n++] = cuv_rcd_sample (frame, frame->n_components < 3 ? 0 : i, x, y);
  if (features == CUV_RCD_RGB_GRAD) {
    z[n++] = ix;
    z[n++] = iy;
    return;
  }
  z[n++] = cuv_rcd_abs (ix);
  z[n++] = cuv_rcd_abs (iy);
  z[n++] = cuv_rcd_abs (g[3] - 2 * g[4] + g[5]);
  z[n++] = cuv_rcd_abs (g[1] - 2 * g[4] + g[7]);
}

#endif
