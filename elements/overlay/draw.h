/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Drawing on a frame: the list of what to draw, and the C reference that draws
 * it. docs/overlay-definition.md says what each sample becomes. */
#ifndef CUV_DRAW_H
#define CUV_DRAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "cuv-frame.h"
#include "overlay/overlay-types.h"

/* How the frame's samples stand for colours. */
typedef struct {
  CuvModel model;
  int32_t kr, kb; /* luma of red and of blue, in 1/10000 */
  bool limited;   /* 16..235 and 16..240, else 0..255 */
} CuvColourSpace;

/* How much of R, G and B is in a sample, and a divisor's inverse: rounded down
 * (r R + g G + b B + offset) inverse / 2^54, at most 255. */
typedef struct {
  uint32_t r, g, b, offset; /* modulo 2^32: some are negative, no sum is */
  uint64_t inverse;
} CuvColourRow;

/* 0xAARRGGBB as samples; out[3] is 255, A is for the caller. */
void cuv_colour_convert (
    const CuvColourSpace *space, uint32_t argb, uint8_t out[4]);

/* What does not fit is not drawn, and counted. */
#define CUV_DRAWING_MAX_PRIMITIVES 65536
#define CUV_DRAWING_MAX_BYTES (16 << 20) /* of masks and pictures */
#define CUV_DRAWING_MAX_SIZE 32000 /* width, height of a frame with lines */
#define CUV_DRAWING_MAX_THICKNESS 256
#define CUV_DRAWING_MAX_SCALE 128 /* of a picture */

/* A list under construction; all zero at first. Its memory only grows. */
typedef struct {
  CuvColourRow rows[3];
  int32_t width, height;
  CuvPrimitive *primitives;
  uint8_t *bytes;
  int32_t n_primitives, max_primitives;
  int64_t n_bytes, max_bytes;
  uint32_t n_lost; /* since begin */
} CuvDrawing;

/* Starts an empty list for a frame of this size. */
void cuv_drawing_begin (CuvDrawing *self, const CuvColourSpace *space,
    int32_t width, int32_t height);

/* Pixels x .. x + width - 1 of rows y .. y + height - 1: all of them for
 * thickness 0, else those less than thickness pixels away from the outside.
 * Places and sizes up to 2^30. */
void cuv_drawing_rect (CuvDrawing *self, uint32_t argb, int64_t x, int64_t y,
    int64_t width, int64_t height, int thickness);

/* From the centre of pixel (ax, ay) to that of (bx, by), with round ends; a
 * disc if they are the same. thickness 1..256. Not drawn if a place is not
 * finite. */
void cuv_drawing_line (CuvDrawing *self, uint32_t argb, double ax, double ay,
    double bx, double by, int thickness);

/* Coverage values (copied), the first one at pixel (x, y). */
void cuv_drawing_mask (CuvDrawing *self, uint32_t argb, int32_t x, int32_t y,
    int32_t width, int32_t height, const uint8_t *coverage, size_t stride);

/* R, G, B of each of width x height pixels (copied), each of them drawn as
 * scale x scale pixels, the first one at pixel (x, y). scale 1..128, alpha
 * 0..255. */
void cuv_drawing_picture (CuvDrawing *self, int alpha, int32_t x, int32_t y,
    int32_t width, int32_t height, const uint8_t *rgb, int scale);

/* The list so far; valid until the drawing changes. */
CuvOverlayList cuv_drawing_list (const CuvDrawing *self);
void cuv_drawing_free (CuvDrawing *self);

/* The C reference: draws the list on a frame in host memory. */
void cuv_overlay_draw (const CuvOverlayList *list, const CuvFrame *frame);

#endif
