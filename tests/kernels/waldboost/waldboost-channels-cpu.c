/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The fast scan of trees on channels against the definition: rows, blocks and
 * whole pictures, in every version of the inner loops; and its speed. */
#include "config.h"
#include "waldboost-channels-inputs.h"
#include "channels/cpu/channels-cpu.h"
#include "channels/cpu/channels-dsp.h"
#include "channels/detect.h"
#include "cuvcheck.h"
#include "model/model.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_HITS = CUV_WALDBOOST_MAX_HITS, MAX_SEGMENTS = 8 };

/* ---- numbers ---- */

/* Checks rows with all squares of gradient lengths, and with all sums of
 * surroundings. */
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

/* Patches of colour with noise, or noise alone. */
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

/* Returns the number of hits that did not fit. */
static uint64_t
check_scan (CuvChannelsCpu **cpu, const CuvWaldboostModel *model,
    const Picture *picture, const CuvWaldboostParams *params)
{
  uint64_t survivors[MAX_SEGMENTS] = { 0 };
  CuvHitList wanted = { .hits = malloc (MAX_HITS * sizeof *wanted.hits),
    .capacity = MAX_HITS,
    .survivors = survivors };
  CuvWaldboostPlan *plan = cuv_waldboost_plan_new (
      model, params, picture->picture.width, picture->picture.height);

  CUV_CHECK (cuv_channels_scan_plan (
      model->channels, plan, &picture->picture, &wanted));
  if (*cpu == NULL)
    *cpu = cuv_channels_cpu_new (model, plan);
  else
    CUV_CHECK (cuv_channels_cpu_set_plan (*cpu, plan));
  for (int threads = 1; threads <= 4; threads += 3) {
    CuvWaldboostResult found;

    cuv_channels_cpu_run (*cpu, &picture->picture, threads, &found);
    cuv_channels_check_same (plan, &wanted, &found);
  }
  cuv_waldboost_plan_free (plan);
  free (wanted.hits);
  return wanted.lost;
}

/* Frames of several sizes, one after another, with the same model. */
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

/* The largest window, overhang and number of trees. */
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

/* More windows are accepted than a result can hold, by one thread or several:
 * the first ones are kept. */
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

/* A frame whose channels need more bytes than 32 bits can count is refused, not
 * scanned with wrong offsets. */
static void
check_too_large (void)
{
  enum { SIDE = 30000 };
  const CuvWaldboostModel *model = cuv_channels_model_random (2, 1, 0, 1, 0);
  const CuvWaldboostParams params = {
    .scan = CUV_SCAN_DENSE, .octaves = 1, .levels_per_octave = 1
  };
  CuvWaldboostPlan *plan = cuv_waldboost_plan_new (model, &params, SIDE, SIDE);
  CuvChannelsCpu *cpu = cuv_channels_cpu_new (model, plan);

  cuv_check_case ("channels: %d x %d", SIDE, SIDE);
  CUV_CHECK (cpu == NULL);
  cuv_channels_cpu_free (cpu);
  cuv_waldboost_plan_free (plan);
  cuv_model_unref (model);
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
      check_pictures (2, depth, overhang);
      check_pictures (4, depth, overhang);
    }
  }
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
  CuvWaldboostResult result;
} Bench;

static void
run (void *data)
{
  Bench *self = data;

  cuv_channels_cpu_run (self->cpu, self->picture, 1, &self->result);
}

static void
bench (int width, int height, int reject)
{
  const CuvWaldboostModel *model =
      cuv_channels_model_random (4, 2, 2, 1024, reject);
  const CuvWaldboostParams params = { .scan = CUV_SCAN_DENSE,
    .octaves = CUV_WALDBOOST_MAX_OCTAVES,
    .levels_per_octave = 8 };
  CuvWaldboostPlan *plan =
      cuv_waldboost_plan_new (model, &params, width, height);
  Picture picture = picture_new (width, height, false);
  Bench self = { cuv_channels_cpu_new (model, plan), &picture.picture, { 0 } };
  double us = cuv_check_time (run, &self);

  cuv_check_report (us, (double) width * height, (double) width * height * 3,
      "channels, %dx%d, 1024 trees, %.1f a window, channels %.0f us, scan %.0f "
      "us",
      width, height, (double) self.result.weak / (double) self.result.windows,
      self.result.pyramid_us, self.result.scan_us);
  free (picture.memory);
  cuv_channels_cpu_free (self.cpu);
  cuv_waldboost_plan_free (plan);
  cuv_model_unref (model);
}

CUV_BENCH_CPU (bench_channels_cpu)
{
  bench (640, 480, 10);
  bench (640, 480, 0);
  bench (1920, 1080, 10);
}
