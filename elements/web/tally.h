/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counts what is on frames: objects by label, rows of tables, latency. Only
 * while somebody asks: from a request until CUV_WEB_TALLY_SECONDS after the
 * last one. */
#ifndef CUV_WEB_TALLY_H
#define CUV_WEB_TALLY_H

#include <gst/gst.h>

G_BEGIN_DECLS

#define CUV_WEB_TALLY_SECONDS 600
/* Further names are counted as "other". */
#define CUV_WEB_MAX_NAMES 256

typedef struct _CuvWebTally CuvWebTally;

CuvWebTally *cuv_web_tally_new (void);
void cuv_web_tally_free (CuvWebTally *self);

/* For the streaming thread. */

gboolean cuv_web_tally_is_wanted (const CuvWebTally *self);
/* Counts a frame. latency: in seconds, NAN: unknown; now: monotonic time in
 * microseconds. */
void cuv_web_tally_frame (
    CuvWebTally *self, GstBuffer *buffer, gdouble latency, gint64 now);

/* For any thread. */

/* Sets all counts to 0. */
void cuv_web_tally_reset (CuvWebTally *self);

typedef struct {
  gchar *name; /* a GRefString */
  guint newest;
  guint64 total;
} CuvWebCount;

/* Upper bounds of the latency's buckets, in seconds; a last bucket has no
 * bound. */
#define CUV_WEB_N_BOUNDS 11
extern const gdouble cuv_web_latency_bounds[CUV_WEB_N_BOUNDS];

/* A copy of the counts. */
typedef struct {
  GArray *objects;                       /* CuvWebCount, by label */
  GArray *tables;                        /* CuvWebCount, by key */
  guint64 buckets[CUV_WEB_N_BOUNDS + 1]; /* frames by latency */
  gdouble latency_sum;                   /* seconds */
  GstBuffer *metas; /* tables with metrics of the newest frame that has some, or
                     * NULL */
} CuvWebTallied;

/* Copies the counts, and has frames counted from now on. now: monotonic time in
 * microseconds. */
void cuv_web_tally_ask (CuvWebTally *self, gint64 now, CuvWebTallied *counts);
void cuv_web_tallied_clear (CuvWebTallied *counts);

G_END_DECLS

#endif
