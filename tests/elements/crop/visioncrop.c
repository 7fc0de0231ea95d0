/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* visioncrop: pixels, sizes and metadata of its pictures; frames without
 * objects. */
#include "config.h"
#include "cuvelements.h"

#include "crop.h"
#include "gstcuvmeta.h"

#define W 64
#define H 48

/* ---- plan ---- */

#define RECT(r) (r).x, (r).y, (r).width, (r).height

static void
check_plan (const CuvCropRequest *request, const gint box[4],
    const gint source[4], const gint dest[4], gint width, gint height)
{
  CuvCropPlan plan;

  fail_unless (cuv_crop_plan (&plan, request, (guint) box[0], (guint) box[1],
      (guint) box[2], (guint) box[3], W, H));
  fail_unless (memcmp (&plan.source, source, 4 * sizeof (gint)) == 0,
      "source %d %d %d %d", RECT (plan.source));
  fail_unless (memcmp (&plan.dest, dest, 4 * sizeof (gint)) == 0,
      "dest %d %d %d %d", RECT (plan.dest));
  ck_assert_int_eq (plan.width, width);
  ck_assert_int_eq (plan.height, height);
}

#define A(...) ((const gint[4]){ __VA_ARGS__ })

CUV_TEST (plans)
{
  const CuvCropRequest own = { 0, 0, 0, true, 1, 1 };
  const CuvCropRequest even = { 0, 0, 0, true, 2, 2 };
  const CuvCropRequest margin = { 0.5, 0, 0, true, 1, 1 };
  const CuvCropRequest wide = { 0, 40, 0, true, 1, 1 };
  const CuvCropRequest tall = { 0, 0, 40, true, 1, 1 };
  const CuvCropRequest borders = { 0, 40, 40, true, 1, 1 };
  const CuvCropRequest stretched = { 0, 40, 40, false, 1, 1 };
  CuvCropPlan plan;

  check_plan (
      &own, A (3, 5, 10, 20), A (3, 5, 10, 20), A (0, 0, 10, 20), 10, 20);
  check_plan (
      &even, A (3, 5, 10, 21), A (2, 4, 11, 22), A (0, 0, 11, 22), 11, 22);
  plan = (CuvCropPlan){ { 0, 0, 60, 40 }, { 0, 0, 6, 4 }, 6, 4 };
  ck_assert_int_eq (cuv_crop_map (&plan, 59, 39, 1, 1).width, 1);
  ck_assert_int_eq (cuv_crop_map (&plan, 59, 39, 1, 1).x, 5);
  check_plan (&own, A (60, 40, 10, 20), A (60, 40, 4, 8), A (0, 0, 4, 8), 4, 8);
  check_plan (
      &margin, A (20, 0, 10, 20), A (15, 0, 20, 30), A (0, 0, 20, 30), 20, 30);
  check_plan (
      &wide, A (3, 5, 10, 20), A (3, 5, 10, 20), A (0, 0, 40, 80), 40, 80);
  check_plan (
      &tall, A (3, 5, 10, 20), A (3, 5, 10, 20), A (0, 0, 20, 40), 20, 40);
  check_plan (
      &borders, A (3, 5, 10, 20), A (3, 5, 10, 20), A (10, 0, 20, 40), 40, 40);
  check_plan (
      &borders, A (3, 5, 20, 10), A (3, 5, 20, 10), A (0, 10, 40, 20), 40, 40);
  check_plan (
      &stretched, A (3, 5, 10, 20), A (3, 5, 10, 20), A (0, 0, 40, 40), 40, 40);
  check_plan (
      &tall, A (0, 3, W, 1), A (0, 3, W, 1), A (0, 0, 640, 40), 640, 40);
  fail_if (cuv_crop_plan (&plan, &own, W, 0, 5, 5, W, H));
  fail_if (cuv_crop_plan (&plan, &own, 0, H, 5, 5, W, H));
  fail_if (cuv_crop_plan (&plan, &own, 0, 0, 0, 5, W, H));
  fail_unless (
      cuv_crop_plan (&plan, &margin, 1, 1, G_MAXUINT, G_MAXUINT, W, H));
  ck_assert_int_eq (plan.source.width, W);
}

/* ---- pictures ---- */

static GstBuffer *
frame_new (const gchar *format)
{
  GstBuffer *frame = cuv_frame_new (format, W, H);

  GST_BUFFER_PTS (frame) = GST_SECOND;
  GST_BUFFER_DURATION (frame) = GST_SECOND / 25;
  return frame;
}

