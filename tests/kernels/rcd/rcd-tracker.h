/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parts of the test program for the tracker. */
#ifndef RCD_TRACKER_TESTS_H
#define RCD_TRACKER_TESTS_H

#include "cuvcheck.h"
#include "track/tracker.h"

/* Runs one frame on the CPU with default parameters; returns NULL or an error.
 */
const char *run_tracker (
    CuvTracker *self, const CuvCheckFrame *frame, CuvTrackerResult *result);

/* ---- synthetic video (rcd-scenes.c): textured objects on a textured
 * background, in RGB ---- */

/* Fills the frame with the background. */
void paint_ground (const CuvFrame *frame, uint32_t seed);

/* Draws an object into the box, clipped to the frame. kind, 0 or 1, selects the
 * pattern; fade, 0 .. 1, blends to other colours. */
void paint_object (
    const CuvFrame *frame, int kind, double fade, const CuvRcdBox *box);

/* Fills a box with one colour. */
void paint_flat (const CuvFrame *frame, uint8_t value, const CuvRcdBox *box);

/* Intersection over union. */
double overlap (const CuvRcdBox *a, const CuvRcdBox *b);

#endif
