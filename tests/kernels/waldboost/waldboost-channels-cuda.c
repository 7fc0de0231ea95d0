/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The scan of trees on channels on the GPU against the definition: frames of
 * all formats and several sizes, and their parts, turned or enlarged. Also its
 * speed. */
#include "config.h"
#include "cuvcheck.h"
#include "waldboost-channels-inputs.h"
#include "waldboost-inputs.h"

#if HAVE_CUDA
#include "channels/detect.h"
#include "channels/planes.h"
#include "cuvrgb.h"
#include "model/model.h"
#include "waldboost/waldboost.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_HITS = CUV_WALDBOOST_MAX_HITS, MAX_SEGMENTS = 40, MAX_MODELS = 4 };

/* ---- one frame ---- */

typedef struct {
  const CuvWaldboostModel *model;
  int n_models;           /* number of times that the detector has the model */
  CuvWaldboostCuda *cuda; /* for the first plan; NULL before it */
  CuvRgbMatrix matrix;
} Scan;

/* Returns what the definition finds. Free the hits. */
static CuvHitList
scan_reference (const Scan *self, const CuvWaldboostPlan *plan,
    const CuvFrame *frame, const CuvRoi *part, uint64_t *survivors)
{
  CuvHitList wanted = { .hits = malloc (MAX_HITS * sizeof *wanted.hits),
    .capacity = MAX_HITS,
    .survivors = survivors };
  CuvChannelsPlanes planes = { 0 };
  CuvChannelsPicture picture;

  memset (survivors, 0, MAX_SEGMENTS * sizeof *survivors);
  CUV_CHECK (cuv_channels_planes_make (
      &planes, frame, part, &self->matrix, &plan->turn, 1, &picture));
  CUV_CHECK (
      cuv_channels_scan_plan (self->model->channels, plan, &picture, &wanted));
  cuv_channels_planes_clear (&planes);
  return wanted;
}

/* Returns the same search for each model of a detector. */
static const CuvWaldboostSearch *
searches_of (const CuvWaldboostModel *model, const CuvWaldboostPlan *plan)
{
  static CuvWaldboostSearch searches[MAX_MODELS];

  for (int i = 0; i < MAX_MODELS; i++)
    searches[i] = (CuvWaldboostSearch){ model, plan };
  return searches;
}

static bool
set_plan (Scan *self, const CuvWaldboostPlan *plan)
{
  const CuvWaldboostSearch *searches = searches_of (self->model, plan);

  if (self->cuda == NULL)
    self->cuda = cuv_waldboost_cuda_new (searches, self->n_models);
  else if (cuv_waldboost_cuda_set_plans (self->cuda, searches) != 0)
    return CUV_CHECK (false, ": %s", cuv_cuda_error ());
  return CUV_CHECK (self->cuda != NULL, ": %s", cuv_cuda_error ());
}

/* Checks a part of a frame twice, because the second result must not depend on
 * the first. Returns the number of hits that did not fit. */
static uint64_t
check_part (Scan *self, const CuvWaldboostParams *params,
    const CuvCheckFrame *frame, const CuvRoi *roi)
{
  const int width = roi->right - roi->left, height = roi->bottom - roi->top;
  const CuvWaldboostPart part = { roi->left, roi->top, width, height,
    &self->matrix };
  CuvWaldboostPlan *plan =
      cuv_waldboost_plan_new (self->model, params, width, height);
  uint64_t survivors[MAX_SEGMENTS];
  CuvHitList wanted =
      scan_reference (self, plan, &frame->frame, roi, survivors);
  void *memory;
  const CuvFrame device = cuv_check_to_device (frame, &memory);
  CuvWaldboostResult found[MAX_MODELS];

  for (int i = 0; i < 2 && (i > 0 || set_plan (self, plan)); i++) {
    if (CUV_CHECK (cuv_waldboost_cuda_submit_part (
                       self->cuda, &device, &part, cuv_check_stream)
                == 0,
            ": %s", cuv_cuda_error ())
        && CUV_CHECK (cuv_waldboost_cuda_collect (self->cuda, found) == 0,
            ": %s", cuv_cuda_error ())) {
      for (int k = 0; k < self->n_models; k++)
        cuv_channels_check_same (plan, &wanted, &found[k]);
    }
  }
  cuv_check_device_free (memory);
  cuv_waldboost_plan_free (plan);
  free (wanted.hits);
  return wanted.lost;
}

static Scan
scan_new (const CuvWaldboostModel *model)
{
  return (Scan){ .model = model,
    .n_models = 1,
    .matrix = cuv_rgb_matrix (0.2126, 0.0722, true) };
}

static void
scan_clear (Scan *self)
{
  cuv_waldboost_cuda_free (self->cuda);
  cuv_model_unref (self->model);
}

/* ---- frames ---- */

/* Returns the whole frame, or a part that begins anywhere. */
static CuvRoi
any_part (int width, int height)
{
  CuvRoi part = { 0, 0, width, height };

  if (cuv_check_below (3) == 0) {
    part.left = cuv_channels_between (0, width / 2);
    part.top = cuv_channels_between (0, height / 2);
    part.right -= cuv_channels_between (0, (width - part.left) / 2);
    part.bottom -= cuv_channels_between (0, (height - part.top) / 2);
  }
  return part;
}

