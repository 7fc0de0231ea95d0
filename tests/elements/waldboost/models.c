/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "models.h"

#include <gst/check/gstcheck.h>
#include <unistd.h>

#define STAGES 20

static void
append_stage (GString *text, GRand *rand, gboolean last)
{
  gint a = g_rand_int_range (rand, 0, 8);

  g_string_append_printf (text,
      "<stage posT=\"1e+50\" negT=\"%s\"><HistogramWeakHypothesis "
      "predictionValues=\"",
      last ? "-1e+50" : "-1.5");
  for (guint i = 0; i < 100; i++)
    g_string_append_printf (
        text, "%.2f ", g_rand_double_range (rand, -1.3, 0.9));
  g_string_append_printf (text,
      "\"><LRP positionX=\"%d\" positionY=\"%d\" blockWidth=\"2\" "
      "blockHeight=\"2\" blockA=\"%d\" blockB=\"%d\"/>"
      "</HistogramWeakHypothesis></stage>\n",
      g_rand_int_range (rand, 0, 19), g_rand_int_range (rand, 0, 19), a, a + 1);
}

/* Writes the text to a new file and returns its path. Frees text. */
static gchar *
write_text (GString *text)
{
  gchar *path = g_build_filename (g_get_tmp_dir (), "cuv-XXXXXX.xml", NULL);

  close (g_mkstemp (path));
  fail_unless (g_file_set_contents (path, text->str, -1, NULL));
  g_string_free (text, TRUE);
  return path;
}

gchar *
write_rank_model (void)
{
  GString *text =
      g_string_new ("<WaldBoostClassifier sizeX=\"24\" sizeY=\"24\">\n");
  GRand *rand = g_rand_new_with_seed (3);

  for (guint i = 0; i < STAGES; i++)
    append_stage (text, rand, i == STAGES - 1);
  g_string_append (text, "</WaldBoostClassifier>\n");
  g_rand_free (rand);
  return write_text (text);
}

/* Appends a tree of depth 2 in a window of 8x6 blocks. */
static void
append_tree (GString *text, GRand *rand)
{
  g_string_append (text, "<tree>none");
  for (guint i = 0; i < 3; i++)
    g_string_append_printf (text, " %d %d %d %d",
        g_rand_int_range (rand, 0, 10), g_rand_int_range (rand, 0, 8),
        g_rand_int_range (rand, 0, 6), g_rand_int_range (rand, 40, 160));
  for (guint i = 0; i < 4; i++)
    g_string_append_printf (text, " %d", g_rand_int_range (rand, -200, 201));
  g_string_append (text, "</tree>\n");
}

gchar *
write_channels_model (void)
{
  GString *text = g_string_new (
      "<CuvisionChannels version=\"1\" width=\"32\" height=\"24\" "
      "shrink=\"4\" levels=\"8\" overhang=\"1\" object=\"2 3 28 20\" "
      "depth=\"2\" threshold=\"-200\">\n");
  GRand *rand = g_rand_new_with_seed (3);

  for (guint i = 0; i < STAGES; i++)
    append_tree (text, rand);
  g_string_append (text, "</CuvisionChannels>\n");
  g_rand_free (rand);
  return write_text (text);
}
