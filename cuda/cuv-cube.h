/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A spectral image in memory: pixels by bands. */
#ifndef CUV_CUBE_H
#define CUV_CUBE_H

#include <stdint.h>
#include <string.h>

typedef enum {
  CUV_CUBE_U8,
  CUV_CUBE_U16, /* little endian */
  CUV_CUBE_F32, /* little endian */
} CuvCubeFormat;

/* The steps describe every interleave: bip, bil and bsq cubes, with or without
 * padded rows, and RGB video. */
typedef struct {
  const uint8_t *data; /* band 0 of the top left pixel */
  CuvCubeFormat format;
  int32_t width, height;                   /* 1 .. CUV_CUBE_MAX_SIZE */
  int32_t bands;                           /* 1 .. CUV_CUBE_MAX_BANDS */
  int64_t pixel_step, row_step, band_step; /* bytes */
} CuvCube;

#define CUV_CUBE_MAX_SIZE 16384
#define CUV_CUBE_MAX_BANDS 1024

static inline int
cuv_cube_sample_size (CuvCubeFormat format)
{
  return format == CUV_CUBE_U8 ? 1 : format == CUV_CUBE_U16 ? 2 : 4;
}

/* Returns the sample at an address, which need not be aligned. */
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
