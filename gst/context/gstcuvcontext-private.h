/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions that the files of the context share; no other file calls
 * libgstcuda. */
#ifndef GST_CUV_CONTEXT_PRIVATE_H
#define GST_CUV_CONTEXT_PRIVATE_H

#include "config.h"
#include "context/gstcuvcontext.h"

#if HAVE_CUDA

#if GST_CHECK_VERSION(1, 24, 0)
#include <gst/cuda/gstcuda.h>
#else
#include <gst/cuda/gstcudabufferpool.h>
#include <gst/cuda/gstcudacontext.h>
#include <gst/cuda/gstcudaloader.h>
#include <gst/cuda/gstcudamemory.h>
#include <gst/cuda/gstcudautils.h>

typedef struct _GstCudaStream GstCudaStream;
GstCudaStream *gst_cuda_stream_new (GstCudaContext *context);
CUstream gst_cuda_stream_get_handle (GstCudaStream *stream);
GstCudaStream *gst_cuda_memory_get_stream (GstCudaMemory *memory);
void gst_cuda_memory_sync (GstCudaMemory *memory);
void gst_buffer_pool_config_set_cuda_stream (
    GstStructure *config, GstCudaStream *stream);
#endif

/* These are NULL with a libgstcuda before 1.24, whatever the plugin was
 * compiled with: a compiled plugin works with later versions too. */
#pragma weak gst_cuda_stream_new
#pragma weak gst_cuda_stream_get_handle
#pragma weak gst_cuda_memory_get_stream
#pragma weak gst_cuda_memory_sync
#pragma weak gst_buffer_pool_config_set_cuda_stream

/* Returns the context in use, or NULL; it stays valid until the streaming
 * thread changes it. */
GstCudaContext *gst_cuv_context_current (GstCuvContext *self);

/* Frees the pinned buffer; the context is current. */
void gst_cuv_context_free_staging (GstCuvContext *self);

#endif

#endif
