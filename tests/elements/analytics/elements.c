/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GstAnalytics between elements: our elements read what others wrote, and do
 * not mix the entries of different objects. */
#include "config.h"
#include "film.h"
#include "mtds.h"

#include <string.h>

static const Box place = { 60, 50, 48, 40 };

/* ---- reading what others wrote ---- */

/* Adds metadata as a tensor decoder, a classifier and a tracker write it. */
static void
add_decoded (GstBuffer *frame)
{
  const guint od = mtd_add_od (
      frame, "person", place.x, place.y, place.width, place.height, 0.75f);

  mtd_add_class (frame, od, "walking", 0.5f);
  mtd_add_track (frame, od, 7);
}

static void
add_region (GstBuffer *frame)
{
  GstVideoRegionOfInterestMeta *roi = film_region (frame, "person", place);

  gst_video_region_of_interest_meta_add_param (roi,
      gst_structure_new ("detection", "confidence", G_TYPE_DOUBLE, 0.75, NULL));
  gst_video_region_of_interest_meta_add_param (
      roi, gst_structure_new ("object_id", "id", G_TYPE_INT, 7, NULL));
}

CUV_TEST (test_overlay)
{
  GstHarness *h = line_new (
      "visionoverlay fill=solid fill-color=navy hold-regions=0", "BGRA");
  GstBuffer *with_region = black_frame (), *decoded = black_frame ();
  GstBuffer *empty;

  add_region (with_region);
  add_decoded (decoded);
  with_region = push (h, with_region);
  decoded = push (h, decoded);
  empty = push (h, black_frame ());
  fail_unless (cuv_frames_equal ("BGRA", WIDTH, HEIGHT, decoded, with_region));
  fail_if (cuv_frames_equal ("BGRA", WIDTH, HEIGHT, decoded, empty));
  gst_buffer_unref (empty);
  gst_buffer_unref (decoded);
  gst_buffer_unref (with_region);
  gst_harness_teardown (h);
}

#if GST_CHECK_VERSION(1, 26, 0)
static gboolean
is_white (GstBuffer *buffer, gint x, gint y)
{
  GstVideoInfo info = frame_info ();
  GstVideoFrame frame;
  gboolean white;

  fail_unless (gst_video_frame_map (&frame, &info, buffer, GST_MAP_READ));
  white = ((guint8 *) GST_VIDEO_FRAME_PLANE_DATA (
              &frame, 0))[y * GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0) + 4 * x]
      == 255;
  gst_video_frame_unmap (&frame);
  return white;
}

/* An oriented detection hides its region, which has the box before the
 * rotation, and the box that encloses the rotated one. */
CUV_TEST (test_hidden_oriented)
{
  GstHarness *h = line_new ("visionoverlay fill=solid fill-color=white "
                            "fill-margin=0 draw-boxes=false draw-labels=false "
                            "draw-confidence=false",
      "BGRA");
  GstBuffer *frame = black_frame ();
  guint n = 0;
  GstAnalyticsODMtd od;

  film_region (frame, "ship", (Box){ 100, 50, 40, 20 });
  fail_unless (gst_analytics_relation_meta_add_oriented_od_mtd (
      gst_buffer_add_analytics_relation_meta (frame),
      g_quark_from_string ("ship"), 100, 50, 40, 20, (gfloat) G_PI_2, 0.5f,
      &od));
  frame = push (h, frame);
  for (gint y = 0; y < HEIGHT; y++) {
    for (gint x = 0; x < WIDTH; x++)
      n += is_white (frame, x, y);
  }
  fail_unless (is_white (frame, 100, 50) && is_white (frame, 139, 69));
  fail_unless (is_white (frame, 110, 40) && is_white (frame, 129, 79));
  fail_unless_equals_int (n, 40 * 40);
  gst_buffer_unref (frame);
  gst_harness_teardown (h);
}
#endif

