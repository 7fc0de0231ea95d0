/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The detector: plain C against the oracle, and AVX2, threads and CUDA against
 * plain C. */
#include "config.h"
#include "waldboost-versions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LBP CUV_FEATURE_LBP
#define LRD CUV_FEATURE_LRD
#define LRP CUV_FEATURE_LRP
#define HAAR CUV_FEATURE_HAAR
#define STAGES CUV_SUM_STAGES
#define FIXED CUV_SUM_FIXED
#define FLOAT CUV_SUM_FLOAT
#define SUM CUV_BLOCK_SUM
#define TRUNC CUV_BLOCK_MEAN_TRUNC
#define ROUND CUV_BLOCK_MEAN_ROUND

/* The fields of ModelKind: name, feature, arithmetic, block value, inclusive,
 * maximum window and block, stages, weak classifiers, nodes, tilted, pass. */
static const ModelKind kinds[] = {
  { "cascade", LBP, STAGES, SUM, 1, 24, 0, 4, 6, 1, 0, 0.5 },
  { "many hits", LBP, STAGES, SUM, 1, 12, 0, 3, 3, 1, 0, 0.8 },
  { "large blocks", LBP, STAGES, SUM, 1, 50, 0, 3, 8, 1, 0, 0.6 },
  { "sums above 16 bits", LBP, STAGES, SUM, 1, 100, 0, 3, 5, 1, 0, 0.6 },
  { "trees", LBP, STAGES, SUM, 1, 20, 0, 3, 6, 8, 0, 0.6 },
  { "long stages", LBP, STAGES, SUM, 1, 20, 0, 3, 20, 1, 0, 0.6 },
  { "many stages", LBP, STAGES, SUM, 1, 30, 0, 10, 5, 1, 0, 0.7 },
  { "one stump", LBP, STAGES, SUM, 1, 3, 0, 1, 1, 1, 0, 0.5 },
  { "Haar stumps", HAAR, STAGES, SUM, 0, 24, 0, 5, 9, 1, 0, 0.6 },
  { "Haar trees", HAAR, STAGES, SUM, 0, 24, 0, 4, 5, 5, 0, 0.6 },
  { "Haar tilted stumps", HAAR, STAGES, SUM, 0, 24, 0, 4, 6, 1, 1, 0.6 },
  { "Haar tilted trees", HAAR, STAGES, SUM, 0, 15, 0, 3, 3, 3, 1, 0.7 },
  { "LBP", LBP, FIXED, SUM, 0, 26, 2, 40, 1, 1, 0, 0.8 },
  { "LBP trunc", LBP, FIXED, TRUNC, 0, 26, 2, 20, 1, 1, 0, 0.8 },
  { "LBP round", LBP, FIXED, ROUND, 0, 26, 2, 20, 1, 1, 0, 0.8 },
  { "LBP float", LBP, FLOAT, SUM, 0, 26, 2, 40, 1, 1, 0, 0.8 },
  { "LBP inclusive", LBP, FLOAT, SUM, 1, 24, 8, 30, 1, 1, 0, 0.8 },
  { "LBP large blocks", LBP, FIXED, TRUNC, 1, 60, 0, 20, 1, 1, 0, 0.8 },
  { "LRD", LRD, FIXED, SUM, 0, 26, 2, 40, 1, 1, 0, 0.8 },
  { "LRD trunc", LRD, FLOAT, TRUNC, 0, 26, 4, 20, 1, 1, 0, 0.8 },
  { "LRD round", LRD, FIXED, ROUND, 0, 26, 4, 20, 1, 1, 0, 0.8 },
  { "LRD float", LRD, FLOAT, SUM, 0, 26, 0, 20, 1, 1, 0, 0.8 },
  { "LRP", LRP, FIXED, SUM, 0, 26, 2, 40, 1, 1, 0, 0.8 },
  { "LRP trunc", LRP, FIXED, TRUNC, 0, 26, 4, 20, 1, 1, 0, 0.8 },
  { "LRP round", LRP, FLOAT, ROUND, 0, 26, 4, 20, 1, 1, 0, 0.8 },
  { "LRP float", LRP, FLOAT, SUM, 0, 26, 0, 20, 1, 1, 0, 0.8 },
  { "Haar", HAAR, FIXED, SUM, 0, 26, 0, 30, 1, 1, 0, 0.8 },
  { "Haar float", HAAR, FLOAT, SUM, 0, 26, 0, 30, 1, 1, 0, 0.8 },
  { "a long model", LBP, FIXED, SUM, 0, 20, 2, 600, 1, 1, 0, 0.998 },
  { "a long float model", LRD, FLOAT, SUM, 0, 20, 2, 530, 1, 1, 0, 0.998 },
};
#define N_KINDS (sizeof kinds / sizeof *kinds)
#define N_CASCADES 12

