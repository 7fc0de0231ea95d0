/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The search with C, AVX2 and CUDA against the C reference: equal bit for bit,
 * except for Förstner scores on the GPU, which the error of the logarithm may
 * change. */
#include "cpu/rcd-cpu-private.h"
#include "rcd-bench.h"
#include "rcd/rcd-distance.h"
#include "rcd/rcd-pixel.h"
#include "rcd/rcd.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  RcdInput *input;
  CuvCheckVersion version;
  void *state;    /* a CuvRcdCpu or CuvRcdCuda */
  CuvFrame frame; /* where the version finds the input's frame */
  void *memory;
  CuvRcdMatch matches[CUV_RCD_MAX_TARGETS];
} Run;

static bool
run_init (Run *self, RcdInput *input, const CuvCheckVersion *version)
{
  *self = (Run){ .input = input, .version = *version };
  self->state = CUV_CHECK_ON ((void *) cuv_rcd_cuda_new (&input->config),
      cuv_rcd_cpu_new (&input->config));
  self->frame = cuv_check_lend (&input->frame, &self->memory);
  return CUV_CHECK (self->state != NULL, ": %s", cuv_check_error ());
}

static void
run_clear (Run *self)
{
  CUV_CHECK_ON (
      cuv_rcd_cuda_free (self->state), cuv_rcd_cpu_free (self->state));
  cuv_check_device_free (self->memory);
}

static void
submit (void *data)
{
  Run *self = data;
  RcdInput *input = self->input;

  CUV_CHECK_RUN (cuv_rcd_cuda_submit (self->state, &self->frame, &input->search,
                     cuv_check_stream),
      cuv_rcd_cpu_run (self->state, &self->frame, &input->search,
          self->version.n_threads, self->matches));
}

/* ---- results ---- */

#if HAVE_CUDA
/* Returns integral images by the C reference; free() them. */
static int64_t *
integrals_of (const RcdInput *input, size_t *n)
{
  const CuvRcdArea *area = &input->search.area;
  const int n_sums = CUV_RCD_SUMS (cuv_rcd_n_features (input->config.features));
  const int cell = input->config.cell;
  int32_t x[CUV_RCD_MAX_SIZE + 1], y[CUV_RCD_MAX_SIZE + 1];
  const CuvRcdGrid grid = { area->n_columns, area->n_rows, x, y };
  int64_t *cells, *integrals;

  for (int i = 0; i <= area->n_columns; i++)
    x[i] = (area->column + i) * cell;
  for (int i = 0; i <= area->n_rows; i++)
    y[i] = (area->row + i) * cell;
  *n = (size_t) (area->n_columns + 1) * (size_t) (area->n_rows + 1)
      * (size_t) n_sums;
  cells = malloc (*n * sizeof *cells);
  integrals = malloc (*n * sizeof *integrals);
  cuv_rcd_cell_sums (&input->frame.frame, input->config.features, &grid, cells);
  cuv_rcd_integrate (cells, n_sums, &grid, integrals);
  free (cells);
  return integrals;
}

static void
check_integrals (const Run *self)
{
  size_t n, wrong = 0;
  int64_t *expected = integrals_of (self->input, &n);
  int64_t *found = malloc (n * sizeof *found);

  CUV_CHECK (cuv_rcd_cuda_get_integrals (self->state, found) == 0);
  for (size_t i = 0; i < n; i++)
    wrong += found[i] != expected[i];
  CUV_CHECK (wrong == 0, ": %zu of %zu integrals", wrong, n);
  free (found);
  free (expected);
}
#endif

/* Returns whether results must be exact. On the GPU, rounding errors of
 * Förstner's metric may select another window. */
static bool
is_exact (const RcdInput *input)
{
  return !cuv_check_options.cuda || input->config.metric == CUV_RCD_JBLD;
}

