/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* visionzones: events as messages and tables, counts, errors, changes while
 * playing, any memory. */
#include "config.h"
#include "cuvelements.h"

#include "gstcuvmeta.h"

#define W 200
#define H 100
#define FRAME (GST_SECOND / 10)

#define GATE "{\"name\": \"gate\", \"line\": [[0, 0.5], [1, 0.5]]}"
#define LEFT                                                                   \
  "{\"name\": \"left\", \"polygon\": [[0, 0], [0.5, 0], [0.5, 1], [0, 1]]}"
#define ZONES(list) "{\"zones\": [" list "]}"

static const GstVideoInfo *
video_info (void)
{
  static GstVideoInfo info;

  gst_video_info_set_format (&info, GST_VIDEO_FORMAT_GRAY8, W, H);
  return &info;
}

static GstBuffer *
frame_new (guint number)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, 4, NULL);

  GST_BUFFER_PTS (buffer) = number * FRAME;
  GST_BUFFER_DURATION (buffer) = FRAME;
  return buffer;
}

/* Adds an object of 20 x 20 pixels that stands on x, y; id 0: no track. */
static void
add_object (GstBuffer *buffer, gint id, const gchar *label, gint x, gint y)
{
  GstCuvObject object = gst_cuv_meta_add_object (
      &(GstCuvWriter){ .buffer = buffer, .info = video_info () },
      gst_cuv_meta_next_id (buffer), label, (guint) (x - 10), (guint) (y - 20),
      20, 20, 0.9, NULL);

  if (id > 0)
    gst_cuv_meta_set_track (
        &(GstCuvWriter){ .buffer = buffer, .info = video_info () }, &object, id,
        GST_CLOCK_TIME_NONE, 0);
}

static GstHarness *
harness_new (const gchar *zones)
{
  GstHarness *h = gst_harness_new ("visionzones");

  g_object_set (h->element, "zones", zones, "hysteresis", 1, NULL);
  cuv_harness_caps (h, "GRAY8", W, H);
  return h;
}

/* Pushes a frame with one object and returns the result. */
static GstBuffer *
push (GstHarness *h, guint number, gint id, gint x, gint y)
{
  GstBuffer *buffer = frame_new (number), *out;

  if (id >= 0)
    add_object (buffer, id, "person", x, y);
  out = gst_harness_push_and_pull (h, buffer);
  fail_unless (out != NULL);
  ck_assert_uint_eq (GST_BUFFER_PTS (out), number * FRAME);
  return out;
}

static gboolean
find_table (GstBuffer *buffer, const gchar *kind, GstCuvTable *table)
{
  gpointer state = NULL;

  while (gst_cuv_meta_next_table (buffer, &state, table)) {
    if (strcmp (table->kind, kind) == 0)
      return TRUE;
  }
  return FALSE;
}

/* Returns a cell of the row whose column zone has this text, or -1. */
static gint64
cell (GstBuffer *buffer, const gchar *kind, const gchar *zone,
    const gchar *column)
{
  GstCuvTable table;

  if (!find_table (buffer, kind, &table))
    return -1;
  for (guint i = 0; i < table.n_rows; i++) {
    if (strcmp (gst_cuv_table_text (
                    &table, i, (guint) gst_cuv_table_column (&table, "zone")),
            zone)
        == 0)
      return gst_cuv_table_int (
          &table, i, (guint) gst_cuv_table_column (&table, column));
  }
  return -1;
}

/* Fails the test unless the totals are metrics, each of an existing column. */
static void
expect_metrics (GstBuffer *buffer)
{
  GstCuvTable table;
  g_auto (GStrv) names = NULL;

  fail_unless (find_table (buffer, "zones", &table));
  names = g_strsplit (
      gst_structure_get_string (table.structure, "metrics"), " ", -1);
  ck_assert_uint_eq (g_strv_length (names), 3);
  for (gchar **name = names; *name != NULL; name++)
    ck_assert_int_ge (gst_cuv_table_column (&table, strtok (*name, ":")), 0);
}

