/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Prints a query's results, or its error, as a line of JSON. */
#include "search-tool.h"

#include <cairo.h>
#include <errno.h>
#include <json-glib/json-glib.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "data-uri.h"

/* ---- thumbnails ---- */

static cairo_surface_t *
surface_of (const guint8 *rgb, gint width, gint height)
{
  cairo_surface_t *surface =
      cairo_image_surface_create (CAIRO_FORMAT_RGB24, width, height);
  guint8 *rows = cairo_image_surface_get_data (surface);
  const gint stride = cairo_image_surface_get_stride (surface);

  for (gint y = 0; rows != NULL && y < height; y++) {
    guint32 *row = (guint32 *) (void *) (rows + (gsize) y * (gsize) stride);

    for (gint x = 0; x < width; x++, rgb += 3)
      row[x] = (guint32) rgb[0] << 16 | (guint32) rgb[1] << 8 | rgb[2];
  }
  cairo_surface_mark_dirty (surface);
  return surface;
}

static gchar *
uri_of (const guint8 *rgb, const CuvLdpIndexInfo *info)
{
  cairo_surface_t *surface =
      surface_of (rgb, info->thumbnail_width, info->thumbnail_height);
  gchar *uri = png_data_uri (surface);

  cairo_surface_destroy (surface);
  return uri;
}

/* ---- JSON ---- */

static void
add_string (JsonBuilder *self, const gchar *key, const gchar *text)
{
  json_builder_set_member_name (self, key);
  if (text != NULL)
    json_builder_add_string_value (self, text);
  else
    json_builder_add_null_value (self);
}

static void
add_path (JsonBuilder *self, const gchar *key, const gchar *path)
{
  gchar *text = g_filename_display_name (path);

  add_string (self, key, text);
  g_free (text);
}

static void
add_number (JsonBuilder *self, const gchar *key, guint64 number)
{
  json_builder_set_member_name (self, key);
  json_builder_add_int_value (self, (gint64) number);
}

static void
add_match (JsonBuilder *self, const Found *found, gsize i, const Part *part)
{
  const CuvLdpMatch *match = &found->matches[i];
  const IndexFile *file = part_file (part, match->entry);

  json_builder_begin_object (self);
  add_number (self, "rank", i + 1);
  add_string (self, "name", found->names->pdata[i]);
  json_builder_set_member_name (self, "similarity");
  json_builder_add_double_value (self, match->similarity);
  add_number (self, "entry", match->entry);
  add_path (self, "file", file->path);
  add_number (self, "file_entry", match->entry - file->first);
  if (found->thumbnails != NULL) {
    gchar *uri = uri_of (found->thumbnails[i], part_info (part));

    add_string (self, "thumbnail", uri);
    g_free (uri);
  }
  json_builder_end_object (self);
}

static void
add_times (JsonBuilder *self, const RecordQuery *query, const Found *found)
{
  json_builder_set_member_name (self, "microseconds");
  json_builder_begin_object (self);
  if (query->entry < 0) {
    add_number (self, "decode", (guint64) llround (query->times.decode_us));
    add_number (self, "describe", (guint64) llround (query->times.describe_us));
  }
  add_number (self, "scan", (guint64) llround (found->scan_us));
  add_number (self, "merge", (guint64) llround (found->merge_us));
  json_builder_end_object (self);
}

static gboolean
write_stdout (const gchar *text, gsize size)
{
  while (size > 0) {
    const gssize n = write (fileno (stdout), text, size);

    if (n < 0 && errno != EINTR)
      return FALSE;
    text += MAX (n, 0);
    size -= (gsize) MAX (n, 0);
  }
  return TRUE;
}

/* Ends the object and prints it, if possible with a single write(): a program
 * that is killed leaves no partial line in a file. */
static gboolean
print_record (JsonBuilder *self)
{
  JsonGenerator *generator = json_generator_new ();
  JsonNode *root;
  GString *text;
  gboolean ok;

  json_builder_end_object (self);
  root = json_builder_get_root (self);
  json_generator_set_root (generator, root);
  text = json_generator_to_gstring (generator, g_string_new (NULL));
  g_string_append_c (text, '\n');
  ok = write_stdout (text->str, text->len);
  if (!ok)
    g_printerr ("cuvision-search: stdout: %s\n", g_strerror (errno));
  g_string_free (text, TRUE);
  json_node_unref (root);
  g_object_unref (generator);
  g_object_unref (self);
  return ok;
}

gchar *
record_open (const gchar *path)
{
  return freopen (path, "w", stdout) != NULL
      ? NULL
      : g_strdup_printf ("%s: %s", path, g_strerror (errno));
}

static JsonBuilder *
begin_record (const gchar *query)
{
  JsonBuilder *self = json_builder_new ();

  json_builder_begin_object (self);
  add_path (self, "query", query);
  return self;
}

gboolean
record_print (const RecordQuery *query, const Found *found, const Part *part)
{
  JsonBuilder *builder = begin_record (query->query);

  if (query->entry >= 0)
    add_number (builder, "query_entry", (guint64) query->entry);
  json_builder_set_member_name (builder, "matches");
  json_builder_begin_array (builder);
  for (gsize i = 0; i < found->n; i++)
    add_match (builder, found, i, part);
  json_builder_end_array (builder);
  add_number (builder, "entries", part->n);
  add_times (builder, query, found);
  return print_record (builder);
}

gboolean
record_print_problem (const gchar *query, const gchar *problem)
{
  JsonBuilder *builder = begin_record (query);

  add_string (builder, "error", problem);
  return print_record (builder);
}
