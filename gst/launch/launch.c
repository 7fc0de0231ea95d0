/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "launch/launch-private.h"

#include <string.h>

void
gst_cuv_launch_note (GstCuvLaunch *self, const gchar *format, ...)
{
  va_list args;
  gchar *text;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  g_strdelimit (text, "\r\n", ' '); /* a name may have them */
  g_string_append_printf (
      self->notes, "%s%s", self->notes->len > 0 ? "\n" : "", text);
  g_free (text);
}

/* ---- names ---- */

/* Returns what GStreamer puts before the number in the names that it generates,
 * to be freed. */
static gchar *
generated_prefix (const GstCuvLaunchNode *node)
{
  const gchar *type = G_OBJECT_TYPE_NAME (node->element);
  const gsize n = strlen (type);
  gchar *prefix, *lower;

  if (g_str_has_prefix (type, "Gst"))
    type += 3;
  prefix = g_strconcat (type,
      n > 0 && g_ascii_isdigit (type[strlen (type) - 1]) ? "-" : "", NULL);
  lower = g_ascii_strdown (prefix, -1);
  g_free (prefix);
  return lower;
}

static gboolean
is_generated (const GstCuvLaunchNode *node)
{
  gchar *prefix = generated_prefix (node);
  const gsize n = strlen (prefix);
  const gboolean generated = g_str_has_prefix (node->name, prefix)
      && node->name[n] != '\0'
      && strspn (node->name + n, "0123456789") == strlen (node->name + n);

  g_free (prefix);
  return generated;
}

/* Whether a property has the name, as "controls" of visionwebsink does. */
static gboolean
is_mentioned (const GstCuvLaunch *self, const gchar *name)
{
  for (guint i = 0; i < self->nodes->len; i++) {
    const GstCuvLaunchNode *node = self->nodes->pdata[i];

    if (strstr (node->properties->str, name) != NULL)
      return TRUE;
  }
  return FALSE;
}

static gboolean
is_taken (const GstCuvLaunch *self, const gchar *name)
{
  for (guint i = 0; i < self->nodes->len; i++) {
    const GstCuvLaunchNode *node = self->nodes->pdata[i];

    if (g_strcmp0 (node->written_name, name) == 0)
      return TRUE;
  }
  return FALSE;
}

/* A name in "name." has letters, digits and a few others only. */
static gchar *
valid_name (const GstCuvLaunch *self, const GstCuvLaunchNode *node)
{
  gchar *name = g_strdup (node->name), *first;

  if (node->referenced) {
    g_strcanon (name, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "-_%:", '_');
    if (!g_ascii_isalnum (*name) && *name != '_')
      *name = '_';
  }
  first = g_strdup (name);
  for (guint i = 2; is_taken (self, name); i++) {
    g_free (name);
    name = g_strdup_printf ("%s_%u", first, i);
  }
  g_free (first);
  return name;
}

static void
write_name (GstCuvLaunch *self, GstCuvLaunchNode *node)
{
  if (node->written_name != NULL)
    return;
  node->written_name = valid_name (self, node);
  if (!g_str_equal (node->written_name, node->name))
    gst_cuv_launch_note (self, "the element %s is called %s here", node->name,
        node->written_name);
}

/* If a generated name is written, all of that type are: another one could get
 * the same. */
static void
write_names_of_type (GstCuvLaunch *self, const GstCuvLaunchNode *like)
{
  for (guint i = 0; i < self->nodes->len; i++) {
    GstCuvLaunchNode *node = self->nodes->pdata[i];

    if (G_OBJECT_TYPE (node->element) == G_OBJECT_TYPE (like->element))
      write_name (self, node);
  }
}

static void
write_names (GstCuvLaunch *self)
{
  for (guint i = 0; i < self->nodes->len; i++) {
    GstCuvLaunchNode *node = self->nodes->pdata[i];

    if (!is_generated (node))
      write_name (self, node);
    else if (node->referenced || is_mentioned (self, node->name))
      write_names_of_type (self, node);
  }
}

/* ---- caps ---- */

/* Returns caps without types and spaces. */
static gchar *
compact_caps (const gchar *text)
{
  GString *out = g_string_new (NULL);

  while (*text != '\0') {
    const gchar *end =
        g_str_has_prefix (text, "=(") ? strchr (text, ')') : NULL;

    if (*text != ' ')
      g_string_append_c (out, *text);
    text = end != NULL ? end + 1 : text + 1;
  }
  return g_string_free (out, FALSE);
}

/* Returns the caps of a filter if they need no quotes, else NULL. */
static gchar *
caps_text (const GstCuvLaunchNode *node)
{
  GstCaps *caps = NULL, *again = NULL;
  gchar *full = NULL, *text = NULL;

  if (!g_str_equal (node->factory, "capsfilter"))
    return NULL;
  g_object_get (node->element, "caps", &caps, NULL);
  if (caps != NULL && gst_caps_get_size (caps) == 1) {
    full = gst_caps_to_string (caps);
    text = compact_caps (full);
    if (strspn (text, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "_/,.=:+-")
        == strlen (text))
      again = gst_caps_from_string (text);
  }
  if (again == NULL || !gst_caps_is_strictly_equal (caps, again))
    g_clear_pointer (&text, g_free);
  gst_clear_caps (&caps);
  gst_clear_caps (&again);
  g_free (full);
  return text;
}

