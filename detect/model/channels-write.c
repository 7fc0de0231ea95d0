/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes a model of trees on channels as XML. */
#include "model/channels.h"

#include <glib.h>
#include <string.h>

static void
write_tree (const CuvChannelsTrees *self, int tree, GString *out)
{
  const int n_leaves = 1 << self->depth;
  const CuvChannelsNode *nodes =
      self->nodes + (ptrdiff_t) tree * (n_leaves - 1);
  const int16_t *leaves = self->leaves + (ptrdiff_t) tree * n_leaves;

  if (self->thresholds[tree] == INT32_MIN)
    g_string_append (out, "<" CUV_CHANNELS_TREE ">" CUV_CHANNELS_NO_THRESHOLD);
  else
    g_string_append_printf (
        out, "<" CUV_CHANNELS_TREE ">%d", self->thresholds[tree]);
  for (int i = 0; i < n_leaves - 1; i++)
    g_string_append_printf (out, " %d %d %d %d", nodes[i].channel,
        nodes[i].column, nodes[i].row, nodes[i].threshold);
  for (int i = 0; i < n_leaves; i++)
    g_string_append_printf (out, " %d", leaves[i]);
  g_string_append (out, "</" CUV_CHANNELS_TREE ">\n");
}

char *
cuv_channels_model_write (const CuvChannelsModel *self, const char *comment)
{
  const CuvChannelsTrees *trees = &self->trees;
  const int32_t *object = self->object;
  GString *out = g_string_new ("<?xml version=\"1.0\"?>\n");
  char *text;

  g_string_append_printf (out,
      "<!-- %s -->\n<" CUV_CHANNELS_ROOT
      " version=\"1\" width=\"%d\" height=\"%d\" "
      "shrink=\"%d\" levels=\"%d\" overhang=\"%d\"\n  object=\"%d %d %d %d\" "
      "depth=\"%d\" threshold=\"%d\"",
      comment, trees->columns * trees->shrink, trees->rows * trees->shrink,
      trees->shrink, self->levels, trees->overhang, object[0], object[1],
      object[2], object[3], trees->depth, trees->final_threshold);
  if (self->spread > 0)
    g_string_append_printf (
        out, " confidence=\"%d %d\"", self->even, self->spread);
  g_string_append (out, ">\n");
  for (int i = 0; i < trees->n_trees; i++)
    write_tree (trees, i, out);
  g_string_append (out, "</" CUV_CHANNELS_ROOT ">\n");
  text = strdup (out->str);
  g_string_free (out, TRUE);
  return text;
}
