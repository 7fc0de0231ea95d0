/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The regions of a frame to describe, and the properties that select them. */
#ifndef GST_LDP_REGIONS_H
#define GST_LDP_REGIONS_H

#include <gst/video/video.h>
#include "shared/gstldpparameters.h"

G_BEGIN_DECLS

typedef enum {
  GST_LDP_FRAME,
  GST_LDP_ROI_LIST,
} GstLdpRegionKind;

/* The first part of an element's settings. */
typedef struct {
  gint kind;           /* GstLdpRegionKind */
  gchar *label;        /* object-class as it was set */
  GQuark object_class; /* what it says, 0 = any */
} GstLdpRegionChoice;

GType gst_ldp_region_kind_get_type (void);
gchar *gst_ldp_region_choice_parse (gpointer settings);

/* Its rows in a table of settings. */
/* clang-format off */
#define GST_LDP_REGION_SETTINGS                                                \
  { "region", "Region", "Which part of a frame to describe",                   \
    .offset = G_STRUCT_OFFSET (GstLdpRegionChoice, kind),                      \
    .get_type = gst_ldp_region_kind_get_type, .value = GST_LDP_FRAME },        \
  { "object-class", "Object class",                                            \
    "Label of the regions to describe (region=roi-list; default: all)",        \
    .offset = G_STRUCT_OFFSET (GstLdpRegionChoice, label),                     \
    .type = G_TYPE_STRING, .parse = gst_ldp_region_choice_parse }
/* clang-format on */

/* A region of a frame, as a row of a table; pixels. */
typedef struct {
  gint32 id; /* id of the region of interest; -1: the frame */
  guint32 x, y, width, height;
} GstLdpRegion;

/* Further regions of a frame are ignored. */
enum { GST_LDP_MAX_REGIONS = 256 };

/* The descriptor layout for frames of width x height. Returns NULL, or the
 * problem and what to do; free it. */
gchar *gst_ldp_region_choice_layout (const GstLdpRegionChoice *self,
    const GstLdpParameters *parameters, gint width, gint height,
    CuvLdpLayout *layout);

/* Fills regions with the GstLdpRegion of a buffer. */
void gst_ldp_regions_collect (GArray *regions, GstBuffer *buffer,
    const GstLdpRegionChoice *choice, const GstVideoInfo *info);

/* Drops regions beyond gst_ldp_max_regions(), with a warning unless *warned,
 * which it sets. */
void gst_ldp_regions_limit (GArray *regions, const CuvLdpLayout *layout,
    GstElement *element, gboolean *warned);

CuvLdpRect gst_ldp_region_rect (const GstLdpRegion *self);

/* The region in a frame of info's size; it was described in a frame of width x
 * height, inside which it lies. */
CuvLdpRect gst_ldp_region_rect_in (const GstLdpRegion *self, guint width,
    guint height, const GstVideoInfo *info);

G_END_DECLS

#endif
