/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Chooses a feature, optimised. Counts the heaviest samples first and drops a
 * feature as soon as its loss in these alone is larger than that of the best
 * feature in all samples: the loss never decreases when weights are added, and
 * the loss of the best split is never smaller than that of the codes. R. Appel,
 * T. Fuchs, P. Dollar, P. Perona, Quickly Boosting Decision Trees - Pruning
 * Underachieving Features Early, ICML 2013. */
#include "cpu/feature-chooser.h"
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include "cuvcpu.h"
#include "cuvthreads.h"

enum {
  TASK = 64, /* features per task */
  /* features counted in one pass over the samples, which saves loads; see
   * docs/benchmarks/training.md, first section */
  TOGETHER = 4,
  N_BUCKETS = 32 * 32,
};

/* Fractions of the total weight after which the loss is compared. With these
 * fractions 20 to 30 % of the samples are counted: docs/benchmarks/training.md,
 * first section. */
static const double stops[] = { 0.92, 0.95, 0.98, 1 };

/* If the loss of the codes is below this fraction of the least loss, the loss
 * of the split is rarely above the least loss, and computing it would not pay.
 * The value was not tuned; it does not change the result. */
#define WORTH 0.9

enum { N_STOPS = sizeof stops / sizeof *stops };

/* The samples of a class that have a weight: the heaviest up to the first stop,
 * followed by the next ones up to the second stop, and so on. */
typedef struct {
  int32_t *index;
  uint32_t *weights;
  int32_t ends[N_STOPS]; /* numbers of samples up to each stop */
} Class;

typedef struct {
  double loss;
  int32_t feature;
} Choice;

struct _CuvTrainFeatureChooser {
  const CuvTrainFeatures *features;
  CuvTrainDsp dsp;
  const CuvTrainSet *set;
  Class classes[2]; /* positives, negatives */
  int32_t n_tasks;
  Choice *choices;        /* choice of each task */
  int32_t *leaders;       /* features that were best in their task */
  _Atomic uint64_t least; /* bits of the least loss so far */
};

/* ---- samples by weight ---- */

/* Returns the bucket of a weight. Buckets are in the order of the weights;
 * there are 32 for each power of two. */
static int
bucket_of (uint32_t weight)
{
  const int bits = 31 - __builtin_clz (weight);

  return bits * 32 + (int) (((uint64_t) weight << 5 >> bits) & 31);
}

/* Finds the stop to which each bucket belongs. */
static void
find_stops (const CuvTrainSet *set, int32_t first, int32_t end, int8_t *stop_of)
{
  uint64_t weights[N_BUCKETS] = { 0 }, total = 0, heavier = 0;
  int8_t stop = 0;

  for (int32_t i = first; i < end; i++) {
    if (set->weights[i] > 0)
      weights[bucket_of (set->weights[i])] += set->weights[i];
    total += set->weights[i];
  }
  for (int b = N_BUCKETS - 1; b >= 0; b--) {
    while (
        stop < N_STOPS - 1 && (double) heavier >= stops[stop] * (double) total)
      stop++;
    stop_of[b] = stop;
    heavier += weights[b];
  }
}

/* Sorts samples by stop, then by the position of their codes in memory. */
static void
sort (Class *self, const CuvTrainSet *set, int32_t first, int32_t end)
{
  int8_t stop_of[N_BUCKETS];
  int32_t n = 0;

  find_stops (set, first, end, stop_of);
  for (int stop = 0; stop < N_STOPS; stop++) {
    for (int32_t i = first; i < end; i++) {
      const uint32_t weight = set->weights[i];

      if (weight > 0 && stop_of[bucket_of (weight)] == stop) {
        self->index[n] = i;
        self->weights[n++] = weight;
      }
    }
    self->ends[stop] = n;
  }
}

/* ---- the loss of a feature ---- */

static double
least_loss (CuvTrainFeatureChooser *self)
{
  union {
    uint64_t bits;
    double loss;
  } least = { .bits = self->least };

  return least.loss;
}

/* Lowers the least loss atomically. The bits of positive doubles, as integers,
 * are in the order of the doubles. */
