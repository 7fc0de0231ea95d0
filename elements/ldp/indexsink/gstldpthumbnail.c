/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "indexsink/gstldpthumbnail.h"

#include <string.h>

#include "context/gstcuvframe.h"

struct _GstLdpThumbnailer {
  GstBuffer *buffer;
  GstVideoFrame picture; /* the buffer, mapped permanently */

  GstVideoConverter *converter; /* for the two fields below */
  GstVideoInfo info;
  CuvLdpRect rect;
};

GstLdpThumbnailer *
gst_ldp_thumbnailer_new (gint width, gint height)
{
  GstLdpThumbnailer *self = g_new0 (GstLdpThumbnailer, 1);
  GstVideoInfo info;

  gst_video_info_set_format (
      &info, GST_VIDEO_FORMAT_RGB, (guint) width, (guint) height);
  info.stride[0] = 3 * width;
  info.size = 3 * (gsize) width * (gsize) height;
  self->buffer = gst_buffer_new_wrapped (g_malloc (info.size), info.size);
  gst_video_frame_map (&self->picture, &info, self->buffer,
      GST_MAP_READWRITE | GST_VIDEO_FRAME_MAP_FLAG_NO_REF);
  return self;
}

void
gst_ldp_thumbnailer_free (GstLdpThumbnailer *self)
{
  if (self == NULL)
    return;
  g_clear_pointer (&self->converter, gst_video_converter_free);
  gst_video_frame_unmap (&self->picture);
  gst_buffer_unref (self->buffer);
  g_free (self);
}

/* Where the rectangle goes in the thumbnail; respects the pixel aspect ratio.
 */
static GstVideoRectangle
place_of (const GstLdpThumbnailer *self, const GstVideoInfo *info,
    const CuvLdpRect *rect)
{
  const GstVideoRectangle from = { 0, 0,
    (gint) gst_util_uint64_scale_int_ceil ((guint64) rect->width,
        GST_VIDEO_INFO_PAR_N (info), GST_VIDEO_INFO_PAR_D (info)),
    rect->height };
  const GstVideoRectangle all = { 0, 0, GST_VIDEO_FRAME_WIDTH (&self->picture),
    GST_VIDEO_FRAME_HEIGHT (&self->picture) };
  GstVideoRectangle place;

  gst_video_center_rect (&from, &all, &place, TRUE);
  place.w = MAX (place.w, 1);
  place.h = MAX (place.h, 1);
  place.x = (all.w - place.w) / 2;
  place.y = (all.h - place.h) / 2;
  return place;
}

static void
make_converter (
    GstLdpThumbnailer *self, const GstVideoInfo *info, const CuvLdpRect *rect)
{
  const GstVideoRectangle place = place_of (self, info, rect);
  GstVideoInfo from = *info, to = self->picture.info;

  /* the converter refuses to change frame rate or interlacing */
  to.fps_n = from.fps_n;
  to.fps_d = from.fps_d;
  from.interlace_mode = to.interlace_mode;
  g_clear_pointer (&self->converter, gst_video_converter_free);
  self->converter = gst_video_converter_new (&from, &to,
      gst_structure_new ("thumbnail", GST_VIDEO_CONVERTER_OPT_SRC_X, G_TYPE_INT,
          rect->x, GST_VIDEO_CONVERTER_OPT_SRC_Y, G_TYPE_INT, rect->y,
          GST_VIDEO_CONVERTER_OPT_SRC_WIDTH, G_TYPE_INT, rect->width,
          GST_VIDEO_CONVERTER_OPT_SRC_HEIGHT, G_TYPE_INT, rect->height,
          GST_VIDEO_CONVERTER_OPT_DEST_X, G_TYPE_INT, place.x,
          GST_VIDEO_CONVERTER_OPT_DEST_Y, G_TYPE_INT, place.y,
          GST_VIDEO_CONVERTER_OPT_DEST_WIDTH, G_TYPE_INT, place.w,
          GST_VIDEO_CONVERTER_OPT_DEST_HEIGHT, G_TYPE_INT, place.h, NULL));
  self->info = *info;
  self->rect = *rect;
}

const guint8 *
gst_ldp_thumbnailer_run (GstLdpThumbnailer *self, const GstVideoInfo *info,
    GstBuffer *buffer, const CuvLdpRect *rect, gchar **problem)
{
  GstVideoFrame frame;

  if (self->converter == NULL || !gst_video_info_is_equal (info, &self->info)
      || memcmp (rect, &self->rect, sizeof *rect) != 0)
    make_converter (self, info, rect);
  *problem = self->converter != NULL
      ? gst_cuv_video_map (
          &frame, info, buffer, GST_MAP_READ | GST_VIDEO_FRAME_MAP_FLAG_NO_REF)
      : g_strdup ("GStreamer cannot convert this format to a thumbnail: use "
                  "another one");
  if (*problem != NULL)
    return NULL;
  frame.flags &=
      ~GST_VIDEO_FRAME_FLAG_INTERLACED; /* as the converter expects */
  gst_video_converter_frame (self->converter, &frame, &self->picture);
  gst_video_frame_unmap (&frame);
  return GST_VIDEO_FRAME_PLANE_DATA (&self->picture, 0);
}
