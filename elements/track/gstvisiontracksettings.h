/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The properties of visiontrack. */
#ifndef GST_VISION_TRACK_SETTINGS_H
#define GST_VISION_TRACK_SETTINGS_H

#include "settings/gstcuvsettings.h"
#include "mot.h"

typedef enum {
  GST_TRACK_MESSAGE_NONE,
  GST_TRACK_MESSAGE_ON_CHANGE,
  GST_TRACK_MESSAGE_EVERY_FRAME,
} GstTrackMessage;

typedef struct {
  gdouble high, low, begin;
  gdouble max_distance, max_distance_low, max_distance_new;
  gint max_lost_frames, min_hits, first_id;
  gboolean separate_labels, skip_empty;
  gint message;  /* GstTrackMessage */
  gint metadata; /* GstCuvMetadata */
  gchar *object_class;

  GQuark label; /* object_class, 0 = any */
} GstTrackSettings;

extern const GstCuvSettingsTable gst_track_settings;

/* The tracker's parameters made of the properties. */
CuvMotParams gst_track_settings_params (const GstTrackSettings *self);

/* Reads the property stats; defined by the element. */
void gst_vision_track_get_stats (GstElement *element, GValue *value);

#endif
