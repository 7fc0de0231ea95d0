/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Computes the levels of a plan, their window positions and their resize
 * taps. */
#include "model/channels.h"
#include "reference/waldboost-reference.h"

#include <math.h>
#include <stdlib.h>

/* Rounds half to even in the default rounding mode, like OpenCV's cvRound(). */
static int
round_int (double value)
{
  return (int) lrint (value);
}

static int
ceil_div (int a, int b)
{
  return (a + b - 1) / b;
}

/* ---- requested object sizes ---- */

typedef struct {
  int width, height;
} Size;

static bool
is_too_large (const CuvWaldboostParams *params, Size box)
{
  return (params->max_width > 0 && box.width > params->max_width)
      || (params->max_height > 0 && box.height > params->max_height);
}

static bool
is_too_small (const CuvWaldboostParams *params, Size box)
{
  return box.width < params->min_width || box.height < params->min_height;
}

/* Returns the parameters with limits of object sizes in pixels of the enlarged
 * picture. */
static CuvWaldboostParams
enlarge_sizes (const CuvWaldboostParams *params)
{
  const double upscale = params->upscale == 0 ? 1 : params->upscale;
  CuvWaldboostParams enlarged = *params;
  int32_t *sizes[] = { &enlarged.min_width, &enlarged.min_height,
    &enlarged.max_width, &enlarged.max_height };

  for (int i = 0; i < 4; i++)
    *sizes[i] = round_int (fmin (*sizes[i] * upscale, INT32_MAX));
  return enlarged;
}

/* ---- the enlarged picture ---- */

static bool
is_enlarged (const CuvWaldboostPlan *plan)
{
  return plan->picture_width != plan->turn.width
      || plan->picture_height != plan->turn.height;
}

/* Makes the picture the first level. Returns the number of levels so far. */
static int
add_picture_level (const CuvWaldboostPlan *plan, CuvWaldboostLevel *levels)
{
  if (!is_enlarged (plan))
    return 0;
  levels[0] = (CuvWaldboostLevel){ .width = plan->picture_width,
    .height = plan->picture_height,
    .source = -1,
    .scale = 1,
    .step = 1 };
  return 1;
}

/* ---- as cv::CascadeClassifier ---- */

static Size
box_size (const CuvWaldboostModel *model, float scale)
{
  return (Size){ round_int (model->window_width * scale),
    round_int (model->window_height * scale) };
}

/* Writes the scales whose box fits into the frame; levels may be NULL. Returns
 * their number. */
static int
count_scales (const CuvWaldboostModel *model, double factor,
    const CuvWaldboostPlan *plan, CuvWaldboostLevel *levels)
{
  int n = 0;

  for (double scale = 1;; scale *= factor, n++) {
    double w = model->window_width * scale, h = model->window_height * scale;

    if (!(w < 1e9 && h < 1e9) || round_int (w) > plan->picture_width
        || round_int (h) > plan->picture_height)
      return n;
    if (levels != NULL)
      levels[n].scale = (float) scale;
  }
}

static int
nearest_to_minimum (const CuvWaldboostModel *model,
    const CuvWaldboostParams *params, const CuvWaldboostLevel *levels, int n)
{
  double best = INFINITY;
  int at = 0;

  for (int i = 0; i < n; i++) {
    Size box = box_size (model, levels[i].scale);
    double dx = (double) params->min_width - box.width;
    double dy = (double) params->min_height - box.height;

    if (dx * dx + dy * dy < best) {
      best = dx * dx + dy * dy;
      at = i;
    }
  }
  return at;
}

/* Keeps, in place, the scales whose object size was requested. Returns their
 * number. */
static int
choose_scales (const CuvWaldboostModel *model, const CuvWaldboostParams *params,
    CuvWaldboostLevel *levels, int n)
{
  int kept = 0, nearest = nearest_to_minimum (model, params, levels, n);
  float nearest_scale = n > 0 ? levels[nearest].scale : 0;

  for (int i = 0; i < n; i++) {
    Size box = box_size (model, levels[i].scale);

    if (is_too_large (params, box))
      break;
    if (!is_too_small (params, box))
      levels[kept++].scale = levels[i].scale;
  }
  if (kept == 0 && n > 0)
    levels[kept++].scale = nearest_scale;
  return kept;
}

/* Sets the window positions as OpenCV does, which splits each level into as
 * many stripes as the first level has groups of 32 window columns. Rounding can
 * leave one row of windows below the last stripe unvisited. */
static void
set_opencv_positions (
    const CuvWaldboostModel *model, CuvWaldboostLevel *level, int first_width)
{
  int across = level->width + 1 - model->window_width;
  int down = level->height + 1 - model->window_height;
  int n_stripes = ceil_div (first_width + 1 - model->window_width, 32);
  int rows, stripe;

  if (n_stripes < 1 || across < 1 || down < 1)
    return; /* no window fits */
  rows = ceil_div (down / level->step, n_stripes);
  stripe = (rows > 1 ? rows : 1) * level->step;
  if (model->arithmetic == CUV_SUM_STAGES
      && (int64_t) n_stripes * stripe < down)
    down = n_stripes * stripe;
  level->n_x = ceil_div (across, level->step);
  level->n_y = ceil_div (down, level->step);
}

