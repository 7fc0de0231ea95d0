/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Draws a picture of distances, which shows how well a target stands out with
 * the current settings. */
#include "rcd.h"
#include "rcd/rcd-distance.h"

uint8_t
cuv_rcd_map_value (double score, CuvRcdMetric metric, double half)
{
  const double distance = cuv_rcd_distance (score, metric);

  return distance > 0.0 ? (uint8_t) (255.0 * exp2 (-distance / half) + 0.5)
                        : 255;
}

/* Returns the index of the window at v pixels from the first one; -1 if there
 * is none. */
static int
window_at (int v, int step, int n)
{
  return v >= 0 && v / step < n ? v / step : -1;
}

void
cuv_rcd_draw_map (const CuvFrame *frame, const CuvRcdArea *area,
    const CuvRcdLevel *level, int cell, const double *scores,
    CuvRcdMetric metric, double half)
{
  const int step = level->step * cell;
  /* the first window's rectangle */
  const int left =
      (area->column + level->x) * cell + level->columns * cell / 2 - step / 2;
  const int top =
      (area->row + level->y) * cell + level->rows * cell / 2 - step / 2;

  for (int y = 0; y < frame->height; y++) {
    const int row = window_at (y - top, step, level->n_y);
    int last = -1;
    uint8_t value = 0;

    for (int x = 0; x < frame->width; x++) {
      const int column = window_at (x - left, step, level->n_x);

      if (row >= 0 && column != last)
        value = column < 0 ? 0
                           : cuv_rcd_map_value (
                               scores[row * level->n_x + column], metric, half);
      last = column;
      cuv_frame_set_grey (frame, x, y, value);
    }
  }
}
