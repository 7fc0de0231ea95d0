/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ldpindexsink: its own descriptors and those of ldpdescriptor. With
 * CUV_TEST_CUDA set, frames are in CUDA memory. */
#include "config.h"
#include "indexsink-harness.h"

#include <glib/gstdio.h>
#include <string.h>

#include "context/gstcuvcontext.h"

#define WIDTH 96
#define HEIGHT 80

/* ---- its own descriptors ---- */

static void
expect_device (GstHarness *h, const gchar *device)
{
  g_autoptr (GstElement) sink = sink_of (h);
  GstStructure *stats;

  g_object_get (sink, "stats", &stats, NULL);
  fail_unless_equals_string (
      gst_structure_get_string (stats, "device"), device);
  gst_structure_free (stats);
}

CUV_TEST (every_format)
{
  static const gchar *const formats[] = { "NV12", "I420", "YV12", "NV21",
    "YUY2", "UYVY", "RGB", "BGR", "RGBx", "BGRx", "RGBA", "BGRA", "GRAY8" };

  for (guint i = 0; i < G_N_ELEMENTS (formats) - use_cuda; i++) {
    GstHarness *h = sink_new ("grid=4 bins=uniform", formats[i], WIDTH, HEIGHT);
    GstBuffer *frame = cuv_frame_new (formats[i], WIDTH, HEIGHT);
    CuvLdpIndex *index;

    push (h, gst_buffer_ref (frame));
    expect_device (h, have_kernels ? "cuda" : "cpu");
    gst_harness_teardown (h);
    index = index_open (INDEX, 1);
    expect_described (index, 0, frame, formats[i], WIDTH, HEIGHT, NULL);
    cuv_ldp_index_free (index);
    gst_buffer_unref (frame);
    g_remove (INDEX);
  }
}

/* Counts take 1, 2 or 4 bytes in the file, 2 or 4 in memory. */
CUV_TEST (every_parameter)
{
  static const gchar *const settings[] = { "order=2 block=16",
    "order=4 grid=1 merge-directions=true",
    "grid=1 merge-directions=true descriptor-width=200 descriptor-height=120",
    "directions=0+90 border=replicate bins=levels levels=7 n-threads=1",
    "order=9 grid=3 sync-to-disk=true descriptor-width=50",
    "scales=3 block=16 descriptor-width=64 descriptor-height=64" };

  for (guint i = 0; i < G_N_ELEMENTS (settings); i++) {
    GstHarness *h = sink_new (settings[i], "NV12", WIDTH, HEIGHT);
    GstBuffer *frame = cuv_frame_new ("NV12", WIDTH, HEIGHT);
    CuvLdpIndex *index;

    push (h, gst_buffer_ref (frame));
    gst_harness_teardown (h);
    index = index_open (INDEX, 1);
    expect_described (index, 0, frame, "NV12", WIDTH, HEIGHT, NULL);
    cuv_ldp_index_free (index);
    gst_buffer_unref (frame);
    g_remove (INDEX);
  }
}

CUV_TEST (frames_of_many_sizes)
{
  static const gint sizes[][2] = { { 96, 80 }, { 320, 240 }, { 2, 2 },
    { 18, 34 }, { 640, 2 }, { 96, 80 } };
  GstHarness *h =
      sink_new ("descriptor-width=64 descriptor-height=48", "NV12", 96, 80);
  GstBuffer *frames[G_N_ELEMENTS (sizes)];
  CuvLdpIndex *index;

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    cuv_harness_caps (h, "NV12", sizes[i][0], sizes[i][1]);
    frames[i] = cuv_frame_new ("NV12", sizes[i][0], sizes[i][1]);
    push (h, gst_buffer_ref (frames[i]));
  }
  gst_harness_teardown (h);
  index = index_open (INDEX, G_N_ELEMENTS (sizes));
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    expect_described (
        index, i, frames[i], "NV12", sizes[i][0], sizes[i][1], NULL);
    gst_buffer_unref (frames[i]);
  }
  cuv_ldp_index_free (index);
}

