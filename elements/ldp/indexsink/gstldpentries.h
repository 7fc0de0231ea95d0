/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The index that an element writes. What fails is an error on its bus. */
#ifndef GST_LDP_ENTRIES_H
#define GST_LDP_ENTRIES_H

#include <gst/video/video.h>
#include "gstldpindexsettings.h"
#include "indexsink/gstldpthumbnail.h"
#include "index/ldpindex.h"

G_BEGIN_DECLS

typedef struct {
  GstElement *element;
  CuvLdpIndexWriter *writer; /* NULL until there is a shape; with it */
  CuvLdpIndexInfo info;
  GstLdpThumbnailer *thumbnailer; /* NULL: there are no thumbnails */
  guint32 *histograms;            /* of an entry */
} GstLdpEntries;

/* Opens the index for entries of this shape, or sees that they have it: the
 * first one's is that of all. whose: whose properties give it. */
gboolean gst_ldp_entries_ensure (GstLdpEntries *self,
    const GstLdpIndexSettings *settings, const CuvLdpLayout *layout,
    const gchar *whose);

/* counts: cuv_ldp_n_counts() of cuv_ldp_count_size() bytes. The thumbnail is of
 * this part of the buffer. */
gboolean gst_ldp_entries_append (GstLdpEntries *self, gconstpointer counts,
    const gchar *name, const GstVideoInfo *info, GstBuffer *buffer,
    const CuvLdpRect *rect);

gboolean gst_ldp_entries_close (GstLdpEntries *self);

G_END_DECLS

#endif
