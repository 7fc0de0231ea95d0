/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* In the process: plays the pipeline and writes reports. stdin is the line,
 * ended by a 0 byte, and is closed when the pipeline has to end. Reports go to
 * the stdout with which the process was started. */
#include "line.h"

#include <errno.h>
#include <fcntl.h>
#include <glib-unix.h>
#include <gst/gst.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "line-private.h"
#include "record/json.h"

typedef struct {
  GstElement *pipeline;
  GMainLoop *loop;
  int out;            /* descriptor that reports are written to */
  guint64 n_buffers;  /* atomic */
  guint64 n_dropped;  /* late frames, dropped before the sinks */
  gint64 unused;      /* stream time, see note_unused(); atomic */
  gboolean buffering; /* paused until a network source has read enough */
  int status;         /* exit status of the process */
} Run;

/* ---- reports ---- */

/* Ends the process if the program no longer reads. */
static void
write_report (Run *self, CuvJson *json)
{
  gsize size, done = 0;
  gchar *text;

  cuv_json_end_object (json);
  text = cuv_json_steal (json, &size);
  text[size] = '\n'; /* replaces the terminating 0 */
  while (done <= size) {
    const ssize_t n = write (self->out, text + done, size + 1 - done);

    if (n < 0 && errno != EINTR)
      _exit (EXIT_FAILURE);
    done += n > 0 ? (gsize) n : 0;
  }
  g_free (text);
}

static CuvJson
begin_report (const gchar *key)
{
  CuvJson json;

  cuv_json_init (&json);
  cuv_json_begin_object (&json);
  cuv_json_key (&json, key);
  return json;
}

static void
write_uri (CuvJson *json, GstObject *element)
{
  gchar *uri = NULL;

  if (GST_IS_URI_HANDLER (element)
      && gst_uri_handler_get_uri_type (GST_URI_HANDLER (element))
          == GST_URI_SRC)
    uri = gst_uri_handler_get_uri (GST_URI_HANDLER (element));
  if (uri == NULL)
    return;
  cuv_json_string_member (json, "uri", uri);
  g_free (uri);
}

static void
report_message (Run *self, const gchar *key, GstMessage *message)
{
  CuvJson json = begin_report (key);
  GError *error = NULL;
  gchar *debug = NULL;

  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR)
    gst_message_parse_error (message, &error, &debug);
  else
    gst_message_parse_warning (message, &error, &debug);
  cuv_json_string (&json, error->message);
  cuv_json_string_member (&json, "element", GST_MESSAGE_SRC_NAME (message));
  cuv_json_string_member (&json, "debug", debug);
  cuv_json_string_member (&json, "domain", g_quark_to_string (error->domain));
  cuv_json_key (&json, "code");
  cuv_json_int (&json, error->code);
  write_uri (&json, GST_MESSAGE_SRC (message));
  write_report (self, &json);
  g_clear_error (&error);
  g_free (debug);
}

static void
report_error (Run *self, const GError *error)
{
  CuvJson json = begin_report ("error");

  cuv_json_string (&json, error->message);
  cuv_json_string_member (&json, "domain", g_quark_to_string (error->domain));
  cuv_json_key (&json, "code");
  cuv_json_int (&json, error->code);
  write_report (self, &json);
  self->status = EXIT_FAILURE;
}

static void
write_seconds (CuvJson *json, const gchar *key, gboolean known, gint64 time)
{
  if (!known || time < 0)
    return;
  cuv_json_key (json, key);
  cuv_json_double (json, (gdouble) time / GST_SECOND);
}

static void
write_stats (const GValue *item, gpointer data)
{
  GstElement *element = g_value_get_object (item);
  CuvJson *json = data;
  const GParamSpec *spec =
      g_object_class_find_property (G_OBJECT_GET_CLASS (element), "stats");
  GValue value = G_VALUE_INIT;
  gchar *name;

  if (spec == NULL || spec->value_type != GST_TYPE_STRUCTURE
      || (spec->flags & G_PARAM_READABLE) == 0)
    return;
  name = gst_element_get_name (element);
  g_value_init (&value, GST_TYPE_STRUCTURE);
  g_object_get_property (G_OBJECT (element), "stats", &value);
  cuv_json_new_key (json, name);
  cuv_json_value (json, &value);
  g_value_unset (&value);
  g_free (name);
}

