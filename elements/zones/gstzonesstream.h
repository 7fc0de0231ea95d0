/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One stream and what is counted in it: that of the sink pad, or one of a
 * batch. */
#ifndef GST_ZONES_STREAM_H
#define GST_ZONES_STREAM_H

#include "gstcuvstream.h"
#include "gstvisionzonessettings.h"

typedef struct {
  GstCuvStream base;
  gboolean sized; /* the zones are placed in frames of this size */
  CuvZones *zones;
  GstZonesPlaced *placed;
  CuvZoneHeat heat;  /* cells is NULL without a heat map */
  gint64 heat_shown; /* when the heat map was last attached, -1 = never */
  gint64 time;       /* of the last frame */
} GstZonesStream;

/* Returns NULL if memory runs out. */
GstZonesStream *gst_zones_stream_new (guint number);
void gst_zones_stream_free (gpointer self);

/* Whether its frames have a size that zones can be placed in. */
gboolean gst_zones_stream_is_video (const GstZonesStream *self);

/* Places the zones in frames of the stream's size. Returns NULL, or the
 * problem, to be freed; the zones before then stay. */
gchar *gst_zones_stream_use (GstZonesStream *self,
    const GstVisionZonesSettings *settings, const GstZonesDefaults *defaults);

void gst_zones_stream_changed (GstZonesStream *self, GstCuvStreamChange change);

/* Sets the time of the next frame. A frame without a time has that of the one
 * before. A jump backwards is another scene. */
void gst_zones_stream_set_time (GstZonesStream *self, GstBuffer *buffer);

/* Adds the objects of the frame to the heat map. Returns whether the map is to
 * be shown with this frame. */
gboolean gst_zones_stream_add_heat (GstZonesStream *self,
    const GstVisionZonesSettings *settings, const CuvZoneObject *objects,
    gint n);

#endif
