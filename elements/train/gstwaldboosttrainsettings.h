/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The properties of waldboosttrain. */
#ifndef GST_WALDBOOST_TRAIN_SETTINGS_H
#define GST_WALDBOOST_TRAIN_SETTINGS_H

#include "settings/gstcuvsettings.h"
#include "gstwaldboosttraining.h"

typedef enum {
  GST_WALDBOOST_FRAMES_WITH_REGIONS,
  GST_WALDBOOST_FRAMES_ALL,
} GstWaldboostNegativeFrames;

typedef struct {
  GstWaldboostTrainingOptions training;
  gchar *object_class;
  gint interval, max_frames;
  gint negative_frames; /* GstWaldboostNegativeFrames */
  gboolean train;
} GstWaldboostTrainSettings;

extern const GstCuvSettingsTable gst_waldboost_train_settings;

/* Sets value to the property stats; the element defines it. */
void gst_waldboost_train_get_stats (GstElement *element, GValue *value);

#endif
