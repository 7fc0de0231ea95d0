/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "teach/trainer.h"

#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "teach/folder.h"

#define PROGRAM "cuvision-train"
/* Where it writes until it has succeeded. */
#define WORK ".training"
#define ANNOTATIONS WORK "/annotations.json"
#define REPORT WORK "/report"
#define NICE 19

struct _CuvTeachTrainer {
  gint folder;
  gchar *label;
  const CuvTeachTrainerCalls *calls;
  gpointer data;
  GSubprocess *process;
  GDataInputStream *lines;
  GCancellable *cancellable;
  gchar *last; /* last line */
};

/* ---- the process ---- */

static gchar *
find_program (gchar **problem)
{
  gchar *path = g_find_program_in_path (PROGRAM);

  *problem = NULL;
  if (path == NULL
      && g_file_test (
          CUV_PROGRAM_FOLDER "/" PROGRAM, G_FILE_TEST_IS_EXECUTABLE))
    path = g_strdup (CUV_PROGRAM_FOLDER "/" PROGRAM);
  if (path == NULL)
    *problem = g_strdup (
        PROGRAM " was found neither in PATH nor in " CUV_PROGRAM_FOLDER
                ": install it, or set PATH");
  return path;
}

typedef struct {
  gint folder;
  pid_t parent;
} Setup;

/* Between fork and exec: only calls that are safe in signal handlers. */
static void
set_up_child (gpointer data)
{
  const Setup *self = data;

  if (fchdir (self->folder) != 0 || prctl (PR_SET_PDEATHSIG, SIGKILL) != 0
      || getppid () != self->parent)
    _exit (1);
  setpriority (PRIO_PROCESS, 0, NICE);
}

static GSubprocess *
spawn (gint folder, const gchar *program, const gchar *label,
    const gchar *output, gchar **problem)
{
  /* Channels take half of the time, and found more in other shots of films.
   * --loose-boxes: otherwise a box of the tracker that is a little off counts
   * as a mistake with the score of the object, and --false-positives 0.01
   * allows none in the few pictures for calibration.
   * docs/benchmarks/training.md has the figures. */
  const gchar *const args[] = { program, "--device=cpu", "--positives",
    ANNOTATIONS, "--label", label, "--features", "channels", "--loose-boxes",
    "--false-positives", "0.01", "--output", output, "--report", REPORT,
    "--progress-interval", "0.5", NULL };
  Setup setup = { folder, getpid () };
  GSubprocessLauncher *launcher = g_subprocess_launcher_new (
      G_SUBPROCESS_FLAGS_STDOUT_SILENCE | G_SUBPROCESS_FLAGS_STDERR_PIPE);
  GError *error = NULL;
  GSubprocess *process;

  g_subprocess_launcher_set_child_setup (launcher, set_up_child, &setup, NULL);
  g_subprocess_launcher_setenv (launcher, "LC_ALL", "C.UTF-8", TRUE);
  process = g_subprocess_launcher_spawnv (launcher, args, &error);
  if (process == NULL)
    *problem = g_strdup (error->message);
  g_clear_error (&error);
  g_object_unref (launcher);
  return process;
}

/* ---- files ---- */

static gchar *
output_of (const gchar *label)
{
  return g_strdup_printf (WORK "/%s.xml", label);
}

static gchar *
take_report (gint folder)
{
  static const gchar *const files[][2] = {
    { REPORT "/index.html", "report/index.html" },
    { REPORT "/report.json", "report/report.json" },
  };
  gchar *problem = cuv_folder_add (folder, "report");

  for (guint i = 0; i < G_N_ELEMENTS (files) && problem == NULL; i++)
    problem = cuv_folder_rename (folder, files[i][0], files[i][1]);
  return problem;
}

/* Takes what the program has written. */
static gchar *
take_results (const CuvTeachTrainer *self)
{
  gchar *output = output_of (self->label);
  gchar *model = g_strconcat (self->label, ".xml", NULL);
  gchar *problem = cuv_folder_size (self->folder, output) > 0
      ? take_report (self->folder)
      : g_strdup (PROGRAM " has written no model");

  if (problem == NULL)
    problem = cuv_folder_rename (self->folder, output, model);
  g_free (output);
  g_free (model);
  return problem;
}

/* ---- its output and its end ---- */

