/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The properties of visioncrop. */
#ifndef GST_VISION_CROP_SETTINGS_H
#define GST_VISION_CROP_SETTINGS_H

#include "settings/gstcuvsettings.h"

typedef struct {
  gint width, height;
  gboolean add_borders;
  gdouble margin;
  gint min_width, min_height;
  gint metadata; /* GstCuvMetadata */
  gchar *labels_text;
  gchar **labels; /* NULL = any */
} GstVisionCropSettings;

extern const GstCuvSettingsTable gst_vision_crop_settings;

/* Reads the property stats; defined by the element. */
void gst_vision_crop_get_stats (GstElement *element, GValue *value);

#endif
