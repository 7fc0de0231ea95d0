/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The inner loops of motion detection as a function table: C, overwritten by
 * the SIMD functions that the CPU supports. */
#ifndef CUV_MOTION_DSP_H
#define CUV_MOTION_DSP_H

#include "motion.h"

/* Rows of values, masks and modes are padded to a multiple of this. */
#define CUV_MOTION_ROW_UNIT 64

/* The modes of a row of pixels. Field f (weight, variance, means) of mode m of
 * pixel x is fields[(m * (2 + n_channels) + f) * stride + x]. */
typedef struct {
  float *fields;
  uint8_t *n_modes;
  int stride, n_channels;
  int zero; /* subtracted from the values of the channels after the first */
} CuvMog2Row;

/* A square of pixels that are averaged. */
typedef struct {
  int across, down;
  uint32_t half;       /* of their number */
  uint32_t reciprocal; /* 2^32 / their number, rounded up; 0 if it is 1 */
} CuvMotionSquare;

typedef struct {
  /* Compares n values with their modes, which learn them. May do so for padding
   * up to a multiple of 8, too. */
  void (*mog2) (const CuvMog2Row *row, const uint8_t *const *values, int n,
      const CuvMog2Params *params, const CuvMog2Rate *rate, uint8_t *mask);
  /* Compares n values with their averages; up to a multiple of 16. */
  void (*average) (uint16_t *averages, const uint8_t *values, int n,
      const CuvAverageParams *params, uint8_t *mask);
  /* Adds a row of n values to sums. */
  void (*add_row) (uint16_t *sums, const uint8_t *values, int n);
  /* Adds groups of `across` sums, and writes the averages of n squares. */
  void (*divide) (
      const uint16_t *sums, int n, const CuvMotionSquare *square, uint8_t *out);
  /* Sets a bit for each of n pixels that is moving; other bits of the last word
   * are 0. */
  void (*pack) (const uint8_t *mask, int n, uint64_t *bits);
} CuvMotionDsp;

void cuv_motion_dsp_init (CuvMotionDsp *self);
void cuv_motion_dsp_init_avx2 (CuvMotionDsp *self);
void cuv_motion_divide_c (
    const uint16_t *sums, int n, const CuvMotionSquare *square, uint8_t *out);

#endif
