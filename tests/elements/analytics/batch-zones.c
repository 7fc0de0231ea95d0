/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* visionzones in batches: each stream has the counts that it has alone. */
#include "config.h"
#include "batches.h"

#define N_STREAMS 3
#define N_FRAMES 20
#define W 200
#define H 100

#define GATE "{\"name\": \"gate\", \"line\": [[0.5, 0], [0.5, 1]]%s}"
#define LEFT                                                                   \
  "{\"name\": \"left\", \"polygon\": [[0, 0], [0.4, 0], [0.4, 1], [0, 1]]%s}"
#define RIGHT                                                                  \
  "{\"name\": \"%s\", \"polygon\": [[0.6, 0], [1, 0], [1, 1], [0.6, 1]]%s}"

/* Adds an object of 20 x 20 pixels with a track. */
static void
add_object (GstBuffer *frame, gint id, gint x)
{
  GstVideoInfo info;
  GstCuvWriter writer = { .buffer = frame, .info = &info };
  GstCuvObject object;

  gst_video_info_set_format (&info, GST_VIDEO_FORMAT_GRAY8, W, H);
  object = gst_cuv_meta_add_object (&writer, gst_cuv_meta_next_id (frame),
      "person", (guint) x, 40, 20, 20, 0.9, NULL);
  gst_cuv_meta_set_track (&writer, &object, id, GST_CLOCK_TIME_NONE, 0);
}

/* Returns a frame of a stream. The same ids go different ways in each. */
static GstBuffer *
film (guint stream, guint number)
{
  GstBuffer *frame = batch_frame (number);

  add_object (frame, 1, (gint) (10 * (stream + 1) * number) % (W - 20));
  if (number % 10 < 4 + stream)
    add_object (frame, 2, 150 - 30 * (gint) stream);
  return frame;
}

static GstHarness *
zones_harness (const gchar *zones, gboolean in_batches)
{
  g_autofree gchar *text = g_strdup_printf ("{\"zones\": [%s]}", zones);
  GstHarness *h = in_batches ? batch_harness ("visionzones")
                             : gst_harness_new_parse ("visionzones");

  g_autoptr (GstElement) element = gst_harness_find_element (h, "visionzones");
  g_object_set (element, "zones", text, "hysteresis", 1, NULL);
  return h;
}

/* Appends all tables of a frame as text. */
static void
append_tables (GString *text, GstBuffer *frame)
{
  gpointer state = NULL;
  GstCuvTable table;

  while (gst_cuv_meta_next_table (frame, &state, &table)) {
    g_string_append_printf (text, "%s:", table.kind);
    for (guint i = 0; i < table.n_rows * table.n_columns; i++) {
      const guint row = i / table.n_columns, column = i % table.n_columns;
      const gchar *cell = gst_cuv_table_text (&table, row, column);

      if (cell != NULL)
        g_string_append_printf (text, " %s", cell);
      else
        g_string_append_printf (
            text, " %g", gst_cuv_table_double (&table, row, column));
    }
    g_string_append_c (text, '\n');
  }
}

/* ---- as without a batch ---- */

static void
count_alone (guint stream, const gchar *zones, GString *text)
{
  g_autoptr (GstHarness) h = zones_harness (zones, FALSE);

  gst_harness_push_event (h, gst_event_new_stream_start ("alone"));
  gst_harness_push_event (h, caps_event (W, H + (gint) stream));
  gst_harness_push_event (h, segment_event (0));
  for (guint i = 0; i < N_FRAMES; i++) {
    GstBuffer *frame = push (h, film (stream, i));

    append_tables (text, frame);
    gst_buffer_unref (frame);
  }
}

static void
count_batches (const gchar *zones, GString **texts)
{
  g_autoptr (GstHarness) h = zones_harness (zones, TRUE);

  for (guint i = 0; i < N_FRAMES; i += 2) {
    GstBuffer *batch = batch_new (N_STREAMS);

    for (guint k = 0; k < N_STREAMS; k++) {
      batch_begin (batch, k, W, H + (gint) k, 0);
      batch_append (batch, k, film (k, i));
      batch_append (batch, k, film (k, i + 1));
    }
    batch = push (h, batch);
    for (guint k = 0; k < N_STREAMS; k++) {
      append_tables (texts[k], batch_nth (batch, k, 0));
      append_tables (texts[k], batch_nth (batch, k, 1));
    }
    gst_buffer_unref (batch);
  }
}

/* Fails the test unless batches have the results of the streams alone, whose
 * zones are given for each. */
static void
compare (const gchar *zones, const gchar *const *zones_alone)
{
  GString *batched[N_STREAMS];

  for (guint k = 0; k < N_STREAMS; k++)
    batched[k] = g_string_new (NULL);
  count_batches (zones, batched);
  for (guint k = 0; k < N_STREAMS; k++) {
    g_autoptr (GString) alone = g_string_new (NULL);

    count_alone (k, zones_alone[k], alone);
    fail_unless (strstr (alone->str, "zone_events: enter") != NULL);
    ck_assert_str_eq (batched[k]->str, alone->str);
    g_string_free (batched[k], TRUE);
  }
}

CUV_TEST (streams_have_the_counts_that_they_have_alone)
{
  g_autofree gchar *zones = g_strdup_printf (GATE "," LEFT, "", "");

  compare (zones, (const gchar *const[]){ zones, zones, zones });
}

