/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "launch/launch-private.h"

#include <string.h>

/* ---- elements ---- */

/* Whether its elements are written instead of the bin. */
static gboolean
is_transparent (GstElement *element)
{
  const GstElementFactory *factory = gst_element_get_factory (element);

  return GST_IS_BIN (element)
      && (factory == NULL || G_OBJECT_TYPE (element) == GST_TYPE_BIN
          || G_OBJECT_TYPE (element) == GST_TYPE_PIPELINE);
}

static void
check_element (GstCuvLaunch *self, const GstCuvLaunchNode *node)
{
  if (gst_element_get_factory (node->element) == NULL)
    gst_cuv_launch_note (self,
        "%s is an element of the program, which gst-launch-1.0 does not have",
        node->name);
  if (g_str_equal (node->factory, "appsrc")
      || g_str_equal (node->factory, "appsink"))
    gst_cuv_launch_note (self,
        "%s connects to the program: replace it by a source or sink",
        node->name);
}

static void
add_node (GstCuvLaunch *self, GstElement *element)
{
  GstElementFactory *factory = gst_element_get_factory (element);
  GstCuvLaunchNode *node = g_new0 (GstCuvLaunchNode, 1);

  node->element = gst_object_ref (element);
  node->factory = factory != NULL ? GST_OBJECT_NAME (factory)
                                  : G_OBJECT_TYPE_NAME (element);
  node->name = gst_object_get_name (GST_OBJECT (element));
  node->properties = g_string_new (NULL);
  g_ptr_array_add (self->nodes, node);
  check_element (self, node);
  gst_cuv_launch_add_properties (self, node);
}

/* Returns references to the objects of a list, which the parent's lock guards.
 */
static GList *
copy_list (gpointer parent, GList *const *list)
{
  GList *copy;

  GST_OBJECT_LOCK (parent);
  copy = g_list_copy (*list);
  for (GList *at = copy; at != NULL; at = at->next)
    gst_object_ref (at->data);
  GST_OBJECT_UNLOCK (parent);
  return copy;
}

static void
collect_nodes (GstCuvLaunch *self, GstBin *bin)
{
  /* the newest one is the first */
  GList *children = g_list_reverse (copy_list (bin, &bin->children));

  for (const GList *at = children; at != NULL; at = at->next) {
    if (!is_transparent (at->data)) {
      add_node (self, at->data);
      continue;
    }
    gst_cuv_launch_note (self, "the bin %s is left out, not its elements",
        GST_OBJECT_NAME (at->data));
    collect_nodes (self, at->data);
  }
  g_list_free_full (children, gst_object_unref);
}

/* ---- links ---- */

/* Returns the pad to which a pad is linked, through ghost pads of bins that are
 * not written, or NULL. */
static GstPad *
linked_pad (GstPad *pad)
{
  GstPad *peer = gst_pad_get_peer (pad), *next;

  while (peer != NULL) {
    GstObject *parent = gst_object_get_parent (GST_OBJECT (peer));

    if (parent != NULL && GST_IS_GHOST_PAD (parent))
      next = gst_pad_get_peer (GST_PAD (parent)); /* leaves a bin */
    else if (parent != NULL && GST_IS_GHOST_PAD (peer)
        && is_transparent (GST_ELEMENT (parent)))
      next = gst_ghost_pad_get_target (GST_GHOST_PAD (peer)); /* enters one */
    else
      next = gst_object_ref (peer);
    gst_clear_object (&parent);
    if (next == peer) {
      gst_object_unref (next);
      return peer;
    }
    gst_object_unref (peer);
    peer = next;
  }
  return NULL;
}

static GstCuvLaunchNode *
find_node (const GstCuvLaunch *self, GstPad *pad)
{
  GstElement *parent = gst_pad_get_parent_element (pad);
  GstCuvLaunchNode *found = NULL;

  for (guint i = 0; i < self->nodes->len && found == NULL; i++) {
    GstCuvLaunchNode *node = self->nodes->pdata[i];

    if (node->element == parent)
      found = node;
  }
  gst_clear_object (&parent);
  return found;
}

static guint
count_linked (GList *pads)
{
  guint n = 0;

  for (; pads != NULL; pads = pads->next)
    n += gst_pad_is_linked (pads->data);
  return n;
}

/* Whether a link needs the name of this pad. GStreamer finds the pad if the
 * element has only one, and requests those of tee in the same order. */
