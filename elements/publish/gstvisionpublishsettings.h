/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The properties of visionpublish. */
#ifndef GST_VISION_PUBLISH_SETTINGS_H
#define GST_VISION_PUBLISH_SETTINGS_H

#include "gstpublishformat.h"
#include "settings/gstcuvsettings.h"

G_BEGIN_DECLS

typedef struct {
  gint format; /* a GstCuvPublishFormat */
  gchar *path; /* NULL, "" or "-" is standard output */
  gint add_empty_results;
  gchar *source;    /* NULL = none */
  gchar *tags_text; /* as it was set */
  JsonNode *tags;   /* an object; NULL = none */
} GstVisionPublishSettings;

extern const GstCuvSettingsTable gst_vision_publish_settings;

/* Of the element. */
void gst_vision_publish_get_dropped (GstElement *element, GValue *value);
void gst_vision_publish_get_stats (GstElement *element, GValue *value);

G_END_DECLS

#endif
