/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* visiontrack: ids of objects, time, settings, messages and statistics. */
#include "config.h"
#include "cuvelements.h"

#include "gstcuvmeta.h"

#define W 640
#define H 360
#define FRAME (GST_SECOND / 30)

/* A running element, and the time of the next frame. */
typedef struct {
  GstHarness *h;
  GstBus *bus;
  GstClockTime time;
} Stream;

static Stream
stream_new (const gchar *settings)
{
  g_autoptr (GstElement) element = cuv_element_new ("visiontrack");
  Stream self = { NULL, NULL, 0 };

  cuv_element_set (element, settings);
  self.h = gst_harness_new_with_element (element, "sink", "src");
  self.bus = cuv_harness_watch (self.h);
  cuv_harness_caps (self.h, "NV12", W, H);
  return self;
}

static void
stream_clear (Stream *self)
{
  cuv_harness_unwatch (self->h, self->bus);
  gst_harness_teardown (self->h);
}

static GstVideoRegionOfInterestMeta *
add_object (
    GstBuffer *buffer, const gchar *label, guint x, guint y, gdouble confidence)
{
  GstVideoInfo info;

  gst_video_info_set_format (&info, GST_VIDEO_FORMAT_NV12, W, H);
  return gst_cuv_meta_add_object (
      &(GstCuvWriter){ .buffer = buffer, .info = &info },
      gst_cuv_meta_next_id (buffer), label, x, y, 40, 80, confidence, NULL)
      .roi;
}

/* Adds a field to the structure "detection" of a region. */
#define SET_DETECTION(roi, ...)                                                \
  gst_structure_set (                                                          \
      gst_video_region_of_interest_meta_get_param ((roi), "detection"),        \
      __VA_ARGS__, NULL)

static GstBuffer *
frame_new (void)
{
  return gst_buffer_new_allocate (NULL, W * H * 3 / 2, NULL);
}

static GstBuffer *
push (Stream *self, GstBuffer *buffer)
{
  GST_BUFFER_PTS (buffer) = self->time;
  GST_BUFFER_DURATION (buffer) = FRAME;
  self->time += FRAME;
  buffer = gst_harness_push_and_pull (self->h, buffer);
  fail_unless (buffer != NULL);
  return buffer;
}

/* Returns the id of the nth object, 0: none. */
static gint
id_of (GstBuffer *buffer, guint n)
{
  GArray *objects = g_array_new (FALSE, FALSE, sizeof (GstCuvObject));
  gint64 id;

  gst_cuv_objects_read (objects, buffer);
  fail_unless (n < objects->len);
  id = g_array_index (objects, GstCuvObject, n).track;
  g_array_unref (objects);
  return (gint) MAX (id, 0);
}

/* Pushes a frame with one object and returns its id. */
static gint
push_one (Stream *self, const gchar *label, guint x, gdouble confidence)
{
  GstBuffer *buffer = frame_new ();
  gint id;

  add_object (buffer, label, x, 20, confidence);
  buffer = push (self, buffer);
  id = id_of (buffer, 0);
  gst_buffer_unref (buffer);
  return id;
}

static void
push_empty (Stream *self, guint n)
{
  for (guint i = 0; i < n; i++)
    gst_buffer_unref (push (self, frame_new ()));
}

/* ---- ids ---- */

CUV_TEST (objects_get_ids)
{
  Stream s = stream_new ("");

  for (guint i = 0; i < 10; i++) {
    GstBuffer *buffer = frame_new ();
    GstVideoRegionOfInterestMeta *roi =
        add_object (buffer, "person", 10 + 8 * i, 20, 0.9);

    add_object (buffer, "person", 500 - 8 * i, 20, 0.9);
    if (i >= 5)
      add_object (buffer, "person", 300, 200, 0.9);
    buffer = push (&s, buffer);
    ck_assert_int_eq (id_of (buffer, 0), 1);
    ck_assert_int_eq (id_of (buffer, 1), 2);
    if (i >= 5) /* confirmed by the second frame */
      ck_assert_int_eq (id_of (buffer, 2), i == 5 ? 0 : 3);
    fail_unless (
        gst_video_region_of_interest_meta_get_param (roi, "object_id") != NULL);
    gst_buffer_unref (buffer);
  }
  ck_assert_uint_eq (cuv_stat (s.h->element, "ids"), 3);
  ck_assert_uint_eq (cuv_stat (s.h->element, "frames"), 10);
  ck_assert_uint_eq (cuv_stat_uint (s.h->element, "objects"), 3);
  ck_assert_uint_eq (cuv_stat_uint (s.h->element, "tracked"), 3);
  stream_clear (&s);
}

