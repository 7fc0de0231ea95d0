/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "track/update.h"
#include "rcd/rcd-distance.h"

#include <string.h>

bool
cuv_rcd_appearance_init (CuvRcdAppearance *self, const int64_t *sums, int n,
    const CuvRcdBox *box, double lambda)
{
  self->n = n;
  self->lambda = lambda;
  self->update = CUV_RCD_UPDATE_NONE;
  return cuv_rcd_model_from_sums (&self->model, sums, n, box, lambda);
}

static void
set_model (CuvRcdAppearance *self, const CuvSpd *c)
{
  CuvRcdModel model;

  if (cuv_rcd_model_init (
          &model, c->c, self->n, self->model.width, self->model.height))
    self->model = model;
}

/* Returns the covariance of a box, scaled to the model's size as in a
 * search. */
static CuvSpd
box_covariance (
    const CuvRcdAppearance *self, const int64_t *sums, const CuvRcdBox *box)
{
  const CuvRcdBox here = { 0, 0, box->width, box->height };
  int64_t copy[CUV_RCD_MAX_SUMS];
  CuvSpd c;

  memcpy (copy, sums, (size_t) CUV_RCD_SUMS (self->n) * sizeof *copy);
  cuv_rcd_window_covariance (copy, self->n, &here, self->lambda,
      self->model.width, self->model.height, c.c);
  return c;
}

/* ---- moments ---- */

/* Computes sums per pixel, with x and y scaled to the model's size. */
static void
box_moments (const CuvRcdAppearance *self, const int64_t *sums,
    const CuvRcdBox *box, double *moments)
{
  const double pixels = (double) box->width * box->height;
  double scale[CUV_RCD_MAX_FEATURES];
  int k = self->n;

  for (int i = 0; i < self->n; i++)
    scale[i] = 1.0;
  if (self->n == 9) {
    scale[0] = self->model.width / box->width;
    scale[1] = self->model.height / box->height;
  }
  for (int i = 0; i < self->n; i++) {
    moments[i] = (double) sums[i] / pixels * scale[i];
    for (int j = i; j < self->n; j++, k++)
      moments[k] = (double) sums[k] / pixels * scale[i] * scale[j];
  }
}

/* Returns Bessel's correction for the N pixels of the model: N / (N - 1). */
static double
bessel_factor (const CuvRcdAppearance *self)
{
  const double pixels = self->model.width * self->model.height;

  return pixels / (pixels - 1.0);
}

static CuvSpd
moments_covariance (const CuvRcdAppearance *self)
{
  const double *s = self->moments, *q = self->moments + self->n;
  CuvSpd c;
  int k = 0;

  for (int i = 0; i < self->n; i++) {
    for (int j = i; j < self->n; j++, k++)
      c.c[k] = (q[k] - s[i] * s[j]) * bessel_factor (self)
          + (i == j ? self->lambda : 0.0);
  }
  return c;
}

/* Initialises the moments: means from the box, covariance from the model. */
static void
start_moments (
    CuvRcdAppearance *self, const int64_t *sums, const CuvRcdBox *box)
{
  double *s = self->moments, *q = self->moments + self->n;
  int k = 0;

  box_moments (self, sums, box, self->moments);
  for (int i = 0; i < self->n; i++) {
    for (int j = i; j < self->n; j++, k++)
      q[k] = (self->model.c[k] - (i == j ? self->lambda : 0.0))
              / bessel_factor (self)
          + s[i] * s[j];
  }
}

static void
update_moments (CuvRcdAppearance *self, double rate, const int64_t *sums,
    const CuvRcdBox *box)
{
  double moments[CUV_RCD_MAX_SUMS];
  CuvSpd c;

  box_moments (self, sums, box, moments);
  for (int k = 0; k < CUV_RCD_SUMS (self->n); k++)
    self->moments[k] += rate * (moments[k] - self->moments[k]);
  c = moments_covariance (self);
  set_model (self, &c);
}

/* ---- logarithms ---- */

static void
update_log (CuvRcdAppearance *self, double rate, const int64_t *sums,
    const CuvRcdBox *box)
{
  CuvSpd c = box_covariance (self, sums, box), log;

  if (!cuv_spd_log (&c, self->n, &log))
    return;
  cuv_spd_lerp (&self->log, &log, rate, self->n, &self->log);
  cuv_spd_exp (&self->log, self->n, &c);
  set_model (self, &c);
}

/* ---- means of the last covariances ---- */

/* Appends c and drops the oldest, so that at most window remain. */
static void
append_past (CuvRcdAppearance *self, const CuvSpd *c, int window)
{
  const int drop = self->n_past >= window ? self->n_past - window + 1 : 0;

  memmove (self->past, self->past + drop,
      (size_t) (self->n_past - drop) * sizeof *self->past);
  self->n_past -= drop;
  self->past[self->n_past++] = *c;
}

static void
update_mean (CuvRcdAppearance *self, const CuvRcdUpdateConfig *update,
    const int64_t *sums, const CuvRcdBox *box)
{
  CuvSpd c = box_covariance (self, sums, box), mean;
  bool ok;

  /* if not positive definite, it would make all later means fail */
  if (!cuv_spd_log (&c, self->n, &mean))
    return;
  append_past (self, &c, update->window);
  ok = update->update == CUV_RCD_UPDATE_RIEMANN
      ? cuv_spd_mean_riemann (self->past, self->n_past, self->n, &mean)
      : cuv_spd_mean_jbld (self->past, self->n_past, self->n, &mean);
  if (ok)
    set_model (self, &mean);
}

/* ---- entry points ---- */

static void
start_model (CuvRcdAppearance *self, CuvRcdUpdate update, const int64_t *sums,
    const CuvRcdBox *box)
{
  self->update = update;
  memcpy (self->past[0].c, self->model.c, sizeof self->model.c);
  self->n_past = 1;
  if (update == CUV_RCD_UPDATE_MOMENTS)
    start_moments (self, sums, box);
  if (update == CUV_RCD_UPDATE_LOG_EUCLID
      && !cuv_spd_log (&self->past[0], self->n, &self->log))
    self->update = CUV_RCD_UPDATE_NONE;
}

void
cuv_rcd_appearance_update (CuvRcdAppearance *self,
    const CuvRcdUpdateConfig *update, const int64_t *sums, const CuvRcdBox *box)
{
  if (self->update != update->update)
    start_model (self, update->update, sums, box);
  switch (self->update) {
    case CUV_RCD_UPDATE_NONE:
      break;
    case CUV_RCD_UPDATE_LOG_EUCLID:
      update_log (self, update->rate, sums, box);
      break;
    case CUV_RCD_UPDATE_RIEMANN:
    case CUV_RCD_UPDATE_JBLD:
      update_mean (self, update, sums, box);
      break;
    case CUV_RCD_UPDATE_MOMENTS:
      update_moments (self, update->rate, sums, box);
      break;
  }
}
