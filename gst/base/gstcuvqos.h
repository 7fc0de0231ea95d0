/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Quality of service of the base classes: which frames are too late to be
 * analysed, and the latency to report. All times are running times.
 *
 * GstCuvAnalyser calls gst_cuv_qos_arrive() when a frame comes,
 * gst_cuv_qos_is_late() before it is analysed, gst_cuv_qos_add_sample() after
 * that, and gst_cuv_qos_done() when the streaming thread is free again. A frame
 * is late for one of three reasons:
 *
 *   1. the analysis is too slow: even if every frame had arrived on time, all
 *      work so far would end after this frame's (busy_until);
 *   2. the sink says so, in a QOS event (earliest);
 *   3. frames of a live source arrive later than the sink shows them, and later
 *      than they used to: they were queued (delay, least_delay).
 *
 * If the thread waited for the frame, nothing was queued and no frame of a live
 * source is late. But the time between two frames may also have been spent by
 * upstream elements in the same thread. possible_backlog is the time that would
 * be queued if this was always so. If it exceeds trusted_backlog, a frame is
 * skipped as a test: if the next one then comes sooner, frames were queued. */
#ifndef GST_CUV_QOS_H
#define GST_CUV_QOS_H

#include <gst/gst.h>
#include "cuv-api.h"

G_BEGIN_DECLS

/* Sinks allow 20 ms for processing that nobody reported (processing-deadline of
 * GstBaseSink): work shorter than this is not reported. */
#define GST_CUV_QOS_UNREPORTED (5 * GST_MSECOND)

/* How late work on a frame may begin, so that it fits in the 20 ms that sinks
 * allow. */
#define GST_CUV_QOS_TOLERANCE (15 * GST_MSECOND)

/* A possible backlog up to this is never tested. */
#define GST_CUV_QOS_UNTESTED (GST_SECOND / 4)

/* The number of processing times that the reported latency is computed from. */
#define GST_CUV_QOS_SAMPLES 64

typedef struct {
  GstElement *element;

  /* under the element's object lock */
  gboolean live;
  GstClockTime
      earliest; /* frames before it are too late at the sink, or NONE */
  GstClockTime upstream_latency;
  GstClockTime pipeline_latency; /* for which the sink waits, 0 = not set */
  GstClockTime own_latency;      /* last reported */

  /* from here on for the streaming thread only: processing times */
  GstClockTime samples[GST_CUV_QOS_SAMPLES]; /* a ring */
  guint n_samples;                           /* samples since the start */
  GstClockTime busy_until; /* when all work so far would be done if each frame
                              had arrived on time */

  /* the last frame that arrived */
  GstClockTime last_time; /* its running time */
  GstClockTime arrived;   /* clock time when it came; NONE without a clock */
  GstClockTime done; /* clock time when the thread was free again, or NONE */
  gboolean waited;   /* the thread waited for it: nothing was queued */
  gboolean skipped;  /* it passed unanalysed */

  /* queued frames: by delay */
  GstClockTime delay;        /* delay of the last frame, arrived - last_time */
  GstClockTime least_delay;  /* minimum so far; NONE before the first frame */
  GstClockTime behind_since; /* time of the first frame of the current backlog,
                                or NONE */

  /* queued frames: by waits */
  GstClockTime possible_backlog; /* backlog if upstream elements worked between
                                    frames; 0 if the thread waited */
  GstClockTime trusted_backlog;  /* up to this backlog, idle time counts as
                                    waiting for the source */
  GstClockTime
      probe_time;    /* total duration of the skipped frames of this test */
  gint64 probe_gain; /* how much sooner the frames after skipped ones came */

  /* the warning that nothing is analysed */
  GstClockTime gap_since; /* first late frame since an analysed one */
  gboolean gap_reported;
} GstCuvQos;

CUV_API void gst_cuv_qos_init (GstCuvQos *self, GstElement *element);

/* Resets everything for a new stream. Queries may come from other threads at
 * the same time. */
CUV_API void gst_cuv_qos_start (GstCuvQos *self);

/* Call after a flush or a jump in time. */
CUV_API void gst_cuv_qos_reset (GstCuvQos *self);

/* Queries upstream whether frames are live; call before the first frame. */
CUV_API void gst_cuv_qos_query_peer (GstCuvQos *self);

/* Handle the LATENCY query of the source pad, and its events. */
CUV_API gboolean gst_cuv_qos_query (GstCuvQos *self, GstQuery *query);
CUV_API void gst_cuv_qos_event (GstCuvQos *self, GstEvent *event);

/* Call for each frame: when it arrives, and when the streaming thread is free
 * for the next one. duration: time between frames. */
CUV_API void gst_cuv_qos_arrive (
    GstCuvQos *self, GstClockTime time, GstClockTime duration);
CUV_API void gst_cuv_qos_done (GstCuvQos *self);

/* Whether the frame that arrived should pass unanalysed. Posts a warning, once,
 * when no frame was analysed for a second. */
CUV_API gboolean gst_cuv_qos_is_late (
    GstCuvQos *self, GstClockTime time, GstClockTime duration);

/* Records how long the analysis of the frame at time took. */
CUV_API void gst_cuv_qos_add_sample (
    GstCuvQos *self, GstClockTime time, GstClockTime took);

G_END_DECLS

#endif
