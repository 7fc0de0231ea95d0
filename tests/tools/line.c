/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of pipelines in processes of their own: their reports, how they end,
 * and that no process is left behind. */
#include "line.h"

#include <gst/gst.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuvcheck.h"

/* Action of a test on a playing pipeline. */
typedef void (*Act) (CuvLine *line);

typedef struct {
  GMainLoop *loop;
  CuvLine *line;
  Act act;
  const gchar *when;  /* act at the first report with this member */
  GPtrArray *reports; /* JsonObject */
  gchar *problem;
  guint n_done;
} Outcome;

static void
on_report (gpointer data, JsonObject *report)
{
  Outcome *self = data;

  g_ptr_array_add (self->reports, json_object_ref (report));
  if (self->act != NULL && json_object_has_member (report, self->when))
    self->act (self->line);
}

static void
on_done (gpointer data, const gchar *problem)
{
  Outcome *self = data;

  self->problem = g_strdup (problem);
  self->n_done++;
  g_main_loop_quit (self->loop);
}

static Outcome
run_line (const gchar *text, const gchar *when, Act act)
{
  Outcome self = {
    .loop = g_main_loop_new (NULL, FALSE), .act = act, .when = when
  };

  self.reports =
      g_ptr_array_new_with_free_func ((GDestroyNotify) json_object_unref);
  self.line = cuv_line_start (text, 20, on_report, on_done, &self, NULL);
  cuv_check_case ("%s", text);
  if (CUV_CHECK (self.line != NULL))
    g_main_loop_run (self.loop);
  CUV_CHECK (self.n_done == 1);
  return self;
}

static void
clear (Outcome *self)
{
  g_main_loop_unref (self->loop);
  g_ptr_array_unref (self->reports);
  g_free (self->problem);
}

/* Returns the last report that has the member, or NULL. */
static JsonObject *
last_with (const Outcome *self, const gchar *member)
{
  for (guint i = self->reports->len; i > 0; i--) {
    JsonObject *report = g_ptr_array_index (self->reports, i - 1);

    if (json_object_has_member (report, member))
      return report;
  }
  return NULL;
}

/* ---- reports ---- */

static void
check_end_of_stream (void)
{
  Outcome self = run_line ("videotestsrc num-buffers=25 "
                           "! video/x-raw,width=16,height=16 ! tee name=t "
                           "t. ! queue ! fakesink name=a t. ! queue ! fakesink",
      NULL, NULL);
  JsonObject *report = last_with (&self, "buffers");

  CUV_CHECK (self.problem == NULL, ": %s", self.problem);
  CUV_CHECK (last_with (&self, "eos") != NULL);
  CUV_CHECK (last_with (&self, "state") != NULL);
  if (CUV_CHECK (report != NULL)) {
    JsonObject *stats = json_object_get_object_member (report, "stats");

    CUV_CHECK (json_object_get_int_member (report, "buffers") == 50);
    stats = json_object_get_object_member (stats, "a");
    CUV_CHECK (json_object_get_int_member (stats, "rendered") == 25);
  }
  clear (&self);
}

/* Checks the bytes that an element writes to standard output. */
static void
check_output (void)
{
  Outcome self = run_line (
      "fakesrc num-buffers=1 sizetype=fixed sizemax=4 ! fdsink", NULL, NULL);

  CUV_CHECK (self.problem == NULL, ": %s", self.problem);
  clear (&self);
}

static void
check_wrong (const gchar *line, const gchar *problem, const gchar *domain)
{
  Outcome self = run_line (line, NULL, NULL);
  JsonObject *report = last_with (&self, "error");

  CUV_CHECK (self.problem != NULL && strstr (self.problem, problem) != NULL,
      ": %s", self.problem);
  if (CUV_CHECK (report != NULL))
    CUV_CHECK (
        g_str_equal (json_object_get_string_member (report, "domain"), domain));
  CUV_CHECK (last_with (&self, "eos") == NULL);
  clear (&self);
}

/* ---- ends ---- */

static const gchar live[] = "videotestsrc is-live=true ! fakesink";

static void
stop (CuvLine *line)
{
  cuv_line_stop (line, 60000);
}

static void
send (const CuvLine *line, int number)
{
  kill ((pid_t) g_ascii_strtoll (cuv_line_pid (line), NULL, 10), number);
}

static void
kill_it (CuvLine *line)
{
  send (line, SIGKILL);
}