static uint64_t n_hits_seen;

static CuvWaldboostParams
random_params (CuvScan scan)
{
  static const double factors[] = { 1.07, 1.1, 1.25, 1.7, 2.5 };
  CuvWaldboostParams params = { .scan = scan,
    .scale_factor = factors[cuv_check_below (5)] };

  if (cuv_check_below (2)) {
    params.octaves = random_between (1, 3);
    params.levels_per_octave = random_between (1, 5);
  }
  if (cuv_check_below (4) == 0)
    params.upscale = random_between (10, 21) / 10.;
  if (cuv_check_below (3) == 0)
    params.rotation = cuv_check_below (2) ? random_between (-180, 180)
                                          : 90 * random_between (-2, 2);
  if (cuv_check_below (3) == 0) {
    params.min_width = random_between (0, 60);
    params.min_height = random_between (0, 60);
    params.max_width = random_between (0, 200);
    params.max_height = random_between (0, 200);
  }
  return params;
}

static void
check_model (const ModelKind *kind, const RandomModel *random,
    const CuvWaldboostParams *params, const CuvCheckFrame *frame,
    bool with_oracle)
{
  cuv_check_case ("%d x %d, %s, window %d x %d, scan %d, factor %g, upscale "
                  "%g, rotation %d",
      frame->frame.width, frame->frame.height, kind->name,
      random->model.window_width, random->model.window_height, params->scan,
      params->scale_factor, params->upscale, params->rotation);
  n_hits_seen +=
      (uint64_t) check_scan (&random->model, params, frame, with_oracle);
}

static CuvCheckFrame
random_frame (int width, int height)
{
  const char *format = cuv_check_formats[cuv_check_below (13)];
  CuvCheckFill fill =
      cuv_check_below (4) ? CUV_CHECK_TEXTURE : cuv_check_below (4);

  return cuv_check_frame_new (format, width, height, fill);
}

static void
check_kind (const ModelKind *kind, const CuvWaldboostParams *params, int width,
    int height, bool with_oracle)
{
  CuvCheckFrame frame = random_frame (width, height);
  RandomModel *random = random_model (kind, &frame.frame);

  check_model (kind, random, params, &frame, with_oracle);
  cuv_check_frame_free (&frame);
  free (random);
}

/* Checks each kind on frames barely larger than the window, where all windows
 * touch a border. */
static void
check_edges (void)
{
  for (size_t i = 0; i < 3 * N_KINDS; i++) {
    const ModelKind *kind = &kinds[i % N_KINDS];
    int width = random_window_side (kind), height = random_window_side (kind);
    CuvWaldboostParams params = random_params (1 + (int) i % 3);
    CuvCheckFrame frame = random_frame (
        width + random_between (0, 5), height + random_between (0, 5));
    RandomModel *random =
        random_model_of_window (kind, &frame.frame, width, height);

    check_model (kind, random, &params, &frame, true);
    cuv_check_frame_free (&frame);
    free (random);
  }
}

/* Checks the kinds from `first` to before `end` with each scan; if there shall
 * be few cases, with one, another one for the next kind. */
