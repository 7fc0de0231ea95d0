/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes and reads GstAnalytics metadata as other elements do. */
#ifndef CUV_TEST_MTDS_H
#define CUV_TEST_MTDS_H

#include "cuvelements.h"
#include "gstcuvmeta.h"
#include <gst/analytics/analytics.h>

/* Adds an object detection; returns its id. */
guint mtd_add_od (GstBuffer *buffer, const gchar *label, gint x, gint y, gint w,
    gint h, gfloat confidence);

/* Add an entry and relate the detection to it. */
void mtd_add_class (
    GstBuffer *buffer, guint od, const gchar *label, gfloat confidence);
void mtd_add_track (GstBuffer *buffer, guint od, guint64 id);

/* Returns the number of entries of a type: gst_analytics_od_mtd_get_mtd_type()
 * and the like. */
guint mtd_count (GstBuffer *buffer, GstAnalyticsMtdType type);

/* A track and its detection, od. mtd_find_track() fails the test unless exactly
 * one track has the id, and exactly one detection, or none if the track is
 * lost, relates to it. */
typedef struct {
  GstClockTime first_seen, last_seen;
  gboolean lost;
  GstAnalyticsODMtd od;
} MtdTrack;
MtdTrack mtd_find_track (GstBuffer *buffer, guint64 id);

/* Fails the test unless the detection has this box. */
void mtd_check_box (GstAnalyticsODMtd *od, guint x, guint y, guint w, guint h);

/* Return the objects that gst_cuv_objects_read() finds. */
GArray *objects_of (GstBuffer *buffer);
GstCuvObject nth_object (const GArray *objects, guint i);

/* Returns the only object of the buffer. */
GstCuvObject only_object (GstBuffer *buffer);

/* Returns a harness of the pipeline's elements. */
GstHarness *line_new (const gchar *line, const gchar *format);

/* Sets a property of an element of the harness to a text. */
void line_set (GstHarness *h, const gchar *element, const gchar *property,
    const gchar *text);

/* Ends the stream, frees the harness, and returns what a visionpublish in it
 * wrote to the file "out", which is removed; free it. */
gchar *line_end (GstHarness *h);
void expect_part (const gchar *text, const gchar *part);

/* Skips the program if an element is not installed; for CUV_BEFORE_TESTS(). */
void skip_without (const gchar *element);

/* Pushes a frame and returns what comes out. */
GstBuffer *push (GstHarness *h, GstBuffer *frame);

/* Returns a black BGRA frame of WIDTH x HEIGHT. */
GstBuffer *black_frame (void);

/* Returns the part from "objects" to "resolution" of the record that
 * visionpublish writes for the frame. Needs cuv_folder_enter(). */
gchar *published (GstBuffer *frame, const gchar *format);

#define WIDTH 320
#define HEIGHT 240
GstVideoInfo frame_info (void); /* for WIDTH x HEIGHT */

#endif