static bool
is_near (const RcdInput *input, double a, double b)
{
  const CuvRcdMetric metric = input->config.metric;

  return a == b
      || (!is_exact (input)
          && fabs (cuv_rcd_distance (a, metric) - cuv_rcd_distance (b, metric))
              < 1e-9);
}

static void
check_scores (const Run *self)
{
  const RcdInput *input = self->input;
  const int n = input->config.max_windows;
  double *found = malloc (((size_t) n + 1) * sizeof *found);
  int wrong = 0;

  CUV_CHECK_RUN (cuv_rcd_cuda_get_scores (self->state, found),
      memcpy (
          found, cuv_rcd_cpu_scores (self->state), (size_t) n * sizeof *found));
  for (int i = 0; i < n; i++)
    wrong += !is_near (input, found[i], input->scores[i]);
  CUV_CHECK (wrong == 0, ": %d of %d scores", wrong, n);
  free (found);
}

static void
check_matches (const Run *self)
{
  const RcdInput *input = self->input;

  if (is_exact (input)) {
    rcd_check_found (input, self->matches, NULL, self->version.name);
    return;
  }
  for (int t = 0; t < input->search.n_targets; t++) {
    const CuvRcdMatch *a = &self->matches[t], *b = &input->matches[t];

    CUV_CHECK (is_near (input, a->score, b->score), ": target %d", t);
    CUV_CHECK ((a->window < 0) == (b->window < 0), ": target %d", t);
    if (a->window != b->window)
      continue;
    CUV_CHECK (is_near (input, a->second, b->second), ": target %d", t);
    if (memcmp (&a->box, &b->box, sizeof a->box) == 0)
      CUV_CHECK (
          memcmp (a->sums, b->sums, sizeof a->sums) == 0, ": target %d", t);
  }
}

static void
check_measured_box (const Run *self)
{
  const CuvFrame *frame = &self->input->frame.frame;
  const CuvRcdFeatures features = self->input->config.features;
  const int n = cuv_rcd_n_features (features);
  int64_t found[CUV_RCD_MAX_SUMS], expected[CUV_RCD_MAX_SUMS];
  CuvRcdBox box = { (int) cuv_check_below ((uint32_t) frame->width),
    (int) cuv_check_below ((uint32_t) frame->height), 0, 0 };

  box.width = 1 + (int) cuv_check_below ((uint32_t) (frame->width - box.x));
  box.height = 1 + (int) cuv_check_below ((uint32_t) (frame->height - box.y));
  cuv_rcd_box_sums (frame, features, &box, expected);
  CUV_CHECK_RUN (cuv_rcd_cuda_measure (
                     self->state, &self->frame, &box, cuv_check_stream, found),
      cuv_rcd_cpu_measure (
          self->state, &self->frame, &box, self->version.n_threads, found));
  CUV_CHECK (
      memcmp (found, expected, (size_t) CUV_RCD_SUMS (n) * sizeof *found) == 0,
      ": box %d %d %dx%d", box.x, box.y, box.width, box.height);
}

/* ---- distance map ---- */

static void
check_drawn (
    const Run *self, const CuvCheckFrame *found, int target, double half)
{
  const RcdInput *input = self->input;
  const CuvRcdMatch *match = &self->matches[target];
  const CuvRcdLevel *level = &input->targets[target].levels[match->level];
  CuvCheckFrame drawn = cuv_check_frame_copy (&input->frame);
  size_t wrong = 0;

  if (match->window >= 0)
    cuv_rcd_draw_map (&drawn.frame, &input->search.area, level,
        input->config.cell, input->scores + level->first, input->config.metric,
        half);
  for (size_t i = 0; i < drawn.size; i++)
    wrong +=
        abs (drawn.memory[i] - found->memory[i]) > (int) cuv_check_options.cuda;
  CUV_CHECK (wrong == 0, ": %zu bytes drawn", wrong);
  cuv_check_frame_free (&drawn);
}

