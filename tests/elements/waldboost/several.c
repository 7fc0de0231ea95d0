/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* waldboostdetect with several models: the objects of each, as it finds them
 * alone. */
#include "config.h"
#include "models.h"
#include "picture.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#define CAPS "video/x-raw,format=%s,width=160,height=100"
#define CASCADE 0
#define CHANNELS 1
#define RANK 2
#define MORE_CHANNELS 3
#define N_FILES 4

static gchar *files[N_FILES];

typedef struct {
  GstSample *sample;
  GstHarness *h;
  GstElement *d;
  GstBus *bus;
  guint n;
  Wanted wanted[N_FILES];
  const gchar *labels[N_FILES]; /* NULL: that of the file */
  gint ids[N_FILES];
} Run;

/* Sets the models that are wanted, and returns their list; free it. */
static gchar *
want (Run *self, const gint *models, guint n)
{
  GString *list = g_string_new (NULL);

  self->n = n;
  for (guint i = 0; i < n; i++) {
    self->wanted[i] = defaults;
    self->wanted[i].model = files[models[i]];
    self->wanted[i].in_colour = models[i] % 2 == 1;
    self->wanted[i].grouping.min_neighbours = 0;
    self->labels[i] = NULL;
    self->ids[i] = (gint) i;
    g_string_append_printf (list, "%s%s", i > 0 ? "," : "", files[models[i]]);
  }
  return g_string_free (list, FALSE);
}

static void
run_init (Run *self, const gchar *format, const gchar *properties,
    const gint *models, guint n)
{
  gchar *caps = g_strdup_printf (CAPS, format);
  gchar *list = want (self, models, n);
  gchar *line = g_strdup_printf (
      "waldboostdetect name=d model=%s min-neighbors=0 %s", list, properties);

  self->sample = decode_picture (caps);
  self->h = new_line (line, self->sample);
  self->d = detector (self->h);
  self->bus = cuv_harness_watch (self->h);
  g_free (line);
  g_free (list);
  g_free (caps);
}

static void
run_clear (Run *self)
{
  gst_object_unref (self->bus);
  gst_object_unref (self->d);
  gst_harness_teardown (self->h);
  gst_sample_unref (self->sample);
}

/* ---- objects ---- */

static void
check_object (const Run *self, guint model,
    const GstVideoRegionOfInterestMeta *roi, const CuvWaldboostBox *box,
    const gchar *what)
{
  GstStructure *detection = gst_video_region_of_interest_meta_get_param (
      (GstVideoRegionOfInterestMeta *) roi, "detection");
  gchar *name = g_path_get_basename (self->wanted[model].model);
  gchar *label = self->labels[model] != NULL
      ? g_strdup (self->labels[model])
      : g_strndup (name, strcspn (name, "."));
  gdouble score = 0;
  gint id = -1;

  if (g_str_has_prefix (label, "lbpcascade_"))
    memmove (label, label + 11, strlen (label) - 10);
  fail_unless (roi->x == (guint) box->x && roi->y == (guint) box->y
          && roi->w == (guint) box->width && roi->h == (guint) box->height,
      "%s: model %u", what, model);
  assert_equals_string (g_quark_to_string (roi->roi_type), label);
  fail_unless (gst_structure_get (detection, "score", G_TYPE_DOUBLE, &score,
      "label_id", G_TYPE_INT, &id, NULL));
  fail_unless (score == box->score);
  fail_unless_equals_int (id, self->ids[model]);
  assert_equals_string (
      gst_structure_get_string (detection, "model_name"), name);
  g_free (label);
  g_free (name);
}

/* Checks that the buffer has the objects of all models, in their order, and
 * some of each. region: NULL, or the part of the frame that was searched. */
