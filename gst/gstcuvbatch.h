/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The frames and events of a batch of several streams (GstAnalyticsBatchMeta,
 * GStreamer 1.28). */
#ifndef GST_CUV_BATCH_H
#define GST_CUV_BATCH_H

#include "config.h"
#include <gst/gst.h>
#include "cuv-api.h"

G_BEGIN_DECLS

#define GST_CUV_BATCH_NAME "multistream/x-analytics-batch"

/* To append to the caps of a pad template; empty if GStreamer has no batches.
 */
#if HAVE_ANALYTICS && GST_CHECK_VERSION(1, 28, 0)
#define GST_CUV_BATCH_CAPS                                                     \
  "; " GST_CUV_BATCH_NAME "(meta:GstAnalyticsBatchMeta)"
#else
#define GST_CUV_BATCH_CAPS ""
#endif

/* Whether buffers of these caps are batches. */
CUV_API gboolean gst_cuv_caps_are_batch (const GstCaps *caps);

/* Whether a buffer is a batch. Its frames are not in the buffer itself. */
CUV_API gboolean gst_cuv_is_batch (GstBuffer *buffer);

/* An event or a frame; all 0 at first. It belongs to the batch. */
typedef struct {
  guint stream;      /* number of its stream, from 0 */
  GstEvent *event;   /* NULL: it is a frame */
  GstBuffer *buffer; /* NULL: it is an event */

  gsize n_sticky, object; /* where to continue: private */
  guint in_list;
} GstCuvBatchItem;

/* Steps through a batch, stream by stream, each of which begins with its sticky
 * events. Returns FALSE if there are no more. */
CUV_API gboolean gst_cuv_batch_next (GstBuffer *batch, GstCuvBatchItem *item);

/* Returns the frame as a writable buffer: if others have it, too, a copy that
 * shares its memory replaces it in the batch, which must be writable. */
CUV_API GstBuffer *gst_cuv_batch_make_writable (
    GstBuffer *batch, GstCuvBatchItem *item);

G_END_DECLS

#endif
