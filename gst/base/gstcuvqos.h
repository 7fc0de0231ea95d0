/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Quality of service of the base classes: which frames are too late to be
 * analysed, and the latency to report. All times are running times. */
#ifndef GST_CUV_QOS_H
#define GST_CUV_QOS_H

#include <gst/gst.h>
#include "cuv-api.h"

G_BEGIN_DECLS

/* Sinks allow 20 ms for processing that nobody reported (processing-deadline of
 * GstBaseSink): work shorter than this is not reported. */
#define GST_CUV_QOS_UNREPORTED (5 * GST_MSECOND)

/* How far behind the frame's time work may start, within those 20 ms. */
#define GST_CUV_QOS_TOLERANCE (15 * GST_MSECOND)

/* How far behind the thread may be before a wait that looks like one for the
 * source is put to the test. */
#define GST_CUV_QOS_UNTESTED (GST_SECOND / 4)

/* The processing times that the reported latency is made of. */
#define GST_CUV_QOS_SAMPLES 64

typedef struct {
  GstElement *element;

  /* under the element's object lock */
  gboolean live;
  GstClockTime earliest; /* the sink is too late for frames before, or NONE */
  GstClockTime upstream_latency;
  GstClockTime pipeline_latency; /* what the sink waits for, 0 = not set */
  GstClockTime own_latency;      /* last reported */

  /* of the streaming thread */
  GstClockTime samples[GST_CUV_QOS_SAMPLES]; /* a ring */
  guint n_samples;                           /* since the start */
  GstClockTime last_time;   /* of the frame that arrived last, as all three */
  GstClockTime arrived;     /* when; NONE without a clock */
  GstClockTime done;        /* when the thread was free again, or NONE */
  gboolean waited;          /* the thread waited for it: nothing was queued */
  gboolean skipped;         /* it was late */
  GstClockTime backlog;     /* at most, if upstream worked all that time */
  GstClockTime trust;       /* the backlog at which waits are believed */
  GstClockTime tested;      /* skipped frames since trust has changed */
  gint64 gained;            /* how much sooner the frames after them came */
  GstClockTime busy_until;  /* when all work so far would be done, had each
                               frame arrived at its own time */
  GstClockTime delay;       /* of the last frame on arrival */
  GstClockTime least_delay; /* so far */
  GstClockTime
      behind_since;       /* the first frame of the current backlog, or NONE */
  GstClockTime gap_since; /* the first late frame since an analysed one */
  gboolean gap_reported;
} GstCuvQos;

CUV_API void gst_cuv_qos_init (GstCuvQos *self, GstElement *element);

/* Resets everything for a new stream. Queries may come at the same time. */
CUV_API void gst_cuv_qos_start (GstCuvQos *self);

/* After a flush or a jump in time. */
CUV_API void gst_cuv_qos_reset (GstCuvQos *self);

/* Queries upstream whether frames are live; call before the first frame. */
CUV_API void gst_cuv_qos_query_peer (GstCuvQos *self);

/* The source pad's LATENCY query, and its events. */
CUV_API gboolean gst_cuv_qos_query (GstCuvQos *self, GstQuery *query);
CUV_API void gst_cuv_qos_event (GstCuvQos *self, GstEvent *event);

/* Call for each frame: when it arrives, and when the streaming thread is free
 * for the next one. duration: time between frames. */
CUV_API void gst_cuv_qos_arrive (
    GstCuvQos *self, GstClockTime time, GstClockTime duration);
CUV_API void gst_cuv_qos_done (GstCuvQos *self);

/* Whether the frame that arrived should pass unanalysed. Posts a warning, once,
 * when frames of a second have. */
CUV_API gboolean gst_cuv_qos_is_late (
    GstCuvQos *self, GstClockTime time, GstClockTime duration);

/* Records how long the analysis of the frame at time took. */
CUV_API void gst_cuv_qos_add_sample (
    GstCuvQos *self, GstClockTime time, GstClockTime took);

G_END_DECLS

#endif
