/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Types of motion detection shared by CPU and GPU: the background's models and
 * what is done with the mask. */
#ifndef CUV_MOTION_TYPES_H
#define CUV_MOTION_TYPES_H

#include <stdint.h>

typedef enum {
  CUV_MOTION_MOG2,    /* a mixture of Gaussians for each pixel */
  CUV_MOTION_AVERAGE, /* the average of each pixel */
} CuvMotionMethod;

/* Values of a mask. */
enum {
  CUV_MOTION_STILL = 0,
  CUV_MOTION_SHADOW = 127,
  CUV_MOTION_MOVING = 255,
};

#define CUV_MOG2_MAX_MODES 5
#define CUV_MOTION_MAX_CHANNELS 3
#define CUV_MOTION_MAX_SCALE 16
#define CUV_MOTION_MAX_SIDE 31 /* of the squares that clean a mask */

/* Distances are squared, and relative to a variance. */
typedef struct {
  float threshold;        /* distance from which a value is not background */
  float new_threshold;    /* distance from which it is of no known mode */
  float background_ratio; /* the modes of greatest weight are the background,
                           * up to this sum of weights */
  float first_variance;   /* of a new mode */
  float min_variance, max_variance;
  float complexity;       /* part of the rate by which all weights decrease */
  float shadow_threshold; /* brightness of the darkest shadow, relative to the
                           * background's */
  int32_t shadows;        /* boolean: find shadows */
} CuvMog2Params;

/* How fast a mixture learns: derived from the weight of a new value, 0 .. 1. */
typedef struct {
  float rate, keep, prune;
} CuvMog2Rate;

typedef struct {
  int32_t threshold; /* grey levels from which a value is not background */
  int32_t rate;      /* weight of a new value in 1/65536, 0 .. 65536 */
} CuvAverageParams;

/* What memory depends on. */
typedef struct {
  CuvMotionMethod method;
  int32_t color; /* boolean: three channels instead of luma; MOG2 only */
  int32_t scale; /* side of the squares of pixels that are averaged first */
} CuvMotionConfig;

typedef struct {
  CuvMog2Params mog2;
  CuvMog2Rate mog2_rate;
  CuvAverageParams average;
  int32_t opening, closing; /* sides of squares, odd; 1 = none */
  const uint64_t *unmasked; /* in host memory, words as of CuvMotionBits: 0 =
                             * still in any case; NULL = none */
  int32_t mask_serial;      /* another number for other contents of unmasked */
} CuvMotionParams;

/* A mask with a bit per pixel: bit x % 64 of word x / 64 of a row. Bits beyond
 * the width are 0. */
typedef struct {
  uint64_t *words;
  int32_t width, height;
  int32_t stride; /* words of a row */
} CuvMotionBits;

/* Which words of a mask are not 0: a row has cuv_motion_n_marks (stride) marks,
 * and bit k of mark i is for word 16 i + k. */
typedef uint16_t CuvMotionMark;

#define CUV_MOTION_MARK_WORDS 16

/* Connected moving pixels: the box, right and bottom exclusive, and how many
 * pixels. */
typedef struct {
  int32_t left, top, right, bottom;
  int32_t area;
} CuvMotionPart;

#endif