static void
check_kinds (size_t first, size_t end, int width, int height)
{
  const size_t offset = cuv_check_below (3);

  for (size_t i = first; i < end; i++) {
    const int only = 1 + (int) ((i + offset) % 3);
    const bool few = cuv_check_options.few;

    for (int scan = CUV_SCAN_OPENCV; scan <= CUV_SCAN_DENSE; scan++) {
      CuvWaldboostParams params = random_params (scan);

      if (few && kinds[i].n_stages > 500) {
        /* at most one level: thousands of windows would take minutes */
        params.upscale = 0;
        params.octaves = params.levels_per_octave = 1;
      }
      if (!few || scan == only)
        check_kind (&kinds[i], &params, width, height, true);
    }
  }
}

/* Checks every n-th kind with few levels, and with thresholds that reject most
 * windows early. */
static void
check_large (int width, int height, size_t n)
{
  for (size_t i = cuv_check_below ((uint32_t) n); i < N_KINDS; i += n) {
    int n_scans = i < N_CASCADES ? 2 : 3;
    CuvWaldboostParams params = { .scan = random_between (1, n_scans),
      .scale_factor = 1.2,
      .octaves = 3,
      .levels_per_octave = 2 };
    ModelKind kind = kinds[i];

    kind.pass = 0.4;
    check_kind (&kind, &params, width, height, false);
  }
}

/* Checks models shorter than the dense part of a scan by planes, and windows up
 * to the widest that planes support. */
static void
check_short_models (void)
{
  static const CuvFeature features[] = { LBP, LRD, LRP };
  static const int windows[] = { 10, 20, 33, 50, 64 };

  const int step = cuv_check_options.few ? 7 : 1;

  for (int i = (int) cuv_check_below ((uint32_t) step); i < 36; i += step) {
    const int window = windows[i % 5];
    ModelKind kind = { "short", features[i % 3], i / 3 % 2 ? FLOAT : FIXED,
      (CuvBlockValue) (i / 6 % 3), i % 2, window, 2, 1 + i / 3, 1, 1, 0, 0.9 };
    CuvWaldboostParams params = {
      .scan = CUV_SCAN_DENSE, .octaves = 2, .levels_per_octave = 2
    };
    CuvCheckFrame frame =
        cuv_check_frame_new ("GRAY8", window + random_between (0, 100),
            window + random_between (0, 40), CUV_CHECK_TEXTURE);
    RandomModel *random =
        random_model_of_window (&kind, &frame.frame, window, window);

    check_model (&kind, random, &params, &frame, true);
    cuv_check_frame_free (&frame);
    free (random);
  }
}

static void
check_formats (void)
{
  for (int i = 0; cuv_check_formats[i] != NULL; i++) {
    CuvCheckFrame frame =
        cuv_check_frame_new (cuv_check_formats[i], 97, 63, CUV_CHECK_TEXTURE);
    RandomModel *random = random_model (&kinds[1], &frame.frame);
    CuvWaldboostParams params = { .scan = 1 + i % 3, .scale_factor = 1.1 };

    cuv_check_case ("%s", cuv_check_formats[i]);
    check_scan (&random->model, &params, &frame, true);
    cuv_check_frame_free (&frame);
    free (random);
  }
}

/* ---- limits ---- */

/* Makes a model of one grid of blocks of w x h pixels, one pixel from the
 * window's upper left corner. */
static RandomModel *
model_of_blocks (const ModelKind *kind, int w, int h)
{
  RandomModel *self =
      random_model_without_thresholds (kind, 3 * w + 2, 3 * h + 1);
  CuvGridNode *node = &self->nodes[0];

  node->width = (int16_t) w;
  node->height = (int16_t) h;
  node->x = node->y = 1;
  self->model.max_block_area = w * h;
  if (kind->arithmetic == CUV_SUM_STAGES) {
    node->left = 0;
    node->right = -1;
    self->leaves[0] = 1;
    self->leaves[1] = -1;
    self->weak[0].threshold = 0;
  }
  return self;
}

