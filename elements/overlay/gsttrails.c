/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsttrails.h"

#include "gstcuvmeta.h"

static void
clear_trail (gpointer data)
{
  g_array_unref (((GstCuvTrail *) data)->points);
}

GArray *
gst_cuv_trails_new (void)
{
  GArray *trails = g_array_new (FALSE, FALSE, sizeof (GstCuvTrail));

  g_array_set_clear_func (trails, clear_trail);
  return trails;
}

static GstCuvTrail *
find_or_add_trail (GArray *trails, gint64 id)
{
  GstCuvTrail new = { .id = id };

  for (guint i = 0; i < trails->len; i++) {
    GstCuvTrail *trail = &g_array_index (trails, GstCuvTrail, i);

    if (trail->id == id)
      return trail;
  }
  new.points = g_array_new (FALSE, FALSE, sizeof (GstCuvPoint));
  g_array_append_val (trails, new);
  return &g_array_index (trails, GstCuvTrail, trails->len - 1);
}

static void
add_point (GstCuvTrail *trail, const GstCuvObject *object, GstClockTime time,
    guint length)
{
  const GstCuvPoint point = { object->x + (object->w - 1) / 2.0,
    object->y + (object->h - 1) / 2.0 };

  trail->label = object->label;
  trail->last_seen = time;
  g_array_append_val (trail->points, point);
  if (trail->points->len > length)
    g_array_remove_range (trail->points, 0, trail->points->len - length);
}

/* Without timestamps every trail is too old: its age is unknown. */
static gboolean
is_trail_over (const GstCuvTrail *trail, GstClockTime time)
{
  return !GST_CLOCK_TIME_IS_VALID (time)
      || !GST_CLOCK_TIME_IS_VALID (trail->last_seen)
      || (time < trail->last_seen || time - trail->last_seen > GST_SECOND);
}

void
gst_cuv_trails_add_frame (
    GArray *trails, const GArray *objects, GstClockTime time, guint length)
{
  for (guint i = trails->len; i-- > 0;) {
    if (length == 0
        || is_trail_over (&g_array_index (trails, GstCuvTrail, i), time))
      g_array_remove_index (trails, i);
  }
  for (guint i = 0; i < objects->len && length > 0; i++) {
    const GstCuvObject *object = &g_array_index (objects, GstCuvObject, i);

    if (object->track >= 0 && object->w > 0 && object->h > 0)
      add_point (
          find_or_add_trail (trails, object->track), object, time, length);
  }
}
