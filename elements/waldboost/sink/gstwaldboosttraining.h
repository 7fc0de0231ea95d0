/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The long-running part of waldboosttrain: trains a model with the collected
 * frames, in a thread. */
#ifndef GST_WALDBOOST_TRAINING_H
#define GST_WALDBOOST_TRAINING_H

#include <gst/gst.h>
#include "train/dataset/dataset.h"

typedef struct {
  gchar *model;          /* the file to write */
  CuvTrainParams params; /* windows of size 0: automatic */
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
