/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Search plans: the number and positions of windows. */
#include "rcd-tracker.h"
#include "track/tracker-private.h"

#include <math.h>
#include <stdlib.h>

static const double scales[] = { 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75, 2 };

static CuvTrackerParams
make_params (void)
{
  CuvTrackerParams params = { .n_scales = 8 };

  for (int i = 0; i < 8; i++)
    params.scales[i] = scales[i];
  return params;
}

/* Makes a tracker whose targets have a model, this box and this scale. */
static CuvTracker *
make_tracker (
    int stride, int cell, int n_targets, const CuvRcdBox *box, double scale)
{
  const CuvTrackerConfig config = { CUV_RCD_RGB_GRAD, CUV_RCD_JBLD, stride,
    cell, 16, 1.0 / 12 };
  const char *problem;
  CuvTracker *self = cuv_tracker_new (&config, &problem);

  CUV_CHECK (self != NULL, ": %s", problem);
  for (int t = 0; t < n_targets; t++) {
    CuvTrackerTarget *target = &self->targets[t];

    cuv_tracker_add (self, box);
    target->pending = false;
    target->track.scale = scale;
    target->appearance.model.width = box->width / scale;
    target->appearance.model.height = box->height / scale;
  }
  return self;
}

static void
check_level (const CuvTrackerPlan *plan, const CuvRcdLevel *level, int first)
{
  const CuvRcdArea *area = &plan->area;

  CUV_CHECK (level->first == first);
  CUV_CHECK (level->n_x > 0 && level->n_y > 0 && level->step > 0);
  CUV_CHECK (level->x >= 0 && level->y >= 0);
  CUV_CHECK (level->x + (level->n_x - 1) * level->step + level->columns
      <= area->n_columns);
  CUV_CHECK (
      level->y + (level->n_y - 1) * level->step + level->rows <= area->n_rows);
}

/* Checks that window numbers are consecutive, and that all windows lie in the
 * frame. */
static void
check_plan (const CuvTrackerPlan *plan, int width, int height)
{
  const CuvRcdArea *area = &plan->area;
  int n = 0;

  CUV_CHECK (area->column >= 0 && area->row >= 0);
  CUV_CHECK ((area->column + area->n_columns) * plan->cell <= width);
  CUV_CHECK ((area->row + area->n_rows) * plan->cell <= height);
  CUV_CHECK (plan->cell * (plan->stride / plan->cell) == plan->stride);
  for (int t = 0; t < plan->n_targets; t++) {
    const CuvRcdTarget *target = &plan->targets[t];

    CUV_CHECK (target->first == n);
    CUV_CHECK (target->n_windows <= CUV_TRACKER_MAX_WINDOWS);
    for (int l = 0; l < target->n_levels; l++) {
      check_level (plan, &target->levels[l], n);
      n += cuv_rcd_level_windows (&target->levels[l]);
    }
    CUV_CHECK (target->first + target->n_windows == n);
  }
  CUV_CHECK (plan->n_windows == n);
}

/* ---- known numbers of windows ---- */

static void
check_full (int stride, int expected)
{
  const CuvRcdBox box = { 100, 100, 400, 400 };
  CuvTracker *self = make_tracker (stride, 0, 1, &box, 1.0);
  const CuvTrackerParams params = make_params ();

  cuv_check_case ("stride %d, full search", stride);
  cuv_tracker_plan (self, &params, 2048, 1152, true);
  check_plan (&self->plan, 2048, 1152);
  CUV_CHECK (self->plan.n_windows == expected, ": %d", self->plan.n_windows);
  cuv_tracker_free (self);
}

static void
check_grid (
    int side, int stride, int cell, int expected_stride, int expected_cell)
{
  const CuvRcdBox box = { 0, 0, side, 2 * side };
  CuvTracker *self = make_tracker (stride, cell, 1, &box, 1.0);
  const CuvTrackerParams params = make_params ();

  cuv_check_case ("side %d, stride %d, cell %d", side, stride, cell);
  cuv_tracker_plan (self, &params, 640, 480, true);
  CUV_CHECK (self->plan.stride == expected_stride, ": %d", self->plan.stride);
  CUV_CHECK (self->plan.cell == expected_cell, ": %d", self->plan.cell);
  cuv_tracker_free (self);
}

