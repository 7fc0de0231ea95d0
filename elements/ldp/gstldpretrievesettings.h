/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The properties of ldpretrieve. */
#ifndef GST_LDP_RETRIEVE_SETTINGS_H
#define GST_LDP_RETRIEVE_SETTINGS_H

#include "gstldpindex.h"
#include "shared/gstldpregions.h"

G_BEGIN_DECLS

typedef struct {
  GstLdpRegionChoice choice; /* first */
  gint k;
  gdouble threshold, share;
  gint gpu_memory_limit; /* MiB, 0 = half of what is free */
  gint refresh_interval; /* milliseconds, 0 = never */
  gboolean thumbnails;
  gchar *path;        /* of the index */
  GstLdpIndex *index; /* loaded from there */
} GstLdpRetrieveSettings;

extern const GstCuvSettingsTable gst_ldp_retrieve_settings;

G_END_DECLS

#endif
