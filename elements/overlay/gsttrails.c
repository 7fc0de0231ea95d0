/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsttrails.h"

#include <math.h>

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

gboolean
gst_cuv_field_as_double (
    const GstStructure *structure, const gchar *field, gdouble *number)
{
  const GValue *value = gst_structure_get_value (structure, field);
  GValue converted = G_VALUE_INIT;

  if (value == NULL
      || !g_value_type_transformable (G_VALUE_TYPE (value), G_TYPE_DOUBLE))
    return FALSE;
  g_value_init (&converted, G_TYPE_DOUBLE);
  g_value_transform (value, &converted);
  *number = g_value_get_double (&converted);
  return isfinite (*number);
}

gint64
gst_cuv_region_id (GstVideoRegionOfInterestMeta *roi)
{
  GstStructure *tracked =
      gst_video_region_of_interest_meta_get_param (roi, "object_id");
  gdouble id;

  return tracked != NULL && gst_cuv_field_as_double (tracked, "id", &id)
          && id >= 1 && id < 1e18
      ? (gint64) id
      : 0;
}

const gchar *
gst_cuv_region_label (const GstVideoRegionOfInterestMeta *roi)
{
  const gchar *label = g_quark_to_string (roi->roi_type);

  return label != NULL ? label : "";
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
add_point (GstCuvTrail *trail, const GstVideoRegionOfInterestMeta *roi,
    GstClockTime time, guint length)
{
  const GstCuvPoint point = { roi->x + (roi->w - 1) / 2.0,
    roi->y + (roi->h - 1) / 2.0 };

  trail->label = roi->roi_type;
  trail->last_seen = time;
  g_array_append_val (trail->points, point);
  if (trail->points->len > length)
    g_array_remove_range (trail->points, 0, trail->points->len - length);
}

/* Without times every trail is: its age is unknown. */
static gboolean
is_over (const GstCuvTrail *trail, GstClockTime time)
{
  return !GST_CLOCK_TIME_IS_VALID (time)
      || !GST_CLOCK_TIME_IS_VALID (trail->last_seen)
      || (time < trail->last_seen || time - trail->last_seen > GST_SECOND);
}

void
gst_cuv_trails_add_frame (GArray *trails, GstBuffer *buffer, guint length)
{
  const GstClockTime time = GST_BUFFER_PTS (buffer);
  GstVideoRegionOfInterestMeta *roi;
  gpointer state = NULL;

  for (guint i = trails->len; i-- > 0;) {
    if (length == 0 || is_over (&g_array_index (trails, GstCuvTrail, i), time))
      g_array_remove_index (trails, i);
  }
  while (length > 0
      && (roi = (GstVideoRegionOfInterestMeta *)
              gst_buffer_iterate_meta_filtered (buffer, &state,
                  GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))) {
    if (gst_cuv_region_id (roi) > 0 && roi->w > 0 && roi->h > 0)
      add_point (find_or_add_trail (trails, gst_cuv_region_id (roi)), roi, time,
          length);
  }
}
