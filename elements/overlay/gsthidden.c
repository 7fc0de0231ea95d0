/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsthidden.h"

#include "gstcuvmeta.h"

static gdouble
overlap (gint64 a, gint64 size_a, gint64 b, gint64 size_b)
{
  return (gdouble) MAX (MIN (a + size_a, b + size_b) - MAX (a, b), 0);
}

static gdouble
iou (const GstCuvHidden *a, const GstCuvHidden *b)
{
  gdouble both =
      overlap (a->x, a->w, b->x, b->w) * overlap (a->y, a->h, b->y, b->h);
  gdouble all =
      (gdouble) a->w * (gdouble) a->h + (gdouble) b->w * (gdouble) b->h - both;

  return all > 0 ? both / all : 0;
}

/* A coordinate of 2^31 and more is a negative one that became unsigned. */
static GstCuvHidden
region_of (const GstCuvObject *object)
{
  return (GstCuvHidden){ .label = object->label,
    .x = (gint32) object->x,
    .y = (gint32) object->y,
    .w = object->w,
    .h = object->h };
}

/* With where the region was, or would be now. */
static gdouble
best_iou (const GstCuvHidden *before, const GstCuvHidden *now)
{
  GstCuvHidden moved = *before;

  moved.x += before->dx * (before->age + 1) / 2;
  moved.y += before->dy * (before->age + 1) / 2;
  return MAX (iou (before, now), iou (&moved, now));
}

/* Takes the motion from the region among the first n that this one continues.
 */
static void
continue_region (GArray *regions, guint n, GstCuvHidden *now)
{
  GstCuvHidden *best = NULL;
  gdouble most = 0.5;

  for (guint i = 0; i < n; i++) {
    GstCuvHidden *before = &g_array_index (regions, GstCuvHidden, i);
    gdouble same = before->label == now->label ? best_iou (before, now) : 0;

    if (same > most) {
      best = before;
      most = same;
    }
  }
  if (best == NULL)
    return;
  /* of one that was missed, the motion per frame */
  now->dx = (2 * (now->x - best->x) + now->w - best->w) / (1 + best->age);
  now->dy = (2 * (now->y - best->y) + now->h - best->h) / (1 + best->age);
  best->is_continued = TRUE;
}

static void
hide_all (GArray *regions)
{
  GstCuvHidden all = { 0 };

  GST_WARNING ("the whole frame is hidden: there are more than %d regions to "
               "hide",
      GST_CUV_MAX_HIDDEN);
  g_array_set_size (regions, 0);
  g_array_append_val (regions, all);
}

/* Removes those of the first n that are continued or too before. */
static void
age (GArray *regions, guint n, guint limit)
{
  guint kept = 0;

  for (guint i = 0; i < regions->len; i++) {
    GstCuvHidden region = g_array_index (regions, GstCuvHidden, i);

    if (i < n && (region.is_continued || ++region.age > limit))
      continue;
    g_array_index (regions, GstCuvHidden, kept++) = region;
  }
  g_array_set_size (regions, kept);
}

void
gst_cuv_hidden_add_frame (
    GArray *regions, const GArray *objects, const GstCuvStyle *style, guint n)
{
  guint n_old;

  if (n == 0)
    g_array_set_size (regions, 0);
  n_old = regions->len;
  for (guint i = 0; i < objects->len; i++) {
    const GstCuvObject *object = &g_array_index (objects, GstCuvObject, i);
    GstCuvHidden region = region_of (object);

    if (region.w == 0 || region.h == 0
        || gst_cuv_style_fill (style, object->label) == CUV_FILL_NONE)
      continue;
    if (regions->len - n_old == GST_CUV_MAX_HIDDEN) {
      hide_all (regions);
      return;
    }
    continue_region (regions, n_old, &region);
    g_array_append_val (regions, region);
  }
  age (regions, n_old, n);
  if (regions->len > GST_CUV_MAX_HIDDEN)
    hide_all (regions);
}

/* Extends a side of this size, at, by the motion in 1/2 pixel. */
static void
extend (gint64 *at, gint64 *size, gint64 motion)
{
  gint64 pixels = (ABS (motion) + 1) / 2;

  *size += pixels;
  if (motion < 0)
    *at -= pixels;
}

GstCuvHidden
gst_cuv_hidden_extended (const GstCuvHidden *region)
{
  GstCuvHidden extended = *region;

  extend (&extended.x, &extended.w, region->dx * region->age);
  extend (&extended.y, &extended.h, region->dy * region->age);
  return extended;
}
