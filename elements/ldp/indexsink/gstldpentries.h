/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes the index of an element. Failures are posted as element errors. */
#ifndef GST_LDP_ENTRIES_H
#define GST_LDP_ENTRIES_H

#include <gst/video/video.h>
#include "gstldpindexsettings.h"
#include "indexsink/gstldpthumbnail.h"
#include "index/ldpindex.h"

G_BEGIN_DECLS

typedef struct {
  GstElement *element;
  CuvLdpIndexWriter *writer; /* NULL until the layout is known; then also: */
  CuvLdpIndexInfo info;
  GstLdpThumbnailer *thumbnailer; /* NULL: no thumbnails */
  guint32 *histograms;            /* counts of an entry */
} GstLdpEntries;

/* Opens the index on the first call; later calls fail unless the layout is the
 * same. whose: the element whose properties define the layout, for errors. */
gboolean gst_ldp_entries_ensure (GstLdpEntries *self,
    const GstLdpIndexSettings *settings, const CuvLdpLayout *layout,
    const gchar *whose);

/* counts: cuv_ldp_n_counts() of cuv_ldp_count_size() bytes. The thumbnail is
 * made of this rectangle of the buffer. */
gboolean gst_ldp_entries_append (GstLdpEntries *self, gconstpointer counts,
    const gchar *name, const GstVideoInfo *info, GstBuffer *buffer,
    const CuvLdpRect *rect);

gboolean gst_ldp_entries_close (GstLdpEntries *self);

G_END_DECLS

#endif
