/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Aggregated channels of a picture, and a map of this folder: colour, gradient
 * magnitude and six directions, as sums of blocks. Plain C is the definition of
 * the result, docs/definitions/channels.md explains it.
 *
 * A picture, from its pixels to channels:
 *   gradient.c   R, G, B -> magnitude and direction of the gradient of a pixel,
 *                magnitudes relative to their surroundings
 *   blocks.c     colours and magnitudes -> smoothed sums of blocks, as bytes
 *   channels.c   a picture -> its channels, by these two
 *   trees.c      a window of channels -> whether a classifier accepts it; see
 *                trees.h
 *   detect.c     a picture's levels, by the steps above; see detect.h
 *   planes.c     a frame of any format -> its red, green and blue planes
 *   frame.c      the scan of a frame, which backend.c calls; see frame.h
 *   cpu/         the scan of a picture made fast; see cpu/channels-cpu.h
 *
 * Sources: P. Dollar, R. Appel, S. Belongie, P. Perona, Fast Feature Pyramids
 * for Object Detection, PAMI 2014. */
#ifndef CUV_CHANNELS_H
#define CUV_CHANNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "waldboost/channels/channels-types.h"

/* Red, green and blue, each height rows of width bytes; in a grey picture they
 * are equal, and may be the same memory. */
typedef struct {
  const uint8_t *plane[CUV_CHANNELS_COLORS];
  int32_t width, height; /* pixels, at least 1 */
} CuvChannelsPicture;

/* Writes CUV_CHANNELS_N planes, each height / shrink rows of width / shrink
 * bytes: colours, magnitude, directions. shrink: side of a block in pixels, 2
 * or 4. False if memory runs out. */
bool cuv_channels_compute (
    const CuvChannelsPicture *picture, int32_t shrink, uint8_t *channels);

/* The index of 0 .. n - 1 that is nearest to at: beyond its edges, a picture
 * continues with its last samples. */
static inline int
cuv_channels_clamp (int at, int n)
{
  return at < 0 ? 0 : at < n ? at : n - 1;
}

/* ---- gradient.c ---- */

typedef struct {
  int32_t dx, dy; /* -255 .. 255 */
} CuvGradient;

/* The largest whole number whose square is at most square, 0 .. 130050. */
int32_t cuv_channels_root (int32_t square);

/* The bin, 0 .. 5, whose centre, 0, 30 .. 150 degrees, is nearest to the angle
 * of a gradient, which does not depend on its sign. */
int cuv_channels_direction (CuvGradient gradient);

/* The strongest of the gradients of R, G and B at pixel (x, y); of equal ones
 * the first. */
CuvGradient cuv_channels_gradient (
    const CuvChannelsPicture *picture, int x, int y);

/* Divides magnitudes, 0 .. 360, by the mean of their surroundings, 11 x 11
 * pixels: an average one becomes 128, none more than 255. */
void cuv_channels_normalise (
    const uint16_t *in, int32_t width, int32_t height, uint8_t *out);

/* ---- blocks.c ---- */

/* Channel 0, 1 or 2 of a colour: luma, red against blue, green against both. */
int cuv_channels_color (int channel, int red, int green, int blue);

/* Sums of blocks, rows of columns sums. */
typedef struct {
  uint16_t *sums;
  int32_t columns, rows, shrink;
} CuvChannelsBlocks;

/* Adds the value of pixel (x, y) to its block, if the block lies in the picture
 * entirely. */
void cuv_channels_add (
    const CuvChannelsBlocks *blocks, int x, int y, int value);

/* Smooths the sums by 1 2 1 in both directions and divides them by the number
 * and weight of the pixels: out has the range of the values. */
void cuv_channels_smooth (const CuvChannelsBlocks *blocks, uint8_t *out);

#endif
