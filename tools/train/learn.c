/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The training loop: adds samples, then weak classifiers until training ends.
 */
#include "train-tool.h"

#include <unistd.h>

G_DEFINE_QUARK (cuvision - train - learn - error, learn_error)

gboolean
learn_fail (CuvTrainState state, GError **error)
{
  g_set_error_literal (error, G_FILE_ERROR,
      state == CUV_TRAIN_NO_SPACE ? G_FILE_ERROR_NOSPC : G_FILE_ERROR_NOMEM,
      cuv_train_describe_end (state));
  return FALSE;
}

/* ---- samples ---- */

/* Counts the objects of a role that are at least as large as the window.
 * Updates *largest to the largest object. */
static guint
count_usable (const Results *self, CuvDatasetRole role, CuvTrainBox *largest)
{
  const CuvTrainParams *params = &self->options->train;
  const GPtrArray *pictures = self->inputs->dataset->roles[role];
  guint n = 0;

  for (guint i = 0; i < pictures->len; i++) {
    const CuvDatasetPicture *picture = pictures->pdata[i];

    for (guint k = 0; k < picture->objects->len; k++) {
      const CuvTrainBox *object =
          &g_array_index (picture->objects, CuvTrainBox, k);
      const CuvTrainBox box =
          cuv_sample_box (object, self->options->samples.margin,
              params->window_width, params->window_height);

      n += box.width >= params->window_width || picture->is_window;
      if (object->width * object->height > largest->width * largest->height)
        *largest = *object;
    }
  }
  return n;
}

gboolean
learn_check (const Results *self, GError **error)
{
  const CuvTrainParams *params = &self->options->train;
  CuvTrainBox largest = { 0 };
  const guint learning = count_usable (self, CUV_DATASET_LEARNING, &largest);
  const guint calibration =
      count_usable (self, CUV_DATASET_CALIBRATION, &largest);

  if (learning > 0 && calibration > 0)
    return TRUE;
  g_set_error (error, LEARN_ERROR, 0,
      "%s smaller than the window of %d x %d (the largest is %g x %g pixels): "
      "choose a smaller --window",
      learning + calibration == 0 ? "all objects are"
                                  : "too few objects remain: most are",
      params->window_width, params->window_height, largest.width,
      largest.height);
  return FALSE;
}

/* Returns FALSE on failure: see cuv_trainer_failure(). */
static gboolean
learn_add_samples (Results *self, CuvTrainer *trainer)
{
  const CuvTrainParams *params = &self->options->train;

  CuvDataset *dataset = self->inputs->dataset;
  Progress *progress =
      progress_begin ("cropping objects, pictures done", &dataset->n_scanned,
          dataset->roles[CUV_DATASET_LEARNING]->len
              + dataset->roles[CUV_DATASET_CALIBRATION]->len);

  self->too_small =
      cuv_dataset_feed (dataset, trainer, params, &self->options->samples);
  progress_end (progress);
  if (self->too_small > 0)
    g_printerr ("skipped: %d objects are smaller than the window of %d x %d: "
                "choose a smaller --window to use them\n",
        self->too_small, params->window_width, params->window_height);
  return self->too_small >= 0;
}

/* ---- the progress line ---- */

typedef struct {
  gint64 start, last; /* last: when a line was printed */
  gint n_first;       /* weak classifiers at the start */
  gboolean terminal;
} Line;

/* Prints the progress; on a terminal it overwrites the same line. */
static void
print_progress (
    Line *self, const CuvTrainProgress *at, const CuvTrainParams *params)
{
  const gint64 now = g_get_monotonic_time ();
  const gdouble seconds = (gdouble) (now - self->start) / G_USEC_PER_SEC;

  if (!self->terminal && now - self->last < options_progress_interval ())
    return;
  self->last = now;
  g_printerr ("%s%d of %d weak classifiers, false-positive rate %.2g, recall "
              "%.3f, %d positive and %d negative samples, %.0f s left, then "
              "measuring%s",
      self->terminal ? "\r" : "", at->n_weak, params->n_weak, at->rate,
      at->recall, at->alive[CUV_TRAIN_LEARNING][1],
      at->alive[CUV_TRAIN_LEARNING][0],
      seconds / (at->n_weak - self->n_first) * (params->n_weak - at->n_weak),
      self->terminal ? "\033[K" : "\n");
}

/* ---- the end ---- */

static gboolean
count_negatives (const Results *self, CuvDatasetRole role, guint64 *n_negatives)
{
  const CuvWaldboostModel *model = cuv_model_new (&self->classifier);
  CuvDataset *dataset = self->inputs->dataset;
  CuvWindowRates rates;
  Progress *progress = progress_begin ("counting windows, pictures scanned",
      &dataset->n_scanned, 2 * dataset->roles[role]->len);
  const gboolean ok = cuv_dataset_window_rates (
      dataset, role, model, &self->options->samples, &rates);

  progress_end (progress);
  cuv_model_unref (model);
  *n_negatives = rates.n_negatives;
  return ok;
}

/* Sets self->end to "done", or "all 3417202 windows of the negatives are
 * rejected". */