/* Searches a frame and draws the distance map on a copy. */
static void
check_frame (Run *self)
{
  const RcdInput *input = self->input;
  const int target = (int) cuv_check_below ((uint32_t) input->search.n_targets);
  const double half = 0.1 + cuv_check_below (20) / 10.0;
  CuvCheckFrame copy = cuv_check_frame_copy (&input->frame);
  void *memory;
  CuvFrame drawn = cuv_check_lend (&copy, &memory);

  memset (self->matches, 0x55, sizeof self->matches);
  submit (self);
  CUV_CHECK_RUN (
      cuv_rcd_cuda_draw (self->state, &drawn, target, half, cuv_check_stream),
      cuv_rcd_cpu_draw (self->state, &drawn, &input->search, target,
          &self->matches[target], half));
  CUV_CHECK_RUN (cuv_rcd_cuda_collect (self->state, self->matches), 0);
  check_matches (self);
  check_scores (self);
#if HAVE_CUDA
  if (cuv_check_options.cuda)
    check_integrals (self);
#endif
  cuv_check_take_back (&copy, memory);
  check_drawn (self, &copy, target, half);
  cuv_check_frame_free (&copy);
}

static void
check_input (RcdInput *input)
{
  CuvCheckFrame before = cuv_check_frame_copy (&input->frame);
  Run self;

  rcd_input_search (input);
  for (CuvCheckVersion v = { 0 }; cuv_check_next (&v);) {
    const bool ok = run_init (&self, input, &v);

    for (int again = 0; ok && again < 2; again++) {
      check_frame (&self);
      check_measured_box (&self);
    }
    run_clear (&self);
  }
  CUV_CHECK (memcmp (input->frame.memory, before.memory, before.size) == 0);
  cuv_check_frame_free (&before);
}

static void
check_random (const char *format, RcdSize size, int cell)
{
  RcdInput input;

  rcd_input_init_random (&input, format, size, cell);
  check_input (&input);
  rcd_input_clear (&input);
}

CUV_CHECKS (check_versions)
{
  const int rounds = cuv_check_options.few || cuv_check_options.cuda ? 1 : 2;

  for (int f = 0; cuv_check_formats[f] != NULL; f++) {
    for (int s = 0; s < RCD_N_SIZES; s++) {
      for (int i = 0; i < rounds; i++)
        if (!cuv_check_options.few || cuv_check_below (4) == 0)
          check_random (cuv_check_formats[f], rcd_sizes[s],
              rcd_cells[cuv_check_below (RCD_N_CELLS)]);
    }
  }
  if (cuv_check_options.cuda && !cuv_check_options.few)
    check_random ("NV12", (RcdSize){ 1919, 1079 }, 10);
}

/* ---- large frames ---- */

/* Checks searches with all windows of several sizes, for n_targets targets. */
static void
check_all_windows (const char *format, CuvRcdFeatures features, RcdSize size,
    int cell, int n_targets, int refine)
{
  static const double scales[] = { 0.5, 1.0, 1.25 };
  CuvRcdConfig config = { features, CUV_RCD_JBLD, size.width, size.height, cell,
    n_targets, 0, 1.0 / 12.0 };
  RcdInput input;

  rcd_input_init (&input, &config, format, CUV_CHECK_TEXTURE);
  for (int t = 0; t < n_targets; t++) {
    CuvRcdBox box = { 3 + 5 * t, 7 + 2 * t, 40 + t, 30 + 2 * t };

    CUV_CHECK (rcd_input_add (&input, &box));
    rcd_input_add_scales (&input, box.width, box.height, 1, scales, 3);
  }
  input.search.refine = refine;
  rcd_input_name (&input, format);
  check_input (&input);
  rcd_input_clear (&input);
}