CUV_TEST (test_publish)
{
  GstBuffer *frame = black_frame ();
  GstVideoInfo info = frame_info ();
  gchar *text;

  cuv_folder_enter ();
  gst_cuv_meta_add_object (&(GstCuvWriter){ .buffer = frame, .info = &info }, 0,
      "face", 0, 0, 32, 24, 0.5, NULL);
  add_decoded (frame);
  text = published (gst_buffer_ref (frame), "json-lines");
  fail_unless_equals_string (text,
      "\"objects\":[{\"detection\":{\"bounding_box\":{\"x_max\":0.1,"
      "\"x_min\":0.0,\"y_max\":0.1,\"y_min\":0.0},\"confidence\":0.5,\"label\":"
      "\"face\",\"label_id\":0},\"h\":24,\"region_id\":0,\"roi_type\":\"face\","
      "\"w\":32,\"x\":0,\"y\":0},"
      "{\"classification\":{\"confidence\":0.5,\"label\":\"walking\"},"
      "\"detection\":{\"bounding_box\":{\"x_max\":0.3375,\"x_min\":0.1875,"
      "\"y_max\":0.375,\"y_min\":0.20833333333333334},\"confidence\":0.75,"
      "\"label\":\"person\"},\"h\":40,\"id\":7,\"region_id\":1,\"roi_type\":"
      "\"person\",\"w\":48,\"x\":60,\"y\":50}]");
  g_free (text);
  text = published (frame, "csv");
  fail_unless (
      strstr (text, ",320,240,0,,,face,0,0,32,24,0.0,0.1,0.0,0.1,0.5,0,")
      != NULL);
  fail_unless (
      strstr (text, ",320,240,1,,7,person,60,50,48,40,0.1875,0.3375,") != NULL);
  fail_unless_equals_int (g_strstr_len (text, -1, "\r\n") != NULL, TRUE);
  g_free (text);
  cuv_folder_leave ();
}

/* Tracks start from the objects that a decoder found, and their ids are
 * added to these detections. */
CUV_TEST (test_rcdtrack)
{
  CuvLive film = film_new ("object-class=person", "NV12", WIDTH, HEIGHT);
  GstCuvObject object;
  GstBuffer *frame;
  MtdTrack track;

  for (guint i = 0; i < 3; i++) {
    frame = film_frame (&film);
    film_draw_object (frame, 1, place);
    mtd_add_od (frame, "dog", 200, 100, 40, 40, 0.75f);
    if (i < 2)
      mtd_add_od (
          frame, "person", place.x, place.y, place.width, place.height, 0.75f);
    frame = cuv_live_push (&film, frame);
    track = mtd_find_track (frame, 1);
    fail_unless (track.first_seen == 0 && track.last_seen == i * GST_SECOND / 25
        && !track.lost);
    fail_unless_equals_int (
        mtd_count (frame, gst_analytics_od_mtd_get_mtd_type ()), 2);
    if (i < 2)
      mtd_check_box (&track.od, (guint) place.x, (guint) place.y,
          (guint) place.width, (guint) place.height);
    {
      GArray *objects = objects_of (frame);

      fail_unless_equals_int (objects->len, 2);
      /* the region that has the id comes first */
      object = nth_object (objects, 0);
      g_array_unref (objects);
    }
    fail_unless (object.roi != NULL && object.track == 1);
    fail_unless_equals_string (g_quark_to_string (object.label), "person");
    check_at (frame, 1, place);
  }
  frame = film_show (&film, 2, -1, place); /* the object is gone */
  track = mtd_find_track (frame, 1);
  fail_unless (track.lost && track.first_seen == 0
      && track.last_seen == 2 * GST_SECOND / 25);
  gst_buffer_unref (frame);
  cuv_live_clear (&film);
}

/* Regions of other elements have the same ids as detections. */
CUV_TEST (test_rcdtrack_after_other_regions)
{
  CuvLive film = film_new (
      "object-initial-x=60 object-initial-y=50 object-initial-width=48 "
      "object-initial-height=40 object-class=none",
      "NV12", WIDTH, HEIGHT);
  GstVideoInfo info = frame_info ();

  for (guint i = 0; i < 2; i++) {
    GstBuffer *frame = film_frame (&film);
    MtdTrack track;

    film_draw_object (frame, 1, place);
    film_region (frame, "car", (Box){ 200, 100, 40, 40 });
    gst_cuv_meta_add_object (&(GstCuvWriter){ .buffer = frame, .info = &info },
        1, "dog", 150, 150, 20, 20, 0.5, NULL);
    film_region (frame, "car", (Box){ 10, 10, 40, 40 })->id = 2;
    frame = cuv_live_push (&film, frame);
    track = mtd_find_track (frame, 1);
    mtd_check_box (&track.od, (guint) place.x, (guint) place.y,
        (guint) place.width, (guint) place.height);
    check_at (frame, 1, place);
  }
  cuv_live_clear (&film);
}

/* ---- a picture ---- */

#define DETECT                                                                 \
  "waldboostdetect model=lbpcascade_frontalface_improved.xml label=face "      \
  "min-neighbors=1 "

static GstPadProbeReturn
add_metas (GstPad *pad, GstPadProbeInfo *probe, gpointer add)
{
  GstBuffer *buffer =
      gst_buffer_make_writable (GST_PAD_PROBE_INFO_BUFFER (probe));

  GST_PAD_PROBE_INFO_DATA (probe) = buffer;
  ((void (*) (GstBuffer *)) add) (buffer);
  return GST_PAD_PROBE_OK;
}

