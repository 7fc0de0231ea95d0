/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Searches with known results, and distance maps. */
#include "rcd-inputs.h"
#include "cuvcheck.h"
#include "rcd/rcd-distance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Copies a box and its border, which gradients read, to (x, y). */
static void
copy_box (const CuvFrame *from, const CuvRcdBox *box, const CuvFrame *to, int x,
    int y)
{
  for (int i = 0; i < 3; i++) {
    const CuvComponent *a = &from->component[i], *b = &to->component[i];

    for (int v = -1; v <= box->height; v++) {
      for (int u = -1; u <= box->width; u++)
        b->data[(y + v) * b->stride + (x + u) * b->step] =
            a->data[(box->y + v) * a->stride + (box->x + u) * a->step];
    }
  }
}

static void
add_noise (const CuvFrame *frame, const CuvRcdBox *box, int most)
{
  for (int i = 0; i < 3; i++) {
    const CuvComponent *c = &frame->component[i];

    for (int at = 0; at < box->width * box->height; at++) {
      uint8_t *v = c->data + (box->y + at / box->width) * c->stride
          + (box->x + at % box->width) * c->step;
      const int noisy =
          *v + (int) cuv_check_below ((uint32_t) (2 * most + 1)) - most;

      *v = (uint8_t) (noisy < 0 ? 0 : noisy > 255 ? 255 : noisy);
    }
  }
}

/* Returns the minimum score of windows whose centre lies outside the box. */
static double
least_elsewhere (const RcdInput *input, const CuvRcdBox *box)
{
  const CuvRcdTarget *target = &input->targets[0];
  double least = (double) INFINITY;

  for (int l = 0; l < target->n_levels; l++) {
    const CuvRcdLevel *level = &target->levels[l];

    for (int i = 0; i < level->n_x * level->n_y; i++) {
      const CuvRcdBox other =
          cuv_rcd_level_box (&input->search.area, level, input->config.cell, i);
      const int x = other.x + other.width / 2, y = other.y + other.height / 2;

      if (x < box->x || x >= box->x + box->width || y < box->y
          || y >= box->y + box->height)
        least = fmin (least, input->scores[level->first + i]);
    }
  }
  return least;
}

/* Checks that a part of one picture is found where it is copied into another.
 */
static void
check_copy (CuvRcdFeatures features, CuvRcdMetric metric, int cell, int refine)
{
  static const double scales[] = { 0.5, 1.0, 1.5 };
  CuvRcdConfig config = { features, metric, 120, 80, cell, 1, 0, 1.0 / 12.0 };
  const CuvRcdBox box = { 11, 9, 6 * cell, 4 * cell };
  const int x = (3 + (int) cuv_check_below (4)) * cell;
  const int y = (2 + (int) cuv_check_below (4)) * cell;
  CuvCheckFrame other = cuv_check_frame_new ("RGB", 120, 80, CUV_CHECK_TEXTURE);
  RcdInput input;
  CuvRcdMatch *match = &input.matches[0];

  cuv_check_case ("planted, features %d, metric %d, cell %d, refine %d",
      features, metric, cell, refine);
  rcd_input_init (&input, &config, "RGB", CUV_CHECK_TEXTURE);
  CUV_CHECK (rcd_input_add (&input, &box));
  rcd_input_add_scales (&input, box.width, box.height, 1, scales, 3);
  copy_box (&input.frame.frame, &box, &other.frame, x, y);
  cuv_check_frame_free (&input.frame);
  input.frame = other;
  input.search.refine = refine;
  rcd_input_search (&input);
  CUV_CHECK (match->box.x == x && match->box.y == y
      && match->box.width == box.width && match->box.height == box.height
      && match->level == 1);
  CUV_CHECK (cuv_rcd_distance (match->score, metric) < 1e-9);
  CUV_CHECK (match->second == least_elsewhere (&input, &match->box));
  /* no other window is equal; how near they are depends on the pictures */
  CUV_CHECK (cuv_rcd_distance (match->second, metric) > 1e-6);
  if (metric == CUV_RCD_JBLD && features != CUV_RCD_TUZEL9)
    CUV_CHECK (match->score == 1.0, ": %.17g", match->score);
  rcd_input_clear (&input);
}

CUV_CHECKS_CPU (check_planted)
{
  for (int i = 0; i < 12; i++)
    check_copy ((CuvRcdFeatures) (i % 3), (CuvRcdMetric) (i / 6), 5,
        i % 4 == 3 ? 2 : 0);
  check_copy (CUV_RCD_RGB_GRAD, CUV_RCD_JBLD, 7, 0);
}