CUV_TEST (labels_and_models_are_apart)
{
  for (gint together = 0; together < 2; together++) {
    Stream s = stream_new (together ? "separate-labels=false" : "");

    ck_assert_int_eq (push_one (&s, "cat", 20, 0.9), 1);
    ck_assert_int_eq (push_one (&s, "dog", 20, 0.9), together);
    ck_assert_int_eq (push_one (&s, "dog", 20, 0.9), together ? 1 : 2);
    stream_clear (&s);
  }
}

CUV_TEST (models_are_apart)
{
  Stream s = stream_new ("");

  for (guint i = 0; i < 4; i++) {
    GstBuffer *buffer = frame_new ();
    const gchar *names[] = { "one", "two" };

    for (guint k = 0; k < 2; k++)
      SET_DETECTION (add_object (buffer, "face", 20, 20, 0.9), "model_name",
          G_TYPE_STRING, names[(i + k) % 2]);
    buffer = push (&s, buffer);
    ck_assert_int_eq (id_of (buffer, i % 2), 1);
    ck_assert_int_eq (id_of (buffer, 1 - i % 2), 2);
    gst_buffer_unref (buffer);
  }
  stream_clear (&s);
}

CUV_TEST (only_one_class_is_tracked)
{
  Stream s = stream_new ("object-class=cat");

  ck_assert_int_eq (push_one (&s, "cat", 20, 0.9), 1);
  ck_assert_int_eq (push_one (&s, "dog", 20, 0.9), 0);
  ck_assert_int_eq (push_one (&s, "dog", 20, 0.9), 0);
  ck_assert_int_eq (push_one (&s, "cat", 20, 0.9), 1);
  stream_clear (&s);
}

/* Objects that have an id keep it. */
CUV_TEST (other_ids_stay)
{
  Stream s = stream_new ("first-id=1000");

  for (guint i = 0; i < 3; i++) {
    GstBuffer *buffer = frame_new ();
    GstVideoRegionOfInterestMeta *roi =
        add_object (buffer, "person", 20, 20, 0.9);

    gst_video_region_of_interest_meta_add_param (
        roi, gst_structure_new ("object_id", "id", G_TYPE_INT, 7, NULL));
    add_object (buffer, "person", 20, 20, 0.9);
    buffer = push (&s, buffer);
    ck_assert_int_eq (id_of (buffer, 0), 7);
    ck_assert_int_eq (id_of (buffer, 1), 1000);
    gst_buffer_unref (buffer);
  }
  stream_clear (&s);
}

CUV_TEST (empty_and_distant_boxes)
{
  Stream s = stream_new ("");
  GstBuffer *buffer = frame_new ();

  gst_buffer_add_video_region_of_interest_meta (buffer, "a", 10, 10, 0, 5);
  gst_buffer_add_video_region_of_interest_meta (
      buffer, "a", G_MAXUINT - 5, 10, 500, 5);
  gst_buffer_add_video_region_of_interest_meta (
      buffer, "a", 10, 10, G_MAXUINT, G_MAXUINT);
  gst_buffer_add_video_region_of_interest_meta (buffer, NULL, 10, 10, 20, 20);
  buffer = push (&s, buffer);
  ck_assert_int_eq (id_of (buffer, 0), 0);
  ck_assert_int_eq (id_of (buffer, 1), 0);
  ck_assert_int_eq (id_of (buffer, 2), 1);
  ck_assert_int_eq (id_of (buffer, 3), 2);
  gst_buffer_unref (buffer);
  stream_clear (&s);
}

