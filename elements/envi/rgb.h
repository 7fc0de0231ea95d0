/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shows three bands of a cube as red, green and blue: limits and pixels. */
#ifndef CUV_RGB_H
#define CUV_RGB_H

#include <stdbool.h>
#include "cuv-cube.h"

enum { CUV_RGB_CHANNELS = 3, CUV_RGB_BINS = 1 << 16 };

typedef struct {
  int32_t band[CUV_RGB_CHANNELS]; /* counted from 0 */
  bool has_ignore;
  double ignore; /* pixels with such a sample, NaN or inf are invalid */
} CuvRgbBands;

/* The sample values shown as 0 and 255. */
typedef struct {
  float low[CUV_RGB_CHANNELS], high[CUV_RGB_CHANNELS];
} CuvRgbLimits;

/* Finds order statistics of each channel's n valid samples: those of rank r =
 * floor (percentile / 100 * (n - 1)) and n - 1 - r. bins: scratch space of 2
 * CUV_RGB_BINS. Returns false if no pixel is valid. */
bool cuv_rgb_limits_find (CuvRgbLimits *self, const CuvCube *cube,
    const CuvRgbBands *bands, double percentile, uint32_t *bins);

/* Writes R, G, B, 255: linear from 0 for low to 255 for high, rounded, or 128
 * if low equals high. Invalid pixels are black. */
void cuv_rgb_paint (const CuvRgbLimits *self, const CuvCube *cube,
    const CuvRgbBands *bands, uint8_t *out, int64_t stride);

#endif
