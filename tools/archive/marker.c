/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "archive.h"

#include "config.h"

/* ---- writing ---- */

static JsonObject *
describe_film (const Film *film)
{
  JsonObject *object = json_object_new ();
  gchar *uri = g_filename_to_uri (film->path, NULL, NULL);
  gchar *shown = g_filename_display_name (film->path);

  json_object_set_string_member (object, "path", shown);
  json_object_set_string_member (object, "uri", uri);
  if (film->modified != NULL) {
    json_object_set_int_member (object, "size", (gint64) film->size);
    json_object_set_string_member (object, "modified", film->modified);
  }
  g_free (uri);
  g_free (shown);
  return object;
}

static JsonObject *
describe_plugins (const Template *line)
{
  JsonObject *object = json_object_new ();
  GList *names = g_list_sort (g_hash_table_get_keys (line->plugins),
      (GCompareFunc) (void (*) (void)) g_strcmp0);

  for (const GList *name = names; name != NULL; name = name->next)
    json_object_set_string_member (
        object, name->data, g_hash_table_lookup (line->plugins, name->data));
  g_list_free (names);
  return object;
}

static JsonObject *
describe_versions (const Template *line)
{
  JsonObject *object = json_object_new ();
  gchar *version = gst_version_string ();

  json_object_set_string_member (object, "gst-cuvision", VERSION);
  json_object_set_string_member (object, "GStreamer",
      g_str_has_prefix (version, "GStreamer ") ? version + 10 : version);
  json_object_set_object_member (object, "plugins", describe_plugins (line));
  g_free (version);
  return object;
}

static void
copy_progress (JsonObject *to, JsonObject *progress)
{
  static const gchar *const names[] = { "buffers", "position", "duration",
    "stats" };

  for (guint i = 0; progress != NULL && i < G_N_ELEMENTS (names); i++)
    if (json_object_has_member (progress, names[i]))
      json_object_set_member (
          to, names[i], json_object_dup_member (progress, names[i]));
}

static JsonNode *
describe (const MarkerResult *result)
{
  JsonObject *object = json_object_new ();
  JsonNode *root = json_node_new (JSON_NODE_OBJECT);

  if (result->problem != NULL) {
    gchar *text = g_utf8_make_valid (result->problem, -1);

    json_object_set_string_member (object, "error", text);
    g_free (text);
  }
  json_object_set_object_member (object, "film", describe_film (result->film));
  json_object_set_string_member (object, "line", result->line->line);
  json_object_set_object_member (
      object, "versions", describe_versions (result->line));
  copy_progress (object, result->progress);
  if (json_array_get_length (result->warnings) > 0)
    json_object_set_array_member (
        object, "warnings", json_array_ref (result->warnings));
  json_object_set_double_member (object, "seconds", result->seconds);
  if (result->files != NULL)
    json_object_set_array_member (
        object, "files", json_array_ref (result->files));
  json_node_take_object (root, object);
  return root;
}

gboolean
marker_write (const MarkerResult *result, const gchar *folder, GError **error)
{
  JsonNode *root = describe (result);
  gchar *path = g_build_filename (
      folder, result->problem != NULL ? ARCHIVE_FAILED : ARCHIVE_DONE, NULL);
  gchar *text = json_to_string (root, TRUE);
  gchar *line = g_strconcat (text, "\n", NULL);
  const gboolean ok = g_file_set_contents_full (path, line, -1,
      G_FILE_SET_CONTENTS_CONSISTENT | G_FILE_SET_CONTENTS_DURABLE, 0666,
      error);

  g_free (line);
  g_free (text);
  g_free (path);
  json_node_unref (root);
  return ok;
}

/* ---- reading ---- */

JsonObject *
marker_read (const gchar *folder, const gchar *name, GError **error)
{
  gchar *path = g_build_filename (folder, name, NULL);
  JsonNode *root = cuv_json_load_object (
      path, CUV_JSON_MAX_BYTES, CUV_JSON_MAX_VALUES, error);
  JsonObject *marker = root != NULL ? json_node_dup_object (root) : NULL;

  g_clear_pointer (&root, json_node_unref);
  g_free (path);
  return marker;
}

/* ---- what is left to do ---- */

static const gchar *
text_of (JsonObject *object, const gchar *name)
{
  JsonNode *node = json_object_get_member (object, name);

  return node != NULL && json_node_get_value_type (node) == G_TYPE_STRING
      ? json_node_get_string (node)
      : NULL;
}

static JsonObject *
film_of (JsonObject *marker)
{
  JsonNode *node = json_object_get_member (marker, "film");

  return node != NULL && JSON_NODE_HOLDS_OBJECT (node)
      ? json_node_get_object (node)
      : NULL;
}