static void
check_grids (void)
{
  check_grid (5, 0, 0, 2, 2);
  check_grid (16, 0, 0, 4, 4);
  check_grid (31, 0, 0, 4, 4);
  check_grid (40, 0, 0, 8, 8);
  check_grid (500, 0, 0, 16, 16);
  check_grid (100, 50, 0, 50, 10);
  check_grid (100, 17, 0, 17, 1);
  check_grid (100, 50, 25, 50, 25);
  check_grid (20, 0, 3, 6, 3);
}

/* Checks that equal levels are merged: sides of at most 3 cells are equal at
 * several scales. */
static void
check_equal_levels (void)
{
  const CuvRcdBox box = { 100, 100, 6, 6 };
  CuvTracker *self = make_tracker (4, 4, 1, &box, 1.0);
  const CuvTrackerParams params = make_params ();

  cuv_check_case ("a target of 1.5 cells");
  cuv_tracker_plan (self, &params, 400, 400, true);
  check_plan (&self->plan, 400, 400);
  CUV_CHECK (self->plan.n_windows == 100 * 100 + 99 * 99 + 98 * 98);
  cuv_tracker_free (self);
}

/* ---- local ---- */

/* Counts the windows near the last box by enumeration. */
static void
check_around (const CuvTracker *self, const CuvTrackerParams *params,
    const CuvRcdLevel *level, int width, int height)
{
  const CuvTrackerPlan *plan = &self->plan;
  const CuvRcdBox *last = &self->targets[0].track.box;
  const int cell = plan->cell;
  int expected = 0;

  for (int y = 0; y + level->rows <= height / cell; y++) {
    for (int x = 0; x + level->columns <= width / cell; x++) {
      const double dx =
          (x + level->columns * 0.5) * cell - last->x - last->width * 0.5;
      const double dy =
          (y + level->rows * 0.5) * cell - last->y - last->height * 0.5;

      expected += fabs (dx) <= params->radius && fabs (dy) <= params->radius;
    }
  }
  CUV_CHECK (cuv_rcd_level_windows (level) == expected, ": %d, not %d",
      cuv_rcd_level_windows (level), expected);
}

static void
check_local (void)
{
  const CuvRcdBox box = { 150, 113, 41, 73 };
  CuvTrackerParams params = make_params ();
  CuvTracker *self = make_tracker (4, 0, 1, &box, 1.3);
  const CuvTrackerPlan *plan = &self->plan;

  for (params.radius = 4; params.radius < 300; params.radius += 13) {
    cuv_check_case ("radius %d", params.radius);
    cuv_tracker_plan (self, &params, 320, 240, false);
    check_plan (plan, 320, 240);
    CUV_CHECK (plan->targets[0].n_levels == 3);
    for (int l = 0; l < 3; l++) /* 41 x 73 pixels, 5 % smaller and larger */
      CUV_CHECK (plan->targets[0].levels[l].columns == (l < 1 ? 10 : 9 + l)
          && plan->targets[0].levels[l].rows == 17 + l);
    for (int l = 0; l < 3; l++)
      check_around (self, &params, &plan->targets[0].levels[l], 320, 240);
  }
  cuv_tracker_free (self);
}

/* Checks that local scales are clamped to the range of the list. */
static void
check_single_scale (void)
{
  const CuvRcdBox box = { 150, 113, 80, 80 };
  CuvTrackerParams params = { .scales = { 1 }, .n_scales = 1, .radius = 20 };
  CuvTracker *self = make_tracker (4, 0, 1, &box, 1.3);

  cuv_check_case ("one scale");
  self->targets[0].appearance.model.width = 80;
  self->targets[0].appearance.model.height = 80;
  cuv_tracker_plan (self, &params, 320, 240, false);
  CUV_CHECK (self->plan.targets[0].n_levels == 1);
  CUV_CHECK (self->plan.targets[0].levels[0].columns == 20);
  cuv_tracker_free (self);
}

/* Checks the bound on the number of windows for a local scale between two of
 * the list, which has more windows than a full search. */
