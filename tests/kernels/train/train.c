/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Training: the fast choice of features against the definition. */
#include "config.h"
#include "train-groups.h"
#include "cpu/codes.h"
#include "cpu/feature-chooser.h"
#if HAVE_CUDA
#include "train/feature-chooser.h"
#endif

#include <math.h>
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

/* Fills codes: some features separate the classes more or less well, and some
 * are equal. */
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

/* ---- the versions ---- */

typedef struct {
  CuvTrainFeatureChooser *cpu;
#if HAVE_CUDA
  CuvFeatureChooserCuda *cuda;
#endif
} Choosers;

/* max_bytes: limit of device memory for codes; 0 = none */
static Choosers
choosers_new (const Problem *problem, size_t max_bytes)
{
  Choosers self = { .cpu = cuv_train_feature_chooser_new (
                        &problem->features, problem->set.n) };

#if HAVE_CUDA
  if (cuv_check_options.cuda) {
    const CuvTrainSet *set = &problem->set;
    const int32_t half = set->n / 2;

    self.cuda = cuv_feature_chooser_cuda_new (problem->features.n,
        problem->features.n_codes, problem->features.cascade, set->n,
        max_bytes);
    CUV_CHECK (self.cuda != NULL, ": %s", cuv_cuda_error ());
    CUV_CHECK (
        (cuv_feature_chooser_cuda_n_resident (self.cuda) == problem->features.n)
        == (max_bytes == 0 || problem->features.n == 1));
    for (int part = 0; part < 2; part++)
      CUV_CHECK (cuv_feature_chooser_cuda_set_codes (self.cuda, set->codes,
                     set->pitch, part * half, part ? set->n : half, NULL)
              == 0,
          ": %s", cuv_cuda_error ());
  }
#endif
  return self;
}

static void
choosers_free (Choosers *self)
{
  cuv_train_feature_chooser_free (self->cpu);
#if HAVE_CUDA
  cuv_feature_chooser_cuda_free (self->cuda);
#endif
}

static void
check_choice (Choosers *self, const CuvTrainSet *set, int32_t expected)
{
  for (int n_threads = 1; n_threads <= 4 && cuv_check_options.cpu;
       n_threads += 3) {
    const int32_t chosen =
        cuv_train_feature_chooser_run (self->cpu, set, n_threads);

    CUV_CHECK (chosen == expected, ": %d threads: %d and not %d", n_threads,
        chosen, expected);
  }
#if HAVE_CUDA
  if (self->cuda != NULL) {
    int32_t chosen = -1;

    CUV_CHECK (cuv_feature_chooser_cuda_run (self->cuda, set->weights, set->n,
                   set->n_positives, &chosen, NULL)
            == 0,
        ": %s", cuv_cuda_error ());
    CUV_CHECK (chosen == expected, ": CUDA: %d and not %d", chosen, expected);
  }
#endif
}

static void
check_choices (int32_t n, int32_t n_positives, int32_t n_features, int n_codes,
    size_t max_bytes, bool cascade)
{
  Problem problem = problem_new (n, n_positives, n_features, n_codes);
  Choosers choosers;

  cuv_check_case ("%d samples, %d positives, %d features, %d codes, %zu "
                  "bytes%s",
      n, n_positives, n_features, n_codes, max_bytes,
      cascade ? ", splits" : "");
  problem.features.cascade = cascade;
  fill (&problem);
  choosers = choosers_new (&problem, max_bytes);
  for (int round = 0; round < 8; round++) {
    CuvTrainWeak weak;
    int32_t expected;

    cuv_train_weigh (&problem.set);
    expected = cuv_train_choose_feature (&problem.features, &problem.set);
    check_choice (&choosers, &problem.set, expected);
    cuv_train_learn (&problem.features, &problem.set, expected, &weak);
  }
  choosers_free (&choosers);
  problem_free (&problem);
}

/* ---- codes ---- */

