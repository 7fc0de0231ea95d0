/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The long-running part of waldboosttrain: trains a model with the collected
 * frames, in a thread. */
#ifndef GST_WALDBOOST_TRAINING_H
#define GST_WALDBOOST_TRAINING_H

#include <gst/gst.h>
#include "train/dataset/dataset.h"

/* LBP or channels, whichever finds more; else a CuvFeature. */
#define GST_WALDBOOST_FEATURES_AUTO ((gint) CUV_FEATURE_CHANNELS + 1)

/* What frames are kept with for these features: grey is what patterns need,
 * and lets the features change between trainings. */
static inline CuvStoreKeep
gst_waldboost_features_keep (gint features)
{
  return features >= (gint) CUV_FEATURE_CHANNELS ? CUV_STORE_BOTH
                                                 : CUV_STORE_GREY;
}

typedef struct {
  gchar *model; /* the file to write */
  gint features;
  CuvTrainParams params; /* windows of size 0 and alpha of 0: automatic; without
                          * the feature */
  CuvSampleOptions samples;
  gdouble false_positives; /* false positives per frame that the threshold
                            * may cause */
  gint progress_interval;  /* ms, 0 = never */
} GstWaldboostTrainingOptions;

typedef struct {
  GstElement *element;
  CuvDataset *dataset; /* split into roles, which must not change during
                        * training */
  GstWaldboostTrainingOptions options; /* owned */
} GstWaldboostTraining;

static inline gboolean
gst_waldboost_training_is_stopped (const GstWaldboostTraining *self)
{
  return g_atomic_int_get (&self->dataset->stop);
}

/* Takes options->model. */
GstWaldboostTraining *gst_waldboost_training_new (GstElement *element,
    CuvDataset *dataset, const GstWaldboostTrainingOptions *options);
void gst_waldboost_training_free (GstWaldboostTraining *self);

/* Trains, writes the model and measures it; posts progress as element messages.
 * Returns the structure of the final message, or NULL: with an error, or
 * without one if the data set's stop was set. */
GstStructure *gst_waldboost_training_run (
    GstWaldboostTraining *self, GError **error);

#endif
