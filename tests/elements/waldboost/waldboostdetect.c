/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* waldboostdetect against the library's plain C version, on a photo in every
 * format. With CUV_TEST_CUDA=1 the frames are in CUDA memory, and the GPU must
 * return the same boxes. CUV_TEST_DATA is the folder of the photo, opencv-doc's
 * by default. */
#include "config.h"
#include "picture.h"

#include <math.h>

#include "model/file.h"

CUV_TEST (test_formats)
{
  static const gchar *const formats[] = { "NV12", "I420", "YV12", "NV21",
    "YUY2", "UYVY", "RGB", "BGR", "RGBx", "BGRx", "RGBA", "BGRA", "GRAY8" };
  Wanted wanted = defaults;
  guint total = 0;

  wanted.grouping.min_neighbours = 0;
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    gchar *caps = g_strdup_printf ("video/x-raw,format=%s", formats[i]);
    GstSample *sample = decode_picture (caps);
    GstHarness *h;
    GArray *boxes;

    g_free (caps);
    if (use_cuda
        && i == G_N_ELEMENTS (formats) - 1) { /* CUDA memory has no GRAY8 */
      gst_sample_unref (sample);
      continue;
    }
    h = new_harness ("min-neighbors=0", sample);
    check_frame (h, sample, &wanted, formats[i]);
    boxes = expect (sample, &wanted);
    total += boxes->len;
    g_array_unref (boxes);
    gst_harness_teardown (h);
    gst_sample_unref (sample);
  }
  fail_unless (total > 0, "no box in any format: nothing was compared");
}

CUV_TEST (test_live_properties)
{
  g_autoptr (GstSample) sample = decode_picture ("video/x-raw,format=RGB");
  g_autoptr (GstHarness) h = new_harness ("min-neighbors=0", sample);
  g_autoptr (GstElement) d = detector (h);
  Wanted wanted = defaults;
  GstBuffer *buffer;
  guint all;

  wanted.grouping.min_neighbours = 0;
  check_frame (h, sample, &wanted, "start");
  g_object_set (d, "scale-factor", 1.25, NULL);
  wanted.params.scale_factor = 1.25;
  check_frame (h, sample, &wanted, "scale-factor");
  g_object_set (d, "min-size-width", 60, "min-size-height", 60, NULL);
  wanted.params.min_width = wanted.params.min_height = 60;
  check_frame (h, sample, &wanted, "min-size");
  g_object_set (
      d, "min-size-width", 0, "min-size-height", 0, "max-size-width", 50, NULL);
  wanted.params.min_width = wanted.params.min_height = 0;
  wanted.params.max_width = 50;
  check_frame (h, sample, &wanted, "max-size");
  g_object_set (d, "max-size-width", 0, "roi", "100,20,401,301", NULL);
  wanted.params.max_width = 0;
  wanted.roi = (CuvRoi){ 100, 20, 401, 301 };
  check_frame (h, sample, &wanted, "roi");
  g_object_set (d, "roi", NULL, "scale-factor", 1.05, NULL);
  wanted.roi = (CuvRoi){ 0 };
  wanted.params.scale_factor = 1.05;
  buffer = push (h, sample);
  all = n_objects (buffer);
  fail_unless (all >= 2, "%u", all);
  gst_buffer_unref (buffer);
  g_object_set (d, "max-objects", 1, NULL);
  buffer = push (h, sample);
  assert_equals_int (n_objects (buffer), 1);
  gst_buffer_unref (buffer);
  g_object_set (d, "max-objects", 0, "threshold", 1.0, NULL);
  buffer = push (h, sample);
  assert_equals_int (n_objects (buffer), 0);
  gst_buffer_unref (buffer);
  g_object_set (d, "threshold", 0.0, NULL);
  check_frame (h, sample, &wanted, "threshold back");
}

