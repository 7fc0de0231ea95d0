/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GstCuvFilter: base of the analysis elements.
 *
 * A frame stays where it is and as it is: the filter maps it for reading on the
 * device or on the host, has the subclass analyse it, and publishes the results
 * as metadata. Its pads take GST_CUV_FRAME_CAPS. It decides which frames are
 * analysed (inference-interval, late frames, hold-results) and posts the
 * messages. The subclass has GstCuvSettings of its own. */
#ifndef GST_CUV_FILTER_H
#define GST_CUV_FILTER_H

#include "base/gstcuvanalyser.h"
#include "context/gstcuvframe.h"

G_BEGIN_DECLS

#define GST_TYPE_CUV_FILTER (gst_cuv_filter_get_type ())
CUV_API
G_DECLARE_DERIVABLE_TYPE (
    GstCuvFilter, gst_cuv_filter, GST, CUV_FILTER, GstCuvAnalyser)

struct _GstCuvFilterClass {
  GstCuvAnalyserClass parent_class;

  /* Prepares what frames like this one need with these settings, which are not
   * in force yet: the only place that allocates. For a device frame the context
   * is current, and the kernels are to be run once. Returns NULL, or what is
   * wrong: a text to free; what was made before stays in that case. Called
   * whenever a property, the caps or the place of frames has changed: what is
   * there already must cost nothing. */
  gchar *(*configure) (
      GstCuvFilter *self, gconstpointer settings, const GstCuvFrame *frame);

  /* Frees what configure() prepared: before the CUDA context changes, while it
   * is current, and at stop. Both can happen. Optional. */
  void (*close) (GstCuvFilter *self);

  /* Finds the results of one frame; n_threads for the CPU, 0 = all. Posts an
   * element error or returns TRUE. */
  gboolean (*analyse) (
      GstCuvFilter *self, const GstCuvFrame *frame, gint n_threads);

  /* Whether the element draws on frames with these settings. If so, frames are
   * writable, copied where others hold a reference, and analyse() may draw on
   * them. Optional. */
  gboolean (*writes) (gconstpointer settings);

  /* Attaches the results of the last analyse() to the buffer. message is NULL
   * or the bus message to add them to. age is the time since the frame they
   * were found in, 0 for that frame itself. */
  void (*publish) (GstCuvFilter *self, GstBuffer *buffer, GstStructure *message,
      GstClockTime age);

  /* A number for the results of the last analyse(): message=on-change posts a
   * message when it differs from that of the frame before. Called before
   * publish(). */
  guint (*change) (GstCuvFilter *self);

  /* Drops state of earlier frames: after a flush, a seek, or a discontinuity of
   * more than a second. Optional. */
  void (*reset) (GstCuvFilter *self);

  /* Adds the family's counts of the last analysed frame. Optional. */
  void (*add_stats) (GstCuvFilter *self, GstStructure *stats);
};

/* What configure() returns if the backend for frames like this one could not be
 * opened. error = NULL: NULL. Memory or the device failed, not the settings, so
 * that the element posts a RESOURCE error. */
CUV_API gchar *gst_cuv_filter_open_problem (
    GstCuvFilter *self, const GstCuvFrame *frame, const gchar *error);

typedef enum {
  GST_CUV_MESSAGE_NONE,
  GST_CUV_MESSAGE_ON_CHANGE,
  GST_CUV_MESSAGE_EVERY_FRAME,
} GstCuvMessage;

/* Makes the next frame be analysed, whatever inference-interval says. From any
 * thread. */
CUV_API void gst_cuv_filter_request_analysis (GstCuvFilter *self);

/* An upstream event that requests it of a detector, sent by an element that
 * waits for an object. */
CUV_API GstEvent *gst_cuv_event_new_request_analysis (void);
CUV_API gboolean gst_cuv_event_is_request_analysis (const GstEvent *event);

G_END_DECLS

#endif
