/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Region covariance tracking, and a map of this folder.
 *
 * A region is described by the covariance matrix of its pixels' features. A
 * search compares it with the covariances of windows of many positions and
 * sizes; the nearest window is the object.
 *
 * A frame: gstrcdtrack.c -> gstrcdtargets.c (the lock, new targets) ->
 * track/tracker.c, which plans the search -> backend.c -> cpu/rcd-cpu.c, or
 * cuda/rcd/rcd.cu if the frame is in CUDA memory, and the filters of
 * correlation/, or cuda/rcd/filter.cu -> matches and places -> tracker.c, which
 * decides, and lets filters learn -> gstrcdconfirm.c, gstrcdregions.c: metadata
 * and messages.
 *
 * reference/, the definition in plain C:
 *   sums.c                sums of features, integral images
 *   model.c               covariance of a target, derived values
 *   windows.c             positions and sizes of windows
 *   search.c              a whole search, and limits of its config
 *   crop.c                what a filter reads of a frame
 *   distance-map.c        the picture of distances that draw=distance-map shows
 *   ../../cuda/rcd/rcd-pixel.h, rcd-distance.h: features of a pixel, distance
 *   of two covariances; one source for gcc and nvcc
 * cpu/, the same search made fast:
 *   rcd-cpu.c             a search on several threads
 *   rcd-cpu-memory.c      its memory
 *   integrals.c           integral images, block by block
 *   crop.c                crops, row by row
 *   refinement.c          refinement of the best windows
 *   rcd-dsp.c             function table of the inner loops, in C
 *   x86/score-avx2.c      scores of windows in AVX2
 *   x86/sums-avx2.c       and sums over pixels
 *   rcd-dsp-template.h    functions compiled for C and AVX2
 * correlation/, a correlation filter that follows a target:
 *   places.c              places, crops, masks, labels
 *   correlation.c         finding and learning on the CPU
 *   filter-dsp.c          function table in C
 *   ../cpu/x86/filter-avx2.c: the same in AVX2
 *   filter-template.h     the table, made of these templates:
 *   hog-template.h        features of cells
 *   fourier-template.h    their transforms
 *   solve-template.h      the filter of a model, and its responses
 *   four.h                vectors that they share
 * track/, targets over frames:
 *   tracker.c             one frame: search, decide, update
 *   tracker-match.c       what a match means for a target
 *   tracker-follow.c      filters, and how they and matches are combined
 *   tracker-plan.c        which windows to search
 *   tracker-targets.c     adding and removing targets
 *   update.c              model update
 *   spd.c                 symmetric positive definite matrices and their means
 * backend.c               searches and filters on the CPU or the GPU (cuda/rcd)
 * the element:
 *   plugin.c              registers it
 *   gstrcdtrack.c         frames, signals, statistics
 *   gstrcdtracksettings.c its properties
 *   gstrcdtargets.c       the tracker behind a lock; where targets come from
 *   gstrcdpicture.c       the picture of a target
 *   gstrcdregions.c       objects of a frame, tracks as metadata
 *   gstrcdconfirm.c       targets of a detector, until they are confirmed
 */
#ifndef CUV_RCD_H
#define CUV_RCD_H

#include <stdbool.h>
#include <stddef.h>
#include "cuv-frame.h"
#include "rcd/rcd-types.h"

/* Returns NULL, or the problem of the first invalid field and what to do. */
const char *cuv_rcd_config_problem (const CuvRcdConfig *config);

/* ---- sums (reference/sums.c) ----
 *
 * All sums are exact integers: covariance is a small difference of large
 * numbers, which single precision would lose. */

/* An uneven grid. Column i has the pixels x[i] .. x[i + 1] - 1 and may be
 * empty; rows likewise. */
typedef struct {
  int n_columns, n_rows;
  const int32_t *x, *y; /* n_columns + 1, n_rows + 1; ascending */
} CuvRcdGrid;

/* Computes CUV_RCD_SUMS (n) sums for each cell, row by row. */
void cuv_rcd_cell_sums (const CuvFrame *frame, CuvRcdFeatures features,
    const CuvRcdGrid *grid, int64_t *cells);

/* Computes integral images of the cells: (n_rows + 1) x (n_columns + 1) entries
 * of n_sums sums each; entry (r, c) is the sum over rows < r and columns <
 * c. */
void cuv_rcd_integrate (const int64_t *cells, int n_sums,
    const CuvRcdGrid *grid, int64_t *integrals);

/* Computes the sums over columns left .. right - 1 and rows top .. bottom -
 * 1. */
void cuv_rcd_window_sums (const int64_t *integrals, int n_sums,
    const CuvRcdGrid *grid, int left, int top, int right, int bottom,
    int64_t *sums);

/* Computes the sums over a box inside the frame; the features x and y count
 * from the box's top left pixel. */
