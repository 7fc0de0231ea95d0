/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* waldboosttrain: what it learns from regions, when it trains, and its
 * messages. */
#include "config.h"
#include "harness.h"

#include <glib/gstdio.h>
#include <string.h>

/* ---- learning ---- */

/* Counts the crosses found in frames that were not used for training. */
static guint
count_found (void)
{
  g_autoptr (GstHarness) h = gst_harness_new_parse (
      "waldboostdetect message=none min-size-width=24 model=" MODEL);
  guint n_found = 0;

  cuv_harness_caps (h, "GRAY8", WIDTH, HEIGHT);
  for (guint i = 100; i < 110; i++) {
    const Place at = place_of (i);
    GstBuffer *buffer =
        gst_harness_push_and_pull (h, frame_new ("GRAY8", i, TRUE));
    GstVideoRegionOfInterestMeta *roi;
    gpointer state = NULL;
    gboolean found = FALSE;

    while ((roi = cuv_next_region (buffer, &state)) != NULL)
      found |= ABS ((gint) roi->x - (gint) at.x) < 8
          && ABS ((gint) roi->y - (gint) at.y) < 8
          && ABS ((gint) roi->w - (gint) at.size) < 10;
    n_found += found;
    gst_buffer_unref (buffer);
  }
  return n_found;
}

CUV_TEST (learns_at_the_end)
{
  Fixture fixture = fixture_new (
      "GRAY8", "features=lbp weak=32 negative-samples=2000 margin=0");
  GstStructure *done;

  push_examples (&fixture, "GRAY8", 42);
  fail_if (g_file_test (MODEL, G_FILE_TEST_EXISTS));
  end (&fixture);
  fail_unless (g_file_test (MODEL, G_FILE_TEST_EXISTS));
  done = wait_for (fixture.bus, "done");
  fail_unless_equals_string (gst_structure_get_string (done, "model"), MODEL);
  fail_unless_equals_int (get_uint (done, "window-width"), 24);
  fail_unless_equals_int (get_uint (done, "window-height"), 24);
  fail_unless_equals_int (get_uint (done, "too-small"), 0);
  fail_unless_equals_int (get_uint (done, "frames"), 42);
  fail_unless_equals_int (get_uint (done, "objects"), 42);
  fail_unless (get_uint (done, "weak") > 0 && get_uint (done, "weak") <= 32);
  fail_unless (get_double (done, "recall") > 0.6);
  fail_unless (get_double (done, "recall-low") < get_double (done, "recall"));
  fail_unless (get_double (done, "false-positives") < 1);
  fail_unless (count_found () >= 8, "found %u", count_found ());
  gst_structure_free (done);
  fixture_free (&fixture);
}

static gchar *
learn (const gchar *format, const gchar *settings)
{
  Fixture fixture = fixture_new (format, settings);
  gchar *model;

  push_examples (&fixture, format, 14);
  end (&fixture);
  gst_structure_free (wait_for (fixture.bus, "done"));
  model = read_model ();
  fixture_free (&fixture);
  g_remove (MODEL);
  return model;
}

/* Frames of all formats are read as the detector reads them. */
CUV_TEST (formats_and_seeds)
{
  static const gchar *const formats[] = { "NV12", "I420", "YV12", "NV21",
    "YUY2", "UYVY", "RGB", "BGR", "RGBx", "BGRx", "RGBA", "BGRA" };
  gchar *model = learn ("GRAY8", QUICK), *other;

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    other = learn (formats[i], QUICK);
    fail_unless (strcmp (model, other) == 0, "%s", formats[i]);
    g_free (other);
  }
  other = learn ("GRAY8", QUICK "seed=2");
  fail_if (strcmp (model, other) == 0);
  g_free (other);
  g_free (model);
}

CUV_TEST (features_and_windows)
{
  gchar *model = learn ("GRAY8", QUICK "features=lrp window-width=16");

  fail_unless (strstr (model, "<LRP ") != NULL);
  fail_unless (strstr (model, "sizeX=\"16\"") != NULL, "%.300s", model);
  g_free (model);
  model = learn ("GRAY8",
      QUICK "features=lrd window-width=20 window-height=12 "
            "mirror=true alpha=0.1 false-positives=10");
  fail_unless (strstr (model, "<LRDFeature ") != NULL);
  fail_unless (strstr (model, "sizeX=\"20\"") != NULL, "%.300s", model);
  fail_unless (strstr (model, "sizeY=\"12\"") != NULL, "%.300s", model);
  g_free (model);
}

/* A long training posts its progress; meanwhile frames pass. */
CUV_TEST (trains_while_frames_pass)
{
  Fixture fixture = fixture_new ("GRAY8", NEVER_DONE "progress-interval=1");
  GstStructure *message;
  gboolean train;

  push_hopeless (&fixture, 14);
  g_object_set (fixture.sink, "train", TRUE, NULL);
  g_object_set (fixture.sink, "train", TRUE, NULL); /* it is already training */
  push_hopeless (&fixture, 10);
  message = wait_for (fixture.bus, "learning");
  push_hopeless (&fixture, 10);
  fail_unless (get_double (message, "seconds-left") >= 0);
  fail_unless (get_double (message, "false-positive-rate") > 0);
  fail_unless (get_uint (message, "positives") > 0);
  fail_unless (get_uint (message, "negatives") > 0);
  gst_structure_free (message);
  g_object_get (fixture.sink, "train", &train, NULL);
  fail_unless (train);
  fail_unless_equals_uint64 (cuv_stat (fixture.sink, "frames"), 34);
  fail_unless_equals_int (cuv_stat_uint (fixture.sink, "kept"), 34);
  fixture_free (&fixture); /* stops the training */
  fail_if (g_file_test (MODEL, G_FILE_TEST_EXISTS));
}

