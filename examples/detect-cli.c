/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Options, error messages and statistics of detect. */
#include "detect-cli.h"

#include <stdlib.h>

DetectOptions options = { .model = "haarcascade_frontalface_alt2.xml",
  .device = "auto",
  .scan = "auto",
  .mode = "auto",
  .block_size = "auto" };

static gboolean
add_file (const gchar *option, const gchar *name, gpointer data, GError **error)
{
  g_ptr_array_add (options.files, g_strdup (name));
  return TRUE;
}

static gboolean
add_list (const gchar *option, const gchar *name, gpointer data, GError **error)
{
  gchar *text, **lines;

  if (!g_file_get_contents (name, &text, NULL, error))
    return FALSE;
  lines = g_strsplit_set (text, "\r\n", -1);
  for (gchar **line = lines; *line != NULL; line++) {
    if (**line != '\0')
      add_file (option, *line, data, error);
  }
  g_strfreev (lines);
  g_free (text);
  return TRUE;
}

/* clang-format off */
static const GOptionEntry entries[] = {
  { "list", 'l', G_OPTION_FLAG_FILENAME, G_OPTION_ARG_CALLBACK, add_list,
    "Process the files named in this text file, one per line", "FILE" },
  { "model", 'm', 0, G_OPTION_ARG_FILENAME, &options.model,
    "Default: haarcascade_frontalface_alt2.xml", "FILE" },
  { "csv", 'c', 0, G_OPTION_ARG_FILENAME, &options.csv,
    "Append the objects to this file as CSV; -: standard output", "FILE" },
  { "timing", 't', 0, G_OPTION_ARG_NONE, &options.timing,
    "Print the time of each step in microseconds", NULL },
  { "survivors", 's', 0, G_OPTION_ARG_NONE, &options.survivors,
    "Print the number of windows left after each segment", NULL },
  { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options.output,
    "Write a video (.avi), or a folder of pictures, with the objects drawn", "PATH" },
  { "show", 'w', 0, G_OPTION_ARG_NONE, &options.show,
    "Show the video with the objects drawn", NULL },
  { "frames", 'n', 0, G_OPTION_ARG_INT, &options.frames,
    "Process N frames of each file; 0: all", "N" },
  { "device", 'd', 0, G_OPTION_ARG_STRING, &options.device,
    "cpu, gpu or auto (default): the GPU if there is one", "DEVICE" },
  { "scan", 0, 0, G_OPTION_ARG_STRING, &options.scan,
    "Windows to scan: auto, opencv, wbd or dense", "SCAN" },
  { "mode", 0, 0, G_OPTION_ARG_STRING, &options.mode,
    "How a GPU compacts surviving windows: the property rearrangement", "MODE" },
  { "block-size", 'b', 0, G_OPTION_ARG_STRING, &options.block_size,
    "Side of the square of windows of a GPU thread block: auto, 8, 16 or 32", "SIZE" },
  { "set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &options.settings,
    "Set any other property, in gst-launch-1.0's syntax", "NAME=VALUE" },
  { G_OPTION_REMAINING, 0, G_OPTION_FLAG_FILENAME, G_OPTION_ARG_CALLBACK,
    add_file, NULL, "FILE..." },
  G_OPTION_ENTRY_NULL
};
/* clang-format on */

static const gchar *
find_problem (void)
{
  static const gchar *const devices[] = { "cpu", "gpu", "auto", NULL };

  if (options.files->len == 0)
    return "no files";
  if (!g_strv_contains (devices, options.device))
    return "--device must be cpu, gpu or auto";
  if (options.frames < 0)
    return "--frames must be 0 or more";
  if (options.show && options.output != NULL)
    return "--show and --output cannot be used together";
  for (gchar **s = options.settings; s != NULL && *s != NULL; s++) {
    if (strchr (*s, '=') == NULL)
      return "--set takes NAME=VALUE";
  }
  return NULL;
}

