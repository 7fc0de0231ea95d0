/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The element against the library's C reference path, on a real picture in
 * every format. With CUV_TEST_CUDA=1 the frames are in CUDA memory, and it is
 * the GPU that has to give the same boxes. CUV_TEST_DATA is the folder of the
 * picture, opencv-doc's by default. */
#include "config.h"

#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <gst/video/video.h>
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "cuv-cuda.h"
#include "gstcuvframe.h"
#include "modelfile.h"
#include "scanner.h"

#define MODEL "lbpcascade_frontalface.xml"
#define PICTURE "messi5.jpg"

static gboolean use_cuda;
static const gchar *program; /* a file that is no model */

/* ---- frames ---- */

static GstSample *
decode_picture (const gchar *caps)
{
  const gchar *folder = g_getenv ("CUV_TEST_DATA");
  gchar *line = g_strdup_printf (
      "filesrc location=%s/" PICTURE " ! jpegdec ! videoconvert ! "
      "videoscale ! %s ! appsink name=sink sync=false",
      folder ? folder : "/usr/share/doc/opencv-doc/examples/data", caps);
  GstElement *pipeline = gst_parse_launch (line, NULL);
  GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  GstSample *sample = NULL;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  g_signal_emit_by_name (sink, "pull-sample", &sample);
  fail_if (sample == NULL, "cannot decode: %s", line);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (sink);
  gst_object_unref (pipeline);
  g_free (line);
  return sample;
}

static GstHarness *
new_harness (const gchar *properties, GstSample *sample)
{
  gchar *line = g_strdup_printf (use_cuda
          ? "cuvcudaupload ! waldboostdetect name=d model=" MODEL
            " %s ! cuvcudadownload"
          : "waldboostdetect name=d model=" MODEL " %s",
      properties);
  GstHarness *h = gst_harness_new_parse (line);
  GstCaps *caps = gst_sample_get_caps (sample);

  g_free (line);
  gst_harness_set_live (h, FALSE); /* or slow frames would be let pass */
  gst_harness_set_src_caps (h, gst_caps_ref (caps));
  return h;
}

static GstElement *
detector (GstHarness *h)
{
  return gst_bin_get_by_name (GST_BIN (h->element), "d");
}

static GstBuffer *
push (GstHarness *h, GstSample *sample)
{
  GstBuffer *buffer = gst_buffer_copy (gst_sample_get_buffer (sample));
  GstBuffer *out = gst_harness_push_and_pull (h, buffer);

  fail_if (out == NULL);
  return out;
}

/* ---- expectation ---- */

typedef struct {
  CuvWaldboostParams params;
  CuvRoi roi;
  gint min_neighbors;
} Wanted;

static const Wanted defaults = { .params = { .scale_factor = 1.1 },
  .min_neighbors = 3 };

/* What the library's CPU path finds, offset into the frame. */
static GArray *
expect (GstSample *sample, const Wanted *wanted)
{
  const CuvWaldboostModel *model = cuv_model_load (MODEL, NULL);
  CuvWaldboostGrouper *grouper = cuv_waldboost_grouper_new ();
  GArray *result = g_array_new (FALSE, FALSE, sizeof (CuvWaldboostBox));
  const CuvWaldboostBox *boxes;
  CuvWaldboostResult hits;
  GstCuvContext context;
  CuvScanner scanner;
  GstCuvFrame frame;
  GstVideoInfo info;
  gint n;

  gst_video_info_from_caps (&info, gst_sample_get_caps (sample));
  gst_cuv_context_init (&context, NULL, NULL);
  fail_unless (gst_cuv_frame_map (
      &frame, &context, &info, gst_sample_get_buffer (sample), GST_MAP_READ));
  fail_unless (cuv_scanner_init (&scanner, model, &wanted->params, &wanted->roi,
                   &frame.frame, false, NULL)
      == NULL);
  fail_unless (
      cuv_scanner_run (&scanner, &frame.frame, NULL, 1, &hits) == NULL);
  n = cuv_waldboost_group (grouper, scanner.plan, hits.hits, hits.n_hits,
      wanted->min_neighbors, &boxes);
  for (gint i = 0; i < n; i++) {
    CuvWaldboostBox box = boxes[i];

    box.x += scanner.x;
    box.y += scanner.y;
    g_array_append_val (result, box);
  }
  cuv_scanner_clear (&scanner);
  gst_cuv_frame_unmap (&frame);
  cuv_waldboost_grouper_free (grouper);
  cuv_model_unref (model);
  return result;
}

