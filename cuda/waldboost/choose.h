/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Training: the choice of a feature on the GPU. All functions act on the
 * current CUDA context. */
#ifndef CUV_WALDBOOST_CHOOSE_H
#define CUV_WALDBOOST_CHOOSE_H

#include <stdbool.h>
#include "cuv-cuda.h"

CUV_BEGIN

typedef struct _CuvChooseCuda CuvChooseCuda;

/* For up to capacity samples, with codes below n_codes of n_features features;
 * split: of which two parts are made, as for a cascade.
 * Holds the codes in device memory, as far as they fit max_bytes (0: most of
 * what is free); others are uploaded in each run. NULL on failure, see
 * cuv_cuda_error(). */
CuvChooseCuda *cuv_choose_cuda_new (int32_t n_features, int32_t n_codes,
    bool split, int32_t capacity, size_t max_bytes);
void cuv_choose_cuda_free (CuvChooseCuda *self); /* or NULL */

/* Features whose codes stay in device memory. */
int32_t cuv_choose_cuda_n_resident (const CuvChooseCuda *self);

/* Sets those of the samples first .. end - 1: codes[f * pitch + i]. Waits;
 * codes must be valid in the runs that follow. Returns 0 or -1. */
int cuv_choose_cuda_set_codes (CuvChooseCuda *self, const uint8_t *codes,
    size_t pitch, int32_t first, int32_t end, CuvCudaStream stream);

/* The feature that cuv_train_choose() returns for the weights of n samples, of
 * which n_positives come first. Waits. Returns 0 or -1. */
int cuv_choose_cuda_run (CuvChooseCuda *self, const uint32_t *weights,
    int32_t n, int32_t n_positives, int32_t *feature, CuvCudaStream stream);

CUV_END

#endif