/* Checks frames of several sizes and formats, one after another, with the same
 * model. */
static void
check_frames (int shrink, int depth, int overhang)
{
  static const int degrees[] = { 0, 0, 0, 90, -33 };
  static const double upscales[] = { 1, 1, 1.7 };
  const int largest = cuv_check_options.few ? 90 : 340;
  Scan scan = scan_new (cuv_channels_model_random (shrink, depth, overhang,
      cuv_channels_between (1, 90), cuv_channels_between (0, 2) * 30));
  int n_formats = 0;

  while (cuv_check_formats[n_formats] != NULL)
    n_formats++;
  for (int i = 0; i < (cuv_check_options.few ? 1 : 3); i++) {
    const char *format =
        cuv_check_formats[cuv_check_below ((uint32_t) n_formats)];
    const int width = cuv_channels_between (1, largest);
    const int height = cuv_channels_between (1, largest);
    const CuvWaldboostParams params = { .upscale =
                                            upscales[cuv_check_below (3)],
      .rotation = degrees[cuv_check_below (5)],
      .n_segments = cuv_channels_between (0, 4),
      .segment_end = {
          cuv_channels_between (1, 8), cuv_channels_between (1, 90), 8, 9 } };
    CuvCheckFrame frame = cuv_check_frame_new (format, width, height,
        (CuvCheckFill) cuv_check_below (CUV_CHECK_N_FILLS));
    const CuvRoi part = any_part (width, height);

    cuv_check_case ("channels: %s, %d x %d, from %d, %d to %d, %d, turned by "
                    "%d, enlarged %.1f times, shrink %d, depth %d, overhang %d",
        format, width, height, part.left, part.top, part.right, part.bottom,
        params.rotation, params.upscale, shrink, depth, overhang);
    check_part (&scan, &params, &frame, &part);
    cuv_check_frame_free (&frame);
  }
  scan_clear (&scan);
}

/* Checks the largest window, overhang and number of trees. */
static void
check_largest (int shrink)
{
  const int overhang = CUV_CHANNELS_MAX_SIDE / shrink / 4;
  static const int sizes[][2] = { { 140, 131 }, { 127, 300 }, { 1, 1 } };
  const CuvWaldboostParams params = { .upscale = 1 };
  Scan scan = scan_new (cuv_channels_model_random (
      shrink, CUV_CHANNELS_MAX_DEPTH, overhang, CUV_CHANNELS_MAX_TREES, 30));

  for (int i = 0; i < (cuv_check_options.few ? 1 : 3); i++) {
    CuvCheckFrame frame = cuv_check_frame_new (
        "I420", sizes[i][0], sizes[i][1], CUV_CHECK_TEXTURE);
    const CuvRoi part = { 0, 0, sizes[i][0], sizes[i][1] };

    cuv_check_case ("channels: largest model, shrink %d, %d x %d", shrink,
        sizes[i][0], sizes[i][1]);
    check_part (&scan, &params, &frame, &part);
    cuv_check_frame_free (&frame);
  }
  scan_clear (&scan);
}

/* Checks more octaves than the first kernel halves, so that a level is resized
 * from a level that was itself resized. */
static void
check_octaves (void)
{
  const CuvWaldboostParams params = { .upscale = 1 };
  const CuvRoi part = { 0, 0, 521, 515 };
  CuvCheckFrame frame =
      cuv_check_frame_new ("I420", part.right, part.bottom, CUV_CHECK_TEXTURE);
  Scan scan = scan_new (cuv_channels_model_square (16, 16, 1));

  cuv_check_case ("channels: six octaves");
  check_part (&scan, &params, &frame, &part);
  cuv_check_frame_free (&frame);
  scan_clear (&scan);
}

/* Checks that the first hits of each model are kept if more windows are
 * accepted than a result can hold. */
static void
check_overflow (void)
{
  const CuvWaldboostParams params = {
    .scan = CUV_SCAN_DENSE, .octaves = 1, .levels_per_octave = 2
  };
  CuvCheckFrame frame =
      cuv_check_frame_new ("GRAY8", 901, 600, CUV_CHECK_NOISE);
  const CuvRoi part = { 0, 0, 901, 600 };
  Scan scan = scan_new (cuv_channels_model_random (2, 1, 0, 1, 0));

  cuv_check_case ("channels: more hits than fit");
  scan.n_models = 2;
  ((CuvChannelsModel *) scan.model->channels)->trees.final_threshold =
      -(1 << 20);
  CUV_CHECK (check_part (&scan, &params, &frame, &part) > 0);
  cuv_check_frame_free (&frame);
  scan_clear (&scan);
}

/* Checks a whole frame of video, of noise with several contrasts, so that most
 * pairs of magnitudes and surroundings occur. */
