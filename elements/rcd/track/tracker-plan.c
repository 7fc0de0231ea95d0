/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Plans which windows to search: grid, levels and area. */
#include "track/tracker-private.h"
#include "rcd/rcd-distance.h"

#include <math.h>
#include <stdlib.h>

enum {
  MAX_CELL = 16,
  MIN_STRIDE = 2,
  MAX_CELLS = 1 << 19,
  WIDE_CANDIDATES = 4
};

CuvRcdBox
cuv_tracker_clip (const CuvRcdBox *box, int width, int height)
{
  const int64_t right = (int64_t) box->x + box->width;
  const int64_t bottom = (int64_t) box->y + box->height;
  CuvRcdBox inside = { box->x > 0 ? box->x : 0, box->y > 0 ? box->y : 0, 0, 0 };
  const int64_t w = (right < width ? right : width) - inside.x;
  const int64_t h = (bottom < height ? bottom : height) - inside.y;

  if (w > 0 && h > 0) {
    inside.width = (int32_t) w;
    inside.height = (int32_t) h;
  }
  return inside;
}

/* ---- grid ---- */

typedef struct {
  double width, height;
} Size;

/* Returns the size of the target's model, or the size it will have. */
static Size
model_size (const CuvTrackerTarget *target, int width, int height)
{
  CuvRcdBox box;

  if (!target->pending)
    return (Size){ target->appearance.model.width,
      target->appearance.model.height };
  box = cuv_tracker_clip (&target->track.box, width, height);
  return (Size){ box.width, box.height };
}

/* Returns a quarter of the shortest side of all targets, rounded down to a
 * power of two; more if the frame would have too many cells. */
static int
automatic_stride (const CuvTracker *self, int width, int height)
{
  double least = 4 * MAX_CELL;
  int stride = MIN_STRIDE;

  for (int t = 0; t < self->n_targets; t++) {
    const Size size = model_size (&self->targets[t], width, height);

    least = fmin (least, fmin (size.width, size.height));
  }
  while (2 * stride <= MAX_CELL
      && (stride * 2 <= least / 4
          || (int64_t) (width / stride) * (height / stride) > MAX_CELLS))
    stride *= 2;
  return stride;
}

/* Returns the largest divisor of stride <= MAX_CELL. */
static int
automatic_cell (int stride)
{
  int cell = stride < MAX_CELL ? stride : MAX_CELL;

  while (stride % cell != 0)
    cell--;
  return cell;
}

static void
choose_grid (
    CuvTrackerPlan *self, const CuvTracker *tracker, int width, int height)
{
  const CuvTrackerConfig *config = &tracker->config;

  self->cell = config->cell;
  self->stride = config->stride;
  if (self->stride == 0)
    self->stride = automatic_stride (tracker, width, height);
  if (self->cell == 0)
    self->cell = automatic_cell (self->stride);
  else if (config->stride == 0) /* rounds the stride up to a multiple of the
                                 * cell */
    self->stride += (self->cell - self->stride % self->cell) % self->cell;
}

/* ---- levels ---- */

/* Returns the number of cells along a window's side. side: the target's, in
 * pixels. */
static int
cells_of (double side, double scale, int cell)
{
  const double cells = floor (scale * side / cell + 0.5);

  return cells < 1.0             ? 1
      : cells > CUV_RCD_MAX_SIZE ? CUV_RCD_MAX_SIZE
                                 : (int) cells;
}

static int
clamp_to_int (double v, int maximum)
{
  return v < 0.0 ? 0 : v > maximum ? maximum : (int) v;
}

/* Finds the cells, along one axis, of all windows whose centres are within
 * radius of the middle, or of the nearest window if there is none. cells:
 * number of cells of a window; n: of the frame. */
static void
range_around (double middle, int radius, int cell, int cells, int n,
    int32_t *first, int32_t *n_cells)
{
  const double corner = middle - cells * cell * 0.5;
  const double low = ceil ((corner - radius) / cell);
  const double high = floor ((corner + radius) / cell);
  const double near = floor (corner / cell + 0.5);
  const int start = clamp_to_int (low <= high ? low : near, n - cells);
  const int end = clamp_to_int (low <= high ? high : near, n - cells);

  *first = start;
  *n_cells = end - start + cells;
}

