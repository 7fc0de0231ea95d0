/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Computes the codes of many samples, optimised; called by train/pool.c. */
#ifndef CUV_TRAIN_CODES_H
#define CUV_TRAIN_CODES_H

#include "train.h"

/* Computes cuv_train_codes() for n samples, whose pixels are consecutive, with
 * at most n_threads threads (0: one per processor): codes[f * pitch + i] is the
 * code of feature f and sample i. Returns false if memory runs out. */
bool cuv_train_code_samples (const CuvTrainFeatures *features,
    const uint8_t *pixels, int32_t n, uint8_t *codes, size_t pitch,
    int n_threads);

enum { CUV_TRAIN_LANES = 8 };

/* The pixels that features use: columns left to right - 1 of rows top to bottom
 * - 1. */
typedef struct {
  int left, right, top, bottom;
} CuvTrainArea;

/* Computes the codes of CUV_TRAIN_LANES samples. sums: scratch memory for the
 * integral images, CUV_TRAIN_LANES * (width + 1) * (height + 1) elements. */
void cuv_train_codes_avx2 (const CuvTrainFeatures *features, CuvTrainArea area,
    const uint8_t *pixels, uint32_t *sums, uint8_t *codes, size_t pitch);

#endif