static GstCuvObject
add (GstBuffer *frame, const gchar *label, guint x, guint y, guint w, guint h)
{
  GstVideoInfo info;

  gst_video_info_set_format (&info, GST_VIDEO_FORMAT_GRAY8, W, H);
  return gst_cuv_meta_add_object (
      &(GstCuvWriter){ .buffer = frame, .info = &info },
      gst_cuv_meta_next_id (frame), label, x, y, w, h, 0.75,
      gst_structure_new ("detection", "raw", G_TYPE_INT, 3, NULL));
}

static GstHarness *
harness_new (const gchar *format, const gchar *settings)
{
  GstHarness *h = gst_harness_new ("visioncrop");

  cuv_element_set (h->element, settings);
  cuv_harness_caps (h, format, W, H);
  return h;
}

static GstVideoRegionOfInterestMeta *
only_region (GstBuffer *picture)
{
  gpointer state = NULL;
  GstVideoRegionOfInterestMeta *roi = cuv_next_region (picture, &state);

  fail_unless (roi != NULL && cuv_next_region (picture, &state) == NULL);
  return roi;
}

/* Checks the size in the current caps. */
static void
check_size (GstHarness *h, gint width, gint height)
{
  g_autoptr (GstCaps) caps = gst_pad_get_current_caps (h->sinkpad);
  GstVideoInfo info;

  fail_unless (gst_video_info_from_caps (&info, caps));
  ck_assert_int_eq (info.width, width);
  ck_assert_int_eq (info.height, height);
  ck_assert_int_eq (info.fps_n, 0);
}

/* Returns the pixels of the box, as GStreamer's videocrop cuts them. */
static GstBuffer *
cropped (const gchar *format, GstBuffer *frame, gint x, gint y, gint w, gint h)
{
  g_autoptr (GstHarness) crop = gst_harness_new ("videocrop");
  GstBuffer *out;

  g_object_set (crop->element, "left", x, "top", y, "right", W - x - w,
      "bottom", H - y - h, NULL);
  cuv_harness_caps (crop, format, W, H);
  out = gst_harness_push_and_pull (crop, gst_buffer_ref (frame));
  fail_unless (out != NULL);
  return out;
}

CUV_TEST (pixels)
{
  static const gchar *const formats[] = { "GRAY8", "RGB", "BGRx", "NV12",
    "I420", "YUY2" };

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    GstHarness *h = harness_new (formats[i], "");
    GstBuffer *frame = frame_new (formats[i]);
    GstBuffer *wanted = cropped (formats[i], frame, 6, 4, 22, 18), *picture;

    add (frame, "face", 6, 4, 22, 18);
    picture = gst_harness_push_and_pull (h, frame);
    check_size (h, 22, 18);
    fail_unless (cuv_frames_equal (formats[i], 22, 18, picture, wanted), "%s",
        formats[i]);
    gst_buffer_unref (picture);
    gst_buffer_unref (wanted);
    gst_harness_teardown (h);
  }
}

/* Boxes at odd pixels: no column or row of the object is lost. */
CUV_TEST (odd_boxes)
{
  static const gint boxes[][4] = { { 11, 10, 1, 10 }, { 11, 11, 1, 1 },
    { 10, 12, 1, 1 }, { 3, 5, 7, 9 }, { W - 1, H - 1, 1, 1 } };

  for (guint i = 0; i < G_N_ELEMENTS (boxes); i++) {
    const gint *box = boxes[i], x = box[0] & ~1, y = box[1] & ~1;
    const gint w = box[0] + box[2] - x, height = box[1] + box[3] - y;
    GstHarness *h = harness_new ("I420", "");
    GstBuffer *frame = frame_new ("I420"), *picture;
    GstBuffer *wanted = cropped ("I420", frame, x, y, w, height);
    GstVideoRegionOfInterestMeta *roi;

    add (frame, "face", (guint) box[0], (guint) box[1], (guint) box[2],
        (guint) box[3]);
    picture = gst_harness_push_and_pull (h, frame);
    check_size (h, w, height);
    fail_unless (
        cuv_frames_equal ("I420", w, height, picture, wanted), "%u", i);
    roi = only_region (picture);
    ck_assert_int_eq (roi->x, box[0] - x);
    ck_assert_int_eq (roi->y, box[1] - y);
    ck_assert_int_eq (roi->w, box[2]);
    ck_assert_int_eq (roi->h, box[3]);
    gst_buffer_unref (picture);
    gst_buffer_unref (wanted);
    gst_harness_teardown (h);
  }
}

