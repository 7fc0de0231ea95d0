/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "sink/gstwaldboosttraining.h"

#include <math.h>

enum {
  MAX_SHORT_SIDE = 24, /* pixels, of an automatic window; see choose_window() */
  MAX_LONG_SIDE = 48,
};

GstWaldboostTraining *
gst_waldboost_training_new (GstElement *element, CuvDataset *dataset,
    const GstWaldboostTrainingOptions *options)
{
  GstWaldboostTraining *self = g_new (GstWaldboostTraining, 1);

  *self = (GstWaldboostTraining){ element, dataset, *options };
  return self;
}

void
gst_waldboost_training_free (GstWaldboostTraining *self)
{
  g_free (self->options.model);
  g_free (self);
}

/* ---- the window ---- */

/* Sizes of the boxes with their margin, gdouble in ascending order. */
typedef struct {
  GArray *widths, *heights, *aspects; /* width / height */
} Sizes;

static gint
compare_sizes (gconstpointer a, gconstpointer b)
{
  const gdouble x = *(const gdouble *) a, y = *(const gdouble *) b;

  return (x > y) - (x < y);
}

static void
add_sizes (Sizes *self, const CuvDatasetPicture *picture, gdouble margin)
{
  for (guint i = 0; i < picture->objects->len; i++) {
    const CuvTrainBox *box = &g_array_index (picture->objects, CuvTrainBox, i);
    const gdouble width = box->width * (1 + 2 * margin);
    const gdouble height = box->height * (1 + 2 * margin);
    const gdouble aspect = width / height;

    g_array_append_val (self->widths, width);
    g_array_append_val (self->heights, height);
    g_array_append_val (self->aspects, aspect);
  }
}

static Sizes
sizes_new (const CuvDataset *dataset, gdouble margin)
{
  Sizes self = { g_array_new (FALSE, FALSE, sizeof (gdouble)),
    g_array_new (FALSE, FALSE, sizeof (gdouble)),
    g_array_new (FALSE, FALSE, sizeof (gdouble)) };

  for (gint role = 0; role < CUV_DATASET_N_ROLES; role++) {
    const GPtrArray *pictures = dataset->roles[role];

    for (guint i = 0; i < pictures->len; i++)
      add_sizes (&self, pictures->pdata[i], margin);
  }
  g_array_sort (self.widths, compare_sizes);
  g_array_sort (self.heights, compare_sizes);
  g_array_sort (self.aspects, compare_sizes);
  return self;
}

static void
sizes_clear (Sizes *self)
{
  g_array_unref (self->widths);
  g_array_unref (self->heights);
  g_array_unref (self->aspects);
}

/* The quantile of the sizes: this share of the boxes is smaller. */
static gdouble
quantile (const GArray *sizes, gdouble share)
{
  return g_array_index (
      sizes, gdouble, (guint) (share * (gdouble) (sizes->len - 1)));
}

static gint
side (gdouble size)
{
  return CLAMP ((gint) size, CUV_TRAIN_MIN_WINDOW, CUV_TRAIN_MAX_WINDOW);
}

/* Chooses a window as large as nine tenths of the boxes allow, up to
 * MAX_SHORT_SIDE and MAX_LONG_SIDE. */
static void
choose_window (CuvTrainParams *params, const Sizes *sizes)
{
  const gdouble aspect = quantile (sizes->aspects, 0.5);
  gdouble height;

  if (params->window_width > 0 && params->window_height > 0)
    return;
  if (params->window_width > 0) {
    params->window_height = side (rint (params->window_width / aspect));
    return;
  }
  if (params->window_height > 0) {
    params->window_width = side (rint (params->window_height * aspect));
    return;
  }
  height =
      MIN (MAX_SHORT_SIDE / MIN (aspect, 1), MAX_LONG_SIDE / MAX (aspect, 1));
  height = MIN (height,
      MIN (quantile (sizes->heights, 0.1),
          quantile (sizes->widths, 0.1) / aspect));
  params->window_width = side (rint (height * aspect));
  params->window_height = side (rint (height));
}

/* ---- learning ---- */

static gboolean
is_stopped (const GstWaldboostTraining *self)
{
  return g_atomic_int_get (&self->dataset->stop);
}

static gboolean
set_no_memory (GError **error)
{
  g_set_error_literal (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_FAILED,
      "Out of memory: lower max-frames, negative-samples, copies or the window "
      "size");
  return FALSE;
}

static gboolean
set_no_space (GError **error)
{
  g_set_error_literal (error, GST_RESOURCE_ERROR,
      GST_RESOURCE_ERROR_NO_SPACE_LEFT,
      "No space for the samples: set TMPDIR to a folder with more space, or "
      "lower negative-samples or copies");
  return FALSE;
}