static gboolean
is_same_file (const Film *film, JsonObject *recorded)
{
  return recorded != NULL
      && g_strcmp0 (film->modified, text_of (recorded, "modified")) == 0
      && (film->modified == NULL
          || (guint64) json_object_get_int_member_with_default (
                 recorded, "size", -1)
              == film->size);
}

static gboolean
is_same_path (const Film *film, JsonObject *recorded)
{
  gchar *uri = g_filename_to_uri (film->path, NULL, NULL);
  const gboolean same =
      recorded != NULL && g_strcmp0 (uri, text_of (recorded, "uri")) == 0;

  g_free (uri);
  return same;
}

static void
refuse (Film *film, const gchar *why, const gchar *cure)
{
  gchar *folder = g_filename_display_name (film->results);

  film_set (
      film, FILM_REFUSED, g_strdup_printf ("'%s' %s; %s", folder, why, cure));
  g_free (folder);
}

/* Its results are of another line, and no other ones can be had. */
static void
keep_results (Film *film)
{
  film_set (film, FILM_NOT_DONE,
      g_strdup ("the film is gone; its results of another line are kept"));
}

/* A film that is gone stays done. */
static void
look_at_done (Film *film, JsonObject *marker, const ArchiveOptions *options)
{
  const gboolean same_line =
      g_strcmp0 (text_of (marker, "line"), options->line) == 0;
  JsonObject *recorded = film_of (marker);

  if (film->modified != NULL && !is_same_file (film, recorded)) {
    if (is_same_path (film, recorded) || options->redo)
      return;
    refuse (film, "has the results of another film",
        "name another --output, or --redo to replace them");
  } else if (!same_line) {
    if (options->redo && film->modified == NULL)
      keep_results (film);
    if (options->redo)
      return;
    refuse (film, "has the results of another line",
        "name another --output to keep them, or --redo to replace them");
  } else {
    film_set (film, FILM_ALREADY_DONE, NULL);
  }
}

/* Another line may do better. */
static void
look_at_failed (Film *film, JsonObject *marker, const ArchiveOptions *options)
{
  if (options->retry_failed || !is_same_file (film, film_of (marker))
      || g_strcmp0 (text_of (marker, "line"), options->line) != 0)
    return;
  film_set (film, FILM_FAILED_BEFORE, g_strdup (text_of (marker, "error")));
}

static gboolean
is_empty (const gchar *folder)
{
  GDir *dir = g_dir_open (folder, 0, NULL);
  const gboolean empty = dir != NULL && g_dir_read_name (dir) == NULL;

  g_clear_pointer (&dir, g_dir_close);
  return empty;
}

static gboolean
is_missing (const GError *error)
{
  return g_error_matches (error, G_FILE_ERROR, G_FILE_ERROR_NOENT)
      || g_error_matches (error, G_FILE_ERROR, G_FILE_ERROR_NOTDIR);
}

/* Neither there nor missing: a disk or a network failed, or we must not. */
static gboolean
is_unreadable (const GError *error)
{
  return error != NULL && error->domain == G_FILE_ERROR && !is_missing (error);
}

static void
look_without_marker (
    Film *film, const GError *error, const GError *error_failed)
{
  if (g_file_test (film->results, G_FILE_TEST_EXISTS)
      && (!g_file_test (film->results, G_FILE_TEST_IS_DIR)
          || (is_missing (error) && is_missing (error_failed)
              && !is_empty (film->results))))
    refuse (film, "is there, but no result of cuvision-archive",
        "move it away, or name another --output");
  else if (is_unreadable (error))
    film_set (film, FILM_NOT_DONE, g_strdup (error->message));
  else if (is_unreadable (error_failed))
    film_set (film, FILM_NOT_DONE, g_strdup (error_failed->message));
}

/* A marker that is no JSON stands for nothing: the film is done again. */
void
marker_look (Film *film, const ArchiveOptions *options)
{
  GError *error = NULL, *error_failed = NULL;
  JsonObject *done = marker_read (film->results, ARCHIVE_DONE, &error);
  JsonObject *failed =
      marker_read (film->results, ARCHIVE_FAILED, &error_failed);

  film_set (film, FILM_PENDING, NULL);
  if (done != NULL)
    look_at_done (film, done, options);
  else if (failed != NULL && !is_unreadable (error))
    look_at_failed (film, failed, options);
  else
    look_without_marker (film, error, error_failed);
  g_clear_error (&error);
  g_clear_error (&error_failed);
  g_clear_pointer (&done, json_object_unref);
  g_clear_pointer (&failed, json_object_unref);
}