CUV_TEST (scaled_with_borders)
{
  g_autoptr (GstHarness) h = harness_new ("GRAY8", "width=40 height=40");
  GstBuffer *frame = frame_new ("GRAY8");
  g_autoptr (GstBuffer) picture = NULL;
  GstMapInfo map;

  gst_buffer_memset (frame, 0, 200, gst_buffer_get_size (frame));
  add (frame, "face", 5, 5, 10, 20);
  picture = gst_harness_push_and_pull (h, frame);
  check_size (h, 40, 40);
  gst_buffer_map (picture, &map, GST_MAP_READ);
  for (guint y = 0; y < 40; y++)
    for (guint x = 0; x < 40; x++)
      fail_unless ((x >= 10 && x < 30) ? ABS (map.data[40 * y + x] - 200) < 3
                                       : map.data[40 * y + x] < 20,
          "%u %u: %u", x, y, map.data[40 * y + x]);
  gst_buffer_unmap (picture, &map);
}

/* Narrow pictures of packed 4:2:2 are cropped, although GStreamer's
 * interpolation cannot scale them. */
CUV_TEST (few_pixels)
{
  static const gint sizes[][2] = { { 1, 40 }, { 3, 40 }, { 7, 9 }, { 30, 5 },
    { 30, 1 } };

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    const guint size = (guint) sizes[i][0];
    gchar *settings =
        g_strdup_printf ("width=%d height=%d", sizes[i][1], sizes[i][1]);
    GstHarness *h = harness_new ("YUY2", settings);
    GstBuffer *frame = frame_new ("YUY2"), *picture;
    GstMapInfo map;

    gst_buffer_memset (frame, 0, 200, gst_buffer_get_size (frame));
    add (frame, "face", 2, 2, size, size);
    picture = gst_harness_push_and_pull (h, frame);
    check_size (h, sizes[i][1], sizes[i][1]);
    gst_buffer_map (picture, &map, GST_MAP_READ);
    for (gint x = 0; x < 2 * sizes[i][1]; x++)
      fail_unless (
          ABS (map.data[x] - 200) < 3, "%u, %d: %u", i, x, map.data[x]);
    gst_buffer_unmap (picture, &map);
    gst_buffer_unref (picture);
    gst_harness_teardown (h);
    g_free (settings);
  }
}

/* ---- metadata ---- */

static gint
param (GstVideoRegionOfInterestMeta *roi, const gchar *name, const gchar *field)
{
  gint value = -1;

  fail_unless (gst_structure_get_int (
      gst_video_region_of_interest_meta_get_param (roi, name), field, &value));
  return value;
}

CUV_TEST (object_is_on_the_picture)
{
  GstHarness *h = harness_new ("NV12", "width=64 margin=0.3");
  GstBuffer *frame = frame_new ("NV12"), *picture;
  GstVideoRegionOfInterestMeta *roi;
  GstCuvObject face = add (frame, "face", 20, 10, 20, 20);
  GstVideoInfo info;

  gst_video_info_set_format (&info, GST_VIDEO_FORMAT_NV12, W, H);
  gst_cuv_meta_set_track (&(GstCuvWriter){ .buffer = frame, .info = &info },
      &face, 7, GST_CLOCK_TIME_NONE, GST_CLOCK_TIME_NONE);
  add (frame, "eye", 2, 2, 4, 4);
  gst_harness_push (h, frame);

  picture = gst_harness_pull (h);
  fail_unless_equals_uint64 (GST_BUFFER_PTS (picture), GST_SECOND);
  fail_unless_equals_uint64 (GST_BUFFER_DURATION (picture), GST_SECOND / 25);
  roi = only_region (picture);
  ck_assert_str_eq (g_quark_to_string (roi->roi_type), "face");
  ck_assert_int_eq (roi->id, 0);
  /* shows 14,4 32x32 of the frame at twice the size; the box begins at 20,10 of
   * the frame */
  ck_assert_int_eq (roi->x, 12);
  ck_assert_int_eq (roi->y, 12);
  ck_assert_int_eq (roi->w, 40);
  ck_assert_int_eq (roi->h, 40);
  ck_assert_int_eq (param (roi, "detection", "raw"), 3);
  ck_assert_int_eq (param (roi, "object_id", "id"), 7);
  ck_assert_int_eq (param (roi, "crop", "x"), 14);
  ck_assert_int_eq (param (roi, "crop", "y"), 4);
  ck_assert_int_eq (param (roi, "crop", "w"), 32);
  ck_assert_int_eq (param (roi, "crop", "frame_height"), H);
  gst_buffer_unref (picture);

  picture = gst_harness_pull (h);
  ck_assert_int_eq (only_region (picture)->id, 1);
  gst_buffer_unref (picture);
  gst_harness_teardown (h);
}

/* ---- which objects ---- */

