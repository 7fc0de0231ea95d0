/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The program: reads the command line, then runs a worker until a signal, or
 * one of the commands. */
#include "config.h"

#include <glib-unix.h>
#include <locale.h>
#include <signal.h>
#include <string.h>

#include "commands.h"
#include "farm-config.h"
#include "farm-util.h"
#include "line.h"
#include "watchdog.h"
#include "worker.h"
#if HAVE_SOUP
#include "http.h"
#endif

static gchar *config_path, *worker_name;
static gboolean as_json;

static const GOptionEntry entries[] = {
  { "config", 'c', 0, G_OPTION_ARG_FILENAME, &config_path,
      "Configuration file (default: /etc/cuvision-farm.conf)", "FILE" },
  { "name", 'n', 0, G_OPTION_ARG_STRING, &worker_name,
      "Name of this worker, instead of the configured one", "NAME" },
  { "json", 0, 0, G_OPTION_ARG_NONE, &as_json, "list: print JSON", NULL },
  { NULL }
};

static const gchar description[] =
    "Commands:\n"
    "  run                 take cameras and run their pipelines until SIGTERM\n"
    "  put CAMERA JSON     add or change a camera; JSON is an object such as\n"
    "                      '{\"location\": \"rtsp://...\"}', or - to read it\n"
    "                      from standard input\n"
    "  get CAMERA          print a camera's JSON\n"
    "  remove CAMERA       remove a camera\n"
    "  list                print cameras, their workers and states\n\n"
    "`nats kv put cameras CAMERA JSON` does the same as put.\n\n"
    "Exit status: 0 on success, 1 on failure, 2 for a wrong command line.";

/* ---- run ---- */

typedef struct {
  GMainLoop *loop;
  Worker *worker;
} Run;

static void
farm_on_stopped (gpointer data)
{
  g_main_loop_quit (((Run *) data)->loop);
}

/* A second signal ends the process, and its pipelines with it. */
static gboolean
farm_on_signal (gpointer data)
{
  Run *self = data;

  signal (SIGTERM, SIG_DFL);
  signal (SIGINT, SIG_DFL);
  farm_log ("stopping");
  worker_stop (self->worker, farm_on_stopped, self);
  return G_SOURCE_REMOVE;
}

static gboolean
farm_listen (
    const FarmConfig *config, Worker *worker, gpointer *http, GError **error)
{
  if (config->listen == NULL)
    return TRUE;
#if HAVE_SOUP
  *http = http_new (config->listen, worker, error);
  return *http != NULL;
#else
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED,
      "[worker] listen: this cuvision-farm was built without libsoup-3.0");
  return FALSE;
#endif
}

static void
run_loop (Run *self)
{
  self->loop = g_main_loop_new (NULL, FALSE);
  g_unix_signal_add (SIGTERM, farm_on_signal, self);
  g_unix_signal_add (SIGINT, farm_on_signal, self);
  g_main_loop_run (self->loop);
  g_main_loop_unref (self->loop);
}

static gboolean
command_run (const FarmConfig *config, GError **error)
{
  Run self = { 0 };
  gpointer http = NULL;
  gboolean ok;

  if (g_hash_table_size (config->lines) == 0) {
    g_set_error (error, G_KEY_FILE_ERROR, G_KEY_FILE_ERROR_GROUP_NOT_FOUND,
        "%s: no group [line]: add the pipeline to run", config_path);
    return FALSE;
  }
  self.worker = worker_new (config, error);
  ok = self.worker != NULL && farm_listen (config, self.worker, &http, error);
  if (ok)
    run_loop (&self);
#if HAVE_SOUP
  if (http != NULL)
    http_free (http);
#endif
  if (self.worker != NULL)
    worker_free (self.worker);
  return ok;
}

/* ---- commands ---- */

static gboolean
run_with_store (const FarmConfig *config, gchar **words, GError **error)
{
  Store *store = store_open (config, g_str_equal (words[0], "list"), error);
  gboolean ok;

  if (store == NULL)
    return FALSE;
  if (g_str_equal (words[0], "put"))
    ok = command_put (store, words[1], words[2], error);
  else if (g_str_equal (words[0], "get"))
    ok = command_get (store, words[1], error);
  else if (g_str_equal (words[0], "remove"))
    ok = command_remove (store, words[1], error);
  else
    ok = command_list (store, as_json, error);
  store_free (store);
  return ok;
}

static gboolean
check_words (gchar **words, gint n_words)
{
  static const struct {
    const gchar *name;
    gint n_words;
  } commands[] = { { "run", 1 }, { "put", 3 }, { "get", 2 }, { "remove", 2 },
    { "list", 1 } };

  for (guint i = 0; n_words > 0 && i < G_N_ELEMENTS (commands); i++)
    if (g_str_equal (words[0], commands[i].name)) {
      if (n_words == commands[i].n_words)
        return TRUE;
      g_printerr ("cuvision-farm: %s takes %d arguments; see "
                  "cuvision-farm --help\n",
          words[0], commands[i].n_words - 1);
      return FALSE;
    }
  g_printerr (
      "cuvision-farm: the command must be run, put, get, remove or list; see "
      "cuvision-farm --help\n");
  return FALSE;
}

static gboolean
parse_options (int *argc, char ***argv)
{
  GOptionContext *context = g_option_context_new ("COMMAND");
  GError *error = NULL;

  g_option_context_set_summary (context,
      "Runs a gst-launch pipeline for each of many cameras, on several "
      "machines.");
  g_option_context_set_description (context, description);
  g_option_context_add_main_entries (context, entries, NULL);
  if (!g_option_context_parse (context, argc, argv, &error))
    g_printerr (
        "cuvision-farm: %s; see cuvision-farm --help\n", error->message);
  g_option_context_free (context);
  if (error != NULL) {
    g_error_free (error);
    return FALSE;
  }
  return check_words (*argv + 1, *argc - 1);
}

static gboolean
farm_run (gchar **words, GError **error)
{
  FarmConfig *config = farm_config_read (config_path, worker_name, error);
  gboolean ok;

  if (config == NULL)
    return FALSE;
  ok = g_str_equal (words[0], "run") ? command_run (config, error)
                                     : run_with_store (config, words, error);
  farm_config_free (config);
  return ok;
}

int
main (int argc, char **argv)
{
  GError *error = NULL;
  gboolean ok;

  watchdog_watch ();
  cuv_line_main (argc, argv);
  setlocale (LC_ALL, "");
  setlocale (LC_NUMERIC, "C"); /* numbers are the same in every locale */
  if (!parse_options (&argc, &argv))
    return 2;
  if (config_path == NULL)
    config_path = g_strdup ("/etc/cuvision-farm.conf");
  ok = farm_run (argv + 1, &error);
  if (!ok)
    g_printerr ("cuvision-farm: %s\n", error->message);
  g_clear_error (&error);
  g_free (config_path);
  g_free (worker_name);
  return ok ? 0 : 1;
}
