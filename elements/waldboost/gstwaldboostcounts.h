/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The counts of waldboostdetect while it analyses a frame, for its stats. */
#ifndef GST_WALDBOOST_COUNTS_H
#define GST_WALDBOOST_COUNTS_H

#include <gst/gst.h>
#include "gstwaldboostorigins.h"

/* The counts of a model. */
typedef struct {
  guint64 windows, weak, accepted;
  guint objects;
  gdouble scan_us;
  GArray *segments;  /* guint64: ends of segments, in weak classifiers */
  GArray *survivors; /* guint64: windows that passed each segment */
} GstWaldboostModelCounts;

typedef struct {
  /* labels of the models; NULL before the first frame */
  GstWaldboostOrigins *origins;
  GstWaldboostModelCounts of[CUV_WALDBOOST_MAX_MODELS];
  guint levels, regions;
  gdouble pyramid_us, group_us;
  guint64 lost; /* hits beyond the limit, in all frames */
} GstWaldboostCounts;

void gst_waldboost_counts_init (GstWaldboostCounts *self);
void gst_waldboost_counts_clear (GstWaldboostCounts *self);

/* Starts a frame: sets the segments of the models' plans and the number of hits
 * lost so far, and clears all other counts. If origins is NULL, plans is not
 * read. */
void gst_waldboost_counts_begin (GstWaldboostCounts *self,
    GstWaldboostOrigins *origins, const CuvWaldboostPlan *const *plans,
    guint64 lost);

/* Adds the result of a scan with a model. */
void gst_waldboost_counts_add (
    GstWaldboostCounts *self, gint model, const CuvWaldboostResult *result);

/* Sets the fields of stats. */
void gst_waldboost_counts_to_stats (
    const GstWaldboostCounts *self, GstStructure *stats);

#endif
