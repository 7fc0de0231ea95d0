/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What lines are looked for in, by all versions of the detector. */
#ifndef HOUGH_INPUTS_H
#define HOUGH_INPUTS_H

#include "cuvcheck.h"
#include "hough.h"

typedef struct {
  int width, height;
} HoughSize;

/* Of frames, from one pixel on. */
extern const HoughSize hough_sizes[];
enum { HOUGH_N_SIZES = 9 };

/* Spaces of all kinds: ranges of theta, also over 90 degrees, steps of rho,
 * windows. Their frames' size is that given. */
enum { HOUGH_N_SHAPES = 20 };
CuvHoughConfig hough_shape (int i, int width, int height);

CuvCannyParams hough_random_canny (void);

/* The i-th of all rules in turn; thresholds from 0 to below most. */
enum { HOUGH_N_RULES = 5 };
CuvPeakParams hough_peak_params (int i, uint32_t most);

/* About one pixel in so many is an edge; free() it. */
uint8_t *hough_random_map (int width, int height, int one_in);

/* Edges with random gradients, in a layout. */
typedef struct {
  CuvHoughLayout layout;
  uint8_t *map;
  uint32_t *pixels;
  uint16_t *bins;
  CuvEdgeList list; /* with bins where the layout has a window */
} HoughInput;

/* false, and a failed check, if the config is refused. */
bool hough_input_init (
    HoughInput *self, const CuvHoughConfig *config, int one_in);
void hough_input_clear (HoughInput *self);

/* The accumulator as the reference makes it; free() it. */
uint32_t *hough_input_vote (const HoughInput *self);

/* The same votes without a list, from an edge map of width x height; without an
 * orientation window. */
void cuv_hough_gather (
    const CuvHoughLayout *self, const uint8_t *edges, uint32_t *accumulator);

/* Votes and peaks at once, in memory for a few rows: the same peaks. Returns
 * whether there was memory. */
bool cuv_hough_ring (const CuvHoughLayout *self, const CuvEdgeList *list,
    const CuvPeakParams *params, CuvPeakList *peaks, uint64_t *n_votes);

#endif