CUV_CHECKS (check_large)
{
  static const RcdSize large = { 1919, 1079 }, small = { 200, 130 };

  if (cuv_check_is_emulated ())
    return;
  check_all_windows (
      "I420", CUV_RCD_RGB_GRAD, small, 16, CUV_RCD_MAX_TARGETS, 0);
  check_all_windows ("RGB", CUV_RCD_TUZEL9, small, 5, 2, 4);
  if (cuv_check_options.few)
    return;
  check_all_windows ("RGB", CUV_RCD_RGB_GRAD, large, 16, 2, 8);
  check_all_windows ("NV12", CUV_RCD_TUZEL9, large, 10, 1, 0);
  check_all_windows ("GRAY8", CUV_RCD_GREY_GRAD, large, CUV_RCD_MAX_CELL, 1, 0);
}

/* ---- large sums ---- */

enum { N_WINDOWS = 7, LINE = (N_WINDOWS + 1) * CUV_RCD_MAX_SUMS + 4 };

/* Computes sums of a picture that is repeated many times, at an offset: they
 * have more pixels than a frame can have, so that differences in rounding
 * become visible. */
static void
add_copies (int64_t *integrals, const int64_t *sums, int n, int64_t copies,
    int64_t pixels, int x, int y)
{
  memcpy (integrals, sums, CUV_RCD_MAX_SUMS * sizeof *sums);
  for (int k = 0; k < CUV_RCD_SUMS (n); k++)
    integrals[k] *= copies;
  if (n == 9)
    cuv_rcd_move_origin (integrals, n, copies * pixels, -x, -y);
}

/* Compares the scores of C and AVX2. Returns the first score. */
static double
compare_dsp (const CuvRcdWindowRow *row, const CuvRcdWindowEdges *places)
{
  double scores[CUV_CHECK_MAX_VERSIONS][N_WINDOWS];
  int n = 0;

  for (CuvCheckVersion v = { 0 }; cuv_check_next (&v); n++) {
    CuvRcdDsp steps;

    cuv_rcd_dsp_init (&steps);
    steps.score (row, places, N_WINDOWS, scores[n]);
  }
  CUV_CHECK (memcmp (scores[0], scores[1], sizeof scores[0]) == 0);
  return scores[0][0];
}

static void
check_row (const RcdInput *input)
{
  const int n = cuv_rcd_n_features (input->config.features), many = 20000;
  int64_t sums[CUV_RCD_MAX_SUMS];
  int64_t upper[LINE] = { 0 }, lower[LINE] = { 0 };
  const CuvRcdWindowRow row = { &input->targets[0].model, CUV_RCD_JBLD, n,
    input->config.lambda, upper, lower, 700, 50 * many, 40 * many };
  CuvRcdWindowEdges places[N_WINDOWS];

  for (int i = 0; i < N_WINDOWS; i++) {
    CuvRcdBox box = { 3 * i, 2 * i, 50, 40 };

    cuv_rcd_box_sums (&input->frame.frame, input->config.features, &box, sums);
    places[i] =
        (CuvRcdWindowEdges){ 900 - 100 * i, 0, (i + 1) * CUV_RCD_MAX_SUMS };
    add_copies (lower + places[i].right, sums, n, (int64_t) many * many,
        50 * 40, places[i].x, row.y);
  }
  CUV_CHECK (isfinite (compare_dsp (&row, places)));
}

CUV_CHECKS_CPU (check_large_sums)
{
  for (int i = 0; i < 12; i++) {
    CuvRcdConfig config = rcd_random_config (100, 80, 5);
    RcdInput input;

    config.features = (CuvRcdFeatures) (i % 3);
    cuv_check_case ("large sums, features %d", config.features);
    rcd_input_init (&input, &config, "RGB", CUV_CHECK_TEXTURE);
    CUV_CHECK (rcd_input_add (&input, &(CuvRcdBox){ 8, 7, 60, 70 }));
    check_row (&input);
    rcd_input_clear (&input);
  }
}

/* Compares scores of invalid sums and models, whose determinants have any sign
 * or are NaN. */
