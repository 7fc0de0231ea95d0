/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Groups, keypoints and semantic tags: what records have of them, and what
 * visionoverlay draws. */
#include "config.h"
#include "mtds.h"

#include <string.h>

#if GST_CHECK_VERSION(1, 29, 2)
static GstAnalyticsRelationMeta *
meta_of (GstBuffer *buffer)
{
  return gst_buffer_add_analytics_relation_meta (buffer);
}

static void
relate (GstBuffer *buffer, GstAnalyticsRelTypes types, guint from, guint to)
{
  fail_unless (gst_analytics_relation_meta_set_relation (
      meta_of (buffer), types, from, to));
}

static void
set_tag (GstBuffer *buffer, guint id, const gchar *tag)
{
  GstAnalyticsMtd mtd = { .id = id, .meta = meta_of (buffer) };

  fail_unless (gst_analytics_mtd_set_semantic_tag (&mtd, tag));
}

static GstAnalyticsGroupMtd
add_group (GstBuffer *buffer, const gchar *tag)
{
  GstAnalyticsGroupMtd group;

  fail_unless (
      gst_analytics_relation_meta_add_group_mtd (meta_of (buffer), 4, &group));
  if (tag != NULL)
    set_tag (buffer, group.id, tag);
  return group;
}

static guint
add_keypoint (GstBuffer *buffer, gint x, gint y, guint8 flags, gfloat sure)
{
  GstAnalyticsKeypointMtd keypoint;

  fail_unless (gst_analytics_relation_meta_add_keypoint_mtd (meta_of (buffer),
      GST_ANALYTICS_KEYPOINT_DIMENSIONS_2D, x, y, 0, flags, sure, &keypoint));
  return keypoint.id;
}

/* Adds a pose as a network's decoder writes it. The last keypoint was not
 * found. */
static GstAnalyticsGroupMtd
add_pose (GstBuffer *buffer)
{
  static const gint positions[] = { 70, 60, 100, 60, 100, 80, 80, 75 };
  static const gfloat confidences[] = { 0.75f, 0.5f, 0.25f, 0.125f };
  static const guint8 flags[] = { GST_ANALYTICS_KEYPOINT_VISIBILITY_VISIBLE, 0,
    GST_ANALYTICS_KEYPOINT_VISIBILITY_OCCLUDED
        | GST_ANALYTICS_KEYPOINT_VISIBILITY_PROJECTED,
    0 };
  static const gint skeleton[] = { 0, 1, 2, 1, 3, 0 };
  GstAnalyticsGroupMtd group;

  fail_unless (gst_analytics_relation_meta_add_keypoints_group (
      meta_of (buffer), "pose-4-kp", GST_ANALYTICS_KEYPOINT_DIMENSIONS_2D,
      G_N_ELEMENTS (positions), positions, G_N_ELEMENTS (flags), confidences,
      flags, G_N_ELEMENTS (skeleton), skeleton, &group));
  return group;
}

#define OBJECT(h, id, label, tag, w, x, y)                                     \
  "\"h\":" h ",\"region_id\":" id ",\"roi_type\":\"" label "\"" tag            \
  ",\"w\":" w ",\"x\":" x ",\"y\":" y "}"
#define POSE                                                                   \
  "{\"keypoints\":[{\"confidence\":0.75,\"name\":\"nose\",\"visibility\":["    \
  "\"visible\"],\"x\":70,\"y\":60},{\"confidence\":0.5,\"x\":100,\"y\":60},"   \
  "{\"confidence\":0.25,\"visibility\":[\"occluded\",\"projected\"],"          \
  "\"x\":100,\"y\":80},{\"confidence\":0.125,\"x\":80,\"y\":75}],"             \
  "\"semantic_tag\":\"pose-4-kp\",\"skeleton\":[[0,1],[0,3],[1,2]]}"

/* Two people, of whom the second has a pose and a group with one keypoint. */
static GstBuffer *
people (void)
{
  GstBuffer *frame = black_frame ();
  const guint first = mtd_add_od (frame, "person", 5, 6, 7, 8, 0.5f);
  const guint second = mtd_add_od (frame, "person", 60, 50, 48, 40, 0.5f);
  GstAnalyticsGroupMtd pose = add_pose (frame), hand, pair;
  GstAnalyticsMtd nose;

  fail_unless (gst_analytics_group_mtd_get_member (&pose, 0, &nose));
  set_tag (frame, nose.id, "nose");
  relate (frame, GST_ANALYTICS_REL_TYPE_CONTAIN, second, pose.id);
  relate (frame, GST_ANALYTICS_REL_TYPE_IS_PART_OF, pose.id, second);
  hand = add_group (frame, NULL);
  fail_unless (gst_analytics_group_mtd_add_member (&pose, hand.id));
  fail_unless (gst_analytics_group_mtd_add_member (
      &hand, add_keypoint (frame, 90, 70, 0, 1)));
  pair = add_group (frame, "pair");
  fail_unless (gst_analytics_group_mtd_add_member (&pair, second)
      && gst_analytics_group_mtd_add_member (&pair, first));
  set_tag (frame, first, "detector");
  return frame;
}

