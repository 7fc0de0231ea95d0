/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The properties of ldpindexsink. */
#ifndef GST_LDP_INDEX_SETTINGS_H
#define GST_LDP_INDEX_SETTINGS_H

#include "shared/gstldpregions.h"

G_BEGIN_DECLS

typedef struct {
  GstLdpParameters parameters;
  GstLdpRegionChoice choice;
  gint thumbnail_width, thumbnail_height;
  gint start_index;
  gint progress_interval; /* ms */
  gboolean sync_to_disk;
  gint n_threads;
  gchar *location, *entry_name;
} GstLdpIndexSettings;

/* Property ids from here on are theirs. */
enum { GST_LDP_INDEX_PROP_FIRST = 10 };
void gst_ldp_index_settings_install (GObjectClass *klass);

void gst_ldp_index_settings_init (GstLdpIndexSettings *self);
void gst_ldp_index_settings_clear (GstLdpIndexSettings *self);
void gst_ldp_index_settings_set (
    GstLdpIndexSettings *self, guint id, const GValue *value);
void gst_ldp_index_settings_get (
    GstLdpIndexSettings *self, guint id, GValue *value);

/* What was in `to` is freed. */
void gst_ldp_index_settings_copy (
    const GstLdpIndexSettings *self, GstLdpIndexSettings *to);

/* NULL, or what cannot be and what to do; free it. */
gchar *gst_ldp_index_settings_check (const GstLdpIndexSettings *self);

G_END_DECLS

#endif
