/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Failures of waldboostdetect: the message names the cause, and the previous
 * settings stay in force. */
#include "config.h"
#include "picture.h"
#include "cuvhooks.h"

#include <glib/gstdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NO_MODEL "/proc/self/exe"

CUV_TEST (test_invalid_live_values_keep_the_previous_ones)
{
  g_autoptr (GstSample) sample = decode_picture ("video/x-raw,format=RGB");
  g_autoptr (GstHarness) h = new_harness ("min-neighbors=0", sample);
  g_autoptr (GstElement) d = detector (h);
  g_autoptr (GstBus) bus = cuv_harness_watch (h);
  Wanted wanted = defaults;
  g_autofree gchar *value = NULL;

  wanted.grouping.min_neighbours = 0;
  check_frame (h, sample, &wanted, "start");
  g_object_set (d, "model", "/no/such/file.xml", NULL);
  expect_problem (bus, GST_MESSAGE_WARNING, "/no/such/file.xml");
  g_object_set (d, "model", "/dev/null", NULL);
  expect_problem (bus, GST_MESSAGE_WARNING, "not a regular file");
  g_object_get (d, "model", &value, NULL);
  assert_equals_string (value, MODEL);
  check_frame (h, sample, &wanted, "after invalid models");
  g_object_set (d, "roi", "10,10,5,5", NULL);
  expect_problem (bus, GST_MESSAGE_WARNING, "roi");
  check_frame (h, sample, &wanted, "after an invalid roi");
  g_object_set (d, "min-size-width", 90, "max-size-width", 50, NULL);
  check_frame (h, sample, &wanted, "after contradictory sizes");
  expect_problem (bus, GST_MESSAGE_WARNING, "min-size-width");
  /* the model could be loaded, but not be used: its name is not on the boxes */
  g_object_set (d, "model", "lbpcascade_frontalface_improved.xml", NULL);
  check_frame (h, sample, &wanted, "after a model that cannot be used");
  expect_problem (bus, GST_MESSAGE_WARNING, "min-size-width");
  g_object_set (d, "model", NULL, NULL);
  expect_problem (bus, GST_MESSAGE_WARNING, "no file name");
  check_frame (h, sample, &wanted, "after no model");
}

static void
expect_start_error (const gchar *properties, const gchar *part)
{
  g_autofree gchar *line = g_strdup_printf ("waldboostdetect %s", properties);

  cuv_expect_no_start (gst_parse_launch (line, NULL), part);
}

CUV_TEST (test_start_errors)
{
  expect_start_error ("", "set model, for example");
  expect_start_error ("model=nothing.xml", "opencv-data");
  expect_start_error ("model=/usr/bin", "regular file");
  expect_start_error (
      "model=" MODEL " roi=1,2,3", "expected left,top,right,bottom in pixels");
  expect_start_error (
      "model=" MODEL " labels=a,,b", "names separated by commas");
  expect_start_error (
      "model=" MODEL " rearrangement-stages=8,1", "ascending numbers");
  expect_start_error ("model=lbpcascade_frontalface_improve.xml",
      "is lbpcascade_frontalface_improved.xml.");
  expect_start_error (
      "model=haarcascade_frontalface_defualt.xml", "face_default.xml.");
  expect_start_error ("model=frontalface", "is lbpcascade_frontalface.xml.");
  expect_start_error ("model=eye", "is haarcascade_eye.xml.");
  expect_start_error ("model=haarcascade_frontalface.xml",
      "is haarcascade_frontalface_default.xml.");
  expect_start_error (
      "model=haarcascade_upperbod.xml", "is haarcascade_upperbody.xml.");
  expect_start_error ("model=mine.xml", "CUV_MODEL_PATH");
  expect_start_error ("model=" NO_MODEL, "line 1");
}

