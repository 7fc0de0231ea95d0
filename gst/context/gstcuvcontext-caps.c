/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Caps and formats of CUDA memory. */
#include "config.h"
#include "context/gstcuvcontext.h"

gboolean
gst_cuv_caps_is_cuda (const GstCaps *caps)
{
  GstCapsFeatures *features = gst_caps_is_empty (caps) || gst_caps_is_any (caps)
      ? NULL
      : gst_caps_get_features (caps, 0);

  return features != NULL
      && gst_caps_features_contains (features, GST_CUV_FEATURE_CUDA);
}

GstCaps *
gst_cuv_caps_cuda_first (GstCaps *caps)
{
  GstCaps *cuda, *rest;

  if (gst_caps_is_any (caps))
    return caps;
  cuda = gst_caps_new_empty ();
  rest = gst_caps_new_empty ();
  for (guint i = 0; i < gst_caps_get_size (caps); i++) {
    GstCapsFeatures *features = gst_caps_get_features (caps, i);
    gboolean is_cuda = features != NULL
        && gst_caps_features_contains (features, GST_CUV_FEATURE_CUDA);

    gst_caps_append_structure_full (is_cuda ? cuda : rest,
        gst_structure_copy (gst_caps_get_structure (caps, i)),
        features ? gst_caps_features_copy (features) : NULL);
  }
  gst_caps_unref (caps);
  gst_caps_append (cuda, rest);
  return cuda;
}

void
gst_cuv_query_cuda_first (GstQuery *query)
{
  GstCaps *caps;

  gst_query_parse_caps_result (query, &caps);
  if (caps == NULL || !gst_cuv_cuda_usable ())
    return;
  caps = gst_cuv_caps_cuda_first (gst_caps_copy (caps));
  gst_query_set_caps_result (query, caps);
  gst_caps_unref (caps);
}

#if HAVE_CUDA

/* Whether the planes of a frame with an odd height overlap or exceed their
 * memory: those of NV21 do in GStreamer 1.26 and 1.28. */
static gboolean
odd_height_is_broken (GstVideoFormat format)
{
  guint major, minor, micro, nano;

  gst_version (&major, &minor, &micro, &nano);
  switch (format) {
    case GST_VIDEO_FORMAT_NV21:
      return minor >= 24;
    case GST_VIDEO_FORMAT_I420:
    case GST_VIDEO_FORMAT_YV12:
    case GST_VIDEO_FORMAT_I420_10LE:
    case GST_VIDEO_FORMAT_I420_12LE:
      return minor < 24 || (minor == 24 && micro < 4);
    default:
      return FALSE;
  }
}

const gchar *
gst_cuv_cuda_format_problem (const GstVideoInfo *info)
{
  if (GST_VIDEO_INFO_FORMAT (info) == GST_VIDEO_FORMAT_GRAY8)
    return "CUDA memory does not support GRAY8; use NV12 or I420";
  if (GST_VIDEO_INFO_HEIGHT (info) % 2 != 0
      && odd_height_is_broken (GST_VIDEO_INFO_FORMAT (info)))
    return "this version of GStreamer lays out this format wrongly in CUDA "
           "memory if frames have an odd height; use NV12";
  return NULL;
}

#else /* without CUDA */

const gchar *
gst_cuv_cuda_format_problem (const GstVideoInfo *info)
{
  return "this build has no CUDA";
}

#endif
