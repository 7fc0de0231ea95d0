/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The program: its command line and the table of commands. */
#include "cuvision-index.h"

#include <locale.h>
#include <stdlib.h>

gboolean option_number;
gchar **option_set;
gdouble option_similarity = SIMILARITY_UNSET;

static const struct {
  const gchar *name, *arguments, *does;
  gboolean (*run) (gchar **arguments);
  guint least, most; /* arguments */
} commands[] = {
  { "list", "INDEX", "print each entry's number and name", command_list, 1, 1 },
  { "info", "INDEX...", "print parameters and size", command_info, 1,
      G_MAXUINT },
  { "check", "INDEX", "check for damaged entries", command_check, 1, 1 },
  { "add", "INDEX PICTURE...", "add pictures of any size, or folders",
      command_add, 2, G_MAXUINT },
  { "merge", "INDEX FROM...", "append the entries of other indexes",
      command_merge, 2, G_MAXUINT },
  { "remove", "INDEX ENTRY...", "remove entries", command_remove, 2,
      G_MAXUINT },
  { "rename", "INDEX ENTRY NAME", "rename an entry", command_rename, 3, 3 },
  { "replace", "INDEX FROM...",
      "replace entries by those of the same name in other indexes",
      command_replace, 2, G_MAXUINT },
  { "split", "INDEX N|FILE...",
      "copy the entries to N new files of equal length", command_split, 2,
      G_MAXUINT },
  { "compact", "INDEX", "remove damaged and repeated entries", command_compact,
      1, 1 },
  { "duplicates", "INDEX", "print entries that look like an earlier one",
      command_duplicates, 1, 1 },
  { "export", "INDEX FOLDER", "write the thumbnails as PPM files",
      command_export, 2, 2 },
};

gboolean
print_error (char *text)
{
  g_printerr ("cuvision-index: %s\n", text != NULL ? text : "out of memory");
  free (text);
  return FALSE;
}

static gchar *
describe_commands (void)
{
  GString *text = g_string_new ("Commands:\n");

  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    g_string_append_printf (text, "  %-11s%-18s%s\n", commands[i].name,
        commands[i].arguments, commands[i].does);
  g_string_append (text,
      "\n"
      "ENTRY is a name, which selects all entries of that name, or with "
      "--number a number.\n"
      "For add and remove '-' reads names from standard input, one per line.\n"
      "If killed, remove, rename, replace and compact leave either the old or\n"
      "the new file; add keeps all entries appended before, merge all complete "
      "batches.");
  return g_string_free (text, FALSE);
}

/* Below 0 all entries would be duplicates. */
static gboolean
check_similarity (GError **error)
{
  if (option_similarity <= SIMILARITY_UNSET
      || (option_similarity >= 0 && option_similarity <= 1))
    return TRUE;
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
      "--similarity %g is not from 0 to 1", option_similarity);
  return FALSE;
}

static gboolean
parse_options (int *argc, char ***argv)
{
  const GOptionEntry entries[] = {
    { "number", 'n', 0, G_OPTION_ARG_NONE, &option_number,
        "Select entries by number", NULL },
    { "set", 's', 0, G_OPTION_ARG_STRING_ARRAY, &option_set,
        "add: a property of ldpindexsink, for a new index", "NAME=VALUE" },
    { "similarity", 0, 0, G_OPTION_ARG_DOUBLE, &option_similarity,
        "duplicates: minimum similarity of duplicates, 0 to 1 (default: 0.54; "
        "1, for equal histograms, if the index was created with other "
        "parameters than those of add)",
        "S" },
    { NULL, 0, 0, 0, NULL, NULL, NULL },
  };
  GOptionContext *context = g_option_context_new ("COMMAND INDEX ...");
  gchar *description = describe_commands ();
  GError *error = NULL;
  gboolean ok;

  g_option_context_add_main_entries (context, entries, NULL);
  g_option_context_set_summary (
      context, "Lists and edits index files of ldpindexsink.");
  g_option_context_set_description (context, description);
  ok = g_option_context_parse (context, argc, argv, &error)
      && check_similarity (&error);
  if (!ok)
    g_printerr ("cuvision-index: %s (see --help)\n", error->message);
  g_clear_error (&error);
  g_free (description);
  g_option_context_free (context);
  return ok;
}

/* Exit status 0: success; 1: failure; 2: wrong command line. */
int
main (int argc, char **argv)
{
  guint n;

  setlocale (LC_ALL, "");
  if (!parse_options (&argc, &argv))
    return 2;
  n = argc > 2 ? (guint) argc - 2 : 0;
  for (guint i = 0; argc > 1 && i < G_N_ELEMENTS (commands); i++) {
    if (!g_str_equal (commands[i].name, argv[1]))
      continue;
    if (n >= commands[i].least && n <= commands[i].most)
      return commands[i].run (argv + 2) ? 0 : 1;
    g_printerr (
        "usage: cuvision-index %s %s\n", argv[1], commands[i].arguments);
    return 2;
  }
  g_printerr (argc > 1 ? "cuvision-index: unknown command '%s' (see "
                         "--help)\n"
                       : "usage: cuvision-index COMMAND INDEX ... (see "
                         "--help)\n",
      argc > 1 ? argv[1] : "");
  return 2;
}