static void
check_video (void)
{
  const CuvWaldboostParams params = { .upscale = 1 };
  const CuvRoi part = { 0, 0, 1920, 1080 };
  Scan scan = scan_new (cuv_channels_model_random (4, 2, 2, 60, 10));
  CuvCheckFrame frame =
      cuv_check_frame_new ("NV12", part.right, part.bottom, CUV_CHECK_NOISE);
  const CuvComponent *luma = &frame.frame.component[0];

  for (int y = 0; y < part.bottom; y++) {
    for (int x = 0; x < part.right; x++)
      luma->data[(ptrdiff_t) y * luma->stride + x] >>= (x / 60 + y / 60) % 8;
  }
  cuv_check_case ("channels: 1920 x 1080");
  check_part (&scan, &params, &frame, &part);
  cuv_check_frame_free (&frame);
  scan_clear (&scan);
}

CUV_CHECKS_CUDA (check_channels_cuda)
{
  for (int depth = 1; depth <= CUV_CHANNELS_MAX_DEPTH; depth++) {
    for (int overhang = 0; overhang <= 4; overhang += 2) {
      check_frames (2, depth, overhang);
      check_frames (4, depth, overhang);
    }
  }
  check_largest (2);
  check_largest (4);
  check_octaves ();
  if (!cuv_check_options.few) {
    check_overflow ();
    check_video ();
  }
}

/* ---- speed ---- */

typedef struct {
  CuvWaldboostCuda *cuda;
  CuvFrame frame;
  CuvWaldboostPart part;
  CuvWaldboostResult results[MAX_MODELS];
} Bench;

static void
run_bench (void *data)
{
  Bench *self = data;

  cuv_waldboost_cuda_submit_part (
      self->cuda, &self->frame, &self->part, cuv_check_stream);
  cuv_waldboost_cuda_collect (self->cuda, self->results);
}

/* Returns the model CUV_BENCH_MODEL, or random trees. */
static const CuvWaldboostModel *
channels_model (int reject)
{
  const char *path = getenv ("CUV_BENCH_MODEL");
  const CuvWaldboostModel *model;

  if (path != NULL) {
    model = bench_cascade (path);
    CUV_CHECK (model != NULL && model->channels != NULL, ": %s", path);
    return model;
  }
  model = cuv_channels_model_random (4, 2, 2, 1024, reject);
  ((CuvChannelsModel *) model->channels)->levels = 4; /* as cuvision-train */
  return model;
}

/* Returns the frame in the file CUV_BENCH_FRAME, raw NV12 of this size without
 * padding, or a texture. */
static CuvCheckFrame
channels_frame (int width, int height)
{
  const char *path = getenv ("CUV_BENCH_FRAME");
  CuvCheckFrame frame =
      cuv_check_frame_new ("NV12", width, height, CUV_CHECK_TEXTURE);
  FILE *file = path != NULL ? fopen (path, "rb") : NULL;

  for (int i = 0; i < 2 && file != NULL; i++) {
    const CuvComponent *plane = &frame.frame.component[i];

    for (int y = 0; y < height >> i; y++)
      CUV_CHECK (fread (plane->data + (ptrdiff_t) y * plane->stride,
                     (size_t) width, 1, file)
          == 1);
  }
  if (file != NULL)
    fclose (file);
  return frame;
}

/* Reports the time from the frame in device memory to its hits in host memory,
 * and the part of it that the scan takes according to the result. */
static void
time_scan (const char *shape, int width, int height, int reject, int n_models)
{
  const CuvRgbMatrix matrix = cuv_rgb_matrix (0.2126, 0.0722, true);
  const CuvWaldboostParams params = { .upscale = 1 };
  const CuvWaldboostModel *model;
  CuvWaldboostPlan *plan;
  CuvCheckFrame frame;
  const CuvWaldboostResult *result;
  void *memory;
  Bench self;
  double us;

  if (!cuv_check_wants (shape))
    return;
  model = channels_model (reject);
  plan = cuv_waldboost_plan_new (model, &params, width, height);
  frame = channels_frame (width, height);
  self = (Bench){ .cuda = cuv_waldboost_cuda_new (
                      searches_of (model, plan), n_models),
    .frame = cuv_check_to_device (&frame, &memory),
    .part = { 0, 0, width, height, &matrix } };
  us = cuv_check_time (run_bench, &self);
  result = &self.results[0];
  cuv_check_report (us, (double) width * height, (double) width * height * 1.5,
      "%s, CUDA, %d models of %d trees, %.1f a window, %d hits, channels %.0f "
      "us, scan %.0f us",
      shape, n_models, model->n_weak,
      (double) result->weak / (double) result->windows, result->n_hits,
      result->pyramid_us, result->scan_us);
  cuv_check_device_free (memory);
  cuv_check_frame_free (&frame);
  cuv_waldboost_cuda_free (self.cuda);
  cuv_waldboost_plan_free (plan);
  cuv_model_unref (model);
}

CUV_BENCH_CUDA (bench_channels_cuda)
{
  time_scan ("channels-480", 640, 480, 10, 1);
  time_scan ("channels-1080", 1920, 1080, 10, 1);
  time_scan ("channels-1080-four", 1920, 1080, 10, 4);
  time_scan ("channels-1080-all", 1920, 1080, 0, 1);
  time_scan ("channels-2160", 3840, 2160, 10, 1);
}
#endif