/* Fails the test unless the next message is this event. */
static void
expect_event (GstBus *bus, const gchar *event, const gchar *zone, gint64 id,
    const gchar *direction, guint frame)
{
  GstMessage *message = gst_bus_pop_filtered (bus, GST_MESSAGE_ELEMENT);
  const GstStructure *s;
  guint64 time;
  gint64 found = -1;

  fail_unless (message != NULL, "no %s", event);
  s = gst_message_get_structure (message);
  fail_unless (gst_structure_has_name (s, "visionzones"));
  ck_assert_str_eq (gst_structure_get_string (s, "event"), event);
  ck_assert_str_eq (gst_structure_get_string (s, "zone"), zone);
  gst_structure_get_int64 (s, "id", &found);
  ck_assert_int_eq (found, id);
  fail_unless (gst_structure_get_uint64 (s, "stream-time", &time));
  ck_assert_uint_eq (time, frame * FRAME);
  if (direction == NULL)
    fail_if (gst_structure_has_field (s, "direction"));
  else
    ck_assert_str_eq (gst_structure_get_string (s, "direction"), direction);
  if (id >= 0)
    ck_assert_str_eq (gst_structure_get_string (s, "label"), "person");
  gst_message_unref (message);
}

static void
expect_no_event (GstBus *bus)
{
  fail_unless (gst_bus_pop_filtered (bus, GST_MESSAGE_ELEMENT) == NULL);
}

/* ---- counts and events ---- */

CUV_TEST (crossings)
{
  g_autoptr (GstHarness) h = harness_new (ZONES (GATE));
  GstBus *bus = cuv_harness_watch (h);
  GstBuffer *out;

  gst_buffer_unref (push (h, 0, 7, 50, 70));
  expect_no_event (bus);
  out = push (h, 1, 7, 50, 40);
  expect_event (bus, "cross", "gate", 7, "in", 1);
  expect_metrics (out);
  ck_assert_int_eq (cell (out, "zones", "gate", "in"), 1);
  ck_assert_int_eq (cell (out, "zone_counts", "gate", "in"), 1);
  ck_assert_int_eq (cell (out, "zone_events", "gate", "id"), 7);
  ck_assert_int_eq (cell (out, "zone_events", "gate", "time"), FRAME);
  gst_buffer_unref (out);
  out = push (h, 2, 7, 50, 80);
  expect_event (bus, "cross", "gate", 7, "out", 2);
  ck_assert_int_eq (cell (out, "zones", "gate", "in"), 1);
  ck_assert_int_eq (cell (out, "zones", "gate", "out"), 1);
  gst_buffer_unref (out);
  out = push (h, 3, 7, 60, 90);
  expect_no_event (bus);
  ck_assert_int_eq (cell (out, "zone_events", "gate", "id"), -1);
  gst_buffer_unref (out);
  ck_assert_uint_eq (cuv_stat (h->element, "events"), 2);
  cuv_harness_unwatch (h, bus);
}

CUV_TEST (visits)
{
  g_autoptr (GstHarness) h = harness_new (ZONES (LEFT));
  GstBus *bus = cuv_harness_watch (h);
  GstBuffer *out;

  g_object_set (
      h->element, "hysteresis", 2, "dwell", 0.25, "max-lost-frames", 1, NULL);
  gst_buffer_unref (push (h, 0, 3, 150, 50));
  gst_buffer_unref (push (h, 1, 3, 50, 50));
  expect_event (bus, "enter", "left", 3, "in", 1);
  gst_buffer_unref (push (h, 2, 3, 150, 50)); /* outside for one frame */
  out = push (h, 4, 3, 50, 50);
  expect_event (bus, "dwell", "left", 3, NULL, 4);
  ck_assert_int_eq (cell (out, "zone_objects", "left", "since"), FRAME);
  ck_assert_int_eq (cell (out, "zone_objects", "left", "dwell"), 3 * FRAME);
  ck_assert_int_eq (cell (out, "zones", "left", "inside"), 1);
  gst_buffer_unref (out);
  gst_buffer_unref (push (h, 5, -1, 0, 0)); /* missing for one frame */
  expect_no_event (bus);
  out = push (h, 6, -1, 0, 0); /* ended */
  expect_event (bus, "leave", "left", 3, "out", 6);
  ck_assert_int_eq (cell (out, "zones", "left", "inside"), 0);
  ck_assert_int_eq (cell (out, "zones", "left", "out"), 1);
  ck_assert_int_eq (cell (out, "zone_events", "left", "dwell"), 3 * FRAME);
  gst_buffer_unref (out);
  cuv_harness_unwatch (h, bus);
}