CUV_TEST (regions_of_a_frame)
{
  static const CuvLdpRect rects[] = { { 10, 20, 33, 44 }, { 60, 0, 36, 80 } };
  GstHarness *h = sink_new ("region=roi-list grid=4 descriptor-width=32 "
                            "descriptor-height=32",
      "RGB", WIDTH, HEIGHT);
  g_autoptr (GstBuffer) frame = cuv_frame_new ("RGB", WIDTH, HEIGHT);
  CuvLdpIndex *index;

  push_random (h, "RGB", WIDTH, HEIGHT, 1); /* no region, no entry */
  add_region (frame, 5, 10, 20, 33, 44);
  add_region (frame, 7, 60, 0, 100, 100);
  push (h, gst_buffer_ref (frame));
  fail_unless_equals_uint64 (sink_stat (h, "frames"), 2);
  fail_unless_equals_uint64 (sink_stat (h, "written"), 2);
  gst_harness_teardown (h);
  expect_names ("000001#5|000001#7");
  index = index_open (INDEX, 2);
  for (guint i = 0; i < 2; i++)
    expect_described (index, i, frame, "RGB", WIDTH, HEIGHT, &rects[i]);
  cuv_ldp_index_free (index);
}

/* ---- descriptors of ldpdescriptor ---- */

/* Descriptors of ldpindexsink and of ldpdescriptor make the same file. */
static void
compare_descriptors (const gchar *settings, gboolean with_regions)
{
  GstBuffer *frames[3];

  for (guint i = 0; i < 3; i++) {
    frames[i] = cuv_frame_new ("NV12", WIDTH, HEIGHT);
    for (guint k = 0; with_regions && k < i; k++)
      add_region (frames[i], (gint) k, 3 * k, 5, 40, 50 + k);
  }
  for (guint way = 0; way < 2; way++) {
    gchar *line = way == 0
        ? g_strdup_printf (
            "ldpindexsink async=false location=0.ldp %s", settings)
        : g_strdup_printf ("ldpdescriptor message=none %s ! "
                           "ldpindexsink async=false order=9 location=1.ldp",
            settings);
    GstHarness *h = line_new (line, "NV12", WIDTH, HEIGHT);

    for (guint i = 0; i < 3; i++)
      push (h, gst_buffer_ref (frames[i]));
    expect_device (h, way == 1 ? "none" : have_kernels ? "cuda" : "cpu");
    gst_harness_teardown (h);
    g_free (line);
  }
  for (guint i = 0; i < 3; i++)
    gst_buffer_unref (frames[i]);
  expect_same_files ("0.ldp", "1.ldp");
  cuv_ldp_index_free (index_open ("0.ldp", 3));
  g_remove ("0.ldp");
  g_remove ("1.ldp");
}

CUV_TEST (own_and_upstream_descriptors_agree)
{
  compare_descriptors ("grid=5 order=4", FALSE);
  compare_descriptors ("block=20 bins=levels merge-directions=true", FALSE);
  compare_descriptors (
      "region=roi-list descriptor-width=40 descriptor-height=30", TRUE);
}

/* Frames without a descriptor, or with a held one, are skipped. */
CUV_TEST (undescribed_frames_are_skipped)
{
  static const gchar *const holds[] = { "false", "true" };

  for (guint i = 0; i < 2; i++) {
    gchar *line = g_strdup_printf (
        "ldpdescriptor message=none inference-interval=3 hold-results=%s ! "
        "ldpindexsink async=false location=" INDEX,
        holds[i]);
    GstHarness *h = line_new (line, "NV12", WIDTH, HEIGHT);

    for (guint k = 0; k < 7; k++) {
      GstBuffer *frame = cuv_frame_new ("NV12", WIDTH, HEIGHT);

      GST_BUFFER_PTS (frame) = k * GST_SECOND / 30;
      push (h, frame);
    }
    gst_harness_teardown (h);
    expect_names ("000000|000003|000006");
    g_remove (INDEX);
    g_free (line);
  }
}