CUV_TEST (objects_that_are_not_cropped)
{
  g_autoptr (GstHarness) h =
      harness_new ("GRAY8", "min-size-width=5 min-size-height=8");
  GstBuffer *frame = frame_new ("GRAY8");

  g_object_set (h->element, "labels", " face , eye", NULL);
  add (frame, "car", 0, 0, 20, 20);
  add (frame, "face", 0, 0, 4, 20);
  add (frame, "face", 0, 0, 20, 7);
  add (frame, "face", W, 0, 20, 20);
  add (frame, "eye", 1, 1, 5, 8);
  gst_harness_push (h, frame);
  ck_assert_uint_eq (gst_harness_buffers_in_queue (h), 1);
  check_size (h, 5, 8);
  fail_unless_equals_uint64 (cuv_stat (h->element, "frames"), 1);
  fail_unless_equals_uint64 (cuv_stat (h->element, "crops"), 1);
  fail_unless_equals_uint64 (cuv_stat (h->element, "too-small"), 2);
  fail_unless_equals_uint64 (cuv_stat (h->element, "outside"), 1);
}

/* The work for one frame is bounded. */
CUV_TEST (too_many_objects)
{
  g_autoptr (GstHarness) h = harness_new ("GRAY8", "");
  GstBus *bus = cuv_harness_watch (h);
  GstBuffer *frame = frame_new ("GRAY8");

  for (guint i = 0; i < 1100; i++)
    add (frame, "face", 0, 0, 4, 4);
  gst_harness_push (h, gst_buffer_copy (frame));
  gst_harness_push (h, frame);
  ck_assert_uint_eq (gst_harness_buffers_in_queue (h), 2048);
  fail_unless_equals_uint64 (cuv_stat (h->element, "crops"), 2048);
  expect_problem (bus, GST_MESSAGE_WARNING,
      "Only the first 1024 of 1100 objects of a frame are used");
  expect_no_warning (bus);
  cuv_harness_unwatch (h, bus);
}

static guint
count_gaps (GstHarness *h)
{
  GstEvent *event;
  guint n = 0;

  while ((event = gst_harness_try_pull_event (h)) != NULL) {
    n += GST_EVENT_TYPE (event) == GST_EVENT_GAP;
    gst_event_unref (event);
  }
  return n;
}

/* A GAP event is also sent for objects that are not cropped; sinks would
 * otherwise wait for ever. */
CUV_TEST (gap_without_pictures)
{
  GstHarness *h = harness_new ("GRAY8", "min-size-width=9");
  GstBuffer *frame = frame_new ("GRAY8");

  add (frame, "face", 0, 0, 4, 20);
  gst_harness_push (h, frame);
  gst_harness_push (h, frame_new ("GRAY8"));
  ck_assert_uint_eq (count_gaps (h), 2);
  frame = frame_new ("GRAY8");
  add (frame, "face", 0, 0, 20, 20);
  gst_harness_push (h, frame);
  ck_assert_uint_eq (count_gaps (h), 0);
  ck_assert_uint_eq (gst_harness_buffers_in_queue (h), 1);
  gst_harness_teardown (h);
  /* a branch that has no picture does not stop the other one */
  cuv_play ("videotestsrc num-buffers=5 ! tee name=t ! queue ! fakesink "
            "t. ! queue ! visioncrop ! fakesink");
}

/* ---- elements upstream ---- */

static void
keep_caps (GstPad *pad, GParamSpec *spec, gpointer info)
{
  GstCaps *caps = gst_pad_get_current_caps (pad);

  if (caps != NULL)
    gst_video_info_from_caps (info, caps);
  gst_clear_caps (&caps);
}

static void
play_5_frames (const gchar *crop)
{
  g_autofree gchar *line = g_strdup_printf (
      "videotestsrc num-buffers=5 ! identity name=before ! %s", crop);
  g_autoptr (GstElement) pipeline = cuv_pipeline_new (line);
  g_autoptr (GstElement) before =
      gst_bin_get_by_name (GST_BIN (pipeline), "before");
  g_autoptr (GstElement) element =
      gst_bin_get_by_name (GST_BIN (pipeline), "c");
  g_autoptr (GstPad) pad = gst_element_get_static_pad (before, "src");
  GstVideoInfo info = { 0 };
  gchar *error;

  g_signal_connect (pad, "notify::caps", G_CALLBACK (keep_caps), &info);
  error = cuv_pipeline_play (pipeline);
  fail_unless (error == NULL, "%s: %s", line, error);
  fail_unless_equals_uint64 (cuv_stat (element, "frames"), 5);
  fail_unless (info.width == 320 && info.height == 240 && info.fps_n == 30,
      "%s: %d x %d, %d/%d", crop, info.width, info.height, info.fps_n,
      info.fps_d);
}

