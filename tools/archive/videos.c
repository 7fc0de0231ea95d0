/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "archive.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include "cuvfile.h"

/* What a film costs beside its bytes, in bytes: of a part of many short films,
 * that is most. */
#define FILM_COST 1000000
#define MAX_LIST (1 << 30) /* bytes */

void
film_set (Film *film, FilmState state, gchar *problem)
{
  gchar *old = film->problem;

  film->state = state;
  film->problem = problem;
  film->fault = FALSE;
  g_free (old);
}

static gchar *
write_time (const struct timespec *time)
{
  GDateTime *date = g_date_time_new_from_unix_utc (time->tv_sec);
  gchar *seconds =
      date != NULL ? g_date_time_format (date, "%Y-%m-%dT%H:%M:%S") : NULL;
  gchar *text = g_strdup_printf (
      "%s.%09ldZ", seconds != NULL ? seconds : "", (long) time->tv_nsec);

  g_clear_pointer (&date, g_date_time_unref);
  g_free (seconds);
  return text;
}

void
film_stat (Film *film)
{
  GStatBuf info;

  g_clear_pointer (&film->modified, g_free);
  film->size = 0;
  if (g_stat (film->path, &info) != 0)
    return;
  film->size = (guint64) info.st_size;
  film->modified = write_time (&info.st_mtim);
}

static void
free_film (gpointer data)
{
  Film *film = data;

  g_free (film->path);
  g_free (film->shown);
  g_free (film->results);
  g_free (film->modified);
  g_free (film->problem);
  g_free (film);
}

/* ---- where results lie ---- */

/* The path below the root, or NULL. */
static const gchar *
below (const gchar *path, const gchar *root)
{
  const gsize n = strlen (root);

  if (g_str_equal (root, "/"))
    return path + 1;
  return strncmp (path, root, n) == 0 && path[n] == '/' ? path + n + 1 : NULL;
}

static gchar *
results_of (const gchar *path, const ArchiveOptions *options, GError **error)
{
  const gchar *relative;
  gchar *parent, *results;

  if (options->output == NULL)
    return g_strconcat (path, ".results", NULL);
  relative = below (path, options->root);
  if (relative == NULL) {
    gchar *shown = g_filename_display_name (path);

    parent = g_path_get_dirname (shown);
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
        "'%s' is not below '%s': name a folder that has all films, such as "
        "--root '%s'; paths of results are those of the films below it",
        shown, options->root, parent);
    g_free (parent);
    g_free (shown);
    return NULL;
  }
  parent = g_build_filename (options->output, relative, NULL);
  results = g_strconcat (parent, ".results", NULL);
  g_free (parent);
  return results;
}

/* ---- lists ---- */

static gboolean
add_film (GPtrArray *films, const gchar *name, const ArchiveOptions *options,
    GError **error)
{
  gchar *path = g_canonicalize_filename (name, NULL);
  gchar *results = results_of (path, options, error);
  Film *film;

  if (results == NULL
      || (g_file_test (path, G_FILE_TEST_EXISTS)
          && !g_file_test (path, G_FILE_TEST_IS_REGULAR))) {
    if (results != NULL)
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
          "'%s' is not a file; name the films of a folder by find FOLDER -name "
          "'*.mp4' -print0 | cuvision-archive --null --list -",
          name);
    g_free (results);
    g_free (path);
    return FALSE;
  }
  film = g_new0 (Film, 1);
  film->path = path;
  film->shown = g_filename_display_name (name);
  film->results = results;
  film_stat (film);
  g_ptr_array_add (films, film);
  return TRUE;
}

static GString *
read_standard_input (GError **error)
{
  GString *text = g_string_new (NULL);
  gchar bytes[65536];
  gsize n;

  while ((n = fread (bytes, 1, sizeof bytes, stdin)) > 0)
    g_string_append_len (text, bytes, (gssize) n);
  if (!ferror (stdin))
    return text;
  files_fail ("read the list", "-", error);
  g_string_free (text, TRUE);
  return NULL;
}

