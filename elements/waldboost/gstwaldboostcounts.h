/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What waldboostdetect counts while it analyses a frame, for its stats. */
#ifndef GST_WALDBOOST_COUNTS_H
#define GST_WALDBOOST_COUNTS_H

#include <gst/gst.h>
#include "gstwaldboostorigins.h"

/* Of a model. */
typedef struct {
  guint64 windows, weak, accepted;
  guint objects;
  gdouble scan_us;
  GArray *segments;  /* guint64: numbers of weak classifiers */
  GArray *survivors; /* guint64: windows that passed them */
} GstWaldboostModelCounts;

typedef struct {
  GstWaldboostOrigins *origins; /* of the models; NULL before the first frame */
  GstWaldboostModelCounts of[CUV_WALDBOOST_MAX_MODELS];
  guint levels, regions;
  gdouble pyramid_us, group_us;
  guint64 lost; /* windows beyond the limit, total of all frames */
} GstWaldboostCounts;

void gst_waldboost_counts_init (GstWaldboostCounts *self);
void gst_waldboost_counts_clear (GstWaldboostCounts *self);

/* Starts a frame: sets the segments of the models' plans and the windows lost
 * so far, and clears all else. Without origins there are no plans. */
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
