/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Function table of the inner loops, which work on a tile: C, overwritten by
 * the SIMD functions that the CPU supports. All versions return the same bits.
 */
#ifndef CUV_PCA_DSP_H
#define CUV_PCA_DSP_H

#include "pca.h"

typedef struct {
  void (*load) (const CuvCube *cube, const CuvPcaBands *bands, int64_t tile,
      CuvPcaTile *out);
  void (*add) (const CuvPcaTile *tile, CuvPcaSum *sums);
  void (*project) (
      const CuvPcaTile *tile, const CuvPcaGains *gains, int32_t *out);
  void (*paint) (const CuvPcaTile *tile, const int32_t *values, uint8_t *out);
} CuvPcaDsp;

/* Fills the table. Tiles must come from the load() of the same table. */
void cuv_pca_dsp_init (CuvPcaDsp *self);

void cuv_pca_dsp_init_avx2 (CuvPcaDsp *self);
void cuv_pca_avx2_load (const CuvCube *cube, const CuvPcaBands *bands,
    int64_t tile, CuvPcaTile *out);

#endif
