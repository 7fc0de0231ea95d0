/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Inputs for all versions of the line detector. */
#ifndef HOUGH_INPUTS_H
#define HOUGH_INPUTS_H

#include "cuvcheck.h"
#include "hough.h"

typedef struct {
  int width, height;
} HoughSize;

/* Sizes of frames, from one pixel upwards. */
extern const HoughSize hough_sizes[];
enum { HOUGH_N_SIZES = 9 };

/* Accumulators of all kinds: ranges of theta, some of which cross 90 degrees,
 * steps of rho, orientation windows. */
enum { HOUGH_N_CONFIGS = 21 };
CuvHoughConfig hough_config (int i, int width, int height);

CuvCannyParams hough_random_canny (void);

/* Returns peak rule i modulo HOUGH_N_RULES, with a random threshold below
 * `most`. */
enum { HOUGH_N_RULES = 7 };
CuvPeakParams hough_peak_params (int i, uint32_t most);

/* Returns an edge map in which one of `one_in` pixels is an edge; free() it. */
uint8_t *hough_random_map (int width, int height, int one_in);

/* Random edges with random orientation bins. */
typedef struct {
  CuvHoughLayout layout;
  uint8_t *map;
  uint32_t *pixels;
  uint16_t *bins;
  CuvEdgeList list; /* with bins if the layout has a window */
} HoughInput;

/* Fails a check and returns false if the config is rejected. */
bool hough_input_init (
    HoughInput *self, const CuvHoughConfig *config, int one_in);
void hough_input_clear (HoughInput *self);

/* Computes the accumulator with the C reference; free() it. */
uint32_t *hough_input_vote (const HoughInput *self);

/* Gathers the accumulator from an edge map of width x height; layouts with an
 * orientation window are not supported. */
void cuv_hough_gather (
    const CuvHoughLayout *self, const uint8_t *edges, uint32_t *accumulator);

/* Votes and finds peaks in a ring buffer of a few rows; the peaks are those of
 * a whole accumulator. Returns false if out of memory. */
bool cuv_hough_ring (const CuvHoughLayout *self, const CuvEdgeList *list,
    const CuvPeakParams *params, CuvPeakList *peaks, uint64_t *n_votes);

#endif
