/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by cuvision-train and waldboosttrain: feeds a trainer, chooses the
 * final threshold, saves the model. */
#include "dataset.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

gint
cuv_dataset_feed (const CuvDataset *dataset, CuvTrainer *trainer,
    const CuvTrainParams *params, const CuvSampleOptions *options)
{
  gint too_small = 0;

  for (gint part = 0; part < CUV_TRAIN_N_PARTS && too_small >= 0; part++) {
    const gint n = cuv_dataset_add_samples (
        dataset, (CuvTrainPart) part, trainer, params, options);
    const CuvTrainPictures pictures =
        cuv_dataset_pictures (dataset, (CuvDatasetRole) part);

    too_small = n < 0 ? -1 : too_small + n;
    cuv_trainer_set_negatives (trainer, (CuvTrainPart) part, &pictures);
  }
  return too_small;
}

const gchar *
cuv_train_describe_end (CuvTrainState state)
{
  static const gchar *const ends[] = {
    [CUV_TRAIN_CONTINUE] = "stopped",
    [CUV_TRAIN_DONE] = "done",
    [CUV_TRAIN_NO_NEGATIVES] = "all windows of the negatives are rejected",
    [CUV_TRAIN_NO_POSITIVES] = "no objects are left to learn from",
    [CUV_TRAIN_NO_MEMORY] = "out of memory",
    [CUV_TRAIN_NO_DEVICE] = "the GPU failed",
    [CUV_TRAIN_NO_SPACE] =
        "no space for the samples; set TMPDIR to a folder with more "
        "space",
  };

  return ends[state];
}

/* Writes a text to a file and frees it; NULL means that memory ran out. */
static gboolean
save_text (char *text, const gchar *path, GError **error)
{
  gboolean ok = text != NULL;

  if (ok)
    ok = g_file_set_contents (path, text, (gssize) strlen (text), error);
  else
    g_set_error_literal (
        error, G_FILE_ERROR, G_FILE_ERROR_NOMEM, "out of memory");
  free (text);
  return ok;
}

gboolean
cuv_train_save (const CuvGridClassifier *classifier, const gchar *path,
    const gchar *comment, GError **error)
{
  return save_text (cuv_model_write (classifier, comment), path, error);
}

gboolean
cuv_train_save_channels (const CuvChannelsModel *channels, const gchar *path,
    const gchar *comment, GError **error)
{
  return save_text (cuv_channels_model_write (channels, comment), path, error);
}

CuvTrainRate
cuv_train_rate_at (const GArray *rates, gdouble false_positives)
{
  CuvTrainRate best = { 0 };

  for (guint i = 0; i < rates->len; i++) {
    const CuvTrainRate *rate = &g_array_index (rates, CuvTrainRate, i);

    if (rate->false_positives <= false_positives)
      best = *rate;
  }
  return best;
}

/* ---- choosing a threshold ---- */

/* Minimum number of mistakes: fewer say little about other pictures, as
 * measured in docs/training.md, "The threshold". */
#define LEAST_MISTAKES 20

static gdouble
mistake (const CuvDatasetFound *found, guint i)
{
  return g_array_index (found->mistakes, CuvDatasetBox, i).score;
}

/* Extrapolates from the mean excess over the score of mistake k, assuming that
 * scores above it are distributed exponentially. */
static gdouble
extrapolate (const CuvDatasetFound *found, guint k, gdouble n_allowed)
{
  gdouble excess = 0;

  for (guint i = 0; i < k; i++)
    excess += mistake (found, i) - mistake (found, k);
  return mistake (found, k) + excess / k * log (k / n_allowed);
}

/* Returns the score that the allowed number of mistakes is expected to exceed
 * or, if there are fewer mistakes, 1, which means odds of e^2. */
gdouble
cuv_dataset_limit (const CuvDatasetFound *found, gdouble false_positives)
{
  const gdouble n_allowed = false_positives * found->n_pictures;
  const guint n = found->mistakes->len;
  const guint k = MIN (LEAST_MISTAKES, MAX (n, 1) - 1);
  gdouble limit = 1;

  if (n_allowed < n && n_allowed > 0 && n_allowed < k)
    limit = extrapolate (found, k, n_allowed);
  else if (n_allowed < n)
    limit = mistake (found, (guint) n_allowed);
  return MAX (limit, MAX (found->least, 1));
}

/* Returns the score that all objects except this fraction reach. */
static gdouble
score_of (const CuvDatasetFound *found, gdouble missed)
{
  const guint n = found->objects->len;
  const guint i = n - 1 - MIN ((guint) (missed * n), n - 1);

  return MAX (g_array_index (found->objects, CuvDatasetBox, i).score, 0);
}

