/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pictures and models for benchmarks. */
#ifndef CUV_TEST_WALDBOOST_INPUTS_H
#define CUV_TEST_WALDBOOST_INPUTS_H

#include "waldboost-models.h"

/* Resizes a picture to means of boxes of pixels, or, where it is enlarged, to
 * the nearest pixels. */
CuvCheckFrame bench_scaled (
    const CuvCheckFrame *picture, int width, int height);

/* Parses a model file. Fails a check and returns NULL on errors; else
 * cuv_model_unref() the model. */
const CuvWaldboostModel *bench_cascade (const char *path);

/* Makes a random WaldBoost model for windows of 26 x 26 pixels. Its thresholds
 * let as many of the picture's windows survive each weak classifier as those of
 * trained models do. free() it. */
RandomModel *bench_model (
    CuvFeature feature, int n_weak, const CuvCheckFrame *picture);

#endif