static void
expect_people (const gchar *text)
{
  expect_part (text,
      OBJECT (
          "8", "0", "person", ",\"semantic_tag\":\"detector\"", "7", "5", "6"));
  expect_part (text,
      "\"groups\":[" POSE
      ",{\"keypoints\":[{\"confidence\":1.0,\"x\":90,\"y\":70}]}]," OBJECT (
          "40", "1", "person", "", "48", "60", "50"));
  expect_part (
      text, "\"groups\":[{\"region_ids\":[1,0],\"semantic_tag\":\"pair\"}]");
}

/* Returns the whole record. */
static gchar *
record_after (const gchar *elements, const gchar *format, GstBuffer *frame)
{
  g_autofree gchar *line = g_strdup_printf (
      "%s visionpublish file-path=out file-format=%s", elements, format);
  GstHarness *h = line_new (line, "BGRA");

  gst_buffer_unref (push (h, frame));
  return line_end (h);
}

CUV_TEST (test_objects)
{
  g_autofree gchar *text = record_after ("", "json-lines", people ());

  expect_people (text);
}

/* Each adds a keypoint that describes the only object: the relation may be that
 * of the keypoint, of its group or of the object. */
static void
add_described (GstBuffer *frame, gint way)
{
  const guint od = mtd_add_od (frame, "hand", 60, 50, 48, 40, 0.5f);
  const guint keypoint = add_keypoint (frame, 61, 51, 0, 1);
  GstAnalyticsGroupMtd group;

  if (way == 0) {
    relate (frame, GST_ANALYTICS_REL_TYPE_IS_PART_OF, keypoint, od);
    return;
  }
  group = add_group (frame, NULL);
  fail_unless (gst_analytics_group_mtd_add_member (&group, keypoint));
  if (way == 1)
    relate (frame, GST_ANALYTICS_REL_TYPE_RELATE_TO, keypoint, od);
  else if (way == 2)
    relate (frame, GST_ANALYTICS_REL_TYPE_RELATE_TO, od, group.id);
  else
    relate (frame, GST_ANALYTICS_REL_TYPE_CONTAIN, od, group.id);
}

CUV_LOOP_TEST (test_relations, 4)
{
  GstBuffer *frame = black_frame ();
  g_autofree gchar *text = NULL;

  add_described (frame, __i__);
  text = record_after ("", "json-lines", frame);
  expect_part (text,
      "\"groups\":[{\"keypoints\":[{\"confidence\":1.0,\"x\":61,\"y\":51}"
      "]}],\"h\":40,");
  fail_unless (strstr (strstr (text, "groups") + 1, "groups") == NULL);
}

/* A frame without objects has a record. */
CUV_TEST (test_frame)
{
  GstBuffer *frame = black_frame ();
  GstAnalyticsKeypointMtd keypoint;
  g_autofree gchar *text = NULL;

  fail_unless (gst_analytics_relation_meta_add_keypoint_mtd (meta_of (frame),
      GST_ANALYTICS_KEYPOINT_DIMENSIONS_3D, 1, -2, 3, 0, 0.5f, &keypoint));
  text = record_after ("", "json-lines", frame);
  expect_part (text,
      "\"groups\":[{\"keypoints\":[{\"confidence\":0.5,\"x\":1,"
      "\"y\":-2,\"z\":3}]}],\"resolution\"");
  fail_unless (strstr (text, "objects") == NULL);
}

/* Groups that contain each other, and members that do not exist. */
CUV_TEST (test_contradictions)
{
  GstBuffer *frame = black_frame ();
  GstAnalyticsGroupMtd a = add_group (frame, "a"), b = add_group (frame, "b");
  g_autofree gchar *text = NULL;

  fail_unless (gst_analytics_group_mtd_add_member (&a, b.id)
      && gst_analytics_group_mtd_add_member (&b, a.id));
  gst_analytics_group_mtd_add_member (&a, 1000);
  text = record_after ("", "json-lines", frame);
  expect_part (
      text, "\"groups\":[{\"semantic_tag\":\"a\"},{\"semantic_tag\":\"b\"}]");
}

