/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Frames to draw on, and access to their samples. */
#ifndef OVERLAY_SCENE_H
#define OVERLAY_SCENE_H

#include "cuvelements.h"

/* A visionoverlay for frames of this kind that draws opaque red boxes of
 * thickness 2 and nothing else. colorimetry may be NULL. */
GstHarness *overlay_new (
    const gchar *format, gint width, gint height, const gchar *colorimetry);

/* Adds a region, with a "detection" if confidence >= 0. */
GstVideoRegionOfInterestMeta *overlay_add_region (GstBuffer *buffer,
    const gchar *label, guint x, guint y, guint w, guint h, gdouble confidence);

/* Pushes a copy of in, metas included, with memory that nobody else holds;
 * returns what comes out. */
GstBuffer *overlay_draw (GstHarness *h, GstBuffer *in);

/* The samples of a component, one for each pixel; to be freed. */
guint8 *overlay_samples (GstHarness *h, GstBuffer *buffer, guint component);

/* The sample of a component for a pixel. */
guint overlay_sample (
    GstHarness *h, GstBuffer *buffer, guint component, gint x, gint y);

/* The pixels whose first component differs, in a rectangle. */
guint overlay_changed (GstHarness *h, GstBuffer *a, GstBuffer *b, gint x,
    gint y, gint width, gint height);

/* The harness's caps. */
GstVideoInfo overlay_info (GstHarness *h);

#endif
