/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Debug views of edges and votes. */
#ifndef CUV_HOUGH_DRAW_H
#define CUV_HOUGH_DRAW_H

#include "cuv-frame.h"
#include "hough.h"

/* edges: a map of the frame's size. */
void cuv_hough_draw_edges (const CuvFrame *frame, const uint8_t *edges);

/* Each pixel shows the maximum of its cells: white above the threshold, else up
 * to 3/4 as bright. */
void cuv_hough_draw_votes (const CuvFrame *frame, const CuvHoughLayout *layout,
    const uint32_t *accumulator, uint32_t threshold);

#endif
