/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "cpu/ldp-dsp.h"

#include "cuvcpu.h"

/* The k-th derivative, of values `step` apart in the direction: row after row
 * up, and dx pixels to the right in each. */
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

/* Bit 2 d: pixels are not alike in direction d. */
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

void
cuv_ldp_c_init (CuvLdpSteps *self)
{
  *self = (CuvLdpSteps){ signs_c, codes_c };
}

void
cuv_ldp_steps_init (CuvLdpSteps *self)
{
  cuv_ldp_c_init (self);
#if HAVE_AVX2
  if (cuv_cpu_flags () & CUV_CPU_AVX2)
    cuv_ldp_avx2_init (self);
#endif
}
