/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* rcdtrack in a GstHarness, frames with objects at known positions, and access
 * to the resulting metadata and messages. */
#ifndef CUV_TEST_FILM_H
#define CUV_TEST_FILM_H

#include "live.h"

/* Returns a harness of rcdtrack with these properties, for frames of this
 * format. */
CuvLive film_new (
    const gchar *properties, const gchar *format, gint width, gint height);

typedef struct {
  gint x, y, width, height;
} Box;

/* Returns the next frame, filled with faint noise. */
GstBuffer *film_frame (CuvLive *self);

/* Draws an object of a kind from 1 up; 0 is a flat patch. */
void film_draw_object (GstBuffer *frame, guint kind, Box box);

GstVideoRegionOfInterestMeta *film_region (
    GstBuffer *frame, const gchar *label, Box box);

/* Pushes frames with an object in the box, or none if kind < 0. Returns the
 * last output. */
GstBuffer *film_show (CuvLive *self, guint n, gint kind, Box box);

/* ---- results ---- */

typedef struct {
  gint id;
  const gchar *label;
  Box box;
  gint region_id;
  gdouble distance, second, scale, confidence, detection;
  gint lost_frames;
  const gchar *state;
  guint64 age;
} Track;

/* Returns the tracks on a frame; checks that they are well-formed. Unref the
 * array; strings belong to the frame. */
GArray *tracks_of (GstBuffer *frame);
guint n_tracks (GstBuffer *frame);

/* Checks that the track with this id (0 = any) overlaps the box with an
 * intersection over union of 0.7 or more. Returns its id. Unrefs the frame. */
gint check_at (GstBuffer *frame, gint id, Box box);
void check_nothing (GstBuffer *frame); /* unrefs the frame */

/* Returns event and id of the first object in the next element message, such as
 * "acquired 1"; free it. Returns NULL if there is no message, "" if it has no
 * object. */
gchar *next_event (CuvLive *self);
void expect_event (CuvLive *self, const gchar *text);

#endif
