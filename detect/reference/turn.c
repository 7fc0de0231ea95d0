/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Computes the geometry of rotated pictures, and makes their rows from a grey
 * picture. The pixels equal those of cuv_turned_grey(). */
#include "reference/waldboost-reference.h"
#include "waldboost/turn.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ONE 65536

static int
side (int along, int across, int64_t n, int64_t m)
{
  return (int) ((abs (along) * n + abs (across) * m + ONE - 1) / ONE);
}

CuvTurn
cuv_turn_new (int degrees, int width, int height)
{
  const double angle = degrees * (acos (-1) / 180);
  CuvTurn turn = { .degrees = degrees,
    .cos = (int32_t) lrint (cos (angle) * ONE),
    .sin = (int32_t) lrint (sin (angle) * ONE) };

  turn.width = side (turn.cos, turn.sin, width, height);
  turn.height = side (turn.sin, turn.cos, width, height);
  return turn;
}

/* ---- rows ---- */

static bool
is_in_picture (CuvTurnPlace place, int width, int height)
{
  return place.x >= 0 && place.x <= (int64_t) (width - 1) << 17 && place.y >= 0
      && place.y <= (int64_t) (height - 1) << 17;
}

/* Copies pixels for rotations by a multiple of 90 degrees, in which no position
 * lies between pixels. */
static void
copy_pixels (const CuvTurn *turn, const uint8_t *in, ptrdiff_t stride,
    CuvTurnPlace place, int n, uint8_t *out)
{
  const ptrdiff_t step = turn->cos / ONE + turn->sin / ONE * stride;

  in += (place.y >> 17) * stride + (place.x >> 17);
  for (int x = 0; x < n; x++)
    out[x] = in[x * step];
}

/* Interpolates pixels for other rotations. Inside the picture, positions fit
 * 32 bits. In the last column or row, the next one has weight 0 and is not
 * read. */
static void
mix_pixels (const CuvTurn *turn, const uint8_t *in, ptrdiff_t stride,
    CuvTurnPlace place, int n, uint8_t *out)
{
  const uint32_t step_x = 2 * (uint32_t) turn->cos;
  const uint32_t step_y = 2 * (uint32_t) turn->sin;
  uint32_t u = (uint32_t) place.x, v = (uint32_t) place.y;

  for (int x = 0; x < n; x++, u += step_x, v += step_y) {
    const uint8_t *at = in + (ptrdiff_t) (v >> 17) * stride + (u >> 17);
    const ptrdiff_t right = (u & 0x1ffff) != 0, down = (v & 0x1ffff) != 0;
    const uint8_t *below = at + (down ? stride : 0);

    out[x] = cuv_turn_mix (
        at[0], at[right], below[0], below[right], u >> 9 & 255, v >> 9 & 255);
  }
}

void
cuv_turn_row (const CuvTurn *turn, const uint8_t *in, ptrdiff_t stride,
    int width, int height, int y, uint8_t *out)
{
  const int quarter = turn->degrees % 90 == 0;
  int first = 0, end = turn->width;

  while (first < end
      && !is_in_picture (
          cuv_turn_place (turn, width, height, first, y), width, height))
    first++;
  while (end > first
      && !is_in_picture (
          cuv_turn_place (turn, width, height, end - 1, y), width, height))
    end--;
  memset (out, CUV_WALDBOOST_TURN_OUTSIDE, first);
  memset (out + end, CUV_WALDBOOST_TURN_OUTSIDE, turn->width - end);
  (quarter ? copy_pixels : mix_pixels) (turn, in, stride,
      cuv_turn_place (turn, width, height, first, y), end - first, out + first);
}

/* ---- windows ---- */

/* Returns whether width and height of boxes are swapped: the rotation is closer
 * to 90 than to 0 or 180 degrees. */
static bool
is_lying (const CuvTurn *turn)
{
  return abs (turn->sin) > abs (turn->cos);
}

/* Computes with integers, which is exact: positions are relative to the centre,
 * in half pixels of the level, multiplied by the sides of level and picture and
 * by ONE. */
bool
cuv_turn_keeps (const CuvWaldboostPlan *plan, const CuvWaldboostLevel *level,
    int level_x, int level_y)
{
  const CuvTurn *turn = &plan->turn;
  const int64_t across = (int64_t) turn->width * level->height;
  const int64_t down = (int64_t) turn->height * level->width;
  const int64_t x =
      across * (2 * (level_x + plan->box_x) + plan->box_width - level->width);
  const int64_t y =
      down * (2 * (level_y + plan->box_y) + plan->box_height - level->height);
  const int64_t width = across * plan->box_width * ONE;
  const int64_t height = down * plan->box_height * ONE;
  const int64_t area = (int64_t) level->width * level->height * ONE;
  const bool lies = is_lying (turn);

  return llabs (x * turn->cos - y * turn->sin) + (lies ? height : width)
      <= plan->width * area
      && llabs (x * turn->sin + y * turn->cos) + (lies ? width : height)
      <= plan->height * area;
}

static CuvRange
find_range (
    const CuvWaldboostPlan *plan, const CuvWaldboostLevel *level, int row)
{
  const int step = level->step, y = row * step;
  CuvRange range = { 0, level->n_x };

  while (range.first < range.end
      && !cuv_turn_keeps (plan, level, range.first * step, y))
    range.first++;
  while (range.end > range.first
      && !cuv_turn_keeps (plan, level, (range.end - 1) * step, y))
    range.end--;
  return range;
}

bool
cuv_turn_add_ranges (CuvWaldboostPlan *plan, const CuvWaldboostModel *model,
    CuvWaldboostLevel *levels)
{
  CuvRange *ranges;
  int n = 0;

  if (plan->turn.degrees % 90 == 0 || model->feature != CUV_FEATURE_HAAR
      || model->arithmetic != CUV_SUM_STAGES)
    return true;
  for (int i = 0; i < plan->n_levels; i++) {
    levels[i].first_range = n;
    n += levels[i].n_y;
  }
  plan->n_ranges = n;
  plan->ranges = ranges = malloc ((n + 1) * sizeof *ranges);
  for (int i = 0; i < plan->n_levels && ranges != NULL; i++) {
    for (int row = 0; row < levels[i].n_y; row++)
      *ranges++ = find_range (plan, &levels[i], row);
  }
  return plan->ranges != NULL;
}

/* ---- boxes ---- */

/* Returns value / (2 ONE), rounded to the nearest integer. */
static int
half_of (int64_t value)
{
  return (int) ((value + ONE) >> 17);
}

CuvWaldboostBox
cuv_turn_back (const CuvWaldboostPlan *plan, CuvWaldboostBox box)
{
  const CuvTurn *turn = &plan->turn;
  const int64_t right = 2 * box.x + box.width - plan->picture_width;
  const int64_t down = 2 * box.y + box.height - plan->picture_height;
  const bool lies = is_lying (turn);
  const int width = lies ? box.height : box.width;
  const int height = lies ? box.width : box.height;

  box.x = half_of (right * turn->cos - down * turn->sin
      + (int64_t) (plan->upright_width - width) * ONE);
  box.y = half_of (right * turn->sin + down * turn->cos
      + (int64_t) (plan->upright_height - height) * ONE);
  box.width = width;
  box.height = height;
  box.rotation = turn->degrees;
  return box;
}
