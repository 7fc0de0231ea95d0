/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Real AdaBoost with one table for each feature: R. Schapire, Y. Singer,
 * Improved Boosting Algorithms Using Confidence-rated Predictions, Machine
 * Learning 37, 1999. Tables of cascades have two values. Sums of weights are
 * integers, so that any order of addition gives the same bits. */
#include "train.h"

#include <math.h>
#include <stdlib.h>

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

typedef struct {
  uint64_t positives, negatives;
  double share; /* fraction of positives */
  int code;
} Bin;

static int
compare_bins (const void *a, const void *b)
{
  const Bin *one = a, *other = b;

  if (one->share != other->share)
    return one->share < other->share ? -1 : 1;
  return one->code - other->code;
}

static void
sort_bins (const CuvTrainHistogram *histogram, int n_codes, Bin *bins)
{
  for (int code = 0; code < n_codes; code++) {
    const uint64_t p = histogram->positives[code];
    const uint64_t n = histogram->negatives[code];

    bins[code] = (Bin){ p, n, p > 0 ? (double) p / (double) (p + n) : 0, code };
  }
  qsort (bins, (size_t) n_codes, sizeof *bins, compare_bins);
}

double
cuv_train_split (
    const CuvTrainHistogram *histogram, int n_codes, CuvTrainSplit *split)
{
  CuvTrainSplit at = { 0 };
  Bin bins[CUV_TRAIN_MAX_CODES];
  double least = INFINITY;

  sort_bins (histogram, n_codes, bins);
  for (int k = 0; k < n_codes; k++) {
    at.positives[1] += bins[k].positives;
    at.negatives[1] += bins[k].negatives;
    at.high[k] = true;
  }
  for (int k = 0; k + 1 < n_codes; k++) {
    double loss = 0;

    at.high[bins[k].code] = false;
    at.positives[0] += bins[k].positives;
    at.positives[1] -= bins[k].positives;
    at.negatives[0] += bins[k].negatives;
    at.negatives[1] -= bins[k].negatives;
    for (int part = 0; part < 2; part++)
      loss += sqrt ((double) at.positives[part] * (double) at.negatives[part]);
    if (loss < least) {
      least = loss;
      *split = at;
    }
  }
  return least;
}

int32_t
cuv_train_choose_feature (
    const CuvTrainFeatures *features, const CuvTrainSet *set)
{
  double least = INFINITY;
  int32_t best = 0;

  for (int32_t f = 0; f < features->n; f++) {
    CuvTrainHistogram histogram;
    CuvTrainSplit split;
    double loss;

    cuv_train_count (set, f, &histogram);
    loss = features->cascade
        ? cuv_train_split (&histogram, features->n_codes, &split)
        : cuv_train_loss (&histogram, features->n_codes);
    if (loss < least) {
      least = loss;
      best = f;
    }
  }
  return best;
}

/* ---- leaves ---- */

/* Returns a leaf. positives, negatives: their fractions of the total weight. */
static int32_t
leaf_of (double positives, double negatives, int32_t n_samples)
{
  const double e = 0.5 / n_samples;
  const double leaf = 0.5 * log ((positives + e) / (negatives + e));

  return (int32_t) lrint (ldexp (leaf, CUV_TRAIN_LEAF_BITS));
}

void
cuv_train_leaves (const CuvTrainHistogram *histogram, int n_codes,
    int32_t n_samples, int32_t *leaves)
{
  double total = 0;

  for (int code = 0; code < n_codes; code++)
    total += (double) histogram->positives[code]
        + (double) histogram->negatives[code];
  for (int code = 0; code < n_codes; code++)
    leaves[code] = leaf_of ((double) histogram->positives[code] / total,
        (double) histogram->negatives[code] / total, n_samples);
}

void
cuv_train_split_leaves (
    const CuvTrainSplit *split, int n_codes, int32_t n_samples, int32_t *leaves)
{
  const double total = (double) (split->positives[0] + split->positives[1]
      + split->negatives[0] + split->negatives[1]);
  int32_t of_part[2];

  for (int part = 0; part < 2; part++)
    of_part[part] = leaf_of ((double) split->positives[part] / total,
        (double) split->negatives[part] / total, n_samples);
  for (int code = 0; code < n_codes; code++)
    leaves[code] = of_part[split->high[code]];
}

void
cuv_train_add_leaves (CuvTrainSet *set, int32_t first, int32_t end,
    const int32_t *leaves, int n_codes, const uint8_t *codes)
{
  /* factors of negatives; of positives */
  double factors[2][CUV_TRAIN_MAX_CODES];

  for (int code = 0; code < n_codes; code++) {
    const double margin = ldexp (leaves[code], -CUV_TRAIN_LEAF_BITS);

    factors[0][code] = exp (margin);
    factors[1][code] = exp (-margin);
  }
  for (int32_t i = first; i < end; i++) {
    const int code = codes[i - first];

    set->sums[i] += leaves[code];
    set->masses[i] *= factors[i < set->n_positives][code];
  }
}

void
cuv_train_learn (const CuvTrainFeatures *features, CuvTrainSet *set,
    int32_t feature, CuvTrainWeak *weak)
{
  const int n_codes = features->n_codes;
  CuvTrainHistogram histogram;
  CuvTrainSplit split;

  weak->feature = feature;
  cuv_train_count (set, feature, &histogram);
  if (features->cascade) {
    cuv_train_split (&histogram, n_codes, &split);
    cuv_train_split_leaves (&split, n_codes, set->n_alive, weak->leaves);
  } else {
    cuv_train_leaves (&histogram, n_codes, set->n_alive, weak->leaves);
  }
  cuv_train_add_leaves (set, 0, set->n, weak->leaves, n_codes,
      set->codes + (size_t) feature * set->pitch);
}

void
cuv_train_round (
    const CuvTrainFeatures *features, CuvTrainSet *set, CuvTrainWeak *weak)
{
  cuv_train_weigh (set);
  cuv_train_learn (
      features, set, cuv_train_choose_feature (features, set), weak);
}
