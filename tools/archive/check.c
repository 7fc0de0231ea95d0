/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* --check: compares the files of results with their markers. */
#include "archive.h"

#include <stdio.h>
#include <string.h>

typedef struct {
  guint n_done, n_failed, n_files, n_problems;
  gboolean quiet;
} Check;

static void
report_problem (
    Check *self, const gchar *folder, const gchar *what, const gchar *text)
{
  gchar *shown = g_filename_display_name (folder);

  fprintf (stderr, "%s: %s%s\n", shown, what, text);
  self->n_problems++;
  g_free (shown);
}

/* ---- files of a marker ---- */

static GHashTable *
index_files (JsonArray *files)
{
  GHashTable *index = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < json_array_get_length (files); i++) {
    JsonNode *node = json_array_get_element (files, i);
    JsonObject *file =
        JSON_NODE_HOLDS_OBJECT (node) ? json_node_get_object (node) : NULL;
    const gchar *name = file != NULL
        ? json_object_get_string_member_with_default (file, "name", NULL)
        : NULL;

    if (name != NULL)
      g_hash_table_insert (index, (gpointer) name, file);
  }
  return index;
}

static void
check_file (
    Check *self, const gchar *folder, JsonObject *wanted, JsonObject *found)
{
  const gchar *name = json_object_get_string_member (found, "name");

  self->n_files++;
  if (wanted == NULL)
    report_problem (self, folder, "not listed in done.json: ", name);
  else if (json_object_get_int_member_with_default (wanted, "size", -1)
      != json_object_get_int_member (found, "size"))
    report_problem (self, folder, "wrong size: ", name);
  else if (!g_str_equal (json_object_get_string_member_with_default (
                             wanted, "sha256", ""),
               json_object_get_string_member (found, "sha256")))
    report_problem (self, folder, "damaged: ", name);
}

static void
check_result_files (
    Check *self, const gchar *folder, JsonArray *wanted, JsonArray *found)
{
  GHashTable *index = index_files (wanted);
  GHashTableIter iter;
  gpointer name;

  for (guint i = 0; i < json_array_get_length (found); i++) {
    JsonObject *file = json_array_get_object_element (found, i);

    name = (gpointer) json_object_get_string_member (file, "name");
    if (g_str_equal (name, ARCHIVE_DONE))
      continue;
    check_file (self, folder, g_hash_table_lookup (index, name), file);
    g_hash_table_remove (index, name);
  }
  g_hash_table_iter_init (&iter, index);
  while (g_hash_table_iter_next (&iter, &name, NULL))
    report_problem (self, folder, "missing: ", name);
  g_hash_table_unref (index);
}

static void
check_done (Check *self, const gchar *folder, JsonObject *marker)
{
  JsonNode *node = json_object_get_member (marker, "files");
  GError *error = NULL;
  JsonArray *found;

  self->n_done++;
  if (node == NULL || !JSON_NODE_HOLDS_ARRAY (node)) {
    report_problem (self, folder, "done.json lists no files", "");
    return;
  }
  found = files_describe (folder, FALSE, &error);
  if (found == NULL)
    report_problem (self, folder, "", error->message);
  else
    check_result_files (self, folder, json_node_get_array (node), found);
  g_clear_error (&error);
  g_clear_pointer (&found, json_array_unref);
}

/* ---- folders ---- */

static void
check_result (Check *self, const gchar *folder)
{
  GError *error = NULL, *error_failed = NULL;
  JsonObject *done = marker_read (folder, ARCHIVE_DONE, &error);
  JsonObject *failed = marker_read (folder, ARCHIVE_FAILED, &error_failed);

  if (done != NULL) {
    check_done (self, folder, done);
  } else if (failed != NULL) {
    self->n_failed++;
    if (!self->quiet)
      fprintf (stderr, "%s: failed: %s\n", folder,
          json_object_get_string_member_with_default (failed, "error", ""));
  } else if (!g_error_matches (error, G_FILE_ERROR, G_FILE_ERROR_NOENT)) {
    report_problem (self, folder, "the marker is damaged: ", error->message);
  } else if (!g_error_matches (
                 error_failed, G_FILE_ERROR, G_FILE_ERROR_NOENT)) {
    report_problem (
        self, folder, "the marker is damaged: ", error_failed->message);
  } else {
    report_problem (self, folder, "no marker", "");
  }
  g_clear_error (&error);
  g_clear_error (&error_failed);
  g_clear_pointer (&done, json_object_unref);
  g_clear_pointer (&failed, json_object_unref);
}

static gboolean
is_part (const gchar *name)
{
  return name[0] == '.' && g_str_has_suffix (name, ".results.part");
}

static void
check_folder (Check *self, const gchar *folder)
{
  GError *error = NULL;
  GDir *dir;
  const gchar *name;

  if (g_str_has_suffix (folder, ".results")) {
    check_result (self, folder);
    return;
  }
  dir = g_dir_open (folder, 0, &error);
  if (dir == NULL) {
    report_problem (self, folder, "", error->message);
    g_error_free (error);
    return;
  }
  while ((name = g_dir_read_name (dir)) != NULL) {
    gchar *path = g_build_filename (folder, name, NULL);

    if (is_part (name) && !self->quiet)
      fprintf (stderr,
          "%s: incomplete: a process is working on it, or was "
          "killed\n",
          path);
    else if (!is_part (name) && g_file_test (path, G_FILE_TEST_IS_DIR)
        && !g_file_test (path, G_FILE_TEST_IS_SYMLINK))
      check_folder (self, path);
    g_free (path);
  }
  g_dir_close (dir);
}

static void
print_check_json (const Check *self)
{
  printf ("{ \"done\": %u, \"failed\": %u, \"files\": %u, \"problems\": %u }\n",
      self->n_done, self->n_failed, self->n_files, self->n_problems);
}

gboolean
check_results (gchar **folders, const ArchiveOptions *options)
{
  Check self = { .quiet = options->quiet };

  for (; *folders != NULL; folders++)
    check_folder (&self, *folders);
  if (!options->quiet)
    fprintf (stderr, "done: %u videos, %u files; failed: %u; problems: %u\n",
        self.n_done, self.n_files, self.n_failed, self.n_problems);
  if (options->json)
    print_check_json (&self);
  return self.n_problems == 0;
}
