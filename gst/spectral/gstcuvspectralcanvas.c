/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "spectral/gstcuvspectralcanvas.h"

#if HAVE_CUDA
#include "cuv-nv12.h"
#include "cuv-upload.h"
#endif

#define NO_REF GST_VIDEO_FRAME_MAP_FLAG_NO_REF
#define CANNOT_MAP                                                             \
  "Cannot map an output buffer as a picture: the next element's buffer pool "  \
  "does not match the caps"

/* Prepares for NV12: pictures are painted as RGBx, which GStreamer converts in
 * host memory. */
static gboolean
canvas_make_converter (GstCuvSpectralCanvas *self)
{
  const GstVideoInfo *out = &self->out_info;
  GstVideoInfo *info = &self->info;

  gst_video_info_set_format (info, GST_VIDEO_FORMAT_RGBx,
      (guint) GST_VIDEO_INFO_WIDTH (out), (guint) GST_VIDEO_INFO_HEIGHT (out));
  /* the converter requires equal values */
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
gst_cuv_spectral_canvas_init (GstCuvSpectralCanvas *self,
    GstCuvContext *context, const GstVideoInfo *out_info)
{
  gst_cuv_spectral_canvas_clear (self);
  self->context = context;
  self->info = self->out_info = *out_info;
  return GST_VIDEO_INFO_FORMAT (out_info) != GST_VIDEO_FORMAT_NV12
      || canvas_make_converter (self);
}

void
gst_cuv_spectral_canvas_clear (GstCuvSpectralCanvas *self)
{
  gst_cuv_spectral_canvas_leave (self);
  g_clear_pointer (&self->converter, gst_video_converter_free);
  gst_clear_buffer (&self->scratch);
}

void
gst_cuv_spectral_canvas_leave (GstCuvSpectralCanvas *self)
{
  gst_clear_buffer (&self->device);
  gst_clear_buffer (&self->converted);
}

/* Returns a buffer in CUDA memory, which is kept for the next picture. */
static GstBuffer *
ensure_device (
    GstCuvSpectralCanvas *self, GstBuffer **buffer, const GstVideoInfo *info)
{
  GstCaps *caps;
  GstBufferPool *pool;

  if (*buffer != NULL)
    return *buffer;
  caps = gst_video_info_to_caps (info);
  gst_caps_set_features_simple (
      caps, gst_caps_features_new (GST_CUV_FEATURE_CUDA, NULL));
  pool = gst_cuv_context_new_pool (self->context, caps);
  if (pool != NULL
      && gst_cuv_context_configure_pool (
             self->context, pool, caps, (guint) info->size, 0, 1)
          > 0
      && gst_buffer_pool_set_active (pool, TRUE))
    gst_buffer_pool_acquire_buffer (pool, buffer, NULL);
  if (pool != NULL)
    gst_buffer_pool_set_active (pool, FALSE); /* the buffer holds a reference */
  gst_clear_object (&pool);
  gst_caps_unref (caps);
  return *buffer;
}

static const gchar *
no_cuda_memory (GstCuvSpectralCanvas *self, const GstVideoInfo *info)
{
  g_snprintf (self->problem, sizeof self->problem,
      "Cannot allocate %" G_GSIZE_FORMAT
      " bytes of CUDA memory for a picture of %dx%d pixels: end other "
      "processes on the GPU, or use smaller images",
      info->size, GST_VIDEO_INFO_WIDTH (info), GST_VIDEO_INFO_HEIGHT (info));
  return self->problem;
}

const gchar *
gst_cuv_spectral_canvas_begin (GstCuvSpectralCanvas *self, GstBuffer *out,
    gboolean on_device, GstCuvSpectralPicture *picture)
{
  /* another reference would prevent adding metas */
  GstMapFlags flags = GST_MAP_WRITE | NO_REF;

  self->out = out;
  self->on_device = on_device;
  self->buffer = self->converter != NULL ? self->scratch : out;
  if (on_device) {
    flags |= gst_cuv_map_cuda ();
    if (!gst_cuv_context_owns_buffer (self->context, self->buffer))
      self->buffer = ensure_device (self, &self->device, &self->info);
  }
  if (self->buffer == NULL)
    return no_cuda_memory (self, &self->info);
  if (!gst_video_frame_map (&self->video, &self->info, self->buffer, flags))
    return CANNOT_MAP;
  *picture =
      (GstCuvSpectralPicture){ GST_VIDEO_FRAME_PLANE_DATA (&self->video, 0),
        (gsize) GST_VIDEO_FRAME_PLANE_STRIDE (&self->video, 0),
        GST_VIDEO_FRAME_WIDTH (&self->video),
        GST_VIDEO_FRAME_HEIGHT (&self->video) };
  return NULL;
}

#if HAVE_CUDA
static CuvYuvColours
colours_of (const GstVideoInfo *info)
{
  const GstVideoColorimetry *colorimetry = &info->colorimetry;
  CuvYuvColours colours;
  gdouble kr, kb, k[3];
  gint offset[GST_VIDEO_MAX_COMPONENTS], scale[GST_VIDEO_MAX_COMPONENTS];

  if (!gst_video_color_matrix_get_Kr_Kb (colorimetry->matrix, &kr, &kb))
    gst_video_color_matrix_get_Kr_Kb (GST_VIDEO_COLOR_MATRIX_BT601, &kr, &kb);
  gst_video_color_range_offsets (
      colorimetry->range, info->finfo, offset, scale);
  k[0] = kr;
  k[1] = 1.0 - kr - kb;
  k[2] = kb;
  for (gint i = 0; i < 3; i++) {
    const gdouble u = ((i == 2) - k[i]) / (2.0 * (1.0 - kb));
    const gdouble v = ((i == 0) - k[i]) / (2.0 * (1.0 - kr));

    colours.factor[0][i] = (gfloat) (k[i] * scale[0] / 255.0);
    colours.factor[1][i] = (gfloat) (u * scale[1] / 255.0);
    colours.factor[2][i] = (gfloat) (v * scale[2] / 255.0);
    colours.offset[i] = (gfloat) offset[i];
  }
  colours.is_cosited =
      (info->chroma_site & GST_VIDEO_CHROMA_SITE_H_COSITED) != 0;
  return colours;
}

/* Enqueues the conversion and waits for it. */
static gboolean
submit_nv12 (GstCuvSpectralCanvas *self, GstVideoFrame *from, GstVideoFrame *to)
{
  const CuvYuvColours colours = colours_of (&self->out_info);
  gpointer stream = gst_cuv_context_stream (self->context, to->buffer);
  gboolean ok;

  if (!gst_cuv_context_push (self->context))
    return FALSE;
  ok = cuv_nv12_submit (GST_VIDEO_FRAME_PLANE_DATA (from, 0),
           GST_VIDEO_FRAME_PLANE_STRIDE (from, 0), GST_VIDEO_FRAME_WIDTH (from),
           GST_VIDEO_FRAME_HEIGHT (from), &colours,
           GST_VIDEO_FRAME_PLANE_DATA (to, 0),
           GST_VIDEO_FRAME_PLANE_STRIDE (to, 0),
           GST_VIDEO_FRAME_PLANE_DATA (to, 1),
           GST_VIDEO_FRAME_PLANE_STRIDE (to, 1), stream)
      == 0;
  ok = gst_cuv_context_wait (self->context, stream) && ok;
  gst_cuv_context_pop (self->context);
  return ok;
}

#else
static gboolean
submit_nv12 (GstCuvSpectralCanvas *self, GstVideoFrame *from, GstVideoFrame *to)
{
  return FALSE;
}
#endif

/* Converts the picture, on the device if it is there. */
static gboolean
canvas_convert (GstCuvSpectralCanvas *self, GstBuffer *to)
{
  const GstMapFlags memory = self->on_device ? gst_cuv_map_cuda () : 0;
  GstVideoFrame rgbx, nv12;
  gboolean ok;

  if (!gst_video_frame_map (
          &rgbx, &self->info, self->buffer, GST_MAP_READ | memory))
    return FALSE;
  ok = gst_video_frame_map (
      &nv12, &self->out_info, to, GST_MAP_WRITE | NO_REF | memory);
  if (ok) {
    if (self->on_device)
      ok = submit_nv12 (self, &rgbx, &nv12);
    else
      gst_video_converter_frame (self->converter, &rgbx, &nv12);
    gst_video_frame_unmap (&nv12);
    if (self->on_device)
      gst_cuv_context_written (self->context, to);
  }
  gst_video_frame_unmap (&rgbx);
  return ok;
}

/* Converts the picture on the device if necessary, and copies it to the output
 * buffer if it is not there already. */
static const gchar *
finish_on_device (GstCuvSpectralCanvas *self)
{
  GstBuffer *from = self->buffer;

  if (self->converter != NULL) {
    from = gst_cuv_context_owns_buffer (self->context, self->out)
        ? self->out
        : ensure_device (self, &self->converted, &self->out_info);
    if (from == NULL)
      return no_cuda_memory (self, &self->out_info);
    if (!canvas_convert (self, from))
      return "Cannot convert a picture on the GPU: GST_DEBUG=2 shows the CUDA "
             "error";
  }
  return from == self->out
          || gst_cuv_context_copy_frame (
              self->context, &self->out_info, from, self->out, NULL)
      ? NULL
      : "Cannot copy a picture from the GPU: GST_DEBUG=2 shows the CUDA error";
}

const gchar *
gst_cuv_spectral_canvas_end (GstCuvSpectralCanvas *self, gboolean is_filled)
{
  gst_video_frame_unmap (&self->video);
  if (self->on_device)
    gst_cuv_context_written (self->context, self->buffer);
  if (!is_filled)
    return NULL;
  if (self->on_device)
    return finish_on_device (self);
  return self->converter == NULL || canvas_convert (self, self->out)
      ? NULL
      : CANNOT_MAP;
}
