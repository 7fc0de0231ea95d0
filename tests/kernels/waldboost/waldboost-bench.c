/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Benchmark: cascades with OpenCV's scan, dense scans with models of each
 * feature, the worst case and, on the GPU, all rearrangements. */
#include "config.h"
#include "cpu/waldboost-cpu.h"
#include "cuvcpu.h"
#include "model/model.h"
#include "waldboost-inputs.h"
#include "waldboost-versions.h"
#if HAVE_CUDA
#include "waldboost/waldboost.h"
#endif

#include <math.h>
#include <stdlib.h>

#define LBP_CASCADE                                                            \
  "/usr/share/opencv4/lbpcascades/lbpcascade_frontalface_improved.xml"
#define HAAR_CASCADE                                                           \
  "/usr/share/opencv4/haarcascades/haarcascade_frontalface_default.xml"

#define MANY_STREAMS 16

static const CuvWaldboostParams as_opencv = { .scan = CUV_SCAN_OPENCV,
  .scale_factor = 1.1 };
static const CuvWaldboostParams dense = { .scan = CUV_SCAN_DENSE };

typedef struct {
  const char *name;
  const CuvWaldboostModel *model;
  const CuvWaldboostPlan *plan;
  const CuvCheckFrame *host;
  CuvFrame frame;
  void *memory;
  void *state; /* a CuvWaldboostCpu or CuvWaldboostCuda */
  void *stream;
  int n_threads;
} Bench;

static double
pixels_of (const Bench *self)
{
  return (double) self->plan->width * self->plan->height;
}

/* Prints the statistics of a scan. */
static void
print_survivors (const Bench *self)
{
  CuvWaldboostCpu *cpu = cuv_waldboost_cpu_new (self->model, self->plan);
  CuvWaldboostResult scan, *result = &scan;

  cuv_waldboost_cpu_run (cpu, &self->host->frame, 0, result);
  printf ("%s, %d x %d: %llu windows, %.2f weak classifiers each, %d hits\n",
      self->name, self->plan->width, self->plan->height,
      (unsigned long long) result->windows,
      (double) result->weak / (double) result->windows, result->n_hits);
  printf ("survivors after");
  for (int s = 0; s < self->plan->n_segments; s++)
    printf (" %d: %llu%s", self->plan->segment_end[s],
        (unsigned long long) result->survivors[s],
        s + 1 < self->plan->n_segments ? "," : "\n");
  cuv_waldboost_cpu_free (cpu);
}

static bool
bench_open (Bench *self)
{
  self->frame = cuv_check_lend (self->host, &self->memory);
  self->stream = cuv_check_stream;
  self->state =
      CUV_CHECK_ON ((void *) cuv_waldboost_cuda_new (
                        &(CuvWaldboostSearch){ self->model, self->plan }, 1),
          cuv_waldboost_cpu_new (self->model, self->plan));
  return CUV_CHECK (self->state != NULL, ": %s", cuv_check_error ());
}

static void
bench_close (Bench *self)
{
  CUV_CHECK_ON (cuv_waldboost_cuda_free (self->state),
      cuv_waldboost_cpu_free (self->state));
  cuv_check_device_free (self->memory);
}

static void
submit (void *data)
{
  Bench *self = data;
  CuvWaldboostResult result;

  CUV_CHECK_RUN (
      cuv_waldboost_cuda_submit (self->state, &self->frame, self->stream),
      cuv_waldboost_cpu_run (
          self->state, &self->frame, self->n_threads, &result));
}

/* ---- CPU ---- */

static void
time_cpu (Bench bench, bool avx2, int max_threads)
{
  cuv_cpu_set_mask (avx2 ? ~0u : 0);
  bench_open (&bench);
  for (bench.n_threads = 1; bench.n_threads <= max_threads; bench.n_threads++)
    cuv_check_bench (submit, &bench, pixels_of (&bench), 0, "%s %s %d threads",
        bench.name, avx2 ? "avx2" : "c", bench.n_threads);
  bench_close (&bench);
  cuv_cpu_set_mask (~0u);
}

