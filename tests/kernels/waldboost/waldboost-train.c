/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Training: the fast choice of features against the definition. */
#include "train/cpu/choose.h"
#include "train/cpu/codes.h"
#include "waldboost-versions.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
  CuvTrainFeatures features; /* without nodes */
  CuvTrainSet set;
  uint8_t *codes;
} Problem;

static Problem
problem_new (int32_t n, int32_t n_positives, int32_t n_features, int n_codes)
{
  const size_t size = (size_t) n;

  return (Problem){ .features = { .n_codes = n_codes, .n = n_features },
    .set = { .n = n,
        .n_positives = n_positives,
        .pitch = size,
        .masses = malloc (size * sizeof (double)),
        .weights = malloc (size * sizeof (uint32_t)),
        .sums = malloc (size * sizeof (int32_t)) },
    .codes = malloc (size * (size_t) n_features) };
}

static void
problem_free (Problem *self)
{
  free (self->set.masses);
  free (self->set.weights);
  free (self->set.sums);
  free (self->codes);
}

/* Some features tell the classes apart, more or less; some are equal. */
static void
fill (Problem *self)
{
  const int n_codes = self->features.n_codes;
  const int32_t n = self->set.n;

  for (int32_t f = 0; f < self->features.n; f++) {
    const uint32_t share = cuv_check_below (2) ? cuv_check_below (60) : 0;
    uint8_t *codes = self->codes + (size_t) f * self->set.pitch;

    for (int32_t i = 0; i < n; i++) {
      codes[i] = (uint8_t) cuv_check_below ((uint32_t) n_codes);
      if (cuv_check_below (100) < share)
        codes[i] = (uint8_t) (i < self->set.n_positives ? 1 : n_codes - 1);
    }
    if (f > 0 && cuv_check_below (8) == 0)
      memcpy (codes, codes - self->set.pitch, (size_t) n);
  }
  self->set.codes = self->codes;
  cuv_train_begin (&self->set);
  for (int32_t i = 0; i < n; i++) {
    if (cuv_check_below (10) == 0)
      self->set.masses[i] = 0;
    else if (cuv_check_below (50) == 0)
      self->set.masses[i] *= 1e9;
  }
}

static void
check_choices (int32_t n, int32_t n_positives, int32_t n_features, int n_codes)
{
  Problem problem = problem_new (n, n_positives, n_features, n_codes);
  CuvTrainChooser *chooser = cuv_train_chooser_new (&problem.features, n);

  cuv_check_case ("%d samples, %d positives, %d features, %d codes", n,
      n_positives, n_features, n_codes);
  fill (&problem);
  for (int round = 0; round < 8; round++) {
    CuvTrainWeak weak;
    int32_t expected, chosen;

    cuv_train_weigh (&problem.set);
    expected = cuv_train_choose (&problem.features, &problem.set);
    for (int n_threads = 1; n_threads <= 4; n_threads += 3) {
      chosen = cuv_train_chooser_run (chooser, &problem.set, n_threads);
      CUV_CHECK (chosen == expected, ": round %d, %d threads: %d and not %d",
          round, n_threads, chosen, expected);
    }
    cuv_train_learn (&problem.features, &problem.set, expected, &weak);
  }
  cuv_train_chooser_free (chooser);
  problem_free (&problem);
}

static void
check_codes (CuvFeature feature, int width, int height, int32_t n)
{
  const size_t size = (size_t) (width * height), pitch = (size_t) n + 3;
  uint8_t *pixels = malloc (size * (size_t) n), *codes, *expected;
  CuvTrainFeatures features;

  cuv_check_case (
      "codes of %d windows of %d x %d, feature %d", n, width, height, feature);
  cuv_train_features_init (&features, feature, width, height, 500, 1);
  codes = calloc ((size_t) features.n, pitch);
  expected = calloc ((size_t) features.n, pitch);
  for (size_t i = 0; i < size * (size_t) n; i++)
    pixels[i] = (uint8_t) (cuv_check_below (2) ? 255 : cuv_check_below (4));
  for (int32_t i = 0; i < n; i++)
    cuv_train_codes (
        &features, pixels + (size_t) i * size, expected + i, pitch);
  CUV_CHECK (cuv_train_code_samples (&features, pixels, n, codes, pitch, 0));
  CUV_CHECK (memcmp (codes, expected, (size_t) features.n * pitch) == 0);
  cuv_train_features_clear (&features);
  free (pixels);
  free (codes);
  free (expected);
}

