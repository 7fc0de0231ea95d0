/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstwaldboostlearner.h"

#include <math.h>

/* Maximum length in pixels of the shorter side of an automatic window; the
 * longer side may be twice as long. See choose_window(). */
enum { MAX_SHORT_SIDE = 24, CHANNELS_SHORT_SIDE = 32 };

/* Values for alpha=0, as in cuvision-train. */
#define ALPHA 0.02
#define CHANNELS_ALPHA 0.005

/* ---- the window ---- */

/* Sizes of the boxes with their margin, as gdouble in ascending order. */
typedef struct {
  GArray *widths, *heights, *aspects; /* aspects: width / height */
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

/* Returns the quantile of the sizes: this fraction of the boxes is smaller. */
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

/* Chooses the largest window that nine tenths of the boxes can fill, up to a
 * limit for each side. */
static void
choose_window (CuvTrainParams *params, const Sizes *sizes)
{
  const gboolean channels = params->feature == CUV_FEATURE_CHANNELS;
  const gint short_side = channels ? CHANNELS_SHORT_SIDE : MAX_SHORT_SIDE;
  const gint long_side = 2 * short_side;
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
  height = MIN (short_side / MIN (aspect, 1), long_side / MAX (aspect, 1));
  height = MIN (height,
      MIN (quantile (sizes->heights, 0.1),
          quantile (sizes->widths, 0.1) / aspect));
  params->window_width = side (rint (height * aspect));
  params->window_height = side (rint (height));
}

/* ---- messages ---- */

gboolean
gst_waldboost_learnt_no_memory (GError **error)
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
fits_objects (const CuvTrainParams *params, const Sizes *sizes, GError **error)
{
  const gdouble width = quantile (sizes->widths, 1);
  const gdouble height = quantile (sizes->heights, 1);

  if (width >= params->window_width || height >= params->window_height)
    return TRUE;
  g_set_error (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
      "The window of %dx%d is larger than all boxes, which are at most %.0f "
      "wide and %.0f high with their margins. Lower window-width and "
      "window-height",
      params->window_width, params->window_height, width, height);
  return FALSE;
}

const gchar *
gst_waldboost_learnt_name (const GstWaldboostLearnt *self)
{
  static const gchar *const names[] = { [CUV_FEATURE_LBP] = "lbp",
    [CUV_FEATURE_LRD] = "lrd",
    [CUV_FEATURE_LRP] = "lrp",
    [CUV_FEATURE_CHANNELS] = "channels" };

  return names[self->params.feature];
}

static gdouble
seconds_since (gint64 start)
{
  return (gdouble) (g_get_monotonic_time () - start) / G_USEC_PER_SEC;
}

GstStructure *
gst_waldboost_learnt_message (
    const GstWaldboostLearnt *self, const gchar *state)
{
  GstStructure *message = gst_structure_new ("waldboosttrain", "state",
      G_TYPE_STRING, state, "features", G_TYPE_STRING,
      gst_waldboost_learnt_name (self), "weak", G_TYPE_UINT, self->n_weak,
      "seconds", G_TYPE_DOUBLE, seconds_since (self->start), NULL);
  CuvTrainProgress at;

  if (self->trainer == NULL)
    return message;
  at = cuv_trainer_progress (self->trainer);
  gst_structure_set (message, "false-positive-rate", G_TYPE_DOUBLE, at.rate,
      "positives", G_TYPE_UINT, (guint) at.alive[CUV_TRAIN_LEARNING][1],
      "negatives", G_TYPE_UINT, (guint) at.alive[CUV_TRAIN_LEARNING][0], NULL);
  return message;
}

/* Posts a message about progress if one is due. n_all: number of weak
 * classifiers to learn. */
static void
progress (GstWaldboostLearnt *self, guint n_all)
{
  const gint64 interval = self->training->options.progress_interval
      * (gint64) G_TIME_SPAN_MILLISECOND;
  GstElement *element = self->training->element;
  GstStructure *message;

  if (self->due == 0)
    self->due = self->start + interval;
  if (interval == 0 || g_get_monotonic_time () < self->due)
    return;
  message = gst_waldboost_learnt_message (self, "learning");
  gst_structure_set (message, "seconds-left", G_TYPE_DOUBLE,
      seconds_since (self->start) / MAX (self->n_weak, 1)
          * (n_all - self->n_weak),
      NULL);
  gst_element_post_message (
      element, gst_message_new_element (GST_OBJECT (element), message));
  self->due = g_get_monotonic_time () + interval;
}

/* ---- patterns ---- */

static gboolean
is_over (const GstWaldboostLearnt *self)
{
  return gst_waldboost_training_is_stopped (self->training);
}

/* Checks why training ended. Returns FALSE if there is no model to write. */
static gboolean
check_end (CuvTrainState state, guint n_weak, GError **error)
{
  if (state == CUV_TRAIN_NO_MEMORY)
    return gst_waldboost_learnt_no_memory (error);
  if (state == CUV_TRAIN_NO_SPACE)
    return set_no_space (error);
  if (state != CUV_TRAIN_NO_POSITIVES && n_weak > 0)
    return TRUE;
  if (state == CUV_TRAIN_NO_POSITIVES)
    g_set_error_literal (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED,
        "No regions are left to learn from: the model rejects all of them. "
        "Check that the regions show the object, or lower alpha");
  else
    g_set_error_literal (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED,
        "No negatives were found: regions cover the frames. Draw smaller "
        "regions, or set negative-frames=all");
  return FALSE;
}

/* Passes the frames to a new trainer. Returns FALSE with an error. */
static gboolean
feed (GstWaldboostLearnt *self, GError **error)
{
  gint too_small = -1;

  self->trainer = cuv_trainer_new (&self->params);
  if (self->trainer != NULL)
    too_small = cuv_dataset_feed (
        self->training->dataset, self->trainer, &self->params, &self->samples);
  self->too_small = (guint) MAX (too_small, 0);
  if (too_small >= 0)
    return TRUE;
  return self->trainer != NULL
          && cuv_trainer_failure (self->trainer) == CUV_TRAIN_NO_SPACE
      ? set_no_space (error)
      : gst_waldboost_learnt_no_memory (error);
}

static gboolean
learn_patterns (GstWaldboostLearnt *self, GError **error)
{
  CuvTrainState state = CUV_TRAIN_CONTINUE;

  if (!feed (self, error))
    return FALSE;
  while (state == CUV_TRAIN_CONTINUE && !is_over (self)) {
    state = cuv_trainer_step (self->trainer);
    self->n_weak = (guint) cuv_trainer_progress (self->trainer).n_weak;
    progress (self, (guint) self->params.n_weak);
  }
  if (is_over (self))
    return FALSE;
  self->end = state;
  self->classifier = cuv_trainer_classifier (self->trainer);
  return check_end (state, self->n_weak, error);
}

/* ---- trees on channels ---- */

static bool
is_ended (void *data)
{
  return is_over (data);
}

static void
learnt (void *data, const CuvTrainTree *tree)
{
  GstWaldboostLearnt *self = data;
  const CuvTrainChannelsParams all =
      cuv_dataset_channels_params (&self->params);

  self->n_weak++;
  progress (self, (guint) cuv_train_channels_count (&all));
}

static CuvTrainState
state_of (CuvTrainChannelsState state)
{
  switch (state) {
    case CUV_TRAIN_CHANNELS_DONE:
    case CUV_TRAIN_CHANNELS_STOPPED:
      return CUV_TRAIN_DONE;
    case CUV_TRAIN_CHANNELS_NO_OBJECTS:
      return CUV_TRAIN_NO_POSITIVES;
    case CUV_TRAIN_CHANNELS_NO_NEGATIVES:
      return CUV_TRAIN_NO_NEGATIVES;
    case CUV_TRAIN_CHANNELS_NO_MEMORY:
      break;
  }
  return CUV_TRAIN_NO_MEMORY;
}

static gboolean
learn_channels (GstWaldboostLearnt *self, GError **error)
{
  const CuvTrainWatch watch = {
    .data = self, .is_stopped = is_ended, .learnt = learnt
  };
  CuvTrainChannelsParams params = cuv_dataset_channels_params (&self->params);

  params.trees.watch = &watch;
  self->end = state_of (cuv_dataset_train_channels (
      self->training->dataset, &params, &self->samples, &self->channels));
  self->params.window_width =
      params.shape.trees.columns * params.shape.trees.shrink;
  self->params.window_height =
      params.shape.trees.rows * params.shape.trees.shrink;
  self->n_weak = self->channels != NULL ? (guint) params.trees.n_trees : 0;
  return !is_over (self) && check_end (self->end, self->n_weak, error);
}

/* ---- both kinds of features ---- */

static gboolean
prepare (GstWaldboostLearnt *self, GError **error)
{
  const gboolean channels = self->params.feature == CUV_FEATURE_CHANNELS;
  gboolean ok;
  Sizes sizes;

  if (channels)
    self->samples.margin = 0;
  if (self->params.alpha == 0)
    self->params.alpha = channels ? CHANNELS_ALPHA : ALPHA;
  sizes = sizes_new (self->training->dataset, self->samples.margin);
  choose_window (&self->params, &sizes);
  ok = fits_objects (&self->params, &sizes, error);
  sizes_clear (&sizes);
  return ok;
}

gboolean
gst_waldboost_learn (GstWaldboostLearnt *self,
    const GstWaldboostTraining *training, CuvFeature feature, GError **error)
{
  *self = (GstWaldboostLearnt){ .training = training,
    .params = training->options.params,
    .samples = training->options.samples,
    .start = g_get_monotonic_time () };
  self->params.feature = feature;
  return prepare (self, error)
      && (feature == CUV_FEATURE_CHANNELS ? learn_channels (self, error)
                                          : learn_patterns (self, error));
}

void
gst_waldboost_learnt_clear (GstWaldboostLearnt *self)
{
  cuv_trainer_free (self->trainer);
  cuv_channels_model_free (self->channels);
  g_clear_pointer (&self->rates, g_array_unref);
}

const CuvWaldboostModel *
gst_waldboost_learnt_model (const GstWaldboostLearnt *self)
{
  return self->channels != NULL
      ? cuv_model_of_channels (cuv_channels_model_copy (self->channels))
      : cuv_model_new (&self->classifier);
}

gboolean
gst_waldboost_learnt_measure (GstWaldboostLearnt *self, GError **error)
{
  const CuvWaldboostModel *model = gst_waldboost_learnt_model (self);
  gdouble weak_per_window;

  if (model != NULL)
    self->rates = cuv_dataset_measure (
        self->training->dataset, model, &self->samples, &weak_per_window);
  if (model != NULL)
    cuv_model_unref (model);
  return self->rates != NULL || gst_waldboost_learnt_no_memory (error);
}

gboolean
gst_waldboost_learnt_raise (GstWaldboostLearnt *self, GError **error)
{
  const CuvDataset *dataset = self->training->dataset;
  const gdouble most = self->training->options.false_positives;
  const gboolean ok = self->channels != NULL
      ? cuv_dataset_raise_channels (
          dataset, self->channels, &self->samples, most, self->params.alpha)
      : cuv_dataset_raise_threshold (
          dataset, &self->classifier, &self->samples, most, self->params.alpha);

  return ok || gst_waldboost_learnt_no_memory (error);
}
