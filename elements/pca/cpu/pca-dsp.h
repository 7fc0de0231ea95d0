/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a run does with each tile: in C first, then by what the CPU has. */
#ifndef CUV_PCA_STEPS_H
#define CUV_PCA_STEPS_H

#include "pca.h"

typedef struct {
  void (*load) (const CuvCube *cube, const CuvPcaBands *bands, int64_t tile,
      CuvPcaTile *out);
  void (*add) (const CuvPcaTile *tile, CuvPcaSum *sums);
  void (*project) (
      const CuvPcaTile *tile, const CuvPcaGains *gains, int32_t *out);
  void (*paint) (const CuvPcaTile *tile, const int32_t *values, uint8_t *out);
} CuvPcaSteps;

void cuv_pca_steps_init (CuvPcaSteps *self);

/* 32-byte aligned tiles of its own load() only. */
void cuv_pca_avx2_init (CuvPcaSteps *self);
void cuv_pca_avx2_load (const CuvCube *cube, const CuvPcaBands *bands,
    int64_t tile, CuvPcaTile *out);

#endif
