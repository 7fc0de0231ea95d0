/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The properties of visionpublish. */
#ifndef GST_VISION_PUBLISH_SETTINGS_H
#define GST_VISION_PUBLISH_SETTINGS_H

#include "output/writer.h"
#include "record/record.h"
#include "settings/gstcuvsettings.h"

G_BEGIN_DECLS

typedef enum {
  GST_CUV_PUBLISH_JSON = 1,
  GST_CUV_PUBLISH_JSON_LINES = 2,
  GST_CUV_PUBLISH_CSV = 3,
} GstCuvPublishFormat;

/* How files of a format are written. */
typedef struct {
  CuvFraming framing;
  CuvTargetMode mode;
  /* Returns the text of one record, to be freed; json is empty before and
   * after. */
  gchar *(*make_record) (CuvJson *json, const CuvRecordFrame *frame,
      GstBuffer *buffer, gsize *size);
} GstCuvPublishLayout;

const GstCuvPublishLayout *gst_cuv_publish_format_layout (
    GstCuvPublishFormat format);

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
