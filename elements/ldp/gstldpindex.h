/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The index file of ldpretrieve, to which other processes may append
 * entries. Used by the streaming thread only, except for loading, ref and
 * unref. */
#ifndef GST_LDP_INDEX_H
#define GST_LDP_INDEX_H

#include <gst/gst.h>
#include "index/ldpindex.h"

G_BEGIN_DECLS

typedef struct {
  CuvLdpIndex *file;
  guint serial;      /* unique among the indexes loaded */
  guint64 n_entries; /* entries with a valid checksum, before the first damaged
                        one */
  guint64 damaged;   /* number of the damaged entry that was reported last;
                        G_MAXUINT64: none */
  gboolean lost;     /* refreshing failed: no longer used */
  gboolean reported_replaced;
  gint64 refreshed; /* monotonic time */
} GstLdpIndex;

/* Boxed; copies are references. */
GType gst_ldp_index_get_type (void);

/* Loads an index and checks every entry. On failure returns NULL and sets
 * *problem to the reason; free it. */
GstLdpIndex *gst_ldp_index_load (const gchar *path, gchar **problem);

/* Looks for new entries if `interval` ms have passed since the last time (0 =
 * never). Returns whether it did; problems are posted as warnings of the
 * element, with the path. */
gboolean gst_ldp_index_refresh (
    GstLdpIndex *self, const gchar *path, gint interval, GstElement *element);

G_END_DECLS

#endif
