/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The search on the GPU against the C reference: sums and JBLD scores bit for
 * bit, Förstner scores within the error of the logarithm. */
#include "config.h"
#include "cuvcheck.h"

#if HAVE_CUDA
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "rcd-bench.h"
#include "rcd/rcd-distance.h"
#include "rcd/rcd-pixel.h"
#include "rcd/rcd.h"

typedef struct {
  RcdInput *input;
  CuvRcdCuda *cuda;
  CuvFrame device; /* the input's frame */
} Case;

/* ---- results ---- */

/* Integral images by the C reference; free() them. */
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
check_integrals (const Case *self)
{
  size_t n, wrong = 0;
  int64_t *expected = integrals_of (self->input, &n);
  int64_t *found = malloc (n * sizeof *found);

  CUV_CHECK (cuv_rcd_cuda_get_integrals (self->cuda, found) == 0);
  for (size_t i = 0; i < n; i++)
    wrong += found[i] != expected[i];
  CUV_CHECK (wrong == 0, ": %zu of %zu integrals", wrong, n);
  free (found);
  free (expected);
}

static bool
is_near (const RcdInput *input, double a, double b)
{
  const CuvRcdMetric metric = input->config.metric;

  return a == b
      || fabs (cuv_rcd_distance (a, metric) - cuv_rcd_distance (b, metric))
      < 1e-9;
}

static void
check_scores (const Case *self)
{
  const int n = self->input->config.max_windows;
  double *found = malloc (((size_t) n + 1) * sizeof *found);
  int wrong = 0;

  CUV_CHECK (cuv_rcd_cuda_get_scores (self->cuda, found) == 0);
  for (int i = 0; i < n; i++)
    wrong += !is_near (self->input, found[i], self->input->scores[i]);
  CUV_CHECK (wrong == 0, ": %d of %d scores", wrong, n);
  if (self->input->config.metric == CUV_RCD_JBLD)
    CUV_CHECK (
        memcmp (found, self->input->scores, (size_t) n * sizeof *found) == 0);
  free (found);
}

/* With Förstner's metric rounding errors may select another window. */
static void
check_matches (const Case *self, const CuvRcdMatch *matches)
{
  if (self->input->config.metric == CUV_RCD_JBLD) {
    rcd_check_found (self->input, matches, NULL, "GPU");
    return;
  }
  for (int t = 0; t < self->input->search.n_targets; t++) {
    const CuvRcdMatch *a = &matches[t], *b = &self->input->matches[t];

    CUV_CHECK (is_near (self->input, a->score, b->score), ": target %d", t);
    CUV_CHECK ((a->window < 0) == (b->window < 0), ": target %d", t);
    if (a->window != b->window)
      continue;
    CUV_CHECK (is_near (self->input, a->second, b->second), ": target %d", t);
    if (memcmp (&a->box, &b->box, sizeof a->box) == 0)
      CUV_CHECK (
          memcmp (a->sums, b->sums, sizeof a->sums) == 0, ": target %d", t);
  }
}

static void
check_measured_box (const Case *self)
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
  CUV_CHECK (cuv_rcd_cuda_measure (
                 self->cuda, &self->device, &box, cuv_check_stream, found)
          == 0,
      ": %s", cuv_cuda_error ());
  CUV_CHECK (
      memcmp (found, expected, (size_t) CUV_RCD_SUMS (n) * sizeof *found) == 0,
      ": box %d %d %dx%d", box.x, box.y, box.width, box.height);
}

/* ---- distance map ---- */

static void
check_drawn (const Case *self, CuvCheckFrame *found, int target,
    const CuvRcdMatch *match, double half)
{
  const RcdInput *input = self->input;
  const CuvRcdLevel *level = &input->targets[target].levels[match->level];
  CuvCheckFrame drawn = cuv_check_frame_copy (&input->frame);
  size_t wrong = 0;

  if (match->window >= 0)
    cuv_rcd_draw_map (&drawn.frame, &input->search.area, level,
        input->config.cell, input->scores + level->first, input->config.metric,
        half);
  for (size_t i = 0; i < drawn.size; i++)
    wrong += abs (drawn.memory[i] - found->memory[i]) > 1;
  CUV_CHECK (wrong == 0, ": %zu bytes drawn", wrong);
  cuv_check_frame_free (&drawn);
}

