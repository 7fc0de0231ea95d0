/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Three bands of a cube as red, green and blue. */
#ifndef CUV_RGB_H
#define CUV_RGB_H

#include <stdbool.h>
#include "spectral/spectral-types.h"

enum { CUV_RGB_CHANNELS = 3, CUV_RGB_BINS = 1 << 16 };

typedef struct {
  int32_t band[CUV_RGB_CHANNELS]; /* from 0 on */
  bool has_ignore;
  double ignore; /* pixels with a sample of it, or of NaN, do not count */
} CuvRgbBands;

/* What is black and what is white. */
typedef struct {
  float low[CUV_RGB_CHANNELS], high[CUV_RGB_CHANNELS];
} CuvRgbLimits;

/* Of the n samples of a channel's pixels that count, sorted, those with index
 * r = floor (percentile / 100 * (n - 1)) and n - 1 - r. bins: room for 2
 * CUV_RGB_BINS. false: no pixel counts. */
bool cuv_rgb_limits_find (CuvRgbLimits *self, const CuvCube *cube,
    const CuvRgbBands *bands, double percentile, uint32_t *bins);

/* R, G, B, 255: linear from low, 0, to high, 255, rounded; 128 where both are
 * one. Pixels that do not count are black. */
void cuv_rgb_paint (const CuvRgbLimits *self, const CuvCube *cube,
    const CuvRgbBands *bands, uint8_t *out, int64_t stride);

#endif
