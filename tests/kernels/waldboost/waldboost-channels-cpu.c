/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The fast scan of trees on channels against the definition: rows, blocks and
 * whole pictures, in every version of the inner loops. Also its speed. */
#include "config.h"
#include "waldboost-channels-inputs.h"
#include "channels/cpu/channels-cpu-private.h"
#include "channels/detect.h"
#include "cuvcheck.h"
#include "model/model.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_HITS = CUV_WALDBOOST_MAX_HITS, MAX_SEGMENTS = 8 };

/* ---- numbers ---- */

/* Checks rows with every square of a gradient's length, and with every sum of
 * its surroundings. */
static void
check_numbers (const CuvChannelsDsp *dsp)
{
  enum { N = 256, PADDED = N + 2 * CUV_CHANNELS_PADDING };
  static uint8_t rows[3][PADDED], bins[PADDED], out[PADDED];
  static uint16_t magnitudes[PADDED], sums[PADDED];
  uint8_t *above = rows[0] + CUV_CHANNELS_PADDING;
  uint8_t *at = rows[1] + CUV_CHANNELS_PADDING;
  uint8_t *below = rows[2] + CUV_CHANNELS_PADDING;
  const CuvChannelsRows same = { above, at, below };
  const CuvChannelsRows planes[] = { same, same, same };
  int wrong = 0;

  cuv_check_case ("channels: numbers");
  /* dx and dy of each sign and magnitude */
  for (int step = -255; step <= 255; step++) {
    const int a = step > 0 ? 0 : -step, b = step > 0 ? step : 0;

    for (int x = -1; x <= N; x++)
      at[x] = (uint8_t) (x & 2 ? a : b);
    for (int x = 0; x < N; x++) {
      above[x] = (uint8_t) (x & 4 ? x : 0);
      below[x] = (uint8_t) (x & 4 ? 0 : x);
    }
    dsp->gradient_row (planes, N, magnitudes, bins);
    for (int x = 0; x < N; x++) {
      const CuvGradient gradient = { at[x + 1] - at[x - 1],
        below[x] - above[x] };

      wrong += magnitudes[x]
              != cuv_channels_root (
                  gradient.dx * gradient.dx + gradient.dy * gradient.dy)
          || bins[x] != cuv_channels_direction (gradient);
    }
  }
  CUV_CHECK (wrong == 0, ": %d gradients differ", wrong);
  /* each sum of 11 equal columns, with small and large magnitudes */
  wrong = 0;
  for (int column = 0; column <= 11 * 360; column++) {
    for (int x = 0; x < PADDED; x++) {
      sums[x] = (uint16_t) column;
      magnitudes[x] = (uint16_t) (x < 361 ? x : 360);
    }
    dsp->normalise_row (magnitudes, sums + CUV_CHANNELS_PADDING, N, out);
    for (int x = 0; x < N; x++) {
      const int relative =
          128 * magnitudes[x] / (11 * column / 121 + CUV_CHANNELS_FLOOR);

      wrong += out[x] != (relative < 255 ? relative : 255);
    }
  }
  CUV_CHECK (wrong == 0, ": %d magnitudes differ", wrong);
}

/* ---- pictures ---- */

typedef struct {
  uint8_t *memory;
  CuvChannelsPicture picture;
} Picture;

/* Makes a picture of patches of colour with noise, or of noise alone. */
static Picture
picture_new (int width, int height, bool grey)
{
  const size_t n = (size_t) width * (size_t) height;
  const bool noise = cuv_check_below (4) == 0;
  uint32_t patch[64];
  Picture self = { malloc (3 * n), { .width = width, .height = height } };

  for (int i = 0; i < 64; i++)
    patch[i] = cuv_check_random ();
  for (size_t i = 0; i < n; i++) {
    const uint32_t color =
        patch[i % (size_t) width / 13 % 8 + i / (size_t) width / 11 % 8 * 8];

    for (int k = 0; k < 3; k++)
      self.memory[(size_t) k * n + i] =
          (uint8_t) (noise ? cuv_check_below (256)
                           : (color >> (8 * k) & 240) + cuv_check_below (16));
  }
  for (int k = 0; k < 3; k++)
    self.picture.plane[k] = self.memory + (grey ? 0 : (size_t) k * n);
  return self;
}

