/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "rcd-inputs.h"
#include "rcd/rcd-pixel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const RcdSize rcd_sizes[RCD_N_SIZES] = { { 1, 1 }, { 2, 1 }, { 1, 9 },
  { 40, 1 }, { 3, 3 }, { 17, 33 }, { 64, 48 }, { 131, 67 }, { 700, 40 } };

const int rcd_cells[RCD_N_CELLS] = { 1, 2, 3, 5, 10, 16, 17, CUV_RCD_MAX_CELL };

CuvRcdConfig
rcd_random_config (int width, int height, int cell)
{
  static const double lambdas[] = { 1.0 / 12.0, 0.0, 3.5 };

  return (CuvRcdConfig){ .features = (CuvRcdFeatures) cuv_check_below (3),
    .metric = cuv_check_below (3) ? CUV_RCD_JBLD : CUV_RCD_FORSTNER,
    .width = width,
    .height = height,
    .cell = cell,
    .max_targets = CUV_RCD_MAX_TARGETS,
    .lambda = lambdas[cuv_check_below (3)] };
}

/* Adds noise to a texture, which is the same in all components. */
static void
add_noise (CuvFrame *frame)
{
  for (int i = 0; i < frame->n_components; i++) {
    const CuvComponent *c = &frame->component[i];
    const int width = (frame->width + (1 << c->xsub) - 1) >> c->xsub;
    const int height = (frame->height + (1 << c->ysub) - 1) >> c->ysub;

    for (int at = 0; at < width * height; at++) {
      uint8_t *v = &c->data[at / width * c->stride + at % width * c->step];

      *v = (uint8_t) ((15 * *v + (int) cuv_check_below (256)) / 16);
    }
  }
}

void
rcd_input_init (RcdInput *self, const CuvRcdConfig *config, const char *format,
    CuvCheckFill fill)
{
  *self = (RcdInput){ .config = *config };
  self->frame =
      cuv_check_frame_new (format, config->width, config->height, fill);
  if (fill == CUV_CHECK_TEXTURE)
    add_noise (&self->frame.frame);
  self->search.area = (CuvRcdArea){ 0, 0, config->width / config->cell,
    config->height / config->cell };
  self->search.targets = self->targets;
}

/* Crops the frame by an even number of pixels on each side. */
static void
crop (RcdInput *self, int by)
{
  self->config.width -= 2 * by;
  self->config.height -= 2 * by;
  self->frame.frame.width = self->config.width;
  self->frame.frame.height = self->config.height;
  self->search.area.n_columns = self->config.width / self->config.cell;
  self->search.area.n_rows = self->config.height / self->config.cell;
  for (int i = 0; i < self->frame.frame.n_components; i++) {
    CuvComponent *c = &self->frame.frame.component[i];

    c->data += (by >> c->ysub) * c->stride + (by >> c->xsub) * c->step;
  }
}

void
rcd_input_clear (RcdInput *self)
{
  cuv_check_frame_free (&self->frame);
  free (self->scores);
  self->scores = NULL;
}

/* ---- targets ---- */

static int
between (int least, int most)
{
  return least + (int) cuv_check_below ((uint32_t) (most - least + 1));
}

static CuvRcdTarget *
next_target (RcdInput *self)
{
  CuvRcdTarget *target = &self->targets[self->search.n_targets++];

  *target = (CuvRcdTarget){ .first = self->config.max_windows };
  return target;
}

bool
rcd_input_add (RcdInput *self, const CuvRcdBox *box)
{
  const CuvRcdFeatures features = self->config.features;
  int64_t sums[CUV_RCD_MAX_SUMS];

  cuv_rcd_box_sums (&self->frame.frame, features, box, sums);
  return cuv_rcd_model_from_sums (&next_target (self)->model, sums,
      cuv_rcd_n_features (features), box, self->config.lambda);
}

void
rcd_input_add_level (RcdInput *self, int columns, int rows, int step)
{
  CuvRcdTarget *target = &self->targets[self->search.n_targets - 1];
  const CuvRcdArea part = { 0, 0, self->search.area.n_columns,
    self->search.area.n_rows };
  CuvRcdLevel *level = &target->levels[target->n_levels++];

  *level = cuv_rcd_level (
      &part, columns, rows, step, target->first + target->n_windows);
  target->n_windows += cuv_rcd_level_windows (level);
  self->config.max_windows += cuv_rcd_level_windows (level);
}

void
rcd_input_add_scales (RcdInput *self, int width, int height, int step,
    const double *scales, int n_scales)
{
  for (int i = 0; i < n_scales; i++) {
    int columns = (int) (scales[i] * width / self->config.cell + 0.5);
    int rows = (int) (scales[i] * height / self->config.cell + 0.5);

    rcd_input_add_level (
        self, columns > 0 ? columns : 1, rows > 0 ? rows : 1, step);
  }
}

static CuvRcdBox
random_box (const CuvRcdConfig *config)
{
  CuvRcdBox box = { .width = between (1, config->width),
    .height = between (1, config->height) };

  box.x = between (0, config->width - box.width);
  box.y = between (0, config->height - box.height);
  return box;
}

/* Sets a random model for the last target. */
static void
set_other_model (RcdInput *self)
{
  const int n = cuv_rcd_n_features (self->config.features);
  double c[CUV_RCD_MAX_PACKED];
  int k = 0;

  for (int i = 0; i < n; i++) {
    for (int j = i; j < n; j++)
      c[k++] = i == j ? 1.0 + (double) cuv_check_below (1000)
                      : (double) cuv_check_below (100) / 1000.0;
  }
  cuv_rcd_model_init (&self->targets[self->search.n_targets - 1].model, c, n,
      between (1, 50), between (1, 50));
}

