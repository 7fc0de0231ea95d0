/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The properties of ldpindexsink. */
#ifndef GST_LDP_INDEX_SETTINGS_H
#define GST_LDP_INDEX_SETTINGS_H

#include "shared/gstldpregions.h"

G_BEGIN_DECLS

typedef struct {
  GstLdpRegionChoice choice; /* first */
  GstLdpParameters parameters;
  gint thumbnail_width, thumbnail_height;
  gint start_index;
  gint progress_interval; /* ms */
  gboolean sync_to_disk;
  gint n_threads;
  gint cuda_device_id;
  gchar *location, *entry_name;
} GstLdpIndexSettings;

extern const GstCuvSettingsTable gst_ldp_index_settings;

/* Implemented by the element: the value of the property stats. */
void gst_ldp_index_sink_get_stats (GstElement *element, GValue *value);

G_END_DECLS

#endif
