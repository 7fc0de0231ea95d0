/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "cpu/ldp-dsp.h"

#include "cuvcpu.h"
#include "index/ldpindex-format.h"

/* ---- codes ---- */

/* Computes the k-th derivative by repeated differences of the k + 1 pixels
 * along the direction: one row up is dx pixels to the right. */
static int
derivative (const uint8_t *const *rows, int k, int direction, int x)
{
  const int dx = cuv_ldp_dx (direction), up = -cuv_ldp_dy (direction);
  int values[CUV_LDP_MAX_ORDER];

  for (int i = 0; i <= k; i++)
    values[i] = rows[i * up][x + i * dx];
  for (int n = k; n > 0; n--) {
    for (int i = 0; i < n; i++)
      values[i] -= values[i + 1];
  }
  return values[0];
}

void
cuv_ldp_signs_from (
    const uint8_t *const *rows, int k, int from, int n, uint8_t *signs)
{
  for (int x = from; x < n; x++) {
    unsigned word = 0;

    for (int d = 0; d < CUV_LDP_DIRECTIONS; d++) {
      const int value = derivative (rows, k, d, x);

      word |= (unsigned) (value > 0) << 2 * d;
      word |= (unsigned) (value < 0) << (2 * d + 1);
    }
    signs[x] = (uint8_t) word;
  }
}

static void
signs_c (const uint8_t *const *rows, int k, int n, uint8_t *signs)
{
  cuv_ldp_signs_from (rows, k, 0, n, signs);
}

/* Returns a mask: bit 2 d is set if the signs in direction d differ, or one of
 * them is 0. */
static unsigned
differ (unsigned a, unsigned b)
{
  const unsigned same = a & b;

  return ~(same | same >> 1) & 0x55;
}

static void
codes_c (const uint8_t *const rows[3], int n,
    uint8_t *const codes[CUV_LDP_DIRECTIONS])
{
  const uint8_t *above = rows[0], *here = rows[1], *below = rows[2];

  for (int x = 0; x < n; x++) {
    const unsigned around[8] = { above[x - 1], above[x], above[x + 1],
      here[x + 1], below[x + 1], below[x], below[x - 1], here[x - 1] };
    unsigned word[CUV_LDP_DIRECTIONS] = { 0 };

    for (int i = 0; i < 8; i++) {
      const unsigned bits = differ (here[x], around[i]);

      for (int d = 0; d < CUV_LDP_DIRECTIONS; d++)
        word[d] = word[d] << 1 | (bits >> 2 * d & 1);
    }
    for (int d = 0; d < CUV_LDP_DIRECTIONS; d++)
      codes[d][x] = (uint8_t) word[d];
  }
}

/* ---- intersections ---- */

static unsigned
sum_of (const uint8_t *bytes, int n)
{
  unsigned sum = 0;

  for (int i = 0; i < n; i++)
    sum += bytes[i];
  return sum;
}

/* The bytes of 256 codes sum to 255 only if one of them, a 255, stands for
 * 256. */
uint64_t
cuv_ldp_intersect_256 (const uint8_t *a, const uint8_t *b, int n_bins)
{
  return sum_of (a, n_bins) == 255 && sum_of (b, n_bins) == 255 ? 256 : 255;
}

static uint64_t
intersect_1 (const uint8_t *a, const uint8_t *b, int n_histograms, int n_bins,
    bool has_256)
{
  uint64_t sum = 0;

  for (int h = 0; h < n_histograms; h++, a += n_bins, b += n_bins) {
    uint64_t part = 0;

    for (int i = 0; i < n_bins; i++)
      part += a[i] < b[i] ? a[i] : b[i];
    sum += has_256 && part == 255 ? cuv_ldp_intersect_256 (a, b, n_bins) : part;
  }
  return sum;
}

#define INTERSECT(name, size, get)                                             \
  static uint64_t name (const uint8_t *a, const uint8_t *b, int n_histograms,  \
      int n_bins, bool has_256)                                                \
  {                                                                            \
    uint64_t sum = 0;                                                          \
                                                                               \
    for (int i = 0; i < n_histograms * n_bins; i++, a += size, b += size)      \
      sum += get (a) < get (b) ? get (a) : get (b);                            \
    return sum;                                                                \
  }
INTERSECT (intersect_2, 2, cuv_ldp_get16)
INTERSECT (intersect_4, 4, cuv_ldp_get32)
#undef INTERSECT

void
cuv_ldp_dsp_init (CuvLdpDsp *self)
{
  *self = (CuvLdpDsp){
    .signs = signs_c,
    .codes = codes_c,
    .intersect = { [1] = intersect_1, [2] = intersect_2, [4] = intersect_4 },
  };
#if HAVE_SIMD
  if (cuv_cpu_flags () & CUV_CPU_SIMD)
    cuv_ldp_dsp_init_avx2 (self);
#endif
}
