/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A hit has its sum as a float. Evaluating the windows again, one by one, gives
 * the double without slowing down the scan. */
#include "weights.h"

#include <stdlib.h>
#include "cuvgrey.h"

/* A picture, and memory for a window and its integral images. */
typedef struct {
  const CuvWaldboostModel *model;
  const CuvWaldboostPlan *plan;
  uint8_t *grey;
  uint8_t *window;
  uint16_t *column;
  uint32_t *integrals[3]; /* sums, squares, tilted; two rows of zeros first */
} Picture;

static void
picture_clear (Picture *self)
{
  free (self->grey);
  free (self->window);
  free (self->column);
  for (int i = 0; i < 3; i++)
    free (self->integrals[i]);
}

static bool
picture_init (Picture *self, const CuvWaldboostModel *model,
    const CuvWaldboostPlan *plan, const CuvFrame *frame)
{
  const size_t width = (size_t) model->window_width + 1;
  const size_t height = (size_t) model->window_height + 2;
  bool ok;

  *self = (Picture){ .model = model,
    .plan = plan,
    .grey = malloc ((size_t) frame->width * (size_t) frame->height),
    .window = calloc (width * height, 1),
    .column = malloc (((size_t) frame->width + 16) * sizeof *self->column) };
  ok = self->grey != NULL && self->window != NULL && self->column != NULL;
  for (int i = 0; i < 3; i++) {
    self->integrals[i] = calloc (width * height, sizeof *self->integrals[i]);
    ok = ok && self->integrals[i] != NULL;
  }
  for (int y = 0; y < frame->height && ok; y++)
    cuv_grey_row (frame, y, self->grey + (ptrdiff_t) y * frame->width);
  return ok;
}

/* Makes row y of a hit's window. */
static void
make_window_row (
    const Picture *self, const CuvWaldboostHit *hit, int y, uint8_t *out)
{
  const CuvWaldboostPlan *plan = self->plan;
  const CuvWaldboostLevel *level = &plan->levels[hit->level];
  const CuvTap tap = plan->taps[level->first_y_tap + hit->y + y];
  const uint8_t *top = self->grey + (ptrdiff_t) tap.index * plan->width;

  cuv_resize_row (out, self->model->window_width, top,
      tap.weight > 0 ? top + plan->width : top, plan->width, tap.weight,
      plan->taps + level->first_x_tap + hit->x, self->column);
}

/* The row of pixels above a window is 0. */
static double
weight_of (const Picture *self, const CuvWaldboostHit *hit)
{
  const int width = self->model->window_width;
  const ptrdiff_t stride = width + 1;
  uint32_t *const *all = self->integrals;

  for (int y = 0; y < self->model->window_height; y++) {
    const ptrdiff_t at = (y + 2) * stride;
    uint8_t *grey = self->window + (y + 1) * width;

    make_window_row (self, hit, y, grey);
    cuv_sum_row (all[0] + at, all[0] + at - stride, grey, width, 1, stride);
    cuv_square_row (all[1] + at, all[1] + at - stride, grey, width, 1, stride);
    cuv_tilted_row (all[2] + at, all[2] + at - stride, all[2] + at - 2 * stride,
        grey, grey - width, width, 1, stride);
  }
  return cuv_last_stage_sum (self->model,
      &(CuvIntegrals){
          all[0] + stride, all[1] + stride, all[2] + stride, stride },
      0);
}

bool
cuv_detect_weights_of (const CuvWaldboostModel *model,
    const CuvWaldboostPlan *plan, const CuvFrame *frame,
    const CuvWaldboostResult *result, double *weights)
{
  Picture picture = { 0 };
  bool ok = result->n_hits == 0 || picture_init (&picture, model, plan, frame);

  for (int i = 0; i < result->n_hits && ok; i++)
    weights[i] = weight_of (&picture, &result->hits[i]);
  picture_clear (&picture);
  return ok;
}