/* Searches a frame and draws its map over a copy. */
static void
check_frame (const Case *self)
{
  const int target =
      (int) cuv_check_below ((uint32_t) self->input->search.n_targets);
  const double half = 0.1 + cuv_check_below (20) / 10.0;
  CuvCheckFrame copy = cuv_check_frame_copy (&self->input->frame);
  CuvRcdMatch matches[CUV_RCD_MAX_TARGETS];
  void *appearance;
  CuvFrame drawn = cuv_check_to_device (&copy, &appearance);

  memset (matches, 0x55, sizeof matches);
  CUV_CHECK (cuv_rcd_cuda_submit (self->cuda, &self->device,
                 &self->input->search, cuv_check_stream)
          == 0,
      ": %s", cuv_cuda_error ());
  CUV_CHECK (
      cuv_rcd_cuda_draw (self->cuda, &drawn, target, half, cuv_check_stream)
          == 0,
      ": %s", cuv_cuda_error ());
  CUV_CHECK (cuv_rcd_cuda_collect (self->cuda, matches) == 0, ": %s",
      cuv_cuda_error ());
  check_matches (self, matches);
  check_integrals (self);
  check_scores (self);
  cuv_check_from_device (&copy, appearance);
  check_drawn (self, &copy, target, &matches[target], half);
  cuv_check_device_free (appearance);
  cuv_check_frame_free (&copy);
}

static void
check_input (RcdInput *input)
{
  void *appearance;
  Case self = { input, cuv_rcd_cuda_new (&input->config),
    cuv_check_to_device (&input->frame, &appearance) };

  rcd_input_search (input);
  if (CUV_CHECK (self.cuda != NULL, ": %s", cuv_cuda_error ())) {
    for (int again = 0; again < 2; again++) {
      check_frame (&self);
      check_measured_box (&self);
    }
  }
  cuv_rcd_cuda_free (self.cuda);
  cuv_check_device_free (appearance);
}

static void
check_random (const char *format, RcdSize size, int cell)
{
  RcdInput input;

  rcd_input_init_random (&input, format, size, cell);
  check_input (&input);
  rcd_input_clear (&input);
}

CUV_CHECKS_CUDA (check_cuda)
{
  for (int f = 0; cuv_check_formats[f] != NULL; f++) {
    for (int s = 0; s < RCD_N_SIZES; s++) {
      if (!cuv_check_options.few || cuv_check_below (4) == 0)
        check_random (cuv_check_formats[f], rcd_sizes[s],
            rcd_cells[cuv_check_below (RCD_N_CELLS)]);
    }
  }
  if (!cuv_check_options.few)
    check_random ("NV12", (RcdSize){ 1919, 1079 }, 10);
}

/* ---- times ---- */

static void
submit (void *data)
{
  Case *self = data;

  cuv_rcd_cuda_submit (
      self->cuda, &self->device, &self->input->search, cuv_check_stream);
}

static void
bench_case (const RcdBenchCase *bench)
{
  RcdInput input;
  Case self = { .input = &input };
  CuvRcdMatch matches[CUV_RCD_MAX_TARGETS];
  void *appearance;

  rcd_bench_input (&input, bench);
  self.device = cuv_check_to_device (&input.frame, &appearance);
  self.cuda = cuv_rcd_cuda_new (&input.config);
  if (CUV_CHECK (self.cuda != NULL, ": %s", cuv_cuda_error ())) {
    cuv_check_report (cuv_check_time_device (submit, &self, cuv_check_stream),
        (double) RCD_BENCH_WIDTH * RCD_BENCH_HEIGHT, 0,
        "rcd cuda, %s %s, %d windows", bench->format, bench->name,
        input.config.max_windows);
    CUV_CHECK (cuv_rcd_cuda_collect (self.cuda, matches) == 0);
  }
  cuv_rcd_cuda_free (self.cuda);
  cuv_check_device_free (appearance);
  rcd_input_clear (&input);
}

CUV_BENCH_CUDA (bench_rcd_cuda)
{
  for (int i = 0; i < RCD_N_BENCH_CASES; i++) {
    if (rcd_bench_wants (&rcd_bench_cases[i]))
      bench_case (&rcd_bench_cases[i]);
  }
}

#endif
