/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstcuvframe.h"

static void
describe (CuvFrame *frame, const GstVideoFrame *video)
{
  const GstVideoFormatInfo *format = video->info.finfo;

  frame->model = GST_VIDEO_FORMAT_INFO_IS_RGB (format) ? CUV_MODEL_RGB
      : GST_VIDEO_FORMAT_INFO_IS_GRAY (format)         ? CUV_MODEL_GREY
                                                       : CUV_MODEL_YUV;
  frame->width = GST_VIDEO_FRAME_WIDTH (video);
  frame->height = GST_VIDEO_FRAME_HEIGHT (video);
  frame->n_components = GST_VIDEO_FRAME_N_COMPONENTS (video);
  for (gint i = 0; i < frame->n_components; i++) {
    CuvComponent *component = &frame->component[i];

    component->data = GST_VIDEO_FRAME_COMP_DATA (video, i);
    component->stride = GST_VIDEO_FRAME_COMP_STRIDE (video, i);
    component->step = GST_VIDEO_FRAME_COMP_PSTRIDE (video, i);
    component->xsub = GST_VIDEO_FORMAT_INFO_W_SUB (format, i);
    component->ysub = GST_VIDEO_FORMAT_INFO_H_SUB (format, i);
  }
}

gboolean
gst_cuv_frame_map (GstCuvFrame *self, GstCuvContext *context,
    const GstVideoInfo *info, GstBuffer *buffer, GstMapFlags flags)
{
  self->context = context;
  self->stream = NULL;
  self->writable = (flags & GST_MAP_WRITE) != 0;
  self->cuda = gst_cuv_context_follow (context, buffer) && context->kernels
      && gst_cuv_context_push (context);
  /* the caller holds the buffer: another reference would make it read-only */
  flags |= GST_VIDEO_FRAME_MAP_FLAG_NO_REF;
  if (self->cuda)
    flags |= gst_cuv_map_cuda ();
  if (!gst_video_frame_map (&self->video, info, buffer, flags)) {
    if (self->cuda)
      gst_cuv_context_pop (context);
    return FALSE;
  }
  if (self->cuda)
    self->stream = gst_cuv_context_stream (context, buffer);
  describe (&self->frame, &self->video);
  return TRUE;
}

void
gst_cuv_frame_unmap (GstCuvFrame *self)
{
  gst_video_frame_unmap (&self->video);
  if (self->cuda)
    gst_cuv_context_pop (self->context);
}
