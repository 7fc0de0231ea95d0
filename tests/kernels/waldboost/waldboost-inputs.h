/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pictures and models for the benchmark. */
#ifndef CUV_TEST_WALDBOOST_INPUTS_H
#define CUV_TEST_WALDBOOST_INPUTS_H

#include "waldboost-models.h"

/* Resizes a picture: means of boxes of pixels, or the nearest pixel. */
CuvCheckFrame bench_scaled (
    const CuvCheckFrame *picture, int width, int height);

/* A cascade of a file, or NULL and a failed check. cuv_model_unref() it. */
const CuvWaldboostModel *bench_cascade (const char *path);

/* A random WaldBoost model of n_weak weak classifiers for windows of 26 x 26.
 * Its thresholds let through, after each weak classifier, as many of the
 * picture's windows as trained models do. free() it. */
RandomModel *bench_model (
    CuvFeature feature, int n_weak, const CuvCheckFrame *picture);

#endif
