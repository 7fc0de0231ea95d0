/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GstCuvTransform: base of every element that touches frames.
 *
 * It keeps the CUDA context (property cuda-device-id), puts CUDA memory first
 * in the CAPS answer where a device is usable, parses the caps once, proposes
 * and chooses pools, and keeps every meta on copies that leave the geometry
 * alone. */
#ifndef GST_CUV_TRANSFORM_H
#define GST_CUV_TRANSFORM_H

#include <gst/base/gstbasetransform.h>
#include <gst/video/video.h>
#include "context/gstcuvcontext.h"
#include "cuvbackend.h"

G_BEGIN_DECLS

#define GST_TYPE_CUV_TRANSFORM (gst_cuv_transform_get_type ())
CUV_API
G_DECLARE_DERIVABLE_TYPE (
    GstCuvTransform, gst_cuv_transform, GST, CUV_TRANSFORM, GstBaseTransform)

struct _GstCuvTransformClass {
  GstBaseTransformClass parent_class;

  /* The caps are known. FALSE refuses them. The info of caps that are no raw
   * video is as gst_video_info_init() leaves it. Optional. */
  gboolean (*set_info) (GstCuvTransform *self, GstCaps *in_caps,
      const GstVideoInfo *in_info, GstCaps *out_caps,
      const GstVideoInfo *out_info);

  /* Frees what lives in the CUDA context, which is current; the element will
   * stop or go on in another context. Optional. */
  void (*leave_context) (GstCuvTransform *self);
};

CUV_API GstCuvContext *gst_cuv_transform_context (GstCuvTransform *self);

/* Closes a backend, on the device with the element's context current. */
CUV_API void gst_cuv_transform_close_backend (
    GstCuvTransform *self, CuvBackend *backend);

/* The info of the negotiated caps, of the sink and the source pad. */
CUV_API const GstVideoInfo *gst_cuv_transform_in_info (GstCuvTransform *self);
CUV_API const GstVideoInfo *gst_cuv_transform_out_info (GstCuvTransform *self);

/* Of the buffer's PTS; NONE where it or the stream has no time. */
CUV_API GstClockTime gst_cuv_transform_stream_time (
    GstCuvTransform *self, GstBuffer *buffer);
CUV_API GstClockTime gst_cuv_transform_running_time (
    GstCuvTransform *self, GstBuffer *buffer);

/* For the prepare_output_buffer of an element that writes on frames: the buffer
 * itself where its memory may be written, else a copy, metas included, from a
 * pool of the element's own, in the kind of memory that the frame is in. A map
 * for writing would let GStreamer allocate at every frame instead. */
CUV_API GstFlowReturn gst_cuv_transform_make_writable (
    GstCuvTransform *self, GstBuffer *in, GstBuffer **out);

G_END_DECLS

#endif
