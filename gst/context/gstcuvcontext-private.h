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
#endif

/* Returns the context in use, or NULL; it stays valid until the streaming
 * thread changes it. */
GstCudaContext *gst_cuv_context_current (GstCuvContext *self);

/* Frees the pinned buffer; the context is current. */
void gst_cuv_context_free_staging (GstCuvContext *self);

#endif

#endif
