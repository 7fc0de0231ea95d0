/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Red, green and blue planes of frames of all formats and of their parts,
 * turned or not, against a conversion pixel by pixel. */
#include "channels/planes.h"
#include "cuvcheck.h"
#include "cuvrgb.h"
#include "reference/waldboost-reference.h"
#include "waldboost/turn.h"

#include <stdlib.h>

static uint8_t
expected_sample (
    const CuvFrame *frame, const CuvRgbMatrix *matrix, int plane, int x, int y)
{
  int sample[3];

  if (frame->n_components < 3)
    return (uint8_t) cuv_rgb_sample (&frame->component[0], x, y);
  for (int i = 0; i < 3; i++)
    sample[i] = cuv_rgb_sample (&frame->component[i], x, y);
  return frame->model == CUV_MODEL_RGB
      ? (uint8_t) sample[plane]
      : cuv_rgb_of_yuv (matrix->m[plane], sample[0], sample[1], sample[2]);
}

static uint8_t *
expected_plane (const CuvFrame *frame, const CuvRoi *part,
    const CuvRgbMatrix *matrix, int plane)
{
  const int width = part->right - part->left;
  const int height = part->bottom - part->top;
  uint8_t *out = malloc ((size_t) width * (size_t) height);

  for (int i = 0; i < width * height; i++)
    out[i] = expected_sample (
        frame, matrix, plane, part->left + i % width, part->top + i / width);
  return out;
}

static int
n_different (const CuvFrame *plane, const CuvTurn *turn, const uint8_t *actual)
{
  int n = 0;

  for (int y = 0; y < turn->height; y++) {
    for (int x = 0; x < turn->width; x++) {
      const int expected = turn->degrees == 0
          ? cuv_frame_grey (plane, x, y)
          : cuv_turned_grey (turn, plane, x, y);

      n += *actual++ != expected;
    }
  }
  return n;
}

static void
check_planes (const CuvFrame *frame, const CuvRoi *part, const CuvTurn *turn,
    CuvChannelsPlanes *planes)
{
  const int width = part->right - part->left;
  const int height = part->bottom - part->top;
  const CuvRgbMatrix matrix = cuv_rgb_matrix (0.2126, 0.0722, true);
  CuvChannelsPicture picture;

  CUV_CHECK (cuv_channels_planes_make (
      planes, frame, part, &matrix, turn, (int) cuv_check_below (3), &picture));
  CUV_CHECK (picture.width == turn->width && picture.height == turn->height);
  for (int i = 0; i < CUV_CHANNELS_COLORS; i++) {
    uint8_t *expected = expected_plane (frame, part, &matrix, i);
    const CuvFrame plane = { CUV_MODEL_GREY, width, height, 1,
      { { expected, width, 1, 0, 0 } } };
    const int n = n_different (&plane, turn, picture.plane[i]);

    CUV_CHECK (n == 0, ": plane %d: %d samples differ", i, n);
    free (expected);
  }
}

/* Returns the whole frame, or any part of it. */
static CuvRoi
part_of (int width, int height)
{
  CuvRoi part = { 0, 0, width, height };

  if (cuv_check_below (3) > 0) {
    part.left = (int) cuv_check_below ((uint32_t) width);
    part.top = (int) cuv_check_below ((uint32_t) height);
    part.right -= (int) cuv_check_below ((uint32_t) (width - part.left));
    part.bottom -= (int) cuv_check_below ((uint32_t) (height - part.top));
  }
  return part;
}

CUV_CHECKS (check_channels_planes)
{
  static const int degrees[] = { 0, 90, 180, -33 };
  CuvChannelsPlanes planes = { 0 };

  for (int i = 0; cuv_check_formats[i] != NULL; i++) {
    const int width = 1 + (int) cuv_check_below (90);
    const int height = 1 + (int) cuv_check_below (90);
    CuvCheckFrame frame = cuv_check_frame_new (
        cuv_check_formats[i], width, height, CUV_CHECK_NOISE);

    for (int k = 0; k < 4; k++) {
      const CuvRoi part = part_of (width, height);
      const CuvTurn turn = cuv_turn_new (
          degrees[k], part.right - part.left, part.bottom - part.top);

      cuv_check_case ("planes of %s, %d x %d, from %d, %d to %d, %d, turned by "
                      "%d",
          cuv_check_formats[i], width, height, part.left, part.top, part.right,
          part.bottom, degrees[k]);
      check_planes (&frame.frame, &part, &turn, &planes);
    }
    cuv_check_frame_free (&frame);
  }
  cuv_channels_planes_clear (&planes);
}
