/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Analyses that a thread has started and not finished while it pushes the frame
 * to the next element; see gstcuvfilter.h. */
#ifndef GST_CUV_PENDING_H
#define GST_CUV_PENDING_H

#include "base/gstcuvtransform.h"

G_BEGIN_DECLS

typedef struct _GstCuvPending {
  GstElement *element;

  /* Whether its results are usually there before those of others: they are then
   * read while the others are waited for; but not if the GPU is busy, because
   * it then works on frames of many streams, in any order. */
  gboolean quick;

  /* Waits for the results and reads them, unless that is done. */
  void (*collect) (GstElement *element);

  /* Calls collect() and attaches the results to the buffer, or drops them if it
   * is NULL. Returns FALSE after an element error. */
  gboolean (*finish) (GstElement *element, GstBuffer *buffer);

  struct _GstCuvPending *before; /* the analysis that was pending before */
} GstCuvPending;

/* Waits, for at most 20 ms, until few threads have frames on this GPU: call it
 * before an analysis is started there. Waits only once until
 * gst_cuv_pending_end_turn(), even if other elements of the frame use another
 * GPU. The wait counts as time of the analysis: if it is long, the GPU is too
 * slow for so many streams, and late frames are skipped. */
void gst_cuv_pending_take_turn (guint device);

/* Ends the turn of this thread, if it has one. */
void gst_cuv_pending_end_turn (void);

/* Adds an analysis to those that are pending in this thread. */
void gst_cuv_pending_add (GstCuvPending *self);

/* Finishes all that are pending in this thread, in the order in which they were
 * added. After one has failed, the results of the others are dropped. The
 * thread's turn ends as soon as the results of all are read. */
CUV_API gboolean gst_cuv_pending_finish (GstBuffer *buffer);

/* The same, but the thread keeps its turn. */
gboolean gst_cuv_pending_finish_in_turn (GstBuffer *buffer);

/* Whether any are pending in this thread. */
CUV_API gboolean gst_cuv_pending_any (void);

/* Whether the analysis of an element of this type is pending in this thread. */
gboolean gst_cuv_pending_has (GType type);

/* Whether the element that gets what is pushed finishes what is pending, in the
 * same thread and without negotiating first, and nothing sees the frame before:
 * no ghost pad, no probe. */
gboolean gst_cuv_pending_passes_on (GstBaseTransform *trans);

G_END_DECLS

#endif
