/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The levels of a plan against their definitions. OpenCV's scan is compared
 * with OpenCV itself in tests/models/waldboost. */
#include "waldboost-versions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  int width, height, n_x, n_y, box_width, box_height;
  int base_width, base_height; /* of the picture that is resized */
} Expected;

#define MAX_EXPECTED 1024

static bool
is_wanted (const CuvWaldboostParams *params, const Expected *level)
{
  return level->n_x > 0 && level->n_y > 0
      && level->box_width >= params->min_width
      && level->box_height >= params->min_height
      && (params->max_width == 0 || level->box_width <= params->max_width)
      && (params->max_height == 0 || level->box_height <= params->max_height);
}

static int
expect_dense (const CuvWaldboostModel *model, const CuvWaldboostParams *params,
    int width, int height, Expected *levels)
{
  int octaves = params->octaves ? params->octaves : 4;
  int per_octave = params->levels_per_octave ? params->levels_per_octave : 8;
  int w = model->window_width, h = model->window_height, n = 0;

  for (int o = 0; o < octaves; o++) {
    for (int l = 0; l < per_octave; l++) {
      double scale = pow (2, o + l / (double) per_octave);
      Expected level = { .width = (int) (width / scale + 1e-9),
        .height = (int) (height / scale + 1e-9) };
      int base = l == 0 && o > 0 ? o - 1 : o; /* octave of that picture */

      if (level.width < w || level.height < h)
        continue;
      level.n_x = level.width - w + 1;
      level.n_y = level.height - h + 1;
      level.box_width = (int) (w * (double) width / level.width + 0.5);
      level.box_height = (int) (h * (double) height / level.height + 0.5);
      level.base_width = width >> base;
      level.base_height = height >> base;
      if (is_wanted (params, &level))
        levels[n++] = level;
    }
  }
  return n;
}

static int
expect_wbd (const CuvWaldboostModel *model, const CuvWaldboostParams *params,
    int width, int height, Expected *levels)
{
  int w = model->window_width, h = model->window_height, n = 0;

  for (float s = 0.2f; s < 1.2f; s *= 1.1f) {
    Expected level = { .width = (int) rint (width * (double) s),
      .height = (int) rint (height * (double) s),
      .box_width = (int) (w / s),
      .box_height = (int) (h / s),
      .base_width = width,
      .base_height = height };

    for (int r = 0; r + h < level.height; r += 4)
      level.n_y++;
    for (int c = 0; c + w < level.width; c += 4)
      level.n_x++;
    if (is_wanted (params, &level))
      levels[n++] = level;
  }
  return n;
}

/* ---- one plan ---- */

static bool
taps_are_inside (const CuvTap *taps, int n, int n_in)
{
  for (int i = 0; i < n; i++) {
    if (taps[i].index < 0 || taps[i].weight < 0 || taps[i].weight > 256
        || taps[i].index + (taps[i].weight > 0) >= n_in)
      return false;
  }
  return true;
}

static void
check_level (const CuvWaldboostPlan *plan, const CuvWaldboostLevel *level,
    const Expected *expected)
{
  int i = (int) (level - plan->levels);
  bool whole = level->source < 0;
  const CuvWaldboostLevel *source = plan->levels + level->source;
  int width = whole ? plan->turn.width : source->width;
  int height = whole ? plan->turn.height : source->height;

  CUV_CHECK (level->source < i, ": level %d from %d", i, level->source);
  CUV_CHECK (
      taps_are_inside (plan->taps + level->first_x_tap, level->width, width));
  CUV_CHECK (
      taps_are_inside (plan->taps + level->first_y_tap, level->height, height));
  if (expected == NULL)
    return;
  CUV_CHECK (level->width == expected->width
          && level->height == expected->height && level->n_x == expected->n_x
          && level->n_y == expected->n_y
          && level->box_width == expected->box_width
          && level->box_height == expected->box_height,
      ": level %d: %d x %d, windows %d x %d, box %d x %d; expected %d x %d, "
      "%d x %d, %d x %d",
      i, level->width, level->height, level->n_x, level->n_y, level->box_width,
      level->box_height, expected->width, expected->height, expected->n_x,
      expected->n_y, expected->box_width, expected->box_height);
  CUV_CHECK (width == expected->base_width && height == expected->base_height,
      ": level %d from %d x %d, expected %d x %d", i, width, height,
      expected->base_width, expected->base_height);
}

