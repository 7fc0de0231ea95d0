/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Updates of a target's model by one or two appearances. */
#include "rcd-tracker.h"
#include "rcd/rcd-distance.h"
#include "rcd/rcd-pixel.h"
#include "track/update.h"

#include <string.h>

static const CuvRcdUpdate updates[] = { CUV_RCD_UPDATE_NONE,
  CUV_RCD_UPDATE_LOG_EUCLID, CUV_RCD_UPDATE_RIEMANN, CUV_RCD_UPDATE_JBLD,
  CUV_RCD_UPDATE_MOMENTS };
static const double lambda = 1.0 / 12;

typedef struct {
  CuvRcdBox box;
  int64_t sums[CUV_RCD_MAX_SUMS];
} Sample;

static Sample
measure_box (const CuvCheckFrame *frame, CuvRcdFeatures features, int x, int y,
    int width, int height)
{
  Sample seen = { .box = { x, y, width, height } };

  cuv_rcd_box_sums (&frame->frame, features, &seen.box, seen.sums);
  return seen;
}

static double
distance (const CuvRcdAppearance *appearance, const Sample *seen)
{
  const CuvRcdBox here = { 0, 0, seen->box.width, seen->box.height };
  int64_t sums[CUV_RCD_MAX_SUMS];

  memcpy (sums, seen->sums, sizeof sums);
  return cuv_rcd_distance (
      cuv_rcd_score (sums, appearance->n, &here, &appearance->model,
          CUV_RCD_FORSTNER, appearance->lambda),
      CUV_RCD_FORSTNER);
}

static void
learn (CuvRcdAppearance *appearance, CuvRcdUpdate update, double rate,
    int window, const Sample *seen)
{
  cuv_rcd_appearance_update (appearance,
      &(CuvRcdUpdateConfig){ update, rate, window }, seen->sums, &seen->box);
}

/* Checks that a constant appearance does not change the model. */
static void
check_same (CuvRcdUpdate update, const Sample *first, int n)
{
  CuvRcdAppearance appearance;

  CUV_CHECK (cuv_rcd_appearance_init (
      &appearance, first->sums, n, &first->box, lambda));
  for (int i = 0; i < 5; i++)
    learn (&appearance, update, 0.3, 3, first);
  CUV_CHECK (distance (&appearance, first) < 1e-6, ": %g",
      distance (&appearance, first));
}

/* Checks that with rate 1 or window 1 the model is the last covariance. */
static void
check_last (
    CuvRcdUpdate update, const Sample *first, const Sample *second, int n)
{
  CuvRcdAppearance appearance;

  cuv_rcd_appearance_init (&appearance, first->sums, n, &first->box, lambda);
  CUV_CHECK (distance (&appearance, second) > 0.1);
  learn (&appearance, update, 1.0, 1, second);
  CUV_CHECK (distance (&appearance, second) < 0.02, ": %g",
      distance (&appearance, second));
}

/* Checks that rate 0 keeps the model, and that a rate below 1 moves it part of
 * the way. */
static void
check_between (
    CuvRcdUpdate update, const Sample *first, const Sample *second, int n)
{
  CuvRcdAppearance appearance;
  double apart;

  cuv_rcd_appearance_init (&appearance, first->sums, n, &first->box, lambda);
  apart = distance (&appearance, second);
  if (update == CUV_RCD_UPDATE_LOG_EUCLID || update == CUV_RCD_UPDATE_MOMENTS) {
    learn (&appearance, update, 0.0, 1, second);
    CUV_CHECK (distance (&appearance, first) < 1e-6);
  }
  learn (&appearance, update, 0.5, 2, second);
  CUV_CHECK (distance (&appearance, first) > 0.2 * apart);
  CUV_CHECK (distance (&appearance, second) < 0.8 * apart, ": %g of %g",
      distance (&appearance, second), apart);
}