static GString *
read_list (const gchar *name, GError **error)
{
  GString *text;
  gchar *bytes;
  gsize size;

  if (g_str_equal (name, "-"))
    return read_standard_input (error);
  if (!cuv_file_read (name, MAX_LIST, &bytes, &size, error)) {
    g_prefix_error (error, "--list (- is standard input): ");
    return NULL;
  }
  text = g_string_new_len (bytes, (gssize) size);
  g_free (bytes);
  return text;
}

/* Removes what ends a line on other systems, unless there is such a file. */
static void
remove_return (gchar *name)
{
  const gsize n = strlen (name);

  if (n > 0 && name[n - 1] == '\r' && !g_file_test (name, G_FILE_TEST_EXISTS))
    name[n - 1] = '\0';
}

static gboolean
add_list (GPtrArray *films, const gchar *name, const ArchiveOptions *options,
    GError **error)
{
  GString *text = read_list (name, error);
  const gchar *at, *end;
  gboolean ok = text != NULL;

  if (!ok)
    return FALSE;
  end = text->str + text->len;
  for (at = text->str; ok && at < end;) {
    const gchar *stop =
        memchr (at, options->null ? '\0' : '\n', (gsize) (end - at));
    gchar *film = g_strndup (at, (gsize) ((stop != NULL ? stop : end) - at));

    if (!options->null)
      remove_return (film);
    ok = *film == '\0' || add_film (films, film, options, error);
    g_free (film);
    at = stop != NULL ? stop + 1 : end;
  }
  g_string_free (text, TRUE);
  return ok;
}

/* Each path once: two names of a film would be done twice. */
static void
remove_doubles (GPtrArray *films)
{
  GHashTable *seen = g_hash_table_new (g_str_hash, g_str_equal);
  guint i = 0;

  while (i < films->len) {
    const Film *film = films->pdata[i];

    if (g_hash_table_add (seen, film->path))
      i++;
    else
      g_ptr_array_remove_index (films, i);
  }
  g_hash_table_unref (seen);
}

/* ---- parts ---- */

static gint
compare_sizes (gconstpointer a, gconstpointer b)
{
  const Film *one = *(const Film *const *) a, *other = *(const Film *const *) b;

  if (one->size != other->size)
    return one->size < other->size ? 1 : -1;
  return strcmp (one->path, other->path);
}

static guint
find_least (const guint64 *loads, guint n)
{
  guint least = 0;

  for (guint i = 1; i < n; i++)
    if (loads[i] < loads[least])
      least = i;
  return least;
}

/* Keeps the films of a part: the largest first, each goes to the part that has
 * the fewest bytes. The same list gives the same parts, unless a film changes
 * its size in between. */
static GPtrArray *
take_part (GPtrArray *films, guint part, guint parts)
{
  GPtrArray *mine = g_ptr_array_new_with_free_func (free_film);
  guint64 *loads = g_new0 (guint64, parts);

  g_ptr_array_sort (films, compare_sizes);
  g_ptr_array_set_free_func (films, NULL);
  for (guint i = 0; i < films->len; i++) {
    Film *film = films->pdata[i];
    const guint to = find_least (loads, parts);

    loads[to] += film->size + FILM_COST;
    if (to + 1 == part)
      g_ptr_array_add (mine, film);
    else
      free_film (film);
  }
  g_free (loads);
  g_ptr_array_unref (films);
  return mine;
}

GPtrArray *
films_list (const ArchiveOptions *options, GError **error)
{
  GPtrArray *films = g_ptr_array_new_with_free_func (free_film);
  gboolean ok = TRUE;

  for (gchar **name = options->films; ok && name && *name; name++)
    ok = add_film (films, *name, options, error);
  for (gchar **name = options->lists; ok && name && *name; name++)
    ok = add_list (films, *name, options, error);
  if (!ok) {
    g_ptr_array_unref (films);
    return NULL;
  }
  remove_doubles (films);
  return options->parts > 1 ? take_part (films, options->part, options->parts)
                            : films;
}
