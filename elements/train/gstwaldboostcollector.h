/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Keeps frames of a stream, with their regions of interest, as a data set for
 * training. */
#ifndef GST_WALDBOOST_COLLECTOR_H
#define GST_WALDBOOST_COLLECTOR_H

#include <gst/video/video.h>
#include "gstwaldboosttraining.h"

/* The choice of frames to keep. */
typedef struct {
  GQuark label;  /* label of the regions to learn; 0: any label */
  gint interval; /* keep every Nth frame of those that may be kept */
  guint max_frames;
  gboolean without_regions; /* also keep frames without a region to learn */
  gint features;            /* see gst_waldboost_features_keep() */
} GstWaldboostChoice;

typedef struct {
  CuvDataset *dataset;
  GArray *present; /* GstCuvObject: objects of the current frame */
  GArray *labels;  /* GQuark: labels seen so far */
  guint64 n_frames;
  /* numbers of frames without and with regions to learn */
  guint64 n_candidates[2];
  guint n_kept, n_objects;
  gboolean full; /* no further frames are kept; this has been reported */
} GstWaldboostCollector;

void gst_waldboost_collector_init (GstWaldboostCollector *self);
void gst_waldboost_collector_clear (GstWaldboostCollector *self);

gboolean gst_waldboost_collector_start (
    GstWaldboostCollector *self, GError **error);
void gst_waldboost_collector_stop (GstWaldboostCollector *self);

/* Keeps a frame in host or CUDA memory if the choice includes it; returns
 * whether it was kept. Errors: GST_RESOURCE_ERROR_NO_SPACE_LEFT, reported once,
 * after which no frames are kept; GST_STREAM_ERROR_FORMAT if the buffer does
 * not match its caps. */
gboolean gst_waldboost_collector_add (GstWaldboostCollector *self,
    GstBuffer *buffer, const GstVideoInfo *info,
    const GstWaldboostChoice *choice, GError **error);

/* Returns whether there are enough frames for training; otherwise the error
 * gives the reason and says what to do. */
gboolean gst_waldboost_collector_has_enough (const GstWaldboostCollector *self,
    const GstWaldboostChoice *choice, GError **error);

#endif
