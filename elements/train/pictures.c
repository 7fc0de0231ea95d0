/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pictures as the detector sees them: makes the pyramid of a picture, cuts
 * windows out of its levels, and finds the window that fits an object best. */
#include "cpu/waldboost-dsp.h"
#include "train.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

CuvWaldboostPlan *
cuv_train_plan_new (const CuvWaldboostModel *model, bool cascade,
    int window_width, int window_height, int width, int height)
{
  static const int32_t stage_first[] = { 0, 1 };
  const CuvWaldboostModel none = { .arithmetic =
                                       cascade ? CUV_SUM_STAGES : CUV_SUM_FIXED,
    .scan = cascade ? CUV_SCAN_OPENCV : CUV_SCAN_DENSE,
    .window_width = window_width,
    .window_height = window_height,
    .n_weak = 1,
    .n_stages = 1,
    .stage_first = stage_first };
  const CuvWaldboostParams params = { .octaves = 16, .scale_factor = 1.1 };

  return cuv_waldboost_plan_new (
      model != NULL ? model : &none, &params, width, height);
}

/* ---- levels ---- */

static bool
resize (CuvTrainPyramid *self, int index)
{
  const CuvWaldboostPlan *plan = self->plan;
  const CuvWaldboostLevel *level = &plan->levels[index];
  const bool of_frame = level->source < 0;
  const uint8_t *in = of_frame ? self->grey : self->levels[level->source];
  const int width = of_frame ? plan->width : plan->levels[level->source].width;
  const CuvTap *rows = plan->taps + level->first_y_tap;
  const CuvResizeRow resize_row = cuv_waldboost_resize_row ();
  uint16_t *column = malloc (((size_t) width + 16) * sizeof *column);
  uint8_t *out = malloc ((size_t) level->width * (size_t) level->height);

  self->levels[index] = out;
  for (int y = 0; y < level->height && out != NULL && column != NULL; y++) {
    const uint8_t *top = in + (ptrdiff_t) rows[y].index * width;

    resize_row (out + (ptrdiff_t) y * level->width, level->width, top,
        rows[y].weight > 0 ? top + width : top, width, rows[y].weight,
        plan->taps + level->first_x_tap, column);
  }
  free (column);
  return out != NULL && column != NULL;
}

bool
cuv_train_pyramid_make (CuvTrainPyramid *self, int index)
{
  const int source = self->plan->levels[index].source;

  return self->levels[index] != NULL
      || ((source < 0 || cuv_train_pyramid_make (self, source))
          && resize (self, index));
}

bool
cuv_train_pyramid_init (
    CuvTrainPyramid *self, const CuvWaldboostPlan *plan, const CuvFrame *frame)
{
  *self = (CuvTrainPyramid){ plan,
    malloc ((size_t) plan->width * (size_t) plan->height + 1),
    calloc ((size_t) plan->n_levels + 1, sizeof *self->levels) };
  if (self->grey == NULL || self->levels == NULL)
    return false;
  for (int y = 0; y < plan->height; y++) {
    for (int x = 0; x < plan->width; x++)
      self->grey[(ptrdiff_t) y * plan->width + x] =
          cuv_frame_grey (frame, x, y);
  }
  return true;
}

void
cuv_train_pyramid_clear (CuvTrainPyramid *self)
{
  for (int i = 0; self->levels != NULL && i < self->plan->n_levels; i++)
    free (self->levels[i]);
  free (self->levels);
  free (self->grey);
  *self = (CuvTrainPyramid){ 0 };
}

void
cuv_train_cut (const CuvTrainPyramid *self, const CuvTrainWindow *window,
    int window_width, int window_height, uint8_t *pixels)
{
  const ptrdiff_t stride = self->plan->levels[window->level].width;
  const uint8_t *from =
      self->levels[window->level] + window->y * stride + window->x;

  for (int y = 0; y < window_height; y++)
    memcpy (pixels + (ptrdiff_t) y * window_width, from + y * stride,
        (size_t) window_width);
}

/* ---- boxes ---- */

/* Returns the number of picture pixels per level pixel in the horizontal
 * direction. */
static double
scale_of (const CuvWaldboostPlan *plan, int level)
{
  return (double) plan->width / plan->levels[level].width;
}

/* Returns the level whose scale is nearest, or -1 if no level has windows. */
static int
nearest_level (const CuvWaldboostPlan *plan, double scale)
{
  int nearest = -1;

  for (int i = 0; i < plan->n_levels; i++) {
    if (plan->levels[i].n_x > 0
        && (nearest < 0
            || fabs (log (scale_of (plan, i) / scale))
                < fabs (log (scale_of (plan, nearest) / scale))))
      nearest = i;
  }
  return nearest;
}

/* Returns the position of a window of this size around a centre, among n
 * positions. */
static int32_t
position (double centre, int size, int n, int step)
{
  double i = rint ((centre - size / 2.0) / step);

  return step * (int32_t) (i < 0 ? 0 : i > n - 1 ? n - 1 : i);
}

bool
cuv_train_place (const CuvWaldboostPlan *plan, const CuvTrainBox *box,
    int window_width, int window_height, CuvTrainWindow *window)
{
  const double scale =
      fmax (box->width / window_width, box->height / window_height);
  const int i = scale < 1 ? -1 : nearest_level (plan, scale);
  const CuvWaldboostLevel *level = &plan->levels[i < 0 ? 0 : i];

  if (i < 0)
    return false;
  *window = (CuvTrainWindow){ i,
    position ((box->x + box->width / 2) * level->width / plan->width,
        window_width, level->n_x, level->step),
    position ((box->y + box->height / 2) * level->height / plan->height,
        window_height, level->n_y, level->step) };
  return true;
}

double
cuv_train_common (double a, double a_size, double b, double b_size)
{
  const double first = a > b ? a : b;
  const double end = a + a_size < b + b_size ? a + a_size : b + b_size;

  return end > first ? end - first : 0;
}

double
cuv_train_share (double across, double down, double areas)
{
  return across * down / (areas - across * down);
}

double
cuv_train_overlap (const CuvWaldboostPlan *plan, const CuvTrainWindow *window,
    const CuvTrainBox *box)
{
  const CuvWaldboostHit hit = { window->level, window->x, window->y, 0 };
  const CuvWaldboostBox at = cuv_waldboost_box (plan, &hit);

  return cuv_train_share (cuv_train_common (at.x, at.width, box->x, box->width),
      cuv_train_common (at.y, at.height, box->y, box->height),
      (double) at.width * at.height + box->width * box->height);
}
