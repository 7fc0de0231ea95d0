/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "pca-runs.h"

#include <stdlib.h>
#include <string.h>

static void
random_params (CuvPcaParams *params, int n)
{
  *params = (CuvPcaParams){
    .learning = { (CuvPcaMode) cuv_check_below (3),
        (CuvPcaStabilise) cuv_check_below (3),
        cuv_check_below (2) ? 1.0 : 0.2 },
    .display = { .mapping = (CuvPcaMapping) cuv_check_below (3),
        .sigmas = 2.5,
        .range = { -20.0, 90.0 },
        .percentile = cuv_check_below (3) },
    .timing = (CuvPcaTiming) cuv_check_below (2),
  };
  for (int c = 0; c < CUV_PCA_SHOWN; c++)
    params->display.component[c] = (int32_t) cuv_check_below ((uint32_t) n + 3);
}

void
pca_run_init (PcaRun *self, CuvCubeFormat format, PcaLayout layout, int n)
{
  const PcaFill fill = (PcaFill) cuv_check_below (PCA_N_FILLS);
  const bool exclude = cuv_check_below (2);

  self->width = cuv_check_below (2) ? 16 * (1 + (int) cuv_check_below (20))
                                    : 1 + (int) cuv_check_below (200);
  self->height = 1 + (int) cuv_check_below (n < 50 ? 60 : 10);
  self->stride = 4 * self->width + (self->width % 16 != 0 ? 12 : 0);
  random_params (&self->params, n);
  for (int i = 0; i < PCA_RUN_FRAMES; i++) {
    pca_input_init (
        &self->frames[i], format, layout, self->width, self->height, n, fill);
    if (exclude)
      pca_input_exclude_some (&self->frames[i]);
    self->frames[i].bands = self->frames[0].bands;
    self->pictures[i] = malloc ((size_t) (self->stride * self->height));
  }
  self->n = self->frames[0].bands.n;
  pca_input_name (&self->frames[0], layout, fill);
}

void
pca_run_clear (PcaRun *self)
{
  for (int i = 0; i < PCA_RUN_FRAMES; i++) {
    pca_input_clear (&self->frames[i]);
    free (self->pictures[i]);
  }
}

static void
set_limits (
    PcaReference *self, const PcaInput *input, const CuvPcaParams *params)
{
  CuvPcaGains gains;

  memset (self->bins, 0, sizeof self->bins);
  cuv_pca_gains_init_bins (&gains, &self->track.basis, &params->display);
  for (int64_t t = 0; t < cuv_pca_n_tiles (&input->cube); t++) {
    cuv_pca_load (&input->cube, &input->bands, t, &self->tile);
    cuv_pca_project (&self->tile, &gains, self->values);
    for (int i = 0; i < CUV_PCA_SHOWN * CUV_PCA_TILE; i++) {
      if (i % CUV_PCA_TILE < self->tile.count
          && !self->tile.left_out[i % CUV_PCA_TILE])
        self->bins[i / CUV_PCA_TILE * CUV_PCA_BINS + self->values[i]]++;
    }
  }
  cuv_pca_track_set_limits (
      &self->track, self->bins, &params->display, params->learning.smoothing);
}

static void
paint (PcaReference *self, const PcaInput *input, const CuvPcaParams *params,
    uint8_t *picture, int stride)
{
  const int width = input->cube.width;
  uint8_t pixels[4 * CUV_PCA_TILE];
  CuvPcaGains gains;

  cuv_pca_track_gains (&self->track, &params->display, &gains);
  for (int64_t t = 0; t < cuv_pca_n_tiles (&input->cube); t++) {
    cuv_pca_load (&input->cube, &input->bands, t, &self->tile);
    cuv_pca_project (&self->tile, &gains, self->values);
    cuv_pca_paint (&self->tile, self->values, pixels);
    for (int p = 0; p < self->tile.count; p++) {
      const int at = (int) t * CUV_PCA_TILE + p;

      memcpy (
          picture + at / width * stride + at % width * 4, pixels + 4 * p, 4);
    }
  }
}

static void
learn (PcaReference *self, const PcaInput *input, const CuvPcaParams *params)
{
  if (self->given != NULL) {
    cuv_pca_basis_copy (&self->track.basis, self->given);
    self->track.has_limits = self->track.has_limits && !self->cut;
    return;
  }
  cuv_pca_sums (&input->cube, &input->bands, self->sums);
  cuv_pca_track_learn (&self->track, self->sums,
      input->cube.format != CUV_CUBE_F32, &params->learning);
}

void
pca_reference_frame (PcaReference *self, const PcaInput *input,
    const CuvPcaParams *params, uint8_t *picture, int stride)
{
  const bool lagged = params->timing == CUV_PCA_LAGGED && !params->is_frozen
      && self->track.basis.is_known;
  const bool limits = params->display.mapping == CUV_PCA_PERCENTILE;

  if (!lagged)
    learn (self, input, params);
  if (limits && self->track.basis.is_known
      && (!lagged
          || cuv_pca_track_needs_limits (&self->track, &params->display)))
    set_limits (self, input, params);
  paint (self, input, params, picture, stride);
  if (!lagged)
    return;
  if (limits)
    set_limits (self, input, params);
  learn (self, input, params);
}

void
pca_reference_init (PcaReference *self, int n)
{
  memset (self, 0, sizeof *self);
  CUV_CHECK (cuv_pca_track_init (&self->track, n));
  CUV_CHECK (cuv_pca_tile_init (&self->tile, n));
  self->sums = malloc ((size_t) CUV_PCA_SUMS (n) * sizeof *self->sums);
}

void
pca_reference_run (PcaRun *run, PcaReference *self)
{
  pca_reference_init (self, run->n);
  for (int i = 0; i < PCA_RUN_FRAMES; i++) {
    memset (run->pictures[i], 0x55, (size_t) (run->stride * run->height));
    pca_reference_frame (
        self, &run->frames[i], &run->params, run->pictures[i], run->stride);
  }
}

void
pca_reference_clear (PcaReference *self)
{
  cuv_pca_track_clear (&self->track);
  cuv_pca_tile_clear (&self->tile);
  free (self->sums);
}
