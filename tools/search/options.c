/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The command line. */
#include "search-tool.h"

static SearchOptions options;
static gboolean help, by_name, by_number;

static gboolean
parse_device (
    const gchar *name, const gchar *value, gpointer data, GError **error)
{
  return device_option_parse (name, value, &options.device, error);
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
        "%s '%s' is not upright, mirrored or all", name, value);
  return *error == NULL;
}

static const GOptionEntry entries[] = {
  { "index", 'i', 0, G_OPTION_ARG_FILENAME_ARRAY, &options.indexes,
      "An index of ldpindexsink or cuvision-index, or a pattern that matches "
      "several; their entries are numbered consecutively",
      "FILE" },
  { "entry", 'e', 0, G_OPTION_ARG_NONE, &by_name,
      "Queries are names of entries, not pictures", NULL },
  { "number", 'n', 0, G_OPTION_ARG_NONE, &by_number,
      "Queries are numbers of entries, not pictures", NULL },
  { "k", 'k', 0, G_OPTION_ARG_INT, &options.k,
      "Maximum number of matches per query, 1 to 10000 (default: 5)", "N" },
  { "threshold", 't', 0, G_OPTION_ARG_DOUBLE, &options.threshold,
      "Minimum similarity of a match, 0 to 1 (default: 0)", "SIMILARITY" },
  { "orientations", 0, 0, G_OPTION_ARG_CALLBACK, parse_orientations,
      "Compare pictures upright, also mirrored, or also turned by 90, 180 and "
      "270 degrees: upright, mirrored or all (default: mirrored)",
      "NAME" },
  { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options.output,
      "Write the results to a file on the first rank's machine, not to stdout",
      "FILE" },
  { "thumbnails", 0, 0, G_OPTION_ARG_NONE, &options.thumbnails,
      "Print the matches' thumbnails, as PNG data URIs", NULL },
  { "device", 'd', 0, G_OPTION_ARG_CALLBACK, parse_device,
      "auto, cpu or cuda; results are the same (default: auto)", "NAME" },
  { "threads", 0, 0, G_OPTION_ARG_INT, &options.n_threads,
      "Threads of each rank on the CPU (default: the machine's cores, divided "
      "by its ranks)",
      "N" },
  { "memory-limit", 0, 0, G_OPTION_ARG_INT, &options.memory_limit,
      "MiB of GPU or host memory for a copy of each rank's histograms; the "
      "rest is read from the file for each query (default: the rank's share of "
      "the free memory)",
      "MIB" },
  { "no-check", 0, 0, G_OPTION_ARG_NONE, &options.no_check,
      "Skip the check for damaged entries, which reads all of them", NULL },
  { "repeat", 0, 0, G_OPTION_ARG_INT, &options.repeat,
      "Compare N times and print the median time (default: 1)", "N" },
  { "verbose", 'v', 0, G_OPTION_ARG_NONE, &options.verbose,
      "Print the entries, device and memory of each rank", NULL },
  { "help", 'h', 0, G_OPTION_ARG_NONE, &help, "Print this help", NULL },
  { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &options.queries,
      NULL, NULL },
  { NULL },
};

static const gchar description[] =
    "Prints a line of JSON for each query: its matches, best first. The QUERY "
    "- reads more\nqueries from stdin, one per line, and answers those that "
    "have arrived before it\nwaits for more.\n\n"
    "Examples:\n"
    "  cuvision-search -i pictures.ldp photo.jpg\n"
    "  mpirun -n 4 cuvision-search -i 'part-*.ldp' --k 10 photos/*.jpg\n"
    "  mpirun --host a,b --map-by ppr:1:node --bind-to none cuvision-search "
    "-i big.ldp -\n\n"
    "Exit status: 0 on success, 1 if anything failed, even one query, 2 for a "
    "wrong\ncommand line.";

static const gchar *
find_problem (void)
{
  if (options.indexes == NULL)
    return "--index is missing";
  if (options.queries == NULL)
    return "no query: give a picture, or - to read queries from stdin";
  if (by_name && by_number)
    return "--entry and --number cannot be used together";
  if (options.k < 1 || options.k > 10000)
    return "--k must be 1 to 10000";
  if (!(options.threshold >= 0 && options.threshold <= 1))
    return "--threshold must be 0 to 1";
  if (options.n_threads < 0)
    return "--threads must be 0 or more";
  if (options.memory_limit < -1)
    return "--memory-limit must be 0 or more";
  if (options.repeat < 1 || options.repeat > 1000000)
    return "--repeat must be 1 to 1000000";
  return NULL;
}

static SearchParsed
check_parsed (SearchOptions *self, gchar **text)
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
  if (self->kind
      != SEARCH_PICTURES) /* an index holds upright descriptors only */
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
      "Finds the entries of an index that are most similar to a picture, on "
      "one "
      "or many\nmachines, with MPI.");
  g_option_context_set_description (context, description);
  g_option_context_add_main_entries (context, entries, NULL);
  if (!g_option_context_parse (context, argc, argv, &error)) {
    *text = g_strdup (error->message);
  } else if (help) {
    *text = g_option_context_get_help (context, TRUE, NULL);
    parsed = SEARCH_HELP;
  } else {
    parsed = check_parsed (self, text);
  }
  g_clear_error (&error);
  g_option_context_free (context);
  return parsed;
}
