/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include "helper.h"

gchar *path;
GstVideoInfo info;

void
set_up (void)
{
  gint fd = g_file_open_tmp ("publish-XXXXXX", &path, NULL);

  fail_unless (fd >= 0);
  g_close (fd, NULL);
  gst_video_info_set_format (&info, GST_VIDEO_FORMAT_GRAY8, 640, 480);
}

void
tear_down (void)
{
  g_unlink (path);
  g_free (path);
}

/* A harness plays at once, so file-path is set before. */
GstHarness *
harness_new_for (const gchar *caps, const gchar *format)
{
  GstElement *element = gst_element_factory_make ("visionpublish", NULL);
  GstHarness *h;

  fail_unless (element != NULL);
  g_object_set (element, "file-path", path, NULL);
  gst_util_set_object_arg (G_OBJECT (element), "file-format", format);
  h = gst_harness_new_with_element (element, "sink", "src");
  gst_object_unref (element);
  gst_harness_set_src_caps_str (h, caps);
  return h;
}

GstHarness *
harness_new (const gchar *format)
{
  return harness_new_for (CAPS, format);
}

GstBuffer *
frame_new (GstClockTime pts)
{
  GstBuffer *buffer = gst_buffer_new_and_alloc (640 * 480);

  GST_BUFFER_PTS (buffer) = pts;
  return buffer;
}

void
push (GstHarness *h, GstBuffer *buffer)
{
  fail_unless_equals_int (gst_harness_push (h, buffer), GST_FLOW_OK);
  gst_buffer_unref (gst_harness_pull (h));
}

void
end_and_seek (GstHarness *h)
{
  gst_harness_push_event (h, gst_event_new_eos ());
  cuv_harness_flush (h);
}

gchar *
contents (void)
{
  GRegex *regex = g_regex_new (
      "20[0-9]{2}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9]\\."
      "[0-9]{6}Z",
      0, 0, NULL);
  gchar *text, *masked;

  fail_unless (g_file_get_contents (path, &text, NULL, NULL));
  masked = g_regex_replace_literal (regex, text, -1, 0, "T", 0, NULL);
  g_regex_unref (regex);
  g_free (text);
  return masked;
}

void
fail_unless_jq_agrees (void)
{
  g_autofree gchar *line =
      g_strdup_printf ("sh -c \"jq -e -s "
                       "'map(tostring == (walk(if type == \\\"object"
                       "\\\" then to_entries | sort_by(.key) | "
                       "from_entries else . end) | tostring)) | all' "
                       "'%s' > /dev/null\"",
          path);
  gint status = -1;

  fail_unless (g_spawn_command_line_sync (line, NULL, NULL, &status, NULL));
  fail_unless (status == 0, "jq: not JSON, or keys are not sorted");
}

void
fail_unless_written (GstHarness *h, const gchar *expected)
{
  g_autofree gchar *text = NULL;

  gst_harness_push_event (h, gst_event_new_eos ());
  text = contents ();
  fail_unless_equals_string (text, expected);
  gst_harness_teardown (h);
}

void
set_id (GstVideoRegionOfInterestMeta *roi, gint id)
{
  gst_video_region_of_interest_meta_add_param (
      roi, gst_structure_new ("object_id", "id", G_TYPE_INT, id, NULL));
}

static const GstCuvColumn line_columns[] = { { "rho", GST_CUV_TYPE_F32 },
  { "theta", GST_CUV_TYPE_F32 }, { "votes", GST_CUV_TYPE_U32 },
  { "id", GST_CUV_TYPE_I32 } };

typedef struct {
  gfloat rho, theta;
  guint32 votes;
  gint32 id;
} Line;

GstStructure *
add_lines (GstBuffer *buffer, guint n, guint width)
{
  static const Line lines[] = { { 10.5f, 0.1f, 77, -1 }, { NAN, 0, 5, 2 } };

  return gst_cuv_meta_add_table (buffer, "lines", 1, width, 480, "none",
      line_columns, G_N_ELEMENTS (line_columns), lines, n);
}

void
fail_unless_file (const gchar *expected)
{
  g_autofree gchar *text = contents ();

  fail_unless_equals_string (text, expected);
}