/* A valve drops the first described frame. */
static GstHarness *
line_without_first (guint interval, const gchar *hold, guint n)
{
  g_autofree gchar *line = g_strdup_printf (
      "ldpdescriptor message=none bins=uniform inference-interval=%u "
      "hold-results=%s ! valve drop=true ! ldpindexsink async=false "
      "location=" INDEX,
      interval, hold);
  GstHarness *h = line_new (line, "NV12", WIDTH, HEIGHT);
  g_autoptr (GstElement) valve = gst_harness_find_element (h, "valve");

  for (guint k = 0; k < n; k++) {
    GstBuffer *frame = cuv_frame_new ("NV12", WIDTH, HEIGHT);

    GST_BUFFER_PTS (frame) = k * GST_SECOND / 30;
    push (h, frame);
    g_object_set (valve, "drop", FALSE, NULL);
  }
  return h;
}

/* ldpindexsink makes no descriptors itself, although the first frames have
 * none. */
CUV_TEST (first_frame_is_not_described)
{
  static const gchar *const holds[] = { "false", "true" };

  for (guint i = 0; i < 2; i++) {
    CuvLdpIndex *index;

    gst_harness_teardown (line_without_first (3, holds[i], 7));
    expect_names ("000002|000005");
    index = index_open (INDEX, 2);
    fail_unless_equals_int (
        cuv_ldp_index_info (index)->layout.params.bins, CUV_LDP_BINS_UNIFORM);
    cuv_ldp_index_free (index);
    g_remove (INDEX);
  }
}

CUV_TEST (no_frame_is_described)
{
  GstHarness *h = line_without_first (100, "true", 3);
  GstBus *bus = cuv_harness_watch (h);

  gst_harness_push_event (h, gst_event_new_eos ());
  expect_problem (bus, GST_MESSAGE_WARNING,
      "Frames arrived, but none with a new descriptor from the ldpdescriptor");
  cuv_harness_unwatch (h, bus);
  gst_harness_teardown (h);
  fail_if (g_file_test (INDEX, G_FILE_TEST_EXISTS));
}

/* ---- files and states ---- */

/* Entries are visible at once, and each start appends more. */
CUV_TEST (restarts_append_to_the_file)
{
  guint64 n = 0, bytes = 0;

  for (guint run = 0; run < 3; run++) {
    GstHarness *h = sink_new ("", "NV12", WIDTH, HEIGHT);

    for (guint i = 0; i < 4; i++) {
      push_random (h, "NV12", WIDTH, HEIGHT, 1);
      n++;
      cuv_ldp_index_free (index_open (INDEX, n));
    }
    fail_unless_equals_uint64 (sink_stat (h, "entries"), n);
    fail_unless_equals_uint64 (sink_stat (h, "written"), 4);
    bytes += sink_stat (h, "bytes");
    gst_harness_teardown (h);
  }
  expect_names ("000000|000001|000002|000003|000000|000001|000002|000003|"
                "000000|000001|000002|000003");
  {
    gchar *all;
    gsize size;

    fail_unless (g_file_get_contents (INDEX, &all, &size, NULL));
    fail_unless_equals_uint64 (size, 4096 + bytes);
    g_free (all);
  }
}

CUV_TEST (pipeline_restarts)
{
  g_autofree gchar *line =
      g_strdup_printf ("videotestsrc num-buffers=5 ! "
                       "video/x-raw,format=NV12,width=64,height=64 ! "
                       "%s ldpindexsink location=" INDEX,
          use_cuda ? "cuvcudaupload !" : "");
  g_autoptr (GstElement) pipeline = cuv_pipeline_new (line);

  for (guint i = 1; i <= 3; i++) {
    gchar *error = cuv_pipeline_play (pipeline);

    fail_unless (error == NULL, "%s", error);
    cuv_ldp_index_free (index_open (INDEX, 5 * i));
  }
}

