/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Computes the fraction of boxes that are right as a function of their
 * score: a logistic curve, fitted to boxes in pictures that were kept out of
 * training. */
#include "dataset.h"

#include <math.h>

/* Minimum number of mistakes to which the curve is fitted if there are as many;
 * cuv_dataset_threshold() uses the same number. */
#define N_MISTAKES 20

/* Smaller slopes are noise: scores then do not separate right boxes from wrong
 * ones. */
#define LEAST_SLOPE 0.1

#define MAX_STEPS 100

/* log odds = slope * x + bias, where x are scores of mean 0 and variance 1. */
typedef struct {
  gdouble slope, bias;
} Line;

typedef struct {
  GArray *x; /* of gdouble: scores, first of the right boxes */
  guint n_right;
  gdouble mean, deviation; /* mean and standard deviation of the scores */
} Sample;

/* ---- boxes ---- */

/* Returns the lowest score to which the curve is fitted: 0, above which boxes
 * are accepted, or, if fewer than N_MISTAKES mistakes are accepted, the score
 * of the N_MISTAKES-th mistake. */
static gdouble
least_score (const CuvDatasetFound *found)
{
  const GArray *mistakes = found->mistakes;

  if (mistakes->len < N_MISTAKES)
    return -G_MAXDOUBLE;
  return MIN (g_array_index (mistakes, CuvDatasetBox, N_MISTAKES - 1).score, 0);
}

static void
add_scores (GArray *x, const GArray *boxes, gdouble least)
{
  for (guint i = 0; i < boxes->len; i++) {
    const gdouble score = g_array_index (boxes, CuvDatasetBox, i).score;

    if (score >= least)
      g_array_append_val (x, score);
  }
}

static void
normalize (Sample *self)
{
  gdouble *x = (gdouble *) (gpointer) self->x->data, sum = 0, squares = 0;
  const guint n = self->x->len;

  for (guint i = 0; i < n; i++)
    sum += x[i];
  self->mean = n > 0 ? sum / n : 0;
  for (guint i = 0; i < n; i++)
    squares += (x[i] - self->mean) * (x[i] - self->mean);
  self->deviation = n > 0 ? MAX (sqrt (squares / n), 1) : 1;
  for (guint i = 0; i < n; i++)
    x[i] = (x[i] - self->mean) / self->deviation;
}

static void
sample_init (Sample *self, const CuvDatasetFound *found)
{
  const gdouble least = least_score (found);

  self->x = g_array_new (FALSE, FALSE, sizeof (gdouble));
  add_scores (self->x, found->objects, least);
  self->n_right = self->x->len;
  add_scores (self->x, found->mistakes, least);
  normalize (self);
}

/* ---- the fit ---- */

static gdouble
normal_score (const Sample *self, guint i)
{
  return g_array_index (self->x, gdouble, i);
}

/* Returns the value to which the curve is fitted. It is neither 1 nor 0:
 * boxes in other pictures may be wrong or right even if all boxes in these
 * are not. */
static gdouble
target_of (const Sample *self, guint i)
{
  const guint n_wrong = self->x->len - self->n_right;

  return i < self->n_right ? (self->n_right + 1.) / (self->n_right + 2.)
                           : 1. / (n_wrong + 2.);
}

/* Returns the negative logarithm of the likelihood. */
static gdouble
loss_of (const Sample *self, Line line)
{
  gdouble loss = 0;

  for (guint i = 0; i < self->x->len; i++) {
    const gdouble odds = line.slope * normal_score (self, i) + line.bias;

    loss +=
        MAX (odds, 0) + log1p (exp (-fabs (odds))) - target_of (self, i) * odds;
  }
  return loss;
}

/* Returns the step of Newton's method. */
static Line
step_of (const Sample *self, Line line)
{
  gdouble by_slope = 0, by_bias = 0, xx = 1e-9, x1 = 0, one = 1e-9, divisor;

  for (guint i = 0; i < self->x->len; i++) {
    const gdouble x = normal_score (self, i);
    const gdouble p = 1 / (1 + exp (-(line.slope * x + line.bias)));
    const gdouble error = p - target_of (self, i), weight = p * (1 - p);

    by_slope += error * x;
    by_bias += error;
    xx += weight * x * x;
    x1 += weight * x;
    one += weight;
  }
  divisor = xx * one - x1 * x1;
  return (Line){ -(one * by_slope - x1 * by_bias) / divisor,
    -(xx * by_bias - x1 * by_slope) / divisor };
}

static Line
fit (const Sample *self)
{
  const guint n_wrong = self->x->len - self->n_right;
  Line line = { 1, log ((self->n_right + 1.) / (n_wrong + 1.)) };
  gdouble loss = loss_of (self, line);

  for (gint i = 0; i < MAX_STEPS; i++) {
    const Line step = step_of (self, line);
    gdouble share = 1, next = INFINITY;
    Line to = line;

    for (; share > 1e-6 && !(next < loss); share /= 2) {
      to = (Line){ line.slope + share * step.slope,
        line.bias + share * step.bias };
      next = loss_of (self, to);
    }
    if (!(next < loss))
      break;
    line = to;
    loss = next;
  }
  return line;
}

/* ---- entry points ---- */

CuvConfidence
cuv_dataset_confidence (const CuvDatasetFound *found)
{
  CuvConfidence result = { 0, 0 };
  Sample sample;

  sample_init (&sample, found);
  if (sample.x->len > 0) {
    const Line line = fit (&sample);

    result.spread = sample.deviation / MAX (line.slope, LEAST_SLOPE);
    result.even = sample.mean - line.bias * result.spread;
  }
  g_array_unref (sample.x);
  return result;
}

void
cuv_dataset_set_confidence (
    const CuvDatasetFound *found, gdouble threshold, CuvChannelsModel *channels)
{
  const CuvConfidence confidence = cuv_dataset_confidence (found);
  const gdouble even = ldexp (threshold + confidence.even, CUV_TRAIN_TREE_BITS);
  const gdouble spread = ldexp (confidence.spread, CUV_TRAIN_TREE_BITS);
  const gdouble limit = 1 << 30;

  if (!(spread > 0))
    return;
  channels->even = (gint32) CLAMP (rint (even), -limit, limit);
  channels->spread = (gint32) CLAMP (rint (spread), 1, limit);
}
