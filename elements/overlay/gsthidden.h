/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The regions to hide: those of a frame, and those that have disappeared within
 * the last frames. */
#ifndef GST_CUV_HIDDEN_H
#define GST_CUV_HIDDEN_H

#include "style.h"

G_BEGIN_DECLS

/* More regions become one that is the whole frame. */
#define GST_CUV_MAX_HIDDEN 4096

typedef struct {
  GQuark label;
  gint64 track; /* -1: none */
  gint64 x, y, w,
      h;         /* pixels, where it was last seen; w = 0: the whole frame */
  gint64 dx, dy; /* its motion when it was last seen, 1/2 pixel a frame */
  guint age;     /* frames since then */
  gboolean is_continued; /* by an object of the next frame */
} GstCuvHidden;

/* Replaces regions, an array of GstCuvHidden, by those of the objects
 * (GstCuvObject, of the buffer) that the style fills. Beside them it keeps for
 * n frames those that the objects do not continue: an object continues the one
 * region that it overlaps most, of the same label, no other track, and by an
 * IoU above 0.5. */
void gst_cuv_hidden_add_frame (GArray *regions, const GArray *objects,
    GstBuffer *buffer, const GstCuvStyle *style, guint n);

/* To a frame of new_width x new_height pixels from one of width x height. */
void gst_cuv_hidden_scale (
    GArray *regions, gint width, gint height, gint new_width, gint new_height);

/* Moves the region on as it moved before: to the box from where it was last
 * seen to where it would be now. */
GstCuvHidden gst_cuv_hidden_extended (const GstCuvHidden *region);

G_END_DECLS

#endif
