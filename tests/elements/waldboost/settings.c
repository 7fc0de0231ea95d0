/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* waldboostdetect: settings have the effect that they have in the library, from
 * the next frame on; errors name invalid values. */
#include "config.h"
#include "live.h"
#include "models.h"
#include "picture.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#define CAPS "video/x-raw,format=NV12,width=160,height=100"

static gchar *rank_model;

/* ---- live changes ---- */

typedef struct {
  CuvLive live;
  GstSample *sample;
  Wanted wanted;
} Run;

static Run
run_new (const gchar *properties)
{
  g_autofree gchar *all = g_strdup_printf ("model=" MODEL " %s", properties);
  Run self = { cuv_live_new ("waldboostdetect", all, "NV12", 160, 100),
    decode_picture (CAPS), defaults };

  /* otherwise late frames are skipped */
  gst_harness_set_live (self.live.h, FALSE);
  gst_harness_set_src_caps (
      self.live.h, gst_caps_ref (gst_sample_get_caps (self.sample)));
  return self;
}

static void
run_clear (Run *self)
{
  gst_sample_unref (self->sample);
  cuv_live_clear (&self->live);
}

static gchar *
boxes_text (GstBuffer *buffer)
{
  GString *text = g_string_new ("");
  GstVideoRegionOfInterestMeta *roi;
  gpointer state = NULL;

  while ((roi = cuv_next_region (buffer, &state)) != NULL) {
    gdouble score = 0;

    gst_structure_get_double (
        gst_video_region_of_interest_meta_get_param (roi, "detection"), "score",
        &score);
    g_string_append_printf (
        text, "%u %u %u %u %.9g\n", roi->x, roi->y, roi->w, roi->h, score);
  }
  return g_string_free (text, FALSE);
}

/* Checks that the next frame has the boxes that the library finds, and whether
 * they differ from those before. */
static void
check_next (Run *self, const gchar *what, gboolean differs)
{
  GstBuffer *buffer;
  gchar *now;

  check_frame (self->live.h, self->sample, &self->wanted, what);
  buffer = push (self->live.h, self->sample);
  now = boxes_text (buffer);
  gst_buffer_unref (buffer);
  fail_unless (*now != 0, "%s: no box found: nothing to compare", what);
  cuv_live_check (&self->live, what, now, differs);
}

static void
change (Run *self, const gchar *settings, gboolean differs)
{
  cuv_element_set (self->live.element, settings);
  check_next (self, settings, differs);
}

/* Returns a run without grouping, with the rank model. */
static Run
rank_run (void)
{
  Run self = run_new ("grouping=none");

  self.wanted.grouping.method = CUV_GROUPING_NONE;
  self.wanted.model = rank_model;
  g_object_set (self.live.element, "model", rank_model, NULL);
  check_next (&self, "the rank model", TRUE);
  return self;
}

CUV_TEST (test_options)
{
  Run run = rank_run ();

  run.wanted.options.lrp_order_10ab = 1;
  change (&run, "lrp-order=10ab", TRUE);
  run.wanted.options.lrp_order_10ab = 0;
  change (&run, "lrp-order=a10b", TRUE);
  run.wanted.options.block_value = CUV_BLOCK_MEAN_TRUNC;
  change (&run, "block-value=mean-trunc", TRUE);
  run.wanted.options.block_value = CUV_BLOCK_MEAN_ROUND;
  change (&run, "block-value=mean-round", TRUE);
  run.wanted.options.arithmetic = CUV_ARITHMETIC_FLOAT;
  change (&run, "arithmetic=float", TRUE);
  run.wanted.options.final_threshold = 0.25f;
  change (&run, "final-threshold=0.25", TRUE);
  run.wanted.options.arithmetic = CUV_ARITHMETIC_FIXED;
  change (&run, "arithmetic=fixed", TRUE);
  run.wanted.options.arithmetic = CUV_ARITHMETIC_AUTO;
  change (&run, "arithmetic=auto", FALSE);
  run_clear (&run);
}

