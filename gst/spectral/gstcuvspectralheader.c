/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "spectral/gstcuvspectralheader.h"

#include <string.h>

#define NAME "GstSpectralHeaderMeta"

/* Registers the meta at first use, unless the application has. */
static GstStructure *
structure_of (GstBuffer *buffer, gboolean add)
{
  static gsize registered = 0;
  const gchar *no_tags[] = { NULL };
  GstCustomMeta *meta;

  if (g_once_init_enter (&registered)) {
    if (gst_meta_get_info (NAME) == NULL)
      gst_meta_register_custom (NAME, no_tags, NULL, NULL, NULL);
    g_once_init_leave (&registered, 1);
  }
  meta = gst_buffer_get_custom_meta (buffer, NAME);
  if (meta == NULL && add)
    meta = gst_buffer_add_custom_meta (buffer, NAME);
  return meta != NULL ? gst_custom_meta_get_structure (meta) : NULL;
}

void
gst_cuv_spectral_header_add (GstBuffer *buffer, const GstCuvSpectralInfo *info,
    GBytes *image, GBytes *samples)
{
  GstStructure *structure = structure_of (buffer, TRUE);

  gst_structure_set (structure, "width", G_TYPE_INT, info->width, "height",
      G_TYPE_INT, info->height, "bands", G_TYPE_INT, info->bands, NULL);
  if (image != NULL)
    gst_structure_set (structure, "image", G_TYPE_BYTES, image, NULL);
  if (samples != NULL)
    gst_structure_set (structure, "samples", G_TYPE_BYTES, samples, NULL);
}

static gboolean
is_of (const GstStructure *structure, const gchar *field, gint size)
{
  gint number;

  return gst_structure_get_int (structure, field, &number) && number == size;
}

static void
append_header (GString *text, const GstStructure *structure, const gchar *field)
{
  const GValue *value = gst_structure_get_value (structure, field);
  const gchar *bytes;
  gsize size;

  if (value == NULL || !G_VALUE_HOLDS (value, G_TYPE_BYTES)
      || g_value_get_boxed (value) == NULL)
    return;
  bytes = g_bytes_get_data (g_value_get_boxed (value), &size);
  if (bytes == NULL)
    return;
  g_string_append_len (text, bytes, (gssize) strnlen (bytes, size));
  g_string_append_c (text, '\n');
}

gchar *
gst_cuv_spectral_header_text (GstBuffer *buffer, const GstCuvSpectralInfo *info)
{
  const GstStructure *structure = structure_of (buffer, FALSE);
  GString *text;

  if (structure == NULL || !is_of (structure, "width", info->width)
      || !is_of (structure, "height", info->height))
    return NULL;
  text = g_string_new (NULL);
  append_header (text, structure, "image");
  if (is_of (structure, "bands", info->bands))
    append_header (text, structure, "samples");
  return g_string_free (text, FALSE);
}
