/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The detector: plain C against the definition, AVX2, any number of threads and
 * CUDA against plain C. */
#include "config.h"
#include "waldboost-oracle.h"
#include "cuvcpu.h"
#include "model.h"
#if HAVE_CUDA
#include "waldboost/waldboost.h"
#endif

#define DEFAULT_MODEL                                                          \
  "/usr/share/opencv4/lbpcascades/lbpcascade_frontalface_improved.xml"

static const CuvWaldboostParams factor_1_1 = { .scale_factor = 1.1 };

/* ---- one scan, each version ---- */

static CuvWaldboostResult
copy_result (const CuvWaldboostResult *result)
{
  CuvWaldboostResult copy = *result;
  size_t size = result->n_hits * sizeof *result->hits;

  copy.survivors = NULL;
  copy.hits = memcpy (malloc (size + sizeof *result->hits), result->hits, size);
  return copy;
}

static CuvWaldboostResult
run_cpu (const CuvWaldboostModel *model, const CuvWaldboostPlan *plan,
    const CuvFrame *frame, unsigned mask, int n_threads)
{
  CuvWaldboostCpu *cpu;
  CuvWaldboostResult result;

  cuv_cpu_set_mask (mask);
  cpu = cuv_waldboost_cpu_new (model, plan);
  cuv_waldboost_cpu_run (cpu, frame, n_threads, &result);
  cuv_waldboost_cpu_run (cpu, frame, n_threads, &result); /* nothing is left */
  result = copy_result (&result);
  cuv_waldboost_cpu_free (cpu);
  cuv_cpu_set_mask (~0u);
  return result;
}

static void
check_equal (const CuvWaldboostResult *a, const CuvWaldboostResult *b)
{
  int n = a->n_hits < b->n_hits ? a->n_hits : b->n_hits, i = 0;

  CUV_CHECK (a->n_hits == b->n_hits, ": %d and %d", a->n_hits, b->n_hits);
  CUV_CHECK (
      a->overflow == b->overflow, ": %d and %d", a->overflow, b->overflow);
  CUV_CHECK (a->windows == b->windows, ": %llu and %llu",
      (unsigned long long) a->windows, (unsigned long long) b->windows);
  while (i < n && memcmp (&a->hits[i], &b->hits[i], sizeof *a->hits) == 0)
    i++;
  CUV_CHECK (i == n, ": hit %d: level %d at %d, %d and level %d at %d, %d", i,
      a->hits[i].level, a->hits[i].x, a->hits[i].y, b->hits[i].level,
      b->hits[i].x, b->hits[i].y);
}

static void
check_cpu (const CuvWaldboostModel *model, const CuvWaldboostPlan *plan,
    const CuvFrame *frame, const CuvWaldboostResult *expected)
{
  static const int threads[] = { 1, 2, 3, 8, 0 };

  for (int mask = 0; mask < 2; mask++) {
    for (size_t i = mask == 0; i < sizeof threads / sizeof *threads; i++) {
      CuvWaldboostResult result =
          run_cpu (model, plan, frame, mask ? ~0u : 0, threads[i]);

      check_equal (expected, &result);
      free ((void *) result.hits);
    }
  }
}

#if HAVE_CUDA
static void
check_cuda (const CuvWaldboostModel *model, const CuvWaldboostPlan *plan,
    const CuvCheckFrame *host, const CuvWaldboostResult *expected)
{
  void *memory, *stream = cuv_check_stream_new ();
  CuvFrame frame = cuv_check_to_device (host, &memory);
  CuvWaldboostCuda *cuda = cuv_waldboost_cuda_new (model, plan);
  CuvWaldboostResult result;

  if (CUV_CHECK (cuda != NULL, ": %s", cuv_cuda_error ())) {
    for (int i = 0; i < 2; i++) {
      CUV_CHECK (cuv_waldboost_cuda_submit (cuda, &frame, stream) == 0, ": %s",
          cuv_cuda_error ());
      CUV_CHECK (cuv_waldboost_cuda_collect (cuda, &result) == 0, ": %s",
          cuv_cuda_error ());
      check_equal (expected, &result);
    }
  }
  cuv_waldboost_cuda_free (cuda);
  cuv_check_device_free (memory);
  cuv_check_stream_free (stream);
}
#endif