static gboolean
has_memory (
    const GstWaldboostTraining *self, const Sizes *sizes, GError **error)
{
  const CuvTrainParams *params = &self->options.params;
  const gdouble width = quantile (sizes->widths, 1);
  const gdouble height = quantile (sizes->heights, 1);

  if (width >= params->window_width || height >= params->window_height)
    return TRUE;
  g_set_error (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
      "The window of %dx%d is larger than all boxes: with their margin they "
      "are at most %.0f wide and %.0f high. Lower window-width and "
      "window-height",
      params->window_width, params->window_height, width, height);
  return FALSE;
}

static GstStructure *
message_new (const gchar *state, const CuvTrainProgress *at, gdouble seconds)
{
  return gst_structure_new ("waldboosttrain", "state", G_TYPE_STRING, state,
      "weak", G_TYPE_UINT, (guint) at->n_weak, "false-positive-rate",
      G_TYPE_DOUBLE, at->rate, "positives", G_TYPE_UINT,
      (guint) at->alive[CUV_TRAIN_LEARNING][1], "negatives", G_TYPE_UINT,
      (guint) at->alive[CUV_TRAIN_LEARNING][0], "seconds", G_TYPE_DOUBLE,
      seconds, NULL);
}

static gdouble
seconds_since (gint64 start)
{
  return (gdouble) (g_get_monotonic_time () - start) / G_USEC_PER_SEC;
}

static void
post_progress (
    const GstWaldboostTraining *self, const CuvTrainer *trainer, gint64 start)
{
  const CuvTrainProgress at = cuv_trainer_progress (trainer);
  const gdouble seconds = seconds_since (start);
  const gint n_left = self->options.params.n_weak - at.n_weak;
  GstStructure *message = message_new ("learning", &at, seconds);

  gst_structure_set (message, "seconds-left", G_TYPE_DOUBLE,
      seconds / MAX (at.n_weak, 1) * n_left, NULL);
  gst_element_post_message (self->element,
      gst_message_new_element (GST_OBJECT (self->element), message));
}

static CuvTrainState
learn_model (
    const GstWaldboostTraining *self, CuvTrainer *trainer, gint64 start)
{
  const gint64 interval =
      self->options.progress_interval * G_TIME_SPAN_MILLISECOND;
  gint64 due = start + interval;
  CuvTrainState state = CUV_TRAIN_CONTINUE;

  while (state == CUV_TRAIN_CONTINUE && !is_stopped (self)) {
    state = cuv_trainer_step (trainer);
    if (interval == 0 || g_get_monotonic_time () < due)
      continue;
    post_progress (self, trainer, start);
    due = g_get_monotonic_time () + interval;
  }
  return state;
}

/* Returns FALSE if there is no model to write. */
static gboolean
check_end (CuvTrainState state, gint n_weak, GError **error)
{
  if (state == CUV_TRAIN_NO_MEMORY)
    return set_no_memory (error);
  if (state == CUV_TRAIN_NO_SPACE)
    return set_no_space (error);
  if (state != CUV_TRAIN_NO_POSITIVES && n_weak > 0)
    return TRUE;
  if (state == CUV_TRAIN_NO_POSITIVES)
    g_set_error_literal (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED,
        "No regions are left to learn from: the model rejects all of them. "
        "Check that they show the object, or lower alpha");
  else
    g_set_error_literal (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED,
        "There are no negatives: regions cover the frames. Draw smaller "
        "regions, or set negative-frames=all");
  return FALSE;
}

/* ---- the result ---- */

/* Recall and false positives at the model's threshold. */
static void
set_rates (GstStructure *message, const GArray *rates)
{
  const CuvTrainRate rate = cuv_train_rate_at (rates, HUGE_VAL);

  gst_structure_set (message, "recall", G_TYPE_DOUBLE, rate.recall.value,
      "recall-low", G_TYPE_DOUBLE, rate.recall.low, "recall-high",
      G_TYPE_DOUBLE, rate.recall.high, "false-positives", G_TYPE_DOUBLE,
      rate.false_positives, NULL);
}

/* The numbers of frames and of regions that the model was trained with. */
static void
set_counts (GstStructure *message, const CuvDataset *dataset)
{
  guint n_frames = 0, n_objects = 0;

  for (gint role = 0; role < CUV_DATASET_N_ROLES; role++) {
    const GPtrArray *pictures = dataset->roles[role];

    n_frames += pictures->len;
    for (guint i = 0; i < pictures->len; i++)
      n_objects +=
          ((const CuvDatasetPicture *) pictures->pdata[i])->objects->len;
  }
  gst_structure_set (message, "frames", G_TYPE_UINT, n_frames, "objects",
      G_TYPE_UINT, n_objects, NULL);
}