/* A model set while playing comes into force with the next frame. */
CUV_TEST (test_live_model)
{
  g_autoptr (GstSample) sample = decode_picture ("video/x-raw,format=RGB");
  g_autoptr (GstHarness) h = new_harness ("min-neighbors=0", sample);
  g_autoptr (GstElement) d = detector (h);
  GstVideoRegionOfInterestMeta *roi;
  GstStructure *stats;
  g_autoptr (GstBuffer) buffer = NULL;
  guint64 before, after;

  gst_buffer_unref (push (h, sample));
  g_object_get (d, "stats", &stats, NULL);
  fail_unless (gst_structure_get_uint64 (stats, "windows", &before));
  gst_structure_free (stats);
  g_object_set (d, "model", "lbpcascade_frontalface_improved.xml", NULL);
  buffer = push (h, sample);
  g_object_get (d, "stats", &stats, NULL);
  fail_unless (gst_structure_get_uint64 (stats, "windows", &after));
  fail_unless (before != after && after > 0);
  gst_structure_free (stats);
  roi = gst_buffer_get_video_region_of_interest_meta (buffer);
  if (roi != NULL)
    assert_equals_string (
        g_quark_to_string (roi->roi_type), "frontalface_improved");
}

static void
check_has_confidence (GstHarness *h, GstSample *sample, gboolean has)
{
  g_autoptr (GstBuffer) buffer = push (h, sample);
  GstVideoRegionOfInterestMeta *roi;
  gpointer state = NULL;

  fail_unless (n_objects (buffer) > 0);
  while ((roi = cuv_next_region (buffer, &state)) != NULL) {
    GstStructure *detection =
        gst_video_region_of_interest_meta_get_param (roi, "detection");

    fail_unless (gst_structure_has_field (detection, "confidence") == has);
    fail_unless (gst_structure_has_field (detection, "score"));
  }
}

static void
check_message_confidence (GstBus *bus, gboolean has)
{
  g_autoptr (GstMessage) message =
      gst_bus_pop_filtered (bus, GST_MESSAGE_ELEMENT);
  const GValue *objects =
      gst_structure_get_value (gst_message_get_structure (message), "objects");

  for (guint i = 0; i < gst_value_list_get_size (objects); i++)
    fail_unless (
        gst_structure_has_field (
            gst_value_get_structure (gst_value_list_get_value (objects, i)),
            "confidence")
        == has);
}

/* A model whose last stage can be passed in only one way gives no confidence;
 * threshold does not apply to its objects. */
CUV_TEST (test_no_confidence)
{
  static const gchar *const models[] = { "lbpcascade_frontalface_improved.xml",
    "lbpcascade_frontalface.xml", "haarcascade_frontalface_alt.xml" };

  for (guint i = 0; i < G_N_ELEMENTS (models); i++) {
    GstSample *sample = decode_picture ("video/x-raw,format=RGB");
    GstHarness *h = new_harness (
        "min-neighbors=0 threshold=0.6 message=every-frame", sample);
    GstElement *d = detector (h);
    GstBus *bus = cuv_harness_watch (h);

    g_object_set (d, "model", models[i], NULL);
    check_has_confidence (h, sample, i != 0);
    check_message_confidence (bus, i != 0);
    gst_object_unref (bus);
    gst_object_unref (d);
    gst_harness_teardown (h);
    gst_sample_unref (sample);
  }
}

CUV_TEST (test_caps_change)
{
  static const gchar *const caps[] = { "video/x-raw,format=NV12",
    "video/x-raw,format=RGB,width=321,height=243",
    "video/x-raw,format=NV12,width=641,height=479" };
  GstHarness *h = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (caps); i++) {
    GstSample *sample = decode_picture (caps[i]);
    Wanted wanted = defaults;

    wanted.grouping.min_neighbours = 0;
    if (h == NULL)
      h = new_harness ("min-neighbors=0", sample);
    gst_harness_set_src_caps (h, gst_caps_ref (gst_sample_get_caps (sample)));
    check_frame (h, sample, &wanted, caps[i]);
    gst_sample_unref (sample);
  }
  gst_harness_teardown (h);
}

