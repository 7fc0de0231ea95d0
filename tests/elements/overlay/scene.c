/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "scene.h"

GstHarness *
overlay_new (
    const gchar *format, gint width, gint height, const gchar *colorimetry)
{
  GstHarness *h = cuv_element_harness ("visionoverlay");
  GstCaps *caps = gst_caps_new_simple ("video/x-raw", "format", G_TYPE_STRING,
      format, "width", G_TYPE_INT, width, "height", G_TYPE_INT, height,
      "framerate", GST_TYPE_FRACTION, 30, 1, NULL);

  if (colorimetry != NULL)
    gst_caps_set_simple (caps, "colorimetry", G_TYPE_STRING, colorimetry, NULL);
  g_object_set (h->element, "color", 0xffff0000u, "thickness", 2, "draw-labels",
      FALSE, "draw-confidence", FALSE, "draw-ids", FALSE, NULL);
  gst_harness_set_src_caps (h, caps);
  return h;
}

GstVideoRegionOfInterestMeta *
overlay_add_region (GstBuffer *buffer, const gchar *label, guint x, guint y,
    guint w, guint h, gdouble confidence)
{
  GstVideoRegionOfInterestMeta *roi =
      gst_buffer_add_video_region_of_interest_meta (buffer, label, x, y, w, h);

  if (confidence >= 0)
    gst_video_region_of_interest_meta_add_param (roi,
        gst_structure_new (
            "detection", "confidence", G_TYPE_DOUBLE, confidence, NULL));
  return roi;
}

GstBuffer *
overlay_draw (GstHarness *h, GstBuffer *in)
{
  GstBuffer *out;

  fail_unless_equals_int (
      gst_harness_push (h, gst_buffer_copy_deep (in)), GST_FLOW_OK);
  out = gst_harness_pull (h);
  fail_unless (out != NULL);
  return out;
}

GstVideoInfo
overlay_info (GstHarness *h)
{
  g_autoptr (GstCaps) caps = gst_pad_get_current_caps (h->srcpad);
  GstVideoInfo info;

  fail_unless (gst_video_info_from_caps (&info, caps));
  return info;
}

static guint
sample_of (const GstVideoFrame *frame, guint c, gint x, gint y)
{
  const guint8 *data = GST_VIDEO_FRAME_COMP_DATA (frame, c);
  const GstVideoFormatInfo *format = frame->info.finfo;

  y >>= GST_VIDEO_FORMAT_INFO_H_SUB (format, c);
  x >>= GST_VIDEO_FORMAT_INFO_W_SUB (format, c);
  return data[y * GST_VIDEO_FRAME_COMP_STRIDE (frame, c)
      + x * GST_VIDEO_FRAME_COMP_PSTRIDE (frame, c)];
}

guint8 *
overlay_samples (GstHarness *h, GstBuffer *buffer, guint component)
{
  GstVideoInfo info = overlay_info (h);
  guint8 *samples = g_malloc (info.width * info.height), *at = samples;
  GstVideoFrame frame;

  fail_unless (gst_video_frame_map (&frame, &info, buffer, GST_MAP_READ));
  for (gint y = 0; y < info.height; y++) {
    for (gint x = 0; x < info.width; x++)
      *at++ = (guint8) sample_of (&frame, component, x, y);
  }
  gst_video_frame_unmap (&frame);
  return samples;
}

guint
overlay_sample (
    GstHarness *h, GstBuffer *buffer, guint component, gint x, gint y)
{
  GstVideoInfo info = overlay_info (h);
  GstVideoFrame frame;
  guint sample;

  fail_unless (gst_video_frame_map (&frame, &info, buffer, GST_MAP_READ));
  sample = sample_of (&frame, component, x, y);
  gst_video_frame_unmap (&frame);
  return sample;
}

guint
overlay_changed (GstHarness *h, GstBuffer *a, GstBuffer *b, gint x0, gint y0,
    gint width, gint height)
{
  GstVideoInfo info = overlay_info (h);
  GstVideoFrame frame_a, frame_b;
  guint n = 0;

  fail_unless (gst_video_frame_map (&frame_a, &info, a, GST_MAP_READ));
  fail_unless (gst_video_frame_map (&frame_b, &info, b, GST_MAP_READ));
  for (gint y = y0; y < y0 + height; y++) {
    for (gint x = x0; x < x0 + width; x++)
      n += sample_of (&frame_a, 0, x, y) != sample_of (&frame_b, 0, x, y);
  }
  gst_video_frame_unmap (&frame_b);
  gst_video_frame_unmap (&frame_a);
  return n;
}
