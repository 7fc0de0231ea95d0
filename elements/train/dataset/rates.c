/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Computes recall and false positives of boxes and windows, with confidence
 * intervals. */
#include "dataset.h"

#include <math.h>
#include "cuvthreads.h"
#include "reference/waldboost-reference.h"

/* ---- confidence intervals ---- */

/* Returns Student's quantile at 97.5 %. */
static gdouble
quantile (guint degrees_of_freedom)
{
  static const gdouble table[] = { 12.71, 12.71, 4.303, 3.182, 2.776, 2.571,
    2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
    2.120 };

  return degrees_of_freedom < G_N_ELEMENTS (table)
      ? table[degrees_of_freedom]
      : 1.96 + 2.5 / degrees_of_freedom;
}

static CuvShare
wilson (gdouble share, gdouble n, gdouble t)
{
  const gdouble square = t * t / n;
  const gdouble centre = (share + square / 2) / (1 + square);
  const gdouble half =
      sqrt (share * (1 - share) * square + square * square / 4) / (1 + square);

  return (CuvShare){ share, share > 0 ? MAX (centre - half, 0) : 0,
    share < 1 ? MIN (centre + half, 1) : 1 };
}

/* Returns the factor by which the variance of the ratio exceeds that of as many
 * independent samples. */
static gdouble
design_effect (
    const CuvCount *counts, guint n, guint n_used, gdouble share, gdouble of)
{
  gdouble squares = 0;

  for (guint i = 0; i < n; i++) {
    const gdouble difference =
        (gdouble) counts[i].n - share * (gdouble) counts[i].of;

    squares += difference * difference;
  }
  return squares * n_used / (n_used - 1) / (of * share * (1 - share));
}

CuvShare
cuv_share (const CuvCount *counts, guint n, gdouble cluster)
{
  gdouble sum = 0, of = 0, effect = cluster;
  guint n_used = 0;

  for (guint i = 0; i < n; i++) {
    sum += (gdouble) counts[i].n;
    of += (gdouble) counts[i].of;
    n_used += counts[i].of > 0;
  }
  if (of <= 0)
    return (CuvShare){ 0, 0, 1 };
  if (sum > 0 && sum < of && n_used > 1)
    effect = MAX (design_effect (counts, n, n_used, sum / of, of), 1);
  return wilson (
      sum / of, MAX (of / effect, 1), quantile (MAX (n_used, 1) - 1));
}

/* ---- counts by picture ---- */

/* Finds the count of an object's picture; pictures and objects are in any
 * order. */
typedef struct {
  GHashTable *numbers; /* index of each picture in counts */
  GArray *counts;      /* CuvCount, one for each picture */
} Tally;

static CuvCount *
tally_of (Tally *self, const CuvDatasetPicture *picture)
{
  const CuvCount none = { 0 };
  gpointer number;

  if (!g_hash_table_lookup_extended (self->numbers, picture, NULL, &number)) {
    number = GUINT_TO_POINTER (self->counts->len);
    g_hash_table_insert (self->numbers, (gpointer) picture, number);
    g_array_append_val (self->counts, none);
  }
  return &g_array_index (self->counts, CuvCount, GPOINTER_TO_UINT (number));
}

static Tally
tally_new (void)
{
  return (Tally){ g_hash_table_new (NULL, NULL),
    g_array_new (FALSE, FALSE, sizeof (CuvCount)) };
}

static CuvShare
tally_share (const Tally *self, gdouble cluster)
{
  return cuv_share ((const CuvCount *) (void *) self->counts->data,
      self->counts->len, cluster);
}

static void
tally_clear (Tally *self)
{
  g_hash_table_unref (self->numbers);
  g_array_unref (self->counts);
}

/* ---- rates of boxes ---- */

static gdouble
score_at (const GArray *boxes, guint i)
{
  return i < boxes->len ? g_array_index (boxes, CuvDatasetBox, i).score
                        : -INFINITY;
}

GArray *
cuv_dataset_rates (const CuvDatasetFound *found)
{
  GArray *rates = g_array_new (FALSE, FALSE, sizeof (CuvTrainRate));
  Tally tally = tally_new ();
  guint right = 0, wrong = 0;

  for (guint i = 0; i < found->objects->len; i++)
    tally_of (&tally, g_array_index (found->objects, CuvDatasetBox, i).picture)
        ->of++;
  for (;;) {
    CuvTrainRate rate = { .score = MAX (score_at (found->objects, right),
                              score_at (found->mistakes, wrong)) };

    if (isinf (rate.score))
      break;
    for (; score_at (found->objects, right) == rate.score; right++)
      tally_of (
          &tally, g_array_index (found->objects, CuvDatasetBox, right).picture)
          ->n++;
    while (score_at (found->mistakes, wrong) == rate.score)
      wrong++;
    rate.recall = tally_share (&tally, 1);
    rate.false_positives = (gdouble) wrong / MAX (found->n_pictures, 1);
    g_array_append_val (rates, rate);
  }
  tally_clear (&tally);
  return rates;
}

