/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The command line. */
#include "archive.h"

#include <stdio.h>
#include "cuvfile.h"

static ArchiveOptions options = {
  .part = 1, .parts = 1, .jobs = 1, .stall = 300
};
static gchar *line_file;

static gboolean
parse_part (
    const gchar *name, const gchar *value, gpointer data, GError **error)
{
  gchar *end;
  const guint64 part = g_ascii_strtoull (value, &end, 10);
  const guint64 parts = *end == '/' ? g_ascii_strtoull (end + 1, &end, 10) : 0;

  if (*end != '\0' || part < 1 || part > parts || parts > 1000000) {
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
        "%s '%s' is not K/N with K from 1 to N, such as 3/8", name, value);
    return FALSE;
  }
  options.part = (guint) part;
  options.parts = (guint) parts;
  return TRUE;
}

static const GOptionEntry entries[] = {
  /* FILENAME: any bytes, whatever the locale's encoding */
  { "line", 'e', 0, G_OPTION_ARG_FILENAME, &options.line,
      "The gst-launch pipeline, with {film}, {results}, {name}, {uri}",
      "LINE" },
  { "line-file", 0, 0, G_OPTION_ARG_FILENAME, &line_file,
      "A file with the pipeline", "FILE" },
  { "list", 'l', 0, G_OPTION_ARG_FILENAME_ARRAY, &options.lists,
      "A file that names one video per line; -: standard input", "FILE" },
  { "null", '0', 0, G_OPTION_ARG_NONE, &options.null,
      "Names in lists end with a 0 byte, as find -print0 writes them", NULL },
  { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options.output,
      "Folder of the results (default: beside each video)", "FOLDER" },
  { "root", 0, 0, G_OPTION_ARG_FILENAME, &options.root,
      "With --output: results get the videos' paths relative to this folder "
      "(default: the current folder)",
      "FOLDER" },
  { "jobs", 'j', 0, G_OPTION_ARG_INT, &options.jobs,
      "Number of videos processed at a time (default: 1)", "N" },
  { "part", 0, 0, G_OPTION_ARG_CALLBACK, parse_part,
      "Process only part K of N of the videos; all parts have about the same "
      "size in bytes",
      "K/N" },
  { "stall", 0, 0, G_OPTION_ARG_INT, &options.stall,
      "Fail a video after this many seconds without a buffer; 0: never "
      "(default: 300)",
      "SECONDS" },
  { "allow-short", 0, 0, G_OPTION_ARG_NONE, &options.allow_short,
      "Accept videos that are shorter than their stated duration", NULL },
  { "retry-failed", 0, 0, G_OPTION_ARG_NONE, &options.retry_failed,
      "Retry videos that failed", NULL },
  { "redo", 0, 0, G_OPTION_ARG_NONE, &options.redo,
      "Replace results of another pipeline or video", NULL },
  { "wait", 'w', 0, G_OPTION_ARG_NONE, &options.wait,
      "Wait for videos that other processes are working on", NULL },
  { "pending", 0, 0, G_OPTION_ARG_NONE, &options.pending,
      "Only print the videos that are left to do", NULL },
  { "check", 0, 0, G_OPTION_ARG_NONE, &options.check,
      "Only check markers and checksums below --output or the given folders",
      NULL },
  { "json", 0, 0, G_OPTION_ARG_NONE, &options.json,
      "Print a summary as JSON to standard output", NULL },
  { "quiet", 'q', 0, G_OPTION_ARG_NONE, &options.quiet, "Print problems only",
      NULL },
  { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &options.videos,
      NULL, "VIDEO..." },
  { NULL }
};

static const gchar description[] =
    "In the pipeline {film} is the video's path, {uri} its URI, {name} its "
    "name, and\n"
    "{results} the folder of its results: VIDEO.results, with done.json when "
    "the\nvideo is done, or only failed.json if it cannot be read.\n\n"
    "Example:\n"
    "  cuvision-archive --output results --line 'filesrc location={film} ! "
    "decodebin\n"
    "    ! videoconvert ! waldboostdetect model=cup.xml\n"
    "    ! visionpublish file-path={results}/cups.jsonl ! fakesink' a.mp4 "
    "b.mp4\n\n"
    "Exit status: 0 if all videos are done, 1 if not, 2 for a wrong command "
    "line\nor pipeline, 3 if the run ended early.";

static gboolean
read_line_option (GError **error)
{
  if (line_file != NULL && options.line != NULL) {
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
        "--line and --line-file cannot be used together");
    return FALSE;
  }
  if (line_file != NULL
      && !cuv_file_read (
          line_file, CUV_FILE_MAX_TEXT, &options.line, NULL, error))
    return FALSE;
  if (options.line == NULL || *g_strstrip (options.line) == '\0') {
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
        "--line or --line-file is missing");
    return FALSE;
  }
  if (g_utf8_validate (options.line, -1, NULL))
    return TRUE;
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
      "the pipeline is not UTF-8");
  return FALSE;
}

static gboolean
check_options (GError **error)
{
  const gchar *problem = NULL;

  if (options.check)
    problem = options.output == NULL && options.videos == NULL
        ? "--check needs --output or a folder"
        : NULL;
  else if (options.videos == NULL && options.lists == NULL)
    problem = "no videos: give their paths, or use --list";
  else if (options.jobs < 1 || options.jobs > 1024)
    problem = "--jobs must be 1 to 1024";
  else if (options.stall < 0)
    problem = "--stall must be 0 or more";
  else if (options.root != NULL && options.output == NULL)
    problem = "--root needs --output";
  if (problem != NULL)
    g_set_error_literal (
        error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, problem);
  return problem == NULL;
}

static void
make_absolute (gchar **path, const gchar *fallback)
{
  gchar *absolute =
      g_canonicalize_filename (*path != NULL ? *path : fallback, NULL);

  g_free (*path);
  *path = absolute;
}

const ArchiveOptions *
options_parse (int *argc, char ***argv)
{
  GOptionContext *context = g_option_context_new (NULL);
  GError *error = NULL;
  gboolean ok;

  g_option_context_set_summary (context,
      "Runs a gst-launch pipeline once for each video; a marker beside the "
      "results\nrecords that it is done.");
  g_option_context_set_description (context, description);
  g_option_context_add_main_entries (context, entries, NULL);
  ok = g_option_context_parse (context, argc, argv, &error)
      && check_options (&error) && (options.check || read_line_option (&error));
  if (!ok)
    fprintf (stderr, "cuvision-archive: %s; see cuvision-archive --help\n",
        error->message);
  g_clear_error (&error);
  g_option_context_free (context);
  make_absolute (&options.root, ".");
  if (options.output != NULL)
    make_absolute (&options.output, NULL);
  return ok ? &options : NULL;
}
