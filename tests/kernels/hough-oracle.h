/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Edges, votes and peaks by their definitions, however slow. */
#ifndef HOUGH_ORACLE_H
#define HOUGH_ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include "cuv-frame.h"
#include "hough/hough-types.h"

/* The edge map of a frame; free() it. */
uint8_t *oracle_canny (const CuvFrame *frame, const CuvCannyParams *params);

/* The accumulator of a map of the space's size; free() it. */
uint32_t *oracle_votes (const CuvHoughSpace *space, const uint8_t *map);

/* All peaks, in order. */
size_t oracle_peaks (const CuvHoughSpace *space, const uint32_t *votes,
    const CuvPeakParams *params, CuvHoughPeak *peaks);

#endif
