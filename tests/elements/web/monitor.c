/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What /health and /metrics of visionwebsink say of chosen frames, and health's
 * status by a clock of its own. monitoring.py tests them in pipelines that
 * play. */
#include "gstcuvmeta.h"
#include "health.h"
#include "watch.h"

#define CAPS "video/x-raw,format=NV12,width=64,height=48,framerate=30/1"
#define S G_USEC_PER_SEC
#define LIMIT (5 * S)

/* ---- health ---- */

static void
expect_status (const CuvWebHealth *health, gboolean playing, gint64 now,
    CuvWebStatus expected, gint64 expected_since)
{
  gint64 since;
  const CuvWebStatus status =
      cuv_web_health_get (health, playing, now, LIMIT, &since);

  fail_unless (status == expected, "%s", cuv_web_status_name (status));
  fail_unless_equals_int64 (since, expected_since);
}

CUV_TEST (health_of_a_stream)
{
  CuvWebHealth health = { 0 };

  cuv_web_health_begin (&health, TRUE, 1 * S);
  expect_status (&health, FALSE, 100 * S, CUV_WEB_STOPPED, 1 * S);
  cuv_web_health_begin (&health, FALSE, 100 * S);
  expect_status (&health, FALSE, 200 * S, CUV_WEB_PAUSED, 100 * S);
  cuv_web_health_begin (&health, FALSE, 200 * S);
  expect_status (&health, TRUE, 204 * S, CUV_WEB_STARTING, 200 * S);
  expect_status (&health, TRUE, 205 * S - 1, CUV_WEB_STARTING, 200 * S);
  expect_status (&health, TRUE, 205 * S, CUV_WEB_STALLED, 200 * S);
  for (gint64 t = 210; t < 220; t++)
    cuv_web_health_frame (&health, t * S, LIMIT);
  expect_status (&health, TRUE, 219 * S, CUV_WEB_RECEIVING, 210 * S);
  expect_status (&health, TRUE, 224 * S - 1, CUV_WEB_RECEIVING, 210 * S);
  expect_status (&health, TRUE, 224 * S, CUV_WEB_STALLED, 219 * S);
  cuv_web_health_frame (&health, 230 * S, LIMIT);
  expect_status (&health, TRUE, 231 * S, CUV_WEB_RECEIVING, 230 * S);
  cuv_web_health_end (&health, 232 * S);
  expect_status (&health, TRUE, 999 * S, CUV_WEB_ENDED, 232 * S);
}

CUV_TEST (health_after_a_pause_and_a_seek)
{
  CuvWebHealth health = { 0 };

  cuv_web_health_begin (&health, FALSE, 10 * S);
  cuv_web_health_frame (&health, 11 * S, LIMIT);
  cuv_web_health_begin (&health, FALSE, 12 * S);
  expect_status (&health, FALSE, 1000 * S, CUV_WEB_PAUSED, 12 * S);
  cuv_web_health_restart (&health, 500 * S);
  expect_status (&health, FALSE, 1000 * S, CUV_WEB_PAUSED, 12 * S);
  /* a long pause is not a gap between frames */
  cuv_web_health_begin (&health, FALSE, 1000 * S);
  expect_status (&health, TRUE, 1001 * S, CUV_WEB_STARTING, 1000 * S);
  cuv_web_health_frame (&health, 1002 * S, LIMIT);
  expect_status (&health, TRUE, 1003 * S, CUV_WEB_RECEIVING, 1002 * S);
  cuv_web_health_end (&health, 1004 * S);
  cuv_web_health_restart (&health, 2000 * S);
  expect_status (&health, TRUE, 2001 * S, CUV_WEB_STARTING, 2000 * S);
  expect_status (&health, TRUE, 2005 * S, CUV_WEB_STALLED, 2000 * S);
}

/* ---- frames ---- */

static GstHarness *
harness_new (GstElement *element)
{
  GstHarness *h = gst_harness_new_with_element (element, "sink", NULL);

  g_object_set (element, "sync", FALSE, NULL);
  gst_harness_set_src_caps_str (h, CAPS);
  return h;
}

static gchar *
get (GstElement *element, const gchar *path)
{
  GSocketConnection *client = web_request (element, path);
  GBytes *body = web_read_body (client);
  gsize size;
  const gchar *data = g_bytes_get_data (body, &size);
  gchar *text = g_strndup (data, size);

  g_bytes_unref (body);
  g_object_unref (client);
  return text;
}