static CuvWaldboostLevel
opencv_level (
    const CuvWaldboostPlan *plan, const CuvWaldboostModel *model, float scale)
{
  Size box = box_size (model, scale);

  return (CuvWaldboostLevel){ .width = round_int (
                                  (float) plan->picture_width / scale),
    .height = round_int ((float) plan->picture_height / scale),
    .source = is_enlarged (plan) - 1,
    .scale = scale,
    .step = scale >= 2 ? 1 : 2,
    .box_width = box.width,
    .box_height = box.height };
}

static CuvWaldboostLevel *
opencv_levels (CuvWaldboostPlan *plan, const CuvWaldboostModel *model,
    const CuvWaldboostParams *params)
{
  const double factor = params->scale_factor;
  int n = count_scales (model, factor, plan, NULL);
  CuvWaldboostLevel *all = malloc ((n + 2) * sizeof *all), *levels;

  if (all == NULL)
    return NULL;
  levels = all + add_picture_level (plan, all);
  count_scales (model, factor, plan, levels);
  n = choose_scales (model, params, levels, n);
  for (int i = 0; i < n; i++) {
    levels[i] = opencv_level (plan, model, levels[i].scale);
    set_opencv_positions (model, &levels[i], levels[0].width);
  }
  if (n > 0)
    plan->n_levels = (int) (levels - all) + n;
  return all;
}

/* ---- as WBDetector ---- */

#define MAX_WBD_LEVELS 32 /* including the enlarged picture */
#define WBD_STEP 4

static CuvWaldboostLevel
wbd_level (
    const CuvWaldboostPlan *plan, const CuvWaldboostModel *model, float factor)
{
  CuvWaldboostLevel level = { .width = round_int (
                                  plan->picture_width * (double) factor),
    .height = round_int (plan->picture_height * (double) factor),
    .source = is_enlarged (plan) - 1,
    .scale = 1 / factor,
    .factor = factor,
    .step = WBD_STEP,
    .box_width = (int) ((float) model->window_width / factor),
    .box_height = (int) ((float) model->window_height / factor) };

  /* like WBDetector, skip levels that are only as wide or high as the window */
  if (level.width > model->window_width
      && level.height > model->window_height) {
    level.n_x = ceil_div (level.width - model->window_width, WBD_STEP);
    level.n_y = ceil_div (level.height - model->window_height, WBD_STEP);
  }
  return level;
}

static CuvWaldboostLevel *
wbd_levels (CuvWaldboostPlan *plan, const CuvWaldboostModel *model,
    const CuvWaldboostParams *params)
{
  CuvWaldboostLevel *levels = malloc (MAX_WBD_LEVELS * sizeof *levels);
  int n, n_before;

  if (levels == NULL)
    return NULL;
  n = n_before = add_picture_level (plan, levels);
  for (float factor = 0.2f; factor < 1.2f; factor *= 1.1f) {
    CuvWaldboostLevel level = wbd_level (plan, model, factor);
    Size box = { level.box_width, level.box_height };

    if (level.n_x > 0 && !is_too_large (params, box)
        && !is_too_small (params, box))
      levels[n++] = level;
  }
  plan->n_levels = n > n_before ? n : 0;
  return levels;
}

/* ---- dense scan ---- */

/* Returns a level; its width is 0 if the window does not fit. */
static CuvWaldboostLevel
dense_level (
    const CuvWaldboostPlan *plan, const CuvWaldboostModel *model, double scale)
{
  const int step = model->channels != NULL ? model->channels->trees.shrink : 1;
  int width = (int) floor (plan->picture_width / scale + 1e-9);
  int height = (int) floor (plan->picture_height / scale + 1e-9);
  /* largest position of a window, minus the first position */
  int right = width - model->window_width - 2 * plan->first;
  int down = height - model->window_height - 2 * plan->first;

  if (right < 0 || down < 0)
    return (CuvWaldboostLevel){ 0 };
  return (CuvWaldboostLevel){ .width = width,
    .height = height,
    .scale = (float) scale,
    .step = step,
    .n_x = right / step + 1,
    .n_y = down / step + 1,
    .box_width =
        cuv_scale_to_frame (plan->box_width, width, plan->picture_width),
    .box_height =
        cuv_scale_to_frame (plan->box_height, height, plan->picture_height) };
}

/* Returns the levels. In each octave, levels are resized from its first one,
 * its base, and the base from the previous octave's base; the first base is the
 * picture. A base whose object size was not requested is kept without windows,
 * as a source. */
