/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The long-running part of waldboosttrain: trains a model with the collected
 * frames, in a thread. */
#ifndef GST_WALDBOOST_TRAINING_H
#define GST_WALDBOOST_TRAINING_H

#include <gst/gst.h>
#include "dataset/dataset.h"

/* LBP or channels, whichever finds more; other values are a CuvFeature. */
#define GST_WALDBOOST_FEATURES_AUTO ((gint) CUV_FEATURE_CHANNELS + 1)

/* Returns the pixels to keep of frames for these features. Grey, which patterns
 * need, is always kept, so that features can change between trainings. */
static inline CuvStoreKeep
gst_waldboost_features_keep (gint features)
{
  return features >= (gint) CUV_FEATURE_CHANNELS ? CUV_STORE_BOTH
                                                 : CUV_STORE_GREY;
}

typedef struct {
  gchar *model; /* path of the file to write */
  gint features;
  /* window sizes and alpha: 0 = automatic; feature is not set */
  CuvTrainParams params;
  CuvSampleOptions samples;
  gdouble false_positives; /* acceptable false positives per frame */
  gint progress_interval;  /* milliseconds; 0 = never */
} GstWaldboostTrainingOptions;

typedef struct {
  GstElement *element;
  /* divided into roles, which must not change during training */
  CuvDataset *dataset;
  GstWaldboostTrainingOptions options; /* owned */
} GstWaldboostTraining;

static inline gboolean
gst_waldboost_training_is_stopped (const GstWaldboostTraining *self)
{
  return g_atomic_int_get (&self->dataset->stop);
}

/* Takes ownership of options->model. */
GstWaldboostTraining *gst_waldboost_training_new (GstElement *element,
    CuvDataset *dataset, const GstWaldboostTrainingOptions *options);
void gst_waldboost_training_free (GstWaldboostTraining *self);

/* Trains, writes the model and measures it; posts progress as element messages.
 * Returns the structure of the final message. Returns NULL with an error, or
 * without one if the data set's stop was set. */
GstStructure *gst_waldboost_training_run (
    GstWaldboostTraining *self, GError **error);

#endif