static guint
n_objects (GstBuffer *buffer)
{
  return gst_buffer_get_n_meta (
      buffer, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);
}

/* The buffer's metas are the boxes, in order, with the promised fields. */
static void
check_objects (GstBuffer *buffer, GArray *boxes, const gchar *what)
{
  GstVideoRegionOfInterestMeta *roi;
  gpointer state = NULL;
  guint i = 0;

  fail_unless (n_objects (buffer) == boxes->len, "%s: %u objects, not %u", what,
      n_objects (buffer), boxes->len);
  while (
      (roi = (GstVideoRegionOfInterestMeta *) gst_buffer_iterate_meta_filtered (
           buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))) {
    const CuvWaldboostBox *box = &g_array_index (boxes, CuvWaldboostBox, i);
    GstStructure *detection =
        gst_video_region_of_interest_meta_get_param (roi, "detection");
    gdouble confidence, score;

    fail_unless (roi->x == (guint) box->x && roi->y == (guint) box->y
            && roi->w == (guint) box->width && roi->h == (guint) box->height,
        "%s: box %u", what, i);
    assert_equals_string (g_quark_to_string (roi->roi_type), "frontalface");
    assert_equals_int (roi->id, (gint) i);
    fail_unless (gst_structure_get (detection, "confidence", G_TYPE_DOUBLE,
        &confidence, "score", G_TYPE_DOUBLE, &score, NULL));
    fail_unless (score == box->score);
    fail_unless (fabs (confidence - 1 / (1 + exp (-score))) < 1e-12);
    i++;
  }
}

static void
check_frame (
    GstHarness *h, GstSample *sample, const Wanted *wanted, const gchar *what)
{
  GArray *boxes = expect (sample, wanted);
  GstBuffer *buffer = push (h, sample);

  check_objects (buffer, boxes, what);
  gst_buffer_unref (buffer);
  g_array_unref (boxes);
}

/* ---- tests ---- */

