/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The list of videos: reads it, finds where results lie, and takes a part. */
#include "archive.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include "cuvfile.h"

/* Fixed cost of a video when parts are balanced, in bytes: starting a pipeline
 * takes most of the time of short videos (docs/benchmarks/archive.md, "Overhead
 * per video"). */
#define VIDEO_COST 1000000
#define MAX_LIST (1 << 30) /* bytes */

void
video_set (Video *video, VideoState state, gchar *problem)
{
  gchar *old = video->problem;

  video->state = state;
  video->problem = problem;
  video->external = FALSE;
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
video_stat (Video *video)
{
  GStatBuf info;

  g_clear_pointer (&video->modified, g_free);
  video->size = 0;
  if (g_stat (video->path, &info) != 0)
    return;
  video->size = (guint64) info.st_size;
  video->modified = write_time (&info.st_mtim);
}

static void
free_video (gpointer data)
{
  Video *video = data;

  g_free (video->path);
  g_free (video->shown);
  g_free (video->results);
  g_free (video->modified);
  g_free (video->problem);
  g_free (video);
}

/* ---- where results lie ---- */

/* Returns the path relative to the root, or NULL if it is not below. */
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
        "'%s' is not below '%s': use a folder that contains all videos, such "
        "as --root '%s'; results get the videos' paths relative to it",
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
add_video (GPtrArray *videos, const gchar *name, const ArchiveOptions *options,
    GError **error)
{
  gchar *path = g_canonicalize_filename (name, NULL);
  gchar *results = results_of (path, options, error);
  Video *video;

  if (results == NULL
      || (g_file_test (path, G_FILE_TEST_EXISTS)
          && !g_file_test (path, G_FILE_TEST_IS_REGULAR))) {
    if (results != NULL)
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
          "'%s' is not a file; for a folder, use: find FOLDER -name '*.mp4' "
          "-print0 | cuvision-archive --null --list -",
          name);
    g_free (results);
    g_free (path);
    return FALSE;
  }
  video = g_new0 (Video, 1);
  video->path = path;
  video->shown = g_filename_display_name (name);
  video->results = results;
  video_stat (video);
  g_ptr_array_add (videos, video);
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

/* Removes a carriage return at the end, unless a file has such a name. */
static void
remove_return (gchar *name)
{
  const gsize n = strlen (name);

  if (n > 0 && name[n - 1] == '\r' && !g_file_test (name, G_FILE_TEST_EXISTS))
    name[n - 1] = '\0';
}

static gboolean
add_video_list (GPtrArray *videos, const gchar *name,
    const ArchiveOptions *options, GError **error)
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
    gchar *video = g_strndup (at, (gsize) ((stop != NULL ? stop : end) - at));

    if (!options->null)
      remove_return (video);
    ok = *video == '\0' || add_video (videos, video, options, error);
    g_free (video);
    at = stop != NULL ? stop + 1 : end;
  }
  g_string_free (text, TRUE);
  return ok;
}

/* Keeps each path once. */
static void
remove_doubles (GPtrArray *videos)
{
  GHashTable *seen = g_hash_table_new (g_str_hash, g_str_equal);
  guint i = 0;

  while (i < videos->len) {
    const Video *video = videos->pdata[i];

    if (g_hash_table_add (seen, video->path))
      i++;
    else
      g_ptr_array_remove_index (videos, i);
  }
  g_hash_table_unref (seen);
}

/* ---- parts ---- */

static gint
compare_sizes (gconstpointer a, gconstpointer b)
{
  const Video *one = *(const Video *const *) a,
              *other = *(const Video *const *) b;

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

/* Keeps the videos of one part. Largest first, each video goes to the part with
 * the fewest bytes so far. The same list gives the same parts, unless the size
 * of a video changes. */
static GPtrArray *
take_part (GPtrArray *videos, guint part, guint parts)
{
  GPtrArray *mine = g_ptr_array_new_with_free_func (free_video);
  guint64 *loads = g_new0 (guint64, parts);

  g_ptr_array_sort (videos, compare_sizes);
  g_ptr_array_set_free_func (videos, NULL);
  for (guint i = 0; i < videos->len; i++) {
    Video *video = videos->pdata[i];
    const guint to = find_least (loads, parts);

    loads[to] += video->size + VIDEO_COST;
    if (to + 1 == part)
      g_ptr_array_add (mine, video);
    else
      free_video (video);
  }
  g_free (loads);
  g_ptr_array_unref (videos);
  return mine;
}

GPtrArray *
videos_list (const ArchiveOptions *options, GError **error)
{
  GPtrArray *videos = g_ptr_array_new_with_free_func (free_video);
  gboolean ok = TRUE;

  for (gchar **name = options->videos; ok && name && *name; name++)
    ok = add_video (videos, *name, options, error);
  for (gchar **name = options->lists; ok && name && *name; name++)
    ok = add_video_list (videos, *name, options, error);
  if (!ok) {
    g_ptr_array_unref (videos);
    return NULL;
  }
  remove_doubles (videos);
  return options->parts > 1 ? take_part (videos, options->part, options->parts)
                            : videos;
}
