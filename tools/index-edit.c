/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Edits indexes: merge appends entry by entry, all other commands write a new
 * file that replaces the old one. */
#include "cuvision-index.h"

#include <stdlib.h>

/* ---- merge ---- */

gboolean
command_merge (gchar **arguments)
{
  CuvLdpIndexWriter *to = NULL;
  char *problem = NULL;
  gboolean ok = TRUE;

  for (gchar **from = arguments + 1; ok && *from != NULL; from++) {
    CuvLdpIndex *index = cuv_ldp_index_open (*from, &problem);

    ok = index != NULL;
    if (ok && to == NULL)
      to = cuv_ldp_index_writer_open (
          arguments[0], cuv_ldp_index_info (index), true, &problem);
    ok = ok && to != NULL;
    for (guint64 i = 0; ok && i < cuv_ldp_index_n_entries (index); i++)
      ok = cuv_ldp_index_writer_copy (to, index, i, NULL, &problem);
    cuv_ldp_index_free (index);
  }
  if (!ok)
    print_error (g_steal_pointer (&problem));
  if (to != NULL && !cuv_ldp_index_writer_close (to, &problem))
    ok = print_error (problem);
  return ok;
}

/* ---- rewriting ---- */

typedef struct {
  gchar **entries;   /* to remove, or the one to rename */
  const gchar *name; /* to rename to; NULL: remove */
} Change;

static bool
copy_changed (
    void *data, const CuvLdpIndex *from, CuvLdpIndexWriter *to, char **error)
{
  const Change *self = data;
  const guint64 n = cuv_ldp_index_n_entries (from);
  gboolean *chosen = g_new0 (gboolean, n + 1), ok = TRUE;

  *error = NULL; /* choose() prints its errors itself */
  for (gchar **entry = self->entries; *entry != NULL; entry++) {
    ok &= choose (from, *entry, chosen);
    if (self->name != NULL)
      break;
  }
  for (guint64 i = 0; ok && i < n; i++) {
    if (!chosen[i] || self->name != NULL)
      ok = cuv_ldp_index_writer_copy (
          to, from, i, chosen[i] ? self->name : NULL, error);
  }
  g_free (chosen);
  return ok;
}

static gboolean
change (const gchar *path, CuvLdpIndexEdit edit, gpointer data)
{
  char *problem;

  if (cuv_ldp_index_rewrite (path, edit, data, &problem))
    return TRUE;
  return problem != NULL ? print_error (problem) : FALSE;
}

gboolean
command_remove (gchar **arguments)
{
  return change (
      arguments[0], copy_changed, &(Change){ .entries = arguments + 1 });
}

gboolean
command_rename (gchar **arguments)
{
  return change (arguments[0], copy_changed,
      &(Change){ .entries = arguments + 1, .name = arguments[2] });
}

/* ---- replace ---- */

typedef struct {
  CuvLdpIndex *index;
  guint64 i;
} Entry;

/* Entries by name; the last one of each name. */
static GHashTable *
entries_of (const GPtrArray *indexes)
{
  GHashTable *entries =
      g_hash_table_new_full (g_str_hash, g_str_equal, NULL, g_free);

  for (guint k = 0; k < indexes->len; k++) {
    CuvLdpIndex *index = indexes->pdata[k];

    for (guint64 i = 0; i < cuv_ldp_index_n_entries (index); i++) {
      const gchar *name = cuv_ldp_index_name (index, i);
      Entry *entry = g_new (Entry, 1);

      *entry = (Entry){ index, i };
      g_hash_table_replace (
          entries, (gpointer) (name != NULL ? name : ""), entry);
    }
  }
  return entries;
}

static bool
copy_replaced (
    void *data, const CuvLdpIndex *from, CuvLdpIndexWriter *to, char **error)
{
  GHashTable *entries = entries_of (data);
  GHashTable *missing = g_hash_table_new (g_str_hash, g_str_equal);
  GHashTableIter iter;
  gpointer name;
  gboolean ok = TRUE;

  *error = NULL;
  g_hash_table_iter_init (&iter, entries);
  while (g_hash_table_iter_next (&iter, &name, NULL))
    g_hash_table_add (missing, name);
  for (guint64 i = 0; ok && i < cuv_ldp_index_n_entries (from); i++) {
    const gchar *own = cuv_ldp_index_name (from, i);
    const Entry *entry =
        own != NULL ? g_hash_table_lookup (entries, own) : NULL;

    ok = entry != NULL
        ? cuv_ldp_index_writer_copy (to, entry->index, entry->i, NULL, error)
        : cuv_ldp_index_writer_copy (to, from, i, NULL, error);
    if (entry != NULL)
      g_hash_table_remove (missing, own);
  }
  g_hash_table_iter_init (&iter, missing);
  while (ok && g_hash_table_iter_next (&iter, &name, NULL)) {
    g_printerr (
        "cuvision-index: no entry is called '%s': nothing was replaced; "
        "use merge to add new entries\n",
        (const gchar *) name);
    ok = FALSE;
  }
  g_hash_table_unref (missing);
  g_hash_table_unref (entries);
  return ok;
}

gboolean
command_replace (gchar **arguments)
{
  GPtrArray *indexes =
      g_ptr_array_new_with_free_func ((GDestroyNotify) cuv_ldp_index_free);
  gboolean ok = TRUE;
  char *problem;

  for (gchar **from = arguments + 1; ok && *from != NULL; from++) {
    CuvLdpIndex *index = cuv_ldp_index_open (*from, &problem);

    if (index != NULL)
      g_ptr_array_add (indexes, index);
    else
      ok = print_error (problem);
  }
  ok = ok && change (arguments[0], copy_replaced, indexes);
  g_ptr_array_unref (indexes);
  return ok;
}
