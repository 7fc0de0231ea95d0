/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "indexsink/gstldpnamer.h"

/* ---- patterns ---- */

gchar *
gst_ldp_name_check (const gchar *pattern)
{
  gchar *valid, *problem;

  if (pattern == NULL
      || (g_utf8_validate (pattern, -1, NULL)
          && g_regex_match_simple (
              "^([^%]|%%)*+(%0*[0-9]{0,2}d([^%]|%%)*+)?$", pattern, 0, 0)))
    return NULL;
  valid = g_utf8_make_valid (pattern, -1);
  problem = g_strdup_printf (
      "entry-name '%s' is not valid: use UTF-8 with at most one placeholder "
      "for a number, %%d or %%05d, and %%%% for a percent sign",
      valid);
  g_free (valid);
  return problem;
}

static gchar *
gst_ldp_namer_expand (const gchar *pattern, guint64 number)
{
  GString *name = g_string_new (NULL);
  gchar *end;

  for (const gchar *c = pattern; *c != '\0'; c++) {
    if (*c == '%' && c[1] != '%') {
      const gboolean has_zeros = c[1] == '0';
      const gint width = (gint) g_ascii_strtoull (c + 1, &end, 10);

      g_string_append_printf (name,
          has_zeros ? "%0*" G_GUINT64_FORMAT : "%*" G_GUINT64_FORMAT, width,
          number);
      c = end; /* the letter d */
    } else {
      g_string_append_c (name, *c);
      c += *c == '%';
    }
  }
  return g_string_free (name, FALSE);
}

/* Whether names made from a valid pattern contain the number. */
static gboolean
has_number (const gchar *pattern)
{
  return g_regex_match_simple ("^([^%]|%%)*+%", pattern, 0, 0);
}

/* ---- upstream ---- */

/* Returns the source pad that feeds a sink pad, across bin borders; or NULL. */
static GstPad *
source_pad_before (GstPad *sink)
{
  GstPad *pad = gst_pad_get_peer (sink), *next;

  while (pad != NULL && GST_IS_PROXY_PAD (pad)) {
    if (GST_IS_GHOST_PAD (pad)) {
      next = gst_ghost_pad_get_target (GST_GHOST_PAD (pad));
    } else {
      GstProxyPad *ghost = gst_proxy_pad_get_internal (GST_PROXY_PAD (pad));

      next = gst_pad_get_peer (GST_PAD (ghost));
      gst_object_unref (ghost);
    }
    gst_object_unref (pad);
    pad = next;
  }
  return pad;
}

/* Returns the only sink pad of an element, or NULL. */
static GstPad *
only_sink_pad (GstElement *element)
{
  GstPad *pad = NULL;

  GST_OBJECT_LOCK (element);
  if (element->numsinkpads == 1)
    pad = gst_object_ref (element->sinkpads->data);
  GST_OBJECT_UNLOCK (element);
  return pad;
}

static gboolean
is_multifilesrc (GstElement *element)
{
  GstElementFactory *factory = gst_element_get_factory (element);

  return factory != NULL
      && g_str_equal (GST_OBJECT_NAME (factory), "multifilesrc");
}

/* Whether the pad's caps are pictures, or are not known yet. */
static gboolean
has_pictures (GstPad *pad)
{
  GstCaps *caps = gst_pad_get_current_caps (pad);
  gboolean has = caps == NULL
      || g_str_has_prefix (
          gst_structure_get_name (gst_caps_get_structure (caps, 0)), "image/");

  gst_clear_caps (&caps);
  return has;
}

static void
find_source (GstLdpNamer *self, GstPad *sink)
{
  GstPad *pad = gst_object_ref (sink), *before;
  GstElement *element;

  self->searched = TRUE;
  while (pad != NULL) {
    before = source_pad_before (pad);
    gst_clear_object (&pad);
    element = before != NULL ? gst_pad_get_parent_element (before) : NULL;
    if (element != NULL && is_multifilesrc (element) && has_pictures (before))
      self->source = gst_object_ref (element);
    else if (element != NULL) {
      self->has_queue |= GST_PAD_TASK (before) != NULL;
      pad = only_sink_pad (element);
    }
    gst_clear_object (&element);
    gst_clear_object (&before);
  }
  if (self->source != NULL)
    g_object_get (self->source, "start-index", &self->first_number, NULL);
  self->next_number = self->first_number;
}

