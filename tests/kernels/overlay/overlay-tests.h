/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parts of the test program for the overlay. */
#ifndef OVERLAY_TESTS_H
#define OVERLAY_TESTS_H

#include "cuvcheck.h"
#include "draw.h"

/* Draws the list on a frame, with --cuda on the GPU, as check_cuda_fills()
 * does. */
void draw_list (const CuvOverlayList *list, CuvCheckFrame *frame);

/* Draws it and compares the frame with the expected one. */
void check_list (const CuvOverlayList *list, CuvCheckFrame *frame,
    const CuvCheckFrame *expected);
void check_cuda_fills (void); /* overlay-fills.c */

#endif
