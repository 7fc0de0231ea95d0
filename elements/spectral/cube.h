/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Samples of a cube, one by one. */
#ifndef CUV_CUBE_H
#define CUV_CUBE_H

#include <string.h>
#include "spectral/spectral-types.h"

/* A sample, which may stand at any address. */
static inline double
cuv_cube_sample (const CuvCube *cube, const uint8_t *at)
{
  uint16_t u16;
  float f32;

  switch (cube->format) {
    case CUV_CUBE_U8:
      return *at;
    case CUV_CUBE_U16:
      memcpy (&u16, at, sizeof u16);
      return u16;
    default:
      memcpy (&f32, at, sizeof f32);
      return f32;
  }
}

#endif
