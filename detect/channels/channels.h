/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Aggregated channels of a picture: colours, gradient magnitude and six
 * gradient directions, summed over blocks of pixels. The plain C of this folder
 * defines the result; docs/definitions/channels.md explains it.
 *
 *   gradient.c   R, G, B -> magnitude and direction of each pixel's gradient;
 *                normalises magnitudes by those around them
 *   blocks.c     colours and magnitudes -> smoothed sums of blocks, as bytes
 *   channels.c   a picture -> its channels, with gradient.c and blocks.c
 *   trees.c      a window of channels -> whether a classifier accepts it; see
 *                trees.h
 *   detect.c     a picture -> the windows of all sizes that the model accepts;
 *                see detect.h
 *   planes.c     a frame of any format -> its red, green and blue planes
 *   frame.c      the scan of a frame, which backend.c calls; see frame.h
 *   cpu/         detect.c optimised; see cpu/channels-cpu.h
 *
 * Sources: P. Dollar, R. Appel, S. Belongie, P. Perona, Fast Feature Pyramids
 * for Object Detection, PAMI 2014. */
#ifndef CUV_CHANNELS_H
#define CUV_CHANNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "cuv-api.h"
#include "waldboost/channels/channels-types.h"

/* Planes of red, green and blue, each with height rows of width bytes. In a
 * grey picture all three are equal and may be the same memory. */
typedef struct {
  const uint8_t *plane[CUV_CHANNELS_COLORS];
  int32_t width, height; /* pixels, at least 1 */
} CuvChannelsPicture;

/* Writes CUV_CHANNELS_N planes (colours, magnitude, directions), each of them
 * height / shrink rows of width / shrink bytes. shrink is the side of a block
 * in pixels, 2 or 4. Returns false if memory runs out. */
CUV_API bool cuv_channels_compute (
    const CuvChannelsPicture *picture, int32_t shrink, uint8_t *channels);

/* Returns the index from 0 to n - 1 that is nearest to `at`: samples at a
 * picture's edges are repeated beyond them. */
static inline int
cuv_channels_clamp (int at, int n)
{
  return at < 0 ? 0 : at < n ? at : n - 1;
}

/* ---- gradient.c ---- */

typedef struct {
  int32_t dx, dy; /* -255 .. 255 */
} CuvGradient;

/* Returns the largest integer whose square is at most the argument, which is 0
 * to 130050. */
int32_t cuv_channels_root (int32_t square);

/* Returns the bin, 0 to 5, whose centre (0, 30, ... 150 degrees) is nearest to
 * the gradient's angle. A gradient and its negative have the same bin. */
int cuv_channels_direction (CuvGradient gradient);

/* Returns the strongest of the gradients of R, G and B at pixel (x, y), or the
 * first of several that are equally strong. */
CuvGradient cuv_channels_gradient (
    const CuvChannelsPicture *picture, int x, int y);

/* Multiplies each magnitude, 0 to 360, by 128 and divides it by
 * CUV_CHANNELS_FLOOR plus the mean of the 11 x 11 pixels around it. Results
 * above 255 become 255. */
void cuv_channels_normalise (
    const uint16_t *in, int32_t width, int32_t height, uint8_t *out);

/* ---- blocks.c ---- */

/* Returns channel 0 (luma), 1 (red against blue) or 2 (green against both) of a
 * colour. */
int cuv_channels_color (int channel, int red, int green, int blue);

/* The sums of the blocks of a picture: rows x columns, row by row. */
typedef struct {
  uint16_t *sums;
  int32_t columns, rows, shrink;
} CuvChannelsBlocks;

/* Adds the value of pixel (x, y) to its block if the whole block lies in the
 * picture. */
void cuv_channels_add (
    const CuvChannelsBlocks *blocks, int x, int y, int value);

/* Smooths the sums with the weights 1 2 1 in both directions and divides them
 * by the total weight of their pixels, so that out has the range of the pixels'
 * values. */
void cuv_channels_smooth (const CuvChannelsBlocks *blocks, uint8_t *out);

#endif
