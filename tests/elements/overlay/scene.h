/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Frames to draw on, and access to their samples. */
#ifndef OVERLAY_SCENE_H
#define OVERLAY_SCENE_H

#include "cuvelements.h"

/* Returns a harness of a visionoverlay that draws opaque red boxes of thickness
 * 2 and nothing else. colorimetry may be NULL. */
GstHarness *overlay_new (
    const gchar *format, gint width, gint height, const gchar *colorimetry);

/* Adds a region, with a "detection" if confidence >= 0. */
GstVideoRegionOfInterestMeta *overlay_add_region (GstBuffer *buffer,
    const gchar *label, guint x, guint y, guint w, guint h, gdouble confidence);

/* Pushes a deep copy of `in` with its metas and returns the output. */
GstBuffer *overlay_draw (GstHarness *h, GstBuffer *in);

/* Returns the samples of a component, one per pixel; free them. */
guint8 *overlay_samples (GstHarness *h, GstBuffer *buffer, guint component);

/* Returns the sample of a component at a pixel. */
guint overlay_sample (
    GstHarness *h, GstBuffer *buffer, guint component, gint x, gint y);

/* Returns the number of pixels in a rectangle whose first component differs. */
guint overlay_changed (GstHarness *h, GstBuffer *a, GstBuffer *b, gint x,
    gint y, gint width, gint height);

/* Returns the video info of the harness's caps. */
GstVideoInfo overlay_info (GstHarness *h);

#endif
