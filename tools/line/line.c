/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* In the program: starts the process of a pipeline, handles its reports, and
 * ends it. */
#include "line.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cuvjsonreader.h"
#include "line-private.h"

struct _CuvLine {
  GSubprocess *process;
  GDataInputStream *reports;
  CuvLineReport report;
  CuvLineDone done;
  gpointer data;
  gchar *pid;
  gchar *problem;   /* the first problem */
  guint clean_up;   /* milliseconds; 0: no limit */
  gboolean eos;     /* the end of the stream was reported */
  gboolean closed;  /* no more reports will come */
  gboolean exited;  /* the process has ended */
  GSource *timeout; /* kills the process; NULL: none is set */
};

/* Records the problem unless there is an earlier one. Takes ownership. */
static void
take_problem (CuvLine *self, gchar *problem)
{
  if (self->problem == NULL)
    self->problem = problem;
  else
    g_free (problem);
}

static void
clear_timeout (CuvLine *self)
{
  if (self->timeout == NULL)
    return;
  g_source_destroy (self->timeout);
  g_source_unref (self->timeout);
  self->timeout = NULL;
}

static void
free_line (CuvLine *self)
{
  clear_timeout (self);
  g_clear_object (&self->reports);
  g_clear_object (&self->process);
  g_free (self->pid);
  g_free (self->problem);
  g_free (self);
}

/* ---- ending ---- */

static gboolean
kill_now (gpointer data)
{
  CuvLine *self = data;

  take_problem (self,
      g_strdup_printf (
          "process %s did not end in time and was killed", self->pid));
  g_subprocess_force_exit (self->process);
  return G_SOURCE_REMOVE;
}

/* Sets the timeout unless there is an earlier one. */
static void
kill_after (CuvLine *self, guint milliseconds)
{
  const gint64 when = g_get_monotonic_time () + (gint64) milliseconds * 1000;

  if (self->timeout != NULL && g_source_get_ready_time (self->timeout) <= when)
    return;
  clear_timeout (self);
  self->timeout = g_timeout_source_new (milliseconds);
  g_source_set_callback (self->timeout, kill_now, self, NULL);
  g_source_attach (self->timeout, g_main_context_get_thread_default ());
}

static void
explain_status (CuvLine *self)
{
  GSubprocess *process = self->process;

  if (g_subprocess_get_if_signaled (process)) {
    const gint number = g_subprocess_get_term_sig (process);

    take_problem (self,
        g_strdup_printf ("process %s was terminated by signal %d, %s",
            self->pid, number, g_strsignal (number)));
  } else if (!self->eos) {
    take_problem (self,
        g_strdup_printf (
            "process %s ended with status %d before the stream did", self->pid,
            g_subprocess_get_exit_status (process)));
  }
}

static void
finish_if_over (CuvLine *self)
{
  if (!self->closed || !self->exited)
    return;
  clear_timeout (self);
  explain_status (self);
  self->done (self->data, self->problem);
  free_line (self);
}

static void
process_exited (GObject *process, GAsyncResult *result, gpointer data)
{
  CuvLine *self = data;

  g_subprocess_wait_finish (G_SUBPROCESS (process), result, NULL);
  self->exited = TRUE;
  finish_if_over (self);
}

/* ---- reports ---- */

#define CLEAN_UP_MS                                                            \
  10000 /* unless cuv_line_set_clean_up() sets another time                    \
         */

/* Returns "ELEMENT: text detail". GStreamer's text may only name the kind of
 * error; the detail is the debug text after its first line, which names the
 * source file. */
static gchar *
describe_report (JsonObject *report)
{
  const gchar *element =
      json_object_get_string_member_with_default (report, "element", NULL);
  const gchar *debug =
      json_object_get_string_member_with_default (report, "debug", NULL);
  const gchar *detail = debug != NULL ? strchr (debug, '\n') : NULL;

  return g_strdup_printf ("%s%s%s%s%s", element != NULL ? element : "",
      element != NULL ? ": " : "",
      json_object_get_string_member (report, "error"),
      detail != NULL ? " " : "", detail != NULL ? detail + 1 : "");
}

