/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The levels of a frame on which windows are visited, and how they are made. */
#include "waldboost-scan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rounds half to even, in every rounding mode that a program leaves set. */
static int
round_int (double value)
{
  return (int) lrint (value);
}

/* ---- which levels ---- */

typedef struct {
  int width, height;
} Size;

static Size
box_size (const CuvWaldboostModel *model, float scale)
{
  return (Size){ round_int (model->window_width * scale),
    round_int (model->window_height * scale) };
}

/* All scales whose box fits into the frame. */
static int
count_scales (const CuvWaldboostModel *model, double factor, int width,
    int height, float *scales)
{
  int n = 0;

  for (double scale = 1;; scale *= factor, n++) {
    double w = model->window_width * scale, h = model->window_height * scale;

    if (!(w < 1e9 && h < 1e9) || round_int (w) > width
        || round_int (h) > height)
      return n;
    if (scales != NULL)
      scales[n] = (float) scale;
  }
}

static bool
larger_than_wanted (const CuvWaldboostParams *params, Size box)
{
  return (params->max_width > 0 && box.width > params->max_width)
      || (params->max_height > 0 && box.height > params->max_height);
}

static bool
smaller_than_wanted (const CuvWaldboostParams *params, Size box)
{
  return box.width < params->min_width || box.height < params->min_height;
}

static int
nearest_to_minimum (const CuvWaldboostModel *model,
    const CuvWaldboostParams *params, const float *scales, int n)
{
  double best = INFINITY;
  int at = 0;

  for (int i = 0; i < n; i++) {
    Size box = box_size (model, scales[i]);
    double dx = (double) params->min_width - box.width;
    double dy = (double) params->min_height - box.height;

    if (dx * dx + dy * dy < best) {
      best = dx * dx + dy * dy;
      at = i;
    }
  }
  return at;
}

/* Keeps the scales that are wanted, in place. */
static int
choose_scales (const CuvWaldboostModel *model, const CuvWaldboostParams *params,
    float *scales, int n)
{
  int kept = 0, nearest = nearest_to_minimum (model, params, scales, n);
  float nearest_scale = n > 0 ? scales[nearest] : 0;

  for (int i = 0; i < n; i++) {
    Size box = box_size (model, scales[i]);

    if (larger_than_wanted (params, box))
      break;
    if (!smaller_than_wanted (params, box))
      scales[kept++] = scales[i];
  }
  if (kept == 0 && n > 0)
    scales[kept++] = nearest_scale;
  return kept;
}

/* ---- the plan ---- */

/* Where output samples of a linear resize lie between input samples: 1/256
 * steps, and nothing beyond the outer ones. */
static void
make_taps (CuvTap *taps, int n_out, int n_in)
{
  double scale = (double) n_in / n_out;

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

static int
ceil_div (int a, int b)
{
  return (a + b - 1) / b;
}

/* OpenCV cuts each level into as many stripes as the first level has 32 columns
 * of windows. Rows beyond the last stripe are not visited, on odd heights one
 * row at most; equality with it needs the same. */
static void
set_positions (
    const CuvWaldboostModel *model, CuvWaldboostLevel *level, int first_width)
{
  int across = level->width + 1 - model->window_width;
  int down = level->height + 1 - model->window_height;
  int n_stripes = ceil_div (first_width + 1 - model->window_width, 32);
  int rows, stripe;

  if (n_stripes < 1 || across < 1 || down < 1)
    return; /* no windows; a level that a box fits has some */
  rows = ceil_div (down / level->step, n_stripes);
  stripe = (rows > 1 ? rows : 1) * level->step;
  if ((int64_t) n_stripes * stripe < down)
    down = n_stripes * stripe;
  level->n_x = ceil_div (across, level->step);
  level->n_y = ceil_div (down, level->step);
}

static void
set_level (CuvWaldboostLevel *level, const CuvWaldboostModel *model,
    float scale, int width, int height)
{
  Size box = box_size (model, scale);

  level->width = round_int ((float) width / scale);
  level->height = round_int ((float) height / scale);
  level->source = -1;
  level->scale = scale;
  level->step = scale >= 2 ? 1 : 2;
  level->box_width = box.width;
  level->box_height = box.height;
}

static bool
set_levels (CuvWaldboostPlan *plan, const CuvWaldboostModel *model,
    const float *scales, int n)
{
  CuvWaldboostLevel *levels = calloc (n, sizeof *levels);
  CuvTap *taps;

  plan->levels = levels;
  if (levels == NULL)
    return false;
  for (int i = 0; i < n; i++) {
    set_level (&levels[i], model, scales[i], plan->width, plan->height);
    set_positions (model, &levels[i], levels[0].width);
    levels[i].first_x_tap = plan->n_taps;
    levels[i].first_y_tap = plan->n_taps + levels[i].width;
    plan->n_taps += levels[i].width + levels[i].height;
  }
  plan->n_levels = n;
  plan->taps = taps = malloc (plan->n_taps * sizeof *taps);
  if (taps == NULL)
    return false;
  for (int i = 0; i < n; i++) {
    make_taps (taps + levels[i].first_x_tap, levels[i].width, plan->width);
    make_taps (taps + levels[i].first_y_tap, levels[i].height, plan->height);
  }
  return true;
}

/* ---- entry ---- */

CuvWaldboostPlan *
cuv_waldboost_plan_new (const CuvWaldboostModel *model,
    const CuvWaldboostParams *params, int width, int height)
{
  CuvWaldboostPlan *plan;
  float *scales;
  int n;
  bool ok = true;

  if (!(params->scale_factor >= CUV_WALDBOOST_MIN_SCALE_FACTOR) || width < 0
      || height < 0)
    return NULL;
  n = count_scales (model, params->scale_factor, width, height, NULL);
  plan = calloc (1, sizeof *plan);
  scales = malloc ((n + 1) * sizeof *scales);
  if (plan != NULL && scales != NULL) {
    plan->scan = CUV_SCAN_OPENCV;
    plan->skip = 1;
    plan->width = width;
    plan->height = height;
    count_scales (model, params->scale_factor, width, height, scales);
    n = choose_scales (model, params, scales, n);
    ok = n == 0 || set_levels (plan, model, scales, n);
  }
  if (scales == NULL || !ok) {
    cuv_waldboost_plan_free (plan);
    plan = NULL;
  }
  free (scales);
  return plan;
}

void
cuv_waldboost_plan_free (CuvWaldboostPlan *plan)
{
  if (plan == NULL)
    return;
  free ((void *) plan->levels);
  free ((void *) plan->taps);
  free (plan);
}

/* ---- making a level ---- */

static int
sample (const uint8_t *in, CuvTap tap)
{
  int value = (256 - tap.weight) * in[tap.index];

  return tap.weight > 0 ? value + tap.weight * in[tap.index + 1] : value;
}

void
cuv_resize_row (uint8_t *out, int width, const uint8_t *top,
    const uint8_t *bottom, int n_in, int bottom_weight, const CuvTap *taps,
    uint16_t *column)
{
  for (int x = 0; x < width; x++) {
    int value = (256 - bottom_weight) * sample (top, taps[x])
        + bottom_weight * sample (bottom, taps[x]);

    out[x] = (uint8_t) ((value + 32768) >> 16);
  }
}

void
cuv_sum_row (void *out, const void *above, const uint8_t *grey, int width,
    int step, ptrdiff_t stride)
{
  uint32_t *sums = out, total = 0;
  const uint32_t *sums_above = above;

  sums[0] = 0;
  for (int x = 0; x < width; x++) {
    total += grey[x];
    sums[x + 1] = sums_above[x + 1] + total;
  }
}
