/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The steps that a run on the CPU is made of, in C, or in what is faster. */
#ifndef CUV_LDP_DSP_H
#define CUV_LDP_DSP_H

#include "ldp.h"

/* Rows have so many bytes more on either side that may be read and written. */
enum { CUV_LDP_PADDING = 64 };

typedef struct {
  /* The signs of n pixels' derivatives of order k: bit 2 d, above 0 in
   * direction d, and 2 d + 1, below. rows[i]: the one i above, and k pixels
   * more on either side. */
  void (*signs) (const uint8_t *const *rows, int k, int n, uint8_t *signs);
  /* The codes of n pixels, from the signs of the row above, their own and the
   * one below, and those of a pixel more on either side. */
  void (*codes) (const uint8_t *const rows[3], int n,
      uint8_t *const codes[CUV_LDP_DIRECTIONS]);
} CuvLdpSteps;

/* The fastest of this CPU. */
void cuv_ldp_steps_init (CuvLdpSteps *self);
void cuv_ldp_c_init (CuvLdpSteps *self);
void cuv_ldp_avx2_init (CuvLdpSteps *self);

/* From pixel `from` to before pixel n, what AVX2 leaves. */
void cuv_ldp_signs_from (
    const uint8_t *const *rows, int k, int from, int n, uint8_t *signs);

#endif
