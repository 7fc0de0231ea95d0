/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The choice of features, and of the nodes of trees on channels, on the CPU or
 * on the GPU; both choose the same. */
#ifndef CUV_TRAIN_BACKEND_H
#define CUV_TRAIN_BACKEND_H

#include "cuvbackend.h"
#include "train.h"
#include "trees/trees.h"

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

/* ---- trees on channels ---- */

/* For trees that are learnt from the same samples, n_features features of each.
 * Returns NULL, or an error as cuv_backend_open() does. */
const char *cuv_train_trees_open (CuvBackend *self, const CuvTrainSet *set,
    int32_t n_features, const CuvProcessor *processor);

/* Does what cuv_train_tree() does; set must have the samples it was opened
 * with. Allocates memory. Returns NULL, or an error, and then has not changed
 * the set. */
const char *cuv_train_trees_learn (CuvBackend *self, CuvTrainSet *set,
    const int32_t *features, int32_t n_features, int depth, CuvTrainTree *tree,
    const CuvProcessor *processor);

#endif
