/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Edges, votes and peaks by their definitions, however slow. */
#ifndef HOUGH_ORACLE_H
#define HOUGH_ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include "hough.h"

/* The edge map of a frame; free() it. */
uint8_t *oracle_canny (const CuvFrame *frame, const CuvCannyParams *params);

/* The rows of a layout, and the angle of the lines of one. */
int oracle_n_rows (const CuvHoughConfig *config);
double oracle_degrees (const CuvHoughConfig *config, int k);

/* Of PClines: what a pixel has in row k, in cells. */
double oracle_pclines_value (const CuvHoughLayout *layout, int k, int x, int y);

/* Whether edges of a bin vote in row k. */
bool oracle_takes_group (const CuvHoughConfig *config, int k, int bin);

/* The accumulator, of rho and theta; free() it. */
uint32_t *oracle_votes (const CuvHoughLayout *layout, const CuvEdgeList *list);

/* All peaks, in order. */
size_t oracle_peaks (const CuvHoughLayout *layout, const uint32_t *votes,
    const CuvPeakParams *params, CuvHoughPeak *peaks);

/* The segments of one peak; there is room for as many as pixels. */
size_t oracle_segments (const CuvHoughLayout *layout, const uint8_t *map,
    const CuvHoughPeak *peak, const CuvSegmentParams *params,
    CuvHoughSegment *segments);

#endif
