/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions that the files of the tracker's test program share. */
#ifndef RCD_TRACKER_TESTS_H
#define RCD_TRACKER_TESTS_H

#include "cuvcheck.h"
#include "track/tracker.h"

/* Runs one frame on the CPU with default parameters. Returns NULL or an error.
 */
const char *run_tracker (
    CuvTracker *self, const CuvCheckFrame *frame, CuvTrackerResult *result);

/* ---- synthetic video in RGB: rcd-scenes.c ---- */

/* Fills the frame with the background. */
void paint_ground (const CuvFrame *frame, uint32_t seed);

/* Draws an object into the box, clipped to the frame. kind, 0 or 1, selects the
 * pattern; fade, 0 .. 1, blends it to other colours. */
void paint_object (
    const CuvFrame *frame, int kind, double fade, const CuvRcdBox *box);

/* Fills a box with one grey value. */
void paint_flat (const CuvFrame *frame, uint8_t value, const CuvRcdBox *box);

/* Returns the intersection over union of two boxes. */
double overlap (const CuvRcdBox *a, const CuvRcdBox *b);

#endif
