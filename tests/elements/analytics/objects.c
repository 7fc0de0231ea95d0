/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Objects as regions of interest and as GstAnalytics: what is written, and that
 * a reader sees each object once. */
#include "config.h"
#include "mtds.h"

#include <math.h>

static GstCuvObject
add (GstBuffer *buffer, gint id, const gchar *label, guint x, guint y)
{
  GstVideoInfo info = frame_info ();

  return gst_cuv_meta_add_object (
      &(GstCuvWriter){ .buffer = buffer, .info = &info }, id, label, x, y, 40,
      30, 0.75, NULL);
}

static guint
n_regions (GstBuffer *buffer)
{
  return gst_buffer_get_n_meta (
      buffer, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);
}

/* ---- writing ---- */

CUV_TEST (test_written_as_both)
{
  g_autoptr (GstBuffer) buffer = gst_buffer_new ();
  GstCuvObject object = add (buffer, 0, "face", 10, 20), read;
  GstAnalyticsRelationMeta *meta =
      gst_buffer_get_analytics_relation_meta (buffer);
  GstAnalyticsODMtd od;
  GstAnalyticsClsMtd class;
  gpointer state = NULL;

  gst_cuv_meta_add_class (&(GstCuvWriter){ .buffer = buffer }, &object);
  fail_unless (gst_analytics_relation_meta_get_od_mtd (meta, 0, &od));
  mtd_check_box (&od, 10, 20, 40, 30);
  fail_unless (
      gst_analytics_od_mtd_get_obj_type (&od) == g_quark_from_string ("face"));
  fail_unless (gst_analytics_relation_meta_get_direct_related (meta, od.id,
      GST_ANALYTICS_REL_TYPE_RELATE_TO, gst_analytics_cls_mtd_get_mtd_type (),
      &state, &class));
  fail_unless (gst_analytics_cls_mtd_get_quark (&class, 0) == object.label);
  fail_unless (gst_analytics_cls_mtd_get_level (&class, 0) == 0.75f);
  read = only_object (buffer);
  fail_unless (read.roi != NULL && read.roi == object.roi && read.od == 0);
  fail_unless (read.class_label == 0 && read.confidence == 0.75);
}

/* Before and between the detections' regions are those of other elements, with
 * the same ids. */
CUV_TEST (test_track_belongs_to_its_object)
{
  g_autoptr (GstBuffer) buffer = gst_buffer_new ();
  GstVideoInfo info = frame_info ();
  GstCuvObject one, two;
  MtdTrack track;

  gst_buffer_add_video_region_of_interest_meta (buffer, "car", 1, 2, 3, 4);
  one = add (buffer, gst_cuv_meta_next_id (buffer), "face", 10, 20);
  gst_buffer_add_video_region_of_interest_meta (buffer, "face", 5, 6, 7, 8)
      ->id = 2;
  two = add (buffer, gst_cuv_meta_next_id (buffer), "face", 110, 120);
  fail_unless_equals_int (two.id, 3);
  gst_cuv_meta_set_track (
      &(GstCuvWriter){ .buffer = buffer, .info = &info }, &one, 7, 100, 200);
  gst_cuv_meta_set_track (
      &(GstCuvWriter){ .buffer = buffer, .info = &info }, &two, 8, 150, 250);
  track = mtd_find_track (buffer, 7);
  mtd_check_box (&track.od, 10, 20, 40, 30);
  fail_unless (track.first_seen == 100 && track.last_seen == 200);
  track = mtd_find_track (buffer, 8);
  mtd_check_box (&track.od, 110, 120, 40, 30);
  fail_unless (track.first_seen == 150 && track.last_seen == 250);
  fail_unless (!track.lost);
}

/* A region that has no detection gets one. */
CUV_TEST (test_track_of_a_region)
{
  g_autoptr (GstBuffer) buffer = gst_buffer_new ();
  GstVideoInfo info = frame_info ();
  GstCuvObject object;
  MtdTrack track;

  gst_buffer_add_video_region_of_interest_meta (buffer, "car", 1, 2, 3, 4);
  object = only_object (buffer);
  gst_cuv_meta_set_track (
      &(GstCuvWriter){ .buffer = buffer, .info = &info }, &object, 1, 0, 0);
  track = mtd_find_track (buffer, 1);
  mtd_check_box (&track.od, 1, 2, 3, 4);
  fail_unless_equals_int (only_object (buffer).track, 1);
  gst_cuv_meta_set_track (
      &(GstCuvWriter){ .buffer = buffer }, NULL, 2, 100, 200);
  track = mtd_find_track (buffer, 2);
  fail_unless (track.lost && track.first_seen == 100 && track.last_seen == 200);
}

