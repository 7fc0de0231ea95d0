/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* waldboostdetect with models of trees on channels: their boxes in frames of
 * all formats are those of the definition, also with the settings that other
 * models have. */
#include "config.h"
#include "models.h"
#include "picture.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "channels/detect.h"

#define CAPS "video/x-raw,format=%s,width=160,height=100"

static gchar *model;

typedef struct {
  GstSample *sample;
  GstHarness *h;
  GstElement *d;
  Wanted wanted;
} Run;

static void
run_init (Run *self, const gchar *format, const gchar *properties)
{
  g_autofree gchar *caps = g_strdup_printf (CAPS, format);
  g_autofree gchar *line = g_strdup_printf (
      "waldboostdetect name=d model=%s label=x %s", model, properties);

  self->sample = decode_picture (caps);
  self->h = new_line (line, self->sample);
  self->d = detector (self->h);
  self->wanted = defaults;
  self->wanted.model = model;
}

static void
run_clear (Run *self)
{
  gst_object_unref (self->d);
  gst_harness_teardown (self->h);
  gst_sample_unref (self->sample);
}

/* Checks the boxes of a frame, and that there are some. */
static guint
check_boxes (Run *self, const gchar *what)
{
  g_autoptr (GArray) boxes = expect (self->sample, &self->wanted);
  g_autoptr (GstBuffer) buffer = push (self->h, self->sample);
  const guint n = boxes->len;

  fail_unless (n > 0, "%s: no box", what);
  check_objects (buffer, boxes, "x", what);
  return n;
}

/* ---- formats ---- */

CUV_TEST (test_boxes_in_all_formats)
{
  static const gchar *const formats[] = { "RGB", "BGRx", "NV12", "I420", "YUY2",
    "GRAY8" };

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    Run run;

    run_init (&run, formats[i], "");
    check_boxes (&run, formats[i]);
    run_clear (&run);
  }
}

/* Splits an RGB frame of three bytes per pixel into planes. */
static void
split_planes (GstSample *sample, guint8 *planes, gint width, gint height)
{
  GstVideoFrame frame;
  GstVideoInfo info;

  gst_video_info_from_caps (&info, gst_sample_get_caps (sample));
  fail_unless (gst_video_frame_map (
      &frame, &info, gst_sample_get_buffer (sample), GST_MAP_READ));
  for (gint y = 0; y < height; y++) {
    const guint8 *row = (guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&frame, 0)
        + y * GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0);

    for (gint x = 0; x < 3 * width; x++)
      planes[(x % 3 * height + y) * width + x / 3] = row[x];
  }
  gst_video_frame_unmap (&frame);
}

/* Every accepted window of the definition is a box. */
CUV_TEST (test_windows_of_the_definition)
{
  enum { WIDTH = 160, HEIGHT = 100 };
  static guint8 planes[3][HEIGHT][WIDTH];
  const CuvChannelsPicture picture = {
    { planes[0][0], planes[1][0], planes[2][0] }, WIDTH, HEIGHT
  };
  const CuvWaldboostParams params = { .scan = CUV_SCAN_AUTO };
  const CuvWaldboostModel *loaded;
  g_autofree CuvWaldboostHit *hits = g_new (CuvWaldboostHit, 10000);
  guint64 survivors[8] = { 0 };
  CuvHitList list = { .hits = hits, .capacity = 10000, .survivors = survivors };
  CuvWaldboostPlan *plan;
  GstBuffer *buffer;
  Run run;
  gchar *text = NULL, *problem = NULL;
  gsize size;

  run_init (&run, "RGB", "grouping=none");
  fail_unless (g_file_get_contents (model, &text, &size, NULL));
  loaded = cuv_model_parse (text, size, NULL, &problem);
  plan = cuv_waldboost_plan_new (loaded, &params, WIDTH, HEIGHT);
  split_planes (run.sample, planes[0][0], WIDTH, HEIGHT);
  fail_unless (
      cuv_channels_scan_plan (loaded->channels, plan, &picture, &list));
  fail_unless (list.n_hits > 10 && list.lost == 0, "%d hits", list.n_hits);
  buffer = push (run.h, run.sample);
  fail_unless_equals_int ((gint) n_objects (buffer), list.n_hits);
  gst_buffer_unref (buffer);
  cuv_waldboost_plan_free (plan);
  cuv_model_unref (loaded);
  g_free (text);
  run_clear (&run);
}

