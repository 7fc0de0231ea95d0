/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The commands of cuvision-index, which lists and edits the index files of
 * ldpindexsink. A map of the program:
 *
 *   cuvision-index.c     main(): the command line and the table of commands
 *   index-show.c         list, info, check, export
 *   index-add.c          add
 *   index-edit.c         merge, remove, rename, replace, compact, split
 *   index-duplicates.c   duplicates
 *   index-names.c        names from the command line, stdin and folders
 *   elements/ldp/index/  reads and writes the files (ldpindex.h)
 *
 * arguments: the words after the command's name, the index first, ended by
 * NULL. Commands print errors and return whether they succeeded. */
#ifndef CUVISION_INDEX_H
#define CUVISION_INDEX_H

#include <glib.h>
#include "index/ldpindex.h"

extern gboolean option_number; /* ENTRY is a number, not a name */
extern gchar **option_set;     /* NAME=VALUE for ldpindexsink; NULL: none */
/* Minimum similarity of duplicates; SIMILARITY_UNSET: not given. */
#define SIMILARITY_UNSET (-G_MAXDOUBLE)
extern gdouble option_similarity;

/* Prints an error of the library and frees it. Returns FALSE. */
gboolean print_error (char *text);

/* Returns the name of entry i, for messages; "(damaged)" if it cannot be
 * read. */
const gchar *entry_name (const CuvLdpIndex *index, guint64 i);

/* Returns the names; "-" is replaced by the lines of standard input and, if
 * `folders` is TRUE, a folder by its files. Returns NULL after an error was
 * printed. */
gchar **names_expand (gchar **arguments, gboolean folders);

/* Whether an index has the parameters that `add` gives a new one by default. */
gboolean has_add_defaults (const CuvLdpLayout *layout);

/* Sets chosen[i], of n_entries booleans, for all entries i with this name or,
 * with
 * --number, this number. Returns FALSE after an error was printed if there is
 * none. */
gboolean choose_entries (
    const CuvLdpIndex *index, const gchar *entry, gboolean *chosen);

gboolean command_list (gchar **arguments);
gboolean command_info (gchar **arguments);
gboolean command_check (gchar **arguments);
gboolean command_export (gchar **arguments);
gboolean command_add (gchar **arguments);
gboolean command_duplicates (gchar **arguments);
gboolean command_merge (gchar **arguments);
gboolean command_remove (gchar **arguments);
gboolean command_rename (gchar **arguments);
gboolean command_compact (gchar **arguments);
gboolean command_split (gchar **arguments);
gboolean command_replace (gchar **arguments);

#endif