/* Compares a position in the frame with its definition in floating point. */
static void
check_boxes (const CuvWaldboostPlan *plan, const CuvWaldboostLevel *level)
{
  CuvWaldboostHit hit = { .level = (int32_t) (level - plan->levels),
    .x = random_between (0, level->width - 1),
    .y = random_between (0, level->height - 1) };
  CuvWaldboostBox box = cuv_waldboost_box (plan, &hit);
  int x =
      (int) floor (hit.x * (double) plan->picture_width / level->width + 0.5);
  int y =
      (int) floor (hit.y * (double) plan->picture_height / level->height + 0.5);

  if (plan->scan == CUV_SCAN_WBD) {
    float s = 0.2f;

    while (fabsf (s * level->scale - 1) > 0.01f)
      s *= 1.1f;
    x = (int) (hit.x / s);
    y = (int) (hit.y / s);
  }
  CUV_CHECK (box.x == x && box.y == y && box.width == level->box_width
          && box.height == level->box_height && box.neighbours == 1,
      ": %d, %d at %d, %d; expected %d, %d", hit.x, hit.y, box.x, box.y, x, y);
}

/* Converts the size of the frame and the limits of objects to pixels of the
 * enlarged picture. */
static void
enlarge (CuvWaldboostParams *params, int *width, int *height)
{
  double upscale = params->upscale > 0 ? params->upscale : 1;
  int *numbers[] = { width, height, &params->min_width, &params->min_height,
    &params->max_width, &params->max_height };

  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    *numbers[i] = (int) rint (*numbers[i] * upscale);
}

static void
check_plan (const CuvWaldboostModel *model, const CuvWaldboostParams *params,
    int width, int height)
{
  CuvWaldboostPlan *plan =
      cuv_waldboost_plan_new (model, params, width, height);
  Expected expected[MAX_EXPECTED];
  CuvWaldboostParams of_picture = *params;
  int n, found = 0;

  enlarge (&of_picture, &width, &height);
  n = params->scan == CUV_SCAN_WBD
      ? expect_wbd (model, &of_picture, width, height, expected)
      : expect_dense (model, &of_picture, width, height, expected);
  cuv_check_case ("plan of scan %d for %d x %d, window %d x %d", params->scan,
      width, height, model->window_width, model->window_height);
  CUV_CHECK (plan->picture_width == width && plan->picture_height == height);
  for (int i = 0; i < plan->n_levels; i++) {
    const CuvWaldboostLevel *level = &plan->levels[i];

    check_level (
        plan, level, level->n_x > 0 && found < n ? &expected[found] : NULL);
    if (level->n_x > 0)
      check_boxes (plan, level);
    found += level->n_x > 0;
  }
  CUV_CHECK (found == n, ": %d and %d", found, n);
  CUV_CHECK (plan->n_levels == 0 || plan->levels[plan->n_levels - 1].n_x > 0);
  CUV_CHECK (plan->scan == params->scan && !plan->skip);
  cuv_waldboost_plan_free (plan);
}

static void
check_random_plans (void)
{
  for (int i = 0; i < 200; i++) {
    CuvWaldboostModel model = { .arithmetic = CUV_SUM_FIXED,
      .window_width = random_between (3, 40),
      .window_height = random_between (3, 40),
      .n_weak = 10 };
    CuvWaldboostParams params = {
      .scan = i % 2 ? CUV_SCAN_WBD : CUV_SCAN_DENSE,
      .octaves = random_between (0, 7),
      .levels_per_octave = random_between (0, 12),
    };

    if (i % 3 == 0)
      params.upscale = 1 + random_between (0, 50) / 25.;
    if (i % 4 >= 2) {
      params.min_width = random_between (0, 70);
      params.min_height = random_between (0, 70);
      params.max_width = random_between (0, 300);
      params.max_height = random_between (0, 300);
    }
    check_plan (
        &model, &params, random_between (0, 700), random_between (0, 700));
  }
}