/* Frees the iterator. */
static void
for_each (
    GstIterator *elements, GstIteratorForeachFunction function, gpointer data)
{
  while (gst_iterator_foreach (elements, function, data) == GST_ITERATOR_RESYNC)
    gst_iterator_resync (elements);
  gst_iterator_free (elements);
}

static void
for_each_element (Run *self, GstIteratorForeachFunction function, gpointer data)
{
  for_each (gst_bin_iterate_recurse (GST_BIN (self->pipeline)), function, data);
}

static gboolean
report_progress (gpointer data)
{
  Run *self = data;
  CuvJson json = begin_report ("buffers");
  gint64 time = -1;
  gboolean known;

  cuv_json_uint (&json, __atomic_load_n (&self->n_buffers, __ATOMIC_RELAXED));
  known = gst_element_query_position (self->pipeline, GST_FORMAT_TIME, &time);
  write_seconds (&json, "position", known, time);
  known = gst_element_query_duration (self->pipeline, GST_FORMAT_TIME, &time);
  write_seconds (&json, "duration", known, time);
  cuv_json_key (&json, "dropped");
  cuv_json_uint (&json, self->n_dropped);
  time = __atomic_load_n (&self->unused, __ATOMIC_RELAXED);
  write_seconds (&json, "unused", time > 0, time);
  cuv_json_key (&json, "stats");
  cuv_json_begin_object (&json);
  for_each_element (self, write_stats, &json);
  cuv_json_end_object (&json);
  write_report (self, &json);
  return G_SOURCE_CONTINUE;
}

/* ---- buffers that arrive at sinks ---- */

static GstPadProbeReturn
count_buffers (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Run *self = data;
  guint n = 1;

  if ((info->type & GST_PAD_PROBE_TYPE_BUFFER_LIST) != 0)
    n = gst_buffer_list_length (GST_PAD_PROBE_INFO_BUFFER_LIST (info));
  __atomic_fetch_add (&self->n_buffers, n, __ATOMIC_RELAXED);
  return GST_PAD_PROBE_OK;
}

static gboolean
watch_pad (GstElement *sink, GstPad *pad, gpointer data)
{
  gst_pad_add_probe (pad,
      GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST, count_buffers,
      data, NULL);
  return TRUE;
}

/* ---- streams that the pipeline does not use ---- */

/* Records how far an unlinked stream was read: the duration of a video is that
 * of its longest stream, which may be one that is not used. */
static GstPadProbeReturn
note_unused (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Run *self = data;
  const GstClockTime time = GST_BUFFER_PTS (GST_PAD_PROBE_INFO_BUFFER (info));
  const GstSegment *segment;
  GstEvent *event;
  gint64 at;

  if (GST_PAD_LAST_FLOW_RETURN (pad) != GST_FLOW_NOT_LINKED)
    return GST_PAD_PROBE_OK;
  event = gst_pad_get_sticky_event (pad, GST_EVENT_SEGMENT, 0);
  if (event == NULL)
    return GST_PAD_PROBE_OK;
  gst_event_parse_segment (event, &segment);
  at = (gint64) gst_segment_to_stream_time (segment, GST_FORMAT_TIME, time);
  if (at > __atomic_load_n (&self->unused, __ATOMIC_RELAXED))
    __atomic_store_n (&self->unused, at, __ATOMIC_RELAXED);
  gst_event_unref (event);
  return GST_PAD_PROBE_OK;
}

static void
on_stream (GstElement *demuxer, GstPad *pad, gpointer data)
{
  if (GST_PAD_IS_SRC (pad))
    gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, note_unused, data, NULL);
}