static gboolean
needs_name (GstElement *element, GstPad *pad)
{
  const GstPadDirection direction = gst_pad_get_direction (pad);
  GstPadPresence presence = GST_PAD_ALWAYS;
  guint n = 0, linked;

  for (const GList *at = gst_element_class_get_pad_template_list (
           GST_ELEMENT_GET_CLASS (element));
       at != NULL; at = at->next) {
    if (GST_PAD_TEMPLATE_DIRECTION (at->data) != direction)
      continue;
    presence = GST_PAD_TEMPLATE_PRESENCE (at->data);
    n++;
  }
  GST_OBJECT_LOCK (element);
  linked = count_linked (
      direction == GST_PAD_SRC ? element->srcpads : element->sinkpads);
  GST_OBJECT_UNLOCK (element);
  if (n > 1)
    return TRUE;
  return linked > 1 && presence != GST_PAD_ALWAYS
      && (direction == GST_PAD_SINK || presence == GST_PAD_SOMETIMES);
}

/* Returns the pad's name if the link needs it, or NULL. */
static gchar *
name_of_pad (GstCuvLaunch *self, GstCuvLaunchNode *node, GstPad *pad,
    gboolean is_special)
{
  gchar *name;

  if (!is_special && !needs_name (node->element, pad))
    return NULL;
  name = gst_object_get_name (GST_OBJECT (pad));
  if (strspn (name, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "-_%:")
      == strlen (name))
    return name;
  gst_cuv_launch_note (
      self, "the pad %s of %s cannot be named", name, node->name);
  g_free (name);
  return NULL;
}

static void
add_link (GstCuvLaunch *self, GstCuvLaunchNode *from, GstPad *src, GstPad *sink)
{
  GstCuvLaunchNode *to = find_node (self, sink);
  GstCuvLaunchLink *link;

  if (to == NULL)
    return;
  link = g_new0 (GstCuvLaunchLink, 1);
  link->from = from;
  link->to = to;
  link->src = name_of_pad (self, from, src, FALSE);
  link->sink =
      name_of_pad (self, to, sink, gst_cuv_launch_add_pad (self, to, sink));
  g_ptr_array_add (self->links, link);
}

static void
collect_links (GstCuvLaunch *self, GstCuvLaunchNode *node)
{
  GList *pads = copy_list (node->element, &node->element->srcpads);

  for (const GList *at = pads; at != NULL; at = at->next) {
    GstPad *sink = linked_pad (at->data);

    if (sink != NULL)
      add_link (self, node, at->data, sink);
    gst_clear_object (&sink);
  }
  g_list_free_full (pads, gst_object_unref);
  pads = copy_list (node->element, &node->element->sinkpads);
  for (const GList *at = pads; at != NULL; at = at->next)
    if (!gst_pad_is_linked (at->data))
      gst_cuv_launch_note (self,
          "pad %s of %s is not linked: if it will be later, ask again then",
          GST_PAD_NAME (at->data), node->name);
  g_list_free_full (pads, gst_object_unref);
}

/* gst-launch-1.0 makes a pipeline with the defaults. */
static void
check_pipeline (GstCuvLaunch *self, GstBin *bin)
{
  GstCuvLaunchNode node = { .element = GST_ELEMENT (bin),
    .name = GST_OBJECT_NAME (bin),
    .properties = g_string_new (NULL) };

  gst_cuv_launch_add_properties (self, &node);
  if (node.n_properties > 0)
    gst_cuv_launch_note (self, "properties of the pipeline are left out:%s",
        node.properties->str);
  g_string_free (node.properties, TRUE);
}

void
gst_cuv_launch_collect (GstCuvLaunch *self, GstBin *bin)
{
  check_pipeline (self, bin);
  collect_nodes (self, bin);
  for (guint i = 0; i < self->nodes->len; i++)
    collect_links (self, self->nodes->pdata[i]);
}

void
gst_cuv_launch_node_free (gpointer data)
{
  GstCuvLaunchNode *node = data;

  gst_object_unref (node->element);
  g_free (node->name);
  g_free (node->written_name);
  g_string_free (node->properties, TRUE);
  g_free (node->caps);
  g_free (node);
}

void
gst_cuv_launch_link_free (gpointer data)
{
  GstCuvLaunchLink *link = data;

  g_free (link->src);
  g_free (link->sink);
  g_free (link);
}
