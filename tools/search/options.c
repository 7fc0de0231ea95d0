/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "search-tool.h"

static SearchOptions options;
static gboolean help, by_name, by_number;

static gboolean
parse_device (
    const gchar *name, const gchar *value, gpointer data, GError **error)
{
  static const gchar *const names[] = { [SEARCH_DEVICE_AUTO] = "auto",
    [SEARCH_DEVICE_CPU] = "cpu",
    [SEARCH_DEVICE_CUDA] = "cuda" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    if (g_str_equal (value, names[i])) {
      options.device = (SearchDevice) i;
      return TRUE;
    }
  }
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
      "%s '%s' is neither auto, cpu nor cuda", name, value);
  return FALSE;
}

static gboolean
parse_orientations (
    const gchar *name, const gchar *value, gpointer data, GError **error)
{
  if (g_str_equal (value, "upright"))
    options.orientations = SEARCH_UPRIGHT;
  else if (g_str_equal (value, "mirrored"))
    options.orientations = SEARCH_MIRRORED;
  else if (g_str_equal (value, "all"))
    options.orientations = SEARCH_ALL_ORIENTATIONS;
  else
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
        "%s '%s' is neither upright, mirrored nor all", name, value);
  return *error == NULL;
}

static const GOptionEntry entries[] = {
  { "index", 'i', 0, G_OPTION_ARG_FILENAME_ARRAY, &options.indexes,
      "An index of ldpindexsink or cuvision-index, or a pattern of several; "
      "entries are numbered through all of them",
      "FILE" },
  { "entry", 'e', 0, G_OPTION_ARG_NONE, &by_name,
      "Queries are names of entries, not pictures", NULL },
  { "number", 'n', 0, G_OPTION_ARG_NONE, &by_number,
      "Queries are numbers of entries, not pictures", NULL },
  { "k", 'k', 0, G_OPTION_ARG_INT, &options.k,
      "Maximum number of matches of a query, 1 to 10000 (default: 5)", "N" },
  { "threshold", 't', 0, G_OPTION_ARG_DOUBLE, &options.threshold,
      "Minimum similarity of a match, 0 to 1 (default: 0)", "SIMILARITY" },
  { "orientations", 0, 0, G_OPTION_ARG_CALLBACK, parse_orientations,
      "Compare pictures upright, also mirrored, or also turned by 90, 180 and "
      "270 degrees: upright, mirrored or all (default: mirrored)",
      "NAME" },
  { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options.output,
      "Write the results to a file of the first rank's machine, not to stdout",
      "FILE" },
  { "thumbnails", 0, 0, G_OPTION_ARG_NONE, &options.thumbnails,
      "Print the matches' thumbnails, as data URIs of PNG", NULL },
  { "device", 'd', 0, G_OPTION_ARG_CALLBACK, parse_device,
      "auto, cpu or cuda; all find the same (default: auto)", "NAME" },
  { "threads", 0, 0, G_OPTION_ARG_INT, &options.n_threads,
      "Threads of each rank on the CPU (default: the machine's cores, divided "
      "by its ranks)",
      "N" },
  { "memory-limit", 0, 0, G_OPTION_ARG_INT, &options.memory_limit,
      "MiB of memory, of the GPU or the machine, for a copy of each rank's "
      "histograms; what does not fit is read from the file again and again "
      "(default: what the ranks' share of the free memory holds)",
      "MIB" },
  { "no-check", 0, 0, G_OPTION_ARG_NONE, &options.no_check,
      "Do not check the entries for damage, for which all of them are read",
      NULL },
  { "repeat", 0, 0, G_OPTION_ARG_INT, &options.repeat,
      "Compare N times and print the median time (default: 1)", "N" },
  { "verbose", 'v', 0, G_OPTION_ARG_NONE, &options.verbose,
      "Print what each rank does, and its memory", NULL },
  { "help", 'h', 0, G_OPTION_ARG_NONE, &help, "Print this", NULL },
  { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &options.queries,
      NULL, NULL },
  { NULL },
};

static const gchar description[] =
    "Prints a line of JSON for each query: its matches, the best first. The "
    "QUERY - reads\nmore from stdin, one a line, and answers all that are "
    "there before it waits.\n\n"
    "Examples:\n"
    "  cuvision-search -i pictures.ldp photo.jpg\n"
    "  mpirun -n 4 cuvision-search -i 'part-*.ldp' --k 10 photos/*.jpg\n"
    "  mpirun --host a,b --map-by ppr:1:node --bind-to none cuvision-search "
    "-i big.ldp -\n\n"
    "Exit status: 0 on success, 1 if something failed, also a query, 2 for a "
    "wrong command line.";

static const gchar *
find_problem (void)
{
  if (options.indexes == NULL)
    return "--index is missing";
  if (options.queries == NULL)
    return "there is no query: name a picture, or - to read them from stdin";
  if (by_name && by_number)
    return "--entry and --number contradict each other";
  if (options.k < 1 || options.k > 10000)
    return "--k is not in 1 .. 10000";
  if (!(options.threshold >= 0 && options.threshold <= 1))
    return "--threshold is not in 0 .. 1";
  if (options.n_threads < 0)
    return "--threads is below 0";
  if (options.memory_limit < -1)
    return "--memory-limit is below 0";
  if (options.repeat < 1 || options.repeat > 1000000)
    return "--repeat is not in 1 .. 1000000";
  return NULL;
}

static SearchParsed
finish (SearchOptions *self, gchar **text)
{
  const gchar *problem = find_problem ();

  if (problem != NULL) {
    *text = g_strdup (problem);
    return SEARCH_WRONG;
  }
  *self = options;
  self->kind = by_name ? SEARCH_NAMES
      : by_number      ? SEARCH_NUMBERS
                       : SEARCH_PICTURES;
  if (self->kind != SEARCH_PICTURES) /* an entry is described upright only */
    self->orientations = SEARCH_UPRIGHT;
  return SEARCH_RUN;
}

/* GLib's own --help would print at every rank and leave MPI running. */
SearchParsed
options_parse (int *argc, char ***argv, SearchOptions *self, gchar **text)
{
  GOptionContext *context = g_option_context_new ("QUERY...");
  GError *error = NULL;
  SearchParsed parsed = SEARCH_WRONG;

  options = (SearchOptions){
    .k = 5, .orientations = SEARCH_MIRRORED, .memory_limit = -1, .repeat = 1
  };
  g_option_context_set_help_enabled (context, FALSE);
  g_option_context_set_summary (context,
      "Finds the pictures of an index that look most like a picture, on one or "
      "many\nmachines, with MPI.");
  g_option_context_set_description (context, description);
  g_option_context_add_main_entries (context, entries, NULL);
  if (!g_option_context_parse (context, argc, argv, &error)) {
    *text = g_strdup (error->message);
  } else if (help) {
    *text = g_option_context_get_help (context, TRUE, NULL);
    parsed = SEARCH_HELP;
  } else {
    parsed = finish (self, text);
  }
  g_clear_error (&error);
  g_option_context_free (context);
  return parsed;
}
