/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reference/waldboost-reference.h"
#include "backend.h"
#include "trees/trees.h"

#include <stdlib.h>
#include <string.h>

/* The samples of calibration, which are not learnt from, and their sums. */
typedef struct {
  const CuvTrainSamples *samples;
  int32_t *sums;
  bool *alive;
  int32_t *sorted; /* sorted sums: see living() */
} Calibration;

/* ---- the set ---- */

/* Transposes the samples: codes has one feature of all samples after another.
 */
static void
transpose (const CuvTrainSamples *samples, uint8_t *codes, size_t pitch)
{
  for (int32_t i = 0; i < samples->n; i++) {
    const uint8_t *values =
        samples->values + (size_t) i * (size_t) samples->n_features;

    for (int32_t f = 0; f < samples->n_features; f++)
      codes[(size_t) f * pitch + (size_t) i] = values[f];
  }
}

static bool
set_init (CuvTrainSet *self, const CuvTrainSamples *samples)
{
  const size_t n = (size_t) samples->n;
  uint8_t *codes = malloc (n * (size_t) samples->n_features);

  *self = (CuvTrainSet){ .n = samples->n,
    .n_positives = samples->n_positives,
    .codes = codes,
    .pitch = n,
    .masses = malloc (n * sizeof *self->masses),
    .weights = malloc (n * sizeof *self->weights),
    .sums = malloc (n * sizeof *self->sums) };
  if (codes == NULL || self->masses == NULL || self->weights == NULL
      || self->sums == NULL)
    return false;
  transpose (samples, codes, n);
  cuv_train_begin (self);
  return true;
}

static void
set_clear (CuvTrainSet *self)
{
  free ((void *) self->codes);
  free (self->masses);
  free (self->weights);
  free (self->sums);
}

/* ---- features ---- */

/* Draws n_drawn different features: swaps each of the first ones with a random
 * one that is not before it. */
static void
draw_features (
    int32_t *features, int32_t n_all, int32_t n_drawn, uint64_t *random)
{
  for (int32_t i = 0; i < n_drawn; i++) {
    const int32_t other =
        i + (int32_t) (cuv_train_random (random) % (uint64_t) (n_all - i));
    const int32_t feature = features[other];

    features[other] = features[i];
    features[i] = feature;
  }
}

/* ---- calibration ---- */

static bool
calibration_init (Calibration *self, const CuvTrainSamples *samples)
{
  const size_t n = (size_t) samples->n;

  *self = (Calibration){ samples, calloc (n + 1, sizeof *self->sums),
    malloc ((n + 1) * sizeof *self->alive),
    malloc ((n + 1) * sizeof *self->sorted) };
  if (self->sums == NULL || self->alive == NULL || self->sorted == NULL)
    return false;
  memset (self->alive, true, n * sizeof *self->alive);
  return true;
}

static void
calibration_clear (Calibration *self)
{
  free (self->sums);
  free (self->alive);
  free (self->sorted);
}

/* Returns the sorted sums of a class, samples first .. end - 1, without those
 * that are rejected. */
static CuvTrainLiving
living (const Calibration *self, int32_t first, int32_t end)
{
  int32_t *sums = self->sorted + first, n = 0;

  for (int32_t i = first; i < end; i++) {
    if (self->alive[i])
      sums[n++] = self->sums[i];
  }
  qsort (sums, (size_t) n, sizeof *sums, cuv_compare_ints);
  return (
      CuvTrainLiving){ sums, n, end > first ? (double) n / (end - first) : 0 };
}

/* Adds a tree; returns its rejection threshold. */
static int32_t
add_tree (Calibration *self, const CuvTrainTree *tree, int depth, double alpha)
{
  const CuvTrainSamples *samples = self->samples;
  CuvTrainLiving positives, negatives;
  int32_t threshold;

  for (int32_t i = 0; i < samples->n; i++) {
    if (self->alive[i])
      self->sums[i] += cuv_train_tree_leaf (tree, depth,
          samples->values + (size_t) i * (size_t) samples->n_features);
  }
  positives = living (self, 0, samples->n_positives);
  negatives = living (self, samples->n_positives, samples->n);
  threshold = negatives.n > 0
      ? cuv_train_threshold (&positives, &negatives, alpha)
      : CUV_TRAIN_NO_THRESHOLD;
  for (int32_t i = 0; i < samples->n; i++)
    self->alive[i] &= self->sums[i] >= threshold;
  return threshold;
}