/* ---- CUDA ---- */

#if HAVE_CUDA
static void
submit_and_collect (void *data)
{
  Bench *self = data;
  CuvWaldboostResult result;

  submit (self);
  cuv_waldboost_cuda_collect (self->state, &result);
}

/* Submits frames to many streams in turn, to each as soon as it is free. */
typedef struct {
  Bench of[MANY_STREAMS];
} Streams;

static void
collect_and_submit (void *data)
{
  Streams *self = data;
  CuvWaldboostResult result;

  for (int i = 0; i < MANY_STREAMS; i++) {
    cuv_waldboost_cuda_collect (self->of[i].state, &result);
    submit (&self->of[i]);
  }
}

/* Reports the time per frame with all streams. */
static void
time_streams (Bench bench)
{
  Streams streams;
  bool ok = true;

  cuv_check_stream_wait (cuv_check_stream); /* the frame is there */
  for (int i = 0; i < MANY_STREAMS; i++) {
    bench.state = cuv_waldboost_cuda_new (
        &(CuvWaldboostSearch){ bench.model, bench.plan }, 1);
    bench.stream = cuv_check_stream_new ();
    ok &= CUV_CHECK (bench.state != NULL, ": %s", cuv_check_error ());
    streams.of[i] = bench;
    if (ok)
      submit (&bench);
  }
  if (ok)
    cuv_check_report (
        cuv_check_time (collect_and_submit, &streams) / MANY_STREAMS,
        pixels_of (&bench), 0, "%s cuda, of %d streams", bench.name,
        MANY_STREAMS);
  for (int i = 0; i < MANY_STREAMS; i++) {
    CuvWaldboostResult result;

    if (ok)
      cuv_waldboost_cuda_collect (streams.of[i].state, &result);
    cuv_waldboost_cuda_free (streams.of[i].state);
    cuv_check_stream_free (streams.of[i].stream);
  }
}

static void
time_cuda (Bench bench)
{
  if (bench_open (&bench)) {
    cuv_check_bench (submit, &bench, pixels_of (&bench), pixels_of (&bench),
        "%s cuda, on the device", bench.name);
    cuv_check_report (cuv_check_time (submit_and_collect, &bench),
        pixels_of (&bench), 0, "%s cuda, submit to result", bench.name);
    time_streams (bench);
  }
  bench_close (&bench);
}

/* ---- rearrangements ---- */

static const char *const rearrangements[] = { "auto", "none", "global",
  "shared", "hybrid", "prefix-sum", "ballot" };

/* Returns the time of one variant in microseconds, or NAN. */
static double
time_variant (Bench *self, CuvRearrangement rearrangement, int block_size)
{
  CuvWaldboostParams params = dense;
  CuvWaldboostPlan *plan;
  double time = NAN;

  params.rearrangement = rearrangement;
  params.block_size = block_size;
  plan = cuv_waldboost_plan_new (
      self->model, &params, self->plan->width, self->plan->height);
  if (CUV_CHECK (cuv_waldboost_cuda_set_plans (
                     self->state, &(CuvWaldboostSearch){ .plan = plan })
              == 0,
          ": %s", cuv_cuda_error ()))
    time = cuv_check_time_device (submit, self, self->stream);
  cuv_waldboost_plan_free (plan);
  return time;
}

static void
time_variants (Bench bench)
{
  if (bench_open (&bench)) {
    print_survivors (&bench);
    printf (
        "%-12s %9s %9s %9s   us on the device\n", "", "8x8", "16x16", "32x32");
    for (int r = CUV_REARRANGE_AUTO; r <= CUV_REARRANGE_BALLOT; r++) {
      printf ("%-12s", rearrangements[r]);
      for (int size = 8; size <= 32; size *= 2)
        printf (" %9.1f", time_variant (&bench, r, size));
      printf ("\n");
    }
  }
  bench_close (&bench);
}
#endif

/* ---- cases ---- */

