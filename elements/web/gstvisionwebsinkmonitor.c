/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What /health and /metrics of a sink say. Called in the server's thread. */
#include "config.h"
#include "gstvisionwebsink.h"

#include "http/exposition.h"
#include "record/json.h"
#include "record/record.h"
#include "table-metrics.h"

#define PREFIX "cuvision_web_"
/* Difference of clocks that is ignored, in microseconds. */
#define MAX_DRIFT 100000

/* ---- status ---- */

static GstState
target_state (GstElement *element, gboolean *pending)
{
  GstState target;

  GST_OBJECT_LOCK (element);
  target = GST_STATE_TARGET (element);
  *pending = GST_STATE_RETURN (element) == GST_STATE_CHANGE_ASYNC;
  GST_OBJECT_UNLOCK (element);
  return target;
}

/* Whether the sink plays, or will when it has got its first frame: until then
 * only the pipeline knows. */
static gboolean
is_playing (GstElement *element)
{
  gboolean pending, unused;
  GstState target = target_state (element, &pending);
  GstObject *top = gst_object_ref (GST_OBJECT (element)), *parent;

  while (pending && (parent = gst_object_get_parent (top)) != NULL) {
    gst_object_unref (top);
    top = parent;
    target = MAX (target, target_state (GST_ELEMENT (top), &unused));
  }
  gst_object_unref (top);
  return target == GST_STATE_PLAYING;
}

typedef struct {
  CuvWebStatus status;
  gint64 since, received; /* microseconds since 1970; received 0: no frame */
} Status;

/* From monotonic time to Unix time. Changes only if the system's clock was set,
 * so that the same moment is always the same text. */
static gint64
wall_offset (GstVisionWebSink *self)
{
  const gint64 offset = g_get_real_time () - g_get_monotonic_time ();

  if (ABS (offset - self->wall_offset) > MAX_DRIFT)
    self->wall_offset = offset;
  return self->wall_offset;
}

static Status
get_status (GstVisionWebSink *self)
{
  const gboolean playing = is_playing (GST_ELEMENT (self));
  const gint64 offset = wall_offset (self);
  CuvWebHealth health;
  gdouble limit;
  Status found = { 0 };

  g_object_get (self, "health-timeout", &limit, NULL);
  GST_OBJECT_LOCK (self);
  health = self->health;
  GST_OBJECT_UNLOCK (self);
  found.status = cuv_web_health_get (&health, playing, g_get_monotonic_time (),
      (gint64) (limit * G_USEC_PER_SEC), &found.since);
  found.since += offset;
  if (health.received != 0)
    found.received = health.received + offset;
  return found;
}

static void
append_time (CuvJson *json, const gchar *key, gint64 time)
{
  gchar text[CUV_RECORD_TIME_SIZE];

  cuv_json_string_member (
      json, key, time != 0 ? cuv_record_time (text, time) : NULL);
}

gchar *
gst_vision_web_sink_health (gpointer data, gboolean *healthy)
{
  const Status found = get_status (data);
  CuvJson json;
  gchar *text;

  *healthy = cuv_web_status_is_healthy (found.status);
  cuv_json_init (&json);
  cuv_json_begin_object (&json);
  cuv_json_string_member (&json, "status", cuv_web_status_name (found.status));
  append_time (&json, "since", found.since);
  append_time (&json, "last_frame", found.received);
  cuv_json_end_object (&json);
  text = g_strdup_printf ("%s\n", json.text->str);
  cuv_json_clear (&json);
  return text;
}

/* ---- samples ---- */

typedef struct {
  GString *text;
  const gchar *path;
} Page;

/* Begins a sample. */
static void
begin_sample (Page *self, const gchar *name)
{
  cuv_exposition_sample (self->text, name);
  cuv_exposition_label (self->text, "path", self->path);
}

/* A metric with one sample. */
static void
append (Page *self, const gchar *name, const gchar *type, const gchar *help,
    gdouble value)
{
  cuv_exposition_metric (self->text, name, type, help);
  begin_sample (self, name);
  cuv_exposition_value (self->text, value);
}

static void
append_count (Page *self, const gchar *name, const gchar *help, guint64 value)
{
  append (self, name, "counter", help, (gdouble) value);
}

static void
append_number (Page *self, const gchar *name, const gchar *help, gdouble value)
{
  append (self, name, "gauge", help, value);
}

/* ---- the sink ---- */

static void
append_sink_info (Page *self, GstVisionWebSink *sink)
{
  gchar *source;

  g_object_get (sink, "source", &source, NULL);
  cuv_exposition_metric (self->text, PREFIX "info", "gauge",
      "Version of the sink, and its property source.");
  begin_sample (self, PREFIX "info");
  cuv_exposition_label (self->text, "source", source != NULL ? source : "");
  cuv_exposition_label (self->text, "version", VERSION);
  cuv_exposition_value (self->text, 1);
  g_free (source);
}

static void
append_status (Page *self, GstVisionWebSink *sink)
{
  const Status found = get_status (sink);

  append_number (self, PREFIX "healthy", "1 if /health answers 200, else 0.",
      cuv_web_status_is_healthy (found.status));
  cuv_exposition_metric (
      self->text, PREFIX "status", "gauge", "1 for the status of /health.");
  begin_sample (self, PREFIX "status");
  cuv_exposition_label (
      self->text, "status", cuv_web_status_name (found.status));
  cuv_exposition_value (self->text, 1);
  if (found.received != 0)
    append_number (self, PREFIX "last_frame_timestamp_seconds",
        "Unix time at which the newest frame arrived.",
        (gdouble) found.received / G_USEC_PER_SEC);
}

