/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Motion detection by subtracting the background, and the map of
 * elements/motion/.
 *
 * Each pixel has a model of the background: a mixture of Gaussians (Z.
 * Zivkovic, Improved adaptive Gaussian mixture model for background
 * subtraction, ICPR 2004; Z. Zivkovic and F. van der Heijden, Efficient
 * adaptive density estimation per image pixel for the task of background
 * subtraction, Pattern Recognition Letters, 2006) or an average. Pixels that
 * do not fit the model move. The mask of moving pixels is cleaned by an opening
 * and a closing, and its connected parts become boxes.
 *
 *   ../../cuda/motion/motion-pixel.h
 *                    values of a frame; the average of one pixel
 *   reference/       the definition of the rest
 *     mog2.c         the mixture of one pixel
 *     mask.c         areas in which nothing moves
 *     clean.c        opening and closing
 *     parts.c        connected parts of a mask
 *     boxes.c        boxes of parts: selected, united, sorted; their ages
 *   cpu/             the same, optimised
 *     motion-cpu.c   memory and threads
 *     motion-dsp.c   the function table, in C
 *     x86/           the function table in SIMD: mixtures, averages
 *     bits.c         opening and closing of masks with a bit per pixel
 *     runs.c         connected parts by runs of such bits
 *   backend.c        chooses CPU or CUDA
 *   gstvisionmotion.c
 *                    the element; gstvisionmotionsettings.c: its properties
 *   gstmotionmask.c  the property mask, polygons as JSON */
#ifndef CUV_MOTION_H
#define CUV_MOTION_H

#include <stdbool.h>
#include "cuv-frame.h"
#include "motion/motion-pixel.h"

/* ---- mixtures ---- */

/* A Gaussian; those of a pixel are sorted by weight, the greatest first. */
typedef struct {
  float weight, variance, mean[CUV_MOTION_MAX_CHANNELS];
} CuvMog2Mode;

/* Sets the values that OpenCV's BackgroundSubtractorMOG2 has by default. */
void cuv_mog2_params_init (CuvMog2Params *params);

/* Returns the rate for a weight of new values, 0 .. 1. */
CuvMog2Rate cuv_mog2_rate (const CuvMog2Params *params, double weight);

/* Compares a value with a pixel's modes, which then learn it.
 *
 * @modes: CUV_MOG2_MAX_MODES modes, updated
 * @n_modes: how many of them are used, updated
 * @value: one number per channel
 * @n_channels: 1 or 3
 *
 * Returns: a value of a mask */
uint8_t cuv_mog2_pixel (CuvMog2Mode *modes, int *n_modes, const float *value,
    int n_channels, const CuvMog2Params *params, const CuvMog2Rate *rate);

/* ---- areas in which nothing moves: bits of values that are 0 ---- */

#define CUV_MOTION_POINT_SCALE 16

/* In 1/CUV_MOTION_POINT_SCALE pixel. */
typedef struct {
  int32_t x, y;
} CuvMotionPoint;

/* Clears the bits of the values whose centres are inside a polygon, by the
 * parity of its edges to the right. Left and upper edges belong to it.
 *
 * @n: number of points; magnitudes of coordinates are below 2^28
 * @across, @down: pixels of a value
 * @row: room for a row of words */
void cuv_motion_mask_polygon (const CuvMotionBits *unmasked,
    const CuvMotionPoint *points, int n, int across, int down, uint64_t *row);

/* Makes values still whose bits are 0. */
void cuv_motion_hide (
    uint8_t *mask, int width, int height, const uint64_t *unmasked);

/* ---- masks: width x height bytes, CUV_MOTION_MOVING or another value ---- */

/* Erodes, then dilates by a square of an odd side: parts that it does not fit
 * into vanish. Pixels outside count as moving for the erosion, as still for the
 * dilation. scratch has room for a mask. */
void cuv_motion_open (
    uint8_t *mask, int width, int height, int side, uint8_t *scratch);
/* Dilates, then erodes: gaps that the square does not fit into are filled. */
void cuv_motion_close (
    uint8_t *mask, int width, int height, int side, uint8_t *scratch);

/* Finds the connected parts, of pixels that touch at a side or a corner, in the
 * order of their first pixel, row by row.
 *
 * @queue: room for width * height numbers
 * @seen: room for a mask
 * @parts: room for `max`
 *
 * Returns: how many there are, which may exceed max */
int cuv_motion_parts (const uint8_t *mask, int width, int height,
    int32_t *queue, uint8_t *seen, CuvMotionPart *parts, int max);

/* ---- results ---- */

/* What was found in a frame; the memory belongs to the detector. */
typedef struct {
  const uint8_t *mask;        /* before anything was hidden, and before it was
                               * cleaned; NULL from the GPU */
  int width, height;          /* of the mask */
  int stride;                 /* bytes of a row */
  int64_t n_moving;           /* pixels of the mask, without shadows and what
                               * is hidden */
  const CuvMotionPart *parts; /* of the cleaned mask */
  int n_parts;                /* up to CUV_MOTION_MAX_PARTS */
} CuvMotionResult;

/* ---- boxes ---- */

/* Further parts of a frame are left out. */
#define CUV_MOTION_MAX_PARTS 16384
/* When there are this many boxes, further parts are left out. */
#define CUV_MOTION_MAX_BOXES 1024

#define CUV_MOTION_MAX_PADDING 1000

/* One or more parts near each other. */
typedef struct {
  CuvMotionPart part; /* the area is that of all parts */
  int age;            /* frames in a row in which it was seen, from 1 up */
} CuvMotionBox;

/* Selects the parts of at least min_area pixels, unites those of one object,
 * and sorts the boxes: the largest area first, then by their top, then by their
 * left.
 *
 * Two boxes are of one object if fewer than `distance` pixels, down and across,
 * are between them (0: if they overlap), and they overlap across by four fifths
 * of the narrower one, as the parts of a standing person do, or one has less
 * than a tenth of the area of the other. Each part in turn is united with all
 * earlier boxes that are of one object with it, and then with all that are of
 * one object with the result, until none are.
 *
 * @boxes: room for CUV_MOTION_MAX_BOXES
 *
 * Returns: the number of boxes */
int cuv_motion_boxes (const CuvMotionPart *parts, int n_parts, int min_area,
    int distance, CuvMotionBox *boxes);

/* Enlarges the boxes on each side by a percentage, 0 .. CUV_MOTION_MAX_PADDING,
 * of their longer side, within a frame of this size, unites those that then
 * overlap, and sorts them.
 *
 * Returns: the number of boxes */
int cuv_motion_pad (
    CuvMotionBox *boxes, int n, int percent, int width, int height);

/* Sets ages: one more than that of the oldest box of the frame before that
 * overlaps the box. */
void cuv_motion_ages (
    CuvMotionBox *boxes, int n, const CuvMotionBox *before, int n_before);

#endif
