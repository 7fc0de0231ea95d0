/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The property metadata: whether objects are regions, GstAnalytics or both,
 * readers find the same; many objects. */
#include "config.h"
#include "mtds.h"

#include <math.h>

static const gchar *const nicks[] = {
  [GST_CUV_METADATA_BOTH] = "both",
  [GST_CUV_METADATA_ANALYTICS] = "analytics",
  [GST_CUV_METADATA_ROI] = "roi",
};

static guint
n_regions (GstBuffer *buffer)
{
  return gst_buffer_get_n_meta (
      buffer, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);
}

static void
check_kinds (GstBuffer *buffer, GstCuvMetadata metadata)
{
  fail_unless (
      (n_regions (buffer) > 0) == (metadata != GST_CUV_METADATA_ANALYTICS));
  fail_unless ((gst_buffer_get_analytics_relation_meta (buffer) != NULL)
      == (metadata != GST_CUV_METADATA_ROI));
}

/* ---- records ---- */

/* Returns a frame with a car, its driver and a tracked, held face. */
static GstBuffer *
frame_with_objects (GstCuvMetadata metadata)
{
  GstBuffer *frame = black_frame ();
  GstVideoInfo info = frame_info ();
  GstCuvWriter writer = {
    .buffer = frame, .info = &info, .metadata = metadata
  };
  GstCuvObject car =
      gst_cuv_meta_add_object (&writer, 0, "car", 10, 20, 200, 100, 0.7, NULL);
  GstCuvObject driver =
      gst_cuv_meta_add_object (&writer, 1, "driver", 60, 30, 20, 40, NAN, NULL);
  GstCuvObject face =
      gst_cuv_meta_add_object (&writer, 2, "face", 150, 40, 24, 24, 0.9,
          gst_structure_new ("detection", "label_id", G_TYPE_INT, 3, "score",
              G_TYPE_DOUBLE, 1.5, "age", G_TYPE_UINT64, GST_SECOND, NULL));

  gst_cuv_meta_set_parent (&writer, &driver, &car);
  gst_cuv_meta_set_track (&writer, &face, 7, 100, 200);
  gst_cuv_meta_add_param (&writer, &face,
      gst_structure_new ("rcdtrack", "state", G_TYPE_STRING, "tracked", NULL));
  gst_cuv_meta_add_class (&writer, &car);
  gst_cuv_meta_add_class (&writer, &face);
  return frame;
}

/* Returns the record without the ids of objects, which differ: an entry with
 * parameters has one, too. Consumes the frame. */
static gchar *
record_of (GstBuffer *frame)
{
  g_autoptr (GRegex) ids = g_regex_new ("\"region_id\":\\d+,", 0, 0, NULL);
  g_autofree gchar *text = published (frame, "json-lines");

  return g_regex_replace_literal (ids, text, -1, 0, "", 0, NULL);
}

#if GST_CHECK_VERSION(1, 26, 0)
CUV_TEST (test_same_records)
{
  g_autofree gchar *expected = NULL;

  cuv_folder_enter ();
  expected = record_of (frame_with_objects (GST_CUV_METADATA_ROI));
  for (guint i = 0; i < G_N_ELEMENTS (nicks); i++) {
    GstBuffer *frame = frame_with_objects (i);
    g_autofree gchar *record = NULL;

    check_kinds (frame, i);
    record = record_of (frame);
    fail_unless_equals_string (record, expected);
  }
  cuv_folder_leave ();
}

/* Copies have parameters of their own. */
CUV_TEST (test_copies_have_parameters)
{
  static const gchar *const lines[] = { "queue", "visionoverlay",
    "tee name=t ! queue ! visionoverlay t. ! fakesink async=false",
    "videoconvert ! video/x-raw,format=RGB ! videoconvert ! "
    "video/x-raw,format=BGRA ! queue",
    "videoscale ! video/x-raw,width=640,height=480 ! videoscale ! "
    "video/x-raw,width=320,height=240 ! queue",
    "cuvcudaupload ! cuvcudadownload" };
  g_autofree gchar *expected = NULL;

  cuv_folder_enter ();
  expected = record_of (frame_with_objects (GST_CUV_METADATA_ROI));
  for (guint i = 0; i < G_N_ELEMENTS (lines); i++) {
    GstHarness *h = line_new (lines[i], "BGRA");

    for (guint k = 0; k < 3; k++) {
      GstBuffer *copy =
          push (h, frame_with_objects (GST_CUV_METADATA_ANALYTICS));
      g_autofree gchar *record = record_of (copy);

      fail_unless_equals_string (record, expected);
    }
    gst_harness_teardown (h);
  }
  cuv_folder_leave ();
}

