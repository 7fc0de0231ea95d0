/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The metrics of tables as messages that an MQTT broker retains: one for each
 * row, sent when it changes. */
#ifndef GST_CUV_PUBLISH_METRICS_H
#define GST_CUV_PUBLISH_METRICS_H

#include <gst/gst.h>

#include "output/outbox.h"

G_BEGIN_DECLS

/* Rows and tables above this are not published. */
#define GST_CUV_PUBLISH_MAX_ROWS 4096
#define GST_CUV_PUBLISH_MAX_TABLES 64
/* Bytes of the names of a row, as they are in its topic. */
#define GST_CUV_PUBLISH_MAX_NAME 1024

typedef struct _GstCuvPublishMetrics GstCuvPublishMetrics;

typedef struct {
  CuvOutbox *outbox;
  const gchar *topic; /* a template for MQTT with {kind} */
  const gchar *source;
  gint64 interval;        /* shortest time between two messages of a row */
  const gchar *discovery; /* Home Assistant's prefix, NULL: no discovery */
} GstCuvPublishMetricsConfig;

/* Keeps the outbox, and copies of the strings. */
GstCuvPublishMetrics *gst_cuv_publish_metrics_new (
    const GstCuvPublishMetricsConfig *config);
void gst_cuv_publish_metrics_free (GstCuvPublishMetrics *self);

/* Publishes what the buffer's tables have changed. If a table is present
 * without a row that it had before, that row is removed from the broker.
 * Returns FALSE once, when there are too many rows or tables, or a name is too
 * long. */
gboolean gst_cuv_publish_metrics_push (
    GstCuvPublishMetrics *self, GstBuffer *buffer);

G_END_DECLS

#endif