/* The boxes in a region of interest are those in a copy of its red, green and
 * blue, even where it begins between two samples of chroma. */
CUV_TEST (test_regions_of_all_formats)
{
  static const gchar *const formats[] = { "BGRx", "NV12", "I420", "YUY2" };
  static const CuvRoi regions[] = { { 30, 10, 121, 91 }, { 31, 10, 121, 91 },
    { 30, 11, 121, 91 }, { 31, 11, 121, 91 } };

  for (guint i = 0; i < G_N_ELEMENTS (formats) * G_N_ELEMENTS (regions); i++) {
    const CuvRoi *roi = &regions[i % G_N_ELEMENTS (regions)];
    const gchar *format = formats[i / G_N_ELEMENTS (regions)];
    gchar *properties =
        g_strdup_printf ("grouping=none final-threshold=-3 roi=%d,%d,%d,%d",
            roi->left, roi->top, roi->right, roi->bottom);
    GArray *boxes;
    GstBuffer *buffer;
    Run run;

    run_init (&run, format, properties);
    run.wanted.in_colour = TRUE;
    run.wanted.options.final_threshold = -3;
    run.wanted.grouping.method = CUV_GROUPING_NONE;
    boxes = expect_in (run.sample, &run.wanted, roi);
    fail_unless (boxes->len > 10, "%s: %u boxes", format, boxes->len);
    buffer = push (run.h, run.sample);
    check_objects (buffer, boxes, "x", format);
    gst_buffer_unref (buffer);
    g_array_unref (boxes);
    g_free (properties);
    run_clear (&run);
  }
}

/* ---- confidence ---- */

/* Writes a copy of the model that has parameters for confidence. */
static gchar *
write_confident_model (void)
{
  static const gchar *const old = "threshold=\"-200\"";
  gchar *text = NULL, **parts, *confident, *path;

  fail_unless (g_file_get_contents (model, &text, NULL, NULL));
  parts = g_strsplit (text, old, -1);
  fail_unless_equals_int ((gint) g_strv_length (parts), 2);
  confident = g_strdup_printf (
      "%s%s confidence=\"-120 400\"%s", parts[0], old, parts[1]);
  path = g_strconcat (model, "-confident", NULL);
  fail_unless (g_file_set_contents (path, confident, -1, NULL));
  g_free (confident);
  g_strfreev (parts);
  g_free (text);
  return path;
}

/* Returns the number of boxes. */
static guint
check_confidences (const gchar *properties, gdouble threshold, gdouble least)
{
  GstVideoRegionOfInterestMeta *roi;
  gpointer state = NULL;
  GstBuffer *buffer;
  Run run;
  guint n;

  run_init (&run, "RGB", properties);
  buffer = push (run.h, run.sample);
  n = n_objects (buffer);
  while ((roi = cuv_next_region (buffer, &state)) != NULL) {
    gdouble confidence, score, sum;

    fail_unless (gst_structure_get (
        gst_video_region_of_interest_meta_get_param (roi, "detection"),
        "confidence", G_TYPE_DOUBLE, &confidence, "score", G_TYPE_DOUBLE,
        &score, NULL));
    sum = 256 * score + threshold;
    fail_unless (fabs (confidence - 1 / (1 + exp ((-120 - sum) / 400))) < 1e-9);
    fail_unless (confidence >= least, "%g", confidence);
  }
  gst_buffer_unref (buffer);
  run_clear (&run);
  return n;
}

