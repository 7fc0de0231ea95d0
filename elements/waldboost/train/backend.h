/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The choice of features on the CPU or on the GPU; both choose the same. */
#ifndef CUV_TRAIN_BACKEND_H
#define CUV_TRAIN_BACKEND_H

#include "cuvbackend.h"
#include "train/train.h"

/* For sets of up to capacity samples. max_bytes: limit of device memory for
 * codes, 0 = what is free. features must outlive it. Returns NULL, or an error
 * as cuv_backend_open() does. */
const char *cuv_train_backend_open (CuvBackend *self,
    const CuvTrainFeatures *features, int32_t capacity, size_t max_bytes,
    const CuvProcessor *processor);

/* What cuv_train_choose_feature() returns for the set. version: a number that
 * changes whenever the codes of negatives do. Returns NULL, or an error. */
const char *cuv_train_backend_choose (CuvBackend *self, const CuvTrainSet *set,
    int32_t version, int32_t *feature, const CuvProcessor *processor);

#endif