static guint64
count_dropped (GstVisionWebSink *sink)
{
  GstStructure *stats = gst_base_sink_get_stats (GST_BASE_SINK (sink));
  guint64 dropped = 0;

  gst_structure_get_uint64 (stats, "dropped", &dropped);
  gst_structure_free (stats);
  return dropped;
}

static void
append_frames (Page *self, GstVisionWebSink *sink)
{
  GstVisionWebCounts counts;
  guint64 frames;
  gdouble us;

  GST_OBJECT_LOCK (sink);
  gst_vision_web_sink_get_counts (sink, &counts);
  frames = sink->frames;
  us = sink->render_us;
  GST_OBJECT_UNLOCK (sink);
  append_count (self, PREFIX "frames_total", "Frames that arrived.", frames);
  append_count (self, PREFIX "frames_dropped_total",
      "Frames that were dropped because they were later than max-lateness.",
      count_dropped (sink));
  append_count (self, PREFIX "frames_encoded_total",
      "Frames that were compressed.", counts.encoder.encoded);
  append_count (self, PREFIX "frames_skipped_total",
      "Frames that were skipped because viewers were busy with others.",
      counts.encoder.skipped);
  append_count (self, PREFIX "frames_sent_total",
      "Frames that were sent, to all viewers together.", counts.sent.sent);
  append_count (self, PREFIX "sent_bytes_total", "Bytes of these frames.",
      counts.sent.bytes);
  append_number (self, PREFIX "viewers", "Viewers at present.", counts.viewers);
  append_count (self, PREFIX "viewers_dropped_total",
      "Viewers that took no frame within timeout.", counts.sent.dropped);
  append (self, PREFIX "render_seconds_total", "counter",
      "Time that frames took in the streaming thread.", us / G_USEC_PER_SEC);
  append (self, PREFIX "encode_seconds_total", "counter",
      "Time that frames took in the encoder's thread.",
      (gdouble) counts.encoder.us / G_USEC_PER_SEC);
}

/* ---- what is on frames ---- */

static void
append_bucket (Page *self, const gchar *bound, guint64 n)
{
  begin_sample (self, PREFIX "latency_seconds_bucket");
  cuv_exposition_label (self->text, "le", bound);
  cuv_exposition_value (self->text, (gdouble) n);
}

static void
append_latency (Page *self, const CuvWebTallied *counts)
{
  guint64 n = 0;

  cuv_exposition_metric (self->text, PREFIX "latency_seconds", "histogram",
      "Time from a frame's timestamp to its arrival, by the pipeline's clock.");
  for (guint i = 0; i < CUV_WEB_N_BOUNDS; i++) {
    gchar bound[G_ASCII_DTOSTR_BUF_SIZE];

    n += counts->buckets[i];
    g_ascii_formatd (bound, sizeof bound, "%g", cuv_web_latency_bounds[i]);
    append_bucket (self, bound, n);
  }
  n += counts->buckets[CUV_WEB_N_BOUNDS];
  append_bucket (self, "+Inf", n);
  begin_sample (self, PREFIX "latency_seconds_sum");
  cuv_exposition_value (self->text, counts->latency_sum);
  begin_sample (self, PREFIX "latency_seconds_count");
  cuv_exposition_value (self->text, (gdouble) n);
}

typedef struct {
  const gchar *newest, *newest_help, *total, *total_help;
  const gchar *label;
} NamedMetric;

static const NamedMetric object_metrics = {
  PREFIX "frame_objects",
  "Objects of the newest frame.",
  PREFIX "objects_total",
  "Objects of all frames since metrics were first requested.",
  "label",
};
static const NamedMetric table_metrics = {
  PREFIX "frame_rows",
  "Rows of the newest frame's tables.",
  PREFIX "rows_total",
  "Rows of the tables of all frames since metrics were first requested.",
  "table",
};

static void
append_named (Page *self, const NamedMetric *metric, const GArray *counts,
    gboolean totals)
{
  const gchar *name = totals ? metric->total : metric->newest;

  if (counts->len == 0)
    return;
  cuv_exposition_metric (self->text, name, totals ? "counter" : "gauge",
      totals ? metric->total_help : metric->newest_help);
  for (guint i = 0; i < counts->len; i++) {
    const CuvWebCount *count = &g_array_index (counts, CuvWebCount, i);

    begin_sample (self, name);
    cuv_exposition_label (self->text, metric->label, count->name);
    cuv_exposition_value (
        self->text, totals ? (gdouble) count->total : (gdouble) count->newest);
  }
}

static void
append_tallied (Page *self, GstVisionWebSink *sink)
{
  CuvWebTallied counts;

  cuv_web_tally_ask (sink->tally, g_get_monotonic_time (), &counts);
  append_latency (self, &counts);
  append_named (self, &object_metrics, counts.objects, FALSE);
  append_named (self, &object_metrics, counts.objects, TRUE);
  append_named (self, &table_metrics, counts.tables, FALSE);
  append_named (self, &table_metrics, counts.tables, TRUE);
  if (counts.metas != NULL)
    cuv_web_append_table_metrics (self->text, counts.metas, self->path);
  cuv_web_tallied_clear (&counts);
}

gchar *
gst_vision_web_sink_metrics (gpointer data, guint n_connections)
{
  GstVisionWebSink *self = data;
  gchar *path;
  Page page = { .text = g_string_new (NULL) };

  g_object_get (self, "path", &path, NULL);
  page.path = path;
  append_sink_info (&page, self);
  append_status (&page, self);
  append_frames (&page, self);
  append_number (&page, PREFIX "connections",
      "Open connections of the port, viewers included.", n_connections);
  append_tallied (&page, self);
  g_free (path);
  return g_string_free (page.text, FALSE);
}