GST_START_TEST (test_formats)
{
  static const gchar *const formats[] = { "NV12", "I420", "YV12", "NV21",
    "YUY2", "UYVY", "RGB", "BGR", "RGBx", "BGRx", "RGBA", "BGRA", "GRAY8" };
  Wanted wanted = defaults;
  guint total = 0;

  wanted.min_neighbors = 0;
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    gchar *caps = g_strdup_printf ("video/x-raw,format=%s", formats[i]);
    GstSample *sample = decode_picture (caps);
    GstHarness *h;
    GArray *boxes;

    g_free (caps);
    if (use_cuda && i == G_N_ELEMENTS (formats) - 1) { /* no GRAY8 there */
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
  fail_unless (total > 0, "nothing found in any format: the test says nothing");
}

GST_END_TEST;

GST_START_TEST (test_live_properties)
{
  GstSample *sample = decode_picture ("video/x-raw,format=RGB");
  GstHarness *h = new_harness ("min-neighbors=0", sample);
  GstElement *d = detector (h);
  Wanted wanted = defaults;
  GstBuffer *buffer;
  guint all;

  wanted.min_neighbors = 0;
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
  gst_object_unref (d);
  gst_harness_teardown (h);
  gst_sample_unref (sample);
}

GST_END_TEST;

/* The text of the first warning or error on the bus; free it. */
static gchar *
pop_problem (GstBus *bus, GstMessageType type)
{
  GstMessage *message = gst_bus_pop_filtered (bus, type);
  GError *error = NULL;
  gchar *text;

  if (message == NULL)
    return NULL;
  if (type == GST_MESSAGE_WARNING)
    gst_message_parse_warning (message, &error, NULL);
  else
    gst_message_parse_error (message, &error, NULL);
  text = g_strdup (error->message);
  g_error_free (error);
  gst_message_unref (message);
  return text;
}

static void
expect_problem (GstBus *bus, GstMessageType type, const gchar *part)
{
  gchar *text = pop_problem (bus, type);

  fail_unless (text != NULL && strstr (text, part) != NULL,
      "'%s' does not say '%s'", text, part);
  g_free (text);
}

static GstBus *
watch (GstHarness *h)
{
  GstBus *bus = gst_bus_new ();

  gst_element_set_bus (h->element, bus);
  return bus;
}

GST_START_TEST (test_bad_live_values_leave_the_old)
{
  GstSample *sample = decode_picture ("video/x-raw,format=RGB");
  GstHarness *h = new_harness ("min-neighbors=0", sample);
  GstElement *d = detector (h);
  GstBus *bus = watch (h);
  Wanted wanted = defaults;
  gchar *value;

  wanted.min_neighbors = 0;
  check_frame (h, sample, &wanted, "start");
  g_object_set (d, "model", "/no/such/file.xml", NULL);
  expect_problem (bus, GST_MESSAGE_WARNING, "/no/such/file.xml");
  g_object_set (d, "model", "/dev/null", NULL);
  expect_problem (bus, GST_MESSAGE_WARNING, "not a regular file");
  g_object_get (d, "model", &value, NULL);
  assert_equals_string (value, MODEL);
  g_free (value);
  check_frame (h, sample, &wanted, "after bad models");
  g_object_set (d, "roi", "10,10,5,5", NULL);
  expect_problem (bus, GST_MESSAGE_WARNING, "roi");
  check_frame (h, sample, &wanted, "after a bad roi");
  g_object_set (d, "min-size-width", 90, "max-size-width", 50, NULL);
  check_frame (h, sample, &wanted, "after contradictory sizes");
  expect_problem (bus, GST_MESSAGE_WARNING, "min-size-width");
  /* the model could be loaded, but not be used: its name is not on the boxes */
  g_object_set (d, "model", "lbpcascade_frontalface_improved.xml", NULL);
  check_frame (h, sample, &wanted, "after a model that cannot be used");
  expect_problem (bus, GST_MESSAGE_WARNING, "min-size-width");
  g_object_set (d, "model", NULL, NULL);
  expect_problem (bus, GST_MESSAGE_WARNING, "no name");
  check_frame (h, sample, &wanted, "after no model");
  gst_object_unref (bus);
  gst_object_unref (d);
  gst_harness_teardown (h);
  gst_sample_unref (sample);
}

GST_END_TEST;

/* A model given live is in force from the next frame on. */
GST_START_TEST (test_live_model)
{
  GstSample *sample = decode_picture ("video/x-raw,format=RGB");
  GstHarness *h = new_harness ("min-neighbors=0", sample);
  GstElement *d = detector (h);
  GstVideoRegionOfInterestMeta *roi;
  GstStructure *stats;
  GstBuffer *buffer;
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
  gst_buffer_unref (buffer);
  gst_object_unref (d);
  gst_harness_teardown (h);
  gst_sample_unref (sample);
}

GST_END_TEST;

static void
expect_start_error (const gchar *properties, const gchar *part)
{
  gchar *line = g_strdup_printf ("waldboostdetect %s", properties);
  GstElement *element = gst_parse_launch (line, NULL);
  GstBus *bus = gst_bus_new ();

  gst_element_set_bus (element, bus);
  fail_unless_equals_int (gst_element_set_state (element, GST_STATE_PAUSED),
      GST_STATE_CHANGE_FAILURE);
  expect_problem (bus, GST_MESSAGE_ERROR, part);
  gst_element_set_state (element, GST_STATE_NULL);
  gst_element_set_bus (element, NULL);
  gst_object_unref (bus);
  gst_object_unref (element);
  g_free (line);
}

GST_START_TEST (test_start_errors)
{
  gchar *this_program = g_strdup_printf ("model=%s", program);

  expect_start_error ("", "Set the property model");
  expect_start_error ("model=nothing.xml", "opencv-data");
  expect_start_error ("model=/usr/bin", "regular file");
  expect_start_error ("model=" MODEL " roi=1,2,3", "four pixel coordinates");
  expect_start_error (this_program, "line 1");
  g_free (this_program);
}

GST_END_TEST;

GST_START_TEST (test_contradiction_at_start)
{
  GstSample *sample = decode_picture ("video/x-raw,format=RGB");
  GstHarness *h =
      new_harness ("min-size-height=300 max-size-height=200", sample);
  GstBus *bus = watch (h);

  fail_unless_equals_int (
      gst_harness_push (h, gst_buffer_ref (gst_sample_get_buffer (sample))),
      GST_FLOW_ERROR);
  expect_problem (bus, GST_MESSAGE_ERROR, "min-size-height");
  gst_object_unref (bus);
  gst_harness_teardown (h);
  gst_sample_unref (sample);
}

GST_END_TEST;

/* A frame too small is a warning and an untouched frame, once. */
GST_START_TEST (test_no_window_fits)
{
  GstSample *small =
      decode_picture ("video/x-raw,format=NV12,width=16,height=16");
  GstSample *dot = decode_picture ("video/x-raw,format=RGB,width=1,height=1");
  GstHarness *h = new_harness ("", small);
  GstBus *bus = watch (h);
  gchar *text;

  gst_buffer_unref (push (h, small));
  expect_problem (bus, GST_MESSAGE_WARNING, "No window fits");
  gst_buffer_unref (push (h, small));
  text = pop_problem (bus, GST_MESSAGE_WARNING);
  fail_if (text != NULL, "%s", text);
  gst_harness_set_src_caps (h, gst_caps_ref (gst_sample_get_caps (dot)));
  gst_buffer_unref (push (h, dot));
  expect_problem (bus, GST_MESSAGE_WARNING, "1x1");
  gst_object_unref (bus);
  gst_harness_teardown (h);
  gst_sample_unref (small);
  gst_sample_unref (dot);
}

GST_END_TEST;

GST_START_TEST (test_caps_change)
{
  static const gchar *const caps[] = { "video/x-raw,format=NV12",
    "video/x-raw,format=RGB,width=321,height=243",
    "video/x-raw,format=NV12,width=641,height=479" };
  GstHarness *h = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (caps); i++) {
    GstSample *sample = decode_picture (caps[i]);
    Wanted wanted = defaults;

    wanted.min_neighbors = 0;
    if (h == NULL)
      h = new_harness ("min-neighbors=0", sample);
    gst_harness_set_src_caps (h, gst_caps_ref (gst_sample_get_caps (sample)));
    check_frame (h, sample, &wanted, caps[i]);
    gst_sample_unref (sample);
  }
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (test_message_and_stats)
{
  GstSample *sample = decode_picture ("video/x-raw,format=NV12");
  GstHarness *h =
      new_harness ("min-neighbors=0 message=every-frame label=person", sample);
  GstElement *d = detector (h);
  GstBus *bus = watch (h);
  GstBuffer *buffer = push (h, sample);
  GstMessage *message = gst_bus_pop_filtered (bus, GST_MESSAGE_ELEMENT);
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
  gst_message_unref (message);
  gst_buffer_unref (buffer);
  gst_object_unref (bus);
  gst_object_unref (d);
  gst_harness_teardown (h);
  gst_sample_unref (sample);
}

GST_END_TEST;

/* A cascade without thresholds: every window is an object. */
static gchar *
permissive_model (void)
{
  gchar *path = g_build_filename (g_get_tmp_dir (), "cuv-XXXXXX.xml", NULL);
  GRegex *threshold = g_regex_new ("<stageThreshold>[^<]*", 0, 0, NULL);
  const gchar *folder = g_getenv ("CUV_MODEL_PATH");
  gchar *model = g_build_filename (
      folder != NULL ? folder : "/usr/share/opencv4/lbpcascades", MODEL, NULL);
  gchar *text, *changed;

  fail_unless (g_file_get_contents (model, &text, NULL, NULL), "%s", model);
  changed = g_regex_replace_literal (
      threshold, text, -1, 0, "<stageThreshold>-1000", 0, NULL);
  close (g_mkstemp (path));
  fail_unless (g_file_set_contents (path, changed, -1, NULL));
  g_free (changed);
  g_free (text);
  g_free (model);
  g_regex_unref (threshold);
  return path;
}

/* As many objects as there can be take their time, but not its square. */
GST_START_TEST (test_every_window_passes)
{
  GstSample *sample =
      decode_picture ("video/x-raw,format=NV12,width=320,height=240");
  gchar *path = permissive_model ();
  GstHarness *h = new_harness ("min-neighbors=0", sample);
  GstElement *d = detector (h);
  gint64 start = g_get_monotonic_time ();
  GstBuffer *buffer;

  g_object_set (d, "model", path, "message", 2, NULL);
  buffer = push (h, sample);
  fail_unless (n_objects (buffer) > 50000, "%u", n_objects (buffer));
  gst_buffer_unref (buffer);
  fail_unless (g_get_monotonic_time () - start < 10 * G_USEC_PER_SEC);
  gst_object_unref (d);
  gst_harness_teardown (h);
  gst_sample_unref (sample);
  g_remove (path);
  g_free (path);
}

GST_END_TEST;

/* Frames cut out of bytes have no time. */
GST_START_TEST (test_stream_without_time)
{
  gchar *line = g_strdup_printf (
      "filesrc location=%s blocksize=4800 num-buffers=3 ! "
      "video/x-raw,format=GRAY8,width=80,height=60,framerate=0/1 ! "
      "waldboostdetect model=" MODEL " ! fakesink",
      program);
  GstElement *pipeline = gst_parse_launch (line, NULL);
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (
      bus, 20 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  fail_unless (
      message != NULL && GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS);
  gst_message_unref (message);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
  g_free (line);
}

GST_END_TEST;

#if HAVE_CUDA
/* At the start that is the end; while playing, all goes on as it was. */
GST_START_TEST (test_gpu_memory_runs_out)
{
  GstSample *sample = decode_picture ("video/x-raw,format=NV12");
  Wanted wanted = defaults;
  GstElement *d;
  GstHarness *h;
  GstBus *bus;

  wanted.min_neighbors = 0;
  for (int n = 0; n < 12; n += 3) {
    h = new_harness ("min-neighbors=0", sample);
    bus = watch (h);
    cuv_cuda_fail_allocation (n);
    fail_unless_equals_int (
        gst_harness_push (h, gst_buffer_ref (gst_sample_get_buffer (sample))),
        GST_FLOW_ERROR);
    cuv_cuda_fail_allocation (-1);
    expect_problem (bus, GST_MESSAGE_ERROR, "out of memory");
    gst_object_unref (bus);
    gst_harness_teardown (h);
    fail_unless (cuv_cuda_allocated () == 0, "%zu", cuv_cuda_allocated ());
  }

  h = new_harness ("min-neighbors=0", sample);
  bus = watch (h);
  d = detector (h);
  check_frame (h, sample, &wanted, "start");
  cuv_cuda_fail_allocation (5);
  g_object_set (d, "scale-factor", 1.3, NULL);
  check_frame (h, sample, &wanted, "without memory for the change");
  cuv_cuda_fail_allocation (-1);
  expect_problem (bus, GST_MESSAGE_WARNING, "out of memory");
  gst_object_unref (d);
  gst_object_unref (bus);
  gst_harness_teardown (h);
  gst_sample_unref (sample);
}

GST_END_TEST;
#endif

static Suite *
waldboostdetect_suite (void)
{
  Suite *s = suite_create ("waldboostdetect");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_formats);
  tcase_add_test (tc, test_live_properties);
  tcase_add_test (tc, test_bad_live_values_leave_the_old);
  tcase_add_test (tc, test_live_model);
  tcase_add_test (tc, test_start_errors);
  tcase_add_test (tc, test_contradiction_at_start);
  tcase_add_test (tc, test_no_window_fits);
  tcase_add_test (tc, test_caps_change);
  tcase_add_test (tc, test_message_and_stats);
  tcase_add_test (tc, test_every_window_passes);
  tcase_add_test (tc, test_stream_without_time);
#if HAVE_CUDA
  if (use_cuda)
    tcase_add_test (tc, test_gpu_memory_runs_out);
#endif
  return s;
}

int
main (int argc, char **argv)
{
  use_cuda = g_getenv ("CUV_TEST_CUDA") != NULL;
  program = argv[0];
  gst_check_init (&argc, &argv);
  if (use_cuda && !gst_cuv_cuda_usable ()) {
    g_print ("no CUDA device\n");
    return 77;
  }
  return gst_check_run_suite (
      waldboostdetect_suite (), "waldboostdetect", __FILE__);
}