/* ---- whole pictures ---- */

/* What a model must find. */
typedef struct {
  CuvHitList list;
  uint64_t survivors[MAX_SEGMENTS];
} Expected;

static void
expected_init (
    Expected *self, const CuvWaldboostSearch *search, const Picture *picture)
{
  *self =
      (Expected){ .list = { .hits = malloc (MAX_HITS * sizeof *self->list.hits),
                      .capacity = MAX_HITS,
                      .survivors = self->survivors } };
  CUV_CHECK (cuv_channels_scan_plan (
      search->model->channels, search->plan, &picture->picture, &self->list));
}

/* Makes the plans of the models for a picture. */
static void
make_searches (CuvWaldboostSearch *searches,
    const CuvWaldboostModel *const *models, int n, const Picture *picture,
    const CuvWaldboostParams *params)
{
  for (int i = 0; i < n; i++)
    searches[i] = (CuvWaldboostSearch){ models[i],
      cuv_waldboost_plan_new (
          models[i], params, picture->picture.width, picture->picture.height) };
}

static void
free_plans (CuvWaldboostSearch *searches, int n)
{
  for (int i = 0; i < n; i++)
    cuv_waldboost_plan_free ((CuvWaldboostPlan *) searches[i].plan);
}

/* Scans with n models at once and checks their results. Returns the number of
 * hits that did not fit. */
static uint64_t
check_scans (CuvChannelsCpu **cpu, const CuvWaldboostModel *const *models,
    int n, const Picture *picture, const CuvWaldboostParams *params)
{
  CuvWaldboostSearch searches[CUV_WALDBOOST_MAX_MODELS];
  CuvWaldboostResult found[CUV_WALDBOOST_MAX_MODELS];
  Expected expected[CUV_WALDBOOST_MAX_MODELS];
  uint64_t lost = 0;

  make_searches (searches, models, n, picture, params);
  for (int i = 0; i < n; i++)
    expected_init (&expected[i], &searches[i], picture);
  if (*cpu == NULL)
    *cpu = cuv_channels_cpu_new (searches, n);
  else
    CUV_CHECK (cuv_channels_cpu_set_plans (*cpu, searches));
  for (int threads = 1; threads <= 4; threads += 3) {
    cuv_channels_cpu_run (*cpu, &picture->picture, threads, found);
    for (int i = 0; i < n; i++)
      cuv_channels_check_same (searches[i].plan, &expected[i].list, &found[i]);
  }
  for (int i = 0; i < n; i++) {
    lost += expected[i].list.lost;
    free (expected[i].list.hits);
  }
  free_plans (searches, n);
  return lost;
}

static uint64_t
check_scan (CuvChannelsCpu **cpu, const CuvWaldboostModel *model,
    const Picture *picture, const CuvWaldboostParams *params)
{
  return check_scans (cpu, &model, 1, picture, params);
}

/* Checks frames of several sizes, one after another, with the same model. */
static void
check_pictures (int shrink, int depth, int overhang)
{
  const CuvWaldboostModel *model = cuv_channels_model_random (shrink, depth,
      overhang, cuv_channels_between (1, 90), (int) cuv_check_below (3) * 30);
  CuvChannelsCpu *cpu = NULL;

  for (int i = 0; i < 3; i++) {
    const int width = cuv_channels_between (1, i == 2 ? 330 : 150);
    const int height = cuv_channels_between (1, i == 1 ? 330 : 150);
    const bool grey = cuv_check_below (4) == 0;
    const double upscale[] = { 1, 1, 1.7 };
    const CuvWaldboostParams params = { .upscale =
                                            upscale[cuv_check_below (3)] };
    Picture picture = picture_new (width, height, grey);

    cuv_check_case ("channels: %d x %d, %s, shrink %d, depth %d, overhang %d",
        width, height, grey ? "grey" : "colour", shrink, depth, overhang);
    check_scan (&cpu, model, &picture, &params);
    free (picture.memory);
  }
  cuv_channels_cpu_free (cpu);
  cuv_model_unref (model);
}

