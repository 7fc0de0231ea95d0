/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstspectralpcascores.h"

#include "spectral/gstcuvspectralheader.h"

static gboolean
has_name (GstCapsFeatures *features, GstStructure *structure, gpointer name)
{
  return gst_structure_has_name (structure, name);
}

GstCaps *
gst_spectral_scores_order_caps (GstCaps *caps)
{
  static gchar video[] = "video/x-raw", cubes[] = "video/x-spectral";
  GstCaps *scores = gst_caps_copy (caps);

  caps = gst_caps_make_writable (caps);
  gst_caps_filter_and_map_in_place (caps, has_name, video);
  gst_caps_filter_and_map_in_place (scores, has_name, cubes);
  gst_caps_append (caps, scores);
  return caps;
}

GstCaps *
gst_spectral_scores_fixate (GstCaps *caps, gint n)
{
  GstStructure *structure;

  if (gst_caps_is_empty (caps) || gst_caps_is_any (caps))
    return caps;
  caps = gst_caps_make_writable (gst_caps_truncate (caps));
  structure = gst_caps_get_structure (caps, 0);
  if (gst_structure_has_name (structure, "video/x-spectral")) {
    gst_structure_fixate_field_nearest_int (structure, "bands", n);
    gst_structure_fixate_field_string (structure, "interleave", "bsq");
  }
  return caps;
}

gboolean
gst_spectral_scores_check (GstElement *element, gint wanted, gint n)
{
  if (wanted <= n)
    return TRUE;
  GST_ELEMENT_ERROR (element, STREAM, FORMAT,
      ("The caps ask for %d scores, but there are %d components: set bands to "
       "at most %d in the caps, or omit bands there and set the property "
       "scores.",
          wanted, n, n),
      (NULL));
  return FALSE;
}

CuvPcaScores
gst_spectral_scores_of (const GstCuvSpectralInfo *info, gfloat *values)
{
  const CuvCube cube = gst_cuv_spectral_info_cube (info, values);
  const gint64 size = cuv_cube_sample_size (info->format);
  CuvPcaScores scores = { .values = values,
    .n = info->bands,
    .width = info->width,
    .pixel_step = cube.pixel_step / size,
    .row_step = cube.row_step / size,
    .band_step = cube.band_step / size };

  return scores;
}

void
gst_spectral_scores_name (GstBuffer *buffer, const GstCuvSpectralInfo *info)
{
  GString *text = g_string_new ("ENVI\nband names = {");
  GBytes *bytes;

  for (gint k = 1; k <= info->bands; k++)
    g_string_append_printf (text, "%scomponent %d", k > 1 ? ", " : "", k);
  g_string_append (text, "}\n");
  bytes = g_string_free_to_bytes (text);
  gst_cuv_spectral_header_add (buffer, info, NULL, bytes);
  g_bytes_unref (bytes);
}
