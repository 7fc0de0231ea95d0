/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* countbright: the table and the message. With CUV_TEST_CUDA=1 on the GPU. */
#include "device.h"
#include "gstcuvmeta.h"

/* Returns a harness of an element "counter", on the required device. */
static GstHarness *
new_harness (const gchar *properties, gint width, gint height)
{
  g_autofree gchar *line = g_strdup_printf ("%s countbright name=counter %s %s",
      use_cuda ? "cuvcudaupload !" : "", properties,
      use_cuda ? "! cuvcudadownload" : "");
  GstHarness *h = gst_harness_new_parse (line);

  cuv_harness_caps (h, "I420", width, height);
  return h;
}

static guint64
count_by_brute_force (GstBuffer *frame, guint8 threshold)
{
  const GstVideoMeta *meta = gst_buffer_get_video_meta (frame);
  guint64 count = 0;
  GstMapInfo map;

  fail_unless (gst_buffer_map (frame, &map, GST_MAP_READ));
  for (guint y = 0; y < meta->height; y++)
    for (guint x = 0; x < meta->width; x++)
      count += map.data[y * (guint) meta->stride[0] + x] > threshold;
  gst_buffer_unmap (frame, &map);
  return count;
}

/* Pushes a random frame; its table must have the count above the threshold. */
static void
check_frame (GstHarness *h, gint width, gint height, guint8 threshold)
{
  GstBuffer *frame = cuv_frame_new ("I420", width, height);
  const guint64 wanted = count_by_brute_force (frame, threshold);
  g_autoptr (GstBuffer) out = gst_harness_push_and_pull (h, frame);
  gpointer state = NULL;
  GstCuvTable table;

  fail_unless (gst_cuv_meta_next_table (out, &state, &table));
  device_check (h, "countbright");
  fail_unless_equals_string (table.kind, "brightness");
  fail_unless_equals_int (table.width, width);
  fail_unless_equals_int (table.height, height);
  fail_unless_equals_int (table.n_rows, 1);
  fail_unless_equals_uint64 (
      gst_cuv_table_int (&table, 0, gst_cuv_table_column (&table, "count")),
      wanted);
  fail_if (gst_cuv_meta_next_table (out, &state, &table));
}

CUV_TEST (test_live)
{
  g_autoptr (GstHarness) h = new_harness ("", 67, 45);
  g_autoptr (GstElement) counter =
      gst_bin_get_by_name (GST_BIN (h->element), "counter");

  check_frame (h, 67, 45, 128);
  g_object_set (counter, "threshold", 200, NULL);
  check_frame (h, 67, 45, 200);
  cuv_harness_caps (h, "I420", 320, 240);
  check_frame (h, 320, 240, 200);
  gst_harness_push_event (h, gst_event_new_flush_start ());
  gst_harness_push_event (h, gst_event_new_flush_stop (TRUE));
  cuv_harness_caps (h, "I420", 1, 1);
  check_frame (h, 1, 1, 200);
  fail_unless (gst_harness_push_event (h, gst_event_new_eos ()));
}

CUV_TEST (test_message)
{
  g_autoptr (GstHarness) h =
      new_harness ("threshold=255 message=on-change", 16, 16);
  g_autoptr (GstBus) bus = gst_bus_new ();
  GstMessage *message;
  guint64 count;

  gst_element_set_bus (h->element, bus);
  check_frame (h, 16, 16, 255);
  check_frame (h, 16, 16, 255);
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ELEMENT);
  fail_unless (gst_message_has_name (message, "countbright"));
  fail_unless (gst_structure_get_uint64 (
      gst_message_get_structure (message), "count", &count));
  fail_unless_equals_uint64 (count, 0);
  gst_message_unref (message);
  fail_if (gst_bus_have_pending (bus), "an unchanged count is posted");
  gst_element_set_bus (h->element, NULL);
}