CUV_TEST (test_sent)
{
  g_autoptr (GstBuffer) frame = frame_with_objects (GST_CUV_METADATA_ANALYTICS);
  g_autoptr (GByteArray) sent = g_byte_array_new ();
  g_autofree gchar *expected = NULL, *record = NULL;
  GstBuffer *received = black_frame ();
  guint32 consumed;

  cuv_folder_enter ();
  fail_unless (gst_meta_serialize_simple (
      (GstMeta *) gst_buffer_get_analytics_relation_meta (frame), sent));
  fail_unless (gst_meta_deserialize (received, sent->data, sent->len, &consumed)
      != NULL);
  expected = record_of (gst_buffer_ref (frame));
  record = record_of (received);
  fail_unless_equals_string (record, expected);
  cuv_folder_leave ();
}
#endif

/* ---- elements ---- */

static void
check_track (GstHarness *h, guint number, GstCuvMetadata metadata)
{
  GstBuffer *frame = black_frame ();
  GstVideoInfo info = frame_info ();
  GstCuvWriter writer = {
    .buffer = frame, .info = &info, .metadata = metadata
  };
  g_autoptr (GstElement) track = gst_harness_find_element (h, "visiontrack");

  gst_cuv_meta_add_object (&writer, 0, "person", 50, 60, 40, 80, 0.75, NULL);
  GST_BUFFER_PTS (frame) = number * GST_SECOND / 30;
  gst_util_set_object_arg (G_OBJECT (track), "metadata", nicks[metadata]);
  frame = push (h, frame);
  check_kinds (frame, metadata);
  fail_unless_equals_int (only_object (frame).track, 1);
  gst_buffer_unref (frame);
}

CUV_TEST (test_changed_while_playing)
{
  GstHarness *h = line_new ("visiontrack", "BGRA");

  for (guint i = 0; i < 6; i++)
    check_track (h, i, i % 3);
  gst_harness_teardown (h);
}

/* What an object lacks is added as the property says. */
CUV_TEST (test_tracks_of_other_kinds)
{
  GstHarness *h = line_new ("visiontrack metadata=analytics", "BGRA");
  GstBuffer *frame = black_frame ();
  MtdTrack track;

  gst_buffer_add_video_region_of_interest_meta (frame, "car", 1, 2, 30, 40);
  GST_BUFFER_PTS (frame) = 0;
  frame = push (h, frame);
  fail_unless_equals_int (n_regions (frame), 1);
  fail_unless_equals_int (only_object (frame).track, 1);
  fail_unless (only_object (frame).params == NULL);
  track = mtd_find_track (frame, 1);
  mtd_check_box (&track.od, 1, 2, 30, 40);
  gst_buffer_unref (frame);
  gst_harness_teardown (h);

  h = line_new ("visiontrack metadata=roi", "BGRA");
  frame = black_frame ();
  mtd_add_od (frame, "car", 1, 2, 30, 40, 0.75f);
  GST_BUFFER_PTS (frame) = 0;
  frame = push (h, frame);
  fail_unless_equals_int (n_regions (frame), 1);
  fail_unless_equals_int (only_object (frame).track, 1);
  fail_unless_equals_int (
      mtd_count (frame, gst_analytics_tracking_mtd_get_mtd_type ()), 0);
  gst_buffer_unref (frame);
  gst_harness_teardown (h);
}

