/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* rcdtrack in a harness, frames in which it is known where things are, and what
 * metadata and messages say of them. */
#ifndef CUV_TEST_FILM_H
#define CUV_TEST_FILM_H

#include "cuvelements.h"

/* Frames are uploaded: the GPU has to find the same. */
extern gboolean use_cuda;

typedef struct {
  GstHarness *h;
  GstElement *t; /* the rcdtrack */
  GstBus *bus;
  const gchar *format;
  gint width, height;
  guint n; /* frames so far */
} Film;

/* A line of rcdtrack with these properties, and frames of this kind. */
Film film_new (
    const gchar *properties, const gchar *format, gint width, gint height);
void film_clear (Film *self);
void film_size (Film *self, const gchar *format, gint width, gint height);

typedef struct {
  gint x, y, width, height;
} Box;

/* The next frame: faint noise. */
GstBuffer *film_frame (Film *self);

/* Puts a thing into a frame, of a kind from 1 up. 0 is a flat patch. */
void film_plant (GstBuffer *frame, guint kind, Box box);

GstVideoRegionOfInterestMeta *film_region (
    GstBuffer *frame, const gchar *label, Box box);

/* Pushes the frame; what comes out. */
GstBuffer *film_push (Film *self, GstBuffer *frame);

/* Frames with a thing in the box, or with none if kind is below 0. What comes
 * out of the last one. */
GstBuffer *film_show (Film *self, guint n, gint kind, Box box);

/* ---- what is said ---- */

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

/* The tracks on a frame, which have to be well made. Unref the array; strings
 * are the frame's. */
GArray *tracks_of (GstBuffer *frame);
guint n_tracks (GstBuffer *frame);

/* Fails the test unless the track with this id is where the box is, by 0.7 of
 * what both have together; of any id if it is 0. Returns its id. Unrefs the
 * frame. */
gint check_at (GstBuffer *frame, gint id, Box box);
void check_nothing (GstBuffer *frame); /* unrefs it, too */

/* The next element message's text for its first object: "acquired 1"; free it.
 * NULL if there is no message, "" if it has no object. */
gchar *next_event (Film *self);
void expect_event (Film *self, const gchar *text);

void set_all (GstElement *element, const gchar *text); /* "a=b c=d" */

int film_main (Suite *(*make) (void), int argc, char **argv);

#endif