gdouble
cuv_dataset_threshold (const CuvDatasetFound *found, gdouble false_positives,
    gdouble alpha, gdouble most_missed)
{
  const gdouble limit = cuv_dataset_limit (found, false_positives);
  const gdouble unit = ldexp (1, -CUV_TRAIN_LEAF_BITS);
  gdouble threshold;

  if (found->objects->len == 0)
    return 0;
  threshold = sqrt (limit * MAX (score_of (found, alpha), limit));
  if (most_missed < 1)
    threshold = MIN (threshold, score_of (found, most_missed) - unit);
  return MAX (floor (threshold / unit) * unit, 0);
}

/* ---- choosing a cascade's threshold ---- */

typedef struct {
  const CuvDataset *dataset;
  const CuvGridClassifier *classifier;
  const CuvSampleOptions *options;
  gdouble false_positives;
  gboolean failed; /* memory ran out */
} Cascade;

static CuvDatasetFound *
find_above (Cascade *self, gdouble threshold, CuvDatasetGrouping grouping)
{
  CuvGridClassifier classifier = *self->classifier;
  const CuvWaldboostModel *model;
  CuvDatasetFound *found;

  classifier.final_threshold += (gfloat) threshold;
  model = cuv_model_new (&classifier);
  found = cuv_dataset_find (
      self->dataset, CUV_DATASET_CALIBRATION, model, self->options, grouping);
  cuv_model_unref (model);
  self->failed |= found == NULL;
  return found;
}

/* Returns an upper bound: no box above the best score of a mistaken window is a
 * mistake. */
static gdouble
best_mistake (Cascade *self)
{
  CuvDatasetFound *found = find_above (self, 0, CUV_DATASET_NMS);
  const gdouble score =
      found != NULL && found->mistakes->len > 0 ? mistake (found, 0) : 0;

  cuv_dataset_found_free (found);
  return score;
}

/* Returns whether at most the allowed number of mistakes is left. */
static gboolean
is_enough (Cascade *self, gdouble threshold)
{
  CuvDatasetFound *found = find_above (self, threshold, CUV_DATASET_NEIGHBOURS);
  const gboolean enough = found != NULL && found->n_overflows == 0
      && found->mistakes->len <= self->false_positives * found->n_pictures;

  cuv_dataset_found_free (found);
  return enough;
}

/* Bisects from above, because each threshold results in other boxes: at a low
 * threshold many windows may merge into few boxes. */
gdouble
cuv_dataset_cascade_threshold (const CuvDataset *dataset,
    const CuvGridClassifier *classifier, const CuvSampleOptions *options,
    gdouble false_positives)
{
  Cascade self = { dataset, classifier, options, false_positives, FALSE };
  gdouble high = best_mistake (&self), low = high / 2;

  while (low > 1. / 16 && is_enough (&self, low)) {
    high = low;
    low /= 2;
  }
  for (gint i = 0; i < 4; i++) {
    const gdouble middle = (low + high) / 2;

    if (is_enough (&self, middle))
      high = middle;
    else
      low = middle;
  }
  return self.failed ? -1 : high;
}

/* ---- raising a model's threshold ---- */

/* Runs the model on the calibration pictures and releases it; returns NULL if
 * memory runs out. */
static CuvDatasetFound *
find_to_calibrate (const CuvDataset *dataset, const CuvWaldboostModel *model,
    const CuvSampleOptions *options)
{
  CuvDatasetFound *found = cuv_dataset_find (
      dataset, CUV_DATASET_CALIBRATION, model, options, CUV_DATASET_NMS);

  cuv_model_unref (model);
  return found;
}

gboolean
cuv_dataset_raise_threshold (const CuvDataset *dataset,
    CuvGridClassifier *classifier, const CuvSampleOptions *options,
    gdouble false_positives, gdouble alpha)
{
  CuvDatasetFound *found =
      find_to_calibrate (dataset, cuv_model_new (classifier), options);

  if (found == NULL)
    return FALSE;
  classifier->final_threshold +=
      (gfloat) cuv_dataset_threshold (found, false_positives, alpha, 0.5);
  cuv_dataset_found_free (found);
  return TRUE;
}

gboolean
cuv_dataset_raise_channels (const CuvDataset *dataset,
    CuvChannelsModel *channels, const CuvSampleOptions *options,
    gdouble false_positives, gdouble alpha)
{
  CuvDatasetFound *found = find_to_calibrate (dataset,
      cuv_model_of_channels (cuv_channels_model_copy (channels)), options);
  gint32 raise;

  if (found == NULL)
    return FALSE;
  raise = (gint32) floor (
      ldexp (cuv_dataset_threshold (found, false_positives, alpha, 0.5),
          CUV_TRAIN_TREE_BITS));
  channels->trees.final_threshold += raise;
  cuv_dataset_found_lower (found, ldexp (raise, -CUV_TRAIN_TREE_BITS));
  cuv_dataset_set_confidence (found,
      ldexp (channels->trees.final_threshold, -CUV_TRAIN_TREE_BITS), channels);
  cuv_dataset_found_free (found);
  return TRUE;
}
