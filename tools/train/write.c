/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes the model before it is measured, and again with its rates. */
#include "config.h"
#include "train-tool.h"

/* Returns the comment in the model. It has no date, so that the same samples
 * give the same file. */
static gchar *
describe_model (const Results *self)
{
  const CuvTrainParams *params = &self->options->train;
  const CuvSampleOptions *samples = &self->options->samples;
  GString *text = g_string_new (NULL);

  g_string_printf (text,
      "made by cuvision-train " VERSION " from %u pictures, %u of them with "
      "objects; alpha %g, %d copies, margin %g%s, %d negatives at a time, seed "
      "%" G_GINT64_FORMAT,
      self->inputs->dataset->pictures->len,
      cuv_dataset_count_with_objects (self->inputs->dataset), params->alpha,
      samples->n_copies, samples->margin, samples->mirror ? ", mirrored" : "",
      params->n_negatives, (gint64) params->seed);
  if (self->progress->len > 0) {
    const CuvTrainProgress *at = &g_array_index (
        self->progress, CuvTrainProgress, self->progress->len - 1);

    g_string_append_printf (text,
        "; calibration: false-positive rate %.3g, recall %.3f", at->rate,
        at->recall);
  }
  if (self->rates != NULL) {
    const CuvTrainRate rate = self->written[CUV_DATASET_TEST];

    g_string_append_printf (text,
        "; %u pictures kept out: recall %.3f (%.3f .. %.3f), %.3g false "
        "positives per picture",
        self->found->n_pictures, rate.recall.value, rate.recall.low,
        rate.recall.high, rate.false_positives);
  }
  return g_string_free (text, FALSE);
}

static gboolean
write_channels (const Results *self, const gchar *comment, GError **error)
{
  const CuvWaldboostModel *model = results_model (self);
  const gboolean ok = cuv_train_save_channels (
      model->channels, self->options->output, comment, error);

  cuv_model_unref (model);
  return ok;
}

static gboolean
write_model (const Results *self, GError **error)
{
  gchar *comment = describe_model (self);
  const gboolean ok = self->channels != NULL
      ? write_channels (self, comment, error)
      : cuv_train_save (
          &self->classifier, self->options->output, comment, error);

  g_free (comment);
  return ok;
}

gboolean
write_and_measure (Results *self, GError **error)
{
  if (!results_set_threshold (self))
    return learn_fail (CUV_TRAIN_NO_MEMORY, error);
  if (!write_model (self, error))
    return FALSE;
  return results_measure (self) || learn_fail (CUV_TRAIN_NO_MEMORY, error);
}

gboolean
write_end (Results *self, GError **error)
{
  const gboolean reports = self->options->report != NULL;

  if (reports && !results_examine (self))
    return learn_fail (CUV_TRAIN_NO_MEMORY, error);
  results_print (self);
  return write_model (self, error)
      && (!reports
          || (report_write_json (self, error)
              && report_write_page (self, error)));
}
