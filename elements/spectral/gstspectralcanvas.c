/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstspectralcanvas.h"

#define NO_REF GST_VIDEO_FRAME_MAP_FLAG_NO_REF

/* Pictures are made in RGB; GStreamer makes NV12 of them. */
static gboolean
make_converter (GstSpectralCanvas *self)
{
  const GstVideoInfo *out = &self->out_info;
  GstVideoInfo *info = &self->info;

  gst_video_info_set_format (info, GST_VIDEO_FORMAT_RGBx,
      (guint) GST_VIDEO_INFO_WIDTH (out), (guint) GST_VIDEO_INFO_HEIGHT (out));
  /* what is of no matter here, a converter wants to be the same */
  info->fps_n = out->fps_n;
  info->fps_d = out->fps_d;
  info->par_n = out->par_n;
  info->par_d = out->par_d;
  info->interlace_mode = out->interlace_mode;
  self->scratch = gst_buffer_new_allocate (NULL, info->size, NULL);
  if (self->scratch != NULL)
    self->converter = gst_video_converter_new (info, out, NULL);
  return self->converter != NULL;
}

gboolean
gst_spectral_canvas_init (GstSpectralCanvas *self, GstCuvContext *context,
    const GstVideoInfo *out_info)
{
  gst_spectral_canvas_clear (self);
  self->context = context;
  self->info = self->out_info = *out_info;
  return GST_VIDEO_INFO_FORMAT (out_info) != GST_VIDEO_FORMAT_NV12
      || make_converter (self);
}

void
gst_spectral_canvas_clear (GstSpectralCanvas *self)
{
  gst_spectral_canvas_leave (self);
  g_clear_pointer (&self->converter, gst_video_converter_free);
  gst_clear_buffer (&self->scratch);
}

void
gst_spectral_canvas_leave (GstSpectralCanvas *self)
{
  gst_clear_buffer (&self->device);
}

/* ---- a picture ---- */

static GstBuffer *
ensure_device (GstSpectralCanvas *self)
{
  GstCaps *caps;
  GstBufferPool *pool;

  if (self->device != NULL)
    return self->device;
  caps = gst_video_info_to_caps (&self->info);
  gst_caps_set_features_simple (
      caps, gst_caps_features_new (GST_CUV_FEATURE_CUDA, NULL));
  pool = gst_cuv_context_new_pool (self->context, caps);
  if (pool != NULL
      && gst_cuv_context_configure_pool (
             self->context, pool, caps, (guint) self->info.size, 0, 1)
          > 0
      && gst_buffer_pool_set_active (pool, TRUE))
    gst_buffer_pool_acquire_buffer (pool, &self->device, NULL);
  if (pool != NULL)
    gst_buffer_pool_set_active (pool, FALSE); /* the buffer keeps it */
  gst_clear_object (&pool);
  gst_caps_unref (caps);
  return self->device;
}

const gchar *
gst_spectral_canvas_begin (GstSpectralCanvas *self, GstBuffer *out,
    gboolean on_device, GstSpectralPicture *picture)
{
  GstMapFlags flags = GST_MAP_WRITE | NO_REF; /* metas can then be added */

  self->out = out;
  self->on_device = on_device;
  self->buffer = self->converter != NULL ? self->scratch : out;
  if (on_device) {
    flags |= gst_cuv_map_cuda ();
    if (!gst_cuv_context_owns_buffer (self->context, self->buffer))
      self->buffer = ensure_device (self);
  }
  if (self->buffer == NULL)
    return "There is no CUDA memory for a picture";
  if (!gst_video_frame_map (&self->video, &self->info, self->buffer, flags))
    return "Cannot map a picture";
  *picture = (GstSpectralPicture){ GST_VIDEO_FRAME_PLANE_DATA (&self->video, 0),
    (gsize) GST_VIDEO_FRAME_PLANE_STRIDE (&self->video, 0),
    GST_VIDEO_FRAME_WIDTH (&self->video),
    GST_VIDEO_FRAME_HEIGHT (&self->video) };
  return NULL;
}

static gboolean
convert (GstSpectralCanvas *self)
{
  GstVideoFrame from, to;
  gboolean ok;

  if (!gst_video_frame_map (&from, &self->info, self->scratch, GST_MAP_READ))
    return FALSE;
  ok = gst_video_frame_map (
      &to, &self->out_info, self->out, GST_MAP_WRITE | NO_REF);
  if (ok) {
    gst_video_converter_frame (self->converter, &from, &to);
    gst_video_frame_unmap (&to);
  }
  gst_video_frame_unmap (&from);
  return ok;
}

const gchar *
gst_spectral_canvas_end (GstSpectralCanvas *self, gboolean is_filled)
{
  GstBuffer *wanted = self->converter != NULL ? self->scratch : self->out;

  gst_video_frame_unmap (&self->video);
  if (self->on_device)
    gst_cuv_context_written (self->context, self->buffer);
  if (!is_filled)
    return NULL;
  if (self->buffer != wanted
      && !gst_cuv_context_copy_frame (
          self->context, &self->info, self->buffer, wanted))
    return "Cannot copy a picture from the GPU";
  return self->converter == NULL || convert (self) ? NULL
                                                   : "Cannot map a picture";
}