/* The parent is only a detection; it gets a region, which has its id. */
CUV_TEST (test_parent)
{
  g_autoptr (GstBuffer) buffer = gst_buffer_new ();
  GstVideoInfo info = frame_info ();
  GstCuvObject parent, child;
  GstAnalyticsRelationMeta *meta;
  guint od;

  od = mtd_add_od (buffer, "car", 0, 0, 200, 200, 0.5f);
  parent = only_object (buffer);
  child = add (buffer, gst_cuv_meta_next_id (buffer), "face", 10, 20);
  fail_unless (child.id != parent.id);
  gst_cuv_meta_set_parent (
      &(GstCuvWriter){ .buffer = buffer, .info = &info }, &child, &parent);
  fail_unless_equals_int (n_regions (buffer), 2);
  fail_unless_equals_int (child.roi->parent_id, parent.roi->id);
  meta = gst_buffer_get_analytics_relation_meta (buffer);
  fail_unless_equals_int (
      gst_analytics_relation_meta_get_relation (meta, (guint) child.od, od),
      GST_ANALYTICS_REL_TYPE_IS_PART_OF);
  fail_unless_equals_int (
      gst_analytics_relation_meta_get_relation (meta, od, (guint) child.od),
      GST_ANALYTICS_REL_TYPE_CONTAIN);
}

/* ---- reading ---- */

CUV_TEST (test_detection_only)
{
  g_autoptr (GstBuffer) buffer = gst_buffer_new ();
  guint dog, unnamed;
  g_autoptr (GArray) objects = NULL;
  GstCuvObject object;

  add (buffer, 0, "face", 10, 20);
  dog = mtd_add_od (buffer, "dog", -10, 20, 50, 60, 0.25f);
  mtd_add_class (buffer, dog, "poodle", 0.5f);
  mtd_add_track (buffer, dog, 0);
  unnamed = mtd_add_od (buffer, NULL, 1, 2, 3, 4, 0.25f);
  mtd_add_class (buffer, unnamed, "cat", 0.5f);
  mtd_add_od (buffer, "dog", -50, 0, 50, 60, 0.25f); /* a detection without a
                                                      * visible part */
  objects = objects_of (buffer);
  fail_unless_equals_int (objects->len, 3);
  object = nth_object (objects, 1);
  fail_unless (object.roi == NULL && object.od == (gint) dog);
  fail_unless (object.x == 0 && object.y == 20 && object.w == 40
      && object.h == 60 && object.parent_id == -1);
  fail_unless_equals_string (g_quark_to_string (object.label), "dog");
  fail_unless_equals_string (g_quark_to_string (object.class_label), "poodle");
  fail_unless (object.confidence == 0.25 && object.class_confidence == 0.5);
  fail_unless_equals_int (object.track, 0);
  object = nth_object (objects, 2);
  fail_unless_equals_string (g_quark_to_string (object.label), "cat");
  fail_unless (object.class_label == 0 && object.confidence == 0.5);
  fail_unless_equals_int (object.track, -1);
}

/* Ids are unique, because parents and JSON refer to objects by them. */
CUV_TEST (test_ids)
{
  g_autoptr (GstBuffer) buffer = gst_buffer_new ();
  g_autoptr (GArray) objects = NULL;

  gst_buffer_add_video_region_of_interest_meta (buffer, "car", 1, 2, 3, 4)->id =
      1;
  for (gint i = 0; i < 3; i++)
    mtd_add_od (buffer, "dog", 10 * i, 20, 50, 60, 0.25f);
  objects = objects_of (buffer);
  fail_unless_equals_int (objects->len, 4);
  fail_unless_equals_int (nth_object (objects, 0).id, 1);
  fail_unless_equals_int (nth_object (objects, 1).id, 0);
  fail_unless_equals_int (nth_object (objects, 2).id, 2);
  fail_unless_equals_int (nth_object (objects, 3).id, 3);
  fail_unless_equals_int (gst_cuv_meta_next_id (buffer), 4);
}

