/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Training: the fast choice of features against the definition. */
#include "config.h"
#include "train/cpu/choose.h"
#include "train/cpu/codes.h"
#include "waldboost-versions.h"
#if HAVE_CUDA
#include "waldboost/choose.h"
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

/* ---- the versions ---- */

typedef struct {
  CuvTrainChooser *cpu;
#if HAVE_CUDA
  CuvChooseCuda *cuda;
#endif
} Choosers;

/* max_bytes: of device memory for codes */
static Choosers
choosers_new (const Problem *problem, size_t max_bytes)
{
  Choosers self = { .cpu = cuv_train_chooser_new (
                        &problem->features, problem->set.n) };

#if HAVE_CUDA
  if (cuv_check_options.cuda) {
    const CuvTrainSet *set = &problem->set;
    const int32_t half = set->n / 2;

    self.cuda = cuv_choose_cuda_new (
        problem->features.n, problem->features.n_codes, set->n, max_bytes);
    CUV_CHECK (self.cuda != NULL, ": %s", cuv_cuda_error ());
    CUV_CHECK ((cuv_choose_cuda_n_resident (self.cuda) == problem->features.n)
        == (max_bytes == 0 || problem->features.n == 1));
    for (int part = 0; part < 2; part++)
      CUV_CHECK (cuv_choose_cuda_set_codes (self.cuda, set->codes, set->pitch,
                     part * half, part ? set->n : half, NULL)
              == 0,
          ": %s", cuv_cuda_error ());
  }
#endif
  return self;
}

static void
choosers_free (Choosers *self)
{
  cuv_train_chooser_free (self->cpu);
#if HAVE_CUDA
  cuv_choose_cuda_free (self->cuda);
#endif
}

static void
check_choice (Choosers *self, const CuvTrainSet *set, int32_t expected)
{
  for (int n_threads = 1; n_threads <= 4 && cuv_check_options.cpu;
       n_threads += 3) {
    const int32_t chosen = cuv_train_chooser_run (self->cpu, set, n_threads);

    CUV_CHECK (chosen == expected, ": %d threads: %d and not %d", n_threads,
        chosen, expected);
  }
#if HAVE_CUDA
  if (cuv_check_options.cuda) {
    int32_t chosen = -1;

    CUV_CHECK (cuv_choose_cuda_run (self->cuda, set->weights, set->n,
                   set->n_positives, &chosen, NULL)
            == 0,
        ": %s", cuv_cuda_error ());
    CUV_CHECK (chosen == expected, ": CUDA: %d and not %d", chosen, expected);
  }
#endif
}

static void
check_choices (int32_t n, int32_t n_positives, int32_t n_features, int n_codes,
    size_t max_bytes)
{
  Problem problem = problem_new (n, n_positives, n_features, n_codes);
  Choosers choosers;

  cuv_check_case ("%d samples, %d positives, %d features, %d codes, %zu bytes",
      n, n_positives, n_features, n_codes, max_bytes);
  fill (&problem);
  choosers = choosers_new (&problem, max_bytes);
  for (int round = 0; round < 8; round++) {
    CuvTrainWeak weak;
    int32_t expected;

    cuv_train_weigh (&problem.set);
    expected = cuv_train_choose (&problem.features, &problem.set);
    check_choice (&choosers, &problem.set, expected);
    cuv_train_learn (&problem.features, &problem.set, expected, &weak);
  }
  choosers_free (&choosers);
  problem_free (&problem);
}

/* ---- codes ---- */

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

/* Windows that overlap no box by more than the limit. */
static uint64_t
count_negatives (const CuvWaldboostPlan *plan, const CuvTrainBox *boxes, int n)
{
  uint64_t n_negatives = 0;

  for (int i = 0; i < plan->n_levels; i++) {
    const CuvWaldboostLevel *level = &plan->levels[i];

    for (int at = 0; at < level->n_x * level->n_y; at++) {
      const CuvTrainWindow window = { i, at % level->n_x, at / level->n_x };
      bool negative = true;

      for (int b = 0; b < n; b++)
        negative = negative
            && cuv_train_overlap (plan, &window, &boxes[b])
                <= CUV_TRAIN_MAX_OVERLAP;
      n_negatives += negative;
    }
  }
  return n_negatives;
}

/* Each negative is drawn once. */
static void
check_draw (int width, int height)
{
  CuvCheckFrame frame =
      cuv_check_frame_new ("GRAY8", width, height, CUV_CHECK_TEXTURE);
  CuvWaldboostPlan *plan = cuv_train_plan_new (NULL, 12, 10, width, height);
  CuvTrainBox boxes[5];
  CuvTrainPicture picture = { frame.frame, boxes,
    (int32_t) cuv_check_below (6) };
  CuvTrainReservoir reservoir;
  uint64_t n;

  for (int b = 0; b < picture.n_boxes; b++)
    boxes[b] = (CuvTrainBox){ cuv_check_below ((uint32_t) width) - 9.5,
      cuv_check_below ((uint32_t) height) - 9.5, 1 + cuv_check_below (60),
      0.5 + cuv_check_below (60) };
  cuv_check_case ("%d boxes in %d x %d", picture.n_boxes, width, height);
  n = count_negatives (plan, boxes, picture.n_boxes);
  CUV_CHECK (cuv_train_reservoir_init (&reservoir, 12, 10, 100000, 1));
  CUV_CHECK (cuv_train_draw (&reservoir, NULL, &picture, 0));
  CUV_CHECK (reservoir.n_windows == n && reservoir.n_alive == n
          && (uint64_t) reservoir.n == n,
      ": %d windows drawn of %d", reservoir.n, (int) n);
  for (int32_t i = 1; i < reservoir.n; i++)
    CUV_CHECK (reservoir.ranks[i] <= reservoir.ranks[(i - 1) / 2]);
  cuv_train_reservoir_clear (&reservoir);
  cuv_waldboost_plan_free (plan);
  cuv_check_frame_free (&frame);
}