#if GST_CHECK_VERSION(1, 26, 0)
/* So many that the relation meta is enlarged while objects are in use. */
CUV_TEST (test_regions_get_parameters)
{
  GstHarness *h = line_new ("visiontrack metadata=both", "BGRA");
  GstBuffer *frame = black_frame ();
  GstVideoInfo info = frame_info ();
  GstCuvWriter writer = {
    .buffer = frame, .info = &info, .metadata = GST_CUV_METADATA_ANALYTICS
  };
  g_autoptr (GArray) objects = NULL;

  for (gint i = 0; i < 100; i++)
    gst_cuv_meta_add_object (&writer, i, "ball", (guint) i * 3, 50, 2, 2, 0.75,
        gst_structure_new ("detection", "score", G_TYPE_INT, i, NULL));
  GST_BUFFER_PTS (frame) = 0;
  frame = push (h, frame);
  objects = objects_of (frame);
  fail_unless_equals_int (objects->len, 100);
  for (guint i = 0; i < 100; i++) {
    const GstCuvObject object = nth_object (objects, i);
    gint score = -1;

    gst_structure_get_int (
        gst_cuv_object_param (&object, "detection"), "score", &score);
    fail_unless (object.roi != NULL && object.roi->params == object.params);
    fail_unless (score >= 0 && (guint) score * 3 == object.x);
    fail_unless (object.track > 0);
  }
  gst_buffer_unref (frame);
  gst_harness_teardown (h);
}
#endif

CUV_TEST (test_crop)
{
  for (guint i = 0; i < G_N_ELEMENTS (nicks); i++) {
    g_autofree gchar *line =
        g_strdup_printf ("visioncrop labels=face metadata=%s", nicks[i]);
    GstHarness *h = line_new (line, "BGRA");
    GstBuffer *picture = push (h, frame_with_objects (i));
    const GstCuvObject face = only_object (picture);

    check_kinds (picture, i);
    fail_unless_equals_int (face.track, 7);
    fail_unless (face.x == 0 && face.y == 0 && face.w == 24 && face.h == 24);
#if GST_CHECK_VERSION(1, 26, 0)
    fail_unless (gst_cuv_object_param (&face, "crop") != NULL);
    fail_unless (gst_structure_has_field (
        gst_cuv_object_param (&face, "detection"), "score"));
#endif
    gst_buffer_unref (picture);
    gst_harness_teardown (h);
  }
}

/* ---- many objects ---- */

#define MANY 5000

static void
add_many (GstCuvWriter *writer, gint first_id)
{
  GstCuvObject *objects = g_new (GstCuvObject, MANY);

  for (gint i = 0; i < MANY; i++)
    objects[i] = gst_cuv_meta_add_object (writer, first_id + i, "face",
        (guint) i % 300, (guint) i / 300, 40, 30, 0.75, NULL);
  for (gint i = 0; i < MANY; i++)
    gst_cuv_meta_set_track (writer, &objects[i], i + 1, 0, 0);
  g_free (objects);
}

static void
check_many (GstBuffer *buffer, guint n_before)
{
  g_autoptr (GArray) objects = objects_of (buffer);
  g_autoptr (GHashTable) tracks = g_hash_table_new (NULL, NULL);

  fail_unless_equals_int (objects->len, n_before + MANY);
  for (guint i = 0; i < objects->len; i++) {
    const GstCuvObject object = nth_object (objects, i);

    if (object.label == g_quark_from_string ("face"))
      fail_unless (
          g_hash_table_add (tracks, GINT_TO_POINTER ((gint) object.track))
          && object.track > 0);
  }
  fail_unless_equals_int (g_hash_table_size (tracks), MANY);
}

/* More tracked objects than GstAnalytics holds: none is lost. Another element
 * added a few entries, in a meta that grows by five entries at a time. */
CUV_TEST (test_many)
{
  for (guint i = 0; i < G_N_ELEMENTS (nicks); i++) {
    g_autoptr (GstBuffer) buffer = gst_buffer_new ();
    GstVideoInfo info = frame_info ();
    GstCuvWriter writer = {
      .buffer = buffer, .info = &info, .metadata = i, .n_entries = 2 * MANY
    };
    const guint dog = mtd_add_od (buffer, "dog", 1, 2, 3, 4, 0.25f);
    MtdTrack track;

    mtd_add_track (buffer, dog, 99999);
    add_many (&writer, gst_cuv_meta_next_id (buffer));
    check_many (buffer, 1);
    track = mtd_find_track (buffer, 99999);
    mtd_check_box (&track.od, 1, 2, 3, 4);
    fail_unless_equals_int (
        gst_analytics_relation_get_length (
            gst_buffer_get_analytics_relation_meta (buffer)),
        i == GST_CUV_METADATA_ROI ? 2 : GST_CUV_MAX_MTDS);
  }
}

CUV_BEFORE_TESTS (prepare, tcase)
{
  static const gchar *const no_kinds[] = { NULL };

  gst_cuv_meta_register_tables (no_kinds);
}