/* Checks the largest window, overhang and number of trees. */
static void
check_largest_model (int shrink)
{
  const int side = CUV_CHANNELS_MAX_SIDE / shrink;
  const CuvWaldboostModel *model = cuv_channels_model_random (
      shrink, CUV_CHANNELS_MAX_DEPTH, side / 4, CUV_CHANNELS_MAX_TREES, 30);
  static const int sizes[][2] = { { 140, 131 }, { 128, 128 }, { 127, 300 },
    { 1, 1 }, { 301, 129 } };
  const CuvWaldboostParams params = { .upscale = 1 };
  CuvChannelsCpu *cpu = NULL;

  CUV_CHECK (model->window_width == CUV_CHANNELS_MAX_SIDE);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    Picture picture = picture_new (sizes[i][0], sizes[i][1], false);

    cuv_check_case ("channels: largest model, shrink %d, %d x %d", shrink,
        sizes[i][0], sizes[i][1]);
    check_scan (&cpu, model, &picture, &params);
    free (picture.memory);
  }
  cuv_channels_cpu_free (cpu);
  cuv_model_unref (model);
}

/* Checks that the first hits are kept if more windows are accepted than a
 * result can hold, with one thread and with several. */
static void
check_overflow (void)
{
  const CuvWaldboostModel *model = cuv_channels_model_random (2, 1, 0, 1, 0);
  const CuvWaldboostParams params = {
    .scan = CUV_SCAN_DENSE, .octaves = 1, .levels_per_octave = 2
  };
  Picture picture = picture_new (901, 600, false);
  CuvChannelsCpu *cpu = NULL;

  cuv_check_case ("channels: more hits than fit");
  ((CuvChannelsModel *) model->channels)->trees.final_threshold = -(1 << 20);
  CUV_CHECK (check_scan (&cpu, model, &picture, &params) > 0);
  free (picture.memory);
  cuv_channels_cpu_free (cpu);
  cuv_model_unref (model);
}

/* Checks that a frame is refused, not scanned with wrong offsets, if its
 * channels need more bytes than 32 bits can count. */
static void
check_too_large (void)
{
  enum { SIDE = 30000 };
  const CuvWaldboostModel *model = cuv_channels_model_random (2, 1, 0, 1, 0);
  const CuvWaldboostParams params = {
    .scan = CUV_SCAN_DENSE, .octaves = 1, .levels_per_octave = 1
  };
  CuvWaldboostPlan *plan = cuv_waldboost_plan_new (model, &params, SIDE, SIDE);
  CuvChannelsCpu *cpu =
      cuv_channels_cpu_new (&(CuvWaldboostSearch){ model, plan }, 1);

  cuv_check_case ("channels: %d x %d", SIDE, SIDE);
  CUV_CHECK (cpu == NULL);
  cuv_channels_cpu_free (cpu);
  cuv_waldboost_plan_free (plan);
  cuv_model_unref (model);
}

/* ---- several models ---- */

enum { MOST_MODELS = 6 };

static void
make_models (const CuvWaldboostModel **models, int n, int shrink)
{
  for (int i = 0; i < n; i++)
    models[i] = cuv_channels_model_random (shrink,
        cuv_channels_between (1, CUV_CHANNELS_MAX_DEPTH),
        cuv_channels_between (0, 4), cuv_channels_between (1, 40),
        (int) cuv_check_below (3) * 30);
}

static void
free_models (const CuvWaldboostModel **models, int n)
{
  for (int i = 0; i < n; i++)
    cuv_model_unref (models[i]);
}

/* Checks that each model finds what it finds alone, in pictures of several
 * sizes, some of which are too small for some of the windows, and with limits
 * of object sizes. */
