/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "rcd-bench.h"
#include "correlation/correlation.h"
#include "cpu/crop.h"
#include "cuvcpu.h"
#include "cuvcheck.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const RcdBenchCase rcd_bench_cases[RCD_N_BENCH_CASES] = {
  { "stride 50", "RGB", CUV_RCD_RGB_GRAD, CUV_RCD_JBLD, 50, 1, 400, 400, 0, 0 },
  { "stride 16", "RGB", CUV_RCD_RGB_GRAD, CUV_RCD_JBLD, 16, 1, 400, 400, 0, 0 },
  { "stride 50", "RGBx", CUV_RCD_RGB_GRAD, CUV_RCD_JBLD, 50, 1, 400, 400, 0,
      0 },
  { "stride 16", "RGBx", CUV_RCD_RGB_GRAD, CUV_RCD_JBLD, 16, 1, 400, 400, 0,
      0 },
  { "stride 16", "NV12", CUV_RCD_RGB_GRAD, CUV_RCD_JBLD, 16, 1, 400, 400, 0,
      0 },
  { "stride 16, tuzel9", "RGB", CUV_RCD_TUZEL9, CUV_RCD_JBLD, 16, 1, 400, 400,
      0, 0 },
  { "stride 16, grey-grad", "NV12", CUV_RCD_GREY_GRAD, CUV_RCD_JBLD, 16, 1, 400,
      400, 0, 0 },
  { "stride 16, forstner", "RGB", CUV_RCD_RGB_GRAD, CUV_RCD_FORSTNER, 16, 1,
      400, 400, 0, 0 },
  { "stride 16, 8 targets", "RGB", CUV_RCD_RGB_GRAD, CUV_RCD_JBLD, 16, 8, 400,
      400, 0, 0 },
  { "stride 16, refined, local", "RGB", CUV_RCD_RGB_GRAD, CUV_RCD_JBLD, 16, 1,
      96, 72, 96, 8 },
};

/* Returns the largest divisor of the stride that is a valid cell. */
static int
cell_of (int stride)
{
  int cell = CUV_RCD_MAX_CELL;

  while (stride % cell != 0)
    cell--;
  return cell;
}

/* Returns the cells within `radius` pixels of a box. */
static CuvRcdArea
area_around (const CuvRcdBox *box, int radius, int cell)
{
  const int column = (box->x - radius) / cell, row = (box->y - radius) / cell;

  return (CuvRcdArea){ column, row,
    (box->x + box->width + radius) / cell - column,
    (box->y + box->height + radius) / cell - row };
}

void
rcd_bench_input (RcdInput *self, const RcdBenchCase *bench)
{
  static const double scales[] = { 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0 };
  const int cell = cell_of (bench->stride);
  const CuvRcdConfig config = { bench->features, bench->metric, RCD_BENCH_WIDTH,
    RCD_BENCH_HEIGHT, cell, bench->n_targets, 0, 1.0 / 12.0 };

  rcd_input_init (self, &config, bench->format, CUV_CHECK_TEXTURE);
  self->search.refine = bench->refine;
  for (int t = 0; t < bench->n_targets; t++) {
    CuvRcdBox box = { 813 + 10 * t, 317 + 5 * t, bench->width, bench->height };

    if (bench->radius > 0)
      self->search.area = area_around (&box, bench->radius, cell);
    CUV_CHECK (rcd_input_add (self, &box));
    rcd_input_add_scales (
        self, bench->width, bench->height, bench->stride / cell, scales, 8);
  }
}

/* ---- correlation filters ---- */

typedef struct {
  CuvCorrelation filter;
  CuvCorrelationWork work;
  CuvCheckFrame frame;
} Follow;

static void
take_crop (Follow *self)
{
  const CuvRcdCrop crop = cuv_correlation_crop (&self->filter);

  cuv_rcd_cpu_crop (
      &self->frame.frame, &crop, CUV_RCD_CROP, self->work.crops[0]);
}

static void
find (void *data)
{
  Follow *self = data;

  take_crop (self);
  cuv_correlation_find (&self->filter, &self->work, self->work.crops[0]);
}

static void
learn (void *data)
{
  Follow *self = data;

  cuv_correlation_learn (
      &self->filter, &self->work, self->work.crops[0], 0.015f);
}

static void
bench_follow (unsigned mask, const char *name)
{
  Follow *self = calloc (1, sizeof *self);

  self->frame = cuv_check_frame_new ("NV12", 768, 576, CUV_CHECK_TEXTURE);
  cuv_cpu_set_mask (mask);
  cuv_correlation_work_init (&self->work);
  cuv_cpu_set_mask (~0u);
  cuv_correlation_init (&self->filter, &(CuvRcdBox){ 300, 200, 96, 72 });
  take_crop (self);
  cuv_correlation_start (&self->filter, &self->work, self->work.crops[0]);
  cuv_check_bench (
      find, self, CUV_RCD_CROP_PIXELS, 0, "filter finds, %s", name);
  cuv_check_bench (
      learn, self, CUV_RCD_CROP_PIXELS, 0, "filter learns, %s", name);
  cuv_check_frame_free (&self->frame);
  free (self);
}

CUV_BENCH_CPU (bench_rcd)
{
  bench_follow (0, "C");
  bench_follow (~0u, "SIMD");
  bench_float_planes ();
}
