/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "waldboost-inputs.h"
#include "model/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- pictures ---- */

/* Returns the first input sample that output sample i covers, and in *end the
 * one after the last. */
static int
box_of (int i, int n_out, int n_in, int *end)
{
  int first = (int) ((int64_t) i * n_in / n_out);

  *end = (int) ((int64_t) (i + 1) * n_in / n_out);
  if (*end <= first)
    *end = first + 1;
  return first;
}

CuvCheckFrame
bench_scaled (const CuvCheckFrame *picture, int width, int height)
{
  CuvCheckFrame self =
      cuv_check_frame_new ("GRAY8", width, height, CUV_CHECK_BLACK);
  const CuvComponent *out = &self.frame.component[0];

  for (int y = 0; y < height; y++) {
    int bottom, top = box_of (y, height, picture->frame.height, &bottom);

    for (int x = 0; x < width; x++) {
      int right, left = box_of (x, width, picture->frame.width, &right);
      int sum = 0, n = (right - left) * (bottom - top);

      for (int j = top; j < bottom; j++) {
        for (int i = left; i < right; i++)
          sum += cuv_frame_grey (&picture->frame, i, j);
      }
      out->data[(size_t) y * out->stride + x] = (uint8_t) ((sum + n / 2) / n);
    }
  }
  return self;
}

/* ---- models ---- */

const CuvWaldboostModel *
bench_cascade (const char *path)
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

/* Returns the fraction of windows in photographs that survive k weak
 * classifiers of BUT FIT's face models: measured points, interpolated on
 * logarithmic axes. */
static double
survival_ratio (int k)
{
  static const struct {
    double k, ratio;
  } points[] = { { 1, 0.48 }, { 2, 0.26 }, { 4, 0.17 }, { 6, 0.1 }, { 8, 0.08 },
    { 16, 0.035 }, { 64, 0.003 }, { 256, 2e-4 }, { 1024, 5e-5 } };
  int i = 1;
  double along;

  while (k > points[i].k)
    i++;
  along = log (k / points[i - 1].k) / log (points[i].k / points[i - 1].k);
  return points[i - 1].ratio
      * pow (points[i].ratio / points[i - 1].ratio, along);
}

#define N_SAMPLES 200000

/* Sets thresholds by samples from all levels, in proportion to their windows.
 */
static void
fit_thresholds (RandomModel *self, const CuvFrame *frame)
{
  const CuvWaldboostModel *model = &self->model;
  CuvWaldboostParams params = { .scan = CUV_SCAN_DENSE };
  CuvWaldboostPlan *plan =
      cuv_waldboost_plan_new (model, &params, frame->width, frame->height);
  SamplePool pool = sample_pool_new (N_SAMPLES);
  uint8_t **pixels = calloc (plan->n_levels, sizeof *pixels);
  double windows = 0;

  for (int i = 0; i < plan->n_levels; i++)
    windows += (double) plan->levels[i].n_x * plan->levels[i].n_y;
  for (int i = 0; i < plan->n_levels; i++) {
    const CuvWaldboostLevel *level = &plan->levels[i];

    pixels[i] = oracle_level (frame, plan, level);
    sample_pool_add (&pool, model, pixels[i], level->width, level->height,
        (int) (N_SAMPLES * ((double) level->n_x * level->n_y / windows)));
  }
  windows = pool.n;
  for (int k = 0; k < model->n_weak; k++) {
    int left = (int) lrint (windows * survival_ratio (k + 1));

    sample_pool_respond (&pool, model, k);
    if (left < pool.n) {
      double threshold = sample_pool_threshold (&pool, left);

      set_threshold (self, k, threshold);
      sample_pool_drop (&pool, threshold);
    }
  }
  for (int i = 0; i < plan->n_levels; i++)
    free (pixels[i]);
  free (pixels);
  sample_pool_free (&pool);
  cuv_waldboost_plan_free (plan);
}

RandomModel *
bench_model (CuvFeature feature, int n_weak, const CuvCheckFrame *picture)
{
  ModelKind kind = { .feature = feature,
    .arithmetic = CUV_SUM_FIXED,
    .max_block = 2,
    .n_stages = n_weak };
  RandomModel *self = random_model_without_thresholds (&kind, 26, 26);

  fit_thresholds (self, &picture->frame);
  return self;
}
