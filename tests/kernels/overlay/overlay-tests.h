/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions that the files of the overlay's test program share. */
#ifndef OVERLAY_TESTS_H
#define OVERLAY_TESTS_H

#include "cuvcheck.h"
#include "draw.h"

/* Draws a list on a frame; with --cuda on the GPU, within check_cuda() of
 * overlay.c. */
void draw_list (const CuvOverlayList *list, CuvCheckFrame *frame);

/* Draws a list and compares the frame with the expected one. */
void check_list (const CuvOverlayList *list, CuvCheckFrame *frame,
    const CuvCheckFrame *expected);
void check_cuda_fills (void); /* of overlay-fills.c */

#endif
