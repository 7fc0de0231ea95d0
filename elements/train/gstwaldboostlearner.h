/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Learns one kind of features from the collected frames: patterns or trees on
 * channels. */
#ifndef GST_WALDBOOST_LEARNER_H
#define GST_WALDBOOST_LEARNER_H

#include "gstwaldboosttraining.h"

/* The result of learning. */
typedef struct {
  const GstWaldboostTraining *training;
  CuvTrainParams params; /* including the chosen window, alpha and feature */
  CuvSampleOptions samples;
  gint64 start;                 /* monotonic time */
  CuvTrainer *trainer;          /* for patterns, otherwise NULL */
  CuvGridClassifier classifier; /* for patterns; its arrays are the trainer's */
  CuvChannelsModel *channels;   /* for channels, otherwise NULL */
  CuvTrainState end;
  guint n_weak, too_small;
  gint64 due; /* time of the next message about progress */
  /* of CuvTrainRate, set by gst_waldboost_learnt_measure(), or NULL */
  GArray *rates;
} GstWaldboostLearnt;

/* Returns TRUE, or FALSE with an error, or FALSE without an error if the data
 * set's stop was set. Call gst_waldboost_learnt_clear() in each case. */
gboolean gst_waldboost_learn (GstWaldboostLearnt *self,
    const GstWaldboostTraining *training, CuvFeature feature, GError **error);
void gst_waldboost_learnt_clear (GstWaldboostLearnt *self);

/* Returns the name of the features, such as "lbp" or "channels". */
const gchar *gst_waldboost_learnt_name (const GstWaldboostLearnt *self);

/* Returns the model; release it with cuv_model_unref(). */
const CuvWaldboostModel *gst_waldboost_learnt_model (
    const GstWaldboostLearnt *self);

/* Sets rates to the rates in the frames that were kept out of training. Returns
 * FALSE with an error. */
gboolean gst_waldboost_learnt_measure (
    GstWaldboostLearnt *self, GError **error);

/* Raises the threshold to suit the property false-positives. Returns FALSE with
 * an error. */
gboolean gst_waldboost_learnt_raise (GstWaldboostLearnt *self, GError **error);

/* Returns a message about what has been learnt so far. */
GstStructure *gst_waldboost_learnt_message (
    const GstWaldboostLearnt *self, const gchar *state);

gboolean gst_waldboost_learnt_no_memory (GError **error); /* returns FALSE */

#endif
