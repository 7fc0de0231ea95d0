/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which parts of a frame are described, and the properties that say so. */
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

/* The property region; and object-class, as a quark, 0 = any. */
typedef struct {
  gint kind; /* GstLdpRegionKind */
  GQuark object_class;
} GstLdpRegionChoice;

/* A part of a frame, as a row of a table. */
typedef struct {
  gint32 id; /* the region of interest's; -1: the frame */
  guint32 x, y, width, height;
} GstLdpRegion;

/* More regions of a frame than this are left out. */
enum { GST_LDP_MAX_REGIONS = 256 };

/* Their properties have the ids first and first + 1. */
enum { GST_LDP_N_REGION_PROPERTIES = 2 };
void gst_ldp_region_choice_install (GObjectClass *klass, guint first);

/* Of property first + nth. set: whether that is a change. */
gboolean gst_ldp_region_choice_set (
    GstLdpRegionChoice *self, guint nth, const GValue *value);
void gst_ldp_region_choice_get (
    const GstLdpRegionChoice *self, guint nth, GValue *value);

/* The shape of what is described in frames of width x height. NULL, or what is
 * wrong and what to do; free it. */
gchar *gst_ldp_region_choice_layout (const GstLdpRegionChoice *self,
    const GstLdpParameters *parameters, gint width, gint height,
    CuvLdpLayout *layout);

/* The parts of this buffer, as GstLdpRegion. */
void gst_ldp_regions_collect (GArray *regions, GstBuffer *buffer,
    const GstLdpRegionChoice *choice, const GstVideoInfo *info);

/* Leaves out what is more than a frame may have, with a warning unless there
 * was one: it is set then. */
void gst_ldp_regions_limit (GArray *regions, const CuvLdpLayout *layout,
    GstElement *element, gboolean *warned);

CuvLdpRect gst_ldp_region_rect (const GstLdpRegion *self);

/* The same in a frame that was width x height, with the region inside, when it
 * was described. */
CuvLdpRect gst_ldp_region_rect_in (const GstLdpRegion *self, guint width,
    guint height, const GstVideoInfo *info);

G_END_DECLS

#endif