static void
check_codes (CuvFeature feature, int width, int height, int32_t n, bool cascade)
{
  const size_t size = (size_t) (width * height), pitch = (size_t) n + 3;
  uint8_t *pixels = malloc (size * (size_t) n), *codes, *expected;
  CuvTrainFeatures features;

  /* a few features use only a part of the window */
  cuv_train_features_init (&features, feature, width, height,
      cuv_check_below (2) ? 500 : 3, cuv_check_below (1000));
  cuv_check_case ("codes of %d windows of %d x %d, feature %d, %d of them", n,
      width, height, feature, features.n);
  features.cascade = cascade;
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

CUV_CHECKS (check_training)
{
  static const CuvFeature kinds[] = { CUV_FEATURE_LBP, CUV_FEATURE_LRD,
    CUV_FEATURE_LRP };
  static const int n_codes[] = { 256, 17, 100 };
  const int n_cases = cuv_check_options.few ? 3 : 30;

  for (int i = 0; i < n_cases; i++) {
    const int32_t n = 2 + (int32_t) cuv_check_below (i % 2 ? 20 : 1500);

    const int32_t n_features = 1 + (int32_t) cuv_check_below (300);
    /* the codes of all features fit, those of one, or of some */
    const size_t max_bytes[] = { 0, 1,
      cuv_check_below ((uint32_t) (n * n_features)) };

    check_choices (n, 1 + (int32_t) cuv_check_below ((uint32_t) n - 1),
        n_features, n_codes[i % 3], max_bytes[(i + i / 3) % 3], i % 2);
  }
  if (!cuv_check_options.few) /* more samples than the GPU sums at once */
    check_choices (150001, 70001, 5, 256, 0, false);
  for (int i = 0; i < n_cases && cuv_check_options.cpu; i++) {
    check_codes (kinds[i % 3], 8 + (int) cuv_check_below (i == 1 ? 121 : 24),
        8 + (int) cuv_check_below (24), 1 + (int32_t) cuv_check_below (150),
        cuv_check_below (2));
    check_written (kinds[i % 3]);
    check_draw (
        8 + (int) cuv_check_below (90), 8 + (int) cuv_check_below (90), i % 2);
    check_draw_of_some (1 + (int32_t) cuv_check_below (i % 2 ? 40 : 4000));
  }
  if (cuv_check_options.cpu && !cuv_check_options.few)
    check_full_list ();
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
  Choosers choosers;
  int32_t chosen;
} Bench;

/* Cuts windows out of a texture; positives get a brighter disc. */
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
choose (void *data)
{
  Bench *self = data;
  const CuvTrainSet *set = &self->problem.set;

#if HAVE_CUDA
  if (cuv_check_options.cuda) {
    cuv_feature_chooser_cuda_run (self->choosers.cuda, set->weights, set->n,
        set->n_positives, &self->chosen, NULL);
    return;
  }
#endif
  self->chosen = cuv_train_feature_chooser_run (self->choosers.cpu, set, 0);
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
    choose (self);
    cuv_train_learn (&self->problem.features, set, self->chosen, &weak);
  }
}

static void
report (const char *what, double us)
{
  cuv_check_report (us, (double) N_SAMPLES * 8464, 0,
      "train%s, 30000 samples, 8464 features, %s",
      cuv_check_options.cuda ? " cuda" : "", what);
}

static void
bench_kind (bool cascade)
{
  double us;
  CuvTrainFeatures features;
  Bench self;

  cuv_train_features_init (
      &features, CUV_FEATURE_LBP, SIDE, SIDE, INT32_MAX, 0);
  features.cascade = cascade;
  self.problem =
      problem_new (N_SAMPLES, N_POSITIVES, features.n, features.n_codes);
  self.problem.features = features;
  self.problem.set.codes = self.problem.codes;
  cut_samples (&self);
  self.choosers = choosers_new (&self.problem, 0);
  us = cuv_check_time (learn, &self) / N_ROUNDS;
  report (cascade ? "stumps, of the first 32 rounds" : "of the first 32 rounds",
      us);
  report (cascade ? "stumps, the choice of round 33" : "the choice of round 33",
      cuv_check_time (choose, &self));
  choosers_free (&self.choosers);
  problem_free (&self.problem);
  cuv_train_features_clear (&features);
}

CUV_BENCH (bench_training)
{
  bench_kind (false);
  if (!cuv_check_options.cuda)
    bench_kind (true);
}
