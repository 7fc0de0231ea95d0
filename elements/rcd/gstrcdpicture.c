/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "cuvfile.h"
#include "gstrcdpicture.h"
#include "picture/gstcuvpicture.h"

#include <string.h>

#include "cuvroi.h"

#define ADVICE "set target-image to the path of a PNG or JPEG file"

/* ---- transparency ---- */

static gboolean
is_opaque (const GstVideoFrame *frame, gint x, gint y)
{
  const guint8 *row = (const guint8 *) GST_VIDEO_FRAME_PLANE_DATA (frame, 0)
      + y * GST_VIDEO_FRAME_PLANE_STRIDE (frame, 0);

  return row[4 * x + 3] >= 128;
}

/* Finds the box around the opaque pixels. Returns NULL, or why it cannot be a
 * target.
 */
static gchar *
find_opaque (const GstVideoFrame *frame, CuvRoi *box)
{
  const gint width = frame->info.width, height = frame->info.height;
  gint64 n = 0, area;

  *box = (CuvRoi){ width, height, 0, 0 };
  for (gint y = 0; y < height; y++) {
    for (gint x = 0; x < width; x++) {
      if (!is_opaque (frame, x, y))
        continue;
      n++;
      box->left = MIN (box->left, x);
      box->top = MIN (box->top, y);
      box->right = MAX (box->right, x + 1);
      box->bottom = MAX (box->bottom, y + 1);
    }
  }
  area = (gint64) (box->right - box->left) * (box->bottom - box->top);
  if (n == 0)
    return g_strdup ("all of its pixels are transparent");
  if (n < area - area / 20)
    return g_strdup_printf (
        "%d %% of its pixels are transparent, but a target is a rectangle of "
        "visible pixels; cut one out of a frame of the video",
        (gint) (100 * (area - n) / area));
  return NULL;
}

static GstSample *
cut_out (const GstVideoFrame *frame, const CuvRoi *box)
{
  GstVideoInfo info;
  GstVideoFrame to;
  GstSample *sample;
  GstBuffer *buffer;
  GstCaps *caps;

  gst_video_info_set_format (&info, GST_VIDEO_INFO_FORMAT (&frame->info),
      (guint) (box->right - box->left), (guint) (box->bottom - box->top));
  info.colorimetry = frame->info.colorimetry;
  buffer = gst_buffer_new_allocate (NULL, info.size, NULL);
  if (!gst_video_frame_map (&to, &info, buffer, GST_MAP_WRITE)) {
    gst_buffer_unref (buffer);
    return NULL;
  }
  for (gint y = 0; y < info.height; y++)
    memcpy ((guint8 *) to.data[0] + y * info.stride[0],
        (const guint8 *) frame->data[0]
            + (box->top + y) * GST_VIDEO_FRAME_PLANE_STRIDE (frame, 0)
            + 4 * box->left,
        4 * (gsize) info.width);
  gst_video_frame_unmap (&to);
  caps = gst_video_info_to_caps (&info);
  sample = gst_sample_new (buffer, caps, NULL, NULL);
  gst_caps_unref (caps);
  gst_buffer_unref (buffer);
  return sample;
}

/* Crops a transparent margin, whose pixels would count as the object's. */
static gchar *
trim (GstSample **picture)
{
  GstSample *cut = NULL;
  GstVideoFrame frame;
  GstVideoInfo info;
  gchar *problem;
  CuvRoi box;

  if (!gst_video_info_from_caps (&info, gst_sample_get_caps (*picture))
      || (GST_VIDEO_INFO_FORMAT (&info) != GST_VIDEO_FORMAT_RGBA
          && GST_VIDEO_INFO_FORMAT (&info) != GST_VIDEO_FORMAT_BGRA)
      || !gst_video_frame_map (
          &frame, &info, gst_sample_get_buffer (*picture), GST_MAP_READ))
    return NULL;
  problem = find_opaque (&frame, &box);
  if (problem == NULL)
    cut = cut_out (&frame, &box);
  gst_video_frame_unmap (&frame);
  if (cut != NULL || problem != NULL) {
    gst_sample_unref (*picture);
    *picture = cut;
  }
  return problem;
}

/* ---- loading ---- */

gchar *
gst_rcd_picture_load (const gchar *path, GstSample **picture)
{
  gchar *cause = NULL, *problem;
  GError *error = NULL;

  if (!cuv_file_check (path, &error)) {
    problem = g_strdup_printf ("%s; " ADVICE, error->message);
    g_error_free (error);
    return problem;
  }
  *picture = gst_cuv_picture_load (path, &cause);
  if (*picture != NULL)
    return trim (picture);
  problem = g_strdup_printf ("it cannot be decoded: %s; " ADVICE, cause);
  g_free (cause);
  return problem;
}

/* ---- converting ---- */

static gboolean
gst_rcd_picture_convert_frame (GstBuffer *in, const GstVideoInfo *in_info,
    GstBuffer *out, const GstVideoInfo *out_info)
{
  GstVideoConverter *converter = gst_video_converter_new (
      (GstVideoInfo *) in_info, (GstVideoInfo *) out_info, NULL);
  GstVideoFrame from, to;
  gboolean ok = FALSE;

  if (converter == NULL)
    return FALSE;
  if (gst_video_frame_map (&from, in_info, in, GST_MAP_READ)) {
    ok = gst_video_frame_map (&to, out_info, out, GST_MAP_WRITE);
    if (ok) {
      gst_video_converter_frame (converter, &from, &to);
      gst_video_frame_unmap (&to);
    }
    gst_video_frame_unmap (&from);
  }
  gst_video_converter_free (converter);
  return ok;
}

GstBuffer *
gst_rcd_picture_convert (
    GstSample *picture, const GstVideoInfo *like, GstVideoInfo *info)
{
  GstVideoInfo own;
  GstBuffer *buffer;

  if (!gst_video_info_from_caps (&own, gst_sample_get_caps (picture))
      || !gst_video_info_set_format (info, GST_VIDEO_INFO_FORMAT (like),
          GST_VIDEO_INFO_WIDTH (&own), GST_VIDEO_INFO_HEIGHT (&own)))
    return NULL;
  info->colorimetry = like->colorimetry;
  info->chroma_site = like->chroma_site;
  buffer = gst_buffer_new_allocate (NULL, GST_VIDEO_INFO_SIZE (info), NULL);
  if (buffer != NULL
      && !gst_rcd_picture_convert_frame (
          gst_sample_get_buffer (picture), &own, buffer, info))
    gst_clear_buffer (&buffer);
  return buffer;
}
