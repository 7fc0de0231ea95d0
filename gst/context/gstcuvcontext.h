/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The CUDA context of an element, and the map of this folder, the only one that
 * calls libgstcuda.
 *
 * A GstCuvContext is embedded in an element. It finds the pipeline's
 * GstCudaContext, follows the one a buffer's memory lives in, owns a stream in
 * it, and copies frames between host and device. Everything here may be called
 * in a build without CUDA and on a machine without a driver: it then returns
 * FALSE or NULL and does nothing.
 *
 *   gstcuvcontext.c         finds, follows and leaves a context; its stream;
 *                           whether there is a device
 *   gstcuvcontext-caps.c    caps and formats of CUDA memory
 *   gstcuvcontext-pool.c    pools of CUDA memory
 *   gstcuvcontext-pinned.c  pools of pinned host memory
 *   gstcuvcontext-copy.c    copies frames between host and CUDA memory, waits
 *   gstcuvframe.c           a buffer as the CuvFrame that algorithms read
 *
 * GstCuvTransform (base/) has one and calls all of it. An element that is not a
 * GstCuvTransform may have one of its own. */
#ifndef GST_CUV_CONTEXT_H
#define GST_CUV_CONTEXT_H

#include <gst/gst.h>
#include <gst/video/video.h>
#include "cuv-wait.h"

G_BEGIN_DECLS

#define GST_CUV_FEATURE_CUDA "memory:CUDAMemory"

/* The formats of CUDA memory in this GStreamer series. */
#define GST_CUV_CUDA_FORMATS_1_22                                              \
  "I420, YV12, NV12, NV21, P010_10LE, P016_LE, I420_10LE, Y444, Y444_16LE, "   \
  "BGRA, RGBA, RGBx, BGRx, ARGB, ABGR, RGB, BGR, BGR10A2_LE, RGB10A2_LE, "     \
  "Y42B, I422_10LE, I422_12LE, YUY2, UYVY, RGBP, BGRP, GBR, GBRA"
#define GST_CUV_CUDA_FORMATS_1_24                                              \
  GST_CUV_CUDA_FORMATS_1_22                                                    \
  ", P012_LE, I420_12LE, Y444_10LE, Y444_12LE, GBR_10LE, GBR_12LE, GBR_16LE"
#if GST_CHECK_VERSION(1, 26, 0)
#define GST_CUV_CUDA_MEMORY_FORMATS "{ " GST_CUV_CUDA_FORMATS_1_24 ", VUYA }"
#elif GST_CHECK_VERSION(1, 24, 0)
#define GST_CUV_CUDA_MEMORY_FORMATS "{ " GST_CUV_CUDA_FORMATS_1_24 " }"
#else
#define GST_CUV_CUDA_MEMORY_FORMATS "{ " GST_CUV_CUDA_FORMATS_1_22 " }"
#endif

/* The remedy in messages about failed work on the GPU. */
#define GST_CUV_USE_CPU                                                        \
  "Set CUDA_VISIBLE_DEVICES to an empty value to run on the CPU"

typedef struct _GstCuvContext GstCuvContext;

/* Called with the old CUDA context current, before it is left. */
typedef void (*GstCuvContextLeave) (GstElement *element);

struct _GstCuvContext {
  GstElement *element;
  GstCuvContextLeave leave;
  gint device_id; /* property cuda-device-id, -1 = any; atomic */
  struct _GstCudaContext *context; /* NULL until a frame or open() sets it;
                                    * written under the object lock, as
                                    * set_context() may set it at any time */
  struct _GstCudaContext **found;  /* where open() stores the context that
                                      set_context() receives in this thread */
  GThread *finder;
  guint device;                      /* index of the context's device */
  gpointer stream;                   /* our CUstream in the context */
  struct _GstCudaStream *gst_stream; /* owner of stream, GStreamer >= 1.24 */
  gboolean kernels;                  /* our kernels run on this device */
  gpointer staging; /* pinned host memory for copies between host and device */
  gsize staging_size;
  CuvWait wait; /* waits for work on a stream */
};

/* Whether this process can use CUDA memory: it was built with CUDA, the driver
 * loads, and there is a device. Creates no context; the answer is cached. */
CUV_API gboolean gst_cuv_cuda_usable (void);

/* Whether several threads wait for the GPU. */
CUV_API gboolean gst_cuv_cuda_is_busy (void);

CUV_API void gst_cuv_context_init (
    GstCuvContext *self, GstElement *element, GstCuvContextLeave leave);

/* Call in start(). Returns FALSE after an element error if cuda-device-id is a
 * device that this machine does not have. Only warns if there is no driver. */
