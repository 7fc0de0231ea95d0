/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The regions to hide: those of a frame, and those that have disappeared within
 * the last frames. */
#ifndef GST_CUV_HIDDEN_H
#define GST_CUV_HIDDEN_H

#include "style.h"

G_BEGIN_DECLS

/* Maximum number of regions; if there are more, the whole frame is hidden. */
#define GST_CUV_MAX_HIDDEN 4096

typedef struct {
  GQuark label;
  gint64 track; /* track id; -1: none */
  gint64 x, y, w,
      h;         /* pixels, where it was last seen; w = 0: the whole frame */
  gint64 dx, dy; /* its motion when it was last seen, in 1/2 pixel per frame */
  guint age;     /* number of frames since then */
  gboolean is_continued; /* an object of the next frame continues it */
} GstCuvHidden;

/* Replaces regions, an array of GstCuvHidden, by the regions of the buffer's
 * objects (GstCuvObject) that the style fills. Previous regions that no object
 * continues are kept for n frames. An object continues the region that it
 * overlaps most, by an IoU above 0.5, if that has the same label and not
 * another track. */
void gst_cuv_hidden_add_frame (GArray *regions, const GArray *objects,
    GstBuffer *buffer, const GstCuvStyle *style, guint n);

/* Scales the regions from a frame of width x height pixels to one of new_width
 * x new_height. */
void gst_cuv_hidden_scale (
    GArray *regions, gint width, gint height, gint new_width, gint new_height);

/* Extends the region by its motion: the bounding box of where it was last seen
 * and where it would be now. */
GstCuvHidden gst_cuv_hidden_extended (const GstCuvHidden *region);

G_END_DECLS

#endif
