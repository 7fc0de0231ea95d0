/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Markers: writes done.json and failed.json, and decides from them which videos
 * are left to do. docs/cuvision-archive.md describes their keys. */
#include "archive.h"

#include "config.h"

/* ---- writing ---- */

static JsonObject *
describe_video (const Video *video)
{
  JsonObject *object = json_object_new ();
  gchar *uri = g_filename_to_uri (video->path, NULL, NULL);
  gchar *shown = g_filename_display_name (video->path);

  json_object_set_string_member (object, "path", shown);
  json_object_set_string_member (object, "uri", uri);
  if (video->modified != NULL) {
    json_object_set_int_member (object, "size", (gint64) video->size);
    json_object_set_string_member (object, "modified", video->modified);
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
marker_describe (const MarkerResult *result)
{
  JsonObject *object = json_object_new ();
  JsonNode *root = json_node_new (JSON_NODE_OBJECT);

  if (result->problem != NULL) {
    gchar *text = g_utf8_make_valid (result->problem, -1);

    json_object_set_string_member (object, "error", text);
    g_free (text);
  }
  json_object_set_object_member (
      object, "film", describe_video (result->video));
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
  JsonNode *root = marker_describe (result);
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
marker_text (JsonObject *object, const gchar *name)
{
  JsonNode *node = json_object_get_member (object, name);

  return node != NULL && json_node_get_value_type (node) == G_TYPE_STRING
      ? json_node_get_string (node)
      : NULL;
}

static JsonObject *
video_of (JsonObject *marker)
{
  JsonNode *node = json_object_get_member (marker, "film");

  return node != NULL && JSON_NODE_HOLDS_OBJECT (node)
      ? json_node_get_object (node)
      : NULL;
}

static gboolean
is_same_file (const Video *video, JsonObject *recorded)
{
  return recorded != NULL
      && g_strcmp0 (video->modified, marker_text (recorded, "modified")) == 0
      && (video->modified == NULL
          || (guint64) json_object_get_int_member_with_default (
                 recorded, "size", -1)
              == video->size);
}

static gboolean
is_same_path (const Video *video, JsonObject *recorded)
{
  gchar *uri = g_filename_to_uri (video->path, NULL, NULL);
  const gboolean same =
      recorded != NULL && g_strcmp0 (uri, marker_text (recorded, "uri")) == 0;

  g_free (uri);
  return same;
}

static void
refuse_video (Video *video, const gchar *why, const gchar *fix)
{
  gchar *folder = g_filename_display_name (video->results);

  video_set (
      video, VIDEO_REFUSED, g_strdup_printf ("'%s' %s; %s", folder, why, fix));
  g_free (folder);
}

/* Keeps the results: the video is gone, so they could not be computed again. */
static void
keep_results (Video *video)
{
  video_set (video, VIDEO_NOT_DONE,
      g_strdup ("the video no longer exists; its results, made by another "
                "pipeline, were kept"));
}

/* A video that no longer exists stays done. */
static void
look_at_done (Video *video, JsonObject *marker, const ArchiveOptions *options)
{
  const gboolean same_line =
      g_strcmp0 (marker_text (marker, "line"), options->line) == 0;
  JsonObject *recorded = video_of (marker);

  if (video->modified != NULL && !is_same_file (video, recorded)) {
    if (is_same_path (video, recorded) || options->redo)
      return;
    refuse_video (video, "has the results of another video",
        "use another --output, or --redo to replace them");
  } else if (!same_line) {
    if (options->redo && video->modified == NULL)
      keep_results (video);
    if (options->redo)
      return;
    refuse_video (video, "has the results of another pipeline",
        "use another --output to keep them, or --redo to replace them");
  } else {
    video_set (video, VIDEO_ALREADY_DONE, NULL);
  }
}

/* A failure counts only for the same pipeline and the same file. */
static void
look_at_failed (Video *video, JsonObject *marker, const ArchiveOptions *options)
{
  if (options->retry_failed || !is_same_file (video, video_of (marker))
      || g_strcmp0 (marker_text (marker, "line"), options->line) != 0)
    return;
  video_set (
      video, VIDEO_FAILED_BEFORE, g_strdup (marker_text (marker, "error")));
}

static gboolean
is_empty_folder (const gchar *folder)
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

/* Whether the marker may exist although it cannot be read, because a disk, a
 * network or permissions failed. */
static gboolean
is_unreadable (const GError *error)
{
  return error != NULL && error->domain == G_FILE_ERROR && !is_missing (error);
}

static void
look_without_marker (
    Video *video, const GError *error, const GError *error_failed)
{
  if (g_file_test (video->results, G_FILE_TEST_EXISTS)
      && (!g_file_test (video->results, G_FILE_TEST_IS_DIR)
          || (is_missing (error) && is_missing (error_failed)
              && !is_empty_folder (video->results))))
    refuse_video (video, "exists and was not written by cuvision-archive",
        "move it away, or use another --output");
  else if (is_unreadable (error))
    video_set (video, VIDEO_NOT_DONE, g_strdup (error->message));
  else if (is_unreadable (error_failed))
    video_set (video, VIDEO_NOT_DONE, g_strdup (error_failed->message));
}

/* A marker that is not JSON is ignored: the video is done again. */
void
marker_look (Video *video, const ArchiveOptions *options)
{
  GError *error = NULL, *error_failed = NULL;
  JsonObject *done = marker_read (video->results, ARCHIVE_DONE, &error);
  JsonObject *failed =
      marker_read (video->results, ARCHIVE_FAILED, &error_failed);

  video_set (video, VIDEO_PENDING, NULL);
  if (done != NULL)
    look_at_done (video, done, options);
  else if (failed != NULL && !is_unreadable (error))
    look_at_failed (video, failed, options);
  else
    look_without_marker (video, error, error_failed);
  g_clear_error (&error);
  g_clear_error (&error_failed);
  g_clear_pointer (&done, json_object_unref);
  g_clear_pointer (&failed, json_object_unref);
}
