/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* list, info, check and export; how other commands select entries. */
#include "cuvision-index.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const gchar *
entry_name (const CuvLdpIndex *index, guint64 i)
{
  const gchar *name = cuv_ldp_index_name (index, i);

  return name != NULL ? name : "(damaged)";
}

gboolean
choose_entries (const CuvLdpIndex *index, const gchar *entry, gboolean *chosen)
{
  const guint64 n = cuv_ldp_index_n_entries (index);
  gboolean found = FALSE;
  guint64 number;

  if (option_number) {
    if (n == 0
        || !g_ascii_string_to_unsigned (entry, 10, 0, n - 1, &number, NULL)) {
      g_printerr ("cuvision-index: '%s' is not the number of an entry: the "
                  "index has %" G_GUINT64_FORMAT " entries, numbered from 0\n",
          entry, n);
      return FALSE;
    }
    return chosen[number] = TRUE;
  }
  for (guint64 i = 0; i < n; i++) {
    if (g_strcmp0 (cuv_ldp_index_name (index, i), entry) == 0)
      found = chosen[i] = TRUE;
  }
  if (!found)
    g_printerr ("cuvision-index: no entry is called '%s'\n", entry);
  return found;
}

gboolean
command_list (gchar **arguments)
{
  char *problem;
  CuvLdpIndex *index = cuv_ldp_index_open (arguments[0], &problem);

  if (index == NULL)
    return print_error (problem);
  /* printf: g_print() would convert the names from UTF-8 to the locale */
  for (guint64 i = 0; i < cuv_ldp_index_n_entries (index); i++)
    printf ("%" G_GUINT64_FORMAT "\t%s\n", i, entry_name (index, i));
  cuv_ldp_index_free (index);
  return TRUE;
}

static gboolean
print_info (const gchar *path, gboolean named)
{
  char *problem, *text;
  CuvLdpIndex *index = cuv_ldp_index_open (path, &problem);

  if (index == NULL)
    return print_error (problem);
  text = cuv_ldp_index_info_text (cuv_ldp_index_info (index));
  printf ("%s%s%" G_GUINT64_FORMAT " entries of %" G_GUINT64_FORMAT
          " bytes: %s\n",
      named ? path : "", named ? ": " : "", cuv_ldp_index_n_entries (index),
      cuv_ldp_index_info (index)->stride, text);
  free (text);
  cuv_ldp_index_free (index);
  return TRUE;
}

gboolean
command_info (gchar **arguments)
{
  gboolean ok = TRUE;

  for (gchar **path = arguments; *path != NULL; path++)
    ok &= print_info (*path, arguments[1] != NULL);
  return ok;
}

gboolean
command_check (gchar **arguments)
{
  char *problem;
  CuvLdpIndex *index = cuv_ldp_index_open (arguments[0], &problem);
  gboolean ok = index != NULL;

  for (guint64 i = 0; index != NULL && i < cuv_ldp_index_n_entries (index);
       i++) {
    if (cuv_ldp_index_check_entry (index, i))
      continue;
    printf ("entry %" G_GUINT64_FORMAT " is damaged\n", i);
    ok = FALSE;
  }
  if (index == NULL)
    print_error (problem);
  else if (!ok)
    g_printerr ("cuvision-index: remove them with cuvision-index compact, and "
                "add their pictures again\n");
  cuv_ldp_index_free (index);
  return ok;
}

/* ---- thumbnails ---- */

/* Returns the path of NUMBER-NAME.ppm: the number makes it unique. */
static gchar *
thumbnail_path (const gchar *folder, const CuvLdpIndex *index, guint64 i)
{
  gchar *base = g_path_get_basename (entry_name (index, i)), *file, *path;

  g_strdelimit (base, "/\\:*?\"<>|", '_');
  if (strlen (base) > 200)
    *g_utf8_find_prev_char (base, base + 200) = '\0';
  file = g_strdup_printf ("%06" G_GUINT64_FORMAT "-%s.ppm", i, base);
  path = g_build_filename (folder, file, NULL);
  g_free (file);
  g_free (base);
  return path;
}

static gboolean
write_thumbnail (const gchar *path, const CuvLdpIndex *index, guint64 i)
{
  const CuvLdpIndexInfo *info = cuv_ldp_index_info (index);
  const gsize size =
      3 * (gsize) info->thumbnail_width * (gsize) info->thumbnail_height;
  GString *file = g_string_new (NULL);
  GError *error = NULL;

  g_string_printf (
      file, "P6\n%d %d\n255\n", info->thumbnail_width, info->thumbnail_height);
  g_string_append_len (
      file, (const gchar *) cuv_ldp_index_thumbnail (index, i), (gssize) size);
  g_file_set_contents (path, file->str, (gssize) file->len, &error);
  g_string_free (file, TRUE);
  if (error == NULL)
    return TRUE;
  g_printerr ("cuvision-index: %s\n", error->message);
  g_error_free (error);
  return FALSE;
}

gboolean
command_export (gchar **arguments)
{
  char *problem;
  CuvLdpIndex *index = cuv_ldp_index_open (arguments[0], &problem);
  gboolean ok = TRUE;

  if (index == NULL)
    return print_error (problem);
  if (cuv_ldp_index_info (index)->thumbnail_width == 0) {
    g_printerr ("cuvision-index: %s has no thumbnails: it was created with "
                "thumbnail-width=0\n",
        arguments[0]);
    ok = FALSE;
  } else if (g_mkdir_with_parents (arguments[1], 0777) < 0) {
    g_printerr ("cuvision-index: %s: %s\n", arguments[1], g_strerror (errno));
    ok = FALSE;
  }
  for (guint64 i = 0; ok && i < cuv_ldp_index_n_entries (index); i++) {
    gchar *path = thumbnail_path (arguments[1], index, i);

    ok = write_thumbnail (path, index, i);
    g_free (path);
  }
  cuv_ldp_index_free (index);
  return ok;
}
