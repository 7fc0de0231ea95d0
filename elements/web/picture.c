/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "picture.h"

#include "context/gstcuvframe.h"

void
cuv_picture_clear (CuvPicture *self)
{
  g_clear_pointer (&self->compressor, tjDestroy);
  g_clear_pointer (&self->converter, gst_video_converter_free);
  gst_clear_buffer (&self->converted);
  g_clear_pointer (&self->jpeg, g_free);
  *self = (CuvPicture){ .gpu = self->gpu };
}

/* ---- configuration ---- */

/* Returns the format in libjpeg-turbo, TJPF_UNKNOWN if it is not supported. */
static gint
pixel_format (GstVideoFormat format)
{
  switch (format) {
    case GST_VIDEO_FORMAT_RGB:
      return TJPF_RGB;
    case GST_VIDEO_FORMAT_BGR:
      return TJPF_BGR;
    case GST_VIDEO_FORMAT_RGBx:
    case GST_VIDEO_FORMAT_RGBA:
      return TJPF_RGBX;
    case GST_VIDEO_FORMAT_BGRx:
    case GST_VIDEO_FORMAT_BGRA:
      return TJPF_BGRX;
    case GST_VIDEO_FORMAT_GRAY8:
      return TJPF_GRAY;
    default:
      return TJPF_UNKNOWN;
  }
}

/* Computes the size of the picture, which has square pixels and is not larger
 * than the frame. */
static void
picture_size (
    const GstVideoInfo *info, guint max_width, gint *width, gint *height)
{
  gdouble aspect = (gdouble) info->par_n / info->par_d;
  gdouble w = aspect < 1 ? info->width * aspect : info->width;
  gdouble h = aspect > 1 ? info->height / aspect : info->height;

  if (max_width > 0 && w > max_width) {
    h *= max_width / w;
    w = max_width;
  }
  *width = MAX (1, (gint) (w + 0.5));
  *height = MAX (1, (gint) (h + 0.5));
}

static gchar *
picture_make_converter (CuvPicture *self)
{
  self->converter = gst_video_converter_new (&self->in, &self->out, NULL);
  if (self->converter == NULL)
    return g_strdup_printf ("GStreamer cannot convert %s of this size to %s",
        gst_video_format_to_string (GST_VIDEO_INFO_FORMAT (&self->in)),
        gst_video_format_to_string (GST_VIDEO_INFO_FORMAT (&self->out)));
  self->converted =
      gst_buffer_new_allocate (NULL, GST_VIDEO_INFO_SIZE (&self->out), NULL);
  return NULL;
}

static gchar *
picture_configure (CuvPicture *self, const GstVideoInfo *info, guint max_width)
{
  const gboolean direct =
      pixel_format (GST_VIDEO_INFO_FORMAT (info)) != TJPF_UNKNOWN;
  gint width, height;
  gchar *problem = NULL;

  cuv_picture_clear (self);
  self->in = *info;
  self->max_width = max_width;
  picture_size (info, max_width, &width, &height);
  if (!gst_video_info_set_interlaced_format (&self->out,
          direct ? GST_VIDEO_INFO_FORMAT (info) : GST_VIDEO_FORMAT_BGRx,
          GST_VIDEO_INFO_INTERLACE_MODE (info), (guint) width, (guint) height))
    return g_strdup ("the picture is too large");
  self->out.fps_n = info->fps_n;
  self->out.fps_d = info->fps_d;
  self->compressor = tjInitCompress ();
  self->capacity = tjBufSize (width, height, TJSAMP_420);
  if (self->compressor == NULL || self->capacity == (gulong) -1)
    return g_strdup (tjGetErrorStr ());
  self->jpeg = g_malloc (self->capacity);
  if (!direct || width != info->width || height != info->height)
    problem = picture_make_converter (self);
  return problem;
}

/* ---- a frame ---- */

static gchar *
compress (
    CuvPicture *self, const GstVideoFrame *frame, guint quality, gsize *size)
{
  const gint format = pixel_format (GST_VIDEO_FRAME_FORMAT (frame));
  gulong n = self->capacity;

  if (tjCompress2 (self->compressor, GST_VIDEO_FRAME_PLANE_DATA (frame, 0),
          GST_VIDEO_FRAME_WIDTH (frame),
          GST_VIDEO_FRAME_PLANE_STRIDE (frame, 0),
          GST_VIDEO_FRAME_HEIGHT (frame), format, &self->jpeg, &n,
          format == TJPF_GRAY ? TJSAMP_GRAY : TJSAMP_420, (gint) quality,
          TJFLAG_NOREALLOC)
      != 0)
    return g_strdup (tjGetErrorStr2 (self->compressor));
  *size = n;
  return NULL;
}

static gchar *
convert_and_compress (
    CuvPicture *self, const GstVideoFrame *in, guint quality, gsize *size)
{
  GstVideoFrame out;
  gchar *problem;

  if (!gst_video_frame_map (
          &out, &self->out, self->converted, GST_MAP_READWRITE))
    return g_strdup ("out of memory for the picture");
  gst_video_converter_frame (self->converter, in, &out);
  problem = compress (self, &out, quality, size);
  gst_video_frame_unmap (&out);
  return problem;
}

static gboolean
has_size_of_frame (const CuvPicture *self)
{
  return self->out.width == self->in.width
      && self->out.height == self->in.height;
}

gchar *
cuv_picture_encode (CuvPicture *self, const GstVideoInfo *info,
    GstBuffer *buffer, guint max_width, guint quality, gsize *size)
{
  GstVideoFrame frame;
  gchar *problem = NULL;

  if (self->compressor == NULL || self->max_width != max_width
      || !gst_video_info_is_equal (&self->in, info))
    problem = picture_configure (self, info, max_width);
  if (problem != NULL) {
    cuv_picture_clear (self);
    return problem;
  }
  if (self->gpu != NULL && has_size_of_frame (self)
      && cuv_gpu_picture_encode (
          self->gpu, info, buffer, quality, self->jpeg, self->capacity, size))
    return NULL;
  problem = gst_cuv_video_map (&frame, info, buffer, GST_MAP_READ);
  if (problem != NULL)
    return problem;
  problem = self->converter != NULL
      ? convert_and_compress (self, &frame, quality, size)
      : compress (self, &frame, quality, size);
  gst_video_frame_unmap (&frame);
  return problem;
}
