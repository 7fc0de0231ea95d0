/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "track/update.h"
#include "rcd/rcd-distance.h"

#include <string.h>

bool
cuv_rcd_memory_init (CuvRcdMemory *self, const int64_t *sums, int n,
    const CuvRcdBox *box, double lambda)
{
  self->n = n;
  self->lambda = lambda;
  self->update = CUV_RCD_UPDATE_NONE;
  return cuv_rcd_model_from_sums (&self->model, sums, n, box, lambda);
}

static void
set_model (CuvRcdMemory *self, const CuvSpd *c)
{
  CuvRcdModel model;

  if (cuv_rcd_model_init (
          &model, c->c, self->n, self->model.width, self->model.height))
    self->model = model;
}

static CuvSpd
get_model (const CuvRcdMemory *self)
{
  CuvSpd c;

  memcpy (c.c, self->model.c, sizeof c.c);
  return c;
}

/* As a window at this place is seen when it is compared. */
static CuvSpd
covariance_of (
    const CuvRcdMemory *self, const int64_t *sums, const CuvRcdBox *box)
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

/* Sums per pixel, with x and y scaled to the model's size. */
static void
moments_of (const CuvRcdMemory *self, const int64_t *sums, const CuvRcdBox *box,
    double *moments)
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

/* Of N pixels the covariance is N / (N - 1) times what moments say. */
static double
moments_factor (const CuvRcdMemory *self)
{
  const double pixels = self->model.width * self->model.height;

  return pixels / (pixels - 1.0);
}

static CuvSpd
covariance_of_moments (const CuvRcdMemory *self)
{
  const double *s = self->moments, *q = self->moments + self->n;
  CuvSpd c;
  int k = 0;

  for (int i = 0; i < self->n; i++) {
    for (int j = i; j < self->n; j++, k++)
      c.c[k] = (q[k] - s[i] * s[j]) * moments_factor (self)
          + (i == j ? self->lambda : 0.0);
  }
  return c;
}

/* The mean is that of what is seen now, the covariance the model's. */
static void
start_moments (CuvRcdMemory *self, const int64_t *sums, const CuvRcdBox *box)
{
  double *s = self->moments, *q = self->moments + self->n;
  int k = 0;

  moments_of (self, sums, box, self->moments);
  for (int i = 0; i < self->n; i++) {
    for (int j = i; j < self->n; j++, k++)
      q[k] = (self->model.c[k] - (i == j ? self->lambda : 0.0))
              / moments_factor (self)
          + s[i] * s[j];
  }
}

static void
learn_moments (
    CuvRcdMemory *self, double rate, const int64_t *sums, const CuvRcdBox *box)
{
  double seen[CUV_RCD_MAX_SUMS];
  CuvSpd c;

  moments_of (self, sums, box, seen);
  for (int k = 0; k < CUV_RCD_SUMS (self->n); k++)
    self->moments[k] += rate * (seen[k] - self->moments[k]);
  c = covariance_of_moments (self);
  set_model (self, &c);
}

/* ---- logarithms ---- */

static void
learn_log (
    CuvRcdMemory *self, double rate, const int64_t *sums, const CuvRcdBox *box)
{
  CuvSpd c = covariance_of (self, sums, box), log;

  if (!cuv_spd_log (&c, self->n, &log))
    return;
  cuv_spd_mix (&self->log, &log, rate, self->n, &self->log);
  cuv_spd_exp (&self->log, self->n, &c);
  set_model (self, &c);
}

/* ---- means of the last ones ---- */

/* Keeps no more than the window's last ones, the newest at the end. */
static void
remember (CuvRcdMemory *self, const CuvSpd *c, int window)
{
  const int drop = self->n_past >= window ? self->n_past - window + 1 : 0;

  memmove (self->past, self->past + drop,
      (size_t) (self->n_past - drop) * sizeof *self->past);
  self->n_past -= drop;
  self->past[self->n_past++] = *c;
}

static void
learn_mean (CuvRcdMemory *self, const CuvRcdLearning *learning,
    const int64_t *sums, const CuvRcdBox *box)
{
  CuvSpd c = covariance_of (self, sums, box), mean;
  bool ok;

  if (!cuv_spd_log (&c, self->n, &mean)) /* one bad one spoils all means */
    return;
  remember (self, &c, learning->window);
  ok = learning->update == CUV_RCD_UPDATE_RIEMANN
      ? cuv_spd_mean_riemann (self->past, self->n_past, self->n, &mean)
      : cuv_spd_mean_jbld (self->past, self->n_past, self->n, &mean);
  if (ok)
    set_model (self, &mean);
}

/* ---- all ---- */

static void
start (CuvRcdMemory *self, CuvRcdUpdate update, const int64_t *sums,
    const CuvRcdBox *box)
{
  const CuvSpd c = get_model (self);

  self->update = update;
  self->past[0] = c;
  self->n_past = 1;
  if (update == CUV_RCD_UPDATE_MOMENTS)
    start_moments (self, sums, box);
  if (update == CUV_RCD_UPDATE_LOG_EUCLID
      && !cuv_spd_log (&c, self->n, &self->log))
    self->update = CUV_RCD_UPDATE_NONE;
}

void
cuv_rcd_memory_learn (CuvRcdMemory *self, const CuvRcdLearning *learning,
    const int64_t *sums, const CuvRcdBox *box)
{
  if (self->update != learning->update)
    start (self, learning->update, sums, box);
  switch (self->update) {
    case CUV_RCD_UPDATE_NONE:
      break;
    case CUV_RCD_UPDATE_LOG_EUCLID:
      learn_log (self, learning->rate, sums, box);
      break;
    case CUV_RCD_UPDATE_RIEMANN:
    case CUV_RCD_UPDATE_JBLD:
      learn_mean (self, learning, sums, box);
      break;
    case CUV_RCD_UPDATE_MOMENTS:
      learn_moments (self, learning->rate, sums, box);
      break;
  }
}
