/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* merge appends entries, split writes new files; remove, rename, replace and
 * compact write a new file that replaces the old one. */
#include "cuvision-index.h"

#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include "index/ldpindex-format.h"

/* ---- merge ---- */

enum { BATCH_BYTES = 64 << 20 };

/* Commits each batch. If an entry cannot be copied, those before it are kept.
 */
static gboolean
append_entries (CuvLdpIndexWriter *to, const CuvLdpIndex *from, char **problem)
{
  const guint64 n = cuv_ldp_index_n_entries (from);
  const guint64 batch = BATCH_BYTES / cuv_ldp_index_info (from)->stride + 1;
  gboolean ok = TRUE;

  for (guint64 first = 0; ok && first < n; first += batch) {
    char *unused = NULL;

    cuv_ldp_index_writer_begin (to);
    for (guint64 i = first; ok && i < MIN (first + batch, n); i++)
      ok = cuv_ldp_index_writer_copy (to, from, i, NULL, problem);
    if (!cuv_ldp_index_writer_commit (to, ok ? problem : &unused))
      ok = FALSE;
    free (unused);
  }
  return ok;
}

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
    ok = ok && to != NULL && append_entries (to, index, &problem);
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
  gchar **entries;   /* entries to remove, or the one to rename */
  const gchar *name; /* new name; NULL: remove the entries */
} Change;

static bool
copy_changed (
    void *data, const CuvLdpIndex *from, CuvLdpIndexWriter *to, char **error)
{
  const Change *self = data;
  const guint64 n = cuv_ldp_index_n_entries (from);
  gboolean *chosen = g_new0 (gboolean, n + 1), ok = TRUE;

  *error = NULL; /* choose_entries() prints its errors itself */
  for (gchar **entry = self->entries; *entry != NULL; entry++) {
    ok &= choose_entries (from, *entry, chosen);
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
  gchar **entries = names_expand (arguments + 1, FALSE);
  const gboolean ok = entries != NULL
      && change (arguments[0], copy_changed, &(Change){ .entries = entries });

  g_strfreev (entries);
  return ok;
}

gboolean
command_rename (gchar **arguments)
{
  return change (arguments[0], copy_changed,
      &(Change){ .entries = arguments + 1, .name = arguments[2] });
}

/* ---- compact ---- */

typedef struct {
  const gchar *path;
  guint64 kept, damaged, repeated;
  gboolean is_compact; /* nothing to remove */
} Compacting;

/* Returns the bytes of an entry's name, histograms and thumbnail. */
static GBytes *
bytes_of (const CuvLdpIndex *index, guint64 i)
{
  return g_bytes_new_static (cuv_ldp_index_descriptor (index, i),
      cuv_ldp_index_info (index)->stride - sizeof (guint32));
}

/* Lists the entries to keep: undamaged ones, and only the first of equal
 * ones. */
static GArray *
find_kept (Compacting *self, const CuvLdpIndex *index)
{
  GArray *kept = g_array_new (FALSE, FALSE, sizeof (guint64));
  GHashTable *seen = g_hash_table_new_full (
      g_bytes_hash, g_bytes_equal, (GDestroyNotify) g_bytes_unref, NULL);

  for (guint64 i = 0; i < cuv_ldp_index_n_entries (index); i++) {
    if (!cuv_ldp_index_check_entry (index, i))
      self->damaged++;
    else if (!g_hash_table_add (seen, bytes_of (index, i)))
      self->repeated++;
    else
      g_array_append_val (kept, i);
  }
  self->kept = kept->len;
  g_hash_table_unref (seen);
  return kept;
}

/* Whether the file ends with data that a killed writer did not commit. */
static gboolean
has_tail (const gchar *path, const CuvLdpIndex *index)
{
  const guint64 end = (guint64) (cuv_ldp_index_descriptor (
                                     index, cuv_ldp_index_n_entries (index))
      - cuv_ldp_index_descriptor (index, 0));
  GStatBuf status;

  return g_stat (path, &status) == 0
      && (guint64) status.st_size > CUV_LDP_INDEX_PAGE + end;
}

static bool
copy_kept (
    void *data, const CuvLdpIndex *from, CuvLdpIndexWriter *to, char **error)
{
  Compacting *self = data;
  GArray *kept = find_kept (self, from);
  gboolean ok = TRUE;

  *error = NULL;
  self->is_compact =
      self->damaged == 0 && self->repeated == 0 && !has_tail (self->path, from);
  for (guint i = 0; ok && !self->is_compact && i < kept->len; i++)
    ok = cuv_ldp_index_writer_copy (
        to, from, g_array_index (kept, guint64, i), NULL, error);
  g_array_unref (kept);
  return ok && !self->is_compact;
}

gboolean
command_compact (gchar **arguments)
{
  Compacting compacting = { .path = arguments[0] };

  if (!change (arguments[0], copy_kept, &compacting) && !compacting.is_compact)
    return FALSE;
  g_print ("removed %" G_GUINT64_FORMAT " damaged and %" G_GUINT64_FORMAT
           " repeated entries, kept %" G_GUINT64_FORMAT "\n",
      compacting.damaged, compacting.repeated, compacting.kept);
  return TRUE;
}

/* ---- split ---- */

/* Makes the names INDEX-0.ldp, ..., with as many digits as needed for the names
 * to sort by number. */
static GPtrArray *
name_parts (const gchar *path, guint64 n)
{
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);
  gchar *last = g_strdup_printf ("%" G_GUINT64_FORMAT, n - 1);
  const gint digits = (gint) strlen (last);
  const gint stem = (gint) strlen (path)
      - (g_str_has_suffix (path, ".ldp") ? (gint) strlen (".ldp") : 0);

  for (guint64 i = 0; i < n; i++)
    g_ptr_array_add (names,
        g_strdup_printf (
            "%.*s-%0*" G_GUINT64_FORMAT ".ldp", stem, path, digits, i));
  g_free (last);
  return names;
}