/* Times a scan; in plain C only if with_c, as this is slow. */
static void
time_scan (const char *name, const CuvWaldboostModel *model,
    const CuvWaldboostParams *params, const CuvCheckFrame *frame, bool with_c)
{
  CuvWaldboostPlan *plan = cuv_waldboost_plan_new (
      model, params, frame->frame.width, frame->frame.height);
  Bench bench = { .name = name, .model = model, .plan = plan, .host = frame };

  if (model->arithmetic != CUV_SUM_STAGES)
    print_survivors (&bench);
  if (cuv_check_options.cpu && with_c)
    time_cpu (bench, false, 2);
  if (cuv_check_options.cpu)
    time_cpu (bench, true, 2);
#if HAVE_CUDA
  if (cuv_check_options.cuda)
    time_cuda (bench);
#endif
  cuv_waldboost_plan_free (plan);
}

static void
time_cascade (const char *name, const char *path, const CuvCheckFrame *picture)
{
  const CuvWaldboostModel *model = bench_cascade (path);

  if (model != NULL)
    time_scan (name, model, &as_opencv, picture, true);
  cuv_model_unref (model);
}

/* Times all rearrangements at several frame sizes. */
static void
time_sizes (const char *name, const CuvWaldboostModel *model,
    const CuvCheckFrame *picture)
{
#if HAVE_CUDA
  static const int sizes[][2] = { { 640, 480 }, { 1280, 720 }, { 1920, 1080 } };

  for (size_t i = 0; cuv_check_options.cuda && i < 3; i++) {
    CuvCheckFrame frame = bench_scaled (picture, sizes[i][0], sizes[i][1]);
    CuvWaldboostPlan *plan =
        cuv_waldboost_plan_new (model, &dense, sizes[i][0], sizes[i][1]);
    Bench bench = {
      .name = name, .model = model, .plan = plan, .host = &frame
    };

    time_variants (bench);
    cuv_waldboost_plan_free (plan);
    cuv_check_frame_free (&frame);
  }
#endif
}

static void
time_dense (const CuvCheckFrame *picture)
{
  static const char *const names[] = { "lbp", "lrd", "lrp" };
  CuvCheckFrame frame = bench_scaled (picture, 1920, 1080);

  for (int feature = CUV_FEATURE_LBP; feature <= CUV_FEATURE_LRP; feature++) {
    for (int n_weak = 512; n_weak <= 1024; n_weak *= 2) {
      RandomModel *random = bench_model (feature, n_weak, &frame);
      char name[60];

      snprintf (
          name, sizeof name, "waldboost dense %s %d", names[feature], n_weak);
      time_scan (name, &random->model, &dense, &frame, false);
      if (n_weak == 1024)
        time_sizes (name, &random->model, picture);
      free (random);
    }
  }
  cuv_check_frame_free (&frame);
}

/* Times a scan in which every window runs all stages. The CPU gets a small
 * frame, as this is slow. */
static void
time_worst_case (const CuvCheckFrame *picture)
{
  bool cuda = cuv_check_options.cuda;
  CuvCheckFrame frame =
      bench_scaled (picture, cuda ? 1920 : 320, cuda ? 1080 : 240);
  RandomModel *random = bench_model (CUV_FEATURE_LBP, 256, &frame);

  for (int k = 0; k < 256; k++)
    set_threshold (random, k, -INFINITY);
  set_final_threshold (random, 1e9); /* no hits */
  time_scan ("waldboost dense lbp 256 without thresholds", &random->model,
      &dense, &frame, false);
  cuv_check_frame_free (&frame);
  free (random);
}

CUV_BENCH (bench)
{
  const char *path = getenv ("CUV_BENCH_MODEL");
  CuvCheckFrame picture;

  if (!cuv_check_wants ("patterns"))
    return;
  picture = cuv_check_bench_picture ();
  time_cascade ("waldboost", path != NULL ? path : LBP_CASCADE, &picture);
  if (path == NULL)
    time_cascade ("waldboost haar", HAAR_CASCADE, &picture);
  if (!cuv_check_options.few) {
    time_dense (&picture);
    time_worst_case (&picture);
  }
  cuv_check_frame_free (&picture);
}