/* Two models may find the same box. */
CUV_TEST (test_equal_objects)
{
  g_autoptr (GstBuffer) buffer = gst_buffer_new ();
  GstVideoInfo info = frame_info ();
  GstCuvObject two;
  g_autoptr (GArray) objects = NULL;

  add (buffer, 0, "face", 10, 20);
  two = add (buffer, 1, "face", 10, 20);
  add (buffer, 2, "nose", 10, 20);
  gst_cuv_meta_set_track (
      &(GstCuvWriter){ .buffer = buffer, .info = &info }, &two, 5, 0, 0);
  objects = objects_of (buffer);
  fail_unless_equals_int (objects->len, 3);
  for (guint i = 0; i < 3; i++)
    fail_unless_equals_int (nth_object (objects, i).od, (gint) i);
  fail_unless_equals_int (nth_object (objects, 0).track, -1);
  fail_unless_equals_int (nth_object (objects, 1).track, 5);
}

#if GST_CHECK_VERSION(1, 26, 0)
CUV_TEST (test_oriented)
{
  static const struct {
    gfloat angle;
    guint x, y, w, h;
  } cases[] = { { 0, 100, 50, 40, 20 }, { (gfloat) G_PI_2, 110, 40, 20, 40 },
    { (gfloat) -G_PI_4, 98, 38, 44, 44 }, { (gfloat) G_PI, 100, 50, 40, 20 } };
  GstVideoInfo info = frame_info ();

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstBuffer *buffer = gst_buffer_new ();
    GstAnalyticsODMtd od;
    GstCuvObject object;

    fail_unless (gst_analytics_relation_meta_add_oriented_od_mtd (
        gst_buffer_add_analytics_relation_meta (buffer),
        g_quark_from_string ("ship"), 100, 50, 40, 20, cases[i].angle, 0.5f,
        &od));
    object = only_object (buffer);
    fail_unless (object.x == cases[i].x && object.y == cases[i].y
            && object.w == cases[i].w && object.h == cases[i].h,
        "angle %f: %u,%u %ux%u", cases[i].angle, object.x, object.y, object.w,
        object.h);
    gst_cuv_meta_set_track (
        &(GstCuvWriter){ .buffer = buffer, .info = &info }, &object, 1, 0, 0);
    fail_unless (only_object (buffer).roi == object.roi);
    gst_buffer_unref (buffer);
  }
}
#endif

static void
add_random (GstBuffer *buffer, GRand *rand, gint i)
{
  static const gchar *const labels[] = { "face", "dog", NULL };
  const gchar *label = labels[g_rand_int_range (rand, 0, 3)];
  const gint x = g_rand_int_range (rand, -2, 2);
  const gint w = g_rand_int_range (rand, -1, 3);
  guint od;

  switch (g_rand_int_range (rand, 0, 4)) {
    case 0:
      add (buffer, i, "face", (guint) ABS (x), 0);
      break;
    case 1:
      gst_buffer_add_video_region_of_interest_meta_id (
          buffer, g_quark_from_string (label), (guint) ABS (x), 0, 2, 2)
          ->id = i;
      break;
    default:
      od = mtd_add_od (buffer, label, x, 0, w, 2, 0.5f);
      if (g_rand_boolean (rand))
        mtd_add_class (buffer, od, "cat", 0.5f);
      if (g_rand_boolean (rand))
        mtd_add_track (buffer, od, g_rand_int (rand));
  }
}

/* Checks that each region and each visible detection belongs to exactly one
 * object. */
static void
check_random (GstBuffer *buffer, GArray *objects)
{
  const guint n = n_regions (buffer);
  gpointer state = NULL;

  for (guint i = 0; i < objects->len; i++) {
    const GstCuvObject a = nth_object (objects, i);

    fail_unless (a.roi == (i < n ? cuv_next_region (buffer, &state) : NULL));
    fail_unless (i < n || (a.od >= 0 && a.w > 0 && a.h > 0));
    for (guint k = 0; k < i; k++) {
      const GstCuvObject b = nth_object (objects, k);

      fail_unless (a.od < 0 || a.od != b.od);
      fail_unless (a.id != b.id);
      /* otherwise both would be one object */
      fail_unless (i < n || b.od >= 0 || b.label != a.label || b.x != a.x
          || b.y != a.y || b.w != a.w || b.h != a.h);
    }
  }
}

CUV_TEST (test_random)
{
  GRand *rand = g_rand_new_with_seed (g_random_int ());

  for (guint i = 0; i < 500; i++) {
    GstBuffer *buffer = gst_buffer_new ();
    GArray *objects;

    for (gint k = g_rand_int_range (rand, 0, 40); k > 0; k--)
      add_random (buffer, rand, k);
    objects = objects_of (buffer);
    check_random (buffer, objects);
    fail_unless (objects->len <= n_regions (buffer)
            + mtd_count (buffer, gst_analytics_od_mtd_get_mtd_type ()));
    g_array_unref (objects);
    gst_buffer_unref (buffer);
  }
  g_rand_free (rand);
}

