/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The program, one step after the other. */
#include "config.h"
#include "train-tool.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <unistd.h>

/* ---- places to write to ---- */

static gboolean
is_writable (const gchar *folder, GError **error)
{
  if (access (folder, W_OK | X_OK) == 0)
    return TRUE;
  g_set_error (error, G_FILE_ERROR, (gint) g_file_error_from_errno (errno),
      "cannot write to '%s': %s", folder, g_strerror (errno));
  return FALSE;
}

/* Checks before the work that the model and the report can be written. */
static gboolean
check_places (const TrainOptions *options, GError **error)
{
  gchar *folder = g_path_get_dirname (options->output);
  gboolean ok = is_writable (folder, error);

  g_free (folder);
  if (ok && g_file_test (options->output, G_FILE_TEST_EXISTS)
      && !g_file_test (options->output, G_FILE_TEST_IS_REGULAR)) {
    g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_ISDIR,
        "--output '%s' exists and is not a regular file", options->output);
    return FALSE;
  }
  if (!ok || options->report == NULL)
    return ok;
  if (g_mkdir_with_parents (options->report, 0777) == 0)
    return is_writable (options->report, error);
  g_set_error (error, G_FILE_ERROR, (gint) g_file_error_from_errno (errno),
      "cannot create the folder '%s': %s", options->report, g_strerror (errno));
  return FALSE;
}

/* ---- the steps ---- */

/* The comment in the model. Without a date, so that the same samples give the
 * same file. */
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
        "; in calibration false-positive rate %.3g, recall %.3f", at->rate,
        at->recall);
  }
  if (self->rates != NULL) {
    const CuvTrainRate rate = self->written[CUV_DATASET_TEST];

    g_string_append_printf (text,
        "; in %u pictures kept out recall %.3f (%.3f .. %.3f) with %.3g false "
        "positives a picture",
        self->found->n_pictures, rate.recall.value, rate.recall.low,
        rate.recall.high, rate.false_positives);
  }
  return g_string_free (text, FALSE);
}

static gboolean
write_channels (const Results *self, const gchar *comment, GError **error)
{
  const CuvWaldboostModel *model = results_model (self);
  char *text = cuv_channels_model_write (model->channels, comment);
  const gboolean ok = text != NULL
      ? g_file_set_contents (self->options->output, text, -1, error)
      : learn_fail (CUV_TRAIN_NO_MEMORY, error);

  free (text);
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

/* Writes the model before it is measured, and again with the rates. */
static gboolean
write_results (Results *self, GError **error)
{
  if (!results_set_threshold (self))
    return learn_fail (CUV_TRAIN_NO_MEMORY, error);
  if (!write_model (self, error))
    return FALSE;
  if (!results_measure (self))
    return learn_fail (CUV_TRAIN_NO_MEMORY, error);
  results_print (self);
  return write_model (self, error)
      && (self->options->report == NULL
          || (report_write_json (self, error)
              && report_write_page (self, error)));
}

/* Keeps the state until the report is written. */
static gboolean
train_with (Results *self, CuvTrainer *trainer, GError **error)
{
  StateFile *state_file =
      state_file_new (trainer, self->options->output, error);
  const gboolean ok = state_file != NULL
      && learn_run (self, trainer, state_file, error)
      && write_results (self, error);

  if (ok)
    state_file_remove (state_file);
  state_file_free (state_file);
  return ok;
}

static gboolean
train_grid (Results *self, GError **error)
{
  CuvTrainer *trainer = cuv_trainer_new (&self->options->train);
  gboolean ok;

  if (trainer == NULL)
    return learn_fail (CUV_TRAIN_NO_MEMORY, error);
  ok = learn_add_samples (self, trainer)
      ? train_with (self, trainer, error)
      : learn_fail (cuv_trainer_failure (trainer), error);
  cuv_trainer_free (trainer);
  return ok;
}

static gboolean
train (Results *self, GError **error)
{
  return self->options->train.feature == CUV_FEATURE_CHANNELS
      ? learn_channels (self, error) && write_results (self, error)
      : train_grid (self, error);
}

static gboolean
train_run (const TrainOptions *options, GError **error)
{
  TrainInputs *inputs = device_check (options->device, error)
          && check_places (options, error)
          && state_file_check (options->output, options->resume, error)
      ? inputs_read (&options->inputs, error)
      : NULL;
  Results results = { .options = options, .inputs = inputs };
  gboolean ok;

  if (inputs == NULL)
    return FALSE;
  results.progress = g_array_new (FALSE, FALSE, sizeof (CuvTrainProgress));
  ok = learn_check (&results, error) && train (&results, error);
  results_clear (&results);
  inputs_free (inputs);
  return ok;
}

int
main (int argc, char **argv)
{
  const TrainOptions *options;
  GError *error = NULL;

  setlocale (LC_ALL, "");
  setlocale (LC_NUMERIC, "C"); /* numbers are the same in every locale */
  options = options_parse (&argc, &argv);
  if (options == NULL)
    return 2;
  if (train_run (options, &error))
    return 0;
  g_printerr ("cuvision-train: %s\n", error->message);
  g_error_free (error);
  return 1;
}
