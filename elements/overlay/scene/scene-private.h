/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Types and functions that the files that build a scene share. */
#ifndef GST_CUV_SCENE_PRIVATE_H
#define GST_CUV_SCENE_PRIVATE_H

#include "gstcuvmeta.h"
#include "scene/scene.h"

G_BEGIN_DECLS

typedef struct {
  CuvDrawing *drawing;
  CuvText *text;
  const GstCuvStyle *style;
  const GArray *objects; /* GstCuvObject */
  GstBuffer *buffer;
  gint width, height;
  gint thickness;
  gint bottom; /* strips of pictures occupy the rows from this one on */
} GstCuvScene;

/* Hides regions (GstCuvHidden), sorting them by the strength of their fills.
 * Returns FALSE if one cannot be hidden. */
gboolean gst_cuv_scene_add_fills (GstCuvScene *self, GArray *hidden);

/* Returns the colour of a label, a track or a kind of metadata: ARGB, opacity
 * included. label-colors wins, then the property color, then the palette by
 * track (by label if that is -1). */
guint gst_cuv_scene_color (
    const GstCuvScene *self, const gchar *label, gint64 track);
guint gst_cuv_scene_object_color (
    const GstCuvScene *self, const GstCuvObject *object);

/* Returns the object's label, "" if it has none. */
const gchar *gst_cuv_scene_object_label (const GstCuvObject *object);

/* Draws a filled rectangle with the text centred in it, cut at its lower
 * edge. */
void gst_cuv_scene_add_text (const GstCuvScene *self, guint argb,
    CuvTextMask *mask, gint x, gint y, gint width, gint height);

/* Adds a table of pictures: a strip per region, stacked upwards from bottom. */
void gst_cuv_scene_add_strips (GstCuvScene *self, const GstCuvTable *table);

G_END_DECLS

#endif