CUV_TEST (test_csv)
{
  g_autofree gchar *text = record_after ("", "csv", people ());

  expect_part (text,
      ",60,50,48,40,0.1875,0.3375,0.20833333333333334,0.375,0.5,"
      ",\"{\"\"groups\"\":[{\"\"keypoints\"\":[{\"\"confidence");
  expect_part (text, "\r\ngroup,0,");
  expect_part (text,
      ",,,,,,,,,,,,,,\"{\"\"group\"\":{\"\"region_ids\"\":[1,0],"
      "\"\"semantic_tag\"\":\"\"pair\"\"}}\"\r\n");
}

/* ---- frames that elements copy ---- */

/* The frame is shared, so visionoverlay draws on a copy. */
CUV_TEST (test_copies)
{
  GstBuffer *frame = people ();
  g_autofree gchar *text = record_after (
      "visionoverlay ! cuvcudaupload ! cuvcudadownload ! houghlines ! "
      "visiontrack min-hits=1 !",
      "json-lines", gst_buffer_ref (frame));

  expect_part (text, "\"groups\":[" POSE);
  expect_part (
      text, "\"groups\":[{\"region_ids\":[1,0],\"semantic_tag\":\"pair\"}]");
  gst_buffer_unref (frame);
}

/* unixfdsink sends the same entries. */
CUV_TEST (test_sent)
{
  static const gchar *const no_kinds[] = { NULL };
  g_autoptr (GstBuffer) frame = people ();
  GstBuffer *received = black_frame ();
  GByteArray *sent = g_byte_array_new ();
  g_autofree gchar *text = NULL;
  guint32 consumed;

  gst_cuv_meta_register_tables (no_kinds);
  fail_unless (gst_meta_serialize_simple ((GstMeta *) meta_of (frame), sent));
  fail_unless (gst_meta_deserialize (received, sent->data, sent->len, &consumed)
      != NULL);
  g_byte_array_unref (sent);
  text = record_after ("", "json-lines", received);
  expect_people (text);
}

static void
expect_moved (const gchar *elements, const gchar *first, const gchar *second)
{
  g_autofree gchar *text = record_after (elements, "json-lines", people ());

  expect_part (text, first);
  expect_part (text, second);
}

CUV_TEST (test_moved)
{
  expect_moved ("videoscale ! video/x-raw,width=160,height=480 !",
      "\"visible\"],\"x\":35,\"y\":120}", "\"x\":50,\"y\":160}");
  expect_moved ("videocrop left=20 top=10 !", "\"visible\"],\"x\":50,\"y\":50}",
      "\"x\":80,\"y\":70}");
}

/* ---- drawing ---- */

static gboolean
is_drawn (GstBuffer *buffer, gint x, gint y)
{
  GstVideoInfo info = frame_info ();
  GstVideoFrame frame;
  const guint8 *pixel;
  gboolean drawn;

  fail_unless (gst_video_frame_map (&frame, &info, buffer, GST_MAP_READ));
  pixel = (const guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&frame, 0)
      + y * GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0) + 4 * x;
  drawn = pixel[0] + pixel[1] + pixel[2] > 0;
  gst_video_frame_unmap (&frame);
  return drawn;
}

static GstBuffer *
drawn_people (const gchar *settings)
{
  g_autofree gchar *line = g_strdup_printf (
      "visionoverlay name=overlay thickness=1 draw-boxes=false "
      "draw-labels=false draw-confidence=false %s",
      settings);
  GstHarness *h = line_new (line, "BGRA");
  GstBuffer *frame = push (h, people ());

  gst_harness_teardown (h);
  return frame;
}

CUV_TEST (test_drawn)
{
  GstBuffer *frame = drawn_people ("");

  fail_unless (is_drawn (frame, 70, 60) && is_drawn (frame, 70, 61));
  fail_unless (is_drawn (frame, 85, 60) && !is_drawn (frame, 85, 62));
  fail_unless (is_drawn (frame, 100, 70) && !is_drawn (frame, 98, 70));
  fail_unless (is_drawn (frame, 90, 70)); /* the hand */
  fail_if (is_drawn (frame, 80, 75));     /* the confidence is too low */
  fail_if (is_drawn (frame, 75, 67));     /* the link to it */
  gst_buffer_unref (frame);
}

CUV_TEST (test_not_drawn)
{
  static const gchar *const settings[] = { "draw-shapes=false", "labels=cat",
    "opacity=0" };

  for (guint i = 0; i < G_N_ELEMENTS (settings); i++) {
    GstBuffer *frame = drawn_people (settings[i]);

    fail_if (is_drawn (frame, 70, 60) || is_drawn (frame, 85, 60));
    gst_buffer_unref (frame);
  }
}

CUV_FIXTURE (cuv_folder_enter, cuv_folder_leave)
#else
CUV_BEFORE_TESTS (prepare, tcase)
{
  cuv_tests_skip ("GStreamer before 1.29.2 has no groups");
}
#endif
