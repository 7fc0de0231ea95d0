/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* visionpublish writes a record for each frame of a batch of several streams.
 */
#include "config.h"
#include "mtds.h"

#include <glib/gstdio.h>

static GstMiniObject *
caps_event (gint width)
{
  GstCaps *caps = gst_caps_new_simple ("video/x-raw", "format", G_TYPE_STRING,
      "GRAY8", "width", G_TYPE_INT, width, "height", G_TYPE_INT, 100, NULL);
  GstEvent *event = gst_event_new_caps (caps);

  gst_caps_unref (caps);
  return GST_MINI_OBJECT (event);
}

static void
fill_stream (GstAnalyticsBatchStream *stream, guint index, gint width,
    GstMiniObject *first, GstMiniObject *second, GstMiniObject *third)
{
  GstMiniObject *const objects[] = { first, second, third };
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.start = GST_SECOND; /* stream time starts at 0 */
  stream->index = index;
  stream->sticky_events = g_new (GstEvent *, 2);
  stream->sticky_events[0] = GST_EVENT (caps_event (width));
  stream->sticky_events[1] = gst_event_new_segment (&segment);
  stream->n_sticky_events = 2;
  stream->objects = g_memdup2 (objects, sizeof objects);
  stream->n_objects = G_N_ELEMENTS (objects);
}

static GstMiniObject *
frame_of (const gchar *label, GstClockTime time)
{
  GstBuffer *frame = gst_buffer_new ();

  gst_buffer_add_video_region_of_interest_meta (frame, label, 1, 2, 3, 4);
  GST_BUFFER_PTS (frame) = time;
  return GST_MINI_OBJECT (frame);
}

/* Returns a batch of a stream whose size changes, one that only has events, and
 * one with a list. */
static GstBuffer *
batch_new (void)
{
  GstBuffer *batch = gst_buffer_new ();
  GstAnalyticsBatchMeta *meta = gst_buffer_add_analytics_batch_meta (batch);
  GstBufferList *list = gst_buffer_list_new ();

  gst_buffer_list_add (list, GST_BUFFER (frame_of ("c", 3 * GST_SECOND)));
  gst_buffer_list_add (list, GST_BUFFER (frame_of ("d", 4 * GST_SECOND)));
  meta->n_streams = 3;
  meta->streams = g_new0 (GstAnalyticsBatchStream, 3);
  fill_stream (&meta->streams[0], 0, 200, frame_of ("a", GST_SECOND),
      caps_event (250), frame_of ("b", 2 * GST_SECOND));
  fill_stream (&meta->streams[1], 1, 200, caps_event (250), caps_event (200),
      GST_MINI_OBJECT (gst_event_new_gap (0, GST_SECOND)));
  fill_stream (&meta->streams[2], 2, 300, GST_MINI_OBJECT (list),
      GST_MINI_OBJECT (gst_buffer_list_new ()),
      GST_MINI_OBJECT (gst_event_new_gap (0, GST_SECOND)));
  return batch;
}

static void
check_records (const gchar *settings, const gchar *expected)
{
  g_autofree gchar *line = g_strdup_printf (
      "visionpublish file-path=out file-format=json-lines %s", settings);
  GstHarness *h = gst_harness_new_parse (line);
  g_autoptr (GRegex) kept = g_regex_new (
      "\"(?:roi_type|height|width|timestamp|source)\":[^,}]+", 0, 0, NULL);
  g_autoptr (GString) found = g_string_new (NULL);
  GMatchInfo *match;
  gchar *text;

  gst_harness_set_src_caps_str (
      h, "multistream/x-analytics-batch(meta:GstAnalyticsBatchMeta)");
  gst_buffer_unref (push (h, batch_new ()));
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
