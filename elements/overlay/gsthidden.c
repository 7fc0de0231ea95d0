/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsthidden.h"

#include <math.h>
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

/* Coordinates from 2^31 on are negative ones stored as unsigned. An oriented
 * detection may exceed the box of its region. */
static GstCuvHidden
region_of (const GstCuvObject *object, GstBuffer *buffer)
{
  GstCuvHidden region = { .label = object->label,
    .track = object->track,
    .x = (gint32) object->x,
    .y = (gint32) object->y,
    .w = object->w,
    .h = object->h };
  CuvRoi box;

  if (region.w > 0 && region.h > 0
      && gst_cuv_object_oriented_box (object, buffer, &box)) {
    gint64 right = MAX (region.x + region.w, box.right);
    gint64 bottom = MAX (region.y + region.h, box.bottom);

    region.x = MIN (region.x, box.left);
    region.y = MIN (region.y, box.top);
    region.w = right - region.x;
    region.h = bottom - region.y;
  }
  return region;
}

/* Returns the intersection over union of a region and the place where a
 * previous one would be now; dx and dy are in half pixels per frame. */
static gdouble
moved_iou (const GstCuvHidden *before, const GstCuvHidden *now)
{
  GstCuvHidden moved = *before;

  moved.x += before->dx * (before->age + 1) / 2;
  moved.y += before->dy * (before->age + 1) / 2;
  return iou (&moved, now);
}

/* ---- from frame to frame ---- */

/* The previous regions, sorted by left side, so that each current region is
 * compared with only a few of them. */
typedef struct {
  GstCuvHidden *regions;
  guint n;
  gint64 widest; /* largest width of a region, where it was or would be now */
} Before;

static GstCuvHidden
next_place (const GstCuvHidden *region)
{
  GstCuvHidden next = *region;

  next.age++;
  return gst_cuv_hidden_extended (&next);
}

static gint
compare_left (gconstpointer a, gconstpointer b)
{
  gint64 left_a = next_place (a).x, left_b = next_place (b).x;

  return (left_a > left_b) - (left_a < left_b);
}

static Before
sort_regions (GArray *regions)
{
  Before before = { .regions = (GstCuvHidden *) regions->data,
    .n = regions->len };

  g_array_sort (regions, compare_left);
  for (guint i = 0; i < regions->len; i++)
    before.widest = MAX (before.widest,
        next_place (&g_array_index (regions, GstCuvHidden, i)).w);
  return before;
}

/* Returns the index of the first region that may extend beyond x. */
static guint
first_beyond (const Before *before, gint64 x)
{
  guint low = 0, high = before->n;

  while (low < high) {
    guint middle = low + (high - low) / 2;

    if (next_place (&before->regions[middle]).x + before->widest > x)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

static gboolean
may_be_same (const GstCuvHidden *a, const GstCuvHidden *b)
{
  return a->label == b->label
      && (a->track == b->track || a->track < 0 || b->track < 0);
}

/* Marks as continued the previous region whose last place this one overlaps
 * most. The motion is computed from that region, or from one that would be here
 * by now; the latter stays held, as it may be another object. */
static void
continue_region (const Before *before, GstCuvHidden *now)
{
  GstCuvHidden *overlapped = NULL, *moved_from = NULL;
  gdouble most_overlap = 0.5, most_moved = 0.5;

  for (guint i = first_beyond (before, now->x); i < before->n; i++) {
    GstCuvHidden *region = &before->regions[i];
    gdouble overlap, moved;

    if (next_place (region).x >= now->x + now->w)
      break;
    if (!may_be_same (region, now))
      continue;
    overlap = iou (region, now);
    moved = MAX (overlap, moved_iou (region, now));
    if (overlap > most_overlap) {
      overlapped = region;
      most_overlap = overlap;
    }
    if (moved > most_moved) {
      moved_from = region;
      most_moved = moved;
    }
  }
  if (overlapped != NULL)
    overlapped->is_continued = TRUE;
  if (moved_from == NULL)
    return;
  /* the centre's motion per frame, in half pixels, even if the object was
   * missed for some frames */
  now->dx = (2 * (now->x - moved_from->x) + now->w - moved_from->w)
      / (1 + moved_from->age);
  now->dy = (2 * (now->y - moved_from->y) + now->h - moved_from->h)
      / (1 + moved_from->age);
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

/* Removes those of the first n regions that are continued or too old. */
static void
drop_old (GArray *regions, guint n, guint limit)
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
gst_cuv_hidden_add_frame (GArray *regions, const GArray *objects,
    GstBuffer *buffer, const GstCuvStyle *style, guint n)
{
  Before before;

  if (n == 0)
    g_array_set_size (regions, 0);
  before = sort_regions (regions);
  for (guint i = 0; i < objects->len; i++) {
    const GstCuvObject *object = &g_array_index (objects, GstCuvObject, i);
    GstCuvHidden region = region_of (object, buffer);

    if (region.w == 0 || region.h == 0
        || gst_cuv_style_fill (style, object->label) == CUV_OVERLAY_FILL_NONE)
      continue;
    if (regions->len - before.n == GST_CUV_MAX_HIDDEN) {
      hide_all (regions);
      return;
    }
    /* the array may have moved in memory */
    before.regions = (GstCuvHidden *) regions->data;
    continue_region (&before, &region);
    g_array_append_val (regions, region);
  }
  drop_old (regions, before.n, n);
  if (regions->len > GST_CUV_MAX_HIDDEN)
    hide_all (regions);
}

/* ---- places ---- */

/* Extends a side, from `at` on, by the motion in 1/2 pixel. */
static void
extend_side (gint64 *at, gint64 *size, gint64 motion)
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

  extend_side (&extended.x, &extended.w, region->dx * region->age);
  extend_side (&extended.y, &extended.h, region->dy * region->age);
  return extended;
}

/* Clamps to a value that is far outside of any frame, but does not overflow
 * after the motion of 1000 frames. */
static gint64
bounded (gdouble pixels)
{
  return (gint64) CLAMP (pixels, -0x1p45, 0x1p45);
}

/* Scales one dimension, rounding outwards. */
static void
scale_side (gint64 *at, gint64 *size, gint64 *motion, gint from, gint to)
{
  gdouble scale = (gdouble) to / from;
  gint64 end = bounded (ceil ((gdouble) (*at + *size) * scale));

  *at = bounded (floor ((gdouble) *at * scale));
  *size = *size > 0 ? MAX (end - *at, 1) : 0;
  *motion = bounded (round ((gdouble) *motion * scale));
}

void
gst_cuv_hidden_scale (
    GArray *regions, gint width, gint height, gint new_width, gint new_height)
{
  for (guint i = 0; i < regions->len; i++) {
    GstCuvHidden *region = &g_array_index (regions, GstCuvHidden, i);

    scale_side (&region->x, &region->w, &region->dx, width, new_width);
    scale_side (&region->y, &region->h, &region->dy, height, new_height);
  }
}