static void
handle_report (CuvLine *self, JsonObject *report)
{
  if (json_object_has_member (report, "error"))
    take_problem (self, describe_report (report));
  if (json_object_has_member (report, "eos"))
    self->eos = TRUE;
  if ((self->eos || self->problem != NULL) && self->clean_up > 0)
    kill_after (self, self->clean_up);
  self->report (self->data, report);
}

static void
parse_report (CuvLine *self, const gchar *text)
{
  JsonNode *node = cuv_json_parse_object (text, CUV_JSON_MAX_VALUES, NULL);

  if (node != NULL)
    handle_report (self, json_node_get_object (node));
  else
    take_problem (self,
        g_strdup_printf (
            "process %s sent an invalid report: %s", self->pid, text));
  g_clear_pointer (&node, json_node_unref);
}

static void read_next (CuvLine *self);

static void
line_on_report (GObject *stream, GAsyncResult *result, gpointer data)
{
  CuvLine *self = data;
  gchar *text = g_data_input_stream_read_line_finish_utf8 (
      G_DATA_INPUT_STREAM (stream), result, NULL, NULL);

  if (text == NULL) {
    self->closed = TRUE;
    finish_if_over (self);
    return;
  }
  parse_report (self, text);
  g_free (text);
  read_next (self);
}

static void
read_next (CuvLine *self)
{
  g_data_input_stream_read_line_async (
      self->reports, G_PRIORITY_DEFAULT, NULL, line_on_report, self);
}

/* ---- starting ---- */

/* Returns this program's path, which ps then shows, or, if the program was
 * replaced or removed, the link in /proc, which still leads to the running
 * one. */
static gchar *
find_program (GError **error)
{
  gchar *path = g_file_read_link ("/proc/self/exe", error);

  if (path == NULL || !g_str_has_suffix (path, " (deleted)"))
    return path;
  g_free (path);
  return g_strdup ("/proc/self/exe");
}

static GSubprocess *
start_process (guint interval, GError **error)
{
  gchar *program = find_program (error);
  gchar *milliseconds = g_strdup_printf ("%u", interval);
  gchar *parent = g_strdup_printf ("%d", (int) getpid ());
  GSubprocess *process = NULL;

  if (program != NULL)
    process = g_subprocess_new (
        G_SUBPROCESS_FLAGS_STDIN_PIPE | G_SUBPROCESS_FLAGS_STDOUT_PIPE, error,
        program, CUV_LINE_OPTION, milliseconds, parent, NULL);
  g_free (program);
  g_free (milliseconds);
  g_free (parent);
  return process;
}

CuvLine *
cuv_line_start (const gchar *line, guint interval, CuvLineReport report,
    CuvLineDone done, gpointer data, GError **error)
{
  GSubprocess *process = start_process (interval, error);
  CuvLine *self;

  if (process == NULL)
    return NULL;
  self = g_new0 (CuvLine, 1);
  self->process = process;
  self->clean_up = CLEAN_UP_MS;
  self->report = report;
  self->done = done;
  self->data = data;
  self->pid = g_strdup (g_subprocess_get_identifier (process));
  self->reports =
      g_data_input_stream_new (g_subprocess_get_stdout_pipe (process));
  /* a failure is not handled: the process has died, and its end is reported */
  g_output_stream_write_all (g_subprocess_get_stdin_pipe (process), line,
      strlen (line) + 1, NULL, NULL, NULL);
  g_subprocess_wait_async (process, NULL, process_exited, self);
  read_next (self);
  return self;
}

void
cuv_line_stop (CuvLine *self, guint grace)
{
  g_output_stream_close (
      g_subprocess_get_stdin_pipe (self->process), NULL, NULL);
  kill_after (self, grace);
}

void
cuv_line_set_clean_up (CuvLine *self, guint milliseconds)
{
  self->clean_up = milliseconds;
}

const gchar *
cuv_line_pid (const CuvLine *self)
{
  return self->pid;
}

int
cuv_line_signal (const CuvLine *self)
{
  return g_subprocess_get_if_signaled (self->process)
      ? g_subprocess_get_term_sig (self->process)
      : 0;
}
