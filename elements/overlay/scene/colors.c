/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Picks the colour of a label, a track or a kind of metadata, and of
 * text on it. */
#include "scene/scene-private.h"

#include <math.h>
#include "gstcolor.h"

/* Colours that are easy to distinguish, none too dark. */
static const guint palette[] = { 0xffe6194b, 0xff3cb44b, 0xffffe119, 0xff4363d8,
  0xfff58231, 0xff911eb4, 0xff42d4f4, 0xfff032e6, 0xffbfef45, 0xfffabed4,
  0xff469990, 0xff9a6324 };

guint
gst_cuv_scene_color (const GstCuvScene *self, const gchar *label, gint64 track)
{
  const GstCuvStyle *style = self->style;
  guint argb = style->color;
  gpointer own;
  guint alpha;

  if (style->label_colors != NULL
      && g_hash_table_lookup_extended (style->label_colors, label, NULL, &own))
    argb = GPOINTER_TO_UINT (own);
  else if (argb == 0)
    argb = palette[(track >= 0 ? (guint64) track : g_str_hash (label))
        % G_N_ELEMENTS (palette)];
  argb = gst_cuv_color_opaque_if_none (argb);
  alpha = (guint) lrint ((argb >> 24) * style->opacity);
  return (argb & 0xffffffu) | alpha << 24;
}

const gchar *
gst_cuv_scene_object_label (const GstCuvObject *object)
{
  const gchar *label = g_quark_to_string (object->label);

  return label != NULL ? label : "";
}

guint
gst_cuv_scene_object_color (const GstCuvScene *self, const GstCuvObject *object)
{
  return gst_cuv_scene_color (
      self, gst_cuv_scene_object_label (object), object->track);
}

void
gst_cuv_scene_add_text (const GstCuvScene *self, guint argb, CuvTextMask *mask,
    gint x, gint y, gint width, gint height)
{
  gboolean bright =
      cuv_grey_of_rgb (argb >> 16 & 255, argb >> 8 & 255, argb & 255) > 140;

  cuv_drawing_rect (self->drawing, argb, x, y, width, height, 0);
  cuv_drawing_mask (self->drawing,
      (argb & 0xff000000u) | (bright ? 0 : 0xffffffu),
      x + (width - mask->width) / 2, y, mask->width, MIN (mask->height, height),
      mask->coverage, mask->stride, &mask->place);
}
