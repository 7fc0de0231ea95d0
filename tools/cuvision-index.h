/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The commands of cuvision-index. arguments: those after the command's name,
 * the index first. Commands print errors and return whether they succeeded. */
#ifndef CUVISION_INDEX_H
#define CUVISION_INDEX_H

#include <glib.h>
#include "index/ldpindex.h"

extern gboolean option_number; /* entries are given by number */
extern gchar **option_set;     /* NAME=VALUE for ldpindexsink */
/* From which on entries are duplicates; SIMILARITY_UNSET: not given. */
#define SIMILARITY_UNSET (-G_MAXDOUBLE)
extern gdouble option_similarity;

/* Prints an error of the library and frees it. Returns FALSE. */
gboolean print_error (char *text);

/* For messages. */
const gchar *name_of (const CuvLdpIndex *index, guint64 i);

/* The names, lines of standard input for "-", and, with folders, the files in
 * those that are folders. NULL after an error was printed. */
gchar **names_expand (gchar **arguments, gboolean folders);

/* Whether an index has the parameters that add gives a new one. */
gboolean is_usual (const CuvLdpLayout *layout);

/* Sets chosen[i], of n_entries booleans, for all entries i selected by a name
 * or, with --number, by a number. Prints an error and returns FALSE if there is
 * none. */
gboolean choose (
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