/* ---- frames ---- */

/* A frame that others hold, too, is copied without its pixels. */
CUV_TEST (shared_frames_stay_as_they_are)
{
  Stream s = stream_new ("");
  GstBuffer *buffer = frame_new (), *out;
  GstVideoRegionOfInterestMeta *roi;
  gpointer state = NULL;

  add_object (buffer, "person", 20, 20, 0.9);
  out = push (&s, gst_buffer_ref (buffer));
  fail_unless (out != buffer);
  fail_unless (
      gst_buffer_peek_memory (out, 0) == gst_buffer_peek_memory (buffer, 0));
  ck_assert_int_eq (id_of (out, 0), 1);
  roi = cuv_next_region (buffer, &state);
  fail_unless (
      gst_video_region_of_interest_meta_get_param (roi, "object_id") == NULL);
  gst_buffer_unref (out);
  gst_buffer_unref (buffer);
  stream_clear (&s);
}

/* Memory that cannot be mapped is not touched. */
CUV_TEST (any_memory)
{
  Stream s = stream_new ("");
  GstBuffer *buffer = gst_buffer_new ();

  gst_harness_set_src_caps_str (s.h,
      "video/x-raw(memory:Unknown), format=DMA_DRM, width=640, height=360, "
      "framerate=30/1");
  add_object (buffer, "person", 20, 20, 0.9);
  buffer = push (&s, buffer);
  ck_assert_int_eq (id_of (buffer, 0), 1);
  gst_buffer_unref (buffer);
  stream_clear (&s);
}

/* ---- time ---- */

CUV_TEST (flushes_and_jumps_drop_tracks)
{
  Stream s = stream_new ("");
  GstBuffer *buffer;

  ck_assert_int_eq (push_one (&s, "a", 20, 0.9), 1);
  cuv_harness_flush (s.h);
  ck_assert_int_eq (push_one (&s, "a", 20, 0.9), 2);
  s.time += 10 * GST_SECOND;
  buffer = frame_new ();
  add_object (buffer, "a", 20, 20, 0.9);
  GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
  buffer = push (&s, buffer);
  ck_assert_int_eq (id_of (buffer, 0), 3);
  gst_buffer_unref (buffer);
  cuv_harness_caps (s.h, "NV12", W, H / 2);
  ck_assert_int_eq (push_one (&s, "a", 20, 0.9), 4);
  cuv_harness_caps (s.h, "I420", W, H / 2); /* of the same size */
  ck_assert_int_eq (push_one (&s, "a", 20, 0.9), 4);
  stream_clear (&s);
}

/* The prediction takes account of frames that are missing. */
CUV_TEST (missing_frames_move_the_prediction)
{
  Stream s = stream_new ("");

  for (guint i = 0; i < 15; i++)
    ck_assert_int_eq (push_one (&s, "a", 10 + 12 * i, 0.9), 1);
  s.time += 9 * FRAME; /* the box moved by three times its width */
  ck_assert_int_eq (push_one (&s, "a", 10 + 12 * 24, 0.9), 1);
  stream_clear (&s);
}

CUV_TEST (buffers_without_time)
{
  Stream s = stream_new ("");

  for (guint i = 0; i < 5; i++) {
    GstBuffer *buffer = frame_new ();

    add_object (buffer, "a", 20, 20, 0.9);
    buffer = gst_harness_push_and_pull (s.h, buffer);
    ck_assert_int_eq (id_of (buffer, 0), 1);
    gst_buffer_unref (buffer);
  }
  stream_clear (&s);
}

CUV_TEST (lost_tracks_are_given_up)
{
  Stream s = stream_new ("max-lost-frames=5");

  ck_assert_int_eq (push_one (&s, "a", 20, 0.9), 1);
  push_empty (&s, 5);
  ck_assert_uint_eq (cuv_stat_uint (s.h->element, "lost"), 1);
  ck_assert_int_eq (push_one (&s, "a", 20, 0.9), 1);
  push_empty (&s, 6);
  ck_assert_uint_eq (cuv_stat_uint (s.h->element, "lost"), 0);
  ck_assert_int_eq (push_one (&s, "a", 20, 0.9), 0);
  ck_assert_int_eq (push_one (&s, "a", 20, 0.9), 2);
  stream_clear (&s);
}

