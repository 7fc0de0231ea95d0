/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A detector of several models of all kinds, on the CPU and the GPU, finds what
 * a detector of each model finds on the CPU. */
#include "config.h"
#include "backend.h"
#include "model/model.h"
#include "waldboost-channels-inputs.h"
#include "waldboost-versions.h"
#if HAVE_CUDA
#include "cuv-cuda.h"
#endif

#include <math.h>
#include <string.h>

enum { N_WEAK = 12, N_TREES = 20, MOST = 8 };

/* ---- models ---- */

/* Makes a random grid in the window, with blocks of up to 8 x 8 pixels. */
static CuvGridNode
random_grid (int width, int height)
{
  const int w = random_between (1, (width < 24 ? width : 24) / 3);
  const int h = random_between (1, (height < 24 ? height : 24) / 3);
  const int a = random_between (0, 7);

  return (CuvGridNode){ .x = (int16_t) random_between (0, width - 3 * w),
    .y = (int16_t) random_between (0, height - 3 * h),
    .width = (int16_t) w,
    .height = (int16_t) h,
    .a = (int16_t) a,
    .b = (int16_t) random_between (a + 1, 8) };
}

/* Makes a cascade or a WaldBoost model of random features and leaves. */
static const CuvWaldboostModel *
grid_model (CuvFeature feature, bool cascade, int width, int height)
{
  static const int n_codes[] = { 256, 17, 100 };
  CuvGridNode nodes[N_WEAK];
  static float leaves[N_WEAK * 256], thresholds[N_WEAK];

  for (int k = 0; k < N_WEAK; k++) {
    nodes[k] = random_grid (width, height);
    thresholds[k] = k % 3 == 0 ? -INFINITY : -(float) cuv_check_below (3);
  }
  for (int i = 0; i < N_WEAK * n_codes[feature]; i++)
    leaves[i] = (float) (int) cuv_check_below (2000) / 1000 - 0.9f;
  for (int k = 0; k < N_WEAK && cascade; k++) {
    for (int code = 0; code < 256; code++) /* stumps have two leaves */
      leaves[256 * k + code] = leaves[256 * k + code % 2];
  }
  return cuv_model_new (&(CuvGridClassifier){ feature, cascade, width, height,
      N_WEAK, n_codes[feature], nodes, leaves, thresholds, 0 });
}

/* Makes models of all kinds. Returns their number. */
static int
make_models (const CuvWaldboostModel **models)
{
  int n = 0;

  models[n++] = grid_model (CUV_FEATURE_LBP, true, 24, 20);
  models[n++] = grid_model (CUV_FEATURE_LRD, false, 16, 16);
  models[n++] = cuv_channels_model_random (4, 2, 0, N_TREES, 30);
  models[n++] = cuv_channels_model_random (2, 1, 1, N_TREES, 30);
  models[n++] = cuv_channels_model_random (4, 3, 2, N_TREES, 0);
  models[n++] = grid_model (CUV_FEATURE_LRP, false, 40, 50);
  models[n++] = grid_model (CUV_FEATURE_LBP, false, 26, 26);
  return n;
}

static void
free_models (const CuvWaldboostModel **models, int n)
{
  for (int i = 0; i < n; i++)
    cuv_model_unref (models[i]);
}

/* ---- detectors ---- */

typedef struct {
  const CuvWaldboostModel *models[MOST];
  CuvWaldboostDetector *several, *each[MOST]; /* each: on the CPU */
  CuvProcessor processor;
  CuvFrame frame;         /* for `several` */
  const CuvFrame *source; /* the same in host memory */
  uint64_t n_hits;
} Comparison;

static CuvWaldboostDetector *
open (const CuvWaldboostModel *const *models, int n,
    const CuvWaldboostParams *params, const CuvFrame *frame,
    const CuvProcessor *processor)
{
  static const CuvRoi whole;
  const char *error;
  CuvWaldboostDetector *self = cuv_waldboost_detector_new (
      models, n, params, &whole, frame, processor, &error);

  CUV_CHECK (self != NULL, ": %s", error);
  return self;
}

static void
check_region (Comparison *self, const CuvRoi *region)
{
  static const CuvProcessor cpu = { .n_threads = 1 };
  CuvWaldboostResult found[MOST], wanted;
  const char *error = cuv_waldboost_detector_run (
      self->several, &self->frame, region, &self->processor, found);

  CUV_CHECK (error == NULL, ": %s", error);
  for (int i = 0; i < self->several->n_models && error == NULL; i++) {
    const CuvWaldboostDetector *each = self->each[i];

    CUV_CHECK (cuv_waldboost_detector_run (
                   self->each[i], self->source, region, &cpu, &wanted)
        == NULL);
    CUV_CHECK (self->several->n_levels[i] == each->n_levels[0]);
    CUV_CHECK (self->several->x == each->x && self->several->y == each->y);
    if (each->n_levels[0] > 0)
      check_equal ("one model, several", each->plans[0], &wanted, &found[i]);
    else
      CUV_CHECK (found[i].n_hits == 0 && found[i].windows == 0);
    self->n_hits += (uint64_t) found[i].n_hits;
  }
}