static void
check_several (int shrink)
{
  const CuvWaldboostModel *models[MOST_MODELS];
  const int n = cuv_channels_between (2, MOST_MODELS);
  CuvChannelsCpu *cpu = NULL;

  make_models (models, n, shrink);
  for (int i = 0; i < 4; i++) {
    const bool dense = cuv_check_below (3) == 0;
    const CuvWaldboostParams params = {
      .scan = dense ? CUV_SCAN_DENSE : CUV_SCAN_AUTO,
      .octaves = cuv_channels_between (1, 4),
      .levels_per_octave = cuv_channels_between (1, 9),
      .upscale = cuv_check_below (3) == 0 ? 1.7 : 1,
      .min_width = cuv_channels_between (0, 40),
      .max_height = cuv_check_below (2) == 0 ? 0 : cuv_channels_between (20, 90)
    };
    Picture picture = picture_new (
        cuv_channels_between (20, 260), cuv_channels_between (20, 200), false);

    cuv_check_case ("channels: %d models, shrink %d, %d x %d", n, shrink,
        picture.picture.width, picture.picture.height);
    check_scans (&cpu, models, n, &picture, &params);
    free (picture.memory);
  }
  cuv_channels_cpu_free (cpu);
  free_models (models, n);
}

/* Checks that a model that accepts more windows than fit does not take hits
 * from the others. */
static void
check_overflow_of_one (void)
{
  const CuvWaldboostModel *models[] = { cuv_channels_model_random (
                                            2, 1, 0, 1, 0),
    cuv_channels_model_random (2, 2, 1, 20, 30) };
  const CuvWaldboostParams params = {
    .scan = CUV_SCAN_DENSE, .octaves = 1, .levels_per_octave = 2
  };
  Picture picture = picture_new (901, 600, false);
  CuvChannelsCpu *cpu = NULL;

  cuv_check_case ("channels: more hits of one model than fit");
  ((CuvChannelsModel *) models[0]->channels)->trees.final_threshold =
      -(1 << 20);
  CUV_CHECK (check_scans (&cpu, models, 2, &picture, &params) > 0);
  free (picture.memory);
  cuv_channels_cpu_free (cpu);
  free_models (models, 2);
}

static int n_smoothed; /* number of rows of channels */
static CuvChannelsDsp counted;

static void
count_row (const uint16_t *above, const uint16_t *at, const uint16_t *below,
    int columns, int shift, uint8_t *out)
{
  n_smoothed++;
  counted.smooth_row (above, at, below, columns, shift, out);
}

/* Returns the number of rows of channels that a scan with these models
 * computes. */
static int
count_rows (
    const CuvWaldboostModel *const *models, int n, const Picture *picture)
{
  const CuvWaldboostParams params = { .scan = CUV_SCAN_AUTO };
  CuvWaldboostSearch searches[MOST_MODELS];
  CuvWaldboostResult results[MOST_MODELS];
  CuvChannelsCpu *cpu;

  make_searches (searches, models, n, picture, &params);
  cpu = cuv_channels_cpu_new (searches, n);
  counted = cpu->dsp;
  cpu->dsp.smooth_row = count_row;
  n_smoothed = 0;
  cuv_channels_cpu_run (cpu, &picture->picture, 1, results);
  cuv_channels_cpu_free (cpu);
  free_plans (searches, n);
  return n_smoothed;
}

/* Makes a model with a square window, for count_rows(). */
static const CuvWaldboostModel *
square_model (int side, int levels, int overhang)
{
  const CuvWaldboostModel *self =
      cuv_channels_model_random (4, 2, overhang, 10, 0);
  CuvChannelsModel *channels = (CuvChannelsModel *) self->channels;

  channels->trees.columns = channels->trees.rows = side;
  channels->levels = levels;
  ((CuvWaldboostModel *) self)->window_width = 4 * side;
  ((CuvWaldboostModel *) self)->window_height = 4 * side;
  return self;
}

/* Checks that a model computes no channels of its own if another model has the
 * same levels. */
