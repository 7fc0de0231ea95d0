/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cubes.h"

#include <glib/gstdio.h>
#include <unistd.h>

void
write_file (const gchar *name, gconstpointer bytes, gsize size)
{
  fail_unless (g_file_set_contents (name, bytes, (gssize) size, NULL));
}

void
write_text (const gchar *name, const gchar *text)
{
  write_file (name, text, strlen (text));
}

void
write_counting (const gchar *name, guint first, gsize size)
{
  g_autofree guint8 *bytes = g_malloc (size);

  for (gsize i = 0; i < size; i++)
    bytes[i] = (guint8) (first + i);
  write_file (name, bytes, size);
}

void
write_cube (const gchar *name, guint first)
{
  g_autofree gchar *header = g_strconcat (name, ".hdr", NULL);
  g_autofree gchar *data = g_strconcat (name, ".img", NULL);

  write_text (header, U8);
  write_counting (data, first, N_SAMPLES);
}

Player
player_new (const gchar *line)
{
  Player self = { cuv_pipeline_new (line), NULL };

  self.out = gst_bin_get_by_name (GST_BIN (self.pipeline), "out");
  gst_element_set_state (self.pipeline, GST_STATE_PLAYING);
  return self;
}

GstSample *
player_pull (Player *self)
{
  GstSample *sample;
  gboolean end;

  g_signal_emit_by_name (
      self->out, "try-pull-sample", 20 * GST_SECOND, &sample);
  g_object_get (self->out, "eos", &end, NULL);
  fail_unless (sample != NULL || end, "neither a cube nor EOS within 20 s");
  return sample;
}

void
player_free (Player *self)
{
  gst_element_set_state (self->pipeline, GST_STATE_NULL);
  gst_object_unref (self->out);
  gst_object_unref (self->pipeline);
}

static gint
compare (gconstpointer a, gconstpointer b)
{
  return strcmp (*(gchar *const *) a, *(gchar *const *) b);
}

gchar *
files_here (void)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  GDir *dir = g_dir_open (".", 0, NULL);
  const gchar *name;
  gchar *all;

  while ((name = g_dir_read_name (dir)) != NULL)
    g_ptr_array_add (names, g_strdup (name));
  g_dir_close (dir);
  g_ptr_array_sort (names, compare);
  g_ptr_array_add (names, NULL);
  all = g_strjoinv (" ", (gchar **) names->pdata);
  return all;
}

guint
first_byte (GstSample *sample)
{
  guint8 byte;

  fail_unless (sample != NULL);
  gst_buffer_extract (gst_sample_get_buffer (sample), 0, &byte, 1);
  gst_sample_unref (sample);
  return byte;
}

void
expect_end (Player *player)
{
  fail_unless (player_pull (player) == NULL);
}
