/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reference/pca-track.h"

#include <string.h>

bool
cuv_pca_track_init (CuvPcaTrack *self, int n)
{
  bool ok;

  memset (self, 0, sizeof *self);
  ok = cuv_pca_moments_init (&self->moments, n);
  ok = cuv_pca_moments_init (&self->frame, n) && ok;
  ok = cuv_pca_basis_init (&self->basis, n) && ok;
  return cuv_pca_scratch_init (&self->scratch, n) && ok;
}

void
cuv_pca_track_clear (CuvPcaTrack *self)
{
  cuv_pca_moments_clear (&self->moments);
  cuv_pca_moments_clear (&self->frame);
  cuv_pca_basis_clear (&self->basis);
  cuv_pca_scratch_clear (&self->scratch);
}

void
cuv_pca_track_reset (CuvPcaTrack *self)
{
  self->moments.pixels = 0;
  self->basis.is_known = false;
  self->has_limits = false;
}

CuvPcaUpdate
cuv_pca_track_learn (CuvPcaTrack *self, const CuvPcaSum *sums, bool is_exact,
    const CuvPcaLearning *learning)
{
  CuvPcaUpdate update = { false, 0 };

  cuv_pca_moments_from_sums (&self->frame, sums, is_exact);
  if (self->frame.pixels == 0)
    return update;
  update.is_cut =
      cuv_pca_moments_add (&self->moments, &self->frame, learning->smoothing);
  if (update.is_cut || self->basis.mode != learning->mode) {
    self->basis.is_known = false;
    self->has_limits = false;
  }
  update.sweeps = cuv_pca_basis_update (
      &self->basis, &self->moments, learning, &self->scratch);
  return update;
}

bool
cuv_pca_track_needs_limits (
    const CuvPcaTrack *self, const CuvPcaDisplay *display)
{
  return display->mapping == CUV_PCA_PERCENTILE && self->basis.is_known
      && !(self->has_limits && cuv_pca_same_limits (&self->limits_of, display));
}

void
cuv_pca_track_set_limits (CuvPcaTrack *self, const int64_t *bins,
    const CuvPcaDisplay *display, double smoothing)
{
  const bool smooth =
      self->has_limits && cuv_pca_same_limits (&self->limits_of, display);
  const double a = smooth ? smoothing : 1.0;
  CuvPcaLimits now;

  cuv_pca_limits_init (&now, bins, display);
  for (int c = 0; c < CUV_PCA_SHOWN; c++) {
    self->limits.low[c] += a * (now.low[c] - self->limits.low[c]);
    self->limits.high[c] += a * (now.high[c] - self->limits.high[c]);
  }
  self->has_limits = true;
  self->limits_of = *display;
}

void
cuv_pca_track_gains (
    const CuvPcaTrack *self, const CuvPcaDisplay *display, CuvPcaGains *gains)
{
  if (self->basis.is_known) {
    cuv_pca_gains_init (gains, &self->basis, display, &self->limits);
    return;
  }
  memset (gains, 0, sizeof *gains);
  gains->n = self->basis.n;
}