static gboolean
is_demuxer (GstElement *element)
{
  const gchar *class = gst_element_class_get_metadata (
      GST_ELEMENT_GET_CLASS (element), GST_ELEMENT_METADATA_KLASS);

  return class != NULL && strstr (class, "Demuxer") != NULL;
}

/* ---- elements, now and later ---- */

static void
watch_element (GstElement *element, Run *self)
{
  if (GST_IS_BIN (element))
    return;
  if (GST_OBJECT_FLAG_IS_SET (element, GST_ELEMENT_FLAG_SINK))
    gst_element_foreach_sink_pad (element, watch_pad, self);
  if (is_demuxer (element))
    g_signal_connect (element, "pad-added", G_CALLBACK (on_stream), self);
}

static void
watch_item (const GValue *item, gpointer data)
{
  watch_element (g_value_get_object (item), data);
}

static void
element_added (GstBin *pipeline, GstBin *bin, GstElement *element, Run *self)
{
  watch_element (element, self);
}

/* ---- messages on the bus, handled as gst-launch-1.0 does ---- */

static void
on_buffering (Run *self, GstMessage *message)
{
  gint percent;

  gst_message_parse_buffering (message, &percent);
  if (self->buffering == (percent < 100))
    return;
  self->buffering = percent < 100;
  gst_element_set_state (
      self->pipeline, self->buffering ? GST_STATE_PAUSED : GST_STATE_PLAYING);
}

/* Counts frames that were dropped before they were analysed. Frames that sinks
 * drop have been analysed. */
static void
on_late (Run *self, GstMessage *message)
{
  if (!GST_OBJECT_FLAG_IS_SET (
          GST_MESSAGE_SRC (message), GST_ELEMENT_FLAG_SINK))
    self->n_dropped++;
}

static void
on_clock_lost (Run *self)
{
  gst_element_set_state (self->pipeline, GST_STATE_PAUSED);
  gst_element_set_state (self->pipeline, GST_STATE_PLAYING);
}

static void
on_state (Run *self, GstMessage *message)
{
  GstState state;
  CuvJson json;

  gst_message_parse_state_changed (message, NULL, &state, NULL);
  if (GST_MESSAGE_SRC (message) != GST_OBJECT (self->pipeline)
      || state != GST_STATE_PLAYING)
    return;
  json = begin_report ("state");
  cuv_json_string (&json, "playing");
  write_report (self, &json);
}

static void
on_end (Run *self)
{
  CuvJson json;

  report_progress (self);
  json = begin_report ("eos");
  cuv_json_boolean (&json, TRUE);
  write_report (self, &json);
  g_main_loop_quit (self->loop);
}

static void
run_on_error (Run *self, GstMessage *message)
{
  report_progress (self);
  report_message (self, "error", message);
  self->status = EXIT_FAILURE;
  g_main_loop_quit (self->loop);
}

static gboolean
run_on_message (GstBus *bus, GstMessage *message, gpointer data)
{
  Run *self = data;

  switch (GST_MESSAGE_TYPE (message)) {
    case GST_MESSAGE_EOS:
      on_end (self);
      return G_SOURCE_REMOVE;
    case GST_MESSAGE_ERROR:
      run_on_error (self, message);
      return G_SOURCE_REMOVE;
    case GST_MESSAGE_WARNING:
      report_message (self, "warning", message);
      break;
    case GST_MESSAGE_STATE_CHANGED:
      on_state (self, message);
      break;
    case GST_MESSAGE_BUFFERING:
      on_buffering (self, message);
      break;
    case GST_MESSAGE_QOS:
      on_late (self, message);
      break;
    case GST_MESSAGE_CLOCK_LOST:
      on_clock_lost (self);
      break;
    case GST_MESSAGE_LATENCY:
      gst_bin_recalculate_latency (GST_BIN (self->pipeline));
      break;
    default:
      break;
  }
  return G_SOURCE_CONTINUE;
}

/* ---- the process ---- */