/* Checks the default pyramid for one frame size, whose sizes are known. */
static void
check_1080p (void)
{
  CuvWaldboostModel model = { .arithmetic = CUV_SUM_FIXED,
    .scan = CUV_SCAN_DENSE,
    .window_width = 26,
    .window_height = 26,
    .n_weak = 1024 };
  CuvWaldboostParams params = { .scan = CUV_SCAN_AUTO };
  CuvWaldboostPlan *plan = cuv_waldboost_plan_new (&model, &params, 1920, 1080);
  long pixels = 0, windows = 0;

  cuv_check_case ("the pyramid of 1920 x 1080");
  for (int i = 0; i < plan->n_levels; i++) {
    pixels += (long) plan->levels[i].width * plan->levels[i].height;
    windows += (long) plan->levels[i].n_x * plan->levels[i].n_y;
  }
  CUV_CHECK (plan->n_levels == 32, ": %d", plan->n_levels);
  CUV_CHECK (pixels == 12968927, ": %ld", pixels);
  CUV_CHECK (windows == 12142402, ": %ld", windows);
  cuv_waldboost_plan_free (plan);
}

/* ---- segments ---- */

static void
check_segments (int n_weak, int n, const int32_t *ends, int n_expected,
    const int32_t *expected)
{
  CuvWaldboostModel model = { .arithmetic = CUV_SUM_FLOAT,
    .scan = CUV_SCAN_DENSE,
    .window_width = 3,
    .window_height = 3,
    .n_weak = n_weak };
  CuvWaldboostParams params = { .n_segments = n };
  CuvWaldboostPlan *plan;
  bool equal;

  if (n > 0)
    memcpy (params.segment_end, ends, n * sizeof *ends);
  plan = cuv_waldboost_plan_new (&model, &params, 10, 10);
  cuv_check_case ("%d segments from %d of %d", n, n > 0 ? ends[0] : 0, n_weak);
  if (expected == NULL) {
    CUV_CHECK (plan == NULL);
    return;
  }
  equal = plan->n_segments == n_expected;
  for (int i = 0; equal && i < n_expected; i++)
    equal = plan->segment_end[i] == expected[i];
  CUV_CHECK (equal);
  cuv_waldboost_plan_free (plan);
}

static void
check_segment_lists (void)
{
#define LIST(...)                                                              \
  sizeof (int32_t[]){ __VA_ARGS__ } / 4, (int32_t[]){ __VA_ARGS__ }
  check_segments (2048, 0, NULL, LIST (1, 8, 64, 256, 512, 2048));
  check_segments (512, 0, NULL, LIST (1, 8, 64, 256, 512));
  check_segments (9, 0, NULL, LIST (1, 8, 9));
  check_segments (1, 0, NULL, LIST (1));
  check_segments (50, LIST (40, 7, 7, 90, 3), LIST (3, 7, 40, 50));
  check_segments (50, LIST (50), LIST (50));
  check_segments (50, LIST (60, 70), LIST (50));
  check_segments (50, LIST (1, 0, 8), 0, NULL);
  check_segments (50, LIST (-1), 0, NULL);
#undef LIST
}

/* ---- invalid parameters ---- */

static void
check_refused (const char *what, CuvWaldboostParams params, bool refused)
{
  CuvWaldboostModel model = { .arithmetic = CUV_SUM_FLOAT,
    .scan = CUV_SCAN_DENSE,
    .window_width = 3,
    .window_height = 3,
    .n_weak = 5 };
  CuvWaldboostPlan *plan = cuv_waldboost_plan_new (&model, &params, 10, 10);

  cuv_check_case ("%s", what);
  CUV_CHECK ((plan == NULL) == refused);
  cuv_waldboost_plan_free (plan);
}

