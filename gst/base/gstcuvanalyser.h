/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GstCuvAnalyser: base class of elements that analyse each frame.
 *
 * It answers the LATENCY query, detects late frames, measures how long frames
 * take, and has the properties n-threads and stats. It starts and stops the
 * settings (GstCuvSettings) of all classes of the element. */
#ifndef GST_CUV_ANALYSER_H
#define GST_CUV_ANALYSER_H

#include "settings/gstcuvsettings.h"
#include "base/gstcuvtransform.h"

G_BEGIN_DECLS

#define GST_TYPE_CUV_ANALYSER (gst_cuv_analyser_get_type ())
CUV_API
G_DECLARE_DERIVABLE_TYPE (
    GstCuvAnalyser, gst_cuv_analyser, GST, CUV_ANALYSER, GstCuvTransform)

struct _GstCuvAnalyserClass {
  GstCuvTransformClass parent_class;

  /* Drops state of earlier frames. Called after a flush or a new segment.
   * Optional. */
  void (*reset) (GstCuvAnalyser *self);

  /* Adds the element's own counts to stats. Optional. */
  void (*add_stats) (GstCuvAnalyser *self, GstStructure *stats);
};

/* Call first for each frame: counts it, and syncs controlled properties to its
 * stream time. */
CUV_API void gst_cuv_analyser_begin (GstCuvAnalyser *self, GstBuffer *buffer);

/* Whether the frame should pass unanalysed: because it is live and was queued
 * while an earlier one was analysed, or should have been shown by now, or
 * because the sink asked for later frames. See gstcuvqos.h. */
CUV_API gboolean gst_cuv_analyser_is_late (
    GstCuvAnalyser *self, GstBuffer *buffer);

/* Call when a frame has been analysed. took: duration of the analysis; cuda:
 * whether the GPU did it. */
CUV_API void gst_cuv_analyser_end (
    GstCuvAnalyser *self, GstBuffer *buffer, GstClockTime took, gboolean cuda);

/* Drops state of earlier frames, as a flush does. */
CUV_API void gst_cuv_analyser_reset (GstCuvAnalyser *self);

/* Whether frames come from a live source. */
CUV_API gboolean gst_cuv_analyser_is_live (GstCuvAnalyser *self);

/* Returns the number of frames analysed since the start. */
CUV_API guint64 gst_cuv_analyser_n_analysed (GstCuvAnalyser *self);

/* Returns the value of n-threads. */
CUV_API gint gst_cuv_analyser_n_threads (GstCuvAnalyser *self);

/* Returns a copy of the statistics, which the caller frees. */
CUV_API GstStructure *gst_cuv_analyser_stats (GstCuvAnalyser *self);

G_END_DECLS

#endif
