/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the user asks of ldpretrieve: its properties, and the index that one of
 * them names. */
#ifndef GST_LDP_RETRIEVE_SETTINGS_H
#define GST_LDP_RETRIEVE_SETTINGS_H

#include "gstcuvfilter.h"
#include "shared/gstldpregions.h"
#include "index/ldpindex.h"

G_BEGIN_DECLS

/* As the properties have them. */
typedef struct {
  GstLdpRegionChoice choice;
  gint k;
  gdouble threshold, share;
  gint gpu_memory_limit; /* MiB, 0 = half of what is free */
  gint refresh_interval; /* milliseconds, 0 = never */
  gboolean thumbnails;
} GstLdpRetrieveValues;

/* All but loading under the owner's object lock. */
typedef struct {
  GstCuvFilter *owner;
  GstLdpRetrieveValues values;
  gchar *path;        /* of the index, as it was set */
  CuvLdpIndex *index; /* loaded, and not taken yet */
  gboolean started;
  GMutex loading; /* held while an index is */
} GstLdpRetrieveSettings;

void gst_ldp_retrieve_settings_init (
    GstLdpRetrieveSettings *self, GstCuvFilter *owner);
void gst_ldp_retrieve_settings_clear (GstLdpRetrieveSettings *self);

/* Loads the index. FALSE after an element error. */
gboolean gst_ldp_retrieve_settings_start (GstLdpRetrieveSettings *self);
void gst_ldp_retrieve_settings_stop (GstLdpRetrieveSettings *self);

GstLdpRetrieveValues gst_ldp_retrieve_settings_values (
    GstLdpRetrieveSettings *self);

/* An index that was loaded since the last call, now the caller's; or NULL. */
CuvLdpIndex *gst_ldp_retrieve_settings_take_index (
    GstLdpRetrieveSettings *self);

void gst_ldp_retrieve_settings_install (GObjectClass *klass);
void gst_ldp_retrieve_settings_set (
    GstLdpRetrieveSettings *self, guint id, const GValue *value);
void gst_ldp_retrieve_settings_get (
    GstLdpRetrieveSettings *self, guint id, GValue *value);

G_END_DECLS

#endif