CUV_TEST (test_message_and_stats)
{
  g_autoptr (GstSample) sample = decode_picture ("video/x-raw,format=NV12");
  g_autoptr (GstHarness) h =
      new_harness ("min-neighbors=0 message=every-frame label=person", sample);
  g_autoptr (GstElement) d = detector (h);
  g_autoptr (GstBus) bus = cuv_harness_watch (h);
  g_autoptr (GstBuffer) buffer = push (h, sample);
  g_autoptr (GstMessage) message =
      gst_bus_pop_filtered (bus, GST_MESSAGE_ELEMENT);
  const GstStructure *structure = gst_message_get_structure (message);
  GstStructure *stats;
  const GValue *list;
  guint objects;
  guint64 frames, windows;

  fail_unless (gst_structure_has_name (structure, "waldboostdetect"));
  fail_unless (
      gst_structure_has_field_typed (structure, "running-time", G_TYPE_UINT64));
  list = gst_structure_get_value (structure, "objects");
  assert_equals_int (gst_value_list_get_size (list), n_objects (buffer));
  g_object_get (d, "stats", &stats, NULL);
  fail_unless (
      gst_structure_get (stats, "objects", G_TYPE_UINT, &objects, "frames",
          G_TYPE_UINT64, &frames, "windows", G_TYPE_UINT64, &windows, NULL));
  assert_equals_int (objects, n_objects (buffer));
  assert_equals_int (frames, 1);
  fail_unless (windows > 10000);
  assert_equals_string (
      gst_structure_get_string (stats, "device"), use_cuda ? "cuda" : "cpu");
  gst_structure_free (stats);
}

static guint64
number_at (const GstStructure *stats, const gchar *field, guint i)
{
  const GValue *array = gst_structure_get_value (stats, field);

  fail_unless (array != NULL && GST_VALUE_HOLDS_ARRAY (array)
      && i < gst_value_array_get_size (array));
  return g_value_get_uint64 (gst_value_array_get_value (array, i));
}

static gdouble
double_of (const GstStructure *stats, const gchar *field)
{
  gdouble value = -1;

  fail_unless (gst_structure_get_double (stats, field, &value), "%s", field);
  return value;
}

/* Survivors per stage never increase and end with the objects; the number of
 * weak classifiers per window lies within the bounds that survivors imply. */
CUV_TEST (test_survivors)
{
  g_autoptr (GstSample) sample = decode_picture ("video/x-raw,format=NV12");
  const CuvWaldboostModel *model = cuv_model_load (MODEL, NULL, NULL);
  g_autoptr (GstHarness) h =
      new_harness ("min-neighbors=0 message=none stats-interval=2", sample);
  g_autoptr (GstBus) bus = cuv_harness_watch (h);
  const GstStructure *stats;
  guint64 windows = 0, accepted = 0, before;
  GstMessage *message;
  gdouble least = 0;

  gst_buffer_unref (push (h, sample));
  fail_unless (gst_bus_pop_filtered (bus, GST_MESSAGE_ELEMENT) == NULL);
  gst_buffer_unref (push (h, sample));
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ELEMENT);
  fail_unless (message != NULL);
  stats = gst_message_get_structure (message);
  fail_unless (gst_structure_has_name (stats, "waldboostdetect-stats"));
  fail_unless (gst_structure_get (stats, "windows", G_TYPE_UINT64, &windows,
      "windows-accepted", G_TYPE_UINT64, &accepted, NULL));
  before = windows;
  for (gint i = 0; i < model->n_stages; i++) {
    guint64 left = number_at (stats, "survivors", i);
    guint64 end = number_at (stats, "segments", i);

    fail_unless_equals_uint64 (end, model->stage_first[i + 1]);
    fail_unless (left <= before);
    least += (gdouble) before * (gdouble) (end - model->stage_first[i]);
    before = left;
  }
  fail_unless_equals_uint64 (before, accepted);
  fail_unless (accepted > 0 && accepted < windows / 1000);
  /* a cascade rejects only at the end of a stage, so it evaluates exactly the
   * lower bound */
  fail_unless (
      fabs (double_of (stats, "weak-per-window") - least / (gdouble) windows)
      < 1e-9);
  fail_unless (double_of (stats, "microseconds-scan") > 0);
  fail_unless (double_of (stats, "microseconds-pyramid") >= 0);
  fail_unless (double_of (stats, "microseconds-group") >= 0);
  gst_message_unref (message);
  cuv_model_unref (model);
}
