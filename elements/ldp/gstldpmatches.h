/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Matches as metadata: a table of kind "matches". Each row is one, the best of
 * a part of the frame first: region_id (i32, -1: the frame), rank (u32, from
 * 1), entry (u64, in the index), similarity (f64, 0 .. 1), name (text); with
 * the entries' thumbnails, if there are any, its shape is "pictures". */
#ifndef GST_LDP_MATCHES_H
#define GST_LDP_MATCHES_H

#include <gst/gst.h>
#include "shared/gstldpregions.h"
#include "retriever.h"

G_BEGIN_DECLS

/* Of one frame; all 0 is none. */
typedef struct {
  GArray *rows;
  GPtrArray *names;
  GByteArray *pictures; /* as many as rows, or none */
  GBytes *attached;     /* the same, once they are of a buffer */
  gboolean too_large;   /* for pictures */
  guint picture_width, picture_height;
  guint leaders; /* another number when another entry is a region's best */
} GstLdpMatches;

void gst_ldp_matches_init (GstLdpMatches *self);
void gst_ldp_matches_clear (GstLdpMatches *self);

/* Pictures of a frame that take more bytes are not published. */
enum { GST_LDP_MATCHES_MAX_PICTURES = 64 << 20 };

/* No regions yet. index: a number that differs from index to index. */
void gst_ldp_matches_begin (GstLdpMatches *self, guint index);

void gst_ldp_matches_add (GstLdpMatches *self, const GstLdpRegion *region,
    const CuvRetrieved *retrieved, CuvLdpIndex *index, gboolean thumbnails);

GstStructure *gst_ldp_matches_attach (
    GstLdpMatches *self, GstBuffer *buffer, guint width, guint height);

/* Adds "matches", a list of structures, to a bus message. */
void gst_ldp_matches_list (const GstLdpMatches *self, GstStructure *message);

G_END_DECLS

#endif
