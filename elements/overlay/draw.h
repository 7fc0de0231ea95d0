/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Draws on frames, and a map of this folder. docs/definitions/overlay.md
 * defines the value of every sample.
 *
 * A frame, from the element to its pixels:
 *   gstvisionoverlay.c  the element: metadata -> list -> frame
 *   style.h             its properties
 *   gsthidden.h         regions to hide, also for some frames after they are
 *                       lost
 *   gsttrails.h         the paths of tracked objects
 *   scene/scene.h       metadata -> list of primitives
 *     scene/fills.c       the regions to hide
 *     scene/colors.c      the colour of a label or a track
 *     scene/text.h        renders text to masks
 *     scene/strip.c       strips of pictures
 *   drawing.c           builds the list: colours, clipping, limits
 *   backend.c           list -> frame, on the CPU or the GPU:
 *     reference/draw.c    in host memory; the definition in C
 *     reference/fill.c    fills, which hide regions
 *     ../../cuda/overlay/ in CUDA memory; returns the same bits
 * Also: gstcolor.h, colours as properties; plugin.c registers the element. */
#ifndef CUV_DRAW_H
#define CUV_DRAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "cuv-frame.h"
#include "overlay/fill-types.h"

/* The colour space of a frame. */
typedef struct {
  CuvModel model;
  int32_t kr, kb; /* luma coefficients of red and blue, in 1/10000 */
  bool limited;   /* Y has 16..235, chroma 16..240; otherwise both 0..255 */
} CuvColourSpace;

/* A row of the matrix from RGB to samples. The sample is
 * min (255, floor ((r R + g G + b B + offset) * inverse / 2^54)). */
typedef struct {
  uint32_t r, g, b, offset; /* modulo 2^32; the whole sum is never negative */
  uint64_t inverse;
} CuvColourRow;

/* Converts 0xAARRGGBB to samples. A is ignored; out[3] is 255. */
void cuv_colour_convert (
    const CuvColourSpace *space, uint32_t argb, uint8_t out[4]);

/* Primitives beyond these limits are not drawn, only counted in n_lost. */
#define CUV_DRAWING_MAX_PRIMITIVES 65536
#define CUV_DRAWING_MAX_FILLS 4096
#define CUV_DRAWING_MAX_BYTES (16 << 20) /* bytes of masks and pictures */
/* If more bytes of masks are kept, the next list begins without them. */
#define CUV_DRAWING_MAX_KEPT (384 << 10)
/* Maximum width and height of frames with lines or fills other than solid. */
#define CUV_DRAWING_MAX_SIZE 32000
#define CUV_DRAWING_MAX_THICKNESS 256
#define CUV_DRAWING_MAX_SCALE 128 /* of a picture */

/* Where a drawing keeps a mask, to be initialised with zeros. */
typedef struct {
  uint64_t epoch; /* of the drawing; otherwise the mask is not kept */
  int64_t offset;
  int32_t rows; /* how many are kept */
} CuvMaskPlace;

/* A list under construction, to be initialised with zeros. Its memory only
 * grows. */
typedef struct {
  CuvColourRow rows[3];
  int32_t width, height;
  CuvPrimitive *primitives;
  uint8_t *bytes, *means;
  int32_t n_primitives, max_primitives;
  int32_t n_fills; /* how many of n_primitives are fills */
  int64_t n_bytes, max_bytes;
  int64_t n_kept; /* the first of the bytes: masks that later lists reuse */
  uint64_t epoch; /* another number whenever they are dropped; never 0 */
  int64_t n_means, max_means;
  uint32_t n_lost; /* lost since cuv_drawing_begin() */
} CuvDrawing;

/* Starts an empty list for a frame of this size. */
void cuv_drawing_begin (CuvDrawing *self, const CuvColourSpace *space,
    int32_t width, int32_t height);

/* How a fill hides a region. */
typedef struct {
  CuvFillMode mode;
  uint32_t rgb;    /* colour of CUV_OVERLAY_FILL_SOLID */
  bool is_ellipse; /* an ellipse whose bounding box is the region */
  int cells;       /* number of cells across the region's longer
                      side, 1..CUV_OVERLAY_FILL_MAX_CELLS */
} CuvFillStyle;

/* Hides a region of width x height pixels at (x, y); call it before anything
 * else is drawn. Coordinates and sizes up to 2^48. Returns false if the region
 * cannot be hidden: more than CUV_DRAWING_MAX_FILLS regions, or out of
 * memory. */
bool cuv_drawing_fill (CuvDrawing *self, const CuvFillStyle *style, int64_t x,
    int64_t y, int64_t width, int64_t height);

/* Draws a rectangle of pixels x .. x + width - 1 of rows y .. y + height - 1:
 * filled if thickness is 0, otherwise as an outline of thickness pixels inside
 * the rectangle. Coordinates and sizes up to 2^30. */
void cuv_drawing_rect (CuvDrawing *self, uint32_t argb, int64_t x, int64_t y,
    int64_t width, int64_t height, int thickness);

/* Draws a line with round caps from the centre of pixel (ax, ay) to that of
 * (bx, by), or a disc if both are the same pixel. thickness: 1..256. Draws
 * nothing if a coordinate is not finite. */
void cuv_drawing_line (CuvDrawing *self, uint32_t argb, double ax, double ay,
    double bx, double by, int thickness);

/* Draws a mask of width x height coverage values, which are copied, with its
 * upper left corner at pixel (x, y). stride: bytes from row to row. place:
 * NULL, or that of the mask, which is then copied only once for many lists; its
 * width and values must stay the same. */
void cuv_drawing_mask (CuvDrawing *self, uint32_t argb, int32_t x, int32_t y,
    int32_t width, int32_t height, const uint8_t *coverage, size_t stride,
    CuvMaskPlace *place);

/* Draws a picture of width x height pixels of R, G, B, which are copied, with
 * its upper left corner at pixel (x, y). Each pixel is drawn as scale x scale
 * pixels. scale: 1..128; alpha: 0..255. */
void cuv_drawing_picture (CuvDrawing *self, int alpha, int32_t x, int32_t y,
    int32_t width, int32_t height, const uint8_t *rgb, int scale);

/* Returns the list so far; its pointers are valid until self changes. */
CuvOverlayList cuv_drawing_list (const CuvDrawing *self);
void cuv_drawing_free (CuvDrawing *self);

/* The C reference: draws the list on a frame in host memory. */
void cuv_overlay_draw (const CuvOverlayList *list, const CuvFrame *frame);

/* Draws the fills of the list; called by cuv_overlay_draw(). */
void cuv_fill_draw (const CuvOverlayList *list, const CuvFrame *frame);

#endif
