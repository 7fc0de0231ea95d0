/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Training: chooses the feature with the smallest loss on the GPU. All
 * functions use the current CUDA context. waldboost.h has a map. */
#ifndef CUV_WALDBOOST_FEATURE_CHOOSER_H
#define CUV_WALDBOOST_FEATURE_CHOOSER_H

#include <stdbool.h>
#include "cuv-cuda.h"

CUV_BEGIN

typedef struct _CuvFeatureChooserCuda CuvFeatureChooserCuda;

/* Creates a chooser for up to capacity samples with one code per feature, 0 to
 * n_codes - 1 (at most 256 codes). split: the loss is that of the best split of
 * the codes into two sets, as for a cascade. Keeps as many codes in device
 * memory as fit max_bytes (0: 7/8 of the free memory); the others are uploaded
 * in each run. Returns NULL on failure, see cuv_cuda_error(). */
CuvFeatureChooserCuda *cuv_feature_chooser_cuda_new (int32_t n_features,
    int32_t n_codes, bool split, int32_t capacity, size_t max_bytes);
void cuv_feature_chooser_cuda_free (
    CuvFeatureChooserCuda *self); /* NULL is allowed */

/* Returns the number of features whose codes stay in device memory. */
int32_t cuv_feature_chooser_cuda_n_resident (const CuvFeatureChooserCuda *self);

/* Sets the codes of samples first to end - 1 to codes[f * pitch + i], for
 * feature f and sample i. Waits for the copy. codes must stay valid during the
 * runs that follow. Returns 0, or -1 on failure. */
int cuv_feature_chooser_cuda_set_codes (CuvFeatureChooserCuda *self,
    const uint8_t *codes, size_t pitch, int32_t first, int32_t end,
    CuvCudaStream stream);

/* Sets *feature to the feature that cuv_train_choose_feature() returns for the
 * weights of n samples, of which the first n_positives are positive. Waits for
 * the result. Returns 0, or -1 on failure. */
int cuv_feature_chooser_cuda_run (CuvFeatureChooserCuda *self,
    const uint32_t *weights, int32_t n, int32_t n_positives, int32_t *feature,
    CuvCudaStream stream);

CUV_END

#endif