/* Returns whether a target needs several candidates: refining only one fails,
 * because a noisy copy on the grid is nearer than windows half a cell off the
 * target, and refining several finds the target, as it does in most pictures.
 */
static bool
needs_candidates (CuvRcdMetric metric)
{
  static const double scale = 1.0;
  const CuvRcdConfig config = { CUV_RCD_TUZEL9, metric, 160, 96, 8, 1, 0,
    1.0 / 12.0 };
  const CuvRcdBox box = { 11, 9, 24, 16 }, decoy = { 24, 24, 24, 16 };
  const CuvRcdBox there = { 100, 60, 24, 16 };
  CuvCheckFrame other = cuv_check_frame_new ("RGB", 160, 96, CUV_CHECK_TEXTURE);
  RcdInput input;
  const CuvRcdMatch *match = &input.matches[0];
  bool found[2];
  double before = INFINITY;

  rcd_input_init (&input, &config, "RGB", CUV_CHECK_TEXTURE);
  CUV_CHECK (rcd_input_add (&input, &box));
  rcd_input_add_scales (&input, box.width, box.height, 1, &scale, 1);
  copy_box (&input.frame.frame, &box, &other.frame, there.x, there.y);
  copy_box (&input.frame.frame, &box, &other.frame, decoy.x, decoy.y);
  add_noise (&other.frame, &decoy, 2);
  cuv_check_frame_free (&input.frame);
  input.frame = other;
  input.search.refine = 2;
  for (int n = 1; n <= CUV_RCD_MAX_CANDIDATES;
       n *= cuv_check_options.few ? CUV_RCD_MAX_CANDIDATES : 2) {
    cuv_check_case ("a decoy, metric %d, %d candidates", metric, n);
    input.search.n_candidates = n;
    rcd_input_search (&input);
    found[n > 1] = memcmp (&match->box, &there, sizeof box) == 0;
    CUV_CHECK ((cuv_rcd_distance (match->score, metric) < 1e-6) == found[n > 1],
        ": %d %d %dx%d", match->box.x, match->box.y, match->box.width,
        match->box.height);
    CUV_CHECK (match->score <= before, ": %g, then %g", before, match->score);
    before = match->score;
  }
  rcd_input_clear (&input);
  return !found[0] && found[1];
}

CUV_CHECKS_CPU (check_places)
{
  for (int metric = CUV_RCD_JBLD; metric <= CUV_RCD_FORSTNER; metric++) {
    const int targets = cuv_check_options.few ? 2 : 8;
    int n = 0;

    for (int i = 0; i < targets; i++)
      n += needs_candidates ((CuvRcdMetric) metric);
    cuv_check_case ("decoys, metric %d", metric);
    CUV_CHECK (n >= targets / 2, ": %d of %d targets need several candidates",
        n, targets);
  }
}

/* Checks a flat picture: all windows have the same distance, and without lambda
 * no window has a valid covariance. */
static void
check_flat (CuvRcdMetric metric, double lambda)
{
  CuvRcdConfig config = { CUV_RCD_RGB_GRAD, metric, 60, 40, 5, 1, 0, 1.0 };
  RcdInput input;
  const CuvRcdMatch *match = &input.matches[0];

  cuv_check_case ("flat, metric %d, lambda %g", metric, lambda);
  rcd_input_init (&input, &config, "BGRx", CUV_CHECK_WHITE);
  CUV_CHECK (rcd_input_add (&input, &(CuvRcdBox){ 1, 2, 20, 10 }));
  input.config.lambda = lambda;
  rcd_input_add_level (&input, 50, 2, 1); /* too large */
  rcd_input_add_level (&input, 4, 2, 1);
  rcd_input_search (&input);
  if (lambda > 0.0) {
    CUV_CHECK (match->window == 0 && match->level == 1);
    CUV_CHECK (match->box.x == 0 && match->box.y == 0);
    CUV_CHECK (match->second == match->score);
  } else {
    CUV_CHECK (match->window == -1);
    CUV_CHECK (isinf (match->score) && isinf (match->second));
    CUV_CHECK (match->sums[0] == 0);
  }
  rcd_input_clear (&input);
}

CUV_CHECKS_CPU (check_ties)
{
  for (int metric = 0; metric < 2; metric++) {
    check_flat ((CuvRcdMetric) metric, 1.0 / 12.0);
    check_flat ((CuvRcdMetric) metric, 0.0);
  }
  cuv_check_case ("centre outside a box");
  CUV_CHECK (!cuv_rcd_centre_is_outside (
      &(CuvRcdBox){ 10, 10, 20, 10 }, &(CuvRcdBox){ 0, 0, 21, 21 }));
  CUV_CHECK (cuv_rcd_centre_is_outside (
      &(CuvRcdBox){ 10, 10, 20, 10 }, &(CuvRcdBox){ 0, 0, 20, 21 }));
  CUV_CHECK (cuv_rcd_centre_is_outside (
      &(CuvRcdBox){ 0, 0, 3, 3 }, &(CuvRcdBox){ 2, 0, 9, 9 }));
}