static void
check_blocks (const ModelKind *kind, int w, int h)
{
  const int width = 3 * w + 30, height = 3 * h + 20;
  /* the left edge of the second block in windows at even positions */
  const int black = (width / 2 - w) / 2 * 2 + 1 + w;
  RandomModel *random = model_of_blocks (kind, w, h);
  CuvWaldboostParams params = { .scan = CUV_SCAN_OPENCV, .scale_factor = 1.1 };
  CuvCheckFrame frame =
      cuv_check_frame_new ("GRAY8", width, height, CUV_CHECK_WHITE);
  const CuvComponent *grey = &frame.frame.component[0];

  cuv_check_case ("white, %s, blocks of %d x %d", kind->name, w, h);
  for (int y = 0; y < height; y++) {
    uint8_t *row = grey->data + y * grey->stride;

    memset (row + black, 0, (size_t) (width - black));
    if (y >= height / 2)
      memset (row, 110, (size_t) black);
  }
  for (int k = 0; k < width * height / 200; k++)
    grey->data[cuv_check_below (height) * grey->stride
        + cuv_check_below (width)] = k % 2 ? 0 : 254;
  check_scan (&random->model, &params, &frame, true);
  cuv_check_frame_free (&frame);
  free (random);
}

/* Checks sums of blocks at the limits of 15 and 16 bits: 128, 129, 257 and 258
 * white pixels beside black ones, with a few slightly or much darker pixels. */
static void
check_limits (bool of_cascades)
{
  static const int blocks[][2] = { { 1, 257 }, { 2, 129 }, { 16, 16 },
    { 17, 15 }, { 32, 8 }, { 64, 64 }, { 8, 16 }, { 3, 43 } };
  static const ModelKind cascade = { "cascade", LBP, STAGES, SUM, 1, 0, 0, 1, 1,
    1, 0, 0.5 };
  static const ModelKind limits[] = {
    { "LBP", LBP, FIXED, SUM, 0, 0, 0, 1, 1, 1, 0, 0.5 },
    { "LRD", LRD, FIXED, ROUND, 0, 0, 0, 1, 1, 1, 0, 0.5 },
    { "LRP", LRP, FLOAT, SUM, 0, 0, 0, 1, 1, 1, 0, 0.5 },
  };

  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
    check_blocks (
        of_cascades ? &cascade : &limits[i % 3], blocks[i][0], blocks[i][1]);
}

/* Checks models that accept every window: the first CUV_WALDBOOST_MAX_HITS hits
 * in order are stored, and the others are counted. */
static void
check_overflow (
    const ModelKind *kind, CuvWaldboostParams params, int width, int height)
{
  CuvCheckFrame frame =
      cuv_check_frame_new ("GRAY8", width, height, CUV_CHECK_TEXTURE);
  RandomModel *random = random_model (kind, &frame.frame);
  CuvWaldboostPlan *plan =
      cuv_waldboost_plan_new (&random->model, &params, width, height);
  CuvWaldboostResult expected;

  cuv_check_case ("more hits than are stored, %s", kind->name);
  for (int k = 0; k < random->model.n_weak; k++)
    set_threshold (random, k, -1e9);
  set_final_threshold (random, -1e9);
  expected = run_reference (&random->model, plan, &frame.frame);
  CUV_CHECK (expected.n_hits == CUV_WALDBOOST_MAX_HITS);
  CUV_CHECK (expected.overflow > 0);
  CUV_CHECK ((uint64_t) expected.n_hits + (uint64_t) expected.overflow
      == expected.windows);
  check_versions (&random->model, plan, &frame, &expected);
  free_result (&expected);
  cuv_waldboost_plan_free (plan);
  cuv_check_frame_free (&frame);
  free (random);
}

static void
check_overflow_of_cascade (void)
{
  static const ModelKind stump = { "one stump", LBP, STAGES, SUM, 1, 3, 0, 1, 1,
    1, 0, 0.5 };
  const int n = cuv_check_options.few ? 3 : 1; /* still more than are stored */

  check_overflow (
      &stump, (CuvWaldboostParams){ .scale_factor = 1.1 }, 1000 / n, 800 / n);
}

