/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The regions of a frame to describe, and the properties that select them. */
#ifndef GST_LDP_REGIONS_H
#define GST_LDP_REGIONS_H

#include <gst/video/video.h>
#include "gstcuvproperties.h"
#include "shared/gstldpparameters.h"

G_BEGIN_DECLS

typedef enum {
  GST_LDP_FRAME,
  GST_LDP_ROI_LIST,
} GstLdpRegionKind;

/* The properties region and object-class; the latter as a quark, 0 = any. */
typedef struct {
  gint kind; /* GstLdpRegionKind */
  GQuark object_class;
} GstLdpRegionChoice;

/* A region of a frame, as a row of a table; pixels. */
typedef struct {
  gint32 id; /* id of the region of interest; -1: the frame */
  guint32 x, y, width, height;
} GstLdpRegion;

/* Further regions of a frame are ignored. */
enum { GST_LDP_MAX_REGIONS = 256 };

/* Property ids: first, first + 1. */
enum { GST_LDP_N_REGION_PROPERTIES = 2 };
void gst_ldp_region_choice_install (GObjectClass *klass, guint first);

/* Set and get property first + nth; set returns whether the value changed. */
gboolean gst_ldp_region_choice_set (
    GstLdpRegionChoice *self, guint nth, const GValue *value);
void gst_ldp_region_choice_get (
    const GstLdpRegionChoice *self, guint nth, GValue *value);

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
