/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The pipeline with its placeholders: checks it, finds its plugins and the
 * elements that read the video, and fills it in for one video. */
#include "archive.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

/* Stands for a video while the pipeline is checked. */
#define SAMPLE "/cuvision-archive/sample"

/* ---- placeholders ---- */

/* Control characters cannot be part of a pipeline; elements such as
 * multifilesink take '%' for the start of a format. */
static gboolean
is_special (gchar c)
{
  return g_ascii_iscntrl (c) || c == '%';
}

/* Returns the path. If a pipeline cannot contain it, opens the file and returns
 * the path of its descriptor instead. Returns NULL with an error. */
static gchar *
name_in_line (const gchar *path, int *file, GError **error)
{
  gboolean plain = g_utf8_validate (path, -1, NULL);

  for (const gchar *c = path; *c != '\0'; c++)
    plain = plain && !is_special (*c);
  if (plain)
    return g_strdup (path);
  *file = g_open (path, O_RDONLY | O_CLOEXEC, 0);
  if (*file >= 0)
    return g_strdup_printf ("/proc/%d/fd/%d", (int) getpid (), *file);
  files_fail ("open", path, error);
  return NULL;
}

static gchar *
plain_name (const gchar *path)
{
  gchar *name = g_filename_display_basename (path);

  for (gchar *c = name; *c != '\0'; c++)
    if (is_special (*c))
      *c = '_';
  return name;
}

static gchar *
template_fill (const gchar *line, const gchar *video, gchar *video_in_line,
    gchar *results_in_line, GError **error)
{
  GHashTable *values =
      g_hash_table_new_full (g_str_hash, g_str_equal, NULL, g_free);
  gchar *text;

  g_hash_table_insert (values, "film", video_in_line);
  g_hash_table_insert (values, "results", results_in_line);
  g_hash_table_insert (values, "name", plain_name (video));
  g_hash_table_insert (values, "uri", g_filename_to_uri (video, NULL, NULL));
  text = cuv_line_expand (line, values, error);
  g_hash_table_unref (values);
  return text;
}

gchar *
template_expand (const Template *self, const gchar *video, const gchar *results,
    TemplateFiles *files, GError **error)
{
  gchar *video_in_line, *results_in_line = NULL;

  *files = (TemplateFiles){ -1, -1 };
  video_in_line = name_in_line (video, &files->video, error);
  if (video_in_line != NULL)
    results_in_line = name_in_line (results, &files->results, error);
  if (results_in_line != NULL)
    return template_fill (
        self->line, video, video_in_line, results_in_line, error);
  g_free (video_in_line);
  return NULL;
}

void
template_close (TemplateFiles *files)
{
  if (files->video >= 0)
    close (files->video);
  if (files->results >= 0)
    close (files->results);
  *files = (TemplateFiles){ -1, -1 };
}

/* Refuses unknown words in braces as misspelt placeholders. Lists in caps are
 * not affected: they have commas or capitals. */
static gboolean
check_placeholders (const gchar *line, GError **error)
{
  GRegex *word = g_regex_new ("\\{([a-z]+)\\}", 0, 0, NULL);
  GMatchInfo *match;
  gboolean ok = TRUE, reads = FALSE;

  for (g_regex_match (word, line, 0, &match); g_match_info_matches (match);
       g_match_info_next (match, NULL)) {
    gchar *name = g_match_info_fetch (match, 1);

    reads = reads || g_str_equal (name, "film") || g_str_equal (name, "uri");
    if (ok && !g_str_equal (name, "film") && !g_str_equal (name, "uri")
        && !g_str_equal (name, "results") && !g_str_equal (name, "name")) {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
          "unknown placeholder {%s}: use {film}, {uri}, {name} or "
          "{results}",
          name);
      ok = FALSE;
    }
    g_free (name);
  }
  g_match_info_free (match);
  g_regex_unref (word);
  if (ok && !reads)
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
        "the pipeline reads no video: it needs {film} or {uri}, as in filesrc "
        "location={film}");
  return ok && reads;
}

/* ---- elements ---- */