/* ---- files ---- */

/* Returns the name of file `number`, without folder. */
static gchar *
format_file_name (const GstLdpNamer *self, gint number)
{
  gchar *location, *pattern, *problem, *name;

  g_object_get (self->source, "location", &location, NULL);
  pattern = g_path_get_basename (location != NULL ? location : "");
  problem = gst_ldp_name_check (pattern);
  name = gst_ldp_namer_expand (
      problem == NULL ? pattern : "%06d", (guint64) number);
  g_free (problem);
  g_free (pattern);
  g_free (location);
  return name;
}

/* Returns the number of files read since the last frame; with loop=true the
 * index restarts. */
static gint
count_files (const GstLdpNamer *self, gint index)
{
  return index >= self->next_number ? index - self->next_number
                                    : index - self->first_number;
}

/* Whether the next frame is file `next` - 1. */
static gboolean
next_is_file (GstLdpNamer *self, gchar **problem)
{
  gint index, n;
  gchar *a, *b;

  if (self->source == NULL || !self->one_frame_per_file || self->has_queue)
    return FALSE;
  g_object_get (self->source, "index", &index, NULL);
  n = count_files (self, index);
  self->next_number = index;
  self->one_frame_per_file = n > 0;
  if (n > 1) {
    a = format_file_name (self, index - n);
    b = format_file_name (self, index - 1);
    *problem = g_strdup_printf (
        "Files %s to %s produced only one frame, and it is unknown which file "
        "it came from: remove files that cannot be decoded, or add the files "
        "with cuvision-index add, which reports and skips such files",
        a, b);
    g_free (a);
    g_free (b);
  }
  return n == 1;
}

/* ---- names ---- */

void
gst_ldp_namer_start (GstLdpNamer *self)
{
  *self = (GstLdpNamer){ .one_frame_per_file = TRUE };
}

void
gst_ldp_namer_stop (GstLdpNamer *self)
{
  g_clear_pointer (&self->title, g_free);
  gst_clear_object (&self->source);
}

void
gst_ldp_namer_add_tags (GstLdpNamer *self, GstEvent *event)
{
  GstTagList *tags;
  gchar *title;

  gst_event_parse_tag (event, &tags);
  if (gst_tag_list_get_scope (tags) != GST_TAG_SCOPE_STREAM
      || !gst_tag_list_get_string (tags, GST_TAG_TITLE, &title))
    return;
  g_free (self->title);
  self->title = title;
}

/* A title names one frame only. The number of a frame is that in its file name,
 * unless start-index is set. */
gchar *
gst_ldp_namer_next (GstLdpNamer *self, GstPad *pad, const gchar *pattern,
    guint64 start, guint64 n, gchar **problem)
{
  gchar *title = g_steal_pointer (&self->title);
  guint64 number = start + n;
  gboolean is_file;

  *problem = NULL;
  if (!self->searched)
    find_source (self, pad);
  is_file = next_is_file (self, problem);
  if (self->source != NULL && self->has_queue && pattern != NULL)
    *problem =
        g_strdup ("A queue between multifilesrc and this sink hides which "
                  "file a frame is from: remove the queue, or add the "
                  "files with cuvision-index add");
  if (is_file)
    number =
        (guint64) (self->next_number - 1 - (start > 0 ? self->first_number : 0))
        + start;
  if (title != NULL && pattern == NULL) {
    g_clear_pointer (problem, g_free);
    return title;
  }
  g_free (title);
  if (*problem != NULL && (pattern == NULL || has_number (pattern)))
    return NULL;
  g_clear_pointer (problem, g_free);
  return pattern == NULL && is_file
      ? format_file_name (self, self->next_number - 1)
      : gst_ldp_namer_expand (pattern != NULL ? pattern : "%06d", number);
}

gchar *
gst_ldp_namer_find_undecoded (const GstLdpNamer *self)
{
  gint index = 0;

  if (self->source == NULL || !self->one_frame_per_file || self->has_queue)
    return NULL;
  g_object_get (self->source, "index", &index, NULL);
  return count_files (self, index) > 0 ? format_file_name (self, index - 1)
                                       : NULL;
}
