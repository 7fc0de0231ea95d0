/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* RGB to NV12 conversion on the device. Acts on the current CUDA context. */
#ifndef CUV_NV12_H
#define CUV_NV12_H

#include "cuv-cuda.h"

CUV_BEGIN

/* Y, U and V are offset + sum of factor times R, G, B (0 .. 255), rounded.
 * Chroma is the mean of 2 x 2 pixels or, if is_cosited, of two rows with
 * horizontal weights 1/4, 1/2, 1/4; edges are replicated. */
typedef struct {
  float factor[3][3], offset[3];
  int32_t is_cosited; /* a boolean */
} CuvYuvColours;

/* Enqueues the conversion of a picture. All pictures are in device memory;
 * strides are in bytes. rgbx, whose fourth byte is ignored, and its stride are
 * multiples of 4. y has width x height bytes, uv (width + 1) / 2 x (height + 1)
 * / 2 pairs of bytes. Returns 0 or -1. */
CUV_API int cuv_nv12_submit (const uint8_t *rgbx, ptrdiff_t stride, int width,
    int height, const CuvYuvColours *colours, uint8_t *y, ptrdiff_t y_stride,
    uint8_t *uv, ptrdiff_t uv_stride, CuvCudaStream stream);

CUV_END

#endif