void
check_training (void)
{
  static const CuvFeature kinds[] = { CUV_FEATURE_LBP, CUV_FEATURE_LRD,
    CUV_FEATURE_LRP };
  static const int n_codes[] = { 256, 17, 100 };
  const int n_cases = cuv_check_options.few ? 3 : 30;

  for (int i = 0; i < n_cases; i++) {
    const int32_t n = 2 + (int32_t) cuv_check_below (i % 2 ? 20 : 1500);

    check_choices (n, 1 + (int32_t) cuv_check_below ((uint32_t) n - 1),
        1 + (int32_t) cuv_check_below (300), n_codes[i % 3]);
    check_codes (kinds[i % 3], 8 + (int) cuv_check_below (i == 1 ? 121 : 24),
        8 + (int) cuv_check_below (24), 1 + (int32_t) cuv_check_below (150));
  }
}

/* ---- the benchmark ---- */

enum {
  N_POSITIVES = 10000,
  N_SAMPLES = 30000,
  SIDE = 24,
  N_ROUNDS = 32,
};

typedef struct {
  Problem problem;
  CuvTrainChooser *chooser;
} Bench;

/* Windows of a texture; positives have a brighter disc. */
static void
cut_samples (Bench *self)
{
  CuvCheckFrame frame =
      cuv_check_frame_new ("GRAY8", 1920, 1080, CUV_CHECK_TEXTURE);
  const CuvComponent *grey = &frame.frame.component[0];
  uint8_t *all = malloc ((size_t) N_SAMPLES * SIDE * SIDE);

  for (int32_t i = 0; i < N_SAMPLES; i++) {
    uint8_t *pixels = all + (ptrdiff_t) i * SIDE * SIDE;
    const uint8_t *from = grey->data
        + (ptrdiff_t) cuv_check_below (1080 - SIDE) * grey->stride
        + cuv_check_below (1920 - SIDE);

    for (int p = 0; p < SIDE * SIDE; p++) {
      const int x = p % SIDE - SIDE / 2, y = p / SIDE - SIDE / 2;
      const int more = i < N_POSITIVES && x * x + y * y < 60
          ? 8 + (int) cuv_check_below (9)
          : 0;
      const int value =
          from[y * grey->stride + x + (grey->stride + 1) * (SIDE / 2)] + more;

      pixels[p] = (uint8_t) (value > 255 ? 255 : value);
    }
  }
  cuv_train_code_samples (&self->problem.features, all, N_SAMPLES,
      self->problem.codes, self->problem.set.pitch, 0);
  free (all);
  cuv_check_frame_free (&frame);
}

static void
learn (void *data)
{
  Bench *self = data;
  CuvTrainSet *set = &self->problem.set;
  CuvTrainWeak weak;

  cuv_train_begin (set);
  for (int i = 0; i < N_ROUNDS; i++) {
    cuv_train_weigh (set);
    cuv_train_learn (&self->problem.features, set,
        cuv_train_chooser_run (self->chooser, set, 0), &weak);
  }
}

void
bench_training (void)
{
  CuvTrainFeatures features;
  Bench self;

  cuv_train_features_init (
      &features, CUV_FEATURE_LBP, SIDE, SIDE, INT32_MAX, 0);
  self.problem =
      problem_new (N_SAMPLES, N_POSITIVES, features.n, features.n_codes);
  self.problem.features = features;
  self.problem.set.codes = self.problem.codes;
  cut_samples (&self);
  self.chooser = cuv_train_chooser_new (&features, N_SAMPLES);
  cuv_check_report (
      "train, 30000 samples, 8464 features, 32 rounds, of a round",
      cuv_check_time (learn, &self) / N_ROUNDS, (double) N_SAMPLES * features.n,
      0);
  cuv_train_chooser_free (self.chooser);
  problem_free (&self.problem);
  cuv_train_features_clear (&features);
}
