/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Learns one kind of features from the collected frames: patterns or trees on
 * channels. */
#ifndef GST_WALDBOOST_LEARNER_H
#define GST_WALDBOOST_LEARNER_H

#include "sink/gstwaldboosttraining.h"

/* What was learnt. */
typedef struct {
  const GstWaldboostTraining *training;
  CuvTrainParams params; /* with the window, alpha and feature chosen */
  CuvSampleOptions samples;
  gint64 start;                 /* monotonic time */
  CuvTrainer *trainer;          /* of patterns, or NULL */
  CuvGridClassifier classifier; /* of patterns; its arrays are the trainer's */
  CuvChannelsModel *channels;   /* or NULL */
  CuvTrainState end;
  guint n_weak, too_small;
  gint64 due;    /* when the next message about progress is */
  GArray *rates; /* of CuvTrainRate, or NULL: see gst_waldboost_learnt_measure()
                  */
} GstWaldboostLearnt;

/* Returns FALSE with an error, or without one if the data set's stop was set.
 * Call gst_waldboost_learnt_clear() in any case. */
gboolean gst_waldboost_learn (GstWaldboostLearnt *self,
    const GstWaldboostTraining *training, CuvFeature feature, GError **error);
void gst_waldboost_learnt_clear (GstWaldboostLearnt *self);

/* "lbp", "channels" .. */
const gchar *gst_waldboost_learnt_name (const GstWaldboostLearnt *self);

/* Release it with cuv_model_unref(). */
const CuvWaldboostModel *gst_waldboost_learnt_model (
    const GstWaldboostLearnt *self);

/* Sets rates to those in the frames that nothing was learnt from. FALSE with an
 * error. */
gboolean gst_waldboost_learnt_measure (
    GstWaldboostLearnt *self, GError **error);

/* Raises the threshold to suit the property false-positives. FALSE with an
 * error. */
gboolean gst_waldboost_learnt_raise (GstWaldboostLearnt *self, GError **error);

/* A message about what was learnt so far. */
GstStructure *gst_waldboost_learnt_message (
    const GstWaldboostLearnt *self, const gchar *state);

gboolean gst_waldboost_learnt_no_memory (GError **error); /* FALSE */

#endif