void cuv_rcd_box_sums (const CuvFrame *frame, CuvRcdFeatures features,
    const CuvRcdBox *box, int64_t *sums);

/* ---- models (reference/model.c) ---- */

/* Computes the derived fields. covariance: packed, of a region of width x
 * height pixels, with lambda added. Returns false if it is not positive
 * definite. */
bool cuv_rcd_model_init (CuvRcdModel *self, const double *covariance, int n,
    double width, double height);

/* Initialises a model from sums as cuv_rcd_box_sums() computes them. Returns
 * false also if the box has fewer than n + 1 pixels. */
bool cuv_rcd_model_from_sums (CuvRcdModel *self, const int64_t *sums, int n,
    const CuvRcdBox *box, double lambda);

/* ---- windows (reference/windows.c) ---- */

/* Returns all windows of columns x rows cells within a part of the search area,
 * step cells apart. first: number of the first window. n_x and n_y are 0 if
 * none fits. */
CuvRcdLevel cuv_rcd_level (
    const CuvRcdArea *part, int columns, int rows, int step, int first);

static inline int
cuv_rcd_level_windows (const CuvRcdLevel *level)
{
  return level->n_x * level->n_y;
}

/* Returns window i of a level, 0 <= i < cuv_rcd_level_windows(), in frame
 * pixels. */
CuvRcdBox cuv_rcd_level_box (
    const CuvRcdArea *area, const CuvRcdLevel *level, int cell, int i);

/* Returns the intersection over union of two boxes, 0 .. 1. */
double cuv_rcd_overlap (const CuvRcdBox *a, const CuvRcdBox *b);

/* Whether the centre of box lies outside other. */
bool cuv_rcd_centre_is_outside (const CuvRcdBox *box, const CuvRcdBox *other);

/* Whether the centre of box lies outside all n others. */
bool cuv_rcd_centre_is_outside_all (
    const CuvRcdBox *box, const CuvRcdBox *others, int n);

/* ---- refinement (reference/windows.c) ---- */

/* Returns how many candidates a search refines; 1 without refinement. */
static inline int
cuv_rcd_n_candidates (const CuvRcdSearch *search)
{
  return search->refine > 0 && search->n_candidates > 1 ? search->n_candidates
                                                        : 1;
}

/* The windows of one round. Sizes are the box's, then one and two steps smaller
 * and larger; a step is 2^-shift of the longer side, at least a pixel, and the
 * shorter side keeps the proportions. Windows that are empty or do not fit the
 * frame are invalid. The best window has the lowest score; ties go to the first
 * by size, row and column. */
typedef struct {
  CuvRcdBox boxes[CUV_RCD_FINE_WINDOWS];
  bool valid[CUV_RCD_FINE_WINDOWS];
} CuvRcdFineWindows;

/* Initialises the windows of a round. spacing: pixels between windows; width,
 * height: the frame's. */
void cuv_rcd_fine_windows_init (CuvRcdFineWindows *self,
    const CuvRcdBox *around, int spacing, int shift, int width, int height);

/* ---- search (reference/search.c) ---- */

/* Returns a match without a window; its scores are infinite. */
CuvRcdMatch cuv_rcd_no_match (void);

/* Finds the best of a target's windows whose centres lie outside all n
 * candidates. scores: by window number. Sets all fields but second and sums. */
void cuv_rcd_find_next (const CuvRcdSearch *search, const CuvRcdTarget *target,
    int cell, const double *scores, const CuvRcdBox *candidates, int n,
    CuvRcdMatch *match);

/* Searches one frame: one match per target. scores: NULL, or receives the
 * scores of all windows before refinement, config->max_windows of them. Returns
 * false if out of memory. */
bool cuv_rcd_search (const CuvRcdConfig *config, const CuvFrame *frame,
    const CuvRcdSearch *search, double *scores, CuvRcdMatch *matches);

/* ---- crops (reference/crop.c) ---- */

/* Computes the first side x side pixels of a crop, row by row. side <=
 * CUV_RCD_CROP. */
void cuv_rcd_crop (
    const CuvFrame *frame, const CuvRcdCrop *crop, int side, uint8_t *pixels);

/* ---- distance map (reference/distance-map.c) ---- */

/* Returns the grey value of a distance d: 255 * 2^(-d / half), 255 for 0. */
uint8_t cuv_rcd_map_value (double score, CuvRcdMetric metric, double half);

/* Draws the scores of a level's windows over a frame: each a grey rectangle of
 * the level's step around the window's centre, black elsewhere. */
void cuv_rcd_draw_map (const CuvFrame *frame, const CuvRcdArea *area,
    const CuvRcdLevel *level, int cell, const double *scores,
    CuvRcdMetric metric, double half);

#endif