static gboolean
describe_end (Results *self, CuvTrainState state)
{
  const CuvTrainParams *params = &self->options->train;
  const gboolean uncalibrated = state == CUV_TRAIN_DONE && params->rate == 0
      && self->classifier.n_weak < params->n_weak;
  guint64 n;

  if (state != CUV_TRAIN_NO_NEGATIVES && !uncalibrated) {
    self->end = g_strdup (cuv_train_describe_end (state));
    return TRUE;
  }
  if (!count_negatives (self,
          uncalibrated ? CUV_DATASET_CALIBRATION : CUV_DATASET_LEARNING, &n))
    return FALSE;
  self->end = g_strdup_printf ("all %" G_GUINT64_FORMAT
                               " windows of the %snegatives are rejected",
      n, uncalibrated ? "calibration " : "");
  return TRUE;
}

/* A classifier without weak classifiers rejects nothing: that is an error. */
static gboolean
learn_end (Results *self, const CuvTrainer *trainer, CuvTrainState state,
    GError **error)
{
  self->classifier = cuv_trainer_classifier (trainer);
  if (state == CUV_TRAIN_NO_MEMORY || state == CUV_TRAIN_NO_SPACE)
    return learn_fail (state, error);
  if (state == CUV_TRAIN_NO_DEVICE) {
    device_set_error (cuv_trainer_problem (trainer), error);
    return FALSE;
  }
  if (self->classifier.n_weak == 0) {
    g_set_error (error, LEARN_ERROR, 0, "there is nothing to learn: %s",
        cuv_train_describe_end (state));
    return FALSE;
  }
  return describe_end (self, state) || learn_fail (CUV_TRAIN_NO_MEMORY, error);
}

/* ---- weak classifiers ---- */

/* Adds the progress of the weak classifiers that --resume restored. */
static gint
add_earlier (Results *self, const CuvTrainer *trainer)
{
  const gint n_earlier = cuv_trainer_classifier (trainer).n_weak;

  for (gint n = 1; n <= n_earlier; n++) {
    const CuvTrainProgress at = cuv_trainer_progress_after (trainer, n);

    g_array_append_val (self->progress, at);
  }
  return n_earlier;
}

static CuvTrainState
learn_step (const Results *self, CuvTrainer *trainer)
{
  Progress *progress =
      progress_begin ("next weak classifier, pictures scanned for negatives",
          &self->inputs->dataset->n_scanned, 0);
  const CuvTrainState state = device_step (self->options->device, trainer);

  progress_end (progress);
  return state;
}

static gboolean
learn_run (
    Results *self, CuvTrainer *trainer, StateFile *state_file, GError **error)
{
  const gint64 start = g_get_monotonic_time ();
  const CuvProcessor processor = device_processor (self->options->device);
  Line line = { start, start, add_earlier (self, trainer),
    isatty (STDERR_FILENO) };
  CuvTrainState state;
  gboolean ok = TRUE;

  cuv_trainer_set_processor (trainer, &processor);
  while (ok && (state = learn_step (self, trainer)) == CUV_TRAIN_CONTINUE) {
    const CuvTrainProgress at = cuv_trainer_progress (trainer);

    g_array_append_val (self->progress, at);
    ok = state_file_add (state_file, error);
    print_progress (&line, &at, &self->options->train);
  }
  if (line.terminal && self->progress->len > 0)
    g_printerr ("\n");
  self->seconds = (gdouble) (g_get_monotonic_time () - start) / G_USEC_PER_SEC;
  return ok && learn_end (self, trainer, state, error);
}

/* ---- the state ---- */

static gsize
size_of_record (gpointer data)
{
  return cuv_trainer_record_size (data);
}

static void
save_header (gpointer data, guint8 *bytes)
{
  cuv_trainer_save_header (data, bytes);
}

static void
save_record (gpointer data, guint8 *bytes)
{
  cuv_trainer_save_record (
      data, cuv_trainer_classifier (data).n_weak - 1, bytes);
}

static gsize
restore (
    gpointer data, const guint8 *bytes, gsize size, gint *n, gchar *problem)
{
  const gsize used = cuv_trainer_restore (data, bytes, size, problem);

  *n = cuv_trainer_classifier (data).n_weak;
  return used;
}

const StateKind state_of_patterns = { ".state", CUV_TRAIN_HEADER,
  size_of_record, save_header, save_record, restore };

gboolean
learn_close (StateFile *state_file, GError *problem, GError **error)
{
  if (problem != NULL && problem->domain == LEARN_ERROR)
    state_file_remove (state_file); /* there is nothing to continue */
  state_file_free (state_file);
  if (problem != NULL)
    g_propagate_error (error, problem);
  return problem == NULL;
}

/* ---- from samples to a file ---- */

static gboolean
learn_with (Results *self, CuvTrainer *trainer, LearnFinish finish,
    gpointer data, GError **error)
{
  StateFile *state_file = state_file_new (
      &state_of_patterns, trainer, self->options->output, error);
  GError *problem = NULL;

  if (state_file == NULL)
    return FALSE;
  if (learn_run (self, trainer, state_file, &problem))
    finish (self, data, &problem);
  return learn_close (state_file, problem, error);
}

gboolean
learn_grid (Results *self, LearnFinish finish, gpointer data, GError **error)
{
  CuvTrainer *trainer = cuv_trainer_new (&self->options->train);
  gboolean ok;

  if (trainer == NULL)
    return learn_fail (CUV_TRAIN_NO_MEMORY, error);
  ok = learn_add_samples (self, trainer)
      ? learn_with (self, trainer, finish, data, error)
      : learn_fail (cuv_trainer_failure (trainer), error);
  cuv_trainer_free (trainer);
  return ok;
}