static gboolean
finds_cross (GstHarness *h, guint i)
{
  g_autoptr (GstBuffer) buffer =
      gst_harness_push_and_pull (h, frame_new ("GRAY8", i, TRUE));
  gpointer state = NULL;
  const gboolean found = cuv_next_region (buffer, &state) != NULL;

  return found;
}

/* A detector in the same application loads the file while it plays, and again
 * when it has changed. */
CUV_TEST (detector_takes_the_model)
{
  Fixture fixture = fixture_new (
      "GRAY8", "features=lbp weak=32 negative-samples=2000 margin=0");
  GstHarness *h = gst_harness_new_parse (
      "waldboostdetect model=lbpcascade_frontalface.xml");
  GstElement *detector = gst_harness_find_element (h, "waldboostdetect");
  gchar *models[2];
  gboolean train;

  cuv_harness_caps (h, "GRAY8", WIDTH, HEIGHT);
  fail_if (finds_cross (h, 3));
  push_examples (&fixture, "GRAY8", 42);
  for (guint turn = 0; turn < 2; turn++) {
    g_object_set (fixture.sink, "train", TRUE, NULL);
    gst_structure_free (wait_for (fixture.bus, "done"));
    g_object_get (fixture.sink, "train", &train, NULL);
    fail_if (train);
    models[turn] = read_model ();
    g_object_set (detector, "model", MODEL, NULL);
    fail_unless (finds_cross (h, 3));
    push_examples (&fixture, "GRAY8", 28); /* goes on learning */
  }
  fail_if (strcmp (models[0], models[1]) == 0);
  fail_unless_equals_int (cuv_stat_uint (fixture.sink, "models"), 2);
  g_free (models[0]);
  g_free (models[1]);
  gst_object_unref (detector);
  gst_harness_teardown (h);
  fixture_free (&fixture);
}

/* ---- which frames and regions ---- */

CUV_TEST (regions_are_chosen)
{
  Fixture fixture = fixture_new ("GRAY8", "object-class=cross");
  const Place at = place_of (3), outside = { WIDTH, 4, 20 };
  GstBuffer *held = frame_new ("GRAY8", 3, TRUE), *buffer;

  push (&fixture, frame_new ("GRAY8", 0, TRUE)); /* no region */
  buffer = frame_new ("GRAY8", 1, TRUE);
  add_region (buffer, "dog", &at);
  push (&fixture, buffer);
  buffer = frame_new ("GRAY8", 2, TRUE);
  add_region (buffer, "cross", &outside);
  push (&fixture, buffer);
  gst_video_region_of_interest_meta_add_param (add_region (held, "cross", &at),
      gst_structure_new ("rcdtrack", "age", G_TYPE_UINT64, (guint64) 5, NULL));
  push (&fixture, held);
  fail_unless_equals_int (cuv_stat_uint (fixture.sink, "kept"), 0);
  buffer = example_new ("GRAY8", 4);
  add_region (buffer, "dog", &at);
  add_region (buffer, "cross", &at);
  push (&fixture, gst_buffer_ref (buffer));
  fail_unless_equals_int (cuv_stat_uint (fixture.sink, "kept"), 1);
  fail_unless_equals_int (cuv_stat_uint (fixture.sink, "objects"), 2);
  g_object_set (fixture.sink, "object-class", "dog", NULL);
  push (&fixture, gst_buffer_ref (buffer));
  fail_unless_equals_int (cuv_stat_uint (fixture.sink, "objects"), 3);
  g_object_set (fixture.sink, "object-class", NULL, NULL);
  push (&fixture, buffer);
  fail_unless_equals_int (cuv_stat_uint (fixture.sink, "objects"), 6);
  fixture_free (&fixture);
}

CUV_TEST (frames_are_chosen)
{
  Fixture fixture = fixture_new ("GRAY8", "frame-interval=3 max-frames=7");

  push_examples (&fixture, "GRAY8", 10);
  push (&fixture, frame_new ("GRAY8", 0, FALSE));
  fail_unless_equals_int (cuv_stat_uint (fixture.sink, "kept"), 4);
  gst_util_set_object_arg (G_OBJECT (fixture.sink), "negative-frames", "all");
  push (&fixture, frame_new ("GRAY8", 0, FALSE));
  fail_unless_equals_int (cuv_stat_uint (fixture.sink, "kept"), 5);
  expect_no_warning (fixture.bus);
  push_examples (&fixture, "GRAY8", 10);
  fail_unless_equals_int (cuv_stat_uint (fixture.sink, "kept"), 7);
  expect_problem (fixture.bus, GST_MESSAGE_WARNING, "max-frames");
  push_examples (&fixture, "GRAY8", 10);
  expect_no_warning (fixture.bus);
  fail_unless_equals_uint64 (cuv_stat (fixture.sink, "frames"), 32);
  fixture_free (&fixture);
}

CUV_FIXTURE (cuv_folder_enter, cuv_folder_leave)