static CuvWaldboostLevel *
dense_levels (CuvWaldboostPlan *plan, const CuvWaldboostModel *model,
    const CuvWaldboostParams *params)
{
  int octaves = params->octaves > 0 ? params->octaves : 4;
  int per_octave =
      params->levels_per_octave > 0 ? params->levels_per_octave : 8;
  CuvWaldboostLevel *levels =
      malloc ((octaves * per_octave + 1) * sizeof *levels);
  int base, n;

  if (levels == NULL)
    return NULL;
  n = add_picture_level (plan, levels);
  base = n - 1;
  for (int i = 0; i < octaves * per_octave; i++) {
    int octave = i / per_octave, in_octave = i % per_octave;
    CuvWaldboostLevel level = dense_level (
        plan, model, exp2 (octave + (double) in_octave / per_octave));
    Size box = { level.box_width, level.box_height };
    bool is_base = octave > 0 && in_octave == 0;

    if (level.width == 0)
      break;
    if (is_too_large (params, box) || is_too_small (params, box))
      level.n_x = level.n_y = 0;
    level.source = base;
    if (is_base)
      base = n;
    if (level.n_x > 0)
      plan->n_levels = n + 1; /* no level is resized from later bases */
    if (level.n_x > 0 || is_base)
      levels[n++] = level;
  }
  return levels;
}

/* ---- taps ---- */

/* Makes taps from exact positions of output samples between input samples, in
 * 1/256, clamped to the first and last sample. */
static void
make_exact_taps (CuvTap *taps, int n_out, int n_in, double scale)
{
  for (int i = 0; i < n_out; i++) {
    double at = scale * (i + 0.5) - 0.5;
    double index = floor (at);

    if (index < 0)
      taps[i] = (CuvTap){ 0, 0 };
    else if (index >= n_in - 1)
      taps[i] = (CuvTap){ n_in - 1, 0 };
    else
      taps[i] = (CuvTap){ (int) index, round_int ((at - index) * 256) };
  }
}

/* Makes the taps of dense scans, computed in 1/65536 and truncated to 1/256. */
static void
make_dense_taps (CuvTap *taps, int n_out, int n_in)
{
  int64_t step = (((int64_t) n_in << 16) + n_out / 2) / n_out;
  int64_t last = (int64_t) (n_in - 1) << 16;

  for (int i = 0; i < n_out; i++) {
    int64_t at = i * step + (step >> 1) - 32768;

    at = at < 0 ? 0 : at > last ? last : at;
    taps[i] = (CuvTap){ (int32_t) (at >> 16), (int32_t) (at >> 8 & 255) };
  }
}

/* Makes taps that compute means of pairs; an odd last sample is dropped. */
static void
make_half_taps (CuvTap *taps, int n_out)
{
  for (int i = 0; i < n_out; i++)
    taps[i] = (CuvTap){ 2 * i, 128 };
}

static void
make_taps (const CuvWaldboostPlan *plan, const CuvWaldboostLevel *level,
    CuvTap *taps, int n_out, int n_in)
{
  /* OpenCV does not resize if the size is the same, whatever the factor */
  bool copy = level->width == plan->picture_width
      && level->height == plan->picture_height;
  int exponent;

  if (plan->scan == CUV_SCAN_OPENCV
      || (level->source < 0 && is_enlarged (plan)))
    make_exact_taps (taps, n_out, n_in, (double) n_in / n_out);
  else if (plan->scan == CUV_SCAN_WBD)
    make_exact_taps (taps, n_out, n_in, copy ? 1 : 1 / (double) level->factor);
  else if (level->scale >= 2 && frexpf (level->scale, &exponent) == 0.5f)
    make_half_taps (taps, n_out); /* the level is a base */
  else
    make_dense_taps (taps, n_out, n_in);
}

static bool
add_taps (CuvWaldboostPlan *plan, CuvWaldboostLevel *levels)
{
  CuvTap *taps;

  for (int i = 0; i < plan->n_levels; i++) {
    levels[i].first_x_tap = plan->n_taps;
    levels[i].first_y_tap = plan->n_taps + levels[i].width;
    plan->n_taps += levels[i].width + levels[i].height;
  }
  plan->taps = taps = malloc ((plan->n_taps + 1) * sizeof *taps);
  if (taps == NULL)
    return false;
  for (int i = 0; i < plan->n_levels; i++) {
    const CuvWaldboostLevel *level = &levels[i];
    Size source = { plan->turn.width, plan->turn.height };

    if (level->source >= 0)
      source =
          (Size){ levels[level->source].width, levels[level->source].height };
    make_taps (
        plan, level, taps + level->first_x_tap, level->width, source.width);
    make_taps (
        plan, level, taps + level->first_y_tap, level->height, source.height);
  }
  return true;
}

bool
cuv_pyramid_fill (CuvWaldboostPlan *plan, const CuvWaldboostModel *model,
    const CuvWaldboostParams *params)
{
  CuvWaldboostParams enlarged = enlarge_sizes (params);
  CuvWaldboostLevel *levels = plan->scan == CUV_SCAN_OPENCV
      ? opencv_levels (plan, model, &enlarged)
      : plan->scan == CUV_SCAN_WBD ? wbd_levels (plan, model, &enlarged)
                                   : dense_levels (plan, model, &enlarged);

  plan->levels = levels;
  return levels != NULL && add_taps (plan, levels)
      && cuv_turn_add_ranges (plan, model, levels);
}
