/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The ids of GStreamer's ioutracker, which count from 0, are read by
 * visionzones, visionpublish and visionoverlay. */
#include "config.h"
#include "mtds.h"

/* Objects cross the line from left to right: "in". */
#define ZONES                                                                  \
  "{\"zones\": [{\"name\": \"all\", \"polygon\": "                             \
  "[[0, 0], [1, 0], [1, 1], [0, 1]]}, "                                        \
  "{\"name\": \"gate\", \"line\": [[0.5, 0], [0.5, 1]]}]}"

CUV_BEFORE_TESTS (prepare, tcase)
{
  skip_without ("ioutracker");
}

/* Pushes a frame with a car that has no detection, and two faces. */
static GstBuffer *
push_faces (GstHarness *h, guint number)
{
  GstBuffer *frame = black_frame ();
  GstVideoInfo info = frame_info ();

  GST_BUFFER_PTS (frame) = number * GST_SECOND / 30;
  gst_buffer_add_video_region_of_interest_meta (frame, "car", 0, 0, 9, 9);
  gst_cuv_meta_add_object (&(GstCuvWriter){ .buffer = frame, .info = &info }, 1,
      "face", 125 + 10 * number, 60, 40, 40, 0.5, NULL);
  gst_cuv_meta_add_object (&(GstCuvWriter){ .buffer = frame, .info = &info }, 2,
      "face", 220, 60, 40, 40, 0.5, NULL);
  return push (h, frame);
}

static void
check_ids (GstBuffer *frame)
{
  g_autoptr (GArray) objects = objects_of (frame);

  ck_assert_uint_eq (objects->len, 3);
  ck_assert_int_eq (nth_object (objects, 0).track, -1);
  ck_assert_int_eq (nth_object (objects, 1).track, 0);
  ck_assert_int_eq (nth_object (objects, 2).track, 1);
}

CUV_TEST (test_published)
{
  GstHarness *h;
  g_autofree gchar *text = NULL;
  g_auto (GStrv) records = NULL;

  cuv_folder_enter ();
  h = line_new (
      "ioutracker ! visionzones hysteresis=1 ! visionpublish file-path=out",
      "BGRA");
  line_set (h, "visionzones", "zones", ZONES);
  for (guint i = 0; i < 3; i++) {
    GstBuffer *frame = push_faces (h, i);

    check_ids (frame);
    gst_buffer_unref (frame);
  }
  text = line_end (h);
  cuv_folder_leave ();
  records = g_strsplit (text, "\n", -1);
  expect_part (records[0], "\"id\":0,\"region_id\":1");
  expect_part (records[0], "\"id\":1,\"region_id\":2");
  expect_part (records[0], "\"event\":\"enter\",\"id\":0,\"label\":\"face\"");
  expect_part (records[0], "\"event\":\"enter\",\"id\":1,\"label\":\"face\"");
  expect_part (records[2], "\"id\":0,\"region_id\":1");
  expect_part (records[2], "\"event\":\"cross\",\"id\":0,\"label\":\"face\"");
}

CUV_TEST (test_drawn)
{
  GstHarness *h = line_new ("ioutracker", "BGRA");
  GstBuffer *tracked = push_faces (h, 0), *untracked;

  gst_harness_teardown (h);
  untracked = gst_buffer_copy_deep (tracked);
  gst_buffer_remove_meta (untracked,
      (GstMeta *) gst_buffer_get_analytics_relation_meta (untracked));
  h = line_new ("visionoverlay", "BGRA");
  tracked = push (h, tracked);
  untracked = push (h, untracked);
  fail_if (cuv_frames_equal ("BGRA", WIDTH, HEIGHT, tracked, untracked));
  gst_buffer_unref (untracked);
  gst_buffer_unref (tracked);
  gst_harness_teardown (h);
}

/* Each face of a picture has an id, which is the same in all frames. */
CUV_TEST (test_after_waldboostdetect)
{
  g_autofree gchar *file = cuv_test_file ("messi5.jpg");
  g_autofree gchar *line = g_strdup_printf (
      "filesrc location=%s ! jpegdec ! imagefreeze num-buffers=3 ! "
      "videoconvert ! waldboostdetect label=face "
      "model=haarcascade_frontalface_alt2.xml ! ioutracker ! "
      "visionzones name=zones ! visionoverlay ! appsink name=sink sync=false",
      file);
  g_autoptr (GstElement) pipeline = cuv_pipeline_new (line);
  g_autoptr (GstElement) zones =
      gst_bin_get_by_name (GST_BIN (pipeline), "zones");
  guint n = 0;

  g_object_set (zones, "zones", ZONES, NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  for (guint i = 0; i < 3; i++) {
    g_autoptr (GstSample) sample = cuv_pull_sample (pipeline);
    g_autoptr (GArray) faces = objects_of (gst_sample_get_buffer (sample));

    n = faces->len;
    ck_assert_uint_gt (n, 0);
    for (guint k = 0; k < n; k++)
      ck_assert_int_eq (nth_object (faces, k).track, k);
  }
  ck_assert_uint_eq (cuv_stat (zones, "untracked"), 0);
  ck_assert_uint_eq (cuv_stat (zones, "events"), n); /* each entered once */
  gst_element_set_state (pipeline, GST_STATE_NULL);
}
