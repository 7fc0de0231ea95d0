/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Results of a stream's last frame as tables (gstzonestables.c) and as element
 * messages (gstzonesmessages.c). */
#ifndef GST_ZONES_RESULTS_H
#define GST_ZONES_RESULTS_H

#include "gstzonesstream.h"

/* Adds the tables zones, zone_counts, zone_objects, zone_events and, with
 * outlines, zone_outlines. */
void gst_zones_add_tables (
    GstBuffer *buffer, const GstZonesStream *stream, gboolean outlines);

/* Adds the table zone_heat. */
void gst_zones_add_heat (GstBuffer *buffer, const GstZonesStream *stream);

/* batched: the messages have the stream's number. */
void gst_zones_post_events (GstElement *element, const GstZonesStream *stream,
    GstBuffer *buffer, gboolean batched);

const gchar *gst_zones_event_name (CuvZoneEventType type);
const gchar *gst_zones_direction_name (int direction);

#endif
