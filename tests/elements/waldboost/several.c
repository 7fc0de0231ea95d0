/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* waldboostdetect with several models: each finds the objects that it finds
 * alone. */
#include "config.h"
#include "several-runs.h"

#include <glib/gstdio.h>
#include <unistd.h>

CUV_TEST (test_models_of_all_kinds)
{
  static const gchar *const formats[] = { "RGB", "NV12", "YUY2", "GRAY8" };
  static const gint models[] = { CHANNELS, CASCADE, RANK, MORE_CHANNELS };

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    Run run;

    run_init (&run, formats[i], "grouping=none upscale=3", models, 4);
    for (guint k = 0; k < 4; k++) {
      run.wanted[k].grouping.method = CUV_GROUPING_NONE;
      run.wanted[k].params.upscale = 3;
    }
    check_next (&run, formats[i]);
    run_clear (&run);
  }
}

/* Boxes of one model do not join or suppress those of another, even if they are
 * the same. */
CUV_TEST (test_models_are_grouped_separately)
{
  static const gint models[] = { CHANNELS, CHANNELS };
  static const gint cascades[] = { CASCADE, CASCADE, CASCADE };
  Run run;

  run_init (&run, "RGB", "", models, 2);
  run.ids[1] = 0; /* the same label */
  check_next (&run, "nms");
  run_clear (&run);
  run_init (&run, "NV12", "upscale=3", cascades, 3);
  run.ids[1] = run.ids[2] = 0;
  for (guint i = 0; i < 3; i++)
    run.wanted[i].params.upscale = 3;
  check_next (&run, "neighbors");
  run_clear (&run);
}

CUV_TEST (test_settings_apply_to_each)
{
  static const gint models[] = { RANK, CHANNELS, MORE_CHANNELS };
  Run run;

  run_init (&run, "RGB", "", models, 3);
  check_next (&run, "start");
  g_object_set (run.d, "roi", "31,11,131,91", "final-threshold", 0.1, NULL);
  for (guint i = 0; i < 3; i++) {
    run.wanted[i].roi = (CuvRoi){ 31, 11, 131, 91 };
    run.wanted[i].options.final_threshold = 0.1f;
  }
  check_next (&run, "roi and final-threshold");
  g_object_set (run.d, "rotations", "90", "min-size-width", 30, NULL);
  for (guint i = 0; i < 3; i++) {
    run.wanted[i].params.rotation = 90;
    run.wanted[i].params.min_width = 30;
  }
  check_next (&run, "rotations and min-size-width");
  run_clear (&run);
}

/* Without grouping, the objects of two rotations are those of each rotation. */
CUV_TEST (test_rotations)
{
  static const gchar *const rotations[] = { "0", "90", "0,90" };
  static const gint models[] = { CHANNELS, RANK };
  guint n[3];
  Run run;

  run_init (&run, "RGB", "grouping=none", models, 2);
  for (guint i = 0; i < 3; i++) {
    GstBuffer *buffer;

    g_object_set (run.d, "rotations", rotations[i], NULL);
    buffer = push (run.h, run.sample);
    n[i] = n_objects (buffer);
    gst_buffer_unref (buffer);
  }
  fail_unless (n[0] > 0 && n[1] > 0);
  fail_unless_equals_int (n[2], n[0] + n[1]);
  run_clear (&run);
}

CUV_TEST (test_regions)
{
  static const CuvRoi parts[] = { { 20, 10, 140, 95 }, { 5, 3, 110, 88 } };
  static const gint models[] = { CHANNELS, RANK, MORE_CHANNELS };
  GstBuffer *buffer;
  gpointer state = NULL;
  Run run;

  run_init (&run, "RGB", "inference-region=roi-list", models, 3);
  buffer = gst_buffer_copy (gst_sample_get_buffer (run.sample));
  for (guint i = 0; i < 2; i++)
    gst_buffer_add_video_region_of_interest_meta (buffer, "part",
        (guint) parts[i].left, (guint) parts[i].top,
        (guint) (parts[i].right - parts[i].left),
        (guint) (parts[i].bottom - parts[i].top))
        ->id = (gint) i;
  buffer = gst_harness_push_and_pull (run.h, buffer);
  for (guint i = 0; i < 2; i++)
    cuv_next_region (buffer, &state);
  for (guint i = 0; i < 2; i++)
    check_buffer (&run, buffer, &parts[i], &state, "region");
  fail_unless (cuv_next_region (buffer, &state) == NULL);
  gst_buffer_unref (buffer);
  run_clear (&run);
}

