/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The frames of a batch of several streams (GstAnalyticsBatchMeta, GStreamer
 * 1.28). */
#ifndef GST_CUV_BATCH_H
#define GST_CUV_BATCH_H

#include <gst/gst.h>
#include "cuv-api.h"

G_BEGIN_DECLS

/* A frame of a batch; all 0 at first. Pointers belong to the batch. */
typedef struct {
  GstBuffer *buffer;
  guint stream;              /* number of its stream, from 0 */
  const GstSegment *segment; /* or NULL */
  GstCaps *caps;             /* or NULL */

  gsize object; /* where to continue: private */
  guint item;
} GstCuvBatchFrame;

/* Whether a buffer is a batch. Its frames are not in the buffer itself. */
CUV_API gboolean gst_cuv_is_batch (GstBuffer *buffer);

/* Steps through the frames of a batch, stream by stream. Returns FALSE if there
 * are no more. */
CUV_API gboolean gst_cuv_batch_next (GstBuffer *batch, GstCuvBatchFrame *frame);

G_END_DECLS

#endif
