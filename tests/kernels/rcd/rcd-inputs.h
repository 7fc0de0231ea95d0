/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is searched by all versions of the tracker, and what the C reference
 * finds. */
#ifndef RCD_INPUTS_H
#define RCD_INPUTS_H

#include "cuvcheck.h"
#include "rcd.h"

typedef struct {
  int width, height;
} RcdSize;

/* Of frames, from one pixel on. */
extern const RcdSize rcd_sizes[];
enum { RCD_N_SIZES = 9 };

extern const int rcd_cells[];
enum { RCD_N_CELLS = 8 };

typedef struct {
  CuvCheckFrame frame;
  CuvRcdConfig shape;
  CuvRcdSearch search; /* of the targets below */
  CuvRcdTarget targets[CUV_RCD_MAX_TARGETS];
  /* of the reference, after rcd_input_search() */
  double *scores;
  CuvRcdMatch matches[CUV_RCD_MAX_TARGETS];
} RcdInput;

/* A searcher's shape for frames of this size, of random kind. */
CuvRcdConfig rcd_random_shape (int width, int height, int cell);

/* Makes a frame; its whole cells are the search's area. */
void rcd_input_init (RcdInput *self, const CuvRcdConfig *shape,
    const char *format, CuvCheckFill fill);
void rcd_input_clear (RcdInput *self);

/* The same of random kind: also parts of frames as the frame and as the area,
 * refinement, up to three targets that look like parts of the frame; those that
 * cannot be models get some other covariance. Names the case. */
void rcd_input_init_random (
    RcdInput *self, const char *format, RcdSize size, int cell);
void rcd_input_name (const RcdInput *self, const char *format);

/* Adds a target that looks like a box of the frame, with no levels yet. false
 * if it cannot be a model. */
bool rcd_input_add (RcdInput *self, const CuvRcdBox *box);

/* Adds a level of windows to the last target. */
void rcd_input_add_level (RcdInput *self, int columns, int rows, int step);

/* Levels for these scales of a target of this size, as the tracker's. */
void rcd_input_add_scales (RcdInput *self, int width, int height, int step,
    const double *scales, int n_scales);

/* What the reference finds. */
void rcd_input_search (RcdInput *self);

/* The matches are the reference's, and so are scores, bit for bit; NULL: not
 * looked at. */
void rcd_check_found (const RcdInput *self, const CuvRcdMatch *matches,
    const double *scores, const char *name);

#endif