static CuvRcdArea
part_around (const CuvRcdBox *box, int radius, int cell, int columns, int rows,
    const CuvRcdArea *frame)
{
  CuvRcdArea part = *frame;

  if (radius == 0)
    radius = box->width > box->height ? box->width : box->height;
  if (columns <= frame->n_columns)
    range_around (box->x + box->width * 0.5, radius, cell, columns,
        frame->n_columns, &part.column, &part.n_columns);
  if (rows <= frame->n_rows)
    range_around (box->y + box->height * 0.5, radius, cell, rows, frame->n_rows,
        &part.row, &part.n_rows);
  return part;
}

/* Local searches try the last scale and those 5 % smaller and larger: with more
 * scales, boxes drift to sizes at which the background looks similar. With
 * refinement a target may still grow by an eighth per frame. */
enum { LOCAL_SCALES = 3 };

static int
local_scales (const CuvTrackerParams *params, double scale, double *scales)
{
  const double least = params->scales[0];
  const double most = params->scales[params->n_scales - 1];

  for (int i = 0; i < LOCAL_SCALES; i++)
    scales[i] = fmin (fmax (scale * (0.95 + 0.05 * i), least), most);
  return LOCAL_SCALES;
}

static bool
has_level (const CuvRcdTarget *target, const CuvRcdLevel *level)
{
  for (int l = 0; l < target->n_levels; l++) {
    if (target->levels[l].columns == level->columns
        && target->levels[l].rows == level->rows)
      return true;
  }
  return false;
}

static void
add_level (CuvRcdTarget *target, const CuvRcdLevel *level)
{
  /* too many already: the caller will use larger steps */
  if (target->n_windows > CUV_TRACKER_MAX_WINDOWS)
    return;
  if (cuv_rcd_level_windows (level) == 0 || has_level (target, level))
    return;
  target->levels[target->n_levels++] = *level;
  target->n_windows += cuv_rcd_level_windows (level);
}

/* Inputs of the levels of one target. Cells are counted from the frame's first
 * cell. */
typedef struct {
  const CuvTrackerParams *params;
  CuvRcdArea frame;
  int cell, step;
  Size size;
  const CuvTrack *track;
  bool full;
} Levels;

static CuvRcdLevel
make_level (const Levels *self, double scale, int first)
{
  const int columns = cells_of (self->size.width, scale, self->cell);
  const int rows = cells_of (self->size.height, scale, self->cell);
  CuvRcdArea part = self->frame;

  if (!self->full)
    part = part_around (&self->track->box, self->params->radius, self->cell,
        columns, rows, &self->frame);
  return cuv_rcd_level (&part, columns, rows, self->step, first);
}

static void
make_levels (const Levels *self, CuvRcdTarget *target)
{
  const double *scales = self->params->scales;
  double near[LOCAL_SCALES];
  int n = self->params->n_scales;

  target->n_levels = 0;
  target->n_windows = 0;
  if (!self->full) {
    n = local_scales (self->params, self->track->scale, near);
    scales = near;
  }
  for (int i = 0; i < n; i++) {
    const CuvRcdLevel level =
        make_level (self, scales[i], target->first + target->n_windows);

    add_level (target, &level);
  }
}

/* Returns an upper bound on the number of windows in any search of a target.
 * The target has the levels of a full search. */
static int
windows_bound (const CuvRcdTarget *target, const Levels *levels, int base_step)
{
  int max_windows = 0;

  if (levels->step > base_step)
    return CUV_TRACKER_MAX_WINDOWS;
  for (int l = 0; l < target->n_levels; l++) {
    const int windows =
        LOCAL_SCALES * cuv_rcd_level_windows (&target->levels[l]);

    max_windows = windows > max_windows ? windows : max_windows;
  }
  return target->n_windows > max_windows ? target->n_windows : max_windows;
}

/* ---- the search ---- */

/* Wide searches refine several candidates, because some background may match as
 * well as a window that is half a step off the target: docs/benchmarks/rcd.md,
 * "How well it tracks". */
