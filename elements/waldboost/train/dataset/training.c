/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "dataset.h"

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
