/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* visionpublish: contents of files, and properties. */
#include <math.h>
#include <string.h>
#include <unistd.h>
#include "helper.h"

/* ---- files ---- */

#define EMPTY(n)                                                               \
  "{\"frame_num\":" #n "," FRAME ",\"timestamp\":0,\"wallclock\":\"T\"}"

CUV_TEST (test_json_array)
{
  GstHarness *h;
  g_autofree gchar *text = NULL;

  /* old contents are replaced */
  fail_unless (g_file_set_contents (path, "old", -1, NULL));
  h = harness_new ("json");
  g_object_set (h->element, "add-empty-results", TRUE, NULL);
  push (h, frame_new (0));
  push (h, frame_new (0));
  gst_harness_push_event (h, gst_event_new_eos ());
  text = contents ();
  fail_unless_equals_string (text, "[\n" EMPTY (0) ",\n" EMPTY (1) "\n]\n");
  fail_unless_jq_agrees ();
  /* a seek after EOS: still one array */
  end_and_seek (h);
  push (h, frame_new (0));
  fail_unless_written (
      h, "[\n" EMPTY (0) ",\n" EMPTY (1) ",\n" EMPTY (2) "\n]\n");
}

/* Stopping without EOS closes the array, even if it has no records. */
CUV_TEST (test_json_array_at_stop)
{
  GstHarness *h = harness_new ("json");

  g_object_set (h->element, "add-empty-results", TRUE, NULL);
  push (h, frame_new (0));
  gst_harness_teardown (h);
  fail_unless_file ("[\n" EMPTY (0) "\n]\n");
  gst_harness_teardown (harness_new ("json"));
  fail_unless_file ("[\n\n]\n");
  fail_unless_jq_agrees ();
}

static guint64
records_written (GstHarness *h)
{
  GstStructure *stats;
  guint64 n = 0;

  g_object_get (h->element, "stats", &stats, NULL);
  gst_structure_get_uint64 (stats, "records", &n);
  gst_structure_free (stats);
  return n;
}

CUV_TEST (test_reopen)
{
  GstHarness *h = harness_new ("json");

  g_object_set (h->element, "add-empty-results", TRUE, NULL);
  push (h, frame_new (0));
  while (records_written (h) == 0)
    g_usleep (1000);
  fail_unless (unlink (path) == 0);
  g_signal_emit_by_name (h->element, "reopen");
  while (!g_file_test (path, G_FILE_TEST_EXISTS))
    g_usleep (1000);
  push (h, frame_new (0));
  fail_unless_written (h, "[\n" EMPTY (1) "\n]\n");
}

/* Lines are appended, also after an unfinished one. */
CUV_TEST (test_append)
{
  GstHarness *h = harness_new ("json-lines");

  gst_harness_teardown (h);
  fail_unless (g_file_set_contents (path, "{\"half\":", -1, NULL));
  for (guint i = 0; i < 2; i++) {
    h = harness_new ("json-lines");
    g_object_set (h->element, "add-empty-results", TRUE, NULL);
    push (h, frame_new (0));
    gst_harness_teardown (h);
  }
  fail_unless_file ("{\"half\":\n" EMPTY (0) "\n" EMPTY (0) "\n");
}

#define CSV_HEADER                                                             \
  "kind,frame_num,timestamp,wallclock,source,width,height,region_id,"          \
  "parent_id,id,roi_type,x,y,w,h,x_min,x_max,y_min,y_max,confidence,label_id," \
  "extra\r\n"
#define CSV_OBJECT                                                             \
  "object,0,1000,T,\"a,b\",640,480,0,,7,\"say \"\"hi\"\",\r\nyou\",64,48,128," \
  "96,0.1,0.3,0.1,0.3,,0,\"{\"\"extra_params\"\":{\"\"raw\"\":1.25}}\"\r\n"
#define CSV_LINE                                                               \
  "lines,0,1000,T,\"a,b\",640,480,,,,,,,,,,,,,,,\"{\"\"row\"\":{\"\"id\"\":-"  \
  "1,"                                                                         \
  "\"\"rho\"\":10.5,\"\"theta\"\":0.1,\"\"votes\"\":77}}\"\r\n"
#define CSV_EMPTY "frame,1,0,T,\"a,b\",640,480,,,,,,,,,,,,,,,\r\n"

CUV_TEST (test_csv)
{
  g_autofree gchar *twice = NULL;

  for (guint i = 0; i < 2; i++) {
    GstHarness *h = harness_new ("csv");
    GstBuffer *buffer = frame_new (1000);

    set_id (
        gst_cuv_meta_add_object (
            &(GstCuvWriter){ .buffer = buffer, .info = &info },
            gst_cuv_meta_next_id (buffer), "say \"hi\",\r\nyou", 64, 48, 128,
            96, NAN, gst_structure_new ("x", "raw", G_TYPE_DOUBLE, 1.25, NULL))
            .roi,
        7);
    add_lines (buffer, 1, 640);
    g_object_set (h->element, "source", "a,b", "add-empty-results", TRUE, NULL);
    push (h, buffer);
    push (h, frame_new (0));
    gst_harness_teardown (h);
  }
  twice = g_strconcat (CSV_HEADER, CSV_OBJECT, CSV_LINE, CSV_EMPTY, CSV_OBJECT,
      CSV_LINE, CSV_EMPTY, NULL);
  fail_unless_file (twice);
}

static gchar *
random_text (GRand *rand)
{
  gint size = g_rand_int_range (rand, 0, 12);
  gchar *text = g_new0 (gchar, size + 1);

  for (gint i = 0; i < size; i++)
    text[i] = (gchar) g_rand_int_range (rand, 1, 256);
  return text;
}

