/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Descriptors as metadata: a table (GstCuvTable) of kind "ldp", "descriptor" in
 * JSON. Each row is a described region: region_id (i32, -1: the frame), x, y,
 * w, h (u32). Its structure holds the parameters, named as the properties of
 * ldpdescriptor with _ for - (directions: a list of degrees), and counts
 * (GBytes): for each row [block row][block column][direction][bin],
 * little-endian, count_size bytes each. */
#ifndef GST_LDP_META_H
#define GST_LDP_META_H

#include <gst/gst.h>
#include "shared/gstldpregions.h"
#include "ldp.h"

G_BEGIN_DECLS

/* Name of the structure of a custom query upstream, which asks whether an
 * element there describes frames; it works even before the first frame. */
#define GST_LDP_QUERY_DESCRIBED "GstCuvLdpDescribed"

/* Adds a table of descriptors. counts: cuv_ldp_n_counts() of
 * cuv_ldp_count_size() bytes for each region. */
GstStructure *gst_ldp_meta_add (GstBuffer *buffer, guint width, guint height,
    const CuvLdpLayout *layout, const GstLdpRegion *regions, guint n_regions,
    GBytes *counts);

/* Descriptors of a buffer; the pointers are valid as long as the buffer. */
typedef struct {
  CuvLdpLayout layout;
  guint width, height; /* size of the described frame */
  guint64 age;         /* ns since the described frame; 0: this one */
  guint n_regions;
  const guint8 *regions; /* GstLdpRegion, possibly unaligned */
  const guint8 *counts;  /* `size` bytes per region */
  gsize size;
} GstLdpDescriptors;

/* Reads the first table of descriptors. Returns FALSE if there is none, or if
 * it is invalid: then *problem says why; free it. */
gboolean gst_ldp_meta_read (
    GstBuffer *buffer, GstLdpDescriptors *descriptors, gchar **problem);

G_END_DECLS

#endif