GArray *
cuv_dataset_measure (const CuvDataset *dataset, const CuvWaldboostModel *model,
    const CuvSampleOptions *options, gdouble *weak_per_window)
{
  CuvDatasetFound *found = cuv_dataset_find (
      dataset, CUV_DATASET_TEST, model, options, CUV_DATASET_NMS);
  GArray *rates = NULL;

  if (found != NULL) {
    rates = cuv_dataset_rates (found);
    *weak_per_window = found->weak_per_window;
  }
  cuv_dataset_found_free (found);
  return rates;
}

/* ---- rates of windows ---- */

typedef struct {
  const CuvWaldboostModel *model;
  guint32 *sums; /* integral image of a window */
  Tally tally;
} Samples;

static gboolean
count_sample (
    gpointer data, const CuvDatasetPicture *picture, const guint8 *pixels)
{
  Samples *self = data;
  const gint width = self->model->window_width;
  const CuvIntegrals integrals = { .sums = self->sums, .stride = width + 1 };
  CuvCount *count = tally_of (&self->tally, picture);
  gfloat score;

  for (gint y = 0; y < self->model->window_height; y++)
    cuv_sum_row (self->sums + (y + 1) * (width + 1),
        self->sums + y * (width + 1), pixels + y * width, width, 1, width + 1);
  count->of++;
  count->n += cuv_evaluate_window (self->model, &integrals, 0, &score)
      == self->model->n_weak;
  return TRUE;
}

static gboolean
count_positives (const CuvDataset *dataset, CuvDatasetRole role,
    const CuvWaldboostModel *model, const CuvSampleOptions *options,
    CuvWindowRates *rates)
{
  Samples self = { model,
    g_new0 (guint32, (model->window_width + 1) * (model->window_height + 1)),
    tally_new () };
  const gboolean ok =
      cuv_dataset_visit_samples (dataset, role, model->window_width,
          model->window_height, model->arithmetic == CUV_SUM_STAGES, options,
          count_sample, &self)
      >= 0;

  rates->recall =
      tally_share (&self.tally, options->n_copies * (options->mirror ? 2 : 1));
  for (guint i = 0; i < self.tally.counts->len; i++)
    rates->n_positives += g_array_index (self.tally.counts, CuvCount, i).of;
  tally_clear (&self.tally);
  g_free (self.sums);
  return ok;
}

typedef struct {
  const CuvWaldboostModel *model;
  CuvTrainPictures pictures;
  CuvCount *counts; /* for each picture: windows that are not rejected */
  gint failed;      /* atomic: memory ran out */
} Windows;

static void
count_windows (void *data, int task)
{
  Windows *self = data;
  CuvTrainReservoir reservoir = { 0 };
  CuvTrainPicture picture;

  if (!self->pictures.load (self->pictures.data, task, &picture))
    return;
  if (!cuv_train_reservoir_init (&reservoir, self->model->window_width,
          self->model->window_height, 0, 0)
      || !cuv_train_draw (&reservoir, self->model, &picture, task))
    g_atomic_int_set (&self->failed, TRUE);
  self->counts[task] = (CuvCount){ reservoir.n_alive, reservoir.n_windows };
  cuv_train_reservoir_clear (&reservoir);
}

static gboolean
count_negatives (const CuvDataset *dataset, CuvDatasetRole role,
    const CuvWaldboostModel *model, CuvWindowRates *rates)
{
  const CuvTrainPictures pictures = cuv_dataset_pictures (dataset, role);
  Windows self = { model, pictures, g_new0 (CuvCount, pictures.n), FALSE };

  cuv_threads_run (0, pictures.n, count_windows, &self);
  for (gint i = 0; i < pictures.n; i++)
    rates->n_negatives += self.counts[i].of;
  rates->false_positives =
      cuv_share (self.counts, (guint) pictures.n, CUV_MISTAKE_CLUSTER);
  g_free (self.counts);
  return !self.failed;
}

gboolean
cuv_dataset_window_rates (const CuvDataset *dataset, CuvDatasetRole role,
    const CuvWaldboostModel *model, const CuvSampleOptions *options,
    CuvWindowRates *rates)
{
  *rates = (CuvWindowRates){ 0 };
  if (model->channels != NULL)
    return cuv_dataset_channels_rates (dataset, role, model, options, rates);
  return count_positives (dataset, role, model, options, rates)
      && count_negatives (dataset, role, model, rates);
}
