/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An index file of ldpretrieve, which follows it while others append entries.
 * Of the streaming thread, but for loading, ref and unref. */
#ifndef GST_LDP_INDEX_H
#define GST_LDP_INDEX_H

#include <gst/gst.h>
#include "index/ldpindex.h"

G_BEGIN_DECLS

typedef struct {
  CuvLdpIndex *file;
  guint serial;           /* no other loaded index has it */
  guint64 n_entries;      /* those with a valid checksum */
  guint64 damaged;        /* the first damaged entry, once reported */
  gboolean lost;          /* the file could not be refreshed: not used */
  gboolean reported_file; /* its replacement */
  gint64 refreshed;       /* monotonic time */
} GstLdpIndex;

/* Boxed; copies are references. */
GType gst_ldp_index_get_type (void);

/* Checks every entry. NULL on failure, and *problem, to be freed, says why. */
GstLdpIndex *gst_ldp_index_load (const gchar *path, gchar **problem);

/* Looks for new entries if the last time is `interval` ms ago (0 = never).
 * Returns whether it did; problems are warnings of the element. */
gboolean gst_ldp_index_refresh (
    GstLdpIndex *self, gint interval, GstElement *element);

G_END_DECLS

#endif