CUV_TEST (test_scans_and_groupings)
{
  Run run = rank_run ();

  run.wanted.params.scan = CUV_SCAN_DENSE; /* the model's own scan */
  change (&run, "scan=dense", FALSE);
  run.wanted.params.octaves = 1;
  change (&run, "octaves=1", TRUE);
  run.wanted.params.levels_per_octave = 3;
  change (&run, "levels-per-octave=3", TRUE);
  run.wanted.params.scan = CUV_SCAN_OPENCV;
  change (&run, "scan=opencv", TRUE);
  run.wanted.params.scan = CUV_SCAN_WBD;
  change (&run, "scan=wbd", TRUE);
  run.wanted.params.scan = CUV_SCAN_AUTO;
  change (&run, "scan=auto", TRUE);
  run.wanted.grouping.method = CUV_GROUPING_NMS;
  change (&run, "grouping=nms", TRUE);
  run.wanted.grouping.nms_iou = 0.05;
  change (&run, "nms-iou=0.05", TRUE);
  run.wanted.grouping.nms_iou = 1;
  change (&run, "nms-iou=1", TRUE);
  run.wanted.grouping.nms_inside = 0.9;
  change (&run, "nms-inside=0.9", TRUE);
  run.wanted.grouping.method = CUV_GROUPING_AUTO;
  change (&run, "grouping=auto", FALSE);
  run.wanted.grouping.min_neighbours = 1;
  run.wanted.grouping.method = CUV_GROUPING_NEIGHBORS;
  g_object_set (run.live.element, "min-neighbors", 1, NULL);
  change (&run, "grouping=neighbors", TRUE);
  run.wanted.grouping.method = CUV_GROUPING_WBD;
  change (&run, "grouping=wbd", TRUE);
  run_clear (&run);
}

static void
check_numbers (Run *self, const gchar *field, const guint64 *numbers, guint n)
{
  const GValue *array;
  GstStructure *stats;

  g_object_get (self->live.element, "stats", &stats, NULL);
  array = gst_structure_get_value (stats, field);
  fail_unless (array != NULL && GST_VALUE_HOLDS_ARRAY (array));
  fail_unless_equals_int (gst_value_array_get_size (array), n);
  for (guint i = 0; i < n; i++)
    fail_unless_equals_uint64 (
        g_value_get_uint64 (gst_value_array_get_value (array, i)), numbers[i]);
  gst_structure_free (stats);
}

/* These settings may change the work, but not the result. */
CUV_TEST (test_rearrangements)
{
  static const gchar *const settings[] = { "rearrangement=none",
    "rearrangement=global", "rearrangement=shared", "rearrangement=hybrid",
    "rearrangement=prefix-sum", "rearrangement=ballot", "rearrangement=auto",
    "block-size=8", "block-size=16", "block-size=32", "block-size=auto" };
  g_autofree gchar *value = NULL;
  Run run = rank_run ();

  check_numbers (&run, "segments", (guint64[]){ 1, 8, 20 }, 3);
  change (&run, "'rearrangement-stages=2, 3,7,19'", FALSE);
  check_numbers (&run, "segments", (guint64[]){ 2, 3, 7, 19, 20 }, 5);
  change (&run, "rearrangement-stages=64", FALSE);
  check_numbers (&run, "segments", (guint64[]){ 20 }, 1);
  change (&run, "rearrangement-stages=", FALSE);
  check_numbers (&run, "segments", (guint64[]){ 1, 8, 20 }, 3);
  g_object_get (run.live.element, "rearrangement-stages", &value, NULL);
  assert_equals_string (value, "1,8,64,256,512");
  for (guint i = 0; i < G_N_ELEMENTS (settings); i++)
    change (&run, settings[i], FALSE);
  run_clear (&run);
}

/* ---- enlarged and turned pictures ---- */

CUV_TEST (test_pictures)
{
  Run run = run_new ("min-neighbors=0");

  run.wanted.grouping.min_neighbours = 0;
  run.wanted.params.upscale = 3;
  change (&run, "upscale=3", TRUE);
  run.wanted.params.min_width = 10;
  change (&run, "min-size-width=10", TRUE);
  run.wanted.params.rotation = -90;
  change (&run, "rotations=-90", TRUE);
  run.wanted.params.rotation = 20;
  change (&run, "rotations=20", TRUE);
  run.wanted.roi = (CuvRoi){ 30, 0, 140, 95 };
  change (&run, "roi=30,0,140,95", TRUE);
  run.wanted.params.rotation = 0;
  change (&run, "rotations=", TRUE);
  run_clear (&run);
}