/* Confidence is a function of the sum: final-threshold does not change it. */
CUV_TEST (test_confidence_of_the_model)
{
  gchar *plain = model;
  guint n, n_more, n_likely;

  model = write_confident_model ();
  n = check_confidences ("grouping=none", -200, 0);
  n_more =
      check_confidences ("grouping=none final-threshold=-3", -200 - 3 * 256, 0);
  n_likely = check_confidences (
      "grouping=none final-threshold=-3 threshold=0.5", -200 - 3 * 256, 0.5);
  fail_unless (n > 10 && n_more > n && n_likely < n && n_likely > 0,
      "%u, %u, %u", n, n_more, n_likely);
  g_remove (model);
  g_free (model);
  model = plain;
}

/* ---- settings ---- */

CUV_TEST (test_settings_change_while_playing)
{
  Run run;
  guint n;

  run_init (&run, "NV12", "grouping=none");
  run.wanted.grouping.method = CUV_GROUPING_NONE;
  n = check_boxes (&run, "auto");
  g_object_set (run.d, "roi", "31,11,121,91", NULL);
  run.wanted.roi = (CuvRoi){ 31, 11, 121, 91 };
  fail_unless (check_boxes (&run, "roi") < n);
  g_object_set (run.d, "roi", NULL, "min-size-width", 40, NULL);
  run.wanted.roi = (CuvRoi){ 0 };
  run.wanted.params.min_width = 40;
  fail_unless (check_boxes (&run, "min-size-width") < n);
  g_object_set (run.d, "min-size-width", 0, "upscale", 1.5, NULL);
  run.wanted.params.min_width = 0;
  run.wanted.params.upscale = 1.5;
  fail_unless (check_boxes (&run, "upscale") > n);
  g_object_set (run.d, "upscale", 1.0, "final-threshold", 0.5, NULL);
  run.wanted.params.upscale = 1;
  run.wanted.options.final_threshold = 0.5;
  fail_unless (check_boxes (&run, "final-threshold") < n);
  g_object_set (run.d, "final-threshold", 0.0, "rotations", "90", NULL);
  run.wanted.options.final_threshold = 0;
  run.wanted.params.rotation = 90;
  check_boxes (&run, "rotations");
  g_object_set (run.d, "rotations", "0", NULL);
  gst_util_set_object_arg (G_OBJECT (run.d), "scan", "dense");
  g_object_set (run.d, "levels-per-octave", 1, NULL);
  run.wanted.params.rotation = 0;
  run.wanted.params.scan = CUV_SCAN_DENSE;
  run.wanted.params.levels_per_octave = 1;
  fail_unless (check_boxes (&run, "dense") < n);
  run_clear (&run);
}

CUV_TEST (test_model_changes_while_playing)
{
  Run run;
  Wanted channels;

  run_init (&run, "NV12", "");
  check_boxes (&run, "channels");
  channels = run.wanted;
  g_object_set (run.d, "model", MODEL, "min-neighbors", 0, NULL);
  run.wanted = defaults;
  run.wanted.grouping.min_neighbours = 0;
  check_boxes (&run, "cascade");
  g_object_set (run.d, "model", model, NULL);
  channels.grouping.min_neighbours = 0;
  run.wanted = channels;
  check_boxes (&run, "channels again");
  run_clear (&run);
}

CUV_TEST (test_other_scans_are_refused)
{
  Run run;

  run_init (&run, "NV12", "scan=opencv");
  cuv_harness_push_error (
      run.h, gst_buffer_ref (gst_sample_get_buffer (run.sample)), "scan=auto");
  run_clear (&run);
}

static void
set_up (void)
{
  model = write_channels_model ();
}

static void
tear_down (void)
{
  g_remove (model);
  g_clear_pointer (&model, g_free);
}

CUV_FIXTURE (set_up, tear_down)