/* Objects without an id are inside, but have no events of their own. */
CUV_TEST (without_ids)
{
  g_autoptr (GstHarness) h = harness_new (ZONES (LEFT));
  GstBus *bus = cuv_harness_watch (h);
  GstBuffer *buffer = frame_new (0), *out;

  g_object_set (h->element, "crowd", 2, "labels", "person, car", NULL);
  add_object (buffer, 0, "person", 50, 50);
  add_object (buffer, 0, "car", 60, 50);
  add_object (buffer, 0, "dog", 70, 50);
  out = gst_harness_push_and_pull (h, buffer);
  ck_assert_int_eq (cell (out, "zones", "left", "inside"), 2);
  ck_assert_int_eq (cell (out, "zones", "left", "in"), 0);
  ck_assert_int_eq (cell (out, "zone_objects", "left", "id"), -1);
  ck_assert_int_eq (cell (out, "zone_events", "left", "count"), 2);
  expect_event (bus, "crowd", "left", -1, NULL, 0);
  expect_no_event (bus);
  ck_assert_uint_eq (cuv_stat (h->element, "untracked"), 3);
  gst_buffer_unref (out);
  cuv_harness_unwatch (h, bus);
}

CUV_TEST (no_messages)
{
  g_autoptr (GstHarness) h = harness_new (ZONES (LEFT));
  GstBus *bus = cuv_harness_watch (h);

  cuv_element_set (h->element, "message=none");
  gst_buffer_unref (push (h, 0, 3, 50, 50));
  expect_no_event (bus);
  ck_assert_uint_eq (cuv_stat (h->element, "events"), 1);
  cuv_harness_unwatch (h, bus);
}

CUV_TEST (heat)
{
  g_autoptr (GstHarness) h = harness_new (ZONES (LEFT));
  GstCuvTable table;
  GstBuffer *out;
  guint cell_size;

  g_object_set (h->element, "heat-cell", 50, "heat-half-life", 0.2,
      "heat-interval", 0.0, NULL);
  gst_buffer_unref (push (h, 0, 3, 60, 40));
  gst_buffer_unref (push (h, 1, 3, 60, 40));
  out = push (h, 3, 3, 160, 100);
  fail_unless (find_table (out, "zone_heat", &table));
  ck_assert_uint_eq (table.n_rows, 2);
  fail_unless (gst_structure_get_uint (table.structure, "cell", &cell_size));
  ck_assert_uint_eq (cell_size, 50);
  ck_assert_int_eq (gst_cuv_table_int (&table, 0, 0), 1);
  ck_assert_int_eq (gst_cuv_table_int (&table, 0, 1), 0);
  fail_unless (ABS (gst_cuv_table_double (&table, 0, 2) - 0.05) < 1e-6);
  ck_assert_int_eq (gst_cuv_table_int (&table, 1, 0), 3);
  ck_assert_int_eq (gst_cuv_table_int (&table, 1, 1), 1);
  fail_unless (ABS (gst_cuv_table_double (&table, 1, 2) - 0.2) < 1e-6);
  gst_buffer_unref (out);
}

/* ---- changes while playing ---- */

CUV_TEST (other_zones_keep_counts)
{
  g_autoptr (GstHarness) h = harness_new (ZONES (LEFT "," GATE));
  GstBuffer *out;

  gst_buffer_unref (push (h, 0, 1, 50, 70));
  gst_buffer_unref (push (h, 1, 1, 50, 40));
  g_object_set (h->element, "zones",
      ZONES (GATE ", {\"name\": \"new\", \"line\": [[0, 0], [1, 1]]}," LEFT),
      NULL);
  out = push (h, 2, 1, 50, 70);
  ck_assert_int_eq (cell (out, "zones", "gate", "in"), 1);
  ck_assert_int_eq (cell (out, "zones", "gate", "out"), 1);
  ck_assert_int_eq (cell (out, "zones", "left", "in"), 1);
  ck_assert_int_eq (cell (out, "zones", "left", "inside"), 1);
  ck_assert_int_eq (cell (out, "zone_objects", "left", "since"), 0);
  ck_assert_int_eq (cell (out, "zones", "new", "in"), 0);
  gst_buffer_unref (out);
}

