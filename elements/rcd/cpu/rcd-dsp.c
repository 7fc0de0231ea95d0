/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cpu/rcd-dsp.h"
#include "config.h"
#include "cpu/rcd-dsp-template.h"
#include "cuvcpu.h"

static int32_t
dot_product (const CuvRcdTile *tile, int i, int j)
{
  int32_t sum = 0;

  for (int y = 0; y < tile->height; y++) {
    const int16_t *a = tile->z[i] + y * tile->pitch[i];
    const int16_t *b = tile->z[j] + y * tile->pitch[j];

    for (int x = 0; x < tile->width; x++)
      sum += a[x] * b[x];
  }
  return sum;
}

static int32_t
plane_sum (const CuvRcdTile *tile, int i)
{
  int32_t sum = 0;

  for (int y = 0; y < tile->height; y++) {
    const int16_t *a = tile->z[i] + y * tile->pitch[i];

    for (int x = 0; x < tile->width; x++)
      sum += a[x];
  }
  return sum;
}

static void
tile_sums (const CuvRcdTile *tile, int32_t *out)
{
  int32_t *products = out + tile->n;

  for (int i = 0; i < tile->n; i++) {
    out[i] = plane_sum (tile, i);
    for (int j = i; j < tile->n; j++)
      *products++ = dot_product (tile, i, j);
  }
}

void
cuv_rcd_dsp_init (CuvRcdDsp *self)
{
  *self = (CuvRcdDsp){
    .samples = cuv_rcd_samples,
    .grey = cuv_rcd_grey_row,
    .gradients = cuv_rcd_gradients,
    .abs_derivatives = cuv_rcd_abs_derivatives,
    .sums = tile_sums,
    .score = cuv_rcd_score_row,
  };
#if HAVE_SIMD
  if (cuv_cpu_flags () & CUV_CPU_SIMD)
    cuv_rcd_dsp_init_avx2 (self);
#endif
}
