/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Descriptors as metadata: a table of kind "ldp" (GstCuvTable), which JSON
 * calls "descriptor". Each row is a part of the frame that was described:
 * region_id (i32, -1: the frame), x, y, w, h (u32). Its structure has the
 * parameters, named as the properties of ldpdescriptor with _ for -
 * (directions: a list of degrees), descriptor_width and _height; and counts
 * (GBytes), of each row one after the other [block row][block column]
 * [direction][bin], little-endian, each of count_size bytes. */
#ifndef GST_LDP_META_H
#define GST_LDP_META_H

#include <gst/gst.h>
#include "shared/gstldpregions.h"
#include "ldp.h"

G_BEGIN_DECLS

/* counts: cuv_ldp_n_counts() of cuv_ldp_count_size() bytes for each region. */
GstStructure *gst_ldp_meta_add (GstBuffer *buffer, guint width, guint height,
    const CuvLdpLayout *layout, const GstLdpRegion *regions, guint n_regions,
    GBytes *counts);

/* Of a buffer; what is pointed to is its. */
typedef struct {
  CuvLdpLayout layout;
  guint width, height; /* of the frame that was described */
  guint64 age;         /* ns since that frame; 0: it is this one */
  guint n_regions;
  const guint8 *regions; /* GstLdpRegion, maybe not aligned */
  const guint8 *counts;  /* of the first; as many bytes behind each */
  gsize size;
} GstLdpDescriptors;

/* The first table of descriptors; FALSE if there is none. *problem: one is
 * there, but broken; free it. */
gboolean gst_ldp_meta_read (
    GstBuffer *buffer, GstLdpDescriptors *descriptors, gchar **problem);

G_END_DECLS

#endif