/* The source keeps its own size and rate. */
CUV_TEST (source_is_as_without)
{
  play_5_frames ("visioncrop name=c ! fakesink");
  play_5_frames ("visioncrop name=c width=112 height=112 ! fakesink");
  play_5_frames ("visioncrop name=c ! video/x-raw,width=64,height=32,"
                 "format=RGB ! videoconvert ! fakesink");
  play_5_frames ("visioncrop name=c width=60 ! videoconvert ! jpegenc"
                 " ! fakesink");
}

/* ---- sizes ---- */

CUV_TEST (size_of_downstream)
{
  g_autoptr (GstHarness) h = gst_harness_new ("visioncrop");
  GstBuffer *frame = frame_new ("GRAY8");

  gst_harness_set_sink_caps_str (h, "video/x-raw,format=GRAY8,width=30");
  cuv_harness_caps (h, "GRAY8", W, H);
  add (frame, "face", 0, 0, 10, 20);
  gst_harness_push (h, frame);
  check_size (h, 30, 60);
}

static guint
count_caps (GstHarness *h)
{
  GstEvent *event;
  guint n = 0;

  while ((event = gst_harness_try_pull_event (h)) != NULL) {
    n += GST_EVENT_TYPE (event) == GST_EVENT_CAPS;
    gst_event_unref (event);
  }
  return n;
}

/* New caps are sent where the size changes and for no other frame. */
CUV_TEST (caps_of_own_sizes)
{
  static const guint sizes[] = { 10, 10, 20, 20, 20, 10 };
  g_autoptr (GstHarness) h = harness_new ("GRAY8", "");

  count_caps (h);
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    GstBuffer *frame = frame_new ("GRAY8");

    add (frame, "face", 0, 0, sizes[i], 10);
    gst_buffer_unref (gst_harness_push_and_pull (h, frame));
    check_size (h, (gint) sizes[i], 10);
  }
  ck_assert_uint_eq (count_caps (h), 3);
}

CUV_TEST (live_size)
{
  g_autoptr (GstHarness) h = harness_new ("GRAY8", "width=20");

  for (gint width = 20; width < 25; width++) {
    GstBuffer *frame = frame_new ("GRAY8");

    add (frame, "face", 0, 0, 10, 10);
    g_object_set (h->element, "width", width, NULL);
    gst_buffer_unref (gst_harness_push_and_pull (h, frame));
    check_size (h, width, width);
  }
}

/* ---- frames ---- */

CUV_TEST (broken_frame)
{
  g_autoptr (GstHarness) h = harness_new ("GRAY8", "");
  GstBuffer *frame = frame_new ("GRAY8");

  add (frame, "face", 0, 0, 10, 10);
  gst_buffer_get_video_meta (frame)->width = W - 1;
  cuv_harness_push_error (h, frame, "describes 63x48");
}

/* Converters refuse interlaced frames whose height cannot be split into two
 * fields. */
CUV_TEST (interlaced_frame)
{
  g_autoptr (GstHarness) h = gst_harness_new ("visioncrop");
  GstBuffer *frame = frame_new ("I420");
  g_autoptr (GstBuffer) wanted = cropped ("I420", frame, 6, 4, 22, 17);
  g_autoptr (GstBuffer) picture = NULL;

  gst_harness_set_src_caps_str (h,
      "video/x-raw,format=I420,width=64,height=48,framerate=25/1,"
      "interlace-mode=interleaved");
  add (frame, "face", 6, 4, 22, 17);
  picture = gst_harness_push_and_pull (h, frame);
  fail_unless (cuv_frames_equal ("I420", 22, 17, picture, wanted));
}

CUV_TEST (cuda_memory)
{
  g_autoptr (GstHarness) h =
      gst_harness_new_parse ("cuvcudaupload ! visioncrop name=c");
  g_autoptr (GstElement) crop = gst_bin_get_by_name (GST_BIN (h->element), "c");
  GstBuffer *frame = frame_new ("NV12");
  g_autoptr (GstBuffer) picture = NULL;
  g_autoptr (GstBuffer) wanted = cropped ("NV12", frame, 6, 4, 22, 18);

  cuv_harness_caps (h, "NV12", W, H);
  add (frame, "face", 6, 4, 22, 18);
  picture = gst_harness_push_and_pull (h, frame);
  fail_unless_equals_int (cuv_pad_has_cuda (crop, "sink"), HAVE_CUDA);
  fail_unless (cuv_frames_equal ("NV12", 22, 18, picture, wanted));
}
