/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The properties of visionoverlay, parsed. */
#ifndef GST_CUV_STYLE_H
#define GST_CUV_STYLE_H

#include <gst/gst.h>

G_BEGIN_DECLS

/* Copies share tables and font, which are immutable. */
typedef struct {
  gboolean boxes, labels, confidence, ids, shapes;
  guint color;              /* ARGB; 0 = a colour per label */
  GHashTable *label_colors; /* label -> ARGB; NULL = none */
  GHashTable *only;         /* labels to draw; NULL = all */
  guint thickness;          /* 0 = by the frame's height */
  guint trail_length;       /* frames; 0 = no trails */
  GRefString *font;
  gdouble opacity;
} GstCuvStyle;

void gst_cuv_style_copy (GstCuvStyle *out, const GstCuvStyle *in);
void gst_cuv_style_clear (GstCuvStyle *style);

/* The properties, by id. */
enum {
  GST_CUV_STYLE_DRAW_BOXES = 1,
  GST_CUV_STYLE_DRAW_LABELS,
  GST_CUV_STYLE_DRAW_CONFIDENCE,
  GST_CUV_STYLE_DRAW_IDS,
  GST_CUV_STYLE_DRAW_SHAPES,
  GST_CUV_STYLE_COLOR,
  GST_CUV_STYLE_LABEL_COLORS,
  GST_CUV_STYLE_THICKNESS,
  GST_CUV_STYLE_FONT,
  GST_CUV_STYLE_OPACITY,
  GST_CUV_STYLE_LABELS,
  GST_CUV_STYLE_TRAIL_LENGTH,
  GST_CUV_STYLE_N,
};

/* A style, and the unparsed values of some of its properties. */
typedef struct {
  GstCuvStyle style;
  GstStructure *label_colors;
  gchar *labels;
} GstCuvStyleSettings;

void gst_cuv_style_install (GObjectClass *klass);
void gst_cuv_style_settings_init (GstCuvStyleSettings *self);
void gst_cuv_style_settings_clear (GstCuvStyleSettings *self);

/* Sets a property. Returns NULL, or an error message to be freed; the old value
 * then stays. */
gchar *gst_cuv_style_set (
    GstCuvStyleSettings *self, guint id, const GValue *value);
void gst_cuv_style_get (GstCuvStyleSettings *self, guint id, GValue *value);

G_END_DECLS

#endif