static gboolean
reads_video (GstElement *element)
{
  guint n;
  GParamSpec **specs =
      g_object_class_list_properties (G_OBJECT_GET_CLASS (element), &n);
  gboolean found = FALSE;

  for (guint i = 0; !found && i < n; i++) {
    gchar *text = NULL;

    if (specs[i]->value_type != G_TYPE_STRING
        || (specs[i]->flags & G_PARAM_READABLE) == 0)
      continue;
    g_object_get (element, specs[i]->name, &text, NULL);
    found = text != NULL && strstr (text, SAMPLE) != NULL;
    g_free (text);
  }
  g_free (specs);
  return found;
}

static void
add_plugin (Template *self, GstElement *element)
{
  GstElementFactory *factory = gst_element_get_factory (element);
  GstPlugin *plugin = factory != NULL
      ? gst_plugin_feature_get_plugin (GST_PLUGIN_FEATURE (factory))
      : NULL;

  if (plugin == NULL)
    return;
  g_hash_table_insert (self->plugins, g_strdup (gst_plugin_get_name (plugin)),
      g_strdup (gst_plugin_get_version (plugin)));
  gst_object_unref (plugin);
}

static void
add_element (const GValue *item, gpointer data)
{
  GstElement *element = g_value_get_object (item);
  Template *self = data;

  add_plugin (self, element);
  if (reads_video (element))
    g_hash_table_add (self->readers, gst_element_get_name (element));
}

static void
add_elements (Template *self, GstElement *pipeline)
{
  GValue item = G_VALUE_INIT;
  GstIterator *elements;

  if (!GST_IS_BIN (pipeline)) {
    g_value_init (&item, GST_TYPE_ELEMENT);
    g_value_set_object (&item, pipeline);
    add_element (&item, self);
    g_value_unset (&item);
    return;
  }
  elements = gst_bin_iterate_recurse (GST_BIN (pipeline));
  while (
      gst_iterator_foreach (elements, add_element, self) == GST_ITERATOR_RESYNC)
    gst_iterator_resync (elements);
  gst_iterator_free (elements);
}

static GstElement *
parse_sample (const gchar *line, GError **error)
{
  gchar *text = template_fill (line, SAMPLE, g_strdup (SAMPLE),
      g_strdup ("/cuvision-archive/results"), error);
  GstElement *pipeline = text != NULL
      ? gst_parse_launch_full (text, NULL, GST_PARSE_FLAG_FATAL_ERRORS, error)
      : NULL;

  g_free (text);
  g_prefix_error (error, "invalid pipeline: ");
  return pipeline;
}

Template *
template_new (const gchar *line, GError **error)
{
  GstElement *pipeline =
      check_placeholders (line, error) ? parse_sample (line, error) : NULL;
  Template *self;

  if (pipeline == NULL)
    return NULL;
  self = g_new0 (Template, 1);
  self->line = line;
  self->plugins =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  self->readers = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  add_elements (self, pipeline);
  gst_object_unref (pipeline);
  return self;
}

void
template_free (Template *self)
{
  if (self == NULL)
    return;
  g_hash_table_unref (self->plugins);
  g_hash_table_unref (self->readers);
  g_free (self);
}

/* Whether the error comes from an element that reads the video: one in the
 * pipeline, or a source that one of them created. */
static gboolean
is_of_reader (const Template *self, const gchar *video, JsonObject *error)
{
  gchar *uri = g_filename_to_uri (video, NULL, NULL);
  const gboolean reads =
      g_hash_table_contains (self->readers,
          json_object_get_string_member_with_default (error, "element", ""))
      || g_strcmp0 (
             uri, json_object_get_string_member_with_default (error, "uri", ""))
          == 0;

  g_free (uri);
  return reads;
}

gboolean
template_is_external (
    const Template *self, const gchar *video, JsonObject *error)
{
  if (!json_object_has_member (error, "element"))
    return TRUE;
  if (!g_str_equal (
          json_object_get_string_member_with_default (error, "domain", ""),
          g_quark_to_string (GST_RESOURCE_ERROR)))
    return FALSE;
  return json_object_get_int_member_with_default (error, "code", 0)
      == GST_RESOURCE_ERROR_NO_SPACE_LEFT
      || !is_of_reader (self, video, error);
}