/* Makes the names of the parts. Returns NULL after an error. */
static GPtrArray *
find_parts (gchar **arguments)
{
  GPtrArray *names;
  guint64 n;

  if (arguments[2] == NULL
      && g_ascii_string_to_unsigned (arguments[1], 10, 1, 100000, &n, NULL))
    return name_parts (arguments[0], n);
  if (arguments[2] == NULL) {
    g_printerr (
        "cuvision-index: cannot split into '%s' parts: give a number from 1 to "
        "100000, or at least two files\n",
        arguments[1]);
    return NULL;
  }
  names = g_ptr_array_new_with_free_func (g_free);
  for (gchar **name = arguments + 1; *name != NULL; name++)
    g_ptr_array_add (names, g_strdup (*name));
  return names;
}

/* Checks, before hours of copying, that no file of these names exists. Another
 * process may still create one later.
 */
static gboolean
are_new (const GPtrArray *names)
{
  for (guint i = 0; i < names->len; i++) {
    GStatBuf status;

    if (g_lstat (names->pdata[i], &status) == 0) {
      g_printerr ("cuvision-index: %s exists already: remove it, or use "
                  "another name\n",
          (const gchar *) names->pdata[i]);
      return FALSE;
    }
  }
  return TRUE;
}

/* Writes all parts, and removes them after a failure. */
static gboolean
write_parts (const CuvLdpIndex *index, const GPtrArray *names)
{
  const guint64 n = cuv_ldp_index_n_entries (index), n_parts = names->len;
  char *problem;

  for (guint i = 0; i < names->len; i++) {
    const guint64 first = n * i / n_parts, end = n * (i + 1) / n_parts;

    if (cuv_ldp_index_extract (
            index, first, end - first, names->pdata[i], &problem))
      continue;
    while (i-- > 0)
      g_unlink (names->pdata[i]);
    return print_error (problem);
  }
  return TRUE;
}

gboolean
command_split (gchar **arguments)
{
  char *problem;
  CuvLdpIndex *index = cuv_ldp_index_open (arguments[0], &problem);
  GPtrArray *names = NULL;
  gboolean ok = FALSE;

  if (index == NULL)
    return print_error (problem);
  names = find_parts (arguments);
  if (names != NULL) {
    ok = are_new (names) && write_parts (index, names);
    g_ptr_array_unref (names);
  }
  cuv_ldp_index_free (index);
  return ok;
}

/* ---- replace ---- */

typedef struct {
  CuvLdpIndex *index;
  guint64 i;
} Entry;

/* Returns a table from name to entry: the last entry of each name. */
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