static int32_t
final_threshold (const Calibration *self, double alpha)
{
  const CuvTrainLiving positives = living (self, 0, self->samples->n_positives);
  const int32_t least =
      positives.n > 0 ? positives.sums[(int32_t) (alpha * positives.n)] - 1 : 0;

  return least < 0 ? least : 0;
}

/* ---- a tree ---- */

typedef struct {
  const CuvTrainTreesParams *params;
  CuvTrainSet set;
  int32_t *features, n_features; /* features: in the order last drawn */
  CuvProcessor on_cpu;
  CuvBackend backend; /* closed until the first tree is learnt */
} Learner;

static CuvProcessor *
processor_of (Learner *self)
{
  return self->params->processor != NULL ? self->params->processor
                                         : &self->on_cpu;
}

/* Returns NULL, or an error. */
static const char *
try_to_learn (Learner *self, int32_t n_drawn, CuvTrainTree *tree)
{
  const CuvProcessor *processor = processor_of (self);
  const char *problem = NULL;

  if (self->backend.klass == NULL)
    problem = cuv_train_trees_open (
        &self->backend, &self->set, self->n_features, processor);
  if (problem == NULL)
    problem = cuv_train_trees_learn (&self->backend, &self->set, self->features,
        n_drawn, self->params->depth, tree, processor);
  return problem;
}

static bool
may_leave_device (Learner *self, const char *problem)
{
  const CuvTrainWatch *watch = self->params->watch;

  return processor_of (self)->on_device && watch != NULL
      && watch->device_failed != NULL
      && watch->device_failed (watch->data, problem);
}

static bool
learn_tree (Learner *self, int32_t n_drawn, CuvTrainTree *tree)
{
  const char *problem = try_to_learn (self, n_drawn, tree);

  if (problem != NULL && may_leave_device (self, problem)) {
    cuv_backend_close (&self->backend);
    processor_of (self)->on_device = false;
    problem = try_to_learn (self, n_drawn, tree);
  }
  return problem == NULL;
}

/* Recalls the next tree, or learns it. */
static bool
next_tree (Learner *self, int32_t n_drawn, CuvTrainTree *tree)
{
  const CuvTrainWatch *watch = self->params->watch;

  cuv_train_weigh (&self->set);
  if (watch != NULL && watch->recall != NULL
      && watch->recall (watch->data, tree))
    return cuv_train_tree_again (&self->set, self->params->depth, tree);
  if (!learn_tree (self, n_drawn, tree))
    return false;
  if (watch != NULL && watch->learnt != NULL)
    watch->learnt (watch->data, tree);
  return true;
}

/* ---- all trees ---- */

static bool
learn_trees (Learner *self, Calibration *calibration, CuvTrainTree *trees,
    int32_t *thresholds)
{
  const CuvTrainTreesParams *params = self->params;
  const double wanted = params->share * self->n_features;
  const int32_t n_drawn = wanted < 1 ? 1 : (int32_t) wanted;
  uint64_t random = params->seed;

  for (int32_t i = 0; i < params->n_trees; i++) {
    draw_features (self->features, self->n_features, n_drawn, &random);
    if (cuv_train_is_stopped (params->watch)
        || !next_tree (self, n_drawn, &trees[i]))
      return false;
    thresholds[i] =
        add_tree (calibration, &trees[i], params->depth, params->alpha);
  }
  return true;
}

static bool
learner_init (Learner *self, const CuvTrainSamples *learning,
    const CuvTrainTreesParams *params)
{
  const int32_t n = learning->n_features;

  *self = (Learner){ .params = params,
    .features = malloc ((size_t) n * sizeof *self->features),
    .n_features = n };
  for (int32_t i = 0; i < n && self->features != NULL; i++)
    self->features[i] = i;
  return set_init (&self->set, learning) && self->features != NULL;
}

static void
learner_clear (Learner *self)
{
  cuv_backend_close (&self->backend);
  set_clear (&self->set);
  free (self->features);
}

bool
cuv_train_trees (const CuvTrainSamples *learning,
    const CuvTrainSamples *calibration, const CuvTrainTreesParams *params,
    CuvTrainTree *trees, int32_t *thresholds, int32_t *final)
{
  Calibration held = { 0 };
  Learner self;
  const bool ok = learner_init (&self, learning, params)
      && calibration_init (&held, calibration)
      && learn_trees (&self, &held, trees, thresholds);

  if (ok)
    *final = final_threshold (&held, params->alpha);
  calibration_clear (&held);
  learner_clear (&self);
  return ok;
}
