/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Training of WaldBoost classifiers: J. Sochman, J. Matas, WaldBoost - Learning
 * for Time Constrained Sequential Detection, CVPR 2005.
 *
 *   reference/  the definition of what is learnt, in plain C
 *     features.c   all features of a window, and their codes
 *     boost.c      weights of samples, weak classifiers
 *     threshold.c  when a window is rejected
 *
 * A sample is a window's grey pixels, cut out of a level of the pyramid that
 * the detector scans. A classifier adds up leaves, one for each weak
 * classifier; leaves, their sums and the thresholds are whole numbers in units
 * of 2^-CUV_TRAIN_LEAF_BITS, which float and fixed-point detectors represent
 * exactly. */
#ifndef CUV_TRAIN_H
#define CUV_TRAIN_H

#include <stdbool.h>
#include <stddef.h>
#include "waldboost/waldboost-types.h"

enum {
  CUV_TRAIN_LEAF_BITS = 12,
  CUV_TRAIN_MIN_WINDOW = 8, /* pixels, each side */
  CUV_TRAIN_MAX_WINDOW = 128,
  CUV_TRAIN_MAX_CODES = 256,
};

/* ---- features ---- */

/* The features to choose from. */
typedef struct {
  CuvFeature feature; /* LBP, LRD or LRP */
  int32_t window_width, window_height;
  int32_t n_codes; /* codes are 0 .. n_codes - 1 */
  int32_t n;
  CuvGridNode *nodes;
} CuvTrainFeatures;

/* Every position and size of 3x3 blocks that fits the window, and for LRD and
 * LRP every pair of blocks a < b; at most n_max of them, chosen at random by
 * seed. False if memory runs out. */
bool cuv_train_features_init (CuvTrainFeatures *self, CuvFeature feature,
    int window_width, int window_height, int32_t n_max, uint64_t seed);
void cuv_train_features_clear (CuvTrainFeatures *self);

/* The codes of a sample: codes[f * pitch] is that of feature f. pixels: rows of
 * window_width bytes. */
void cuv_train_codes (const CuvTrainFeatures *self, const uint8_t *pixels,
    uint8_t *codes, size_t pitch);

/* ---- samples ---- */

/* The samples of a round; positives come first. */
typedef struct {
  int32_t n, n_positives;
  const uint8_t *codes; /* of feature f, sample i: codes[f * pitch + i] */
  size_t pitch;
  double *masses;    /* products of the factors of all rounds, > 0 */
  uint32_t *weights; /* masses, times a power of two */
  int32_t *sums;     /* of leaves */
} CuvTrainSet;

/* Gives all samples the masses before the first round: 1/2 for the positives
 * together, 1/2 for the negatives. */
void cuv_train_begin (CuvTrainSet *set);

/* ---- a round ---- */

/* Weights of the samples of either class, by code. */
typedef struct {
  uint64_t positives[CUV_TRAIN_MAX_CODES];
  uint64_t negatives[CUV_TRAIN_MAX_CODES];
} CuvTrainHistogram;

typedef struct {
  int32_t feature;
  int32_t leaves[CUV_TRAIN_MAX_CODES];
} CuvTrainWeak;

/* Rounds the masses to weights; the largest is in 2^31 .. 2^32 - 1. */
void cuv_train_weigh (CuvTrainSet *set);

void cuv_train_count (
    const CuvTrainSet *set, int32_t feature, CuvTrainHistogram *histogram);

/* The error bound of real AdaBoost, up to a factor: the sum over the codes of
 * sqrt (positives * negatives), in double and in order of the codes. */
double cuv_train_loss (const CuvTrainHistogram *histogram, int n_codes);

/* The feature of the least loss; of several, the first. */
int32_t cuv_train_choose (
    const CuvTrainFeatures *features, const CuvTrainSet *set);

/* leaf = 1/2 ln ((P + e) / (N + e)), where P and N are the weights of a code
 * divided by those of all samples, and e = 1 / (2 n). */
void cuv_train_leaves (const CuvTrainHistogram *histogram, int n_codes,
    int32_t n_samples, int32_t *leaves);

/* Adds the leaves to the sums and multiplies the masses by exp (-leaf) or, of
 * negatives, exp (leaf). */
void cuv_train_apply (CuvTrainSet *set, const CuvTrainWeak *weak);

/* All of a round but the threshold. */
void cuv_train_round (
    const CuvTrainFeatures *features, CuvTrainSet *set, CuvTrainWeak *weak);

/* ---- rejection ---- */

/* Sums of the samples of one class that live, in ascending order, and the share
 * of that class that lived until now. */
typedef struct {
  const int32_t *sums;
  int32_t n;
  double alive; /* 0 .. 1 */
} CuvTrainLiving;

#define CUV_TRAIN_NO_THRESHOLD INT32_MIN

/* Wald's sequential probability ratio test: the largest threshold, a sum of a
 * positive, for which the share of all negatives rejected so far, with those
 * below it, exceeds 1 / alpha times that of the positives.
 * CUV_TRAIN_NO_THRESHOLD if there is none. alpha: the share of positives that
 * all thresholds together may reject, 0 < alpha < 1. */
int32_t cuv_train_threshold (const CuvTrainLiving *positives,
    const CuvTrainLiving *negatives, double alpha);

#endif
