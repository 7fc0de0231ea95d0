/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstwaldboostlearner.h"

#include <math.h>

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

/* ---- the result ---- */

/* Adds recall and false positives at the model's threshold. */
static void
set_rates (GstStructure *message, const GArray *rates)
{
  const CuvTrainRate rate = cuv_train_rate_at (rates, HUGE_VAL);

  gst_structure_set (message, "recall", G_TYPE_DOUBLE, rate.recall.value,
      "recall-low", G_TYPE_DOUBLE, rate.recall.low, "recall-high",
      G_TYPE_DOUBLE, rate.recall.high, "false-positives", G_TYPE_DOUBLE,
      rate.false_positives, NULL);
}

/* Adds the numbers of frames and of regions with which the model was
 * trained. */
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

/* Returns the message about the model, or NULL with an error. */
static GstStructure *
describe_model (const GstWaldboostLearnt *learnt, GError **error)
{
  const GstWaldboostTraining *self = learnt->training;
  const CuvWaldboostModel *model = gst_waldboost_learnt_model (learnt);
  gdouble weak_per_window;
  GArray *rates = model != NULL ? cuv_dataset_measure (
                      self->dataset, model, &learnt->samples, &weak_per_window)
                                : NULL;
  GstStructure *message = NULL;

  if (rates != NULL) {
    message = gst_waldboost_learnt_message (learnt, "done");
    gst_structure_set (message, "model", G_TYPE_STRING, self->options.model,
        "window-width", G_TYPE_UINT, (guint) learnt->params.window_width,
        "window-height", G_TYPE_UINT, (guint) learnt->params.window_height,
        "weak-per-window", G_TYPE_DOUBLE, weak_per_window, "too-small",
        G_TYPE_UINT, learnt->too_small, "end", G_TYPE_STRING,
        cuv_train_describe_end (learnt->end), NULL);
    set_counts (message, self->dataset);
    set_rates (message, rates);
    g_array_unref (rates);
  } else {
    gst_waldboost_learnt_no_memory (error);
  }
  if (model != NULL)
    cuv_model_unref (model);
  return message;
}

static gboolean
write_file (
    const GstWaldboostLearnt *learnt, const gchar *comment, GError **error)
{
  const gchar *path = learnt->training->options.model;

  return learnt->channels != NULL
      ? cuv_train_save_channels (learnt->channels, path, comment, error)
      : cuv_train_save (&learnt->classifier, path, comment, error);
}

static gboolean
save (const GstWaldboostLearnt *learnt, GError **error)
{
  const GstWaldboostTrainingOptions *options = &learnt->training->options;
  gchar *comment = g_strdup_printf ("made by waldboosttrain " VERSION
                                    ", seed %" G_GUINT64_FORMAT,
      options->params.seed);
  GError *problem = NULL;
  gboolean ok = write_file (learnt, comment, &problem);

  g_free (comment);
  if (ok)
    return TRUE;
  g_set_error (error, GST_RESOURCE_ERROR,
      g_error_matches (problem, G_FILE_ERROR, G_FILE_ERROR_NOSPC)
          ? GST_RESOURCE_ERROR_NO_SPACE_LEFT
          : GST_RESOURCE_ERROR_WRITE,
      "The model '%s' cannot be written: %s", options->model, problem->message);
  g_error_free (problem);
  return FALSE;
}

/* Raises the threshold, writes the model and returns the message about it.
 * Returns NULL with an error, or without one if the training was stopped. */
static GstStructure *
finish (GstWaldboostLearnt *learnt, GError **error)
{
  const GstWaldboostTraining *self = learnt->training;

  if (!gst_waldboost_learnt_raise (learnt, error)
      || gst_waldboost_training_is_stopped (self) || !save (learnt, error))
    return NULL;
  return describe_model (learnt, error);
}

static GstStructure *
learn_one (const GstWaldboostTraining *self, CuvFeature feature, GError **error)
{
  GstWaldboostLearnt learnt;
  GstStructure *message = NULL;

  if (gst_waldboost_learn (&learnt, self, feature, error))
    message = finish (&learnt, error);
  gst_waldboost_learnt_clear (&learnt);
  return message;
}

/* ---- both kinds of features ---- */

