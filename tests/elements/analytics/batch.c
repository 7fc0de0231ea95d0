/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* visionpublish writes a record for each frame of a batch of several streams.
 */
#include "config.h"
#include "batches.h"

#include <glib/gstdio.h>

static GstBuffer *
frame_of (const gchar *label, GstClockTime time)
{
  GstBuffer *frame = gst_buffer_new ();

  gst_buffer_add_video_region_of_interest_meta (frame, label, 1, 2, 3, 4);
  GST_BUFFER_PTS (frame) = time;
  return frame;
}

/* Returns a batch of a stream whose size changes, one that only has events, and
 * one with a list. */
static GstBuffer *
three_streams (void)
{
  GstBuffer *batch = batch_new (3);
  GstBufferList *list = gst_buffer_list_new ();

  gst_buffer_list_add (list, frame_of ("c", 3 * GST_SECOND));
  gst_buffer_list_add (list, frame_of ("d", 4 * GST_SECOND));
  batch_begin (batch, 0, 200, 100, GST_SECOND);
  batch_append (batch, 0, frame_of ("a", GST_SECOND));
  batch_append (batch, 0, caps_event (250, 100));
  batch_append (batch, 0, frame_of ("b", 2 * GST_SECOND));
  batch_begin (batch, 1, 200, 100, GST_SECOND);
  batch_append (batch, 1, caps_event (250, 100));
  batch_append (batch, 1, gst_event_new_gap (0, GST_SECOND));
  batch_begin (batch, 2, 300, 100, GST_SECOND);
  batch_append (batch, 2, list);
  batch_append (batch, 2, gst_buffer_list_new ());
  batch_append (batch, 2, gst_event_new_gap (0, GST_SECOND));
  return batch;
}

static void
check_records (const gchar *settings, const gchar *expected)
{
  g_autofree gchar *line = g_strdup_printf (
      "visionpublish file-path=out file-format=json-lines %s", settings);
  GstHarness *h = batch_harness (line);
  g_autoptr (GRegex) kept = g_regex_new (
      "\"(?:roi_type|height|width|timestamp|source)\":[^,}]+", 0, 0, NULL);
  g_autoptr (GString) found = g_string_new (NULL);
  GMatchInfo *match;
  gchar *text;

  gst_buffer_unref (push (h, three_streams ()));
  gst_harness_push_event (h, gst_event_new_eos ());
  gst_harness_teardown (h);
  fail_unless (g_file_get_contents ("out", &text, NULL, NULL));
  fail_unless (g_unlink ("out") == 0);
  for (g_regex_match (kept, text, 0, &match); g_match_info_matches (match);
       g_match_info_next (match, NULL)) {
    g_autofree gchar *field = g_match_info_fetch (match, 0);

    g_string_append_printf (found, "%s\n", field);
  }
  g_match_info_free (match);
  g_free (text);
  fail_unless_equals_string (found->str, expected);
}

#define RECORD(label, size, source, time)                                      \
  "\"roi_type\":\"" label "\"\n" size "\"source\":\"" source                   \
  "\"\n\"timestamp\":" time "\n"
#define SIZE(width) "\"height\":100\n\"width\":" width "\n"

CUV_TEST (test_records_of_a_batch)
{
  cuv_folder_enter ();
  check_records ("source=hall",
      RECORD ("a", SIZE ("200"), "hall/0", "0")
          RECORD ("b", SIZE ("250"), "hall/0", "1000000000")
              RECORD ("c", SIZE ("300"), "hall/2", "2000000000")
                  RECORD ("d", SIZE ("300"), "hall/2", "3000000000"));
  cuv_folder_leave ();
}