/* Checks that a change of method starts from the current model. */
static void
check_change (const Sample *first, const Sample *second, int n)
{
  CuvRcdAppearance appearance;
  CuvRcdModel model;

  cuv_rcd_appearance_init (&appearance, first->sums, n, &first->box, lambda);
  for (int i = 0; i < 10; i++) {
    learn (&appearance, updates[1 + i % 4], 0.5, 4, second);
    model = appearance.model;
    learn (&appearance, CUV_RCD_UPDATE_NONE, 0.5, 4, first);
    CUV_CHECK (memcmp (&model, &appearance.model, sizeof model) == 0);
  }
  CUV_CHECK (distance (&appearance, second) < 0.05, ": %g",
      distance (&appearance, second));
}

/* Checks that only the covariances in the window are averaged. */
static void
check_window (const Sample *first, const Sample *second, int n)
{
  CuvRcdAppearance appearance;

  cuv_rcd_appearance_init (&appearance, first->sums, n, &first->box, lambda);
  for (int i = 0; i < CUV_RCD_MAX_WINDOW + 5; i++)
    learn (&appearance, CUV_RCD_UPDATE_RIEMANN, 0.5, CUV_RCD_MAX_WINDOW, first);
  CUV_CHECK (appearance.n_past == CUV_RCD_MAX_WINDOW);
  learn (&appearance, CUV_RCD_UPDATE_RIEMANN, 0.5, 3, second);
  CUV_CHECK (appearance.n_past == 3);
  CUV_CHECK (distance (&appearance, first) > 1e-3);
  learn (&appearance, CUV_RCD_UPDATE_RIEMANN, 0.5, 3, second);
  learn (&appearance, CUV_RCD_UPDATE_RIEMANN, 0.5, 3, second);
  CUV_CHECK (distance (&appearance, second) < 1e-6);
}

/* Checks that a flat picture, whose covariance is zero without lambda, neither
 * makes nor replaces a model. */
static void
check_flat (const Sample *seen, int n)
{
  const int64_t flat[CUV_RCD_MAX_SUMS] = { 0 };
  CuvRcdAppearance appearance;

  CUV_CHECK (!cuv_rcd_appearance_init (&appearance, flat, n, &seen->box, 0.0));
  CUV_CHECK (
      cuv_rcd_appearance_init (&appearance, seen->sums, n, &seen->box, 0.0));
  for (int u = 0; u < 5; u++) {
    learn (&appearance, updates[u], 1.0, 2, &(Sample){ seen->box, { 0 } });
    CUV_CHECK (appearance.model.det > 0.0);
  }
}

static void
check_features (CuvRcdFeatures features)
{
  const int n = features == CUV_RCD_TUZEL9 ? 9
      : features == CUV_RCD_RGB_GRAD       ? 5
                                           : 3;
  CuvCheckFrame frame = cuv_check_frame_new ("RGB", 80, 60, CUV_CHECK_TEXTURE);
  const Sample first = measure_box (&frame, features, 3, 2, 30, 24);
  Sample second;

  paint_object (&frame.frame, 1, 0, &(CuvRcdBox){ 30, 20, 34, 30 });
  second = measure_box (&frame, features, 28, 19, 40, 32);
  for (int u = 0; u < 5; u++) {
    cuv_check_case ("features %d, update %d", features, updates[u]);
    check_same (updates[u], &first, n);
    if (updates[u] == CUV_RCD_UPDATE_NONE)
      continue;
    check_last (updates[u], &first, &second, n);
    check_between (updates[u], &first, &second, n);
  }
  cuv_check_case ("features %d, several updates", features);
  check_change (&first, &second, n);
  check_window (&first, &second, n);
  check_flat (&second, n);
  cuv_check_frame_free (&frame);
}

CUV_CHECKS_CPU (check_updates)
{
  check_features (CUV_RCD_RGB_GRAD);
  check_features (CUV_RCD_TUZEL9);
  check_features (CUV_RCD_GREY_GRAD);
}