static void
add_random_target (RcdInput *self, int most_cells)
{
  const CuvRcdArea *area = &self->search.area;
  const CuvRcdBox box = random_box (&self->config);
  const int n_levels = between (0, 5);

  if (!rcd_input_add (self, &box))
    set_other_model (self);
  for (int i = 0; i < n_levels; i++) {
    const int columns = between (1, most_cells), rows = between (1, most_cells);
    const bool fits = area->n_columns > 0 && area->n_rows > 0;
    CuvRcdTarget *target = &self->targets[self->search.n_targets - 1];
    CuvRcdArea part = *area;
    CuvRcdLevel *level = &target->levels[target->n_levels++];

    part.column = fits ? between (0, area->n_columns - 1) / 2 : 0;
    part.row = fits ? between (0, area->n_rows - 1) / 2 : 0;
    part.n_columns -= part.column;
    part.n_rows -= part.row;
    *level = cuv_rcd_level (&part, columns, rows, between (1, 3),
        target->first + target->n_windows);
    target->n_windows += cuv_rcd_level_windows (level);
    self->config.max_windows += cuv_rcd_level_windows (level);
  }
}

/* Chooses a random area, refinement, and targets of at most this number of
 * cells. */
static void
randomize (RcdInput *self, int n_targets, int most_cells)
{
  static const int refine[] = { 0, 0, 1, 2, 7 };
  CuvRcdArea *area = &self->search.area;

  if (cuv_check_below (2) && area->n_columns > 0 && area->n_rows > 0) {
    area->column = between (0, area->n_columns - 1);
    area->row = between (0, area->n_rows - 1);
    area->n_columns = between (1, area->n_columns - area->column);
    area->n_rows = between (1, area->n_rows - area->row);
  }
  self->search.refine = refine[cuv_check_below (5)];
  self->search.n_candidates = (int) cuv_check_below (5);
  for (int i = 0; i < n_targets; i++)
    add_random_target (self, most_cells);
}

void
rcd_input_name (const RcdInput *self, const char *format)
{
  const CuvRcdConfig *config = &self->config;
  const CuvRcdArea *area = &self->search.area;

  cuv_check_case ("%s %dx%d, features %d, metric %d, cell %d, lambda %g, area "
                  "%d %d %dx%d, refine %d at %d places, %d targets, %d windows",
      format, config->width, config->height, config->features, config->metric,
      config->cell, config->lambda, area->column, area->row, area->n_columns,
      area->n_rows, self->search.refine, self->search.n_candidates,
      self->search.n_targets, config->max_windows);
}

/* Crops half of the frames out of larger ones. */
void
rcd_input_init_random (
    RcdInput *self, const char *format, RcdSize size, int cell)
{
  const int by = cuv_check_below (2) ? 2 : 0;
  const CuvRcdConfig config =
      rcd_random_config (size.width + 2 * by, size.height + 2 * by, cell);

  rcd_input_init (self, &config, format,
      cuv_check_below (4) ? CUV_CHECK_TEXTURE
                          : (CuvCheckFill) cuv_check_below (CUV_CHECK_N_FILLS));
  crop (self, by);
  randomize (self, 1 + (int) cuv_check_below (3), 4 + 24 / cell);
  rcd_input_name (self, format);
}

/* ---- results ---- */

void
rcd_input_search (RcdInput *self)
{
  self->scores = realloc (self->scores,
      ((size_t) self->config.max_windows + 1) * sizeof *self->scores);
  CUV_CHECK (cuv_rcd_search (&self->config, &self->frame.frame, &self->search,
      self->scores, self->matches));
}

static bool
same_box (const CuvRcdBox *a, const CuvRcdBox *b)
{
  return memcmp (a, b, sizeof *a) == 0;
}

void
rcd_check_found (const RcdInput *self, const CuvRcdMatch *matches,
    const double *scores, const char *name)
{
  if (scores != NULL)
    CUV_CHECK (memcmp (scores, self->scores,
                   (size_t) self->config.max_windows * sizeof *scores)
            == 0,
        ": %s, %d scores", name, self->config.max_windows);
  for (int t = 0; t < self->search.n_targets; t++) {
    const CuvRcdMatch *a = &matches[t], *b = &self->matches[t];

    CUV_CHECK (a->window == b->window, ": %s, target %d: %d, not %d", name, t,
        a->window, b->window);
    CUV_CHECK (a->level == b->level, ": %s, target %d", name, t);
    CUV_CHECK (same_box (&a->box, &b->box),
        ": %s, target %d: %d %d %dx%d, not %d %d %dx%d", name, t, a->box.x,
        a->box.y, a->box.width, a->box.height, b->box.x, b->box.y, b->box.width,
        b->box.height);
    CUV_CHECK (memcmp (&a->score, &b->score, sizeof a->score) == 0,
        ": %s, target %d: %.17g, not %.17g", name, t, a->score, b->score);
    CUV_CHECK (memcmp (&a->second, &b->second, sizeof a->second) == 0,
        ": %s, target %d: %.17g, not %.17g", name, t, a->second, b->second);
    CUV_CHECK (memcmp (a->sums, b->sums, sizeof a->sums) == 0,
        ": %s, target %d", name, t);
  }
}