static uint64_t n_hits_seen;

static void
check_all (const CuvWaldboostModel *model, const CuvWaldboostParams *params,
    const CuvCheckFrame *frame, bool with_oracle)
{
  CuvWaldboostPlan *plan = cuv_waldboost_plan_new (
      model, params, frame->frame.width, frame->frame.height);
  CuvWaldboostResult expected = run_cpu (model, plan, &frame->frame, 0, 1);

  n_hits_seen += (uint64_t) expected.n_hits;
  if (with_oracle) {
    CuvWaldboostResult oracle = oracle_scan (model, plan, &frame->frame);

    check_equal (&oracle, &expected);
    free ((void *) oracle.hits);
  }
  if (cuv_check_options.cpu)
    check_cpu (model, plan, &frame->frame, &expected);
#if HAVE_CUDA
  if (cuv_check_options.cuda && plan->n_levels > 0)
    check_cuda (model, plan, frame, &expected);
#endif
  CUV_CHECK (cuv_check_guards_intact (frame));
  free ((void *) expected.hits);
  cuv_waldboost_plan_free (plan);
}

/* ---- cases ---- */

static const ModelKind kinds[] = {
  { 24, 4, 6, 1, 0.5 },  /* like a face model */
  { 12, 3, 3, 1, 0.8 },  /* many hits */
  { 50, 3, 8, 1, 0.6 },  /* blocks of up to 256 pixels and more */
  { 100, 3, 5, 1, 0.6 }, /* blocks whose sums need more than 16 bits */
  { 20, 3, 6, 8, 0.6 },  /* trees */
  { 20, 3, 20, 1, 0.6 }, /* stages too long for a table */
  { 3, 1, 1, 1, 0.5 },   /* the smallest */
};
#define N_KINDS (sizeof kinds / sizeof *kinds)

static CuvWaldboostParams
random_params (void)
{
  static const double factors[] = { 1.07, 1.1, 1.25, 1.7, 2.5 };
  CuvWaldboostParams params = { .scale_factor = factors[cuv_check_below (5)] };

  if (cuv_check_below (2)) {
    params.min_width = random_between (0, 60);
    params.min_height = random_between (0, 60);
    params.max_width = random_between (0, 200);
    params.max_height = random_between (0, 200);
  }
  return params;
}

static void
check_random (int width, int height, int n, bool with_oracle)
{
  for (int i = 0; i < n; i++) {
    const char *const *format = cuv_check_formats;
    size_t kind = (size_t) i % N_KINDS;
    CuvCheckFill fill =
        cuv_check_below (4) ? CUV_CHECK_TEXTURE : cuv_check_below (4);
    RandomModel *random = random_model (&kinds[kind]);
    CuvWaldboostParams params = random_params ();
    CuvCheckFrame frame =
        cuv_check_frame_new (format[cuv_check_below (13)], width, height, fill);

    cuv_check_case ("%d x %d, kind %zu, window %d x %d, factor %g, fill %d",
        width, height, kind, random->model.window_width,
        random->model.window_height, params.scale_factor, fill);
    check_all (&random->model, &params, &frame, with_oracle);
    cuv_check_frame_free (&frame);
    free (random);
  }
}

static void
check_formats (void)
{
  for (int i = 0; cuv_check_formats[i] != NULL; i++) {
    RandomModel *random = random_model (&kinds[1]);
    CuvCheckFrame frame =
        cuv_check_frame_new (cuv_check_formats[i], 97, 63, CUV_CHECK_TEXTURE);

    cuv_check_case ("%s", cuv_check_formats[i]);
    check_all (&random->model, &factor_1_1, &frame, true);
    cuv_check_frame_free (&frame);
    free (random);
  }
}

/* Sums of blocks at the limits of 16 bits: 257 and 258 white pixels, with some
 * that are a little or much darker. */
