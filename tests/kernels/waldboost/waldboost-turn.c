/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Turned pictures against the oracle, pixel by pixel. */
#include "waldboost-oracle.h"
#include "waldboost-versions.h"
#include "reference/waldboost-reference.h"
#include "waldboost/turn.h"

#include <stdlib.h>
#include <string.h>

static void
check_rows (const CuvFrame *frame, const CuvTurn *turn, const uint8_t *expected)
{
  const CuvComponent *grey = &frame->component[0];
  uint8_t *row = malloc ((size_t) turn->width + 1);
  int wrong = 0, wrong_rows = 0;

  for (int y = 0; y < turn->height; y++) {
    const uint8_t *at = expected + (size_t) y * turn->width;

    cuv_turn_row (
        turn, grey->data, grey->stride, frame->width, frame->height, y, row);
    wrong_rows += memcmp (row, at, (size_t) turn->width) != 0;
    for (int x = 0; x < turn->width; x++)
      wrong += cuv_turned_grey (turn, frame, x, y) != at[x];
  }
  CUV_CHECK (
      wrong_rows == 0, ": %d of %d rows differ", wrong_rows, turn->height);
  CUV_CHECK (wrong == 0, ": %d pixels differ", wrong);
  free (row);
}

static void
check_turn (int degrees, int width, int height)
{
  CuvWaldboostPlan plan = { .width = width, .height = height };
  CuvCheckFrame frame =
      cuv_check_frame_new ("GRAY8", width, height, CUV_CHECK_TEXTURE);
  uint8_t *expected;

  cuv_check_case ("%d x %d turned by %d", width, height, degrees);
  plan.turn = cuv_turn_new (degrees, width, height);
  plan.picture_width = plan.turn.width;
  plan.picture_height = plan.turn.height;
  expected = oracle_picture (&frame.frame, &plan, &width, &height);
  check_rows (&frame.frame, &plan.turn, expected);
  free (expected);
  cuv_check_frame_free (&frame);
}

CUV_CHECKS (check_turns)
{
  for (int degrees = -180; degrees <= 180; degrees += 15)
    check_turn (degrees, random_between (1, 90), random_between (1, 90));
  for (int i = 0; i < 20; i++)
    check_turn (random_between (-180, 180), random_between (1, 200),
        random_between (1, 200));
}