CUV_TEST (zones_of_one_stream)
{
  g_autofree gchar *zones =
      g_strdup_printf (LEFT "," GATE "," RIGHT "," RIGHT, ", \"stream\": 0", "",
          "left", ", \"stream\": 1", "right", ", \"stream\": 2");
  g_autofree gchar *first = g_strdup_printf (LEFT "," GATE, "", "");
  g_autofree gchar *second = g_strdup_printf (GATE "," RIGHT, "", "left", "");
  g_autofree gchar *third = g_strdup_printf (GATE "," RIGHT, "", "right", "");

  compare (zones, (const gchar *const[]){ first, second, third });
}

/* Frames that are not in a batch are those of stream 0. */
CUV_TEST (zones_of_other_streams_are_not_used)
{
  g_autofree gchar *zones = g_strdup_printf (
      LEFT "," RIGHT, ", \"stream\": 0", "left", ", \"stream\": 1");
  g_autofree gchar *left = g_strdup_printf (LEFT, "");
  g_autoptr (GString) found = g_string_new (NULL);
  g_autoptr (GString) expected = g_string_new (NULL);

  count_alone (0, zones, found);
  count_alone (0, left, expected);
  ck_assert_str_eq (found->str, expected->str);
}

/* ---- changes ---- */

/* Pushes a batch of two streams with an object at the same place. */
static GstBuffer *
push_pair (GstHarness *h, guint number, GstEvent *event)
{
  GstBuffer *batch = batch_new (2);

  for (guint k = 0; k < 2; k++) {
    GstBuffer *frame = batch_frame (number);

    add_object (frame, 1, 10);
    batch_begin (batch, k, W, H, 0);
    batch_append (batch, k, frame);
  }
  if (event != NULL)
    batch_append (batch, 1, event);
  return push (h, batch);
}

static gboolean
has_part (GstBuffer *batch, guint stream, const gchar *part)
{
  g_autoptr (GString) text = g_string_new (NULL);

  append_tables (text, batch_nth (batch, stream, 0));
  return strstr (text->str, part) != NULL;
}

CUV_TEST (a_flush_of_one_stream)
{
  g_autofree gchar *zones = g_strdup_printf (LEFT, "");
  g_autoptr (GstHarness) h = zones_harness (zones, TRUE);
  GstEvent *flush = gst_event_new_flush_stop (TRUE);

  gst_buffer_unref (push_pair (h, 0, NULL));
  for (guint i = 1; i < 4; i++) {
    GstBuffer *batch = push_pair (h, i, i == 1 ? flush : NULL);

    fail_if (has_part (batch, 0, "enter"));
    fail_unless (has_part (batch, 1, "enter") == (i == 2));
    fail_unless (has_part (batch, 0, "zones: left polygon 1 1 0"));
    fail_unless (has_part (batch, 1,
        i == 1 ? "zones: left polygon 1 1 0" : "zones: left polygon 1 2 0"));
    gst_buffer_unref (batch);
  }
}

CUV_TEST (new_zones_are_those_of_all_streams)
{
  g_autofree gchar *before = g_strdup_printf (LEFT, "");
  g_autofree gchar *after =
      g_strdup_printf ("{\"zones\": [" RIGHT "," LEFT "]}", "right", "", "");
  g_autoptr (GstHarness) h = zones_harness (before, TRUE);
  g_autoptr (GstElement) element = gst_harness_find_element (h, "visionzones");
  GstBuffer *batch;

  gst_buffer_unref (push_pair (h, 0, NULL));
  ck_assert_uint_eq (cuv_stat_uint (element, "zones"), 2);
  g_object_set (element, "zones", after, NULL);
  batch = push_pair (h, 1, NULL);
  for (guint k = 0; k < 2; k++)
    fail_unless (
        has_part (batch, k, "zones: right polygon 0 0 0 left polygon 1 1 0"));
  gst_buffer_unref (batch);
  ck_assert_uint_eq (cuv_stat_uint (element, "zones"), 4);
  ck_assert_uint_eq (cuv_stat (element, "frames"), 4);
  ck_assert_uint_eq (cuv_stat (element, "events"), 2);
}

CUV_TEST (messages_name_the_stream)
{
  g_autofree gchar *zones = g_strdup_printf (LEFT, "");
  g_autoptr (GstHarness) h = zones_harness (zones, TRUE);
  GstBus *bus = cuv_harness_watch (h);

  gst_buffer_unref (push_pair (h, 0, NULL));
  for (guint k = 0; k < 2; k++) {
    g_autoptr (GstMessage) message =
        gst_bus_pop_filtered (bus, GST_MESSAGE_ELEMENT);
    guint number = 2;

    fail_unless (gst_structure_get_uint (
        gst_message_get_structure (message), "stream", &number));
    ck_assert_uint_eq (number, k);
  }
  cuv_harness_unwatch (h, bus);
}

/* ---- the batch ---- */

CUV_TEST (shared_frames_and_other_streams_stay_as_they_are)
{
  g_autofree gchar *zones = g_strdup_printf (LEFT, "");
  g_autoptr (GstHarness) h = zones_harness (zones, TRUE);
  GstBuffer *batch = batch_new (2), *other;

  batch_begin (batch, 0, W, H, 0);
  batch_append (batch, 0, film (0, 0));
  batch_append (batch, 1, film (1, 0)); /* without caps */
  other = gst_buffer_copy (batch);
  batch = push (h, batch);
  fail_unless (has_part (batch, 0, "zones"));
  fail_if (has_part (other, 0, "zones"));
  fail_if (has_part (batch, 1, "zones"));
  fail_unless (batch_nth (batch, 1, 0) == batch_nth (other, 1, 0));
  gst_buffer_unref (other);
  gst_buffer_unref (batch);
  gst_buffer_unref (push (h, gst_buffer_new ()));
}