static guint
count_links (
    const GstCuvLaunch *self, const GstCuvLaunchNode *node, gboolean incoming)
{
  guint n = 0;

  for (guint i = 0; i < self->links->len; i++) {
    const GstCuvLaunchLink *link = self->links->pdata[i];

    n += (incoming ? link->to : link->from) == node;
  }
  return n;
}

static gboolean
follows_caps (const GstCuvLaunch *self, const GstCuvLaunchNode *node)
{
  for (guint i = 0; i < self->links->len; i++) {
    const GstCuvLaunchLink *link = self->links->pdata[i];

    if (link->to == node && g_str_equal (link->from->factory, "capsfilter"))
      return TRUE;
  }
  return FALSE;
}

/* "a ! video/x-raw ! b" makes a filter of which nothing but caps is set. */
static void
find_caps (GstCuvLaunch *self)
{
  for (guint i = 0; i < self->nodes->len; i++) {
    GstCuvLaunchNode *node = self->nodes->pdata[i];

    if (node->written_name == NULL && node->n_properties == 1
        && count_links (self, node, TRUE) == 1
        && count_links (self, node, FALSE) == 1 && !follows_caps (self, node))
      node->caps = caps_text (node);
  }
}

/* ---- text ---- */

static void
write_node (GstCuvLaunch *self, GstCuvLaunchNode *node)
{
  node->written = TRUE;
  if (node->caps != NULL) {
    g_string_append (self->text, node->caps);
    return;
  }
  g_string_append (self->text, node->factory);
  if (node->written_name != NULL)
    gst_cuv_launch_add_text (self->text, "name", node->written_name, TRUE);
  g_string_append (self->text, node->properties->str);
}

static void
write_reference (GstCuvLaunch *self, GstCuvLaunchNode *node, const gchar *pad)
{
  node->referenced = TRUE;
  g_string_append_printf (self->text, "%s.%s",
      node->written_name != NULL ? node->written_name : node->name,
      pad != NULL ? pad : "");
}

/* Returns the first link of the element that is not written, or NULL. */
static GstCuvLaunchLink *
next_link (const GstCuvLaunch *self, const GstCuvLaunchNode *node)
{
  for (guint i = 0; i < self->links->len; i++) {
    GstCuvLaunchLink *link = self->links->pdata[i];

    if (link->from == node && !link->written)
      return link;
  }
  return NULL;
}

/* Writes " ! element ! element" up to an element that has no link, or is
 * written elsewhere. */
static void
write_chain (GstCuvLaunch *self, GstCuvLaunchLink *link)
{
  while (link != NULL) {
    GstCuvLaunchNode *to = link->to;

    link->written = TRUE;
    g_string_append (self->text, " ! ");
    if (to->written) {
      write_reference (self, to, link->sink);
      return;
    }
    if (link->sink != NULL)
      g_string_append_printf (self->text, ".%s ", link->sink);
    write_node (self, to);
    link = next_link (self, to);
    if (link != NULL && link->src != NULL)
      g_string_append_printf (self->text, " .%s", link->src);
  }
}

/* Writes an element, unless it is written, and its links. */
static void
write_from (GstCuvLaunch *self, GstCuvLaunchNode *node)
{
  GstCuvLaunchLink *link = next_link (self, node);

  if (node->written && link == NULL)
    return;
  if (self->text->len > 0)
    g_string_append_c (self->text, ' ');
  if (node->written) {
    write_reference (self, node, link->src);
  } else {
    write_node (self, node);
    if (link != NULL && link->src != NULL)
      g_string_append_printf (self->text, " .%s", link->src);
  }
  write_chain (self, link);
}

/* Writes the links of elements that have several. */
static void
write_branches (GstCuvLaunch *self)
{
  for (guint i = 0; i < self->nodes->len; i++) {
    GstCuvLaunchNode *node = self->nodes->pdata[i];

    if (!node->written || next_link (self, node) == NULL)
      continue;
    write_from (self, node);
    i = (guint) -1; /* this may have written earlier elements */
  }
}

static void
write_elements (GstCuvLaunch *self, gboolean only_sources)
{
  for (guint i = 0; i < self->nodes->len; i++) {
    GstCuvLaunchNode *node = self->nodes->pdata[i];

    if (node->written || (only_sources && count_links (self, node, TRUE) > 0))
      continue;
    write_from (self, node);
    write_branches (self);
  }
}

static void
write_all (GstCuvLaunch *self)
{
  g_string_truncate (self->text, 0);
  for (guint i = 0; i < self->nodes->len; i++)
    ((GstCuvLaunchNode *) self->nodes->pdata[i])->written = FALSE;
  for (guint i = 0; i < self->links->len; i++)
    ((GstCuvLaunchLink *) self->links->pdata[i])->written = FALSE;
  write_elements (self, TRUE);
  write_elements (self, FALSE); /* of circles */
}

/* The text is written twice: the first one shows which names it needs. */
gchar *
gst_cuv_launch_text (GstBin *bin, gchar **notes)
{
  GstCuvLaunch self = { g_ptr_array_new_with_free_func (
                            gst_cuv_launch_node_free),
    g_ptr_array_new_with_free_func (gst_cuv_launch_link_free),
    g_string_new (NULL), g_string_new (NULL) };

  gst_cuv_launch_collect (&self, bin);
  write_all (&self);
  write_names (&self);
  find_caps (&self);
  write_all (&self);
  *notes = g_string_free (self.notes, self.notes->len == 0);
  g_ptr_array_unref (self.links);
  g_ptr_array_unref (self.nodes);
  return g_string_free (self.text, FALSE);
}