/* ---- the file ---- */

enum { N_WEAK = 7 };

/* Sums have few enough digits for float. */
static float
random_value (void)
{
  return ldexpf ((float) (int) cuv_check_below (20000) - 10000, -12);
}

static void
check_model (const CuvWaldboostModel *written, const CuvWaldboostModel *made)
{
  CUV_CHECK (written->n_weak == made->n_weak
      && written->n_leaves == made->n_leaves
      && written->feature == made->feature
      && written->window_width == made->window_width
      && written->window_height == made->window_height
      && written->fixed_bits == made->fixed_bits);
  for (int k = 0; k < N_WEAK; k++) {
    const CuvGridNode *a = &written->nodes[k], *b = &made->nodes[k];

    CUV_CHECK (a->x == b->x && a->y == b->y && a->width == b->width
        && a->height == b->height && a->a == b->a && a->b == b->b);
    CUV_CHECK (
        written->weak[k].fixed_threshold == made->weak[k].fixed_threshold);
  }
  CUV_CHECK (memcmp (written->fixed_leaves, made->fixed_leaves,
                 (size_t) made->n_leaves * sizeof *made->fixed_leaves)
      == 0);
}

/* What is read again is what was written. */
static void
check_written (CuvFeature feature)
{
  CuvTrainFeatures features;
  CuvGridNode nodes[N_WEAK];
  float thresholds[N_WEAK], leaves[N_WEAK * CUV_TRAIN_MAX_CODES];
  CuvGridClassifier classifier = { feature, 20, 12, N_WEAK, 0, nodes, leaves,
    thresholds, 0 };
  const CuvWaldboostModel *written, *made;
  char *text, *problem = NULL;

  cuv_check_case ("writing a model of feature %d", feature);
  cuv_train_features_init (&features, feature, 20, 12, N_WEAK, 3);
  classifier.n_codes = features.n_codes;
  for (int k = 0; k < N_WEAK; k++) {
    nodes[k] = features.nodes[k];
    thresholds[k] = k % 3 == 1 ? -INFINITY : random_value ();
  }
  for (int i = 0; i < N_WEAK * features.n_codes; i++)
    leaves[i] = random_value ();
  classifier.final_threshold = random_value ();
  text = cuv_model_write (&classifier, "a comment");
  written = cuv_model_parse (text, strlen (text), NULL, &problem);
  CUV_CHECK (written != NULL, ": %s", problem);
  /* the file's first leaves are smaller by the final threshold */
  for (int i = 0; i < features.n_codes; i++)
    leaves[i] -= classifier.final_threshold;
  for (int k = 0; k < N_WEAK; k++)
    thresholds[k] -= classifier.final_threshold;
  classifier.final_threshold = 0;
  made = cuv_model_new (&classifier);
  check_model (written, made);
  cuv_model_unref (written);
  cuv_model_unref (made);
  cuv_train_features_clear (&features);
  free (text);
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

    const int32_t n_features = 1 + (int32_t) cuv_check_below (300);
    /* all codes fit, one feature's, some */
    const size_t max_bytes[] = { 0, 1,
      cuv_check_below ((uint32_t) (n * n_features)) };

    check_choices (n, 1 + (int32_t) cuv_check_below ((uint32_t) n - 1),
        n_features, n_codes[i % 3], max_bytes[(i + i / 3) % 3]);
  }
  if (!cuv_check_options.few) /* more than one piece on the GPU */
    check_choices (150001, 70001, 5, 256, 0);
  for (int i = 0; i < n_cases && cuv_check_options.cpu; i++) {
    check_codes (kinds[i % 3], 8 + (int) cuv_check_below (i == 1 ? 121 : 24),
        8 + (int) cuv_check_below (24), 1 + (int32_t) cuv_check_below (150));
    check_written (kinds[i % 3]);
    check_draw (8 + (int) cuv_check_below (90), 8 + (int) cuv_check_below (90));
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
  Choosers choosers;
  int32_t chosen;
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
choose (void *data)
{
  Bench *self = data;
  const CuvTrainSet *set = &self->problem.set;

#if HAVE_CUDA
  if (cuv_check_options.cuda) {
    cuv_choose_cuda_run (self->choosers.cuda, set->weights, set->n,
        set->n_positives, &self->chosen, NULL);
    return;
  }
#endif
  self->chosen = cuv_train_chooser_run (self->choosers.cpu, set, 0);
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
  char name[80];

  snprintf (name, sizeof name, "train%s, 30000 samples, 8464 features, %s",
      cuv_check_options.cuda ? " cuda" : "", what);
  cuv_check_report (name, us, (double) N_SAMPLES * 8464, 0);
}

void
bench_training (void)
{
  double us;
  CuvTrainFeatures features;
  Bench self;

  cuv_train_features_init (
      &features, CUV_FEATURE_LBP, SIDE, SIDE, INT32_MAX, 0);
  self.problem =
      problem_new (N_SAMPLES, N_POSITIVES, features.n, features.n_codes);
  self.problem.features = features;
  self.problem.set.codes = self.problem.codes;
  cut_samples (&self);
  self.choosers = choosers_new (&self.problem, 0);
  us = cuv_check_time (learn, &self) / N_ROUNDS;
  report ("of the first 32 rounds", us);
  report ("the choice of round 33", cuv_check_time (choose, &self));
  choosers_free (&self.choosers);
  problem_free (&self.problem);
  cuv_train_features_clear (&features);
}
