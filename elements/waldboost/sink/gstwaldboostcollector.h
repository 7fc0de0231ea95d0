/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Keeps frames of a stream, with their regions of interest, as a data set to
 * train with. */
#ifndef GST_WALDBOOST_COLLECTOR_H
#define GST_WALDBOOST_COLLECTOR_H

#include <gst/video/video.h>
#include "sink/gstwaldboosttraining.h"

/* Which frames are kept. */
typedef struct {
  GQuark label;  /* label of the regions to learn, 0: all */
  gint interval; /* every Nth frame that may be kept */
  guint max_frames;
  gboolean without_regions; /* also frames without a region to learn */
  gint features;            /* see gst_waldboost_features_keep() */
} GstWaldboostChoice;

typedef struct {
  CuvDataset *dataset;
  GArray *present; /* GstCuvObject: those of the frame */
  GArray *labels;  /* GQuark: those seen */
  guint64 n_frames;
  guint64 n_candidates[2]; /* frames without, and with regions to learn */
  guint n_kept, n_objects;
  gboolean full; /* keeps no more frames; this was reported */
} GstWaldboostCollector;

void gst_waldboost_collector_init (GstWaldboostCollector *self);
void gst_waldboost_collector_clear (GstWaldboostCollector *self);

gboolean gst_waldboost_collector_start (
    GstWaldboostCollector *self, GError **error);
void gst_waldboost_collector_stop (GstWaldboostCollector *self);

/* Keeps the frame if the options ask for it, in host or CUDA memory; returns
 * whether it was kept. Errors: GST_RESOURCE_ERROR_NO_SPACE_LEFT, reported once,
 * after which no frames are kept; or that the buffer does not match its
 * caps. */
gboolean gst_waldboost_collector_add (GstWaldboostCollector *self,
    GstBuffer *buffer, const GstVideoInfo *info,
    const GstWaldboostChoice *choice, GError **error);

/* Whether there are enough frames to train; otherwise the error names the
 * reason and what to do. */
gboolean gst_waldboost_collector_has_enough (const GstWaldboostCollector *self,
    const GstWaldboostChoice *choice, GError **error);

#endif
