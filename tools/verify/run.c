/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Plays a case in a process of its own: which processor is used is decided once
 * per process, and a crash must not end the program. */
#include "config.h"
#include "verify.h"

#include <gio/gio.h>
#include <string.h>

#include "context/gstcuvcontext.h"
#include "cuvcpu.h"
#include "cuvjsonreader.h"

const gchar *const verify_target_names[N_TARGETS] = { "c", "simd", "cuda" };

const gchar *
verify_target_problem (VerifyTarget target)
{
  if (target == ON_SIMD && !HAVE_SIMD)
    return "this build has no SIMD code";
  if (target == ON_SIMD && !(cuv_cpu_flags () & CUV_CPU_SIMD))
    return "this processor lacks AVX2 and FMA, or CUV_CPU_MASK hides them";
  if (target == ON_CUDA && !HAVE_CUDA)
    return "this build has no CUDA kernels";
  if (target == ON_CUDA && !gst_cuv_cuda_usable ())
    return "no usable NVIDIA GPU or driver";
  return NULL;
}

/* Keeps the errors of the process, which name the cause. */
static GSubprocess *
start (const VerifyCase *self, VerifyTarget target, GError **error)
{
  GSubprocessLauncher *launcher = g_subprocess_launcher_new (
      G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_PIPE);
  gchar *on = g_strconcat ("--on=", verify_target_names[target], NULL);
  gchar *program = g_file_read_link ("/proc/self/exe", NULL);
  GSubprocess *process = g_subprocess_launcher_spawn (launcher, error,
      program != NULL ? program : "cuvision-verify", "--records", on,
      self->name, NULL);

  g_object_unref (launcher);
  g_free (program);
  g_free (on);
  return process;
}

static gchar *
explain_status (GSubprocess *process, const gchar *errors)
{
  if (g_subprocess_get_if_signaled (process))
    return g_strdup_printf ("its process was ended by signal %d, %s",
        g_subprocess_get_term_sig (process),
        g_strsignal (g_subprocess_get_term_sig (process)));
  if (g_subprocess_get_exit_status (process) == 0)
    return NULL;
  return g_strchomp (
      g_strdup (*errors != '\0' ? errors : "its process failed silently"));
}

/* Reads the last line. */
static void
read_end (VerifyRun *self, const gchar *line)
{
  JsonNode *node = cuv_json_parse_object (line, CUV_JSON_MAX_VALUES, NULL);

  if (node == NULL) {
    self->problem = g_strdup ("its process printed something else than JSON");
    return;
  }
  self->milliseconds = json_object_get_double_member_with_default (
      json_node_get_object (node), "milliseconds", 0);
  self->on_gpu = json_object_get_boolean_member_with_default (
      json_node_get_object (node), "on_gpu", FALSE);
  json_node_unref (node);
}

static void
read_output (VerifyRun *self, const gchar *output)
{
  gchar **lines = g_strsplit (output, "\n", -1);
  const guint n = g_strv_length (lines); /* the last one is empty */

  for (guint i = 0; i + 2 < n; i++)
    g_ptr_array_add (self->frames, g_strdup (lines[i]));
  read_end (self, n >= 2 ? lines[n - 2] : "");
  g_strfreev (lines);
}

VerifyRun *
verify_run (const VerifyCase *self, VerifyTarget target)
{
  VerifyRun *run = g_new0 (VerifyRun, 1);
  GError *error = NULL;
  GSubprocess *process = start (self, target, &error);
  gchar *output = NULL, *errors = NULL;

  run->frames = g_ptr_array_new_with_free_func (g_free);
  if (process != NULL
      && g_subprocess_communicate_utf8 (
          process, NULL, NULL, &output, &errors, &error))
    run->problem = explain_status (process, errors);
  else
    run->problem = g_strdup (error->message);
  if (run->problem == NULL)
    read_output (run, output);
  g_clear_error (&error);
  g_clear_object (&process);
  g_free (output);
  g_free (errors);
  return run;
}

void
verify_run_free (VerifyRun *self)
{
  if (self == NULL)
    return;
  g_ptr_array_unref (self->frames);
  g_free (self->problem);
  g_free (self);
}
