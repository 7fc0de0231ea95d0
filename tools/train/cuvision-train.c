/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Trains a boosted detector. */
#include "config.h"
#include "train-tool.h"

#include <errno.h>
#include <locale.h>
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

/* Before the work: whoever waited for a model wants to have it. */
static gboolean
check_places (const TrainOptions *options, GError **error)
{
  gchar *folder = g_path_get_dirname (options->output);
  gboolean ok = is_writable (folder, error);

  g_free (folder);
  if (ok && g_file_test (options->output, G_FILE_TEST_IS_DIR)) {
    g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_ISDIR,
        "--output names the folder '%s' instead of a file", options->output);
    return FALSE;
  }
  if (!ok || options->report == NULL)
    return ok;
  if (g_mkdir_with_parents (options->report, 0777) == 0)
    return is_writable (options->report, error);
  g_set_error (error, G_FILE_ERROR, (gint) g_file_error_from_errno (errno),
      "cannot make the folder '%s': %s", options->report, g_strerror (errno));
  return FALSE;
}

/* ---- training ---- */

static gboolean
add_samples (Results *self, CuvTrainer *trainer)
{
  const CuvTrainParams *params = &self->options->train;

  self->too_small = cuv_dataset_feed (
      self->inputs->dataset, trainer, params, &self->options->samples);
  if (self->too_small > 0)
    g_printerr ("skipped: %d objects are smaller than the window of %d x %d; "
                "--window makes it smaller\n",
        self->too_small, params->window_width, params->window_height);
  return self->too_small >= 0;
}

#define LINE_INTERVAL (20 * G_USEC_PER_SEC) /* of a log */

typedef struct {
  gint64 start, last; /* a line was printed */
  gint n_first;       /* weak classifiers at the start */
  gboolean terminal;
} Progress;

/* On a terminal a line that is written again and again. */
static void
print_progress (
    Progress *self, const CuvTrainProgress *at, const CuvTrainParams *params)
{
  const gint64 now = g_get_monotonic_time ();
  const gdouble seconds = (gdouble) (now - self->start) / G_USEC_PER_SEC;

  if (!self->terminal && now - self->last < LINE_INTERVAL)
    return;
  self->last = now;
  g_printerr ("%s%d of %d weak classifiers, false-positive rate %.2g, recall "
              "%.3f, %d + %d samples, %.0f s left%s",
      self->terminal ? "\r" : "", at->n_weak, params->n_weak, at->rate,
      at->recall, at->alive[CUV_TRAIN_LEARNING][1],
      at->alive[CUV_TRAIN_LEARNING][0],
      seconds / (at->n_weak - self->n_first) * (params->n_weak - at->n_weak),
      self->terminal ? "\033[K" : "\n");
}

static gboolean
fail (CuvTrainState state, GError **error)
{
  g_set_error_literal (error, G_FILE_ERROR,
      state == CUV_TRAIN_NO_SPACE ? G_FILE_ERROR_NOSPC : G_FILE_ERROR_NOMEM,
      cuv_train_describe_end (state));
  return FALSE;
}

static gboolean
learn (
    Results *self, CuvTrainer *trainer, StateFile *state_file, GError **error)
{
  Progress progress = { .start = g_get_monotonic_time (),
    .n_first = cuv_trainer_classifier (trainer).n_weak,
    .terminal = isatty (STDERR_FILENO) };
  CuvTrainState state;
  gboolean ok = TRUE;

  progress.last = progress.start;
  for (gint n = 1; n <= progress.n_first; n++) {
    const CuvTrainProgress at = cuv_trainer_progress_after (trainer, n);

    g_array_append_val (self->progress, at);
  }
  while (ok && (state = cuv_trainer_step (trainer)) == CUV_TRAIN_CONTINUE) {
    const CuvTrainProgress at = cuv_trainer_progress (trainer);

    g_array_append_val (self->progress, at);
    ok = state_file_add (state_file, error);
    print_progress (&progress, &at, &self->options->train);
  }
  if (progress.terminal && self->progress->len > 0)
    g_printerr ("\n");
  if (ok && (state == CUV_TRAIN_NO_MEMORY || state == CUV_TRAIN_NO_SPACE))
    return fail (state, error);
  self->end = g_strdup (cuv_train_describe_end (state));
  return ok;
}

/* ---- the result ---- */

/* It has no date, so that the same samples give the same file. */
static gboolean
write_model (const Results *self, GError **error)
{
  const CuvTrainParams *params = &self->options->train;
  gchar *comment = g_strdup_printf ("made by cuvision-train " VERSION
                                    ", seed %" G_GINT64_FORMAT,
      (gint64) params->seed);
  const gboolean ok =
      cuv_train_save (&self->classifier, self->options->output, comment, error);

  g_free (comment);
  return ok;
}

/* The model is there before it is measured. */
static gboolean
finish (Results *self, GError **error)
{
  if (!write_model (self, error))
    return FALSE;
  if (!results_measure (self))
    return fail (CUV_TRAIN_NO_MEMORY, error);
  results_print (self);
  return self->options->report == NULL
      || (report_write_json (self, error) && report_write_page (self, error));
}

/* The state is kept until the report is there. */
static gboolean
train_with (Results *self, CuvTrainer *trainer, GError **error)
{
  const gint64 start = g_get_monotonic_time ();
  StateFile *state_file =
      state_file_new (trainer, self->options->output, error);
  gboolean ok = state_file != NULL && learn (self, trainer, state_file, error);

  self->seconds = (gdouble) (g_get_monotonic_time () - start) / G_USEC_PER_SEC;
  self->classifier = cuv_trainer_classifier (trainer);
  ok = ok && finish (self, error);
  if (ok)
    state_file_remove (state_file);
  state_file_free (state_file);
  return ok;
}

static gboolean
train (Results *self, GError **error)
{
  CuvTrainer *trainer = cuv_trainer_new (&self->options->train);
  gboolean ok;

  if (trainer == NULL)
    return fail (CUV_TRAIN_NO_MEMORY, error);
  ok = add_samples (self, trainer)
      ? train_with (self, trainer, error)
      : fail (cuv_trainer_failure (trainer), error);
  cuv_trainer_free (trainer);
  return ok;
}

static gboolean
run (const TrainOptions *options, GError **error)
{
  TrainInputs *inputs = check_places (options, error)
          && state_file_check (options->output, options->resume, error)
      ? inputs_read (&options->inputs, error)
      : NULL;
  Results results = { .options = options, .inputs = inputs };
  gboolean ok;

  if (inputs == NULL)
    return FALSE;
  results.progress = g_array_new (FALSE, FALSE, sizeof (CuvTrainProgress));
  ok = train (&results, error);
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
  options = options_parse (&argc, &argv);
  if (options == NULL)
    return 2;
  if (run (options, &error))
    return 0;
  g_printerr ("cuvision-train: %s\n", error->message);
  g_error_free (error);
  return 1;
}