/* ---- changes ---- */

CUV_TEST (test_models_change_while_playing)
{
  static const gint lists[][3] = { { CHANNELS }, { CHANNELS, RANK },
    { MORE_CHANNELS, CHANNELS, RANK }, { RANK }, { RANK, CHANNELS } };
  static const guint n[] = { 1, 2, 3, 1, 2 };
  Run run;

  run_init (&run, "RGB", "", lists[0], 1);
  for (guint i = 0; i < G_N_ELEMENTS (lists); i++) {
    gchar *list = want (&run, lists[i], n[i]);

    g_object_set (run.d, "model", list, NULL);
    check_next (&run, list);
    g_free (list);
  }
  expect_no_warning (run.bus);
  run_clear (&run);
}

/* Held objects stay those of the models that found them, even if `model` has
 * changed. */
CUV_TEST (test_held_objects)
{
  static const gint models[] = { CHANNELS, RANK };
  Run run;

  run_init (&run, "RGB", "inference-interval=2 hold-results=true", models, 2);
  check_next (&run, "analysed");
  g_object_set (run.d, "model", files[RANK], NULL);
  check_next (&run, "held");
  g_free (want (&run, (gint[]){ RANK }, 1));
  check_next (&run, "analysed with one model");
  check_next (&run, "held with one model");
  run_clear (&run);
}

/* ---- statistics and messages ---- */

static guint64
number (const GstStructure *stats, const gchar *field)
{
  guint64 value = 0;

  fail_unless (gst_structure_get_uint64 (stats, field, &value), "%s", field);
  return value;
}

static guint
array_size (const GstStructure *stats, const gchar *field)
{
  const GValue *array = gst_structure_get_value (stats, field);

  return array != NULL ? gst_value_array_get_size (array) : 0;
}

static GstStructure *
stats_of (GstElement *element)
{
  GstStructure *stats;

  g_object_get (element, "stats", &stats, NULL);
  return stats;
}

/* Returns the statistics of a frame with one model alone. */
static GstStructure *
stats_alone (gint model)
{
  GstStructure *stats;
  Run run;

  run_init (&run, "RGB", "", (gint[]){ model }, 1);
  gst_buffer_unref (push (run.h, run.sample));
  stats = stats_of (run.d);
  run_clear (&run);
  return stats;
}

static void
check_model_stats (
    const GstStructure *stats, gint model, guint64 *windows, guint *objects)
{
  static const gchar *const fields[] = { "weak-per-window", "survivors",
    "segments", "windows", "windows-accepted", "objects" };
  GstStructure *alone = stats_alone (model);
  g_autofree gchar *name = g_path_get_basename (files[model]);
  guint n = 0;

  assert_equals_string (gst_structure_get_string (stats, "model_name"), name);
  fail_unless (gst_structure_get_string (stats, "label") != NULL);
  for (guint i = 0; i < G_N_ELEMENTS (fields); i++)
    fail_unless_equals_int (
        gst_value_compare (gst_structure_get_value (stats, fields[i]),
            gst_structure_get_value (alone, fields[i])),
        GST_VALUE_EQUAL);
  *windows += number (alone, "windows");
  fail_unless (gst_structure_get_uint (alone, "objects", &n) && n > 0);
  *objects += n;
  gst_structure_free (alone);
}