/* Returns the output for a frame with these metas and a picture of a face. */
static GstSample *
sample_of (const gchar *line, void (*add) (GstBuffer *buffer))
{
  g_autofree gchar *file = cuv_test_file ("messi5.jpg");
  g_autofree gchar *whole = g_strdup_printf (
      "filesrc location=%s ! jpegdec ! imagefreeze num-buffers=1 ! "
      "videoconvert ! video/x-raw,format=NV12 ! identity name=mine ! %s ! "
      "appsink name=sink sync=false",
      file, line);
  g_autoptr (GstElement) pipeline = cuv_pipeline_new (whole);
  g_autoptr (GstElement) mine =
      gst_bin_get_by_name (GST_BIN (pipeline), "mine");
  g_autoptr (GstPad) pad = gst_element_get_static_pad (mine, "src");
  GstSample *sample;

  gst_pad_add_probe (
      pad, GST_PAD_PROBE_TYPE_BUFFER, add_metas, (gpointer) add, NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  sample = cuv_pull_sample (pipeline);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  return sample;
}

/* The face is at 227,94 and 36 pixels wide. */
static void
add_person (GstBuffer *buffer)
{
  mtd_add_od (buffer, "ball", 0, 0, 100, 100, 0.5f);
  mtd_add_od (buffer, "person", 200, 60, 120, 130, 0.5f);
}

static void
add_person_region (GstBuffer *buffer)
{
  film_region (buffer, "person", (Box){ 200, 60, 120, 130 })->id = 1;
}

/* Returns the objects with this label. */
static GArray *
labelled (GstSample *sample, const gchar *label)
{
  GArray *objects = objects_of (gst_sample_get_buffer (sample));

  for (guint i = objects->len; i-- > 0;) {
    if (nth_object (objects, i).label != g_quark_from_string (label))
      g_array_remove_index (objects, i);
  }
  return objects;
}

CUV_TEST (test_roi_list)
{
  GstSample *sample = sample_of (
      DETECT "inference-region=roi-list object-class=person", add_person);
  GstSample *expected =
      sample_of (DETECT "inference-region=roi-list object-class=person",
          add_person_region);
  GstSample *none = sample_of (
      DETECT "inference-region=roi-list object-class=ball", add_person);
  GArray *faces = labelled (sample, "face"), *others;
  GArray *persons = labelled (sample, "person");

  others = labelled (expected, "face");
  fail_unless (faces->len > 0);
  fail_unless_equals_int (faces->len, others->len);
  fail_unless_equals_int (persons->len, 1);
  for (guint i = 0; i < faces->len; i++) {
    const GstCuvObject a = nth_object (faces, i), b = nth_object (others, i);

    fail_unless (a.x == b.x && a.y == b.y && a.w == b.w && a.h == b.h);
    fail_unless_equals_int (a.parent_id, nth_object (persons, 0).id);
    fail_unless_equals_int (b.parent_id, 1);
    fail_unless (a.roi != NULL && a.od >= 0);
  }
  g_array_unref (others);
  others = labelled (none, "face");
  fail_unless_equals_int (others->len, 0);
  g_array_unref (others);
  g_array_unref (persons);
  g_array_unref (faces);
  gst_sample_unref (none);
  gst_sample_unref (expected);
  gst_sample_unref (sample);
}

static void
add_car (GstBuffer *buffer)
{
  film_region (buffer, "car", (Box){ 400, 200, 100, 100 });
}

/* Each track's detection is the one whose region has its id. */
CUV_TEST (test_detect_and_track)
{
  g_autoptr (GstSample) sample = sample_of (DETECT
      "! rcdtrack object-class=face max-targets=3 confirm-detections=0",
      add_car);
  g_autoptr (GArray) faces = labelled (sample, "face");
  guint n = 0;

  for (guint i = 0; i < faces->len; i++) {
    const GstCuvObject face = nth_object (faces, i);
    MtdTrack track;

    if (face.track < 0)
      continue;
    track =
        mtd_find_track (gst_sample_get_buffer (sample), (guint64) face.track);
    fail_unless_equals_int ((gint) track.od.id, face.od);
    mtd_check_box (&track.od, face.x, face.y, face.w, face.h);
    n++;
  }
  fail_unless (n > 0);
  fail_unless_equals_int (mtd_count (gst_sample_get_buffer (sample),
                              gst_analytics_tracking_mtd_get_mtd_type ()),
      (gint) n);
  fail_unless_equals_int (mtd_count (gst_sample_get_buffer (sample),
                              gst_analytics_cls_mtd_get_mtd_type ()),
      (gint) faces->len);
}