/* ---- detectors that analyse one of several frames ---- */

CUV_TEST (empty_frames_may_be_skipped_ones)
{
  for (gint skipped = 0; skipped < 2; skipped++) {
    Stream s =
        stream_new (skipped ? "empty-frames=skipped min-hits=3" : "min-hits=3");

    push_empty (&s, 1);
    if (skipped)
      gst_buffer_unref (push (&s, frame_new ()));
    for (guint i = 0; i < 5; i++) {
      push_one (&s, "a", 20, 0.9);
      push_empty (&s, 4);
    }
    ck_assert_int_eq (push_one (&s, "a", 20, 0.9), skipped ? 1 : 0);
    stream_clear (&s);
  }
}

CUV_TEST (repeated_results_keep_their_ids)
{
  Stream s = stream_new ("");

  for (guint i = 0; i < 20; i++) {
    GstBuffer *buffer = frame_new ();
    GstVideoRegionOfInterestMeta *roi =
        add_object (buffer, "a", 20 + 15 * (i / 5), 20, 0.9);

    if (i % 5 != 0)
      SET_DETECTION (roi, "age", G_TYPE_UINT64, (guint64) i);
    buffer = push (&s, buffer);
    ck_assert_int_eq (id_of (buffer, 0), 1);
    gst_buffer_unref (buffer);
  }
  stream_clear (&s);
}

/* ---- messages ---- */

/* Returns the events of the next message as text, "-" for a track without one,
 * or NULL if there is no message. */
static gchar *
next_events (Stream *self)
{
  g_autoptr (GstMessage) message =
      gst_bus_pop_filtered (self->bus, GST_MESSAGE_ELEMENT);
  GString *text = g_string_new ("");
  const GValue *list;

  if (message == NULL)
    return g_string_free (text, TRUE), NULL;
  fail_unless (gst_message_has_name (message, "visiontrack"));
  list =
      gst_structure_get_value (gst_message_get_structure (message), "objects");
  for (guint i = 0; i < gst_value_list_get_size (list); i++) {
    const GstStructure *object =
        gst_value_get_structure (gst_value_list_get_value (list, i));
    const gchar *event = gst_structure_get_string (object, "event");
    gint id = 0;

    gst_structure_get_int (object, "id", &id);
    g_string_append_printf (text, "%d:%s ", id, event != NULL ? event : "-");
  }
  return g_string_free (text, FALSE);
}

static void
expect_events (Stream *self, const gchar *expected)
{
  g_autofree gchar *events = next_events (self);

  ck_assert_str_eq (
      events != NULL ? events : "none", expected != NULL ? expected : "none");
}

CUV_TEST (messages_name_events)
{
  Stream s = stream_new ("max-lost-frames=2");

  push_one (&s, "a", 20, 0.9);
  expect_events (&s, "1:acquired ");
  push_one (&s, "a", 20, 0.9);
  expect_events (&s, NULL);
  push_empty (&s, 1);
  expect_events (&s, "1:lost ");
  push_one (&s, "a", 20, 0.9);
  expect_events (&s, "1:reacquired ");
  push_empty (&s, 4);
  expect_events (&s, "1:lost ");
  expect_events (&s, "1:given-up ");
  expect_events (&s, NULL);
  cuv_element_set (s.h->element, "message=every-frame");
  push_empty (&s, 2);
  expect_events (&s, "");
  expect_events (&s, "");
  cuv_element_set (s.h->element, "message=none");
  push_one (&s, "a", 20, 0.9);
  push_one (&s, "a", 20, 0.9);
  expect_events (&s, NULL);
  stream_clear (&s);
}

/* ---- settings ---- */

