/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "spectral/gstcuvspectralcaps.h"

static void
copy_fields (const GstStructure *from, GstStructure *to)
{
  static const gchar *const fields[] = { "width", "height", "framerate",
    "pixel-aspect-ratio" };
  /* cubes have no pixel-aspect-ratio: their pixels are square */
  guint n = gst_structure_has_name (from, "video/x-raw")
          && gst_structure_has_name (to, "video/x-raw")
      ? 4
      : 3;

  for (guint i = 0; i < n; i++) {
    if (gst_structure_has_field (from, fields[i]))
      gst_structure_set_value (
          to, fields[i], gst_structure_get_value (from, fields[i]));
  }
}

static gboolean
is_cuda (const GstCaps *caps, guint i)
{
  return gst_caps_features_contains (
      gst_caps_get_features (caps, i), GST_CUV_FEATURE_CUDA);
}

static gboolean
is_in_host_memory (
    GstCapsFeatures *features, GstStructure *structure, gpointer unused)
{
  return !gst_caps_features_contains (features, GST_CUV_FEATURE_CUDA);
}

/* Takes ownership of other, the template of the other pad. */
static GstCaps *
with_sizes (const GstCaps *caps, GstCaps *other)
{
  GstCaps *result = gst_caps_new_empty ();

  if (!gst_cuv_cuda_usable ()) {
    other = gst_caps_make_writable (other);
    gst_caps_filter_and_map_in_place (other, is_in_host_memory, NULL);
  }
  for (guint i = 0; i < gst_caps_get_size (caps); i++) {
    GstCaps *some = gst_caps_copy (other);

    for (guint j = 0; j < gst_caps_get_size (some); j++)
      copy_fields (
          gst_caps_get_structure (caps, i), gst_caps_get_structure (some, j));
    if (is_cuda (caps, i))
      some = gst_cuv_caps_cuda_first (some);
    result = gst_caps_merge (result, some);
  }
  gst_caps_unref (other);
  return result;
}

GstCaps *
gst_cuv_spectral_caps_filter (GstCaps *caps, GstCaps *filter)
{
  GstCaps *both;

  if (filter == NULL)
    return caps;
  both = gst_caps_intersect_full (filter, caps, GST_CAPS_INTERSECT_FIRST);
  gst_caps_unref (caps);
  return both;
}

GstCaps *
gst_cuv_spectral_caps_transform_caps (GstBaseTransform *trans,
    GstPadDirection direction, GstCaps *caps, GstCaps *filter)
{
  GstPad *other = direction == GST_PAD_SINK ? trans->srcpad : trans->sinkpad;

  return gst_cuv_spectral_caps_filter (
      with_sizes (caps, gst_pad_get_pad_template_caps (other)), filter);
}

gboolean
gst_cuv_spectral_caps_unit_size (GstCaps *caps, gsize *size)
{
  GstCuvSpectralInfo cube;
  GstVideoInfo video;
  gchar *problem;

  if (gst_structure_has_name (
          gst_caps_get_structure (caps, 0), "video/x-raw")) {
    if (!gst_video_info_from_caps (&video, caps))
      return FALSE;
    *size = video.size;
    return TRUE;
  }
  if (!gst_cuv_spectral_info_from_caps (&cube, caps, &problem)) {
    g_free (problem);
    return FALSE;
  }
  *size = gst_cuv_spectral_info_size (&cube);
  return TRUE;
}

gboolean
gst_cuv_spectral_caps_transform_size (GstBaseTransform *trans,
    GstPadDirection direction, GstCaps *caps, gsize size, GstCaps *othercaps,
    gsize *othersize)
{
  return gst_cuv_spectral_caps_unit_size (othercaps, othersize);
}
