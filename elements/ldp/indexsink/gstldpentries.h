/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes the index of a GstBaseSink, and counts what was written. Failures are
 * posted as element errors. */
#ifndef GST_LDP_ENTRIES_H
#define GST_LDP_ENTRIES_H

#include <gst/video/video.h>
#include "index/ldpindex.h"

G_BEGIN_DECLS

typedef struct _GstLdpThumbnailer GstLdpThumbnailer;

/* Part of the settings of the element. */
typedef struct {
  gchar *location;
  gint thumbnail_width, thumbnail_height;
  gboolean sync_to_disk;
  gint progress_interval; /* ms, 0 = never */
} GstLdpOutput;

typedef struct {
  guint64 frames;         /* frames received */
  guint64 written, bytes; /* entries appended by this element, and their size */
  guint64 entries;        /* entries in the index */
  guint64 timed;          /* frames processed */
  GstClockTime last, sum; /* processing time */
  const gchar *device;
} GstLdpStatistics;

typedef struct {
  GstElement *element;
  const GstLdpOutput *output;  /* set by the element at the start */
  GstLdpStatistics statistics; /* under the object lock */
  GstClockTime time;           /* time of the last frame */
  gint64 posted;               /* monotonic time of the last progress message */
  gchar *name;                 /* name of the last entry */

  CuvLdpIndexWriter *writer; /* NULL until the layout is known; set together
                              * with the fields below */
  CuvLdpIndexInfo info;
  GstLdpThumbnailer *thumbnailer; /* NULL: no thumbnails */
  guint32 *histograms;            /* counts of an entry */
} GstLdpEntries;

/* Resets the statistics. */
void gst_ldp_entries_start (GstLdpEntries *self);

/* Opens the index on the first call; later calls fail unless the layout is the
 * same. */
gboolean gst_ldp_entries_open (GstLdpEntries *self, const CuvLdpLayout *layout);

gboolean gst_ldp_entries_close (GstLdpEntries *self);

/* Appends one of the n regions of a frame. If n > 1, the id of the region
 * becomes part of the name. counts: cuv_ldp_n_counts() of cuv_ldp_count_size()
 * bytes. The thumbnail is made of this rectangle of the buffer. */
gboolean gst_ldp_entries_append (GstLdpEntries *self, gconstpointer counts,
    const gchar *frame_name, guint n, gint32 id, const GstVideoInfo *info,
    GstBuffer *buffer, const CuvLdpRect *rect);

/* Counts a frame whose entries were appended; posts progress if it is due. */
void gst_ldp_entries_count_frame (
    GstLdpEntries *self, const gchar *device, GstClockTime took);
void gst_ldp_entries_post_progress (GstLdpEntries *self);

/* Returns the statistics for the property stats. */
GstStructure *gst_ldp_entries_stats (GstLdpEntries *self);

G_END_DECLS

#endif