/* Invalid values that are set before start are reported at start. */
CUV_TEST (test_invalid_before_start)
{
  g_autoptr (GstElement) d = gst_element_factory_make ("waldboostdetect", NULL);
  g_autoptr (GstBus) bus = gst_bus_new ();

  gst_element_set_bus (d, bus);
  g_object_set (d, "model", MODEL, "roi", "1,2,3", "labels", "a,,b",
      "rearrangement-stages", "8,1", NULL);
  expect_no_warning (bus);
  fail_unless_equals_int (
      gst_element_set_state (d, GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
  expect_problem (bus, GST_MESSAGE_ERROR, "roi '1,2,3' is invalid");
  gst_element_set_state (d, GST_STATE_NULL);
  g_object_set (
      d, "roi", NULL, "labels", NULL, "rearrangement-stages", "", NULL);
  fail_unless (
      gst_element_set_state (d, GST_STATE_PAUSED) != GST_STATE_CHANGE_FAILURE);
  gst_element_set_state (d, GST_STATE_NULL);
  gst_element_set_bus (d, NULL);
}

static void
expect_frame_error (
    GstSample *sample, const gchar *properties, const gchar *part)
{
  g_autoptr (GstHarness) h = new_harness (properties, sample);

  cuv_harness_push_error (
      h, gst_buffer_ref (gst_sample_get_buffer (sample)), part);
}

CUV_TEST (test_contradiction_at_start)
{
  g_autoptr (GstSample) sample = decode_picture ("video/x-raw,format=RGB");

  expect_frame_error (
      sample, "min-size-height=300 max-size-height=200", "min-size-height");
  expect_frame_error (
      sample, "labels=eye,mouth", "'frontalface' is not among labels");
}

/* While playing, the previous settings stay in force, also for frames of
 * another size. */
CUV_TEST (test_contradiction_and_new_caps)
{
  g_autoptr (GstSample) sample = decode_picture ("video/x-raw,format=RGB");
  g_autoptr (GstSample) small =
      decode_picture ("video/x-raw,format=NV12,width=400,height=250");
  g_autoptr (GstHarness) h =
      new_harness ("min-neighbors=0 roi=20,10,390,400 max-size-width=80 "
                   "max-size-height=80",
          sample);
  g_autoptr (GstElement) d = detector (h);
  g_autoptr (GstBus) bus = cuv_harness_watch (h);
  Wanted wanted = defaults;

  wanted.grouping.min_neighbours = 0;
  wanted.params.max_width = wanted.params.max_height = 80;
  wanted.roi = (CuvRoi){ 20, 10, 390, 400 };
  check_frame (h, sample, &wanted, "start");
  g_object_set (d, "min-size-width", 90, "label", "other", "roi", NULL, NULL);
  check_frame (h, sample, &wanted, "after contradictory sizes");
  expect_problem (bus, GST_MESSAGE_WARNING, "min-size-width");
  gst_harness_set_src_caps (h, gst_caps_ref (gst_sample_get_caps (small)));
  check_frame (h, small, &wanted, "after new caps");
  expect_problem (bus, GST_MESSAGE_WARNING, "min-size-width");
  g_object_set (
      d, "min-size-width", 0, "label", NULL, "roi", "20,10,390,400", NULL);
  check_frame (h, small, &wanted, "after the fix");
  expect_no_warning (bus);
}

/* A picture above the limits is refused, and while playing the previous
 * settings stay in force. */
CUV_TEST (test_too_large_pictures)
{
  g_autoptr (GstSample) sample =
      decode_picture ("video/x-raw,format=NV12,width=1200,height=900");
  g_autoptr (GstHarness) h =
      new_harness ("min-neighbors=0 min-size-width=200", sample);
  g_autoptr (GstElement) d = detector (h);
  g_autoptr (GstBus) bus = cuv_harness_watch (h);
  Wanted wanted = defaults;

  wanted.grouping.min_neighbours = 0;
  wanted.params.min_width = 200;
  expect_frame_error (sample, "upscale=8", "9600x7200");
  check_frame (h, sample, &wanted, "start");
  g_object_set (d, "upscale", 8., NULL);
  check_frame (h, sample, &wanted, "too large");
  expect_problem (bus, GST_MESSAGE_WARNING, "lower upscale");
  wanted.params.upscale = 8;
  wanted.roi = (CuvRoi){ 100, 100, 380, 380 };
  g_object_set (d, "roi", "100,100,380,380", NULL);
  check_frame (h, sample, &wanted, "a part of it");
  expect_no_warning (bus);
}

/* A frame smaller than the window passes unchanged, with one warning. */
CUV_TEST (test_no_window_fits)
{
  g_autoptr (GstSample) small =
      decode_picture ("video/x-raw,format=NV12,width=16,height=16");
  g_autoptr (GstSample) dot =
      decode_picture ("video/x-raw,format=RGB,width=1,height=1");
  g_autoptr (GstHarness) h = new_harness ("", small);
  g_autoptr (GstBus) bus = cuv_harness_watch (h);

  gst_buffer_unref (push (h, small));
  expect_problem (bus, GST_MESSAGE_WARNING, "No window fits");
  gst_buffer_unref (push (h, small));
  expect_no_warning (bus);
  gst_harness_set_src_caps (h, gst_caps_ref (gst_sample_get_caps (dot)));
  gst_buffer_unref (push (h, dot));
  expect_problem (bus, GST_MESSAGE_WARNING, "1x1");
}

/* Writes a cascade without thresholds: every window is an object. */
static gchar *
permissive_model (void)
{
  gchar *path = g_build_filename (g_get_tmp_dir (), "cuv-XXXXXX.xml", NULL);
  GRegex *threshold = g_regex_new ("<stageThreshold>[^<]*", 0, 0, NULL);
  const gchar *folder = g_getenv ("CUV_MODEL_PATH");
  g_autofree gchar *model = g_build_filename (
      folder != NULL ? folder : "/usr/share/opencv4/lbpcascades", MODEL, NULL);
  gchar *text, *changed;

  fail_unless (g_file_get_contents (model, &text, NULL, NULL), "%s", model);
  changed = g_regex_replace_literal (
      threshold, text, -1, 0, "<stageThreshold>-1000", 0, NULL);
  close (g_mkstemp (path));
  fail_unless (g_file_set_contents (path, changed, -1, NULL));
  g_free (changed);
  g_free (text);
  g_regex_unref (threshold);
  return path;
}

/* The time for very many objects is not quadratic in their number. */
CUV_TEST (test_every_window_passes)
{
  GstSample *sample =
      decode_picture ("video/x-raw,format=NV12,width=320,height=240");
  g_autofree gchar *path = permissive_model ();
  GstHarness *h = new_harness ("min-neighbors=0", sample);
  GstElement *d = detector (h);
  clock_t start = clock (); /* CPU time, which other processes do not change */
  GstBuffer *buffer;

  g_object_set (d, "model", path, "message", 2, NULL);
  buffer = push (h, sample);
  fail_unless (n_objects (buffer) > 50000, "%u", n_objects (buffer));
  gst_buffer_unref (buffer);
  fail_unless (clock () - start < 10 * CLOCKS_PER_SEC);
  gst_object_unref (d);
  gst_harness_teardown (h);
  gst_sample_unref (sample);
  g_remove (path);
}

/* The file is read once: the stream continues when it is removed, and the next
 * start fails with an error that names it. */
CUV_TEST (test_model_vanishes)
{
  g_autoptr (GstSample) sample = decode_picture ("video/x-raw,format=NV12");
  g_autofree gchar *path = permissive_model ();
  g_autoptr (GstHarness) h = new_harness ("min-neighbors=3", sample);
  g_autoptr (GstElement) d = detector (h);
  g_autoptr (GstBus) bus = cuv_harness_watch (h);
  GstBuffer *buffer;
  guint before;

  g_object_set (d, "model", path, NULL);
  buffer = push (h, sample);
  before = n_objects (buffer);
  fail_unless (before > 0);
  gst_buffer_unref (buffer);
  g_remove (path);
  /* makes a new plan, with the model in memory */
  g_object_set (d, "scale-factor", 1.2, NULL);
  gst_buffer_unref (push (h, sample));
  g_object_set (d, "scale-factor", 1.1, NULL);
  buffer = push (h, sample);
  assert_equals_int (n_objects (buffer), before);
  gst_buffer_unref (buffer);
  gst_element_set_state (d, GST_STATE_NULL);
  fail_unless_equals_int (
      gst_element_set_state (d, GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
  expect_problem (bus, GST_MESSAGE_ERROR, path);
}

/* Frames made from raw bytes have no timestamps. */
CUV_TEST (test_stream_without_time)
{
  g_autofree gchar *line = g_strdup_printf (
      "filesrc location=%s blocksize=4800 num-buffers=3 ! "
      "video/x-raw,format=GRAY8,width=80,height=60,framerate=0/1 ! "
      "waldboostdetect model=" MODEL " ! fakesink",
      NO_MODEL);
  g_autoptr (GstElement) pipeline = gst_parse_launch (line, NULL);
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  g_autoptr (GstMessage) message = NULL;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (
      bus, 20 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  fail_unless (
      message != NULL && GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS);
}

#if HAVE_CUDA
/* Starts without memory for the allocation of index n, and returns whether that
 * fails: whether there are so many. */
static bool
fails_without_memory (GstSample *sample, int n)
{
  GstHarness *h = new_harness ("min-neighbors=0", sample);
  GstBus *bus = cuv_harness_watch (h);
  GstFlowReturn flow;

  cuv_cuda_fail_allocation (n);
  flow = gst_harness_push (h, gst_buffer_ref (gst_sample_get_buffer (sample)));
  cuv_cuda_fail_allocation (-1);
  if (flow != GST_FLOW_OK) {
    fail_unless_equals_int (flow, GST_FLOW_ERROR);
    expect_problem (bus, GST_MESSAGE_ERROR, "out of memory");
  }
  gst_object_unref (bus);
  gst_harness_teardown (h);
  fail_unless (cuv_cuda_allocated () == 0, "%zu", cuv_cuda_allocated ());
  return flow != GST_FLOW_OK;
}

/* At the start this is an error; while playing the previous settings stay in
 * force. */
CUV_TEST_IF (test_out_of_gpu_memory, use_cuda)
{
  GstSample *sample = decode_picture ("video/x-raw,format=NV12");
  Wanted wanted = defaults;
  GstElement *d;
  GstHarness *h;
  GstBus *bus;
  int n = 0;

  wanted.grouping.min_neighbours = 0;
  while (fails_without_memory (sample, n))
    n++;
  fail_unless (n >= 6, "%d allocations", n);

  h = new_harness ("min-neighbors=0", sample);
  bus = cuv_harness_watch (h);
  d = detector (h);
  check_frame (h, sample, &wanted, "start");
  /* the third allocation: others have succeeded by then */
  cuv_cuda_fail_allocation (2);
  g_object_set (d, "scale-factor", 1.3, NULL);
  check_frame (h, sample, &wanted, "without memory for the change");
  cuv_cuda_fail_allocation (-1);
  expect_problem (bus, GST_MESSAGE_WARNING, "out of memory");
  gst_object_unref (d);
  gst_object_unref (bus);
  gst_harness_teardown (h);
  gst_sample_unref (sample);
}

#endif
