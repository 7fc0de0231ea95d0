/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parts of the program that tests tracks. */
#ifndef RCD_TRACKER_TESTS_H
#define RCD_TRACKER_TESTS_H

#include "rcd-scenes.h"
#include "track/tracker.h"

void check_updates (void);
void check_plans (void);
void check_targets (void);
void check_tracks (void);

/* Runs one frame on the CPU with default parameters. NULL, or what went wrong.
 */
const char *run_tracker (
    CuvTracker *self, const CuvCheckFrame *frame, CuvTrackerResult *result);

#endif