static void
check_limits (void)
{
  static const struct {
    int width, height;
  } blocks[] = { { 1, 257 }, { 2, 129 }, { 16, 16 }, { 17, 15 }, { 32, 8 },
    { 64, 64 } };

  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
    ModelKind kind = { 3, 1, 1, 1, 0.5 };
    RandomModel *random = random_model (&kind);
    CuvWaldboostModel *model = &random->model;
    CuvCheckFrame frame;
    int w = blocks[i].width, h = blocks[i].height;

    model->window_width = 3 * w + 2;
    model->window_height = 3 * h + 1;
    model->max_block_area = w * h;
    random->nodes[0].width = (int16_t) w;
    random->nodes[0].height = (int16_t) h;
    random->nodes[0].x = random->nodes[0].y = 1;
    random->nodes[0].left = 0;
    random->nodes[0].right = -1;
    random->leaves[0] = 1;
    random->leaves[1] = -1;
    random->weak[0].threshold = 0;
    cuv_check_case ("white, blocks of %d x %d", w, h);
    frame =
        cuv_check_frame_new ("GRAY8", 3 * w + 30, 3 * h + 20, CUV_CHECK_WHITE);
    for (int k = 0; k < 200; k++) {
      const CuvComponent *grey = &frame.frame.component[0];
      uint8_t *pixel = grey->data + cuv_check_below (3 * h + 20) * grey->stride
          + cuv_check_below (3 * w + 30);

      *pixel = k % 2 ? 0 : 254;
    }
    check_all (model, &factor_1_1, &frame, true);
    cuv_check_frame_free (&frame);
    free (random);
  }
}

/* Every window is a hit: the first ones are kept, the others are counted. */
static void
check_overflow (void)
{
  RandomModel *random = random_model (&kinds[6]);
  CuvCheckFrame frame =
      cuv_check_frame_new ("GRAY8", 1000, 800, CUV_CHECK_TEXTURE);
  CuvWaldboostPlan *plan =
      cuv_waldboost_plan_new (&random->model, &factor_1_1, 1000, 800);
  CuvWaldboostResult expected;

  cuv_check_case ("more hits than are kept");
  random->weak[0].threshold = -1e6f;
  expected = run_cpu (&random->model, plan, &frame.frame, 0, 1);
  CUV_CHECK (expected.n_hits == CUV_WALDBOOST_MAX_HITS);
  CUV_CHECK (expected.overflow > 0);
  CUV_CHECK ((uint64_t) expected.n_hits + (uint64_t) expected.overflow
      == expected.windows);
  check_cpu (&random->model, plan, &frame.frame, &expected);
  free ((void *) expected.hits);
  cuv_waldboost_plan_free (plan);
  cuv_check_frame_free (&frame);
  free (random);
}

/* ---- bench ---- */

typedef struct {
  CuvFrame frame;
  CuvWaldboostCpu *cpu;
  struct _CuvWaldboostCuda *cuda;
  void *stream;
  int n_threads;
} Bench;

static void
bench_cpu (void *data)
{
  Bench *self = data;
  CuvWaldboostResult result;

  cuv_waldboost_cpu_run (self->cpu, &self->frame, self->n_threads, &result);
}

static void
bench_versions (const CuvWaldboostModel *model, const CuvWaldboostPlan *plan,
    const CuvCheckFrame *frame)
{
  Bench bench = { .frame = frame->frame };
  double pixels = (double) plan->width * plan->height;

  for (int version = 0; version < 2; version++) {
    cuv_cpu_set_mask (version ? ~0u : 0);
    bench.cpu = cuv_waldboost_cpu_new (model, plan);
    for (bench.n_threads = 1; bench.n_threads <= 2; bench.n_threads++) {
      char name[64];

      snprintf (name, sizeof name, "waldboost %s %d threads",
          version ? "avx2" : "c", bench.n_threads);
      cuv_check_report (name, cuv_check_time (bench_cpu, &bench), pixels, 0);
    }
    cuv_waldboost_cpu_free (bench.cpu);
  }
}

#if HAVE_CUDA
static void
bench_submit (void *data)
{
  Bench *self = data;

  cuv_waldboost_cuda_submit (self->cuda, &self->frame, self->stream);
}