/* Returns NULL if memory runs out. */
static GstStructure *
describe_model (const GstWaldboostTraining *self, const CuvTrainer *trainer,
    const CuvGridClassifier *classifier)
{
  const CuvTrainProgress at = cuv_trainer_progress (trainer);
  const CuvWaldboostModel *model = cuv_model_new (classifier);
  gdouble weak_per_window;
  GArray *rates = model != NULL ? cuv_dataset_measure (self->dataset, model,
                      &self->options.samples, &weak_per_window)
                                : NULL;
  GstStructure *message = NULL;

  if (rates != NULL) {
    message = message_new ("done", &at, 0);
    gst_structure_set (message, "model", G_TYPE_STRING, self->options.model,
        "window-width", G_TYPE_UINT, (guint) classifier->window_width,
        "window-height", G_TYPE_UINT, (guint) classifier->window_height,
        "weak-per-window", G_TYPE_DOUBLE, weak_per_window, NULL);
    set_counts (message, self->dataset);
    set_rates (message, rates);
    g_array_unref (rates);
  }
  if (model != NULL)
    cuv_model_unref (model);
  return message;
}

static gboolean
save (const GstWaldboostTraining *self, const CuvGridClassifier *classifier,
    GError **error)
{
  gchar *comment = g_strdup_printf ("made by waldboosttrain " VERSION
                                    ", seed %" G_GUINT64_FORMAT,
      self->options.params.seed);
  GError *problem = NULL;
  gboolean ok =
      cuv_train_save (classifier, self->options.model, comment, &problem);

  g_free (comment);
  if (ok)
    return TRUE;
  g_set_error (error, GST_RESOURCE_ERROR,
      g_error_matches (problem, G_FILE_ERROR, G_FILE_ERROR_NOSPC)
          ? GST_RESOURCE_ERROR_NO_SPACE_LEFT
          : GST_RESOURCE_ERROR_WRITE,
      "The model '%s' cannot be written: %s", self->options.model,
      problem->message);
  g_error_free (problem);
  return FALSE;
}

static GstStructure *
finish_training (const GstWaldboostTraining *self, const CuvTrainer *trainer,
    CuvTrainState state, GError **error)
{
  CuvGridClassifier classifier = cuv_trainer_classifier (trainer);
  GstStructure *message;

  if (!check_end (state, classifier.n_weak, error))
    return NULL;
  if (!cuv_dataset_raise_threshold (self->dataset, &classifier,
          &self->options.samples, self->options.false_positives,
          self->options.params.alpha)) {
    set_no_memory (error);
    return NULL;
  }
  if (is_stopped (self) || !save (self, &classifier, error))
    return NULL;
  message = describe_model (self, trainer, &classifier);
  if (message == NULL)
    set_no_memory (error);
  else
    gst_structure_set (
        message, "end", G_TYPE_STRING, cuv_train_describe_end (state), NULL);
  return message;
}

/* ---- a whole training: prepare, feed, learn ---- */

/* Returns NULL with an error. */
static CuvTrainer *
feed (const GstWaldboostTraining *self, gint *too_small, GError **error)
{
  const CuvTrainParams *params = &self->options.params;
  CuvTrainer *trainer = cuv_trainer_new (params);

  *too_small = trainer != NULL ? cuv_dataset_feed (
                   self->dataset, trainer, params, &self->options.samples)
                               : -1;
  if (*too_small >= 0)
    return trainer;
  if (trainer != NULL && cuv_trainer_failure (trainer) == CUV_TRAIN_NO_SPACE)
    set_no_space (error);
  else
    set_no_memory (error);
  cuv_trainer_free (trainer);
  return NULL;
}

static gboolean
prepare (GstWaldboostTraining *self, GError **error)
{
  Sizes sizes = sizes_new (self->dataset, self->options.samples.margin);
  gboolean ok;

  choose_window (&self->options.params, &sizes);
  ok = has_memory (self, &sizes, error);
  sizes_clear (&sizes);
  return ok;
}

GstStructure *
gst_waldboost_training_run (GstWaldboostTraining *self, GError **error)
{
  const gint64 start = g_get_monotonic_time ();
  GstStructure *message = NULL;
  CuvTrainState state;
  CuvTrainer *trainer;
  gint too_small;

  if (!prepare (self, error))
    return NULL;
  trainer = feed (self, &too_small, error);
  if (trainer == NULL)
    return NULL;
  state = learn_model (self, trainer, start);
  if (!is_stopped (self))
    message = finish_training (self, trainer, state, error);
  cuv_trainer_free (trainer);
  if (message != NULL)
    gst_structure_set (message, "too-small", G_TYPE_UINT, (guint) too_small,
        "seconds", G_TYPE_DOUBLE, seconds_since (start), NULL);
  if (is_stopped (self))
    g_clear_pointer (&message, gst_structure_free);
  return message;
}
