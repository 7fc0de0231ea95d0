/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The properties of visionpublish. */
#ifndef GST_CUV_PUBLISH_SETTINGS_H
#define GST_CUV_PUBLISH_SETTINGS_H

#include "record/json.h"
#include "settings/gstcuvsettings.h"

G_BEGIN_DECLS

typedef enum {
  GST_CUV_PUBLISH_JSON = 1,
  GST_CUV_PUBLISH_JSON_LINES = 2,
  GST_CUV_PUBLISH_CSV = 3,
} GstCuvPublishFormat;

typedef enum {
  GST_CUV_PUBLISH_FILE,
  GST_CUV_PUBLISH_MQTT,
  GST_CUV_PUBLISH_KAFKA,
} GstCuvPublishTarget;

typedef enum {
  GST_CUV_PUBLISH_NO_METRICS,
  GST_CUV_PUBLISH_METRICS_WITH_RECORDS,
  GST_CUV_PUBLISH_METRICS_ONLY,
} GstCuvPublishMetricsMode;

typedef enum {
  GST_CUV_PUBLISH_NO_DISCOVERY,
  GST_CUV_PUBLISH_HOME_ASSISTANT,
} GstCuvPublishDiscovery;

typedef struct {
  gint format; /* GstCuvPublishFormat */
  gchar *path; /* NULL, "" or "-" is standard output */
  gint add_empty_results;
  gchar *source;    /* NULL = none */
  gchar *tags_text; /* as it was set */
  JsonNode *tags;   /* an object; NULL = none */

  gint target; /* GstCuvPublishTarget */
  /* settings of a broker; NULL strings = none */
  gchar *address, *topic, *client_id, *user, *password_file, *password_env;
  gint sasl;         /* CuvSasl */
  gint tls;          /* CuvTls */
  gint mqtt_version; /* CuvMqttVersion */
  gchar *tls_ca_file, *tls_certificate_file, *tls_key_file;
  guint keep_alive, queue_records;
  guint64 queue_bytes;
  gint on_full; /* CuvFull */
  gchar *spool_path;
  gint require_connection;
  gint metrics;             /* GstCuvPublishMetricsMode */
  gdouble metrics_interval; /* seconds */
  gint discovery;           /* GstCuvPublishDiscovery */
  gchar *discovery_prefix;
} GstCuvPublishSettings;

extern const GstCuvSettingsTable gst_cuv_publish_settings;

/* Whether a text means "none". */
static inline gboolean
gst_cuv_publish_is_empty (const gchar *text)
{
  return text == NULL || *text == '\0';
}

/* Getters of the read-only properties, in gstvisionpublish.c. */
void gst_vision_publish_get_dropped (GstElement *element, GValue *value);
void gst_vision_publish_get_stats (GstElement *element, GValue *value);

G_END_DECLS

#endif
