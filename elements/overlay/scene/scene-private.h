/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the parts of a scene share. */
#ifndef GST_CUV_SCENE_PRIVATE_H
#define GST_CUV_SCENE_PRIVATE_H

#include "gstcuvmeta.h"
#include "scene/scene.h"

G_BEGIN_DECLS

typedef struct {
  CuvDrawing *drawing;
  CuvText *text;
  const GstCuvStyle *style;
  GstBuffer *buffer;
  gint width, height;
  gint thickness;
  gint bottom; /* the first row that strips of pictures have taken */
} GstCuvScene;

/* ARGB, opacity included. Tracked objects of one label are told apart by their
 * ids; 0 is none. */
guint gst_cuv_scene_color (
    const GstCuvScene *self, const gchar *label, gint64 id);
guint gst_cuv_scene_region_color (
    const GstCuvScene *self, GstVideoRegionOfInterestMeta *roi);

/* Text in the middle of a plate, cut at its lower edge. */
void gst_cuv_scene_write (const GstCuvScene *self, guint argb,
    const CuvTextMask *mask, gint x, gint y, gint width, gint height);

/* Adds a table of pictures: a strip for each region, each above the last. */
void gst_cuv_scene_add_strips (GstCuvScene *self, const GstCuvTable *table);

G_END_DECLS

#endif
