/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GstCuvFilter: base of the analysis elements.
 *
 * It maps a frame for reading where it is, on the device or on the host, has
 * the subclass analyse it, and publishes the results as metadata; the frame is
 * not changed. Its pads accept GST_CUV_FRAME_CAPS. It decides which frames are
 * analysed (inference-interval, late frames, hold-results) and posts the
 * messages. The subclass has GstCuvSettings of its own.
 *
 * For each frame to analyse it calls configure() if caps, kind of memory or
 * settings have changed, then analyse(), change() and publish().
 *
 * Analyses of one frame by several elements overlap on the GPU: if submit() has
 * started one, and the next element, linked directly and without probes,
 * finishes_pending (gstcuvtransform.h), the frame is pushed while the analysis
 * is pending. The next element, in the same thread, starts work of its own that
 * needs no results, such as its own submit(); then the pending analysis is
 * finished, and published in the order of the elements, so that metadata and
 * messages come as if each element had waited. If the frame does not get there,
 * the results are dropped. */
#ifndef GST_CUV_FILTER_H
#define GST_CUV_FILTER_H

#include "base/gstcuvanalyser.h"
#include "context/gstcuvframe.h"

G_BEGIN_DECLS

#define GST_TYPE_CUV_FILTER (gst_cuv_filter_get_type ())
CUV_API
G_DECLARE_DERIVABLE_TYPE (
    GstCuvFilter, gst_cuv_filter, GST, CUV_FILTER, GstCuvAnalyser)

/* Description and functions of an element that derives from GstCuvFilter. */
typedef struct {
  const gchar *name, *description; /* for gst-inspect-1.0 */
  const GstCuvSettingsTable *settings;

  /* Allocates what frames like this one need with these settings, which are not
   * in force yet; nothing is allocated elsewhere. For a frame on the device the
   * context is current, and each kernel is to be run once. Called whenever a
   * property, the caps or the memory of frames has changed, so it must return
   * at once if nothing has to be allocated. Returns NULL, or the problem, which
   * the caller frees; after a problem, earlier allocations must stay usable. */
  gchar *(*configure) (
      GstCuvFilter *self, gconstpointer settings, const GstCuvFrame *frame);

  /* Frees what configure() allocated. Called before the CUDA context changes,
   * while the old one is current, and when the element stops, so possibly
   * twice. Optional. */
  void (*close) (GstCuvFilter *self);

  /* Finds the results of one frame; n_threads: threads for work on the CPU, 0 =
   * one per processor. Returns TRUE, or posts an element error and returns
   * FALSE. */
  gboolean (*analyse) (
      GstCuvFilter *self, const GstCuvFrame *frame, gint n_threads);

  /* Starts the analysis of a frame that is not drawn on, if this needs no
   * metadata of the frame, and does not wait: analyse() of the same frame will
   * follow, wait for the results, and report failures; the pixels stay valid
   * until then, so that it may start further work on them. Returns FALSE if
   * nothing was started, for whatever reason: analyse() then does everything.
   * Optional. */
  gboolean (*submit) (GstCuvFilter *self, const GstCuvFrame *frame);

  /* Whether the work that submit() starts is usually done before that of other
   * elements: analyse() is then called before theirs. */
  gboolean quick;

  /* Whether the element draws on frames with these settings. If so, frames are
   * writable (copied if others hold a reference), and analyse() may draw on
   * them. Optional. */
  gboolean (*writes) (gconstpointer settings);

  /* Attaches the results of the last analyse() to the buffer, and adds them to
   * the bus message unless it is NULL. age is the time since the frame they
   * were found in, 0 for that frame itself. */
  void (*publish) (GstCuvFilter *self, GstBuffer *buffer, GstStructure *message,
      GstClockTime age);

  /* Returns a number that represents the results of the last analyse():
   * message=on-change posts a message when it differs from that of the previous
   * frame. Called before publish(). */
  guint (*change) (GstCuvFilter *self);

  /* Drops state of earlier frames. Called after a flush, a seek, a
   * discontinuity of more than a second, or a minute without frames, also
   * because a live source was paused. Optional. */
  void (*reset) (GstCuvFilter *self);

  /* Adds the family's counts for the last analysed frame to stats. Optional. */
  void (*add_stats) (GstCuvFilter *self, GstStructure *stats);

  /* Resets counts, and which warnings were posted, at the start. Optional. */
  void (*clear_stats) (GstCuvFilter *self);
} GstCuvFilterInfo;

struct _GstCuvFilterClass {
  GstCuvAnalyserClass parent_class;

  const GstCuvFilterInfo *info;
};

/* Call in class_init. Sets info, installs the properties and describes the
 * element.
 */
CUV_API void gst_cuv_filter_class_install (
    GstCuvFilterClass *klass, const GstCuvFilterInfo *info);

/* Returns the problem that configure() has to return if the backend for frames
 * like this one could not be opened, or NULL if error is NULL. The element will
 * then post a RESOURCE error, since memory or the device failed, not the
 * settings. */
CUV_API gchar *gst_cuv_filter_open_problem (
    GstCuvFilter *self, const GstCuvFrame *frame, const gchar *error);

typedef enum {
  GST_CUV_MESSAGE_NONE,
  GST_CUV_MESSAGE_ON_CHANGE,
  GST_CUV_MESSAGE_EVERY_FRAME,
} GstCuvMessage;

/* Requests analysis of the next frame, regardless of inference-interval. May be
 * called from any thread. */
CUV_API void gst_cuv_filter_request_analysis (GstCuvFilter *self);

/* Returns an upstream event with which an element that waits for an object asks
 * a detector to analyse the next frame. */
CUV_API GstEvent *gst_cuv_event_new_request_analysis (void);
CUV_API gboolean gst_cuv_event_is_request_analysis (const GstEvent *event);

G_END_DECLS

#endif
