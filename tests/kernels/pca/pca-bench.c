/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "pca-bench.h"
#include "cpu/pca-cpu.h"
#include "cuvcheck.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

const PcaBenchCase pca_bench_cases[PCA_N_BENCH_CASES] = {
  { "u8 bip", CUV_CUBE_U8, PCA_BIP, 1920, 1080, 31, CUV_PCA_EXACT, false },
  { "u8 bsq", CUV_CUBE_U8, PCA_BSQ, 1920, 1080, 31, CUV_PCA_EXACT, false },
  { "u8 bsq, noise alike", CUV_CUBE_U8, PCA_BSQ, 1920, 1080, 31, CUV_PCA_EXACT,
      true },
  { "u8 bip, lagged", CUV_CUBE_U8, PCA_BIP, 1920, 1080, 31, CUV_PCA_LAGGED,
      false },
  { "u8 bil, lagged", CUV_CUBE_U8, PCA_BIL, 1920, 1080, 31, CUV_PCA_LAGGED,
      false },
  { "u8 bsq, lagged", CUV_CUBE_U8, PCA_BSQ, 1920, 1080, 31, CUV_PCA_LAGGED,
      false },
  { "u16 bsq", CUV_CUBE_U16, PCA_BSQ, 1920, 1080, 31, CUV_PCA_EXACT, false },
  { "u16 bip", CUV_CUBE_U16, PCA_BIP, 1920, 1080, 31, CUV_PCA_EXACT, false },
  { "u16 bil, lagged", CUV_CUBE_U16, PCA_BIL, 1920, 1080, 31, CUV_PCA_LAGGED,
      false },
  { "f32 bip", CUV_CUBE_F32, PCA_BIP, 1920, 1080, 31, CUV_PCA_EXACT, false },
  { "f32 bsq", CUV_CUBE_F32, PCA_BSQ, 1920, 1080, 31, CUV_PCA_EXACT, false },
  { "f32 bip, lagged", CUV_CUBE_F32, PCA_BIP, 1920, 1080, 31, CUV_PCA_LAGGED,
      false },
  { "f32 bip, 40 bands", CUV_CUBE_F32, PCA_BIP, 1920, 1080, 40, CUV_PCA_EXACT,
      false },
  { "f32 bip, many", CUV_CUBE_F32, PCA_BIP, 1920, 1080, 81, CUV_PCA_EXACT,
      false },
  { "u16 bip, many", CUV_CUBE_U16, PCA_BIP, 1920, 1080, 81, CUV_PCA_EXACT,
      false },
  { "u16 bsq, mosaic", CUV_CUBE_U16, PCA_BSQ, 409, 217, 25, CUV_PCA_EXACT,
      false },
  { "u8 RGBx video", CUV_CUBE_U8, PCA_BGRX, 1920, 1080, 3, CUV_PCA_EXACT,
      false },
};

CuvPcaParams
pca_bench_params (const PcaBenchCase *c)
{
  return (CuvPcaParams){ .learning = { CUV_PCA_COVARIANCE, CUV_PCA_SIGN, 0.1 },
    .display = { { 1, 2, 3 }, CUV_PCA_SIGMA, 3.0, { 0, 1 }, 1 },
    .timing = c->timing };
}

bool
pca_bench_wants (const PcaBenchCase *c)
{
  const char *only = getenv ("CUV_BENCH_SHAPE");

  return only == NULL || strcmp (only, c->name) == 0;
}

typedef struct {
  PcaInput input;
  CuvPcaCpu *cpu;
  CuvPcaParams params;
  CuvPcaResult result;
  uint8_t *picture;
  int n_runs;
} Bench;

static void
run (void *data)
{
  Bench *self = data;

  cuv_pca_cpu_run (self->cpu, &self->input.cube, &self->input.bands,
      &self->params, self->picture, 4 * self->input.cube.width, 0,
      &self->result);
  self->n_runs++;
}

static void
bench (const PcaBenchCase *c)
{
  Bench self = { .params = pca_bench_params (c) };
  double us;
  clock_t start;

  pca_input_init (
      &self.input, c->format, c->layout, c->width, c->height, c->n, PCA_NOISE);
  self.cpu = cuv_pca_cpu_new (c->n);
  self.picture = malloc ((size_t) (4 * c->width * c->height));
  run (&self);
  self.n_runs = 0;
  start = clock ();
  us = cuv_check_time (run, &self);
  cuv_check_report (us, (double) c->width * c->height,
      (double) c->width * c->height * c->n * cuv_cube_sample_size (c->format),
      "pca %s %dx%dx%d, %.1f ms of CPU, sums %.1f, basis %.2f, picture %.1f ms",
      c->name, c->width, c->height, c->n,
      (double) (clock () - start) * 1000 / CLOCKS_PER_SEC / self.n_runs,
      self.result.sums_us / 1000, self.result.basis_us / 1000,
      self.result.picture_us / 1000);
  cuv_pca_cpu_free (self.cpu);
  pca_input_clear (&self.input);
  free (self.picture);
}

CUV_BENCH_CPU (bench_pca)
{
  for (int i = 0; i < PCA_N_BENCH_CASES; i++) {
    if (pca_bench_wants (&pca_bench_cases[i]))
      bench (&pca_bench_cases[i]);
  }
}
