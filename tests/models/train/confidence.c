/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of the confidence of boxes: the fitted curve is that of the data, and
 * the best one by its definition; also with few boxes, and with scores that do
 * not separate right boxes from wrong ones. */
#include <math.h>
#include "cuvcheck.h"
#include "dataset/dataset.h"

static CuvDatasetFound
found_new (void)
{
  return (CuvDatasetFound){ .objects = g_array_new (
                                FALSE, FALSE, sizeof (CuvDatasetBox)),
    .mistakes = g_array_new (FALSE, FALSE, sizeof (CuvDatasetBox)) };
}

static void
found_clear (CuvDatasetFound *found)
{
  g_array_unref (found->objects);
  g_array_unref (found->mistakes);
}

static void
add (GArray *boxes, gdouble score, guint n)
{
  const CuvDatasetBox box = { .score = score };

  for (guint i = 0; i < n; i++)
    g_array_append_val (boxes, box);
}

static gboolean
is_close (gdouble a, gdouble b)
{
  return fabs (a - b) < 0.05 * MAX (1, fabs (b));
}

/* ---- a known curve ---- */

/* Fits boxes whose fraction of right ones follows the curve. Boxes with scores
 * below 0 are all wrong, but do not count, because more than 20 mistakes have
 * higher scores. */
static void
check_curve (gdouble even, gdouble spread)
{
  CuvDatasetFound found = found_new ();
  CuvConfidence fitted;

  cuv_check_case ("curve %g, %g", even, spread);
  for (gdouble score = 60; score >= 0; score -= 0.5) {
    const gdouble share = 1 / (1 + exp ((even - score) / spread));
    const guint n_right = (guint) lrint (1000 * share);

    add (found.objects, score, n_right);
    add (found.mistakes, score, 1000 - n_right);
  }
  add (found.mistakes, -1, 10000);
  add (found.objects, -INFINITY, 500);
  fitted = cuv_dataset_confidence (&found);
  CUV_CHECK (is_close (fitted.even, even), ": even at %g", fitted.even);
  CUV_CHECK (is_close (fitted.spread, spread), ": spread %g", fitted.spread);
  found_clear (&found);
}

/* ---- the best curve ---- */

typedef struct {
  gdouble scores[30];
  guint n, n_right;
} Boxes;

/* Returns the negative log-likelihood of Platt's targets. */
static gdouble
loss_of (const Boxes *boxes, gdouble even, gdouble spread)
{
  const guint n_wrong = boxes->n - boxes->n_right;
  gdouble loss = 0;

  for (guint i = 0; i < boxes->n; i++) {
    const gdouble p = 1 / (1 + exp ((even - boxes->scores[i]) / spread));
    const gdouble target = i < boxes->n_right
        ? (boxes->n_right + 1.) / (boxes->n_right + 2.)
        : 1 / (n_wrong + 2.);

    loss -= target * log (p) + (1 - target) * log (1 - p);
  }
  return loss;
}

static void
check_best (guint seed)
{
  CuvDatasetFound found = found_new ();
  GRand *rand = g_rand_new_with_seed (seed);
  Boxes boxes = { .n = 30, .n_right = 12 + seed % 10 };
  CuvConfidence fitted;
  gdouble least;

  cuv_check_case ("best curve %u", seed);
  for (guint i = 0; i < boxes.n; i++) {
    boxes.scores[i] =
        g_rand_double_range (rand, -20, 20) + (i < boxes.n_right ? 12 : -12);
    add (
        i < boxes.n_right ? found.objects : found.mistakes, boxes.scores[i], 1);
  }
  fitted = cuv_dataset_confidence (&found);
  least = loss_of (&boxes, fitted.even, fitted.spread) - 1e-9;
  for (gint i = 0; i < 9; i++) {
    const gdouble even = fitted.even + (i / 3 - 1) * 0.05;
    const gdouble spread = fitted.spread * (1 + (i - i / 3 * 3 - 1) * 0.01);

    CUV_CHECK (loss_of (&boxes, even, spread) >= least, ": even %g, spread %g",
        fitted.even, fitted.spread);
  }
  g_rand_free (rand);
  found_clear (&found);
}

/* ---- few boxes ---- */

static CuvConfidence
confidence_of (guint n_right, gdouble right, guint n_wrong, gdouble wrong)
{
  CuvDatasetFound found = found_new ();
  CuvConfidence fitted;

  add (found.objects, right, n_right);
  add (found.mistakes, wrong, n_wrong);
  fitted = cuv_dataset_confidence (&found);
  found_clear (&found);
  return fitted;
}

static gdouble
at (CuvConfidence confidence, gdouble score)
{
  return 1 / (1 + exp ((confidence.even - score) / confidence.spread));
}

static void
check_few (void)
{
  CuvConfidence fitted = confidence_of (0, 0, 0, 0);

  cuv_check_case ("few boxes");
  CUV_CHECK (fitted.spread == 0, ": spread %g", fitted.spread);
  fitted = confidence_of (8, 30, 0, 0);
  CUV_CHECK (is_close (at (fitted, 30), 0.9), ": %g", at (fitted, 30));
  fitted = confidence_of (0, 0, 8, 30);
  CUV_CHECK (is_close (at (fitted, 30), 0.1), ": %g", at (fitted, 30));
  fitted = confidence_of (1, 30, 1, -30);
  CUV_CHECK (is_close (at (fitted, 30), 2. / 3), ": %g", at (fitted, 30));
  fitted = confidence_of (1000, 100, 1000, 90);
  CUV_CHECK (is_close (at (fitted, 100), 0.999) && at (fitted, 90) < 0.01,
      ": %g", at (fitted, 100));
  fitted = confidence_of (9, 10, 9, 90); /* the wrong way round */
  CUV_CHECK (fitted.spread > 0 && fitted.spread < 1000 && at (fitted, 10) > 0.3
          && at (fitted, 10) < at (fitted, 90),
      ": spread %g", fitted.spread);
}

CUV_CHECKS_CPU (check_confidence)
{
  check_curve (5, 3);
  check_curve (20, 8);
  check_curve (-10, 12);
  for (guint seed = 0; seed < 20; seed++)
    check_best (seed);
  check_few ();
}