/* ---- copies ---- */

static GstBuffer *
frame_to_copy (void)
{
  GstBuffer *frame = cuv_frame_new ("BGRA", WIDTH, HEIGHT);
  GstVideoInfo info = frame_info ();
  GstCuvObject object;

  gst_buffer_add_video_region_of_interest_meta (frame, "car", 8, 0, 40, 40);
  object = add (frame, gst_cuv_meta_next_id (frame), "face", 12, 22);
  gst_cuv_meta_set_track (
      &(GstCuvWriter){ .buffer = frame, .info = &info }, &object, 4, 100, 200);
  mtd_add_od (frame, "dog", 100, 90, 20, 30, 0.25f);
  return frame;
}

static void
check_copy (const gchar *line, GstBuffer *frame, guint scale)
{
  g_autoptr (GArray) objects = objects_of (frame);
  const GstCuvObject read = nth_object (objects, 1);
  MtdTrack track;

  fail_unless_equals_int (n_regions (frame), 2);
  fail_unless_equals_int (
      mtd_count (frame, gst_analytics_od_mtd_get_mtd_type ()), 2);
  fail_unless_equals_int (objects->len, 3);
  fail_unless (nth_object (objects, 2).x == 100 / scale);
  fail_unless (read.roi != NULL && read.od >= 0);
  fail_unless (read.x == 12 / scale && read.y == 22 / scale
          && read.w == 40 / scale && read.h == 30 / scale,
      "%s: %u,%u %ux%u", line, read.x, read.y, read.w, read.h);
  fail_unless_equals_int (read.id, 1);
  fail_unless_equals_int (read.track, 4);
  fail_unless (read.confidence == 0.75);
  track = mtd_find_track (frame, 4);
  mtd_check_box (&track.od, read.x, read.y, read.w, read.h);
}

/* The buffers of a pool are reused together with their metadata. */
static void
check_copies (const gchar *line, guint scale)
{
  g_autoptr (GstHarness) h = line_new (line, "BGRA");

  for (guint i = 0; i < 6; i++) {
    GstBuffer *frame = push (h, frame_to_copy ());

    check_copy (line, frame, scale);
    gst_buffer_unref (frame);
  }
}

/* Some elements drop the parameters of regions; their GstAnalytics metadata
 * remains. */
CUV_TEST (test_copies)
{
  check_copies ("queue", 1);
  check_copies ("tee name=t ! queue t. ! fakesink async=false", 1);
  check_copies ("videoconvert ! video/x-raw,format=RGB ! queue", 1);
  check_copies ("videoscale ! video/x-raw,width=160,height=120 ! queue", 2);
  check_copies ("visionoverlay", 1);
  check_copies (
      "tee name=t ! queue ! visionoverlay t. ! fakesink async=false", 1);
  check_copies ("cuvcudaupload ! cuvcudadownload", 1);
}

/* Regions and detections are rounded in the same way, or dropped, so that no
 * object is found twice. */
CUV_TEST (test_transforms)
{
  static const gchar *const lines[] = {
    "videoscale ! video/x-raw,width=137,height=101 ! queue",
    "videoscale ! video/x-raw,width=1001,height=333 ! queue",
    "videoscale add-borders=true ! video/x-raw,width=300,height=300 ! queue",
    "videocrop left=33 top=17", "videoflip method=clockwise",
    "videoflip method=horizontal-flip", "videobox left=-20 top=13"
  };

  for (guint i = 0; i < G_N_ELEMENTS (lines); i++) {
    GstHarness *h = line_new (lines[i], "BGRA");
    GstBuffer *frame = cuv_frame_new ("BGRA", WIDTH, HEIGHT);
    GArray *objects;

    for (gint k = 0; k < 40; k++)
      add (frame, k, "face", (guint) k * 7, (guint) k * 5);
    fail_unless_equals_int (gst_harness_push (h, frame), GST_FLOW_OK);
    frame = gst_harness_pull (h);
    objects = objects_of (frame);
    fail_unless (objects->len <= 40 && (i > 2 || objects->len == 40),
        "%s: %u objects", lines[i], objects->len);
    g_array_unref (objects);
    gst_buffer_unref (frame);
    gst_harness_teardown (h);
  }
}
