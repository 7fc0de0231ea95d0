/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What waldboostdetect counts while it analyses a frame, for its stats. */
#ifndef GST_WALDBOOST_COUNTS_H
#define GST_WALDBOOST_COUNTS_H

#include <gst/gst.h>
#include "waldboost.h"

typedef struct {
  guint64 windows, weak, accepted;
  guint levels, regions, objects;
  gdouble pyramid_us, scan_us, group_us;
  GArray *segments;  /* guint64: numbers of weak classifiers */
  GArray *survivors; /* guint64: windows that passed them */
  guint64 lost;      /* windows beyond the limit, total of all frames */
} GstWaldboostCounts;

void gst_waldboost_counts_init (GstWaldboostCounts *self);
void gst_waldboost_counts_clear (GstWaldboostCounts *self);

/* Starts a frame: sets the plan's segments and the windows lost so far, and
 * clears all else. */
void gst_waldboost_counts_begin (
    GstWaldboostCounts *self, const CuvWaldboostPlan *plan, guint64 lost);

/* Adds the result of a scan. */
void gst_waldboost_counts_add (
    GstWaldboostCounts *self, const CuvWaldboostResult *result);

/* Sets the fields of stats. */
void gst_waldboost_counts_to_stats (
    const GstWaldboostCounts *self, GstStructure *stats);

#endif
