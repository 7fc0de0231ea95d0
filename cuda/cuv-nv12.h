/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* NV12 pictures of RGB ones, on the device. Acts on the current CUDA context.
 */
#ifndef CUV_NV12_H
#define CUV_NV12_H

#include "cuv-cuda.h"

CUV_BEGIN

/* Y, U and V are offset + the sum of factor times R, G, B (0 .. 255), rounded.
 * U and V are those of the mean of two rows and, if is_cosited, of a column and
 * a half of each beside it, else of two columns; at the edges of what there is.
 */
typedef struct {
  float factor[3][3], offset[3];
  int32_t is_cosited; /* a boolean */
} CuvYuvColours;

/* All in device memory; strides in bytes, the fourth byte of rgbx is of no
 * matter, rgbx and its stride are multiples of 4. y has width x height bytes,
 * uv half as many, rounded up, of 2 each way. Enqueues; returns 0 or -1. */
CUV_API int cuv_nv12_submit (const uint8_t *rgbx, ptrdiff_t stride, int width,
    int height, const CuvYuvColours *colours, uint8_t *y, ptrdiff_t y_stride,
    uint8_t *uv, ptrdiff_t uv_stride, CuvCudaStream stream);

CUV_END

#endif
