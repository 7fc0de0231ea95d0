/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Matches as metadata: a table of kind "matches", a row per match, best first
 * per region: region_id (i32, -1: the frame), rank (u32, from 1), entry (u64,
 * number in the index), similarity (f64, 0 .. 1), name (text). With thumbnails
 * of the entries its shape is "pictures". */
#ifndef GST_LDP_MATCHES_H
#define GST_LDP_MATCHES_H

#include <gst/gst.h>
#include "retrieval/retrieval.h"
#include "shared/gstldpregions.h"

G_BEGIN_DECLS

/* The matches of a frame. */
typedef struct {
  GArray *rows;
  GPtrArray *names;
  GByteArray *pictures; /* a thumbnail per row, or empty */
  GBytes *attached;     /* the pictures as attached to buffers */
  gboolean too_large;   /* pictures were dropped: above the limit */
  guint picture_width, picture_height;
  guint best_hash; /* hash of the best entry of each region */
} GstLdpMatches;

void gst_ldp_matches_init (GstLdpMatches *self);
void gst_ldp_matches_clear (GstLdpMatches *self);

/* Maximum size of a frame's pictures in bytes; if they take more, none are
 * published. */
enum { GST_LDP_MATCHES_MAX_PICTURES = 64 << 20 };

/* Starts a frame. index: the serial number of the index. */
void gst_ldp_matches_begin (GstLdpMatches *self, guint index);

void gst_ldp_matches_add (GstLdpMatches *self, const GstLdpRegion *region,
    const CuvLdpQuery *query, CuvLdpIndex *index, gboolean thumbnails);

GstStructure *gst_ldp_matches_attach (
    GstLdpMatches *self, GstBuffer *buffer, guint width, guint height);

/* Adds "matches", a list of structures, to a bus message. */
void gst_ldp_matches_list (const GstLdpMatches *self, GstStructure *message);

G_END_DECLS

#endif