CUV_API gboolean gst_cuv_context_check_device (GstCuvContext *self);

/* Ensures that there is a context: the pipeline's, otherwise a new one. */
CUV_API gboolean gst_cuv_context_open (GstCuvContext *self);

/* Switches to the context that the buffer's CUDA memory lives in. Returns FALSE
 * if the buffer has no CUDA memory or its context cannot be used. */
CUV_API gboolean gst_cuv_context_follow (
    GstCuvContext *self, GstBuffer *buffer);

/* Calls leave(), then releases stream and context. */
CUV_API void gst_cuv_context_close (GstCuvContext *self);

/* CUDA runtime calls belong between these two. */
CUV_API gboolean gst_cuv_context_push (GstCuvContext *self);
CUV_API void gst_cuv_context_pop (GstCuvContext *self);

/* Returns the stream for work on this buffer's memory: the memory's own if it
 * has one (GStreamer >= 1.24), so that nothing has to be synchronised,
 * otherwise ours. */
CUV_API gpointer gst_cuv_context_stream (
    GstCuvContext *self, GstBuffer *buffer);

/* Waits for all work on the stream without spinning. The context must be
 * current. */
CUV_API gboolean gst_cuv_context_wait (GstCuvContext *self, gpointer stream);

/* Marks the buffer as written on the device, and the write as finished. */
CUV_API void gst_cuv_context_written (GstCuvContext *self, GstBuffer *buffer);

/* Call these in GstElementClass::set_context and for GST_QUERY_CONTEXT. */
CUV_API void gst_cuv_context_set_context (
    GstCuvContext *self, GstContext *context);
CUV_API gboolean gst_cuv_context_query (GstCuvContext *self, GstQuery *query);

/* Returns a new pool of CUDA memory for caps, not configured; NULL without a
 * context or for a format that CUDA memory does not support. */
CUV_API GstBufferPool *gst_cuv_context_new_pool (
    GstCuvContext *self, GstCaps *caps);
CUV_API gboolean gst_cuv_context_owns_pool (
    GstCuvContext *self, GstBufferPool *pool);

/* Sets caps, sizes and video meta (and our stream, GStreamer >= 1.24) of a
 * pool; returns the size of its buffers, 0 on failure. */
CUV_API guint gst_cuv_context_configure_pool (GstCuvContext *self,
    GstBufferPool *pool, GstCaps *caps, guint size, guint min, guint max);

/* Adds a pool of CUDA memory to an ALLOCATION query if its caps are in CUDA
 * memory and it has no pool yet. Returns FALSE if the pool cannot be
 * configured. */
CUV_API gboolean gst_cuv_context_propose_pool (
    GstCuvContext *self, GstQuery *query);

CUV_API gboolean gst_cuv_buffer_is_cuda (GstBuffer *buffer);
/* Whether the buffer's memory belongs to this context. */
CUV_API gboolean gst_cuv_context_owns_buffer (
    GstCuvContext *self, GstBuffer *buffer);

/* Returns a configured pool of pinned host memory, from and to which the device
 * copies directly; Returns NULL without a context. */
CUV_API GstBufferPool *gst_cuv_context_new_pinned_pool (
    GstCuvContext *self, GstCaps *caps, guint size);
CUV_API gboolean gst_cuv_buffer_is_pinned (GstBuffer *buffer);

/* Returns NULL, or the reason why this GStreamer's CUDA memory cannot hold this
 * format. */
CUV_API const gchar *gst_cuv_cuda_format_problem (const GstVideoInfo *info);

/* Returns the flag that maps a buffer's CUDA memory on the device. */
CUV_API GstMapFlags gst_cuv_map_cuda (void);

/* Copies the pixels of one buffer into another of the same format and size,
 * wherever each of them is. Waits for the copy, unless running is not NULL and
 * our kernels can continue on the device: then *running is the stream in which
 * the copy still runs, otherwise NULL. Pageable host memory goes through a
 * pinned buffer. Returns FALSE after an element error. */
CUV_API gboolean gst_cuv_context_copy_frame (GstCuvContext *self,
    const GstVideoInfo *info, GstBuffer *in, GstBuffer *out, gpointer *running);

/* Moves the structures with the CUDA memory feature to the front. */
CUV_API GstCaps *gst_cuv_caps_cuda_first (GstCaps *caps);
CUV_API gboolean gst_cuv_caps_is_cuda (const GstCaps *caps);

/* Moves CUDA memory to the front in the answer to a CAPS query, if there is a
 * device: peers take the first structure that fits, and in their own caps host
 * memory is often first. */
CUV_API void gst_cuv_query_cuda_first (GstQuery *query);

G_END_DECLS

#endif