/* Checks what is centred in regions, of models that visit every window. */
static void
check_centred (Comparison *self)
{
  static const CuvRoi regions[] = { { 30, 20, 90, 70 }, { 80, 60, 100, 120 } };
  static const CuvProcessor cpu = { .n_threads = 1 };
  CuvWaldboostResult found[MOST], wanted;

  CUV_CHECK (cuv_waldboost_detector_run_centred (self->several, &self->frame,
                 regions, 2, &self->processor, found)
      == NULL);
  for (int i = 0; i < self->several->n_models; i++) {
    const CuvWaldboostPlan *plan;

    CUV_CHECK (cuv_waldboost_detector_run (
                   self->each[i], self->source, NULL, &cpu, &wanted)
        == NULL);
    plan = self->each[i]->plans[0];
    wanted.n_hits = cuv_waldboost_keep_centred (
        plan, regions, 2, (CuvWaldboostHit *) wanted.hits, wanted.n_hits);
    if (plan->skip)
      continue;
    CUV_CHECK (found[i].n_hits == wanted.n_hits, ": model %d: %d and %d", i,
        found[i].n_hits, wanted.n_hits);
    CUV_CHECK (memcmp (found[i].hits, wanted.hits,
                   (size_t) wanted.n_hits * sizeof *wanted.hits)
        == 0);
  }
}

/* Checks regions, some of which are smaller than some windows, and one than all
 * of them. */
static void
check_regions (Comparison *self)
{
  static const CuvRoi regions[] = { { 0, 0, 150, 110 }, { 11, 7, 111, 70 },
    { 11, 7, 111, 70 }, { 30, 20, 56, 46 }, { 5, 5, 10, 10 },
    { 60, 40, 60, 40 }, { 31, 21, 57, 47 }, { 20, 20, 150, 110 } };

  check_region (self, NULL);
  for (size_t i = 0; i < sizeof regions / sizeof *regions; i++)
    check_region (self, &regions[i]);
  check_centred (self);
  check_region (self, NULL);
}

static bool
submit (const Comparison *self, CuvWaldboostDetector *detector)
{
  return cuv_waldboost_detector_submit (
      detector, &self->frame, &self->processor);
}

/* Checks scans that are started before they are run, which a detector of one
 * model on the GPU does unless it has no levels, or its plans are those of a
 * region. */
static void
check_submitted (Comparison *self, int model, const CuvWaldboostParams *params)
{
  static const CuvRoi region = { 11, 7, 111, 70 };
  static const CuvProcessor cpu = { .n_threads = 1 };
  CuvWaldboostDetector *const each = self->each[model];
  CuvWaldboostDetector *one =
      open (&self->models[model], 1, params, &self->frame, &self->processor);
  CuvWaldboostPlan *of_region = cuv_waldboost_plan_new (self->models[model],
      params, region.right - region.left, region.bottom - region.top);
  const bool on_device = self->processor.on_device && each->n_levels[0] > 0;
  const bool expected[] = { on_device, false,
    on_device && of_region->n_levels == 0 };
  const CuvRoi *parts[] = { NULL, &region, NULL };
  CuvWaldboostResult found, wanted;

  for (int i = 0; i < 3; i++) {
    const bool starts = parts[i] == NULL && submit (self, one);

    cuv_waldboost_detector_run (each, self->source, parts[i], &cpu, &wanted);
    CUV_CHECK (starts == expected[i], ": part %d", i);
    CUV_CHECK (cuv_waldboost_detector_run (
                   one, &self->frame, parts[i], &self->processor, &found)
        == NULL);
    if (each->n_levels[0] > 0)
      check_equal ("started before", each->plans[0], &wanted, &found);
  }
  submit (self, one); /* and not collected */
  cuv_waldboost_detector_free (one);
  cuv_waldboost_plan_free (of_region);
}

/* Opens and compares the detectors. Returns the number of hits. */
static uint64_t
compare (Comparison *self, const CuvWaldboostParams *params)
{
  static const CuvProcessor cpu = { .n_threads = 1 };
  const int n = make_models (self->models);

  self->several =
      open (self->models, n, params, &self->frame, &self->processor);
  /* models on channels share a pass, on the GPU those of the same shrink */
  CUV_CHECK (
      self->several->n_passes == (cuv_check_options.cuda ? n - 1 : n - 2));
  for (int i = 0; i < n; i++)
    self->each[i] = open (&self->models[i], 1, params, self->source, &cpu);
  check_regions (self);
  CUV_CHECK (!submit (self, self->several));
  check_submitted (self, 0, params); /* a cascade */
  check_submitted (self, 2, params); /* trees on channels */
  cuv_waldboost_detector_free (self->several);
  for (int i = 0; i < n; i++)
    cuv_waldboost_detector_free (self->each[i]);
  free_models (self->models, n);
  return self->n_hits;
}