static void
expect_lines (const gchar *text, const gchar *const *lines)
{
  for (; *lines != NULL; lines++) {
    g_autofree gchar *line = g_strdup_printf ("\n%s\n", *lines);

    fail_unless (strstr (text, line) != NULL, "no line %s in %s", *lines, text);
  }
}

static void
add_objects (GstBuffer *buffer, const gchar *const *labels)
{
  for (; *labels != NULL; labels++)
    gst_buffer_add_video_region_of_interest_meta (
        buffer, *labels, 1, 2, 10, 10);
}

static void
push (GstHarness *h, GstBuffer *buffer)
{
  fail_unless_equals_int (gst_harness_push (h, buffer), GST_FLOW_OK);
}

static void
push_objects (GstHarness *h, const gchar *const *labels)
{
  GstBuffer *buffer = cuv_frame_new ("NV12", 64, 48);

  add_objects (buffer, labels);
  push (h, buffer);
}

/* Frames before the first request are not looked at. */
CUV_TEST (objects_by_label)
{
  static const gchar *const two[] = { "face", "a \"b\"\\\n", "face", NULL };
  static const gchar *const one[] = { "face", NULL };
  static const gchar *const lines[] = {
    "cuvision_web_frame_objects{path=\"/\",label=\"face\"} 1",
    "cuvision_web_frame_objects{path=\"/\",label=\"a \\\"b\\\"\\\\\\n\"} 0",
    "cuvision_web_objects_total{path=\"/\",label=\"face\"} 3",
    "cuvision_web_objects_total{path=\"/\",label=\"a \\\"b\\\"\\\\\\n\"} 1",
    "cuvision_web_frames_total{path=\"/\"} 3",
    "# TYPE cuvision_web_objects_total counter",
    NULL,
  };
  g_autoptr (GstElement) element = web_sink_new (NULL);
  g_autoptr (GstHarness) h = harness_new (element);
  g_autofree gchar *before = NULL, *after = NULL;

  push_objects (h, two);
  before = get (element, "/metrics");
  fail_unless (strstr (before, "objects") == NULL, "%s", before);
  push_objects (h, two);
  push_objects (h, one);
  after = get (element, "/metrics");
  expect_lines (after, lines);
}

/* Prometheus refuses a page with the same sample twice. */
CUV_TEST (labels_that_are_not_utf8)
{
  static const gchar *const labels[] = { "\xff", "\xfe", NULL };
  static const gchar *const lines[] = {
    "cuvision_web_objects_total{path=\"/\",label=\"\xef\xbf\xbd\"} 2",
    NULL,
  };
  g_autoptr (GstElement) element = web_sink_new (NULL);
  g_autoptr (GstHarness) h = harness_new (element);
  g_autofree gchar *text = NULL;

  g_free (get (element, "/metrics"));
  push_objects (h, labels);
  text = get (element, "/metrics");
  expect_lines (text, lines);
}

CUV_TEST (many_labels)
{
  g_autoptr (GstElement) element = web_sink_new (NULL);
  g_autoptr (GstHarness) h = harness_new (element);
  GstBuffer *buffer = cuv_frame_new ("NV12", 64, 48);
  g_autofree gchar *text = NULL;
  static const gchar *const lines[] = {
    "cuvision_web_objects_total{path=\"/\",label=\"n255\"} 1",
    "cuvision_web_objects_total{path=\"/\",label=\"other\"} 44",
    NULL,
  };

  g_free (get (element, "/metrics"));
  for (guint i = 0; i < 300; i++) {
    const gchar *label[] = { g_strdup_printf ("n%u", i), NULL };

    add_objects (buffer, label);
    g_free ((gchar *) label[0]);
  }
  push (h, buffer);
  text = get (element, "/metrics");
  expect_lines (text, lines);
  fail_unless (strstr (text, "n256") == NULL);
}

/* ---- tables ---- */

typedef struct __attribute__ ((packed)) {
  guint32 zone, label;
  guint32 inside;
  guint64 in;
  gfloat not ;
  guint32 same;
} Row;

/* A table as a family that the sink does not know would write it. */
static void
add_zones (GstBuffer *buffer, guint64 in)
{
  static const GstCuvColumn columns[] = {
    { "zone", GST_CUV_TYPE_TEXT }, { "path", GST_CUV_TYPE_TEXT },
    { "inside", GST_CUV_TYPE_U32 }, { "in", GST_CUV_TYPE_U64 },
    { "not", GST_CUV_TYPE_F32 },
    { "Zone", GST_CUV_TYPE_TEXT }, /* the same label as zone */
  };
  static const gchar *const texts[] = { "door \"A\"", "person", "car" };
  const Row rows[] = {
    { 0, 1, 2, in, 0.5f, 2 }, { 0, 2, 0, 7, 0, 2 },
    { 0, 1, 99, 99, 99, 2 }, /* the same texts as the first */
  };
  GstStructure *table = gst_cuv_meta_add_table (buffer, "zones", 1, 64, 48,
      "none", columns, G_N_ELEMENTS (columns), rows, G_N_ELEMENTS (rows));

  gst_cuv_meta_set_texts (table, texts, G_N_ELEMENTS (texts));
  gst_structure_set (
      table, "metrics", G_TYPE_STRING, "inside in:counter nothing zone", NULL);
}

