/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Computes pixels of a turned frame, in the same way on CPU and GPU. A frame
 * is turned counter-clockwise to make objects upright that are turned
 * clockwise. */
#ifndef CUV_WALDBOOST_TURN_H
#define CUV_WALDBOOST_TURN_H

#include "cuv-frame.h"
#include "waldboost/waldboost-types.h"

/* The grey value outside the frame; windows there have no contrast. */
#define CUV_WALDBOOST_TURN_OUTSIDE 128

/* A place in the frame, in units of 2^-17 pixels from the centre of pixel 0. */
typedef struct {
  int64_t x, y;
} CuvTurnPlace;

CUV_HOST_DEVICE CuvTurnPlace
cuv_turn_place (
    const CuvTurn *turn, int frame_width, int frame_height, int x, int y)
{
  const int64_t right = 2 * x + 1 - turn->width; /* half pixels from centre */
  const int64_t down = 2 * y + 1 - turn->height;
  CuvTurnPlace place;

  place.x = right * turn->cos - down * turn->sin
      + (int64_t) (frame_width - 1) * 65536;
  place.y = right * turn->sin + down * turn->cos
      + (int64_t) (frame_height - 1) * 65536;
  return place;
}

/* Returns the mean of four pixels, two rows of two. right and down: weights of
 * the right column and the lower row in 1/256. */
CUV_HOST_DEVICE uint8_t
cuv_turn_mix (int a, int b, int c, int d, int right, int down)
{
  const int top = (256 - right) * a + right * b;
  const int bottom = (256 - right) * c + right * d;

  return (uint8_t) (((256 - down) * top + down * bottom + 32768) >> 16);
}

/* Returns pixel (x, y) of the turned picture: the grey at its place in the
 * frame, interpolated linearly; coordinates are rounded down to 1/256. */
CUV_HOST_DEVICE uint8_t
cuv_turned_grey (const CuvTurn *turn, const CuvFrame *frame, int x, int y)
{
  const CuvTurnPlace place =
      cuv_turn_place (turn, frame->width, frame->height, x, y);
  const int left = (int) (place.x >> 17), top = (int) (place.y >> 17);
  int right, bottom;

  if (place.x < 0 || place.x > (int64_t) (frame->width - 1) << 17 || place.y < 0
      || place.y > (int64_t) (frame->height - 1) << 17)
    return CUV_WALDBOOST_TURN_OUTSIDE;
  right = left + (left < frame->width - 1);
  bottom = top + (top < frame->height - 1);
  return cuv_turn_mix (cuv_frame_grey (frame, left, top),
      cuv_frame_grey (frame, right, top), cuv_frame_grey (frame, left, bottom),
      cuv_frame_grey (frame, right, bottom), (int) (place.x >> 9 & 255),
      (int) (place.y >> 9 & 255));
}

#endif
