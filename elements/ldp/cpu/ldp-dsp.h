/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Function table of the hot loops: C, overwritten by the SIMD functions that
 * the CPU supports. */
#ifndef CUV_LDP_DSP_H
#define CUV_LDP_DSP_H

#include "ldp.h"

/* Readable and writable bytes on either side of each row. */
enum { CUV_LDP_PADDING = 64 };

typedef struct {
  /* Computes the signs of the k-th derivatives of n pixels: bit 2 d is set
   * where the derivative in direction d is above 0, bit 2 d + 1 where it is
   * below. rows[i] is the row i above, valid for k more pixels on either
   * side. */
  void (*signs) (const uint8_t *const *rows, int k, int n, uint8_t *signs);

  /* Computes the codes of n pixels from the signs of the row above, their own
   * row and the row below, each valid for one more pixel on either side. */
  void (*codes) (const uint8_t *const rows[3], int n,
      uint8_t *const codes[CUV_LDP_DIRECTIONS]);

  /* Computes the histogram intersection of two packed pictures: the sum of the
   * smaller counts over n_histograms histograms of n_bins bins. Indexed by
   * bytes per count: 1, 2, 4. has_256: the histograms have 256 codes each, so
   * that in one byte 255 may stand for 256 (see cuv_ldp_index_pack()). */
  uint64_t (*intersect[5]) (const uint8_t *a, const uint8_t *b,
      int n_histograms, int n_bins, bool has_256);
} CuvLdpDsp;

void cuv_ldp_dsp_init (CuvLdpDsp *self);
void cuv_ldp_dsp_init_avx2 (CuvLdpDsp *self);

/* ---- for the SIMD versions ---- */

/* Computes signs() of pixels `from` to n - 1. */
void cuv_ldp_signs_from (
    const uint8_t *const *rows, int k, int from, int n, uint8_t *signs);

/* Returns the intersection of two histograms of 256 codes whose bytes intersect
 * to 255: 256 if both have all codes in the same bin, otherwise 255. */
uint64_t cuv_ldp_intersect_256 (const uint8_t *a, const uint8_t *b, int n_bins);

#endif