static void
hang (CuvLine *line)
{
  send (line, SIGSTOP);
  cuv_line_stop (line, 10);
}

static void
interrupt (CuvLine *line)
{
  send (line, SIGINT);
  cuv_line_stop (line, 60000);
}

static void
check_ends (void)
{
  static const struct {
    Act act;
    const gchar *problem;
  } cases[] = { { stop, NULL }, { interrupt, NULL }, { kill_it, "signal 9" },
    { hang, "did not end in time" } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    Outcome self = run_line (live, "state", cases[i].act);

    CUV_CHECK (cases[i].problem == NULL ? self.problem == NULL
                                        : self.problem != NULL
                && strstr (self.problem, cases[i].problem) != NULL,
        ": %u, %s", i, self.problem);
    CUV_CHECK (
        (last_with (&self, "eos") != NULL) == (cases[i].problem == NULL));
    clear (&self);
  }
}

/* Stops a pipeline before it plays, even before it is built. */
static void
check_early_stop (void)
{
  Outcome self = { .loop = g_main_loop_new (NULL, FALSE) };

  cuv_check_case ("stopped at once");
  self.reports =
      g_ptr_array_new_with_free_func ((GDestroyNotify) json_object_unref);
  self.line = cuv_line_start (live, 20, on_report, on_done, &self, NULL);
  stop (self.line);
  g_main_loop_run (self.loop);
  CUV_CHECK (self.problem == NULL, ": %s", self.problem);
  clear (&self);
}

static void
check_stop_in_preroll (const gchar *text)
{
  Outcome self = run_line (text, "buffers", stop);

  CUV_CHECK (self.problem == NULL, ": %s", self.problem);
  CUV_CHECK (last_with (&self, "eos") != NULL);
  clear (&self);
}

static void
tell (CuvLine *line)
{
  g_print ("%s\n", cuv_line_pid (line));
}

/* A zombie does not count: its program has ended. */
static gboolean
is_alive (const gchar *pid)
{
  gchar *path = g_strdup_printf ("/proc/%s/stat", pid), *text = NULL;
  gboolean alive = g_file_get_contents (path, &text, NULL, NULL)
      && strstr (text, ") Z ") == NULL;

  g_free (path);
  g_free (text);
  return alive;
}

/* Kills a program that runs a pipeline. */
static void
check_parent (const gchar *program)
{
  GSubprocess *parent = g_subprocess_new (
      G_SUBPROCESS_FLAGS_STDOUT_PIPE, NULL, program, "--parent", NULL);
  GDataInputStream *out =
      g_data_input_stream_new (g_subprocess_get_stdout_pipe (parent));
  gchar *pid = g_data_input_stream_read_line (out, NULL, NULL, NULL);

  cuv_check_case ("parent killed");
  if (CUV_CHECK (pid != NULL)) {
    CUV_CHECK (is_alive (pid));
    g_subprocess_force_exit (parent);
    while (is_alive (pid)) /* until it has ended, or the test times out */
      g_usleep (1000);
  }
  g_subprocess_wait (parent, NULL, NULL);
  g_free (pid);
  g_object_unref (out);
  g_object_unref (parent);
}

static gchar *program;

CUV_CHECKS_CPU (check_all)
{
  check_end_of_stream ();
  check_output ();
  check_wrong (
      "videotestsrc ! nosuchelement", "nosuchelement", "gst_parse_error");
  check_wrong ("filesrc name=file location=/nowhere ! fakesink",
      "file: Resource not found. No such file \"/nowhere\"",
      "gst-resource-error-quark");
  check_ends ();
  check_early_stop ();
  /* the first frame is on its way to the sink, or never arrives */
  check_stop_in_preroll (
      "videotestsrc is-live=true ! identity sleep-time=300000 ! fakesink");
  check_stop_in_preroll (
      "( videotestsrc is-live=true ! identity sleep-time=300000 ! fakesink )");
  check_stop_in_preroll ("udpsrc port=0 ! fakesink");
  check_parent (program);
}

int
main (int argc, char **argv)
{
  cuv_line_main (argc, argv);
  gst_init (NULL, NULL);
  if (argc == 2 && g_str_equal (argv[1], "--parent")) {
    Outcome outcome = run_line (live, "state", tell);

    return outcome.problem != NULL;
  }
  program = argv[0];
  return cuv_check_main (argc, argv);
}