static guint
count_rotation (GstBuffer *buffer, gint rotation)
{
  GstVideoRegionOfInterestMeta *roi;
  gpointer state = NULL;
  guint n = 0;

  while ((roi = cuv_next_region (buffer, &state)) != NULL) {
    gint found = 0;

    gst_structure_get_int (
        gst_video_region_of_interest_meta_get_param (roi, "detection"),
        "rotation", &found);
    n += found == rotation;
  }
  return n;
}

static gint
message_rotation (GstMessage *message, guint i)
{
  const GValue *objects =
      gst_structure_get_value (gst_message_get_structure (message), "objects");
  gint rotation = 0;

  gst_structure_get_int (
      gst_value_get_structure (gst_value_list_get_value (objects, i)),
      "rotation", &rotation);
  return rotation;
}

/* Without grouping, the objects of several rotations are those of each
 * rotation, and the message has them all. */
CUV_TEST (test_several_rotations)
{
  static const gchar *const each[] = { "-20", "0", "90" };
  static const gint rotations[] = { -20, 0, 90 };
  guint n[3], all = 0;
  GstMessage *message;
  GstBuffer *buffer;
  Run run = run_new ("min-neighbors=0 upscale=3 message=every-frame");

  for (guint i = 0; i < 3; i++) {
    g_object_set (run.live.element, "rotations", each[i], NULL);
    buffer = push (run.live.h, run.sample);
    n[i] = n_objects (buffer);
    all += n[i];
    gst_buffer_unref (buffer);
    gst_message_unref (
        gst_bus_pop_filtered (run.live.bus, GST_MESSAGE_ELEMENT));
  }
  g_object_set (run.live.element, "rotations", "-20, 0, 90", NULL);
  buffer = push (run.live.h, run.sample);
  fail_unless_equals_int (n_objects (buffer), all);
  for (guint i = 0; i < 3; i++) {
    fail_unless (n[i] > 0, "none at %d", rotations[i]);
    fail_unless_equals_int (count_rotation (buffer, rotations[i]), n[i]);
  }
  gst_buffer_unref (buffer);
  message = gst_bus_pop_filtered (run.live.bus, GST_MESSAGE_ELEMENT);
  fail_unless_equals_int (message_rotation (message, 0), -20);
  fail_unless_equals_int (message_rotation (message, all - 1), 90);
  gst_message_unref (message);
  run_clear (&run);
}

CUV_TEST (test_invalid_rotations)
{
  static const gchar *const bad[] = { "181", "-181", "5,5", "1.5", "1;2", "x",
    ",", "0,1,2,3,4,5,6,7,8,9,10,11,12" };
  Run run = run_new ("min-neighbors=0 rotations=0,10");

  cuv_live_kept (&run.live, "rotations", bad, G_N_ELEMENTS (bad), "0,10");
  run_clear (&run);
}

/* ---- labels ---- */

static void
check_label (Run *self, const gchar *label, gint id)
{
  g_autoptr (GstBuffer) buffer = push (self->live.h, self->sample);
  GstVideoRegionOfInterestMeta *roi =
      gst_buffer_get_video_region_of_interest_meta (buffer);
  gint found = -1;

  fail_unless (roi != NULL);
  assert_equals_string (g_quark_to_string (roi->roi_type), label);
  gst_structure_get_int (
      gst_video_region_of_interest_meta_get_param (roi, "detection"),
      "label_id", &found);
  fail_unless_equals_int (found, id);
}