static void
check_invalid_params (void)
{
#define CASE(refused, ...)                                                     \
  check_refused (#__VA_ARGS__, (CuvWaldboostParams){ __VA_ARGS__ }, refused)
  CASE (false, .octaves = 16, .levels_per_octave = 64);
  CASE (true, .octaves = 17);
  CASE (true, .octaves = -1);
  CASE (true, .levels_per_octave = 65);
  CASE (true, .levels_per_octave = -1);
  CASE (true, .block_size = 7);
  CASE (false, .block_size = 8);
  CASE (true, .n_segments = CUV_WALDBOOST_MAX_SEGMENTS + 1);
  CASE (true, .n_segments = -1);
  CASE (true, .scan = CUV_SCAN_OPENCV);
  CASE (true, .scan = CUV_SCAN_OPENCV, .scale_factor = 1);
  CASE (true, .scan = CUV_SCAN_OPENCV, .scale_factor = NAN);
  CASE (false, .scan = CUV_SCAN_OPENCV, .scale_factor = 1.01);
  CASE (false, .scan = CUV_SCAN_WBD);
  CASE (false, .upscale = 8, .rotation = -180);
  CASE (true, .upscale = 0.9);
  CASE (true, .upscale = 8.1);
  CASE (true, .upscale = NAN);
  CASE (true, .rotation = 181);
  CASE (true, .rotation = -181);
  CASE (true, .scan = CUV_SCAN_DENSE + 1);
#undef CASE
}

static void
check_size (double upscale, int rotation, int width, int height, bool fits)
{
  CuvWaldboostParams params = { .upscale = upscale, .rotation = rotation };

  cuv_check_case (
      "%d x %d, upscale %g, rotation %d", width, height, upscale, rotation);
  CUV_CHECK (cuv_waldboost_picture_size (&params, &width, &height) == fits);
}

static void
check_sizes (void)
{
  check_size (1, 0, 100000, 3, true);
  check_size (1, 90, 100000, 3, false);
  check_size (2, 0, 3840, 2160, true);
  check_size (3, 0, 3840, 2160, false);
  check_size (2, 0, 8192, 2048, true);
  check_size (2, 0, 8193, 2048, false);
  check_size (2, 0, 16384, 1, false);
  check_size (1, 20, 7680, 4320, true);
  check_size (1, 45, 32767, 20, false);
}

/* ---- cascades ---- */

static void
check_cascade (void)
{
  static const int32_t stage_first[] = { 0, 3, 5, 9 };
  CuvWaldboostModel model = { .arithmetic = CUV_SUM_STAGES,
    .scan = CUV_SCAN_OPENCV,
    .window_width = 5,
    .window_height = 5,
    .n_weak = 9,
    .n_stages = 3,
    .stage_first = stage_first };

  for (int scan = CUV_SCAN_AUTO; scan <= CUV_SCAN_DENSE; scan++) {
    CuvWaldboostParams params = {
      .scan = scan, .scale_factor = 1.1, .n_segments = 1, .segment_end = { 4 }
    };
    CuvWaldboostPlan *plan = cuv_waldboost_plan_new (&model, &params, 90, 70);

    cuv_check_case ("a cascade, scan %d", scan);
    CUV_CHECK (plan->n_segments == 3
        && memcmp (plan->segment_end, stage_first + 1, 12) == 0);
    CUV_CHECK (plan->skip == (scan <= CUV_SCAN_OPENCV));
    CUV_CHECK (plan->levels[0].step
        == (scan == CUV_SCAN_DENSE     ? 1
                : scan == CUV_SCAN_WBD ? 4
                                       : 2));
    cuv_waldboost_plan_free (plan);
  }
}

CUV_CHECKS (check_plans)
{
  check_random_plans ();
  check_1080p ();
  check_segment_lists ();
  check_invalid_params ();
  check_sizes ();
  check_cascade ();
}
