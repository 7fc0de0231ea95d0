/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The matrix from YUV to RGB, which cuda/cuv-rgb.h applies to a pixel. */
#ifndef CUV_RGB_MATRIX_H
#define CUV_RGB_MATRIX_H

#include <stdbool.h>
#include "cuv-rgb.h"

CUV_BEGIN

/* Returns the matrix. limited: Y has a range of 16 .. 235 and chroma of 16 ..
 * 240, otherwise both have 0 .. 255. kr and kb are the luma coefficients of red
 * and blue. */
CUV_API CuvRgbMatrix cuv_rgb_matrix (double kr, double kb, bool limited);

CUV_END

#endif