CUV_TEST (columns_of_tables)
{
  static const gchar *const lines[] = {
    "cuvision_web_frame_rows{path=\"/\",table=\"zones\"} 3",
    "cuvision_web_rows_total{path=\"/\",table=\"zones\"} 6",
    "# HELP cuvision_table_zones_inside Column inside of the newest table "
    "zones.",
    "# TYPE cuvision_table_zones_inside gauge",
    "cuvision_table_zones_inside{path=\"/\",zone=\"door \\\"A\\\"\","
    "exported_path=\"person\"} 2",
    "cuvision_table_zones_inside{path=\"/\",zone=\"door \\\"A\\\"\","
    "exported_path=\"car\"} 0",
    "# TYPE cuvision_table_zones_in_total counter",
    "cuvision_table_zones_in_total{path=\"/\",zone=\"door \\\"A\\\"\","
    "exported_path=\"person\"} 6",
    NULL,
  };
  g_autoptr (GstElement) element = web_sink_new (NULL);
  g_autoptr (GstHarness) h = harness_new (element);
  g_autofree gchar *text = NULL;

  g_free (get (element, "/metrics"));
  for (guint64 in = 5; in < 7; in++) {
    GstBuffer *buffer = cuv_frame_new ("NV12", 64, 48);

    add_zones (buffer, in);
    push (h, buffer);
  }
  text = get (element, "/metrics");
  expect_lines (text, lines);
  fail_unless (strstr (text, "} 99\n") == NULL, "%s", text);
  fail_unless (strstr (text, "zones_not") == NULL, "%s", text);
  fail_unless (strstr (text, "zones_zone") == NULL, "%s", text);
  g_free (text);
  push (h, cuv_frame_new ("NV12", 64, 48)); /* the newest table stays */
  text = get (element, "/metrics");
  expect_lines (text, lines + 2);
}

/* The copy of a table must not keep a frame of a pool. */
CUV_TEST (keeps_no_frame)
{
  g_autoptr (GstElement) element = web_sink_new (NULL);
  g_autoptr (GstHarness) h = harness_new (element);
  g_autoptr (GstBuffer) buffer = cuv_frame_new ("NV12", 64, 48);
  g_autofree gchar *text = NULL;

  g_free (get (element, "/metrics"));
  add_zones (buffer, 1);
  push (h, gst_buffer_ref (buffer));
  fail_unless_equals_int (GST_MINI_OBJECT_REFCOUNT_VALUE (buffer), 1);
  text = get (element, "/metrics");
  fail_unless (strstr (text, "cuvision_table_zones_inside") != NULL);
  fail_unless_equals_int (GST_MINI_OBJECT_REFCOUNT_VALUE (buffer), 1);
}

CUV_TEST (ends_and_restarts)
{
  g_autoptr (GstElement) element = web_sink_new ("health-timeout=86400");
  g_autoptr (GstHarness) h = harness_new (element);
  static const struct {
    const gchar *status;
    gboolean healthy;
  } steps[] = { { "starting", 1 }, { "receiving", 1 }, { "ended", 0 },
    { "starting", 1 }, { "receiving", 1 } };

  for (guint i = 0; i < G_N_ELEMENTS (steps); i++) {
    g_autofree gchar *health = NULL, *metrics = NULL, *expected = NULL;

    if (i == 1 || i == 4)
      push (h, cuv_frame_new ("NV12", 64, 48));
    else if (i == 2)
      fail_unless (gst_harness_push_event (h, gst_event_new_eos ()));
    else if (i == 3)
      cuv_harness_flush (h);
    health = get (element, "/health");
    expected = g_strdup_printf ("\"status\":\"%s\"", steps[i].status);
    fail_unless (strstr (health, expected) != NULL, "%s: %s", expected, health);
    metrics = get (element, "/metrics");
    fail_unless (strstr (metrics,
        steps[i].healthy ? "cuvision_web_healthy{path=\"/\"} 1\n"
                         : "cuvision_web_healthy{path=\"/\"} 0\n"));
  }
}
