/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Chooses a feature, optimised; called by train/backend.c. */
#ifndef CUV_TRAIN_FEATURE_CHOOSER_H
#define CUV_TRAIN_FEATURE_CHOOSER_H

#include "train.h"

/* Function table: the inner loops that have more than one version. */
typedef struct {
  /* Computes cuv_train_loss() with a relative error of up to
   * CUV_TRAIN_LOSS_ERROR. */
  double (*estimate_loss) (const CuvTrainHistogram *histogram, int n_codes);
} CuvTrainDsp;

#define CUV_TRAIN_LOSS_ERROR 1e-12

void cuv_train_dsp_init_avx2 (CuvTrainDsp *self);

typedef struct _CuvTrainFeatureChooser CuvTrainFeatureChooser;

/* Creates a chooser for sets of up to `capacity` samples, or returns NULL if
 * memory runs out. features must outlive it. */
CuvTrainFeatureChooser *cuv_train_feature_chooser_new (
    const CuvTrainFeatures *features, int32_t capacity);
void cuv_train_feature_chooser_free (
    CuvTrainFeatureChooser *self); /* NULL is allowed */

/* Returns what cuv_train_choose_feature() returns, with at most n_threads
 * threads (0: one per processor). */
int32_t cuv_train_feature_chooser_run (
    CuvTrainFeatureChooser *self, const CuvTrainSet *set, int n_threads);

#endif