CUV_TEST (bad_zones_are_refused)
{
  static const gchar *const bad[][2] = {
    { "nonsense", "zones 'nonsense' is invalid" },
    { "{}", "expected {\"zones\": [...]}" },
    { ZONES (GATE "," GATE), "two zones are called 'gate'" },
    { ZONES (GATE ",{\"name\": \"gate\", \"line\": [[0, 0], [1, 1]], "
                  "\"stream\": 1}"),
        "two zones are called 'gate'" },
    { ZONES ("{\"name\": \"a\", \"line\": [[0, 0], [1, 1]], \"stream\": -1}"),
        "stream must be a number from 0" },
    { ZONES ("{\"line\": [[0, 0], [1, 1]]}"), "zone 1 has no name" },
    { ZONES ("{\"name\": \"a\"}"), "expected either \"polygon\" or \"line\"" },
    { ZONES ("{\"name\": \"a\", \"polygon\": [[0, 0], [1, 1]]}"),
        "zone 'a': a polygon has 3 to 256 points" },
    { ZONES ("{\"name\": \"a\", \"line\": [[0, 0], [1, \"1\"]]}"),
        "point 2 is not a pair of numbers" },
    { ZONES ("{\"name\": \"a\", \"line\": [[0, 0], [1, 400]]}"),
        "add \"units\": \"pixels\"" },
    { ZONES ("{\"name\": \"a\", \"line\": [[0, 0], [1, 1]], \"x\": 1}"),
        "unknown key 'x'" },
    { ZONES ("{\"name\": \"a\", \"line\": [[0, 0], [1, 1]], \"crowd\": -1}"),
        "crowd must be a number from 0" },
    { ZONES ("{\"name\": \"a\", \"line\": [[0, 0], [1, 1]], \"hysteresis\": "
             "\"x\"}"),
        "hysteresis must be a number from 1" },
    { ZONES ("{\"name\": \"a\", \"line\": [[0, 0], [1, 1]], \"anchor\": 1}"),
        "anchor must be bottom-center or center" },
    { ZONES ("{\"name\": \"a\", \"line\": [[0, 0], [0.0001, 0]]}"),
        "both points are the same in frames of 200x100" },
    { ZONES ("{\"name\": \"a\", \"polygon\": [[0, 0], [1, 1], [0.5, 0.5]]}"),
        "all points are on one line" },
  };
  g_autoptr (GstHarness) h = harness_new (ZONES (GATE));
  GstBus *bus = cuv_harness_watch (h);
  guint n = 0;

  gst_buffer_unref (push (h, n++, 1, 50, 70));
  gst_buffer_unref (push (h, n++, 1, 50, 40));
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    GstBuffer *out;

    g_object_set (h->element, "zones", bad[i][0], NULL);
    out = push (h, n++, 1, 50, 40);
    expect_problem (bus, GST_MESSAGE_WARNING, bad[i][1]);
    ck_assert_int_eq (cell (out, "zones", "gate", "in"), 1);
    gst_buffer_unref (out);
  }
  cuv_harness_unwatch (h, bus);
}

/* Every truncation of a text is refused; changed bytes are refused or used. */
CUV_TEST (damaged_texts)
{
  static const gchar text[] =
      "{\"units\": \"normalized\", \"zones\": [" GATE
      ", {\"name\": \"a\", \"polygon\": [[0, 0], [1, 0], [1.5, 1e0]], "
      "\"anchor\": \"any\", \"labels\": [\"person\"], \"hysteresis\": 2, "
      "\"dwell\": 3.5, \"crowd\": 4}]}";
  g_autoptr (GstHarness) h = harness_new (ZONES (GATE));
  GstBus *bus = cuv_harness_watch (h);
  guint n = 0;

  for (guint i = 0; i < sizeof text + 3000; i++) {
    g_autofree gchar *damaged = g_strdup (text);
    GstBuffer *out;

    if (i < sizeof text)
      damaged[i] = '\0';
    for (guint k = 0; i >= sizeof text && k <= i % 3; k++)
      damaged[g_random_int_range (0, sizeof text - 1)] =
          (gchar) g_random_int_range (1, 128);
    g_object_set (h->element, "zones", damaged, NULL);
    out = push (h, n++, 1, 50, 70);
    if (i > 0 && i + 1 < sizeof text) {
      expect_problem (bus, GST_MESSAGE_WARNING, "The previous value stays");
    }
    gst_bus_set_flushing (bus, TRUE);
    gst_bus_set_flushing (bus, FALSE);
    gst_buffer_unref (out);
  }
  cuv_harness_unwatch (h, bus);
}

CUV_TEST (a_bad_file)
{
  GstElement *element = gst_element_factory_make ("visionzones", NULL);

  g_object_set (element, "zones-location", "/no/such/zones.json", NULL);
  cuv_expect_no_start (
      element, "zones-location '/no/such/zones.json' cannot be used");
}

#define N_CHANGES 1000
static gint changing; /* atomic */