static void
check_overflows (void)
{
  static const ModelKind few[] = {
    { "LBP", LBP, FIXED, SUM, 0, 20, 2, 9, 1, 1, 0, 1 },
    { "LRD", LRD, FLOAT, SUM, 0, 20, 2, 3, 1, 1, 0, 1 },
    { "LRP", LRP, FIXED, SUM, 0, 20, 2, 1, 1, 1, 0, 1 },
  };
  const CuvWaldboostParams dense = { .scan = CUV_SCAN_DENSE };

  for (size_t i = 0; i < sizeof few / sizeof *few; i++)
    check_overflow (&few[i], dense, 240, 220);
}

/* Checks models without thresholds: every window runs through all weak
 * classifiers. */
static void
check_worst_case (const ModelKind *kind, int width, int height)
{
  CuvCheckFrame frame =
      cuv_check_frame_new ("GRAY8", width, height, CUV_CHECK_TEXTURE);
  RandomModel *random = random_model (kind, &frame.frame);
  CuvWaldboostParams params = { .scan = CUV_SCAN_DENSE };
  CuvWaldboostPlan *plan =
      cuv_waldboost_plan_new (&random->model, &params, width, height);
  CuvWaldboostResult expected;

  cuv_check_case ("%s, no thresholds", kind->name);
  for (int k = 0; k < random->model.n_weak; k++)
    set_threshold (random, k, -INFINITY);
  expected = run_reference (&random->model, plan, &frame.frame);
  CUV_CHECK (
      expected.weak == expected.windows * (uint64_t) random->model.n_weak);
  CUV_CHECK (plan->n_segments == 1
      || expected.survivors[plan->n_segments - 2] == expected.windows);
  free_result (&expected);
  n_hits_seen += (uint64_t) check_scan (&random->model, &params, &frame, false);
  cuv_waldboost_plan_free (plan);
  cuv_check_frame_free (&frame);
  free (random);
}

static void
check_worst_cases (void)
{
  static const ModelKind worst[] = {
    { "LBP", LBP, FIXED, SUM, 0, 20, 2, 256, 1, 1, 0, 1 },
    { "LRD", LRD, FLOAT, SUM, 0, 20, 2, 100, 1, 1, 0, 1 },
    { "LRP", LRP, FIXED, SUM, 0, 20, 2, 100, 1, 1, 0, 1 },
    { "Haar", HAAR, FIXED, SUM, 0, 20, 2, 60, 1, 1, 0, 1 },
  };
  const bool few = cuv_check_options.few;

  for (size_t i = 0; i < sizeof worst / sizeof *worst; i++)
    check_worst_case (&worst[i], few ? 40 : 90, few ? 30 : 60);
}

static void
check_hits_seen (uint64_t least)
{
  cuv_check_case ("all");
  CUV_CHECK (n_hits_seen >= least);
  n_hits_seen = 0;
}

CUV_CHECKS (check_cascades)
{
  check_formats ();
  check_limits (true);
  check_kinds (0, N_CASCADES, 1, 1);
  check_kinds (0, N_CASCADES, 17, 33);
  check_kinds (0, N_CASCADES, 33, 17);
  check_contrast ();
  check_large_windows ();
  check_flat_area ();
  check_overflow_of_cascade ();
  check_changes_of_plan ();
  check_hits_seen (100);
}

CUV_CHECKS (check_scans)
{
  check_limits (false);
  check_kinds (N_CASCADES, N_KINDS, 1, 1);
  check_kinds (N_CASCADES, N_KINDS, 17, 33);
  check_short_models ();
  if (!cuv_check_options.few) {
    check_kinds (0, N_KINDS, 3, 3);
    check_kinds (0, N_KINDS, 61, 47);
    check_edges ();
    check_large (321, 239, 1);
    check_large (641, 479, 5);
    check_large (1919, 1079, 15);
    check_files ();
  }
  check_overflows ();
  check_worst_cases ();
  check_hits_seen (1000);
}