CUV_TEST (test_stats)
{
  static const gint models[] = { CHANNELS, RANK, MORE_CHANNELS };
  const GValue *list;
  GstStructure *stats;
  guint64 windows = 0;
  guint objects = 0, n = 0;
  Run run;

  run_init (&run, "RGB", "", models, 3);
  gst_buffer_unref (push (run.h, run.sample));
  stats = stats_of (run.d);
  list = gst_structure_get_value (stats, "models");
  fail_unless_equals_int (array_size (stats, "models"), 3);
  for (guint i = 0; i < 3; i++)
    check_model_stats (
        gst_value_get_structure (gst_value_array_get_value (list, i)),
        models[i], &windows, &objects);
  fail_unless_equals_uint64 (number (stats, "windows"), windows);
  fail_unless (gst_structure_get_uint (stats, "objects", &n));
  fail_unless_equals_int (n, objects);
  fail_if (gst_structure_has_field (stats, "segments"));
  gst_structure_free (stats);
  g_object_set (run.d, "model", files[RANK], NULL);
  gst_buffer_unref (push (run.h, run.sample));
  stats = stats_of (run.d);
  fail_if (gst_structure_has_field (stats, "models"));
  fail_unless_equals_int (array_size (stats, "segments"), 3);
  gst_structure_free (stats);
  run_clear (&run);
}

CUV_TEST (test_message)
{
  static const gint models[] = { CHANNELS, RANK };
  GstMessage *message;
  const GValue *objects;
  GstBuffer *buffer;
  guint n;
  Run run;

  run_init (&run, "RGB", "message=every-frame label=a,b", models, 2);
  buffer = push (run.h, run.sample);
  n = n_objects (buffer);
  message = gst_bus_pop_filtered (run.bus, GST_MESSAGE_ELEMENT);
  objects =
      gst_structure_get_value (gst_message_get_structure (message), "objects");
  fail_unless_equals_int (gst_value_list_get_size (objects), n);
  for (guint i = 0; i < n; i += n - 1) {
    const GstStructure *object =
        gst_value_get_structure (gst_value_list_get_value (objects, i));
    gint id = -1;

    assert_equals_string (
        gst_structure_get_string (object, "label"), i == 0 ? "a" : "b");
    gst_structure_get_int (object, "label_id", &id);
    fail_unless_equals_int (id, i == 0 ? 0 : 1);
  }
  gst_message_unref (message);
  gst_buffer_unref (buffer);
  run_clear (&run);
}

/* ---- limits ---- */

/* Writes a model of one test that every window passes, with a low score. */
static gchar *
write_permissive_model (void)
{
  gchar *path = g_build_filename (g_get_tmp_dir (), "cuv-XXXXXX.xml", NULL);
  GString *text = g_string_new (
      "<WaldBoostClassifier sizeX=\"8\" sizeY=\"8\">\n"
      "<stage posT=\"1e+50\" negT=\"-1e+50\"><HistogramWeakHypothesis "
      "predictionValues=\"");

  for (guint i = 0; i < 100; i++)
    g_string_append (text, "0.01 ");
  g_string_append (text,
      "\"><LRP positionX=\"0\" positionY=\"0\" blockWidth=\"2\" "
      "blockHeight=\"2\" blockA=\"0\" blockB=\"1\"/>"
      "</HistogramWeakHypothesis></stage>\n"
      "</WaldBoostClassifier>\n");
  close (g_mkstemp (path));
  fail_unless (g_file_set_contents (path, text->str, -1, NULL));
  g_string_free (text, TRUE);
  return path;
}

/* If a model accepts more windows than are kept, the next one keeps as many as
 * ever. */
CUV_TEST (test_too_many_windows_of_one_model)
{
  g_autofree gchar *path = write_permissive_model ();
  g_autofree gchar *list = NULL;
  GstStructure *stats;
  GstBuffer *buffer;
  guint alone;
  Run run;

  list = g_strdup_printf ("%s,%s", path, files[RANK]);
  run_init (&run, "RGB", "grouping=none threshold=0.6 upscale=2",
      (gint[]){ RANK }, 1);
  buffer = push (run.h, run.sample);
  alone = n_objects (buffer);
  fail_unless (alone > 0);
  gst_buffer_unref (buffer);
  g_object_set (run.d, "model", list, NULL);
  buffer = push (run.h, run.sample);
  expect_no_warning (run.bus);
  fail_unless_equals_int (n_objects (buffer), alone);
  stats = stats_of (run.d);
  fail_unless (number (stats, "windows-lost") > 0);
  gst_structure_free (stats);
  gst_buffer_unref (buffer);
  run_clear (&run);
  g_remove (path);
}

CUV_FIXTURE (set_up_files, tear_down_files)