static int
candidates_for (const Levels *self)
{
  const CuvRcdBox *box = &self->track->box;
  const int side = box->width > box->height ? box->width : box->height;

  return self->full || self->params->radius > side ? WIDE_CANDIDATES : 1;
}

/* Sets the smallest area with all windows and makes levels relative to it. */
static void
fit_area (CuvTrackerPlan *self)
{
  int left = INT32_MAX, top = INT32_MAX, right = 0, bottom = 0;

  for (int t = 0; t < self->n_targets; t++) {
    for (int l = 0; l < self->targets[t].n_levels; l++) {
      const CuvRcdLevel *k = &self->targets[t].levels[l];
      const int ends = k->x + (k->n_x - 1) * k->step + k->columns;
      const int lower = k->y + (k->n_y - 1) * k->step + k->rows;

      left = k->x < left ? k->x : left;
      top = k->y < top ? k->y : top;
      right = ends > right ? ends : right;
      bottom = lower > bottom ? lower : bottom;
    }
  }
  if (self->n_windows == 0)
    left = top = right = bottom = 0;
  self->area = (CuvRcdArea){ left, top, right - left, bottom - top };
  for (int t = 0; t < self->n_targets; t++) {
    for (int l = 0; l < self->targets[t].n_levels; l++) {
      self->targets[t].levels[l].x -= left;
      self->targets[t].levels[l].y -= top;
    }
  }
}

static void
add_target (CuvTrackerPlan *self, Levels *levels, int number)
{
  CuvRcdTarget *target = &self->targets[self->n_targets];

  target->first = self->n_windows;
  levels->step = self->stride / self->cell;
  make_levels (levels, target);
  while (target->n_windows > CUV_TRACKER_MAX_WINDOWS) {
    levels->step *= 2;
    make_levels (levels, target);
  }
  if (levels->step * self->cell > self->spacing)
    self->spacing = levels->step * self->cell;
  self->max_windows +=
      windows_bound (target, levels, self->stride / self->cell);
  if (candidates_for (levels) > self->n_candidates)
    self->n_candidates = candidates_for (levels);
  self->target[self->n_targets++] = number;
  self->n_windows += target->n_windows;
}

/* Returns the target's model in light that is gain times as bright. */
static CuvRcdModel
relit_model (const CuvRcdAppearance *appearance, double gain)
{
  const int n = appearance->n;
  CuvRcdModel model = appearance->model;
  double c[CUV_RCD_MAX_PACKED], factor[CUV_RCD_MAX_FEATURES];

  for (int i = 0; i < n; i++)
    factor[i] = n == 9 && i < 2 ? 1.0 : gain; /* x and y stay */
  for (int i = 0; i < n; i++) {
    for (int j = i; j < n; j++) {
      const int k = cuv_rcd_packed_index (n, i, j);
      const double lambda = i == j ? appearance->lambda : 0.0;

      c[k] = (model.c[k] - lambda) * factor[i] * factor[j] + lambda;
    }
  }
  return cuv_rcd_model_init (&model, c, n, model.width, model.height)
      ? model
      : appearance->model;
}

void
cuv_tracker_plan (CuvTracker *self, const CuvTrackerParams *params, int width,
    int height, bool full)
{
  CuvTrackerPlan *plan = &self->plan;
  Levels levels = { .params = params };

  choose_grid (plan, self, width, height);
  plan->n_targets = plan->n_windows = plan->max_windows = plan->spacing = 0;
  plan->n_candidates = 1;
  levels.cell = plan->cell;
  levels.frame = (CuvRcdArea){ 0, 0, width / plan->cell, height / plan->cell };
  for (int t = 0; t < self->n_targets; t++) {
    CuvTrackerTarget *target = &self->targets[t];

    levels.size = model_size (target, width, height);
    levels.track = &target->track;
    levels.full = full || params->full || target->track.state == CUV_TRACK_LOST;
    if (target->skip_search)
      continue;
    if (!target->pending)
      plan->targets[plan->n_targets].model = target->gain != 1.0
          ? relit_model (&target->appearance, target->gain)
          : target->appearance.model;
    add_target (plan, &levels, t);
  }
  fit_area (plan);
}
