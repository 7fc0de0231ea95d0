/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which frames an element has the time to work on, and the latency that its
 * work adds: what the base classes know of clocks. Running times throughout. */
#ifndef GST_CUV_PACE_H
#define GST_CUV_PACE_H

#include <gst/gst.h>
#include "cuv-api.h"

G_BEGIN_DECLS

typedef struct {
  GstElement *element;

  /* under the element's object lock */
  gboolean live;
  GstClockTime earliest; /* the sink is too late for frames before, or NONE */
  GstClockTime upstream_latency;
  GstClockTime pipeline_latency; /* what the sink waits for, 0 = not told */
  GstClockTime own_latency;      /* what we told the pipeline that we take */
  GstClockTime usual;            /* the time that work takes, of late */
  GstClockTime took;             /* the last work */

  /* of the streaming thread */
  GstClockTime busy_until; /* the time at which all work so far is done */
} GstCuvPace;

CUV_API void gst_cuv_pace_init (GstCuvPace *self, GstElement *element);

/* After a flush or a jump in time. */
CUV_API void gst_cuv_pace_forget (GstCuvPace *self);

/* Asks upstream whether frames are live: before the first of them. */
CUV_API void gst_cuv_pace_ask (GstCuvPace *self);

/* The source pad's LATENCY query, and its events. */
CUV_API gboolean gst_cuv_pace_query (GstCuvPace *self, GstQuery *query);
CUV_API void gst_cuv_pace_event (GstCuvPace *self, GstEvent *event);

/* TRUE if the frame had better pass. patience: how much later than it should a
 * frame may be, the time between two of them. */
CUV_API gboolean gst_cuv_pace_is_late (
    GstCuvPace *self, GstClockTime time, GstClockTime patience);

/* The frame of this time was worked on for so long. */
CUV_API void gst_cuv_pace_worked (GstCuvPace *self, GstClockTime time,
    GstClockTime took, GstClockTime patience);

G_END_DECLS

#endif
