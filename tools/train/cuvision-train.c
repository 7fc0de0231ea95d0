/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The program, one step after the other. */
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

static gboolean
finish (Results *self, gpointer data, GError **error)
{
  return write_and_measure (self, error) && write_end (self, error);
}

static gboolean
train_one (
    const TrainOptions *options, const TrainInputs *inputs, GError **error)
{
  const TrainOptions filled = options_for (options, options->train.feature);
  Results self;
  gboolean ok;

  results_init (&self, &filled, inputs);
  self.choice = g_strdup (options->decision);
  if (self.choice != NULL)
    g_print ("%s\n", self.choice);
  ok = learn_check (&self, error)
      && (filled.train.feature == CUV_FEATURE_CHANNELS
              ? learn_channels (&self, finish, NULL, error)
              : learn_grid (&self, finish, NULL, error));
  results_clear (&self);
  return ok;
}

/* Samples of a .vec are grey. */
static gboolean
train_grey (
    const TrainOptions *options, const TrainInputs *inputs, GError **error)
{
  TrainOptions grey = *options;

  grey.decision = "took lbp: the samples of a .vec have no colour";
  return train_one (&grey, inputs, error);
}

static gboolean
train_run (const TrainOptions *options, GError **error)
{
  TrainInputs *inputs = device_check (options->device, error)
          && check_places (options, error)
          && state_file_check (options->output, options->resume, error)
      ? inputs_read (&options->inputs, error)
      : NULL;
  gboolean ok;

  if (inputs == NULL)
    return FALSE;
  if (!options->both)
    ok = train_one (options, inputs, error);
  else if (inputs->keep == CUV_STORE_GREY)
    ok = train_grey (options, inputs, error);
  else
    ok = choose_run (options, inputs, error);
  if (ok)
    state_files_remove (options->output);
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