void
parse_options (int *argc, char ***argv)
{
  GOptionContext *context =
      g_option_context_new ("- find objects in pictures and videos");
  const gchar *wrong;
  GError *error = NULL;

  options.files = g_ptr_array_new_with_free_func (g_free);
  g_option_context_add_main_entries (context, entries, NULL);
  g_option_context_add_group (context, gst_init_get_option_group ());
  wrong = g_option_context_parse (context, argc, argv, &error) ? find_problem ()
                                                               : error->message;
  if (wrong != NULL) {
    g_printerr ("detect: %s; see detect --help\n", wrong);
    exit (2);
  }
  g_option_context_free (context);
  if (options.frames == 0)
    options.frames = G_MAXINT;
  if (options.output != NULL && g_str_has_suffix (options.output, ".avi"))
    options.video = options.output;
  else
    options.folder = options.output;
}

/* ---- messages ---- */

/* Prints a message with its cause, which is in GStreamer's debug text, after
 * the first line. */
void
print_message (const gchar *name, const gchar *what, GstMessage *message)
{
  gchar *debug = NULL, *cause;
  GError *error = NULL;

  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR)
    gst_message_parse_error (message, &error, &debug);
  else
    gst_message_parse_warning (message, &error, &debug);
  cause = debug != NULL ? strchr (debug, '\n') : NULL;
  g_printerr ("detect: %s%s%s%s: %s%s\n", name ? name : "", name ? ": " : "",
      what, GST_MESSAGE_SRC_NAME (message), error->message,
      cause ? g_strdelimit (g_strchomp (cause), "\n", ' ') : "");
  g_error_free (error);
  g_free (debug);
}

void
print_parse_error (const GError *error)
{
  g_printerr ("detect: %s: %s\n", error->message,
      g_error_matches (error, GST_PARSE_ERROR, GST_PARSE_ERROR_NO_SUCH_ELEMENT)
          ? "install its plugin, or add the plugin's folder to GST_PLUGIN_PATH"
          : "see gst-inspect-1.0 waldboostdetect");
}

/* ---- statistics ---- */

static const gchar *const steps[] = { "microseconds", "microseconds-pyramid",
  "microseconds-scan", "microseconds-group" };
static gdouble sums[G_N_ELEMENTS (steps)];
static guint n_frames;

static void
print_timing (FILE *out, const gchar *name, const GstStructure *stats)
{
  GValue time = G_VALUE_INIT;

  g_value_init (&time, G_TYPE_DOUBLE);
  fprintf (out, "%s:", name);
  for (guint i = 0; i < G_N_ELEMENTS (steps); i++) {
    g_value_transform (gst_structure_get_value (stats, steps[i]), &time);
    sums[i] += g_value_get_double (&time);
    fprintf (out, " %s %.0f", steps[i], g_value_get_double (&time));
  }
  fputc ('\n', out);
  n_frames++;
}

/* Prints how many windows were left after each number of stages or weak
 * classifiers. */
static void
print_survivors (FILE *out, const gchar *name, const GstStructure *stats)
{
  const GValue *ends = gst_structure_get_value (stats, "segments");
  const GValue *counts = gst_structure_get_value (stats, "survivors");
  guint64 windows = 0;

  gst_structure_get_uint64 (stats, "windows", &windows);
  fprintf (out, "%s: windows %" G_GUINT64_FORMAT, name, windows);
  for (guint i = 0; i < gst_value_array_get_size (counts); i++)
    fprintf (out, ", after %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT,
        g_value_get_uint64 (gst_value_array_get_value (ends, i)),
        g_value_get_uint64 (gst_value_array_get_value (counts, i)));
  fputc ('\n', out);
}

void
print_stats (FILE *out, const gchar *name, const GstStructure *stats)
{
  if (options.timing)
    print_timing (out, name, stats);
  if (options.survivors)
    print_survivors (out, name, stats);
}

void
print_means (FILE *out, guint n_objects, gdouble seconds)
{
  if (!options.timing)
    return;
  fprintf (out, "mean of %u frames:", n_frames);
  for (guint i = 0; i < G_N_ELEMENTS (steps); i++)
    fprintf (out, " %s %.0f", steps[i], sums[i] / MAX (n_frames, 1));
  fprintf (out, "\n%u objects, %.1f frames/s with decoding\n", n_objects,
      n_frames / seconds);
}