static void
check_invalid_row (int n)
{
  int64_t upper[LINE] = { 0 }, lower[LINE] = { 0 };
  CuvRcdModel model = {
    .det = (double) cuv_check_below (5) - 2.0, .width = 30, .height = 40
  };
  const CuvRcdWindowRow row = { &model, CUV_RCD_JBLD, n, 0.0, upper, lower, 0,
    5, 4 };
  const bool positive = cuv_check_below (2);
  CuvRcdWindowEdges places[N_WINDOWS];

  for (int i = 0; i < (N_WINDOWS + 1) * CUV_RCD_MAX_SUMS; i++)
    lower[i] = i < CUV_RCD_MAX_SUMS ? 0 : (int64_t) cuv_check_below (99) - 49;
  for (int k = 0; k < CUV_RCD_TRIANGLE (n); k++)
    model.c[k] = (double) cuv_check_below (99) / 9.0 - 5.5;
  for (int i = 0; i < N_WINDOWS; i++)
    places[i] = (CuvRcdWindowEdges){ 0, 0, (i + 1) * CUV_RCD_MAX_SUMS };
  for (int k = 0; k < n && positive; k++) {
    model.c[cuv_rcd_packed_index (n, k, k)] += 50.0;
    for (int i = 0; i < N_WINDOWS; i++)
      lower[places[i].right + n + cuv_rcd_packed_index (n, k, k)] += 900;
  }
  compare_dsp (&row, places);
}

CUV_CHECKS_CPU (check_invalid_sums)
{
  cuv_check_case ("invalid sums");
  for (int i = 0; i < 2000; i++)
    check_invalid_row (i % 3 == 0 ? 9 : i % 3 == 1 ? 5 : 3);
}

/* ---- measured boxes ---- */

static void
check_boxes (const char *format, RcdSize size, CuvRcdFeatures features)
{
  CuvRcdConfig config = rcd_random_config (size.width, size.height, 8);
  RcdInput input;
  Run self;

  config.features = features;
  rcd_input_init (&input, &config, format, CUV_CHECK_NOISE);
  rcd_input_name (&input, format);
  for (CuvCheckVersion v = { 0 }; cuv_check_next (&v);) {
    if (run_init (&self, &input, &v)) {
      for (int n = 0; n < 8; n++)
        check_measured_box (&self);
    }
    run_clear (&self);
  }
  rcd_input_clear (&input);
}

CUV_CHECKS (check_measured)
{
  static const RcdSize sizes[] = { { 1, 1 }, { 5, 200 }, { 801, 77 } };

  for (int f = 0; cuv_check_formats[f] != NULL; f++) {
    for (int i = 0; i < 9; i++)
      if (!cuv_check_is_emulated () || cuv_check_below (4) == 0)
        check_boxes (
            cuv_check_formats[f], sizes[i % 3], (CuvRcdFeatures) (i / 3));
  }
}

/* ---- times ---- */

static void
bench_case (const RcdBenchCase *bench)
{
  RcdInput input;
  Run self;

  rcd_bench_input (&input, bench);
  if (run_init (&self, &input, &(CuvCheckVersion){ 0 })) {
    cuv_check_bench (submit, &self, (double) RCD_BENCH_WIDTH * RCD_BENCH_HEIGHT,
        0, "%s%s %s, %d windows", CUV_CHECK_ON ("rcd cuda, ", ""),
        bench->format, bench->name, input.config.max_windows);
    CUV_CHECK_RUN (cuv_rcd_cuda_collect (self.state, self.matches), 0);
  }
  run_clear (&self);
  rcd_input_clear (&input);
}

CUV_BENCH (bench_search)
{
  for (int i = 0; i < RCD_N_BENCH_CASES; i++) {
    if (cuv_check_wants (rcd_bench_cases[i].name))
      bench_case (&rcd_bench_cases[i]);
  }
}
