/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measures how many streams a machine can process: plays a pipeline many times
 * at once, in real time, and reports how many frames per second each sink
 * received, how many frames were not analysed, and the processor time. The
 * first seconds do not count. */
#include "line.h"

#include <gst/gst.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define INTERVAL 1000 /* between reports, ms */

static gint option_processes = 1;
static gint option_warm_up = 4;

static const GOptionEntry entries[] = {
  { "processes", 'p', 0, G_OPTION_ARG_INT, &option_processes,
      "Number of processes that share the streams (1)", "N" },
  { "warm-up", 'w', 0, G_OPTION_ARG_INT, &option_warm_up,
      "Seconds at the start that do not count (4)", "N" },
  { NULL, 0, 0, 0, NULL, NULL, NULL },
};

/* Counts of a process up to a report. */
typedef struct {
  gdouble seconds;         /* elapsed */
  gdouble cpu;             /* seconds of processor time */
  guint64 buffers;         /* buffers that arrived at sinks */
  guint64 frames, skipped; /* sums over all elements that have these
                            * statistics */
} State;

typedef struct {
  guint n_running;
  GMainLoop *loop;
  gboolean failed;
} Trial;

typedef struct {
  Trial *trial;
  CuvLine *line;
  guint n_reports;
  State first, last; /* first and last report that count */
} Process;

/* Reads user and system time from the fields after the program's name, which
 * is in parentheses. */
static gdouble
cpu_seconds (const CuvLine *line)
{
  gchar *path = g_strdup_printf ("/proc/%s/stat", cuv_line_pid (line));
  gchar *text = NULL, **fields;
  gdouble ticks = 0;

  if (g_file_get_contents (path, &text, NULL, NULL)) {
    fields = g_strsplit (strrchr (text, ')') + 2, " ", 14);
    ticks =
        g_ascii_strtod (fields[11], NULL) + g_ascii_strtod (fields[12], NULL);
    g_strfreev (fields);
  }
  g_free (text);
  g_free (path);
  return ticks / (gdouble) sysconf (_SC_CLK_TCK);
}

static guint64
member (JsonObject *stats, const gchar *name)
{
  return json_object_has_member (stats, name)
      ? (guint64) json_object_get_int_member (stats, name)
      : 0;
}

static void
add_stats (JsonObject *all, const gchar *name, JsonNode *node, gpointer data)
{
  State *state = data;
  JsonObject *stats = json_node_get_object (node);

  state->frames += member (stats, "frames");
  state->skipped += member (stats, "skipped");
}

static void
on_report (gpointer data, JsonObject *report)
{
  Process *self = data;

  if (!json_object_has_member (report, "buffers"))
    return;
  self->last = (State){ .seconds = (gdouble) g_get_monotonic_time () / 1e6,
    .cpu = cpu_seconds (self->line),
    .buffers = member (report, "buffers") };
  json_object_foreach_member (
      json_object_get_object_member (report, "stats"), add_stats, &self->last);
  /* counted from the first report with frames */
  if (self->last.buffers > 0 && (gint) self->n_reports++ == option_warm_up)
    self->first = self->last;
}

static void
on_done (gpointer data, const gchar *problem)
{
  Process *self = data;

  if (problem != NULL)
    g_printerr ("%s\n", problem);
  self->trial->failed |= problem != NULL;
  if (--self->trial->n_running == 0)
    g_main_loop_quit (self->trial->loop);
}

/* Starts n copies of the pipeline in a process. */
static void
start (Process *self, const gchar *line, gint n)
{
  GString *text = g_string_new (NULL);
  GError *error = NULL;

  for (gint i = 0; i < n; i++)
    g_string_append_printf (text, "%s ", line);
  self->line =
      cuv_line_start (text->str, INTERVAL, on_report, on_done, self, &error);
  if (self->line == NULL)
    g_error ("%s", error->message);
  self->trial->n_running++;
  g_string_free (text, TRUE);
}

static void
print_result (const Process *processes, gint streams)
{
  guint64 buffers = 0, frames = 0, skipped = 0;
  gdouble rate = 0, cores = 0;

  for (gint i = 0; i < option_processes; i++) {
    const State *a = &processes[i].first, *b = &processes[i].last;
    const gdouble seconds = b->seconds - a->seconds;

    buffers += b->buffers - a->buffers;
    frames += b->frames - a->frames;
    skipped += b->skipped - a->skipped;
    rate += (gdouble) (b->buffers - a->buffers) / seconds;
    cores += (b->cpu - a->cpu) / seconds;
  }
  g_print ("%4d streams, %d process(es): %.2f frames a second each, "
           "%" G_GUINT64_FORMAT " frames at sinks, %" G_GUINT64_FORMAT
           " analysed, %" G_GUINT64_FORMAT
           " skipped, %.3f ms of processor time a frame, %.2f cores\n",
      streams, option_processes, rate / streams, buffers, frames, skipped,
      cores / rate * 1e3, cores);
}

static gboolean
try (const gchar *line, gint streams)
{
  Trial trial = { .loop = g_main_loop_new (NULL, FALSE) };
  Process *processes = g_new0 (Process, option_processes);

  for (gint i = 0; i < option_processes; i++) {
    processes[i].trial = &trial;
    start (&processes[i], line, (streams + i) / option_processes);
  }
  g_main_loop_run (trial.loop);
  if (trial.failed)
    g_print ("%4d streams: failed\n", streams);
  else
    print_result (processes, streams);
  g_free (processes);
  g_main_loop_unref (trial.loop);
  return !trial.failed;
}

int
main (int argc, char **argv)
{
  GOptionContext *context = g_option_context_new ("LINE STREAMS...");
  GError *error = NULL;
  gboolean ok = TRUE;

  cuv_line_main (argc, argv);
  g_option_context_add_main_entries (context, entries, NULL);
  if (!g_option_context_parse (context, &argc, &argv, &error) || argc < 3
      || option_processes < 1) {
    g_printerr ("%s\n", error != NULL ? error->message : "see --help");
    return 2;
  }
  for (int i = 2; i < argc; i++)
    ok &= try (argv[1],
        MAX (option_processes, (gint) g_ascii_strtoll (argv[i], NULL, 10)));
  g_option_context_free (context);
  return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