static void
check_window_bound (void)
{
  const CuvRcdBox box = { 100, 40, 404, 404 };
  const CuvTrackerParams params = {
    .scales = { 1, 1.02 }, .n_scales = 2, .radius = 1000
  };
  CuvTracker *self = make_tracker (2, 0, 1, &box, 1.01);
  int most;

  cuv_check_case ("two scales");
  cuv_tracker_plan (self, &params, 640, 480, true);
  CUV_CHECK (self->plan.targets[0].n_levels == 2);
  most = self->plan.max_windows;
  cuv_tracker_plan (self, &params, 640, 480, false);
  CUV_CHECK (self->plan.targets[0].n_levels == 3);
  CUV_CHECK (self->plan.n_windows <= most);
  cuv_tracker_free (self);
}

/* Checks that a lost target is searched in the whole frame, and others are not.
 */
static void
check_lost (void)
{
  const CuvRcdBox box = { 40, 40, 40, 40 };
  const CuvTrackerParams params = make_params ();
  CuvTracker *self = make_tracker (8, 8, 3, &box, 1.0);

  cuv_check_case ("a lost target");
  self->targets[1].track.state = CUV_TRACK_LOST;
  self->targets[2].skip_search = true;
  cuv_tracker_plan (self, &params, 320, 240, false);
  check_plan (&self->plan, 320, 240);
  CUV_CHECK (self->plan.n_targets == 2);
  CUV_CHECK (
      self->plan.targets[0].n_levels == 1); /* 5 cells at all local scales */
  CUV_CHECK (self->plan.targets[1].n_levels == 8);
  CUV_CHECK (self->plan.area.n_columns == 40 && self->plan.area.n_rows == 30);
  cuv_tracker_free (self);
}

/* ---- random ---- */

/* Checks that the plan that prepare() makes bounds the windows of all searches.
 */
static void
check_random_plans (void)
{
  for (int i = 0; i < 300; i++) {
    const int width = 1 + (int) cuv_check_below (1u << cuv_check_below (15));
    const int height = 1 + (int) cuv_check_below (1u << cuv_check_below (15));
    const int cell = (int) cuv_check_below (20);
    const CuvRcdBox box = { (int) cuv_check_below (2000) - 500,
      (int) cuv_check_below (2000) - 500, 1 + (int) cuv_check_below (600),
      1 + (int) cuv_check_below (600) };
    CuvTrackerParams params = make_params ();
    CuvTracker *self = make_tracker (cell * (int) cuv_check_below (3), cell,
        1 + (int) cuv_check_below (16), &box, 0.1 + cuv_check_below (40) * 0.1);
    int most;

    cuv_check_case ("search %d in %d x %d", i, width, height);
    params.radius = (int) cuv_check_below (200);
    params.n_scales = 1 + (int) cuv_check_below (8);
    cuv_tracker_plan (self, &params, width, height, true);
    check_plan (&self->plan, width, height);
    most = self->plan.max_windows;
    CUV_CHECK (self->plan.n_windows <= most);
    cuv_tracker_plan (self, &params, width, height, false);
    check_plan (&self->plan, width, height);
    CUV_CHECK (self->plan.n_windows <= most);
    cuv_tracker_free (self);
  }
}

/* Checks that only wide searches refine several candidates. */
static void
check_n_candidates (void)
{
  static const CuvRcdBox box = { 100, 80, 40, 60 };
  CuvTracker *self = make_tracker (0, 0, 1, &box, 1);
  CuvTrackerParams params = make_params ();

  cuv_check_case ("number of candidates");
  cuv_tracker_plan (self, &params, 320, 240, false);
  CUV_CHECK (self->plan.n_candidates == 1);
  params.radius = 60;
  cuv_tracker_plan (self, &params, 320, 240, false);
  CUV_CHECK (self->plan.n_candidates == 1);
  params.radius = 61;
  cuv_tracker_plan (self, &params, 320, 240, false);
  CUV_CHECK (self->plan.n_candidates > 1);
  params.radius = 0;
  cuv_tracker_plan (self, &params, 320, 240, true);
  CUV_CHECK (self->plan.n_candidates > 1);
  self->targets[0].track.state = CUV_TRACK_LOST;
  cuv_tracker_plan (self, &params, 320, 240, false);
  CUV_CHECK (self->plan.n_candidates > 1);
  cuv_tracker_free (self);
}

CUV_CHECKS_CPU (check_plans)
{
  check_full (16, 37716);
  check_full (50, 4008);
  check_grids ();
  check_equal_levels ();
  check_local ();
  check_single_scale ();
  check_window_bound ();
  check_lost ();
  check_random_plans ();
  check_n_candidates ();
}