/* Properties set while playing take effect at the next start. */
CUV_TEST (settings_apply_at_the_next_start)
{
  GstHarness *h = sink_new ("grid=4", "NV12", WIDTH, HEIGHT);
  GstElement *sink = sink_of (h);
  CuvLdpIndex *index;

  push_random (h, "NV12", WIDTH, HEIGHT, 1);
  g_object_set (sink, "grid", 5, "order", 4, "location", "other.ldp",
      "thumbnail-width", 8, "entry-name", "other", NULL);
  push_random (h, "NV12", WIDTH, HEIGHT, 1);
  expect_names ("000000|000001");
  gst_element_set_state (h->element, GST_STATE_NULL);
  gst_element_set_state (h->element, GST_STATE_PLAYING);
  cuv_harness_caps (h, "NV12", WIDTH, HEIGHT);
  push_random (h, "NV12", WIDTH, HEIGHT, 1);
  gst_object_unref (sink);
  gst_harness_teardown (h);
  index = index_open ("other.ldp", 1);
  fail_unless_equals_int (cuv_ldp_index_info (index)->layout.params.order, 4);
  fail_unless_equals_int (cuv_ldp_index_info (index)->thumbnail_width, 8);
  fail_unless_equals_string (cuv_ldp_index_name (index, 0), "other");
  cuv_ldp_index_free (index);
  cuv_ldp_index_free (index_open (INDEX, 2));
}

CUV_TEST (flush_keeps_the_file_open)
{
  GstHarness *h = sink_new ("", "NV12", WIDTH, HEIGHT);

  for (guint i = 0; i < 3; i++) {
    push_random (h, "NV12", WIDTH, HEIGHT, 1);
    cuv_harness_flush (h);
  }
  gst_harness_teardown (h);
  cuv_ldp_index_free (index_open (INDEX, 3));
}

/* Upstream may use any stride, and CUDA memory if available. */
CUV_TEST (answers_upstream_queries)
{
  GstElement *sink = gst_element_factory_make ("ldpindexsink", NULL);
  GstPad *pad = gst_element_get_static_pad (sink, "sink");
  GstCaps *caps = gst_caps_from_string (
      "video/x-raw,format=NV12,width=64,height=48,framerate=30/1");
  GstQuery *query = gst_query_new_allocation (caps, TRUE);
  GstCaps *wanted =
      gst_caps_from_string ("video/x-raw; video/x-raw(memory:CUDAMemory)");

  fail_unless (gst_pad_query (pad, query));
  fail_unless (
      gst_query_find_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL));
  gst_query_unref (query);
  gst_caps_unref (caps);
  caps = gst_pad_query_caps (pad, wanted);
  fail_unless_equals_int (gst_cuv_caps_is_cuda (caps), use_cuda);
  gst_caps_unref (caps);
  gst_caps_unref (wanted);
  gst_object_unref (pad);
  gst_object_unref (sink);
}

/* Host and CUDA memory alternate, as after an input-selector. */
CUV_TEST (memory_changes)
{
  GstHarness *up, *h;

  if (!use_cuda)
    return;
  up = cuv_element_harness ("cuvcudaupload");
  h = gst_harness_new_parse ("ldpindexsink async=false location=" INDEX);
  gst_harness_set_sink_caps_str (up, "video/x-raw(memory:CUDAMemory)");
  cuv_harness_caps (up, "NV12", WIDTH, HEIGHT);
  for (guint i = 0; i < 3; i++) {
    GstBuffer *frame = cuv_frame_new ("NV12", WIDTH, HEIGHT);
    CuvLdpIndex *index;

    cuv_harness_caps (h, "NV12", WIDTH, HEIGHT);
    push (h, gst_buffer_ref (frame));
    push (up, gst_buffer_ref (frame));
    gst_harness_set_src_caps (h, gst_pad_get_current_caps (up->sinkpad));
    push (h, gst_harness_pull (up));
    expect_device (h, have_kernels ? "cuda" : "cpu");
    index = index_open (INDEX, 2 * i + 2);
    expect_described (index, 2 * i, frame, "NV12", WIDTH, HEIGHT, NULL);
    expect_described (index, 2 * i + 1, frame, "NV12", WIDTH, HEIGHT, NULL);
    cuv_ldp_index_free (index);
    gst_buffer_unref (frame);
  }
  gst_harness_teardown (h);
  gst_harness_teardown (up);
}

CUV_BEFORE_TESTS (choose_kernels, tcase)
{
  const gchar *cuda = g_getenv ("CUV_TEST_CUDA");

  have_kernels = cuda != NULL && strcmp (cuda, "memory") != 0;
}