/* ---- distance maps ---- */

static void
check_map_values (void)
{
  const double half = 0.7;

  cuv_check_case ("map values");
  for (int i = 0; i < 8; i++) {
    double d = 0.35 * i;
    double score = exp (2.0 * d), expected = 255.0 * pow (2.0, -d / half);

    CUV_CHECK (fabs (cuv_rcd_map_value (score, CUV_RCD_JBLD, half) - expected)
        <= 0.5001);
    CUV_CHECK (
        fabs (cuv_rcd_map_value (d * d, CUV_RCD_FORSTNER, half) - expected)
        <= 0.5001);
  }
  CUV_CHECK (cuv_rcd_map_value (1.0, CUV_RCD_JBLD, half) == 255);
  CUV_CHECK (cuv_rcd_map_value (0.5, CUV_RCD_JBLD, 0.0) == 255);
  CUV_CHECK (cuv_rcd_map_value (exp (1.4), CUV_RCD_JBLD, half) == 128);
  CUV_CHECK (cuv_rcd_map_value ((double) INFINITY, CUV_RCD_JBLD, half) == 0);
  CUV_CHECK (cuv_rcd_map_value (4.0, CUV_RCD_FORSTNER, 0.0) == 0);
}

/* Compares a map with one drawn pixel by pixel, a rectangle for each window. */
static void
check_map (const char *format)
{
  const CuvRcdArea area = { 2, 1, 11, 9 };
  const CuvRcdLevel level = { 4, 3, 1, 2, 3, 2, 2, 0 };
  const int cell = 5, step = 10;
  const double scores[] = { 1.0, 2.0, 30.0, 4.0, (double) INFINITY, 1.5 };
  CuvCheckFrame frame = cuv_check_frame_new (format, 71, 53, CUV_CHECK_NOISE);
  CuvCheckFrame expected = cuv_check_frame_copy (&frame);

  cuv_check_case ("map, %s", format);
  for (int at = 0; at < 71 * 53; at++)
    cuv_frame_set_grey (&expected.frame, at % 71, at / 71, 0);
  for (int i = 0; i < 6; i++) {
    CuvRcdBox box = cuv_rcd_level_box (&area, &level, cell, i);
    int x = box.x + box.width / 2 - step / 2;
    int y = box.y + box.height / 2 - step / 2;

    for (int at = 0; at < step * step; at++)
      cuv_frame_set_grey (&expected.frame, x + at % step, y + at / step,
          cuv_rcd_map_value (scores[i], CUV_RCD_JBLD, 0.5));
  }
  cuv_rcd_draw_map (
      &frame.frame, &area, &level, cell, scores, CUV_RCD_JBLD, 0.5);
  for (size_t i = 0; i < frame.size; i++) {
    if (!CUV_CHECK (frame.memory[i] == expected.memory[i], ": byte %zu", i))
      break;
  }
  cuv_check_frame_free (&frame);
  cuv_check_frame_free (&expected);
}

/* Checks that a pixel becomes grey with neutral chroma, and that nothing else
 * changes. */
static void
check_grey (const char *format)
{
  CuvCheckFrame frame = cuv_check_frame_new (format, 7, 5, CUV_CHECK_NOISE);
  CuvCheckFrame expected = cuv_check_frame_copy (&frame);
  const CuvComponent *c = expected.frame.component;
  const bool yuv = frame.frame.model == CUV_MODEL_YUV;

  cuv_check_case ("grey, %s", format);
  c[0].data[2 * c[0].stride + 4 * c[0].step] = 77;
  for (int i = 1; i < 3 && i < frame.frame.n_components; i++)
    c[i].data[(2 >> c[i].ysub) * c[i].stride + (4 >> c[i].xsub) * c[i].step] =
        yuv ? 128 : 77;
  cuv_frame_set_grey (&frame.frame, 4, 2, 77);
  CUV_CHECK (memcmp (frame.memory, expected.memory, frame.size) == 0);
  cuv_check_frame_free (&frame);
  cuv_check_frame_free (&expected);
}

CUV_CHECKS_CPU (check_maps)
{
  check_map_values ();
  for (int f = 0; cuv_check_formats[f] != NULL; f++)
    check_grey (cuv_check_formats[f]);
  for (int f = 0; cuv_check_formats[f] != NULL; f++)
    check_map (cuv_check_formats[f]);
}
