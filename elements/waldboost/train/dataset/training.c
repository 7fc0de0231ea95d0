/* SPDX-License-Identifier: LGPL-2.1-or-later */
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
    [CUV_TRAIN_NO_SPACE] = "no space for the samples; set TMPDIR to a folder "
                           "that has more",
  };

  return ends[state];
}

gboolean
cuv_train_save (const CuvGridClassifier *classifier, const gchar *path,
    const gchar *comment, GError **error)
{
  char *text = cuv_model_write (classifier, comment);
  gboolean ok = text != NULL;

  if (ok)
    ok = g_file_set_contents (path, text, (gssize) strlen (text), error);
  else
    g_set_error_literal (
        error, G_FILE_ERROR, G_FILE_ERROR_NOMEM, "out of memory");
  free (text);
  return ok;
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

/* ---- the threshold ---- */

#define MISSED 0.1 /* share of objects that tracking misplaced, say */

/* Boxes beside an object are no mistakes here: where exactly a tracked object
 * is, is not known so well. */
static gboolean
is_far (const CuvDatasetBox *mistake)
{
  const GArray *boxes = mistake->picture->boxes;

  for (guint i = 0; i < boxes->len; i++) {
    if (cuv_dataset_overlap (
            &mistake->box, &g_array_index (boxes, CuvTrainBox, i))
        > CUV_TRAIN_MAX_OVERLAP)
      return FALSE;
  }
  return TRUE;
}

/* The best score of the mistakes that are too many; 1, or odds of e^2, if there
 * are none. */
static gdouble
limit_of (const CuvDatasetFound *found, gdouble false_positives)
{
  guint n_allowed = (guint) (false_positives * found->n_pictures);

  for (guint i = 0; i < found->mistakes->len; i++) {
    const CuvDatasetBox *mistake =
        &g_array_index (found->mistakes, CuvDatasetBox, i);

    if (is_far (mistake) && n_allowed-- == 0)
      return MAX (mistake->score, 1);
  }
  return 1;
}

/* The score that all but this share of the objects reach. */
static gdouble
score_of (const CuvDatasetFound *found, gdouble missed)
{
  const guint n = found->objects->len;
  const guint i = n - 1 - MIN ((guint) (missed * n), n - 1);

  return MAX (g_array_index (found->objects, CuvDatasetBox, i).score, 0);
}

gdouble
cuv_dataset_choose_threshold (
    const CuvDatasetFound *found, gdouble false_positives)
{
  const gdouble limit = limit_of (found, false_positives);
  const gdouble unit = ldexp (1, -CUV_TRAIN_LEAF_BITS);
  gdouble threshold;

  if (found->objects->len == 0)
    return 0;
  threshold = sqrt (limit * MAX (score_of (found, MISSED), limit));
  threshold = MIN (threshold, score_of (found, 0.5) - unit);
  return MAX (floor (threshold / unit) * unit, 0);
}

gdouble
cuv_train_excess (const GArray *rates, gdouble false_positives)
{
  guint i = 0;

  while (i < rates->len
      && g_array_index (rates, CuvTrainRate, i).false_positives
          <= false_positives)
    i++;
  return i < rates->len ? g_array_index (rates, CuvTrainRate, i).score : 0;
}
