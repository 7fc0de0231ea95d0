/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "spectral/gstcuvspectralinput.h"

void
gst_cuv_spectral_info_from_video (
    GstCuvSpectralInfo *info, const GstVideoInfo *video)
{
  *info = (GstCuvSpectralInfo){ .format = CUV_CUBE_U8,
    .interleave = GST_CUV_SPECTRAL_BIP,
    .width = GST_VIDEO_INFO_WIDTH (video),
    .height = GST_VIDEO_INFO_HEIGHT (video),
    .bands = GST_VIDEO_INFO_IS_GRAY (video) ? 1 : 3,
    .fps_n = GST_VIDEO_INFO_FPS_N (video),
    .fps_d = GST_VIDEO_INFO_FPS_D (video) };
}

static CuvCube
cube_of_video (GstVideoFrame *video)
{
  const guint8 *red = GST_VIDEO_FRAME_COMP_DATA (video, 0);
  const gboolean is_grey = GST_VIDEO_INFO_IS_GRAY (&video->info);
  CuvCube cube = { .data = red,
    .format = CUV_CUBE_U8,
    .width = GST_VIDEO_FRAME_WIDTH (video),
    .height = GST_VIDEO_FRAME_HEIGHT (video),
    .bands = is_grey ? 1 : 3,
    .pixel_step = GST_VIDEO_FRAME_COMP_PSTRIDE (video, 0),
    .row_step = GST_VIDEO_FRAME_PLANE_STRIDE (video, 0),
    .band_step =
        is_grey ? 0 : (guint8 *) GST_VIDEO_FRAME_COMP_DATA (video, 1) - red };

  return cube;
}

static gchar *
map_video (GstCuvSpectralInput *self, const GstVideoInfo *video)
{
  const GstMapFlags flags =
      self->is_cuda ? GST_MAP_READ | gst_cuv_map_cuda () : GST_MAP_READ;

  gchar *problem = gst_cuv_video_map (&self->video, video, self->buffer, flags);

  if (problem == NULL)
    self->cube = cube_of_video (&self->video);
  return problem;
}

gchar *
gst_cuv_spectral_input_map (GstCuvSpectralInput *self,
    const GstCuvSpectralInfo *info, const GstVideoInfo *video,
    GstBuffer *buffer, gboolean on_device)
{
  self->buffer = buffer;
  self->is_cuda = on_device && gst_cuv_buffer_is_cuda (buffer);
  self->is_video = GST_VIDEO_INFO_FORMAT (video) != GST_VIDEO_FORMAT_UNKNOWN;
  return self->is_video
      ? map_video (self, video)
      : gst_cuv_spectral_info_map (info, buffer, &self->map, &self->cube);
}

void
gst_cuv_spectral_input_unmap (GstCuvSpectralInput *self)
{
  if (self->is_video)
    gst_video_frame_unmap (&self->video);
  else
    gst_buffer_unmap (self->buffer, &self->map);
}