typedef struct {
  GstWaldboostLearnt patterns, channels;
  GError *problems[2]; /* why features cannot be learnt, or NULL */
} Both;

static guint
count_objects (const GPtrArray *pictures)
{
  guint n = 0;

  for (guint i = 0; i < pictures->len; i++)
    n += ((const CuvDatasetPicture *) pictures->pdata[i])->objects->len;
  return n;
}

/* Compares what both kinds of features find and, if it is the same, prefers
 * channels. Frames of one video look alike, so both kinds often find all
 * objects in the frames kept out, but in other videos channels found more: see
 * docs/benchmarks/training.md. Returns NULL with an error. */
static GstWaldboostLearnt *
compare (
    const GstWaldboostTraining *self, Both *both, gchar **why, GError **error)
{
  const guint n = count_objects (self->dataset->roles[CUV_DATASET_TEST]);
  CuvFeaturesFound patterns, channels;

  if (!gst_waldboost_learnt_measure (&both->patterns, error)
      || !gst_waldboost_learnt_measure (&both->channels, error))
    return NULL;
  patterns = (CuvFeaturesFound){ gst_waldboost_learnt_name (&both->patterns),
    both->patterns.rates, n };
  channels = (CuvFeaturesFound){ gst_waldboost_learnt_name (&both->channels),
    both->channels.rates, n };
  return cuv_features_choose (
             &patterns, &channels, self->options.false_positives, TRUE, why)
      ? &both->channels
      : &both->patterns;
}

/* Chooses one kind. Returns NULL with an error, or without one if the training
 * was stopped. */
static GstWaldboostLearnt *
choose (
    const GstWaldboostTraining *self, Both *both, gchar **why, GError **error)
{
  GstWaldboostLearnt *kinds[] = { &both->patterns, &both->channels };

  if (gst_waldboost_training_is_stopped (self))
    return NULL;
  for (gint i = 0; i < 2; i++) {
    const GError *problem = both->problems[i];
    const GstWaldboostLearnt *other = kinds[1 - i];

    if (problem == NULL)
      continue;
    if (both->problems[1 - i] != NULL
        || problem->domain == GST_RESOURCE_ERROR) {
      g_propagate_error (error, g_error_copy (problem));
      return NULL;
    }
    *why = g_strdup_printf ("took %s: %s cannot be learnt: %s",
        gst_waldboost_learnt_name (other), gst_waldboost_learnt_name (kinds[i]),
        problem->message);
    return kinds[1 - i];
  }
  return compare (self, both, why, error);
}

static GstStructure *
learn_both (const GstWaldboostTraining *self, GError **error)
{
  Both both = { .problems = { NULL } };
  GstWaldboostLearnt *better;
  GstStructure *message = NULL;
  gchar *why = NULL;

  gst_waldboost_learn (
      &both.patterns, self, CUV_FEATURE_LBP, &both.problems[0]);
  gst_waldboost_learn (
      &both.channels, self, CUV_FEATURE_CHANNELS, &both.problems[1]);
  better = choose (self, &both, &why, error);
  if (better != NULL && !gst_waldboost_training_is_stopped (self))
    message = finish (better, error);
  if (message != NULL)
    gst_structure_set (message, "choice", G_TYPE_STRING, why, NULL);
  gst_waldboost_learnt_clear (&both.patterns);
  gst_waldboost_learnt_clear (&both.channels);
  g_clear_error (&both.problems[0]);
  g_clear_error (&both.problems[1]);
  g_free (why);
  return message;
}

GstStructure *
gst_waldboost_training_run (GstWaldboostTraining *self, GError **error)
{
  const gint64 start = g_get_monotonic_time ();
  const gint features = self->options.features;
  GstStructure *message = features == GST_WALDBOOST_FEATURES_AUTO
      ? learn_both (self, error)
      : learn_one (self, (CuvFeature) features, error);

  if (message != NULL)
    gst_structure_set (message, "seconds", G_TYPE_DOUBLE,
        (gdouble) (g_get_monotonic_time () - start) / G_USEC_PER_SEC, NULL);
  if (gst_waldboost_training_is_stopped (self)) {
    g_clear_pointer (&message, gst_structure_free);
    g_clear_error (error);
  }
  return message;
}