CUV_TEST (contradictions_are_refused)
{
  GstElement *element = cuv_element_new ("visiontrack");
  Stream s = stream_new ("");

  cuv_element_set (element, "low=0.8");
  cuv_expect_no_start (element, "low 0.8 is above high 0.5");
  ck_assert_int_eq (push_one (&s, "a", 20, 0.9), 1);
  cuv_element_set (s.h->element, "low=0.8");
  ck_assert_int_eq (push_one (&s, "a", 20, 0.3), 1); /* low is still 0.1 */
  expect_problem (s.bus, GST_MESSAGE_WARNING, "low 0.8 is above high 0.5");
  cuv_element_set (s.h->element, "low=0.4");
  ck_assert_int_eq (push_one (&s, "a", 20, 0.3), 0);
  expect_no_warning (s.bus);
  stream_clear (&s);
}

#if !HAVE_ANALYTICS
#define NEEDS "metadata=analytics needs GstAnalytics"

CUV_TEST (analytics_only_is_refused)
{
  static const gchar *const elements[] = { "visiontrack", "visioncrop",
    "rcdtrack", "waldboostdetect model=lbpcascade_frontalface_improved.xml" };
  Stream s = stream_new ("");

  for (guint i = 0; i < G_N_ELEMENTS (elements); i++) {
    g_autofree gchar *line = g_strdup_printf (
        "videotestsrc num-buffers=1 ! %s metadata=analytics ! fakesink",
        elements[i]);

    cuv_expect_error (line, NEEDS);
  }
  ck_assert_int_eq (push_one (&s, "a", 20, 0.9), 1);
  cuv_element_set (s.h->element, "metadata=analytics");
  ck_assert_int_eq (push_one (&s, "a", 20, 0.9), 1);
  expect_problem (s.bus, GST_MESSAGE_WARNING, NEEDS);
  stream_clear (&s);
}
#endif

CUV_TEST (settings_change_while_playing)
{
  Stream s = stream_new ("");

  push_empty (&s, 1);
  ck_assert_int_eq (push_one (&s, "a", 20, 0.9), 0);
  push_empty (&s, 1);
  cuv_element_set (s.h->element, "min-hits=1");
  ck_assert_int_eq (push_one (&s, "a", 20, 0.9), 1);
  ck_assert_int_eq (push_one (&s, "a", 36, 0.9), 1); /* IoU 24 / 56 */
  cuv_element_set (s.h->element, "max-distance=0.3");
  ck_assert_int_eq (push_one (&s, "a", 60, 0.9), 2);
  cuv_element_set (s.h->element, "begin=0.95");
  ck_assert_int_eq (push_one (&s, "a", 300, 0.9), 0);
  stream_clear (&s);
}

CUV_TEST (too_many_objects_cause_a_warning)
{
  Stream s = stream_new ("message=none");

  for (guint frame = 0; frame < 2; frame++) {
    GstBuffer *buffer = frame_new ();

    for (guint i = 0; i < 2050; i++)
      gst_buffer_add_video_region_of_interest_meta (
          buffer, "a", i % 64 * 10, i / 64 * 10, 8, 8);
    gst_buffer_unref (push (&s, buffer));
    if (frame == 0)
      expect_problem (
          s.bus, GST_MESSAGE_WARNING, "2 of 2050 objects are not tracked");
    expect_no_warning (s.bus);
  }
  ck_assert_uint_eq (cuv_stat_uint (s.h->element, "tracked"), 2048);
  stream_clear (&s);
}

CUV_TEST (starts_again)
{
  Stream s = stream_new ("");

  for (guint i = 0; i < 3; i++) {
    ck_assert_int_eq (push_one (&s, "a", 20, 0.9), 1);
    gst_element_set_state (s.h->element, GST_STATE_NULL);
    gst_element_set_state (s.h->element, GST_STATE_PLAYING);
    gst_harness_push_event (s.h, gst_event_new_stream_start ("again"));
    cuv_harness_caps (s.h, "NV12", W, H);
    cuv_harness_flush (s.h);
  }
  stream_clear (&s);
}
