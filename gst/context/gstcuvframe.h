/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A buffer, mapped as the CuvFrame that algorithms read and draw on. */
#ifndef GST_CUV_FRAME_H
#define GST_CUV_FRAME_H

#include <gst/base/gstbasetransform.h>
#include <gst/video/video.h>
#include "cuv-frame.h"
#include "cuvbackend.h"
#include "cuvrgb.h"
#include "context/gstcuvcontext.h"

G_BEGIN_DECLS

/* The formats of all elements that analyse or draw, in CUDA memory and in host
 * memory. */
#define GST_CUV_KERNEL_FORMATS                                                 \
  "{ NV12, I420, YV12, NV21, YUY2, UYVY, RGBA, RGBx, BGRA, BGRx, RGB, BGR }"
#define GST_CUV_HOST_FORMATS                                                   \
  "{ NV12, I420, YV12, NV21, YUY2, UYVY, RGBA, RGBx, BGRA, BGRx, RGB, BGR, "   \
  "GRAY8 }"
#define GST_CUV_FRAME_CAPS                                                     \
  GST_VIDEO_CAPS_MAKE_WITH_FEATURES (                                          \
      GST_CUV_FEATURE_CUDA, GST_CUV_KERNEL_FORMATS)                            \
  "; " GST_VIDEO_CAPS_MAKE (GST_CUV_HOST_FORMATS)

typedef struct {
  CuvFrame frame;
  gboolean cuda;       /* the frame's pointers are device pointers */
  gboolean writable;   /* it was mapped for writing, too */
  gpointer stream;     /* the stream for work on a frame on the device */
  GstVideoFrame video; /* the mapped frame; video.buffer has the metas */
  GstMemory *memory;   /* that of a suspended frame, otherwise NULL */
  GstCuvContext *context;
} GstCuvFrame;

/* Maps a buffer as gst_video_frame_map() does, but refuses one whose
 * GstVideoMeta contradicts info, or whose planes reach beyond its memory.
 * Returns NULL, or the reason, to be freed. */
CUV_API gchar *gst_cuv_video_map (GstVideoFrame *frame,
    const GstVideoInfo *info, GstBuffer *buffer, GstMapFlags flags);

/* Parses the caps of frames that an element reads. Returns FALSE if they are
 * not raw video, or, after an element error, if CUDA memory cannot hold their
 * format. */
CUV_API gboolean gst_cuv_frame_accept_caps (
    GstElement *element, GstCaps *caps, GstVideoInfo *info);

/* Answers an ALLOCATION query as the parent class does, but without
 * GstVideoCropMeta: with it, buffers may have more pixels than their caps, and
 * algorithms would read all of them. */
CUV_API gboolean gst_cuv_frame_propose_allocation (gpointer parent_class,
    GstBaseTransform *trans, GstQuery *decide_query, GstQuery *query);

/* A prepare_output_buffer() for elements in passthrough mode that only add
 * metadata: if others have the buffer, too, *out is a copy that shares its
 * memory. */
CUV_API GstFlowReturn gst_cuv_frame_prepare_output_buffer (
    GstBaseTransform *trans, GstBuffer *in, GstBuffer **out);

/* Returns a mapped frame as algorithms read it. */
CUV_API CuvFrame gst_cuv_frame_of_video (const GstVideoFrame *video);

/* Returns the matrix that converts frames from YUV to RGB, by the colorimetry
 * of the caps. */
CUV_API CuvRgbMatrix gst_cuv_frame_rgb_matrix (const GstVideoInfo *info);

/* Maps the buffer where it is: on the device if it has CUDA memory that our
 * kernels can reach (the context follows it), otherwise on the host. For a
 * frame on the device the context is current from here to unmap. Returns FALSE
 * after an element error if gst_cuv_video_map() refuses the buffer. */
CUV_API gboolean gst_cuv_frame_map (GstCuvFrame *self, GstCuvContext *context,
    const GstVideoInfo *info, GstBuffer *buffer, GstMapFlags flags);
CUV_API void gst_cuv_frame_unmap (GstCuvFrame *self);

/* Gives back the buffer of a frame while work on its pixels goes on; `video`
 * must not be used any more. The pixels stay valid until gst_cuv_frame_unmap().
 * Only for frames with one memory, as all frames on the device are. */
CUV_API void gst_cuv_frame_suspend (GstCuvFrame *self);

/* Returns the processor for the frame: the GPU if the frame is there, otherwise
 * n_threads threads of the CPU. */
CUV_API CuvProcessor gst_cuv_frame_processor (
    const GstCuvFrame *self, gint n_threads);

/* Returns what a user can do if the frame cannot be processed: a sentence for
 * messages, without its full stop. */
CUV_API const gchar *gst_cuv_frame_remedy (const GstCuvFrame *self);

/* Posts an element error that the frame could not be processed. Returns FALSE.
 */
CUV_API gboolean gst_cuv_frame_failed (
    const GstCuvFrame *self, const gchar *problem);

G_END_DECLS

#endif