/* Sends EOS to the sources one by one. The pipeline, or a bin of parentheses,
 * would hold its state lock until the streaming threads take the event, and one
 * of those may wait in a sink for a state change that needs the lock. */
static void
end_source (const GValue *item, gpointer data)
{
  GstElement *source = g_value_get_object (item);

  if (G_OBJECT_TYPE (source) == GST_TYPE_BIN)
    for_each (gst_bin_iterate_sources (GST_BIN (source)), end_source, data);
  else
    gst_element_send_event (source, gst_event_new_eos ());
}

static gboolean
on_input (gint fd, GIOCondition condition, gpointer data)
{
  Run *self = data;

  for_each (
      gst_bin_iterate_sources (GST_BIN (self->pipeline)), end_source, NULL);
  return G_SOURCE_REMOVE;
}

/* Kills this process when the program dies. */
static void
die_with_parent (pid_t parent)
{
  prctl (PR_SET_PDEATHSIG, SIGKILL);
  if (getppid () != parent)
    _exit (EXIT_FAILURE);
}

static gchar *
read_stdin (void)
{
  GString *line = g_string_new (NULL);
  gchar c;

  while (read (STDIN_FILENO, &c, 1) == 1 && c != '\0')
    g_string_append_c (line, c);
  return g_string_free (line, FALSE);
}

/* Redirects stdout to stderr, so that text printed by elements does not mix
 * with the reports. Returns a descriptor of the original stdout. */
static int
take_output (void)
{
  const int out = fcntl (STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);

  if (out < 0 || dup2 (STDERR_FILENO, STDOUT_FILENO) < 0)
    _exit (EXIT_FAILURE);
  return out;
}

static GstElement *
parse_line (const gchar *line, GError **error)
{
  GstElement *element =
      gst_parse_launch_full (line, NULL, GST_PARSE_FLAG_FATAL_ERRORS, error);
  GstElement *pipeline;

  if (element == NULL || GST_IS_PIPELINE (element))
    return element;
  pipeline = gst_pipeline_new (NULL);
  gst_bin_add (GST_BIN (pipeline), element);
  return pipeline;
}

static void
play (Run *self, guint interval)
{
  GstBus *bus = gst_element_get_bus (self->pipeline);

  self->loop = g_main_loop_new (NULL, FALSE);
  g_signal_connect (
      self->pipeline, "deep-element-added", G_CALLBACK (element_added), self);
  for_each_element (self, watch_item, self);
  gst_bus_add_watch (bus, run_on_message, self);
  g_timeout_add (interval, report_progress, self);
  g_unix_fd_add (STDIN_FILENO, G_IO_HUP | G_IO_ERR, on_input, self);
  /* failures are reported as messages on the bus */
  gst_element_set_state (self->pipeline, GST_STATE_PLAYING);
  g_main_loop_run (self->loop);
  gst_element_set_state (self->pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  g_main_loop_unref (self->loop);
}

static int
run_process (guint interval)
{
  Run self = { .out = take_output () };
  gchar *line = read_stdin ();
  GError *error = NULL;

  gst_init (NULL, NULL);
  self.pipeline = parse_line (line, &error);
  if (self.pipeline != NULL) {
    play (&self, interval);
    gst_object_unref (self.pipeline);
  } else {
    report_error (&self, error);
    g_clear_error (&error);
  }
  g_free (line);
  return self.status;
}

void
cuv_line_main (int argc, char **argv)
{
  /* writing to a process that has died: its end is reported anyway */
  signal (SIGPIPE, SIG_IGN);
  if (argc != 4 || !g_str_equal (argv[1], CUV_LINE_OPTION))
    return;
  die_with_parent ((pid_t) g_ascii_strtoll (argv[3], NULL, 10));
  /* Ctrl-C reaches all processes of a terminal: the parent ends the pipeline */
  signal (SIGINT, SIG_IGN);
  exit (run_process ((guint) g_ascii_strtoull (argv[2], NULL, 10)));
}
