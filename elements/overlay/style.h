/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The properties of visionoverlay. */
#ifndef GST_CUV_STYLE_H
#define GST_CUV_STYLE_H

#include "settings/gstcuvsettings.h"

G_BEGIN_DECLS

typedef struct {
  gboolean draw_boxes, draw_labels, draw_confidence, draw_ids, draw_shapes;
  guint color;        /* ARGB; 0 = a colour per label */
  guint thickness;    /* pixels, 0 = by the frame's height */
  guint trail_length; /* frames; 0 = no trails */
  gdouble opacity;    /* 0 to 1 */
  gchar *font;        /* a Pango description */

  GstStructure *label_colors_set; /* as set; parsed: */
  GHashTable *label_colors;       /* label -> ARGB; NULL = none */
  gchar *labels_set;              /* as set; parsed: */
  GHashTable *shown_labels;       /* labels to draw; NULL = all */
} GstCuvStyle;

extern const GstCuvSettingsTable gst_cuv_style_settings;

/* Of the element. */
void gst_vision_overlay_get_stats (GstElement *element, GValue *value);

G_END_DECLS

#endif
