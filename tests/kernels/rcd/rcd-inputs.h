/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Inputs for all versions of the search, with the reference's results. */
#ifndef RCD_INPUTS_H
#define RCD_INPUTS_H

#include "cuvcheck.h"
#include "rcd.h"

typedef struct {
  int width, height;
} RcdSize;

/* Frame sizes, from one pixel upwards. */
extern const RcdSize rcd_sizes[];
enum { RCD_N_SIZES = 9 };

extern const int rcd_cells[];
enum { RCD_N_CELLS = 8 };

typedef struct {
  CuvCheckFrame frame;
  CuvRcdConfig config;
  CuvRcdSearch search; /* of the targets below */
  CuvRcdTarget targets[CUV_RCD_MAX_TARGETS];
  /* the reference's results, after rcd_input_search() */
  double *scores;
  CuvRcdMatch matches[CUV_RCD_MAX_TARGETS];
} RcdInput;

/* Returns a random configuration for frames of this size. */
CuvRcdConfig rcd_random_config (int width, int height, int cell);

/* Makes a frame. The search area has all of its whole cells. */
void rcd_input_init (RcdInput *self, const CuvRcdConfig *config,
    const char *format, CuvCheckFill fill);
void rcd_input_clear (RcdInput *self);

/* Makes a random case and names it: a frame, which may be cropped, an area,
 * which may be a part of it, refinement, and up to three targets with the
 * covariance of a part of the frame, or with a random one if that is singular.
 */
void rcd_input_init_random (
    RcdInput *self, const char *format, RcdSize size, int cell);
void rcd_input_name (const RcdInput *self, const char *format);

/* Adds a target without levels that has the covariance of a box of the frame.
 * Returns false if the covariance is singular. */
bool rcd_input_add (RcdInput *self, const CuvRcdBox *box);

/* Adds a level of windows for the last target. */
void rcd_input_add_level (RcdInput *self, int columns, int rows, int step);

/* Adds levels for these scales of a target's size, as the tracker does. */
void rcd_input_add_scales (RcdInput *self, int width, int height, int step,
    const double *scales, int n_scales);

/* Runs the reference. */
void rcd_input_search (RcdInput *self);

/* Checks that matches equal the reference's bit for bit, and scores, too,
 * unless they are NULL. */
void rcd_check_found (const RcdInput *self, const CuvRcdMatch *matches,
    const double *scores, const char *name);

#endif