static void
bench_collect (void *data)
{
  Bench *self = data;
  CuvWaldboostResult result;

  bench_submit (self);
  cuv_waldboost_cuda_collect (self->cuda, &result);
}

static void
bench_cuda (const CuvWaldboostModel *model, const CuvWaldboostPlan *plan,
    const CuvCheckFrame *host)
{
  void *memory;
  Bench bench = { .frame = cuv_check_to_device (host, &memory),
    .cuda = cuv_waldboost_cuda_new (model, plan),
    .stream = cuv_check_stream_new () };
  double pixels = (double) plan->width * plan->height;

  if (CUV_CHECK (bench.cuda != NULL, ": %s", cuv_cuda_error ())) {
    cuv_check_report ("waldboost cuda, on the device",
        cuv_check_time_device (bench_submit, &bench, bench.stream), pixels,
        pixels);
    cuv_check_report ("waldboost cuda, submit to result",
        cuv_check_time (bench_collect, &bench), pixels, 0);
  }
  cuv_waldboost_cuda_free (bench.cuda);
  cuv_check_stream_free (bench.stream);
  cuv_check_device_free (memory);
}
#endif

static const CuvWaldboostModel *
read_model (const char *path)
{
  const CuvWaldboostModel *model = NULL;
  FILE *file = fopen (path, "rb");
  char *bytes = malloc (1 << 22), *error = NULL;

  if (CUV_CHECK (file != NULL, ": %s", path)) {
    size_t size = fread (bytes, 1, 1 << 22, file);

    fclose (file);
    model = cuv_model_parse (bytes, size, NULL, &error);
    CUV_CHECK (model != NULL, ": %s: %s", path, error);
  }
  free (error);
  free (bytes);
  return model;
}

/* CUV_BENCH_PICTURE, or a texture of 1920x1080. */
static CuvCheckFrame
bench_frame (void)
{
  const char *path = getenv ("CUV_BENCH_PICTURE");
  int width, height;
  uint8_t *pixels;
  CuvCheckFrame frame;

  if (path == NULL)
    return cuv_check_frame_new ("GRAY8", 1920, 1080, CUV_CHECK_TEXTURE);
  pixels = cuv_check_read_pgm (path, &width, &height);
  if (pixels == NULL)
    exit (1);
  frame = cuv_check_frame_new ("GRAY8", width, height, CUV_CHECK_BLACK);
  for (int y = 0; y < height; y++)
    memcpy (frame.frame.component[0].data
            + (size_t) y * frame.frame.component[0].stride,
        pixels + (size_t) y * width, width);
  free (pixels);
  return frame;
}

static void
bench (void)
{
  const char *path = getenv ("CUV_BENCH_MODEL");
  const CuvWaldboostModel *model = read_model (path ? path : DEFAULT_MODEL);
  CuvCheckFrame frame;
  CuvWaldboostPlan *plan;

  if (model == NULL)
    return;
  frame = bench_frame ();
  plan = cuv_waldboost_plan_new (
      model, &factor_1_1, frame.frame.width, frame.frame.height);
  if (cuv_check_options.cpu)
    bench_versions (model, plan, &frame);
#if HAVE_CUDA
  if (cuv_check_options.cuda)
    bench_cuda (model, plan, &frame);
#endif
  cuv_waldboost_plan_free (plan);
  cuv_check_frame_free (&frame);
  cuv_model_unref (model);
}

static void
run (void)
{
  if (cuv_check_options.bench) {
    bench ();
    return;
  }
  check_formats ();
  check_limits ();
  check_random (1, 1, 2, true);
  check_random (3, 3, 14, true);
  check_random (17, 33, 28, true);
  check_random (61, 47, 28, true);
  check_random (641, 479, 14, false);
  check_random (1919, 1079, 2, false);
  if (cuv_check_options.cpu)
    check_overflow ();
  cuv_check_case ("all");
  CUV_CHECK (n_hits_seen > 1000);
}

int
main (int argc, char **argv)
{
  return cuv_check_main (argc, argv, run);
}
