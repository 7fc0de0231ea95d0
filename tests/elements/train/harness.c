/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "harness.h"

#include <string.h>

/* ---- frames ---- */

Place
place_of (guint i)
{
  return (Place){ 10 + i * 37 % 80, 8 + i * 23 % 50, 30 + i * 7 % 20 };
}

static guint8
background (guint i, guint x, guint y)
{
  return (
      guint8) (60 + ((x / 9 * 73 + y / 7 * 151 + i * 31) * 2654435761u >> 25));
}

static guint8
cross (const Place *at, guint x, guint y)
{
  const guint third = at->size / 3, dx = x - at->x, dy = y - at->y;

  return (dx >= third && dx < at->size - third)
          || (dy >= third && dy < at->size - third)
      ? 20
      : 230;
}

/* Returns a frame with a cross on a background, grey in all formats. */
GstBuffer *
frame_new (const gchar *format, guint i, gboolean with_cross)
{
  GstBuffer *buffer = cuv_frame_new (format, WIDTH, HEIGHT);
  const Place at = place_of (i);
  GstVideoFrame video;
  GstVideoInfo info;

  gst_video_info_set_format (
      &info, gst_video_format_from_string (format), WIDTH, HEIGHT);
  fail_unless (gst_video_frame_map (&video, &info, buffer, GST_MAP_WRITE));
  for (guint y = 0; y < HEIGHT; y++) {
    for (guint x = 0; x < WIDTH; x++) {
      const gboolean inside = with_cross && x >= at.x && x < at.x + at.size
          && y >= at.y && y < at.y + at.size;
      const guint8 value = inside ? cross (&at, x, y) : background (i, x, y);

      for (guint c = 0; c < (GST_VIDEO_INFO_IS_RGB (&info) ? 3u : 1u); c++)
        *((guint8 *) GST_VIDEO_FRAME_COMP_DATA (&video, c)
            + y * (guint) GST_VIDEO_FRAME_COMP_STRIDE (&video, c)
            + x * (guint) GST_VIDEO_FRAME_COMP_PSTRIDE (&video, c)) = value;
    }
  }
  gst_video_frame_unmap (&video);
  GST_BUFFER_PTS (buffer) = i * GST_SECOND / 25;
  return buffer;
}

GstVideoRegionOfInterestMeta *
add_region (GstBuffer *buffer, const gchar *label, const Place *at)
{
  return gst_buffer_add_video_region_of_interest_meta (
      buffer, label, at->x, at->y, at->size, at->size);
}

GstBuffer *
example_new (const gchar *format, guint i)
{
  GstBuffer *buffer = frame_new (format, i, TRUE);
  const Place at = place_of (i);

  add_region (buffer, "cross", &at);
  return buffer;
}

/* Returns a frame whose region shows nothing, so training does not end soon. */
GstBuffer *
hopeless_new (guint i)
{
  GstBuffer *buffer = cuv_frame_new ("GRAY8", WIDTH, HEIGHT);
  const Place at = place_of (i);

  add_region (buffer, "noise", &at);
  return buffer;
}

/* ---- harness ---- */

Fixture
fixture_new (const gchar *format, const gchar *settings)
{
  g_autofree gchar *line = g_strconcat (
      "waldboosttrain async=false model=" MODEL " ", settings, NULL);
  Fixture self = { gst_harness_new_parse (line), NULL, NULL };

  self.sink = gst_harness_find_element (self.h, "waldboosttrain");
  self.bus = cuv_harness_watch (self.h);
  cuv_harness_caps (self.h, format, WIDTH, HEIGHT);
  return self;
}

void
fixture_free (Fixture *self)
{
  cuv_harness_unwatch (self->h, self->bus);
  gst_object_unref (self->sink);
  gst_harness_teardown (self->h);
}

void
push (const Fixture *self, GstBuffer *buffer)
{
  fail_unless_equals_int (gst_harness_push (self->h, buffer), GST_FLOW_OK);
}

void
push_examples (const Fixture *self, const gchar *format, guint n)
{
  for (guint i = 0; i < n; i++)
    push (self, example_new (format, i));
}

void
push_hopeless (const Fixture *self, guint n)
{
  for (guint i = 0; i < n; i++)
    push (self, hopeless_new (i));
}

void
end (const Fixture *self)
{
  gst_harness_push_event (self->h, gst_event_new_eos ());
}

/* Returns the structure of the next message of this state; free it. */
GstStructure *
wait_for (GstBus *bus, const gchar *state)
{
  for (;;) {
    GstMessage *message = gst_bus_timed_pop_filtered (bus, 60 * GST_SECOND,
        GST_MESSAGE_ELEMENT | GST_MESSAGE_ERROR | GST_MESSAGE_WARNING);
    GstStructure *structure;

    fail_unless (
        message != NULL && GST_MESSAGE_TYPE (message) == GST_MESSAGE_ELEMENT,
        "no message %s", state);
    structure = gst_structure_copy (gst_message_get_structure (message));
    gst_message_unref (message);
    fail_unless_equals_string (
        gst_structure_get_name (structure), "waldboosttrain");
    if (strcmp (gst_structure_get_string (structure, "state"), state) == 0)
      return structure;
    gst_structure_free (structure);
  }
}

guint
get_uint (const GstStructure *structure, const gchar *field)
{
  guint value = 0;

  fail_unless (
      gst_structure_get_uint (structure, field, &value), "no %s", field);
  return value;
}

gdouble
get_double (const GstStructure *structure, const gchar *field)
{
  gdouble value = 0;

  fail_unless (
      gst_structure_get_double (structure, field, &value), "no %s", field);
  return value;
}

gchar *
read_model (void)
{
  gchar *text = NULL;

  fail_unless (g_file_get_contents (MODEL, &text, NULL, NULL), "no model");
  return text;
}
