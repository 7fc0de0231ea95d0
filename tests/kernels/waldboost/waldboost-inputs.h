/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pictures and models for the benchmark. */
#ifndef CUV_TEST_WALDBOOST_INPUTS_H
#define CUV_TEST_WALDBOOST_INPUTS_H

#include "waldboost-models.h"

/* Resizes a picture: means of boxes of pixels, or the nearest pixel. */
CuvCheckFrame bench_scaled (
    const CuvCheckFrame *picture, int width, int height);

/* Parses a model file; cuv_model_unref() it. Fails a check and returns NULL on
 * errors. */
const CuvWaldboostModel *bench_cascade (const char *path);

/* A random WaldBoost model for windows of 26 x 26. Its thresholds are such that
 * after each weak classifier as many of the picture's windows survive as with
 * trained models. free() it. */
RandomModel *bench_model (
    CuvFeature feature, int n_weak, const CuvCheckFrame *picture);

#endif
