/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The inner loops in C, and the choice of those that the CPU supports. */
#include "cpu/motion-dsp.h"
#include "config.h"
#include "cuvcpu.h"

#include <string.h>

static CuvMog2Mode
read_mode (const CuvMog2Row *row, int m, int x)
{
  const float *from = row->fields
      + (size_t) m * (size_t) (2 + row->n_channels) * (size_t) row->stride + x;
  CuvMog2Mode mode = { from[0], from[row->stride], { 0 } };

  for (int c = 0; c < row->n_channels; c++)
    mode.mean[c] = from[(2 + c) * row->stride];
  return mode;
}

static void
write_mode (const CuvMog2Row *row, int m, int x, const CuvMog2Mode *mode)
{
  float *to = row->fields
      + (size_t) m * (size_t) (2 + row->n_channels) * (size_t) row->stride + x;

  to[0] = mode->weight;
  to[row->stride] = mode->variance;
  for (int c = 0; c < row->n_channels; c++)
    to[(2 + c) * row->stride] = mode->mean[c];
}

static void
mog2_c (const CuvMog2Row *row, const uint8_t *const *values, int n,
    const CuvMog2Params *params, const CuvMog2Rate *rate, uint8_t *mask)
{
  for (int x = 0; x < n; x++) {
    CuvMog2Mode modes[CUV_MOG2_MAX_MODES];
    float value[CUV_MOTION_MAX_CHANNELS];
    int n_modes = row->n_modes[x];

    for (int m = 0; m < n_modes; m++)
      modes[m] = read_mode (row, m, x);
    for (int c = 0; c < row->n_channels; c++)
      value[c] = (float) (values[c][x] - (c > 0 ? row->zero : 0));
    mask[x] =
        cuv_mog2_pixel (modes, &n_modes, value, row->n_channels, params, rate);
    for (int m = 0; m < n_modes; m++)
      write_mode (row, m, x, &modes[m]);
    row->n_modes[x] = (uint8_t) n_modes;
  }
}

static void
average_c (uint16_t *averages, const uint8_t *values, int n,
    const CuvAverageParams *params, uint8_t *mask)
{
  for (int x = 0; x < n; x++)
    mask[x] = cuv_average_pixel (&averages[x], values[x], params);
}

static void
add_row_c (uint16_t *sums, const uint8_t *values, int n)
{
  for (int x = 0; x < n; x++)
    sums[x] = (uint16_t) (sums[x] + values[x]);
}

void
cuv_motion_divide_c (
    const uint16_t *sums, int n, const CuvMotionSquare *square, uint8_t *out)
{
  for (int x = 0; x < n; x++) {
    uint32_t sum = square->half;

    for (int i = 0; i < square->across; i++)
      sum += sums[x * square->across + i];
    out[x] = (uint8_t) ((uint64_t) sum * square->reciprocal >> 32);
  }
}

static void
pack_c (const uint8_t *mask, int n, uint64_t *bits)
{
  memset (bits, 0, (size_t) ((n + 63) / 64) * sizeof *bits);
  for (int x = 0; x < n; x++)
    bits[x / 64] |= (uint64_t) (mask[x] == CUV_MOTION_MOVING) << x % 64;
}

void
cuv_motion_dsp_init (CuvMotionDsp *self)
{
  *self = (CuvMotionDsp){ mog2_c, average_c, add_row_c, cuv_motion_divide_c,
    pack_c };
#if HAVE_SIMD
  if (cuv_cpu_flags () & CUV_CPU_SIMD)
    cuv_motion_dsp_init_avx2 (self);
#endif
}
