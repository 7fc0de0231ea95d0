/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reference/waldboost-reference.h"
#include "train/channels/trees.h"

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

/* ---- all trees ---- */

/* Recalls the next tree, or learns it. Returns false if memory runs out. */
static bool
next_tree (CuvTrainSet *set, const int32_t *features, int32_t n_drawn,
    const CuvTrainTreesParams *params, CuvTrainTree *tree)
{
  const CuvTrainWatch *watch = params->watch;

  cuv_train_weigh (set);
  if (watch != NULL && watch->recall != NULL
      && watch->recall (watch->data, tree))
    return cuv_train_tree_again (set, params->depth, tree);
  if (!cuv_train_tree (
          set, features, n_drawn, params->depth, params->n_threads, tree))
    return false;
  if (watch != NULL && watch->learnt != NULL)
    watch->learnt (watch->data, tree);
  return true;
}

static bool
learn_trees (CuvTrainSet *set, Calibration *calibration, int32_t *features,
    int32_t n_features, const CuvTrainTreesParams *params, CuvTrainTree *trees,
    int32_t *thresholds)
{
  const double wanted = params->share * n_features;
  const int32_t n_drawn = wanted < 1 ? 1 : (int32_t) wanted;
  uint64_t random = params->seed;

  for (int32_t i = 0; i < params->n_trees; i++) {
    draw_features (features, n_features, n_drawn, &random);
    if (cuv_train_is_stopped (params->watch)
        || !next_tree (set, features, n_drawn, params, &trees[i]))
      return false;
    thresholds[i] =
        add_tree (calibration, &trees[i], params->depth, params->alpha);
  }
  return true;
}

bool
cuv_train_trees (const CuvTrainSamples *learning,
    const CuvTrainSamples *calibration, const CuvTrainTreesParams *params,
    CuvTrainTree *trees, int32_t *thresholds, int32_t *final)
{
  const int32_t n_features = learning->n_features;
  int32_t *features = malloc ((size_t) n_features * sizeof *features);
  Calibration held = { 0 };
  CuvTrainSet set;
  bool ok = set_init (&set, learning) && calibration_init (&held, calibration)
      && features != NULL;

  for (int32_t i = 0; i < n_features && ok; i++)
    features[i] = i;
  ok = ok
      && learn_trees (
          &set, &held, features, n_features, params, trees, thresholds);
  if (ok)
    *final = final_threshold (&held, params->alpha);
  calibration_clear (&held);
  set_clear (&set);
  free (features);
  return ok;
}
