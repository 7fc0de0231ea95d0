/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The Hough transform for lines: the C reference. Each edge pixel votes for all
 * lines through it.
 *
 * R. Duda, P. Hart, Use of the Hough Transformation to Detect Lines and Curves
 * in Pictures, CACM 1972. */
#ifndef CUV_HOUGH_H
#define CUV_HOUGH_H

#include <stdbool.h>
#include <stddef.h>
#include "hough/hough-types.h"

/* The space of lines for frames of a size: n_theta rows from -90 degrees on, up
 * to 90 where inclusive, when the last is the first again; rho_step >= 1. */
void cuv_hough_space_init (CuvHoughSpace *self, int width, int height,
    int n_theta, bool inclusive, double rho_step);
void cuv_hough_space_clear (CuvHoughSpace *self);

/* rho of a pixel in row k, in steps: -diagonal .. diagonal. */
static inline int32_t
cuv_hough_rho (const CuvHoughSpace *self, int k, int x, int y)
{
  return (x * self->cosines[k] + y * self->sines[k] + 32768) >> 16;
}

/* The edge pixels of a map, those that are not 0, as y << 16 | x, row by row.
 * Returns how many there are; list may be NULL. */
size_t cuv_hough_list_edges (
    const uint8_t *edges, int width, int height, int stride, uint32_t *list);

/* Counts the votes of n listed pixels in an accumulator of n_theta rows of
 * n_rho cells. */
void cuv_hough_vote (const CuvHoughSpace *self, const uint32_t *list, size_t n,
    uint32_t *accumulator);

/* The peaks of an accumulator, most votes first, then by row and rho; up to
 * max_peaks of them; peaks may be NULL if that is 0. Returns how many there
 * are, which may be more. */
size_t cuv_hough_peaks (const CuvHoughSpace *self, const uint32_t *accumulator,
    const CuvPeakParams *params, CuvHoughPeak *peaks, size_t max_peaks);

#endif