static void
check_shared_work (void)
{
  enum { N = 4 };
  const CuvWaldboostModel *models[] = { square_model (16, 8, 2),
    square_model (16, 8, 1), square_model (20, 4, 0), square_model (16, 3, 2),
    square_model (16, 1, 2) };
  Picture picture = picture_new (301, 240, false);
  const int first = count_rows (models, 1, &picture);
  const int fourth = count_rows (models + 3, 1, &picture);
  const int octaves = count_rows (models + 4, 1, &picture);

  cuv_check_case ("channels: work of several models");
  CUV_CHECK (first > fourth && fourth > octaves && octaves > 0);
  CUV_CHECK (count_rows (models, 2, &picture) == first);
  CUV_CHECK (count_rows (models, 3, &picture) == first);
  /* with 3 and 8 levels per octave, only whole octaves are the same */
  CUV_CHECK (count_rows (models, N, &picture) == first + fourth - octaves);
  CUV_CHECK (count_rows (models, N + 1, &picture) == first + fourth - octaves);
  free (picture.memory);
  free_models (models, N + 1);
}

static void
check_version (void)
{
  const CuvChannelsDsp dsp = cuv_channels_dsp ();

  check_numbers (&dsp);
  check_largest_model (2);
  check_largest_model (4);
  check_overflow ();
  for (int depth = 1; depth <= CUV_CHANNELS_MAX_DEPTH; depth++) {
    for (int overhang = 0; overhang <= 4; overhang += 2) {
      const bool odd = (depth + overhang / 2) % 2;

      if (odd || !cuv_check_options.few)
        check_pictures (2, depth, overhang);
      if (!odd || !cuv_check_options.few)
        check_pictures (4, depth, overhang);
    }
  }
  for (int i = 0; i < (cuv_check_options.few ? 2 : 8); i++)
    check_several (i % 2 == 0 ? 2 : 4);
  check_overflow_of_one ();
  check_shared_work ();
}

CUV_CHECKS_CPU (check_channels_cpu)
{
  static const unsigned masks[] = { 0, ~0u };

  for (int i = 0; i < 2; i++) {
    cuv_cpu_set_mask (masks[i]);
    check_version ();
  }
  check_too_large ();
}

/* ---- speed ---- */

typedef struct {
  CuvChannelsCpu *cpu;
  const CuvChannelsPicture *picture;
  CuvWaldboostResult results[MOST_MODELS];
} Bench;

static void
run (void *data)
{
  Bench *self = data;

  cuv_channels_cpu_run (self->cpu, self->picture, 1, self->results);
}

static void
report (const Bench *self, double us, int n)
{
  const double width = self->picture->width, height = self->picture->height;
  CuvWaldboostResult sum = { 0 };

  for (int i = 0; i < n; i++) {
    sum.windows += self->results[i].windows;
    sum.weak += self->results[i].weak;
    sum.pyramid_us += self->results[i].pyramid_us;
    sum.scan_us += self->results[i].scan_us;
  }
  cuv_check_report (us, width * height, width * height * 3,
      "channels, %.0fx%.0f, %d x 1024 trees, %.1f a window, channels "
      "%.0f us, scan %.0f us",
      width, height, n, (double) sum.weak / (double) sum.windows,
      sum.pyramid_us, sum.scan_us);
}

/* Times n equal models, so that their scans take the same time. */
static void
bench (int width, int height, int reject, int n)
{
  const CuvWaldboostModel *model =
      cuv_channels_model_random (4, 2, 2, 1024, reject);
  const CuvWaldboostModel *models[] = { model, model, model, model };
  const CuvWaldboostParams params = { .scan = CUV_SCAN_DENSE,
    .octaves = CUV_WALDBOOST_MAX_OCTAVES,
    .levels_per_octave = 4 };
  CuvWaldboostSearch searches[MOST_MODELS];
  Picture picture = picture_new (width, height, false);
  Bench self = { .picture = &picture.picture };

  make_searches (searches, models, n, &picture, &params);
  self.cpu = cuv_channels_cpu_new (searches, n);
  report (&self, cuv_check_time (run, &self), n);
  cuv_channels_cpu_free (self.cpu);
  free_plans (searches, n);
  cuv_model_unref (model);
  free (picture.memory);
}

CUV_BENCH_CPU (bench_channels_cpu)
{
  if (!cuv_check_wants ("channels"))
    return;
  bench (640, 480, 10, 1);
  bench (640, 480, 0, 1);
  bench (1920, 1080, 10, 1);
  bench (640, 480, 30, 2);
  bench (640, 480, 30, 4);
}
