/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The properties of rcdtrack, and the tracker's parameters made of them. */
#ifndef GST_RCD_TRACK_SETTINGS_H
#define GST_RCD_TRACK_SETTINGS_H

#include "settings/gstcuvsettings.h"
#include "track/tracker.h"

G_BEGIN_DECLS

typedef struct {
  CuvRcdBox box; /* object-initial-*: -1, -1, 0, 0 is none */
  CuvTrackerConfig config;
  CuvTrackerParams params; /* scales, parsed */
  gboolean request_detections;
  guint confirm_detections, max_undetected_frames;
  gboolean draw;
  gint metadata;  /* GstCuvMetadata */
  GValue *scales; /* NULL = the default scales */
  gchar *object_class, *target_image;

  GQuark region_label; /* object_class, 0 = any */
  GstSample *picture;  /* target_image; a new one each time it is set */
} GstRcdSettings;

extern const GstCuvSettingsTable gst_rcd_settings;

/* Returns NULL, or why the box cannot be used in a frame of this size; free it.
 */
gchar *gst_rcd_settings_check_box (
    const GstRcdSettings *self, gint width, gint height);

/* The getter of the property targets, in gstrcdtrack.c. */
void gst_rcd_track_get_targets (GstElement *element, GValue *value);

G_END_DECLS

#endif
