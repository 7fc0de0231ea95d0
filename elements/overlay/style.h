/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The properties of visionoverlay. */
#ifndef GST_CUV_STYLE_H
#define GST_CUV_STYLE_H

#include "overlay/overlay-types.h"
#include "settings/gstcuvsettings.h"

G_BEGIN_DECLS

typedef enum {
  GST_CUV_FILL_RECTANGLE,
  GST_CUV_FILL_ELLIPSE,
} GstCuvFillShape;

typedef struct {
  gboolean draw_boxes, draw_labels, draw_confidence, draw_ids, draw_shapes;
  guint color;         /* ARGB; 0 = a colour per label */
  guint thickness;     /* pixels, 0 = by the frame's height */
  guint trail_length;  /* frames; 0 = no trails */
  gdouble opacity;     /* 0 to 1 */
  gint fill;           /* CuvFillMode */
  gint fill_shape;     /* GstCuvFillShape */
  guint fill_color;    /* RGB; alpha is ignored */
  guint fill_cells;    /* number of cells across a region's longer side */
  gdouble fill_margin; /* fraction of a region's size, on each side */
  guint hold_regions;  /* frames */
  gchar *font;         /* a Pango description */

  GstStructure *label_colors_set; /* as set; parsed: */
  GHashTable *label_colors;       /* label -> ARGB; NULL = none */
  GstStructure *label_fills_set;  /* as set; parsed: */
  GHashTable *label_fills;        /* label -> CuvFillMode; NULL = none */
  gchar *labels_set;              /* as set; parsed: */
  GHashTable *shown_labels;       /* labels to draw and to fill; NULL = all */
} GstCuvStyle;

extern const GstCuvSettingsTable gst_cuv_style_settings;

/* Returns how regions of this label are hidden: as label-fills says if it has
 * the label, otherwise as fill says if labels selects it. */
CuvFillMode gst_cuv_style_fill (const GstCuvStyle *style, GQuark label);

/* Whether regions of any label are hidden. */
gboolean gst_cuv_style_hides (const GstCuvStyle *style);

/* Reads the property stats; defined by the element. */
void gst_vision_overlay_get_stats (GstElement *element, GValue *value);

G_END_DECLS

#endif