static void
check_buffer (Run *self, GstBuffer *buffer, const CuvRoi *region,
    gpointer *state, const gchar *what)
{
  for (guint i = 0; i < self->n; i++) {
    GArray *boxes = expect_in (self->sample, &self->wanted[i], region);

    fail_unless (boxes->len > 0, "%s: no box of model %u", what, i);
    for (guint k = 0; k < boxes->len; k++) {
      const GstVideoRegionOfInterestMeta *roi = cuv_next_region (buffer, state);

      fail_unless (roi != NULL, "%s: model %u: %u objects, not %u", what, i, k,
          boxes->len);
      check_object (
          self, i, roi, &g_array_index (boxes, CuvWaldboostBox, k), what);
    }
    g_array_unref (boxes);
  }
}

static void
check_next (Run *self, const gchar *what)
{
  GstBuffer *buffer = push (self->h, self->sample);
  gpointer state = NULL;

  check_buffer (self, buffer, NULL, &state, what);
  fail_unless (cuv_next_region (buffer, &state) == NULL, "%s: more", what);
  gst_buffer_unref (buffer);
}

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

/* Ungrouped, the objects of two rotations are those of each. */
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

/* ---- labels ---- */

CUV_TEST (test_labels)
{
  static const gint models[] = { RANK, CHANNELS, MORE_CHANNELS };
  Run run;

  run_init (&run, "RGB", "label=a,,c", models, 3);
  run.labels[0] = "a";
  run.labels[2] = "c";
  check_next (&run, "one from a file");
  g_object_set (run.d, "label", "a, b ,a", NULL);
  run.labels[1] = "b";
  run.labels[2] = "a";
  run.ids[2] = 0;
  check_next (&run, "two equal ones");
  g_object_set (run.d, "labels", "x,b,a", NULL);
  run.ids[0] = run.ids[2] = 2;
  run.ids[1] = 1;
  check_next (&run, "a list");
  g_object_set (run.d, "label", "a,b", NULL);
  check_next (&run, "too few");
  expect_problem (
      run.bus, GST_MESSAGE_WARNING, "label 'a,b' has 2 names for 3 models");
  g_object_set (run.d, "label", "a,b,c", NULL);
  check_next (&run, "a label that is not in the list");
  expect_problem (run.bus, GST_MESSAGE_WARNING, "'c' is not among labels");
  run_clear (&run);
}

