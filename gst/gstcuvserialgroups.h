/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Groups, keypoints and semantic tags of GstAnalytics (GStreamer 1.30) as
 * variants, for gstcuvserialanalytics.c. Before that there are none to send,
 * and those that were received are skipped. */
#ifndef GST_CUV_SERIAL_GROUPS_H
#define GST_CUV_SERIAL_GROUPS_H

#include "config.h"
#include "gstcuvserial.h"

#if HAVE_ANALYTICS
#include <gst/analytics/analytics.h>

/* dimensions, x, y, z, visibility, confidence */
#define GST_CUV_SERIAL_KEYPOINT "(yiiiyd)"
#define GST_CUV_SERIAL_GROUP "au"   /* members */
#define GST_CUV_SERIAL_TAGS "a(us)" /* entry, semantic tag */

/* Convert an entry. Return NULL if it is of another kind. */
GVariant *gst_cuv_serial_from_keypoint (GstAnalyticsMtd *mtd);
GVariant *gst_cuv_serial_from_group (GstAnalyticsMtd *mtd);

/* Converts the semantic tags of all entries. Returns NULL if there are none. */
GVariant *gst_cuv_serial_from_tags (GstAnalyticsRelationMeta *meta);

/* Add an entry, a group without its members. */
gboolean gst_cuv_serial_add_keypoint (
    GstAnalyticsRelationMeta *meta, GVariant *value, GstAnalyticsMtd *added);
gboolean gst_cuv_serial_add_group (
    GstAnalyticsRelationMeta *meta, GVariant *value, GstAnalyticsMtd *added);

/* Add what refers to other entries, whose new ids are ids[0 .. n - 1]; -1: the
 * entry was not added. */
void gst_cuv_serial_add_members (GstAnalyticsRelationMeta *meta, guint group,
    GVariant *value, const gint *ids, gsize n);
void gst_cuv_serial_add_tags (
    GstAnalyticsRelationMeta *meta, GVariant *value, const gint *ids, gsize n);
#endif

#endif
