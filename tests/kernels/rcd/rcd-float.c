/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The method of the thesis: 20 integral images of features and their products
 * in single precision, and the distances computed from them. */
#include "rcd-bench.h"
#include "rcd/rcd-distance.h"
#include "rcd/rcd-pixel.h"

#include <math.h>
#include <stdlib.h>

enum {
  WIDTH = RCD_BENCH_WIDTH,
  HEIGHT = RCD_BENCH_HEIGHT,
  N = 5,
  N_PLANES = CUV_RCD_SUMS (N),
  PITCH = WIDTH + 1,
};

typedef struct {
  RcdInput input;
  float *planes[N_PLANES]; /* (HEIGHT + 1) x PITCH values each */
  double *scores;
} Float;

/* ---- planes ---- */

static void
fill_pixel (Float *self, int x, int y)
{
  const size_t at = (size_t) (y + 1) * PITCH + (size_t) x + 1;
  int32_t z[CUV_RCD_MAX_FEATURES];
  int k = N;

  cuv_rcd_pixel (&self->input.frame.frame, CUV_RCD_RGB_GRAD, x, y, z);
  for (int i = 0; i < N; i++) {
    self->planes[i][at] = (float) z[i];
    for (int j = i; j < N; j++)
      self->planes[k++][at] = (float) z[i] * (float) z[j];
  }
}

static void
integrate (float *plane)
{
  for (int y = 1; y <= HEIGHT; y++) {
    for (int x = 1; x <= WIDTH; x++)
      plane[y * PITCH + x] += plane[y * PITCH + x - 1];
  }
  for (int y = 1; y <= HEIGHT; y++) {
    for (int x = 1; x <= WIDTH; x++)
      plane[y * PITCH + x] += plane[(y - 1) * PITCH + x];
  }
}

/* ---- distances ---- */

static double
score_box (const Float *self, const CuvRcdBox *box)
{
  const size_t upper = (size_t) box->y * PITCH + (size_t) box->x;
  const size_t lower = upper + (size_t) box->height * PITCH;
  const size_t w = (size_t) box->width;
  const double pixels = (double) box->width * box->height;
  double sums[N_PLANES], c[CUV_RCD_MAX_PACKED];
  int k = 0;

  for (int i = 0; i < N_PLANES; i++) {
    const float *p = self->planes[i];

    sums[i] = (double) (p[lower + w] - p[lower] - p[upper + w] + p[upper]);
  }
  for (int i = 0; i < N; i++) {
    for (int j = i; j < N; j++, k++)
      c[k] = (sums[N + k] - sums[i] * sums[j] / pixels) / (pixels - 1)
          + (i == j ? self->input.config.lambda : 0.0);
  }
  return cuv_rcd_jbld (c, N, &self->input.targets[0].model);
}

static CuvRcdBox
box_of (const RcdInput *input, int number)
{
  const CuvRcdLevel *level = input->targets[0].levels;

  while (number >= level->first + cuv_rcd_level_windows (level))
    level++;
  return cuv_rcd_level_box (
      &input->search.area, level, input->config.cell, number - level->first);
}

static void
run (void *data)
{
  Float *self = data;

  for (int y = 0; y < HEIGHT; y++) {
    for (int x = 0; x < WIDTH; x++)
      fill_pixel (self, x, y);
  }
  for (int i = 0; i < N_PLANES; i++)
    integrate (self->planes[i]);
  for (int i = 0; i < self->input.config.max_windows; i++) {
    CuvRcdBox box = box_of (&self->input, i);

    self->scores[i] = score_box (self, &box);
  }
}

/* ---- errors ---- */

static int
compare (const void *a, const void *b)
{
  const double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

/* Replaces the scores by the sorted errors of their distances. */
static void
find_errors (Float *self, const double *scores)
{
  const int n = self->input.config.max_windows;

  for (int i = 0; i < n; i++)
    self->scores[i] = fabs (cuv_rcd_distance (self->scores[i], CUV_RCD_JBLD)
        - cuv_rcd_distance (scores[i], CUV_RCD_JBLD));
  qsort (self->scores, (size_t) n, sizeof *self->scores, compare);
}

void
bench_float_planes (void)
{
  const size_t size = (size_t) PITCH * (HEIGHT + 1);
  Float self;
  double us;
  int n;

  rcd_bench_input (&self.input, &rcd_bench_cases[0]);
  n = self.input.config.max_windows;
  self.scores = malloc ((size_t) n * sizeof *self.scores);
  for (int i = 0; i < N_PLANES; i++)
    self.planes[i] = calloc (size, sizeof **self.planes);
  us = cuv_check_time (run, &self);
  rcd_input_search (&self.input);
  find_errors (&self, self.input.scores);
  cuv_check_report (us, (double) WIDTH * HEIGHT, 0,
      "20 float integral planes as the thesis, one thread, errors of the "
      "distance: median %.2g, most %.2g",
      self.scores[n / 2], self.scores[n - 1]);
  for (int i = 0; i < N_PLANES; i++)
    free (self.planes[i]);
  free (self.scores);
  rcd_input_clear (&self.input);
}