CUV_TEST (test_labels)
{
  Run run = run_new ("min-neighbors=0 labels=plate,frontalface");

  check_label (&run, "frontalface", 1);
  g_object_set (run.live.element, "label", "plate", NULL);
  check_label (&run, "plate", 0);
  g_object_set (run.live.element, "labels", "eye, face ,plate", NULL);
  check_label (&run, "plate", 2);
  g_object_set (run.live.element, "labels", "eye,face", NULL);
  check_label (&run, "plate", 2);
  expect_problem (
      run.live.bus, GST_MESSAGE_WARNING, "label 'plate' is not among");
  g_object_set (run.live.element, "label", "face", NULL);
  check_label (&run, "face", 1);
  g_object_set (run.live.element, "labels", "a,,b", NULL);
  expect_problem (run.live.bus, GST_MESSAGE_WARNING, "labels 'a,,b'");
  g_object_set (run.live.element, "labels", "face,b,face", NULL);
  expect_problem (run.live.bus, GST_MESSAGE_WARNING, "each once");
  check_label (&run, "face", 1);
  g_object_set (run.live.element, "labels", NULL, "label", "", NULL);
  check_label (&run, "frontalface", 0);
  run_clear (&run);
}

/* Structures take UTF-8 only, files can have any name. */
CUV_TEST (test_labels_not_utf8)
{
  g_autofree gchar *path = g_strdup_printf (
      "%s/cuv-\xff-%d.xml", g_get_tmp_dir (), (gint) getpid ());
  g_autofree gchar *made = write_rank_model ();
  g_autofree gchar *wanted =
      g_strdup_printf ("cuv-\uFFFD-%d", (gint) getpid ());
  Run run = run_new ("grouping=none message=every-frame");

  g_object_set (run.live.element, "label", "a\xff", NULL);
  check_label (&run, "a\uFFFD", 0);
  fail_unless_equals_int (g_rename (made, path), 0);
  g_object_set (run.live.element, "label", NULL, "model", path, NULL);
  check_label (&run, wanted, 0);
  g_remove (path);
  run_clear (&run);
}

/* ---- invalid values ---- */

CUV_TEST (test_invalid_lists)
{
  static const gchar *const bad[] = { "8,1", "1,1", "0", "-3", "1;2", "1,2,",
    ",", "1 2", "5000", "x",
    ("1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,"
     "28,29,30,31,32") };
  Run run = run_new ("min-neighbors=0 rearrangement-stages=3,5");

  run.wanted.grouping.min_neighbours = 0;
  check_next (&run, "start", TRUE);
  cuv_live_kept (
      &run.live, "rearrangement-stages", bad, G_N_ELEMENTS (bad), "3,5");
  check_next (&run, "after invalid lists", FALSE);
  run_clear (&run);
}

/* Options are applied by reading the file again; if it is gone, the previous
 * settings stay in force. */
CUV_TEST (test_option_without_file)
{
  g_autofree gchar *path = write_rank_model ();
  gfloat value = -1;
  Run run = run_new ("grouping=none");

  run.wanted.grouping.method = CUV_GROUPING_NONE;
  run.wanted.model = rank_model; /* an equal model in another file */
  g_object_set (run.live.element, "label", "cuv", "model", path, NULL);
  gst_buffer_unref (push (run.live.h, run.sample));
  g_remove (path);
  fail_if (g_object_class_find_property (
               G_OBJECT_GET_CLASS (run.live.element), "final-threshold")
               ->flags
      & GST_PARAM_CONTROLLABLE);
  g_object_set (run.live.element, "final-threshold", 0.5f, NULL);
  expect_problem (run.live.bus, GST_MESSAGE_WARNING, "final-threshold");
  g_object_get (run.live.element, "final-threshold", &value, NULL);
  fail_unless (value == 0);
  g_object_set (run.live.element, "label", NULL, "model", rank_model, NULL);
  check_next (&run, "old option", TRUE);
  /* this model has no options in its file */
  g_object_set (run.live.element, "model", MODEL, NULL);
  g_object_set (run.live.element, "final-threshold", 0.5f, NULL);
  g_object_get (run.live.element, "final-threshold", &value, NULL);
  fail_unless (value == 0.5f);
  expect_no_warning (run.live.bus);
  run_clear (&run);
}

CUV_TEST (test_invalid_names)
{
  cuv_expect_parse_errors ("waldboostdetect",
      "block-size=12 scan=sparse grouping=mean rearrangement=warp "
      "arithmetic=double lrp-order=ba block-value=median "
      "inference-region=frame");
}

static void
set_up (void)
{
  rank_model = write_rank_model ();
}

static void
tear_down (void)
{
  g_remove (rank_model);
  g_clear_pointer (&rank_model, g_free);
}

CUV_FIXTURE (set_up, tear_down)