/* A comma in the label of one model is part of it, as before. */
CUV_TEST (test_label_of_one_model)
{
  static const gint models[] = { CHANNELS };
  Run run;

  run_init (&run, "RGB", "label=\"a,b\"", models, 1);
  run.labels[0] = "a,b";
  check_next (&run, "a comma");
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

/* Held objects are those of the models that found them. */
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

/* What a frame counts with a model alone. */
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
  gchar *name = g_path_get_basename (files[model]);
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
  g_free (name);
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

/* ---- names ---- */

/* A file whose name has a comma, alone and in a list. */
CUV_TEST (test_commas_in_names)
{
  gchar *name = g_strdup_printf ("cuv-%d,x,y.xml", (gint) getpid ());
  gchar *path = g_build_filename (g_get_tmp_dir (), name, NULL);
  gchar *escaped = g_strdup_printf ("%s , %s/cuv-%d\\,x\\,y.xml", files[RANK],
      g_get_tmp_dir (), (gint) getpid ());
  gchar *text;
  gsize size;
  Run run;

  fail_unless (g_file_get_contents (files[CHANNELS], &text, &size, NULL));
  fail_unless (g_file_set_contents (path, text, (gssize) size, NULL));
  run_init (&run, "RGB", "", (gint[]){ RANK, CHANNELS }, 2);
  run.wanted[1].model = path;
  g_object_set (run.d, "model", escaped, NULL);
  check_next (&run, escaped);
  run.wanted[0] = run.wanted[1];
  run.n = 1;
  g_object_set (run.d, "model", path, NULL);
  check_next (&run, path);
  expect_no_warning (run.bus);
  run_clear (&run);
  g_remove (path);
  g_free (text);
  g_free (escaped);
  g_free (path);
  g_free (name);
}

CUV_TEST (test_wrong_lists)
{
  GString *many = g_string_new (files[RANK]);
  gchar *list;
  Run run;

  run_init (&run, "RGB", "", (gint[]){ RANK, CHANNELS }, 2);
  check_next (&run, "start");
  list = g_strdup_printf ("%s,/no/such.xml,%s", files[RANK], files[RANK]);
  g_object_set (run.d, "model", list, NULL);
  expect_problem (run.bus, GST_MESSAGE_WARNING, "cannot read '/no/such.xml'");
  g_free (list);
  list = g_strdup_printf ("%s,/proc/self/exe", files[RANK]);
  g_object_set (run.d, "model", list, NULL);
  expect_problem (run.bus, GST_MESSAGE_WARNING, ": /proc/self/exe: line 1");
  g_free (list);
  list = g_strdup_printf ("%s,,%s", files[RANK], files[RANK]);
  g_object_set (run.d, "model", list, NULL);
  expect_problem (run.bus, GST_MESSAGE_WARNING, "file name 2 of the list is");
  g_free (list);
  for (guint i = 0; i < 16; i++)
    g_string_append_printf (many, ",%s", files[RANK]);
  g_object_set (run.d, "model", many->str, NULL);
  expect_problem (run.bus, GST_MESSAGE_WARNING, "17 file names");
  g_string_free (many, TRUE);
  check_next (&run, "after wrong lists");
  gst_util_set_object_arg (G_OBJECT (run.d), "scan", "opencv");
  check_next (&run, "after a scan that one model does not have");
  expect_problem (run.bus, GST_MESSAGE_WARNING, files[CHANNELS]);
  run_clear (&run);
}

static void
expect_no_window (Run *self, gint model)
{
  gchar *text = pop_problem (self->bus, GST_MESSAGE_WARNING);

  fail_unless (text != NULL && strstr (text, "No window fits") != NULL);
  fail_unless (strstr (text, files[model]) != NULL, "%s", text);
  g_free (text);
}

/* A warning names each model whose window does not fit; the others work. */
CUV_TEST (test_window_that_does_not_fit)
{
  Run run;

  run_init (&run, "RGB", "max-size-width=26 max-size-height=22",
      (gint[]){ CHANNELS, RANK }, 2);
  gst_buffer_unref (push (run.h, run.sample));
  expect_no_window (&run, CHANNELS);
  expect_no_window (&run, RANK);
  g_object_set (run.d, "max-size-height", 25, NULL);
  g_free (want (&run, (gint[]){ RANK }, 1));
  run.ids[0] = 1;
  run.wanted[0].params.max_width = 26;
  run.wanted[0].params.max_height = 25;
  check_next (&run, "one fits");
  expect_no_window (&run, CHANNELS);
  expect_no_warning (run.bus);
  run_clear (&run);
}

/* ---- files ---- */

/* The model of write_channels_model(), with other levels and thresholds, and
 * inside the picture. */
static gchar *
write_more_channels (void)
{
  gchar *path = write_channels_model (), *text;
  gsize size;
  GString *changed;

  fail_unless (g_file_get_contents (path, &text, &size, NULL));
  changed = g_string_new (text);
  g_string_replace (changed, "levels=\"8\"", "levels=\"3\"", 1);
  g_string_replace (changed, "overhang=\"1\"", "overhang=\"0\"", 1);
  g_string_replace (changed, "threshold=\"-200\"", "threshold=\"-350\"", 1);
  fail_unless (g_file_set_contents (path, changed->str, -1, NULL));
  g_string_free (changed, TRUE);
  g_free (text);
  return path;
}

static void
set_up (void)
{
  files[CASCADE] = g_strdup (MODEL);
  files[CHANNELS] = write_channels_model ();
  files[RANK] = write_rank_model ();
  files[MORE_CHANNELS] = write_more_channels ();
}

static void
tear_down (void)
{
  for (guint i = 0; i < N_FILES; i++) {
    if (i != CASCADE)
      g_remove (files[i]);
    g_clear_pointer (&files[i], g_free);
  }
}

CUV_FIXTURE (set_up, tear_down)
