/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Frames with regions for waldboosttrain, and the messages that it posts. */
#ifndef CUV_TRAIN_HARNESS_H
#define CUV_TRAIN_HARNESS_H

#include "cuvelements.h"

#define WIDTH 160
#define HEIGHT 120
#define MODEL "cross.xml"
#define QUICK "features=lbp weak=8 negative-samples=400 copies=4 margin=0 "
#define NEVER_DONE "features=lbp weak=4096 negative-samples=2000 margin=0 "

/* ---- frames ---- */

typedef struct {
  guint x, y, size;
} Place;

/* Returns the place of the cross in frame i. */
Place place_of (guint i);

/* Returns a frame with a cross on a background, grey in all formats. */
GstBuffer *frame_new (const gchar *format, guint i, gboolean with_cross);

GstVideoRegionOfInterestMeta *add_region (
    GstBuffer *buffer, const gchar *label, const Place *at);

/* Returns frame i with a region on its cross. */
GstBuffer *example_new (const gchar *format, guint i);

/* Returns a frame whose region shows nothing, so training does not end soon. */
GstBuffer *hopeless_new (guint i);

/* ---- harness ---- */

typedef struct {
  GstHarness *h;
  GstElement *sink;
  GstBus *bus;
} Fixture;

Fixture fixture_new (const gchar *format, const gchar *settings);
void fixture_free (Fixture *self);

void push (const Fixture *self, GstBuffer *buffer);
void push_examples (const Fixture *self, const gchar *format, guint n);
void push_hopeless (const Fixture *self, guint n);
void end (const Fixture *self);

/* Returns the structure of the next message of this state; free it. */
GstStructure *wait_for (GstBus *bus, const gchar *state);

guint get_uint (const GstStructure *structure, const gchar *field);
gdouble get_double (const GstStructure *structure, const gchar *field);

/* Returns the text of the model; free it. */
gchar *read_model (void);

#endif
