/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Real AdaBoost with one table for each feature: R. Schapire, Y. Singer,
 * Improved Boosting Algorithms Using Confidence-rated Predictions, Machine
 * Learning 37, 1999. Sums of weights are whole numbers: any order of addition
 * gives the same bits. */
#include "train/train.h"

#include <math.h>

/* ---- weights ---- */

void
cuv_train_begin_class (CuvTrainSet *set, int32_t first, int32_t end)
{
  for (int32_t i = first; i < end; i++) {
    set->masses[i] = 0.5 / (end - first);
    set->sums[i] = 0;
  }
}

void
cuv_train_begin (CuvTrainSet *set)
{
  cuv_train_begin_class (set, 0, set->n_positives);
  cuv_train_begin_class (set, set->n_positives, set->n);
  set->n_alive = set->n;
}

void
cuv_train_weigh (CuvTrainSet *set)
{
  double largest = 0;
  int exponent;

  for (int32_t i = 0; i < set->n; i++) {
    if (set->masses[i] > largest)
      largest = set->masses[i];
  }
  frexp (largest, &exponent);
  for (int32_t i = 0; i < set->n; i++)
    set->weights[i] = (uint32_t) ldexp (set->masses[i], 32 - exponent);
}

/* ---- the choice ---- */

void
cuv_train_count (
    const CuvTrainSet *set, int32_t feature, CuvTrainHistogram *histogram)
{
  const uint8_t *codes = set->codes + (size_t) feature * set->pitch;

  *histogram = (CuvTrainHistogram){ 0 };
  for (int32_t i = 0; i < set->n_positives; i++)
    histogram->positives[codes[i]] += set->weights[i];
  for (int32_t i = set->n_positives; i < set->n; i++)
    histogram->negatives[codes[i]] += set->weights[i];
}

double
cuv_train_loss (const CuvTrainHistogram *histogram, int n_codes)
{
  double loss = 0;

  for (int code = 0; code < n_codes; code++)
    loss += sqrt ((double) histogram->positives[code]
        * (double) histogram->negatives[code]);
  return loss;
}

int32_t
cuv_train_choose (const CuvTrainFeatures *features, const CuvTrainSet *set)
{
  double least = INFINITY;
  int32_t best = 0;

  for (int32_t f = 0; f < features->n; f++) {
    CuvTrainHistogram histogram;
    double loss;

    cuv_train_count (set, f, &histogram);
    loss = cuv_train_loss (&histogram, features->n_codes);
    if (loss < least) {
      least = loss;
      best = f;
    }
  }
  return best;
}

/* ---- leaves ---- */

void
cuv_train_leaves (const CuvTrainHistogram *histogram, int n_codes,
    int32_t n_samples, int32_t *leaves)
{
  const double e = 0.5 / n_samples;
  double total = 0;

  for (int code = 0; code < n_codes; code++)
    total += (double) histogram->positives[code]
        + (double) histogram->negatives[code];
  for (int code = 0; code < n_codes; code++) {
    double p = (double) histogram->positives[code] / total + e;
    double n = (double) histogram->negatives[code] / total + e;

    leaves[code] =
        (int32_t) lrint (ldexp (0.5 * log (p / n), CUV_TRAIN_LEAF_BITS));
  }
}

void
cuv_train_add_leaf (CuvTrainSet *set, int32_t i, int32_t leaf)
{
  const double margin = ldexp (leaf, -CUV_TRAIN_LEAF_BITS);

  set->sums[i] += leaf;
  set->masses[i] *= exp (i < set->n_positives ? -margin : margin);
}

void
cuv_train_apply (CuvTrainSet *set, const CuvTrainWeak *weak)
{
  const uint8_t *codes = set->codes + (size_t) weak->feature * set->pitch;

  for (int32_t i = 0; i < set->n; i++)
    cuv_train_add_leaf (set, i, weak->leaves[codes[i]]);
}

void
cuv_train_learn (const CuvTrainFeatures *features, CuvTrainSet *set,
    int32_t feature, CuvTrainWeak *weak)
{
  CuvTrainHistogram histogram;

  weak->feature = feature;
  cuv_train_count (set, feature, &histogram);
  cuv_train_leaves (&histogram, features->n_codes, set->n_alive, weak->leaves);
  cuv_train_apply (set, weak);
}

void
cuv_train_round (
    const CuvTrainFeatures *features, CuvTrainSet *set, CuvTrainWeak *weak)
{
  cuv_train_weigh (set);
  cuv_train_learn (features, set, cuv_train_choose (features, set), weak);
}
