/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The properties of visionzones. */
#ifndef GST_VISION_ZONES_SETTINGS_H
#define GST_VISION_ZONES_SETTINGS_H

#include "gstzonesconfig.h"
#include "settings/gstcuvsettings.h"

typedef struct {
  gchar *zones_text, *location;
  GstZonesConfig *zones, *file; /* NULL = none */
  gint anchor, hysteresis, crowd, max_lost;
  gdouble dwell;
  gchar *labels;
  gint heat_cell;
  gdouble heat_half_life, heat_interval;
  gboolean outlines;
  gint message;
} GstVisionZonesSettings;

enum { GST_VISION_ZONES_MESSAGE_NONE, GST_VISION_ZONES_MESSAGE_ON_CHANGE };

extern const GstCuvSettingsTable gst_vision_zones_settings;

/* Reads the property stats; defined by the element. */
void gst_vision_zones_get_stats (GstElement *element, GValue *value);

#endif
