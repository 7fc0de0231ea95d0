/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Adds the regions to hide to the list: their bounds and their order. */
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

typedef struct {
  CuvFillStyle style;
  gint64 x, y, w, h;
} Fill;

static Fill
fill_of (const GstCuvScene *scene, const GstCuvHidden *hidden)
{
  const GstCuvStyle *style = scene->style;
  const GstCuvHidden region = gst_cuv_hidden_extended (hidden);
  const gint64 mx = margin_of (style, region.w);
  const gint64 my = margin_of (style, region.h);

  if (region.w == 0)
    return (Fill){ { .mode = CUV_OVERLAY_FILL_SOLID, .rgb = style->fill_color },
      0, 0, scene->width, scene->height };
  return (Fill){ { .mode = gst_cuv_style_fill (style, region.label),
                     .rgb = style->fill_color,
                     .is_ellipse = style->fill_shape == GST_CUV_FILL_ELLIPSE,
                     .cells = (int) style->fill_cells },
    region.x - mx, region.y - my, region.w + 2 * mx, region.h + 2 * my };
}

/* Fills with larger cells are drawn later: where fills overlap, the one that
 * reveals least is visible. Solid fills, which keep nothing, come last. */
static gint
compare_strength (gconstpointer a, gconstpointer b, gpointer scene)
{
  const Fill p = fill_of (scene, a), q = fill_of (scene, b);
  const gint64 side_p = MAX (p.w, p.h), side_q = MAX (q.w, q.h);
  const gint solid_p = p.style.mode == CUV_OVERLAY_FILL_SOLID;
  const gint solid_q = q.style.mode == CUV_OVERLAY_FILL_SOLID;

  return solid_p != solid_q ? solid_p - solid_q
                            : (side_p > side_q) - (side_p < side_q);
}

gboolean
gst_cuv_scene_add_fills (GstCuvScene *self, GArray *hidden)
{
  g_array_sort_with_data (hidden, compare_strength, self);
  for (guint i = 0; i < hidden->len; i++) {
    const Fill f = fill_of (self, &g_array_index (hidden, GstCuvHidden, i));

    if (f.style.mode != CUV_OVERLAY_FILL_NONE
        && !cuv_drawing_fill (self->drawing, &f.style, f.x, f.y, f.w, f.h))
      return FALSE;
  }
  return TRUE;
}