static gpointer
change_zones (gpointer element)
{
  for (guint i = 0; i < N_CHANGES; i++) {
    gchar *text = g_strdup_printf (
        "{\"zones\": [%s, {\"name\": \"z%u\", \"polygon\": [[0, 0], [0.%u, "
        "0], [0, 1]]}%s]}",
        i % 2 > 0 ? GATE : LEFT, i, i % 9 + 1, i % 2 > 0 ? "," LEFT : "," GATE);

    g_object_set (element, "zones", i % 10 == 9 ? "{" : text, NULL);
    g_free (text);
    g_usleep (100);
  }
  g_atomic_int_set (&changing, FALSE);
  return NULL;
}

CUV_TEST (a_thousand_changes)
{
  g_autoptr (GstHarness) h = harness_new (ZONES (GATE "," LEFT));
  GThread *thread;
  guint n = 0;
  gboolean more = TRUE;
  GstBuffer *out;

  gst_buffer_unref (push (h, n++, 1, 50, 70));
  g_atomic_int_set (&changing, TRUE);
  thread = g_thread_new ("changes", change_zones, h->element);
  while (more) { /* and one frame after the last change */
    more = g_atomic_int_get (&changing);
    out = push (h, n, 1, 50, n % 2 > 0 ? 40 : 70);
    ck_assert_int_eq (cell (out, "zones", "gate", "in"), (n + 1) / 2);
    ck_assert_int_eq (cell (out, "zones", "gate", "out"), n / 2);
    ck_assert_int_eq (cell (out, "zones", "left", "in"), 1);
    ck_assert_int_eq (cell (out, "zones", "left", "inside"), 1);
    if (!more) /* the last of the changes that were valid */
      ck_assert_int_eq (cell (out, "zones", "z998", "out"), 0);
    gst_buffer_unref (out);
    n++;
  }
  g_thread_join (thread);
  ck_assert_uint_eq (cuv_stat (h->element, "frames"), n);
}

/* ---- frames ---- */

CUV_TEST (another_size_moves_normalized_zones)
{
  g_autoptr (GstHarness) h = harness_new (ZONES (LEFT));
  GstCuvTable table;
  GstBuffer *out;

  gst_buffer_unref (push (h, 0, 1, 150, 50));
  cuv_harness_caps (h, "GRAY8", 2 * W, 2 * H);
  out = push (h, 1, 1, 150, 50);
  ck_assert_int_eq (cell (out, "zones", "left", "inside"), 1);
  fail_unless (find_table (out, "zone_outlines", &table));
  ck_assert_str_eq (table.shape, "segments");
  ck_assert_uint_eq (table.n_rows, 4);
  ck_assert_str_eq (gst_cuv_table_text (&table, 3,
                        (guint) gst_cuv_table_column (&table, "caption")),
      "left: 1 inside");
  ck_assert_uint_eq (table.width, 2 * W);
  gst_buffer_unref (out);
}

/* A shared buffer is not copied: only the memory's reference. */
CUV_TEST (any_memory)
{
  g_autoptr (GstHarness) h = gst_harness_new ("visionzones");
  GstBuffer *buffer = frame_new (0), *out;

  g_object_set (h->element, "zones", ZONES (LEFT), NULL);
  gst_harness_set_src_caps_str (h,
      "video/x-raw(memory:Unknown), format=NV12, width=200, height=100, "
      "framerate=10/1");
  add_object (buffer, 1, "person", 50, 50);
  gst_harness_push (h, gst_buffer_ref (buffer));
  out = gst_harness_pull (h);
  fail_unless (out != buffer);
  fail_unless (
      gst_buffer_peek_memory (out, 0) == gst_buffer_peek_memory (buffer, 0));
  ck_assert_int_eq (cell (out, "zones", "left", "in"), 1);
  ck_assert_int_eq (cell (buffer, "zones", "left", "in"), -1);
  gst_buffer_unref (out);
  gst_buffer_unref (buffer);
}

/* Tracks of before a flush have nothing to do with those after it. */
CUV_TEST (flush)
{
  g_autoptr (GstHarness) h = harness_new (ZONES (GATE));
  GstBuffer *out;

  gst_buffer_unref (push (h, 0, 1, 50, 70));
  gst_buffer_unref (push (h, 1, 1, 50, 40));
  cuv_harness_flush (h);
  gst_buffer_unref (push (h, 0, 1, 50, 70));
  out = push (h, 1, 1, 50, 40);
  ck_assert_int_eq (cell (out, "zones", "gate", "in"), 2);
  ck_assert_int_eq (cell (out, "zones", "gate", "out"), 0);
  gst_buffer_unref (out);
}
