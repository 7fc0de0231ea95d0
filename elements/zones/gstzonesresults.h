/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Results of a frame as tables (gstzonestables.c) and as element messages
 * (gstzonesmessages.c). */
#ifndef GST_ZONES_RESULTS_H
#define GST_ZONES_RESULTS_H

#include "gstzonesconfig.h"

/* One frame; times in ns. */
typedef struct {
  const CuvZones *zones;
  const GstZonesPlaced *placed;
  gint width, height;
  GstClockTime pts, duration, stream_time, running_time;
  gint64 time; /* the time that visits are measured in */
} GstZonesFrame;

/* Adds the tables zones, zone_counts, zone_objects, zone_events and, with
 * outlines, zone_outlines. */
void gst_zones_add_tables (
    GstBuffer *buffer, const GstZonesFrame *frame, gboolean outlines);

/* Adds the table zone_heat. */
void gst_zones_add_heat (
    GstBuffer *buffer, const CuvZoneHeat *heat, gint width, gint height);

void gst_zones_post_events (GstElement *element, const GstZonesFrame *frame);

const gchar *gst_zones_event_name (CuvZoneEventType type);
const gchar *gst_zones_direction_name (int direction);

#endif