static void
lower_least (CuvTrainFeatureChooser *self, double loss)
{
  const union {
    double loss;
    uint64_t bits;
  } candidate = { .loss = loss };
  uint64_t least = self->least;

  while (candidate.bits < least
      && !__atomic_compare_exchange_n ((uint64_t *) &self->least, &least,
          candidate.bits, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    continue;
}

/* A code that samples of both classes have. */
typedef struct {
  double share; /* fraction of positives */
  uint64_t positives, negatives;
} Bin;

static double
loss_of_part (const Bin *part)
{
  return sqrt ((double) part->positives * (double) part->negatives);
}

static void
insert_bin (Bin *bins, int n, Bin bin)
{
  for (; n > 0 && bins[n - 1].share > bin.share; n--)
    bins[n] = bins[n - 1];
  bins[n] = bin;
}

/* Computes what cuv_train_split() returns, except for rounding. Codes that only
 * one class has are at the ends of the order; the best split puts them into the
 * part of that class. */
static double
estimate_split (const CuvTrainHistogram *histogram, int n_codes)
{
  Bin bins[CUV_TRAIN_MAX_CODES], low = { 0 }, high = { 0 };
  double least;
  int n = 0;

  for (int code = 0; code < n_codes; code++) {
    const uint64_t p = histogram->positives[code];
    const uint64_t q = histogram->negatives[code];

    if (p > 0 && q > 0)
      insert_bin (bins, n++, (Bin){ (double) p / (double) (p + q), p, q });
    high.positives += p;
    *(p > 0 ? &high.negatives : &low.negatives) += q;
  }
  least = loss_of_part (&high);
  for (int i = 0; i < n; i++) {
    low.positives += bins[i].positives;
    low.negatives += bins[i].negatives;
    high.positives -= bins[i].positives;
    high.negatives -= bins[i].negatives;
    least = fmin (least, loss_of_part (&low) + loss_of_part (&high));
  }
  return least;
}

/* Features that are compared in one pass. */
typedef struct {
  const uint8_t *codes[TOGETHER];
  bool given_up[TOGETHER]; /* the loss is larger than the least loss */
  CuvTrainHistogram sums[TOGETHER];
} Candidates;

/* Counts the samples up to a stop. */
static void
count_samples (
    const CuvTrainFeatureChooser *self, int stop, Candidates *candidates)
{
  const uint8_t *const *codes = candidates->codes;

  for (int c = 0; c < 2; c++) {
    const Class *class = &self->classes[c];
    uint64_t *sums[TOGETHER];

    for (int j = 0; j < TOGETHER; j++)
      sums[j] = c == 0 ? candidates->sums[j].positives
                       : candidates->sums[j].negatives;
    for (int32_t k = stop > 0 ? class->ends[stop - 1] : 0;
         k < class->ends[stop]; k++) {
      const int32_t i = class->index[k];
      const uint64_t weight = class->weights[k];

      sums[0][codes[0][i]] += weight;
      sums[1][codes[1][i]] += weight;
      sums[2][codes[2][i]] += weight;
      sums[3][codes[3][i]] += weight;
    }
  }
}

static bool
is_too_large (CuvTrainFeatureChooser *self, double estimate)
{
  return estimate * (1 - 2 * CUV_TRAIN_LOSS_ERROR) > least_loss (self);
}

/* Returns whether a feature is worse than the best one, judged by the samples
 * counted so far. */
static bool
is_worse (CuvTrainFeatureChooser *self, const CuvTrainHistogram *sums)
{
  const int n_codes = self->features->n_codes;
  const double estimate = self->dsp.estimate_loss (sums, n_codes);

  return is_too_large (self, estimate)
      || (self->features->cascade && estimate > WORTH * least_loss (self)
          && is_too_large (self, estimate_split (sums, n_codes)));
}

static void
compare_features (CuvTrainFeatureChooser *self, Candidates *candidates)
{
  int n_left = TOGETHER;

  for (int stop = 0; stop < N_STOPS && n_left > 0; stop++) {
    count_samples (self, stop, candidates);
    n_left = 0;
    for (int j = 0; j < TOGETHER; j++) {
      candidates->given_up[j] =
          candidates->given_up[j] || is_worse (self, &candidates->sums[j]);
      n_left += !candidates->given_up[j];
    }
  }
}

static double
loss_of (const CuvTrainFeatureChooser *self, const CuvTrainHistogram *sums)
{
  const int n_codes = self->features->n_codes;
  CuvTrainSplit split;

  return self->features->cascade ? cuv_train_split (sums, n_codes, &split)
                                 : cuv_train_loss (sums, n_codes);
}

/* ---- the choice ---- */

/* Replaces *best if one of n features, 1 to TOGETHER, is better. */
static void
consider (
    CuvTrainFeatureChooser *self, const int32_t *features, int n, Choice *best)
{
  Candidates candidates = { 0 };

  for (int j = 0; j < TOGETHER; j++) {
    candidates.codes[j] =
        self->set->codes + (size_t) features[j < n ? j : 0] * self->set->pitch;
    candidates.given_up[j] = j >= n;
  }
  compare_features (self, &candidates);
  for (int j = 0; j < n; j++) {
    const double loss =
        candidates.given_up[j] ? INFINITY : loss_of (self, &candidates.sums[j]);

    if (loss < best->loss
        || (loss == best->loss && features[j] < best->feature))
      *best = (Choice){ loss, features[j] };
    lower_least (self, loss);
  }
}

/* Considers first the features that were best in the last round, because their
 * loss is low. */
static void
leader_task (void *data, int task)
{
  CuvTrainFeatureChooser *self = data;
  const int32_t first = task * TOGETHER;
  const int32_t n = self->n_tasks - first;
  Choice ignored = { INFINITY, 0 };

  consider (self, self->leaders + first, n < TOGETHER ? n : TOGETHER, &ignored);
}

static void
choose_task (void *data, int task)
{
  CuvTrainFeatureChooser *self = data;
  const int32_t first = task * TASK, end = first + TASK;
  Choice best = { INFINITY, first };

  for (int32_t f = first; f < end && f < self->features->n; f += TOGETHER) {
    const int32_t n = self->features->n - f;
    const int32_t features[TOGETHER] = { f, f + 1, f + 2, f + 3 };

    consider (self, features, n < TOGETHER ? n : TOGETHER, &best);
  }
  self->choices[task] = best;
}

int32_t
cuv_train_feature_chooser_run (
    CuvTrainFeatureChooser *self, const CuvTrainSet *set, int n_threads)
{
  Choice best = { INFINITY, 0 };

  self->set = set;
  sort (&self->classes[0], set, 0, set->n_positives);
  sort (&self->classes[1], set, set->n_positives, set->n);
  self->least = UINT64_MAX >> 1;
  lower_least (self, INFINITY);
  cuv_threads_run (
      n_threads, (self->n_tasks + TOGETHER - 1) / TOGETHER, leader_task, self);
  cuv_threads_run (n_threads, self->n_tasks, choose_task, self);
  for (int32_t t = 0; t < self->n_tasks; t++) {
    if (self->choices[t].loss < best.loss)
      best = self->choices[t];
    if (self->choices[t].loss < INFINITY)
      self->leaders[t] = self->choices[t].feature;
  }
  return best.feature;
}

/* ---- making and freeing ---- */

CuvTrainFeatureChooser *
cuv_train_feature_chooser_new (
    const CuvTrainFeatures *features, int32_t capacity)
{
  CuvTrainFeatureChooser *self = calloc (1, sizeof *self);
  bool ok = self != NULL;

  if (!ok)
    return NULL;
  self->features = features;
  self->n_tasks = (features->n + TASK - 1) / TASK;
  self->choices = malloc ((size_t) self->n_tasks * sizeof *self->choices);
  self->leaders = malloc ((size_t) self->n_tasks * sizeof *self->leaders);
  ok = self->choices != NULL && self->leaders != NULL;
  for (int c = 0; c < 2; c++) {
    Class *class = &self->classes[c];

    class->index = malloc ((size_t) capacity * sizeof *class->index);
    class->weights = malloc ((size_t) capacity * sizeof *class->weights);
    ok = ok && class->index != NULL && class->weights != NULL;
  }
  for (int32_t t = 0; t < self->n_tasks && ok; t++)
    self->leaders[t] = t * TASK;
  self->dsp.estimate_loss = cuv_train_loss;
#if HAVE_SIMD
  if (cuv_cpu_flags () & CUV_CPU_SIMD)
    cuv_train_dsp_init_avx2 (&self->dsp);
#endif
  if (ok)
    return self;
  cuv_train_feature_chooser_free (self);
  return NULL;
}

void
cuv_train_feature_chooser_free (CuvTrainFeatureChooser *self)
{
  if (self == NULL)
    return;
  for (int c = 0; c < 2; c++) {
    free (self->classes[c].index);
    free (self->classes[c].weights);
  }
  free (self->choices);
  free (self->leaders);
  free (self);
}