static void
trainer_free (CuvTeachTrainer *self)
{
  cuv_folder_remove_all (self->folder, WORK);
  g_object_unref (self->cancellable);
  g_object_unref (self->lines);
  g_object_unref (self->process);
  g_free (self->label);
  g_free (self->last);
  g_free (self);
}

/* Returns why the process failed, to be freed, or NULL. */
static gchar *
failure_of (const CuvTeachTrainer *self)
{
  const gchar *last = self->last;

  if (g_subprocess_get_if_signaled (self->process))
    return g_strdup_printf (PROGRAM " was ended by signal %d (%s)",
        g_subprocess_get_term_sig (self->process),
        g_strsignal (g_subprocess_get_term_sig (self->process)));
  if (g_subprocess_get_exit_status (self->process) == 0)
    return take_results (self);
  if (last != NULL && g_str_has_prefix (last, PROGRAM ": "))
    return g_strdup (last + strlen (PROGRAM ": "));
  return last != NULL ? g_strdup (last)
                      : g_strdup_printf (PROGRAM " ended with status %d",
                          g_subprocess_get_exit_status (self->process));
}

static void
on_end (GObject *process, GAsyncResult *result, gpointer data)
{
  CuvTeachTrainer *self = data;
  gchar *reason;

  if (!g_subprocess_wait_finish (G_SUBPROCESS (process), result, NULL))
    return; /* cancelled: self has gone */
  reason = failure_of (self);
  self->calls->ended (self->data, reason);
  g_free (reason);
  trainer_free (self);
}

static void read_line (CuvTeachTrainer *self);

static void
on_line (GObject *stream, GAsyncResult *result, gpointer data)
{
  CuvTeachTrainer *self = data;
  GError *error = NULL;
  gchar *line = g_data_input_stream_read_line_finish (
      G_DATA_INPUT_STREAM (stream), result, NULL, &error);

  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED)) {
    g_error_free (error);
    return; /* self has gone */
  }
  g_clear_error (&error);
  if (line == NULL) {
    g_subprocess_wait_async (self->process, self->cancellable, on_end, self);
    return;
  }
  g_free (self->last);
  self->last = g_utf8_make_valid (line, -1);
  g_free (line);
  self->calls->progress (self->data, self->last);
  read_line (self);
}

static void
read_line (CuvTeachTrainer *self)
{
  g_data_input_stream_read_line_async (
      self->lines, G_PRIORITY_DEFAULT, self->cancellable, on_line, self);
}

/* ---- start and stop ---- */

static gchar *
prepare_files (gint folder, const gchar *annotations)
{
  gboolean exists;
  gchar *problem = cuv_folder_has (folder, "report")
      ? cuv_folder_add (folder, "report")
      : NULL;

  cuv_folder_remove_all (folder, WORK); /* of a process that was killed */
  if (problem == NULL)
    problem = cuv_folder_add (folder, WORK);
  return problem != NULL ? problem
                         : cuv_folder_create (folder, ANNOTATIONS, annotations,
                             strlen (annotations), &exists);
}

CuvTeachTrainer *
cuv_teach_trainer_start (gint folder, const gchar *label,
    const gchar *annotations, const CuvTeachTrainerCalls *calls, gpointer data,
    gchar **problem)
{
  gchar *program = find_program (problem), *output = output_of (label);
  CuvTeachTrainer *self = NULL;
  GSubprocess *process = NULL;

  if (*problem == NULL)
    *problem = prepare_files (folder, annotations);
  if (*problem == NULL)
    process = spawn (folder, program, label, output, problem);
  if (process != NULL) {
    self = g_new0 (CuvTeachTrainer, 1);
    *self = (CuvTeachTrainer){ folder, g_strdup (label), calls, data, process,
      g_data_input_stream_new (g_subprocess_get_stderr_pipe (process)),
      g_cancellable_new (), NULL };
    read_line (self);
  } else {
    cuv_folder_remove_all (folder, WORK);
  }
  g_free (program);
  g_free (output);
  return self;
}

/* The cancelled calls still come, and do nothing. */
void
cuv_teach_trainer_stop (CuvTeachTrainer *self)
{
  g_cancellable_cancel (self->cancellable);
  g_subprocess_force_exit (self->process);
  g_subprocess_wait (self->process, NULL, NULL);
  trainer_free (self);
}
