/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parts of the test program for the overlay. */
#ifndef OVERLAY_TESTS_H
#define OVERLAY_TESTS_H

#include "cuvcheck.h"
#include "draw.h"

/* On the GPU; cuda: a CuvOverlayCuda. */
void check_cuda_fills (void *cuda);

/* Draws the list on frame in C, on a copy of it on the GPU, and compares. */
void check_cuda_list (
    void *cuda, CuvCheckFrame *frame, const CuvOverlayList *list);

#endif