static gdouble
random_double (GRand *rand)
{
  guint64 bits = (guint64) g_rand_int (rand) << 32 | g_rand_int (rand);
  gdouble value;

  memcpy (&value, &bits, sizeof value);
  return value;
}

static void
add_random_object (GstBuffer *buffer, GRand *rand)
{
  gchar *label = random_text (rand), *bytes = random_text (rand);
  gchar *text = g_utf8_make_valid (bytes, -1); /* structures require UTF-8 */
  GstVideoRegionOfInterestMeta *roi = gst_cuv_meta_add_object (
      &(GstCuvWriter){ .buffer = buffer, .info = &info },
      gst_cuv_meta_next_id (buffer), label, g_rand_int (rand), 0, 1, 1,
      random_double (rand), NULL)
                                          .roi;

  gst_video_region_of_interest_meta_add_param (roi,
      gst_structure_new ("any", "text", G_TYPE_STRING, text, "float",
          G_TYPE_FLOAT, (gfloat) random_double (rand), NULL));
  g_free (label);
  g_free (bytes);
  g_free (text);
}

/* Pushes more records than the queue holds, with random bytes and numbers. */
CUV_TEST (test_thousands_of_records)
{
  guint32 seed = g_random_int ();
  GRand *rand = g_rand_new_with_seed (seed);
  g_autoptr (GstHarness) h = harness_new ("json-lines");
  const guint n = 3000;
  guint64 dropped;
  g_autofree gchar *text = NULL;
  gchar **lines;

  for (guint i = 0; i < n; i++) {
    GstBuffer *buffer = gst_buffer_new ();

    for (gint k = g_rand_int_range (rand, 1, 4); k > 0; k--)
      add_random_object (buffer, rand);
    add_lines (buffer, 2, 640);
    push (h, buffer);
    if (i % 500 == 499) /* a slower disk would cause dropped records */
      end_and_seek (h);
  }
  gst_harness_push_event (h, gst_event_new_eos ());
  g_object_get (h->element, "dropped", &dropped, NULL);
  fail_unless_equals_int (dropped, 0);
  fail_unless (g_file_get_contents (path, &text, NULL, NULL));
  lines = g_strsplit (text, "\n", -1);
  fail_unless (g_strv_length (lines) == n + 1, "seed %u", seed);
  fail_unless_jq_agrees ();
  g_strfreev (lines);
  g_rand_free (rand);
}

/* ---- properties ---- */

static guint
count_warnings (GstHarness *h, GstBus *bus, const gchar *needle)
{
  GstMessage *message;
  guint n = 0;

  while ((message = gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING))) {
    GError *error;

    gst_message_parse_warning (message, &error, NULL);
    n += strstr (error->message, needle) != NULL;
    g_error_free (error);
    gst_message_unref (message);
  }
  return n;
}

CUV_TEST (test_invalid_while_playing)
{
  g_autoptr (GstHarness) h = harness_new ("json-lines");
  GstBus *bus = cuv_harness_watch (h);
  gchar *tags, *file_path;

  g_object_set (h->element, "tags", "{\"a\":1}", NULL);
  g_object_set (h->element, "tags", "[1]", NULL);
  fail_unless_equals_int (count_warnings (h, bus, "tags"), 1);
  g_object_set (h->element, "file-path", "/elsewhere", NULL);
  fail_unless_equals_int (count_warnings (h, bus, "file-path"), 1);
  g_object_get (h->element, "tags", &tags, "file-path", &file_path, NULL);
  fail_unless_equals_string (tags, "{\"a\":1}");
  fail_unless_equals_string (file_path, path);
  g_free (tags);
  g_free (file_path);
  cuv_harness_unwatch (h, bus);
}

CUV_TEST (test_invalid_at_start)
{
  g_autoptr (GstElement) element =
      gst_element_factory_make ("visionpublish", NULL);

  g_object_set (element, "file-path", path, "tags", "{'a':1}", NULL);
  fail_unless_equals_int (gst_element_set_state (element, GST_STATE_PAUSED),
      GST_STATE_CHANGE_FAILURE);
  g_object_set (element, "tags", "{\"a\":1}", NULL);
  fail_unless_equals_int (gst_element_set_state (element, GST_STATE_PAUSED),
      GST_STATE_CHANGE_SUCCESS);
  gst_element_set_state (element, GST_STATE_NULL);
}

CUV_TEST (test_stats)
{
  g_autoptr (GstHarness) h = harness_new ("json-lines");
  GstStructure *stats;
  guint64 frames, records, dropped, bytes;
  guint queue;
  g_autofree gchar *text = NULL;

  for (guint i = 0; i < 10; i++) {
    GstBuffer *buffer = frame_new (i);

    if (i % 2)
      add_lines (buffer, 2, 640);
    push (h, buffer);
  }
  gst_harness_push_event (h, gst_event_new_eos ());
  g_object_get (h->element, "stats", &stats, NULL);
  fail_unless (gst_structure_get (stats, "frames", G_TYPE_UINT64, &frames,
      "records", G_TYPE_UINT64, &records, "dropped", G_TYPE_UINT64, &dropped,
      "bytes", G_TYPE_UINT64, &bytes, "queue", G_TYPE_UINT, &queue, NULL));
  fail_unless_equals_int (frames, 10);
  fail_unless_equals_int (records, 5);
  fail_unless_equals_int (dropped, 0);
  fail_unless_equals_int (queue, 0);
  fail_unless (g_file_get_contents (path, &text, NULL, NULL));
  fail_unless_equals_int (bytes, strlen (text));
  gst_structure_free (stats);
}

CUV_FIXTURE (set_up, tear_down)