static uint64_t
check_frame (const CuvWaldboostParams *params, const CuvCheckFrame *frame)
{
  Comparison self = { .frame = frame->frame,
    .source = &frame->frame,
    .processor = { .on_device = cuv_check_options.cuda,
        .stream = cuv_check_stream,
        .n_threads = 3 } };
#if HAVE_CUDA
  if (cuv_check_options.cuda) {
    void *memory;

    self.frame = cuv_check_to_device (frame, &memory);
    compare (&self, params);
    cuv_check_device_free (memory);
    return self.n_hits;
  }
#endif
  return compare (&self, params);
}

#if HAVE_CUDA
/* Checks that no memory is left, whichever allocation of whichever model fails.
 */
static void
check_allocations (
    const CuvWaldboostModel *const *models, int n, const CuvFrame *frame)
{
  static const CuvRoi whole;
  const CuvProcessor gpu = { .on_device = true, .stream = cuv_check_stream };
  const CuvWaldboostParams params = { .scale_factor = 1.3 };
  const size_t before = cuv_cuda_allocated ();
  CuvWaldboostDetector *detector = NULL;
  int n_failed = 0;

  for (; detector == NULL && n_failed < 1000; n_failed++) {
    const char *error;

    cuv_cuda_fail_allocation (n_failed);
    detector = cuv_waldboost_detector_new (
        models, n, &params, &whole, frame, &gpu, &error);
    cuv_cuda_fail_allocation (-1);
    CUV_CHECK (detector != NULL || strstr (error, "out of memory") != NULL);
    CUV_CHECK (detector != NULL || cuv_cuda_allocated () == before);
  }
  CUV_CHECK (n_failed > 2 * n && detector != NULL, ": %d", n_failed);
  cuv_waldboost_detector_free (detector);
  CUV_CHECK (cuv_cuda_allocated () == before);
}

CUV_CHECKS_CUDA (check_memory_of_several_models)
{
  CuvCheckFrame frame = cuv_check_frame_new ("NV12", 90, 70, CUV_CHECK_TEXTURE);
  const CuvWaldboostModel *models[MOST];
  const int n = make_models (models);
  void *memory;
  const CuvFrame on_device = cuv_check_to_device (&frame, &memory);

  cuv_check_case ("several models without memory");
  check_allocations (models, n, &on_device);
  cuv_check_device_free (memory);
  free_models (models, n);
  cuv_check_frame_free (&frame);
}
#endif

/* A region may have a level of a size that the whole frame does not have: a
 * model finds the same in it alone and beside a model that has levels in the
 * frame. */
CUV_CHECKS_CPU (check_region_with_a_level)
{
  static const int objects[] = { 32, 30 };
  const CuvWaldboostModel *models[2];
  const CuvWaldboostParams params = { .upscale = 1,
    .min_width = 39,
    .min_height = 39,
    .max_width = 39,
    .max_height = 39 };
  const CuvRoi whole = { 0 }, region = { 0, 0, 45, 45 };
  const CuvProcessor cpu = { .n_threads = 1 };
  CuvCheckFrame frame =
      cuv_check_frame_new ("GRAY8", 640, 480, CUV_CHECK_NOISE);
  uint64_t windows[2];

  cuv_check_case ("a region with a level that the frame has not");
  for (int i = 0; i < 2; i++)
    models[i] = cuv_channels_model_square (32, objects[i], 8);
  for (int n = 1; n <= 2; n++) {
    const char *error;
    CuvWaldboostResult results[2];
    CuvWaldboostDetector *detector = cuv_waldboost_detector_new (
        models, n, &params, &whole, &frame.frame, &cpu, &error);

    CUV_CHECK (detector->n_levels[0] == 0);
    error = cuv_waldboost_detector_run (
        detector, &frame.frame, &region, &cpu, results);
    CUV_CHECK (error == NULL, ": %s", error);
    windows[n - 1] = results[0].windows;
    cuv_waldboost_detector_free (detector);
  }
  CUV_CHECK (windows[0] > 0 && windows[0] == windows[1], ": %d, %d windows",
      (int) windows[0], (int) windows[1]);
  free_models (models, 2);
  cuv_check_frame_free (&frame);
}

CUV_CHECKS (check_several_models)
{
  static const char *const formats[] = { "RGB", "NV12", "BGRx", "I420" };
  const int n = cuv_check_options.few ? 2 : 8;
  uint64_t n_hits = 0;

  for (int i = 0; i < n; i++) {
    const CuvWaldboostParams params = { .scale_factor = 1.2,
      .octaves = 2,
      .levels_per_octave = 3,
      .upscale = i % 3 == 1 ? 1.5 : 1,
      .rotation = i % 3 == 2 ? 30 : 0,
      .min_width = 8 * (i % 2) };
    CuvCheckFrame frame =
        cuv_check_frame_new (formats[i % 4], 150, 110, CUV_CHECK_TEXTURE);

    cuv_check_case ("several models, %s", formats[i % 4]);
    n_hits += check_frame (&params, &frame);
    cuv_check_frame_free (&frame);
  }
  CUV_CHECK (n_hits > 1000, ": %llu hits", (unsigned long long) n_hits);
}
