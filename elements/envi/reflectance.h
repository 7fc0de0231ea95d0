/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Computes reflectances from counts and the levels of a dark and a white
 * reference. */
#ifndef CUV_REFLECTANCE_H
#define CUV_REFLECTANCE_H

#include <stddef.h>
#include "cuv-cube.h"

/* A level for each sample of a cube, or of one of its lines. */
typedef struct {
  float *values;
  int32_t width, height, bands;
  int64_t pixel_step, row_step, band_step; /* steps in floats */
} CuvLevels;

/* Sum and number of the valid samples of a pixel and band over lines. */
typedef struct {
  double sum;
  int64_t n;
} CuvLevelSum;

/* Adds a cube of one line to sums [band][pixel]. Samples that are not finite or
 * *ignore are invalid; ignore may be NULL. */
void cuv_levels_add_line (
    const CuvCube *line, const double *ignore, CuvLevelSum *sums);

/* Sets line y of the levels to the means, NaN without a valid sample. */
void cuv_levels_set_line (CuvLevels *self, int y, const CuvLevelSum *sums);

/* Computes out[i] = (in[i] - dark[i]) / range[i]; NaN if in[i] is invalid or
 * range[i] is NaN. in need not be aligned. */
void cuv_reflectance (CuvCubeFormat format, const void *in, size_t n,
    const double *ignore, const float *dark, const float *range, float *out);

#endif
