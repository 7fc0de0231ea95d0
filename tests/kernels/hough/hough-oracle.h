/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Edges, votes and peaks, computed literally as they are defined. */
#ifndef HOUGH_ORACLE_H
#define HOUGH_ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include "hough.h"

/* Returns the edge map of a frame; free() it. */
uint8_t *oracle_canny (const CuvFrame *frame, const CuvCannyParams *params);

/* Return the number of rows of a layout, and the angle theta of row k. */
int oracle_n_rows (const CuvHoughConfig *config);
double oracle_degrees (const CuvHoughConfig *config, int k);

/* For PClines, returns the unrounded cell of a pixel in row k. */
double oracle_pclines_value (const CuvHoughLayout *layout, int k, int x, int y);

/* Returns whether edges of an orientation bin vote in row k. */
bool oracle_votes_in_row (const CuvHoughConfig *config, int k, int bin);

/* Returns the accumulator of CUV_LINES_RHO_THETA; free() it. */
uint32_t *oracle_votes (const CuvHoughLayout *layout, const CuvEdgeList *list);

/* Finds all peaks and sorts them. Returns their number. */
size_t oracle_peaks (const CuvHoughLayout *layout, const uint32_t *votes,
    const CuvPeakParams *params, CuvHoughPeak *peaks);

/* Finds the segments of one peak. The array must have room for one per pixel.
 */
size_t oracle_segments (const CuvHoughLayout *layout, const uint8_t *map,
    const CuvHoughPeak *peak, const CuvSegmentParams *params,
    CuvHoughSegment *segments);

#endif
