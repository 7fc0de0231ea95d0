/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The bounds of the regions to hide. */
#include "scene/scene-private.h"

#include <math.h>
#include "gsthidden.h"

/* Makes an inscribed ellipse contain what its bounding box contained before:
 * (sqrt (2) - 1) / 2, rounded up. */
#define ELLIPSE_MARGIN 0.20711

static gint64
margin_of (const GstCuvStyle *style, gint64 size)
{
  gdouble margin = style->fill_margin;

  if (style->fill_shape == GST_CUV_FILL_ELLIPSE)
    margin = MAX (margin, ELLIPSE_MARGIN);
  return (gint64) ceil ((gdouble) size * margin);
}

static gboolean
add_fill (GstCuvScene *scene, const GstCuvHidden *hidden)
{
  const GstCuvStyle *style = scene->style;
  const GstCuvHidden region = gst_cuv_hidden_extended (hidden);
  const gint64 mx = margin_of (style, region.w);
  const gint64 my = margin_of (style, region.h);
  CuvFillStyle fill = {
    .mode = gst_cuv_style_fill (style, region.label),
    .rgb = style->fill_color,
    .is_ellipse = style->fill_shape == GST_CUV_FILL_ELLIPSE,
    .cells = (int) style->fill_cells,
  };

  if (region.w == 0) {
    fill.mode = CUV_FILL_SOLID;
    fill.is_ellipse = false;
    return cuv_drawing_fill (
        scene->drawing, &fill, 0, 0, scene->width, scene->height);
  }
  return fill.mode == CUV_FILL_NONE
      || cuv_drawing_fill (scene->drawing, &fill, region.x - mx, region.y - my,
          region.w + 2 * mx, region.h + 2 * my);
}

gboolean
gst_cuv_scene_add_fills (GstCuvScene *self, const GArray *hidden)
{
  for (guint i = 0; i < hidden->len; i++) {
    if (!add_fill (self, &g_array_index (hidden, GstCuvHidden, i)))
      return FALSE;
  }
  return TRUE;
}
