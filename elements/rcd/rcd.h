/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Region covariance: the C reference. A region is described by the covariance
 * of its pixels' features; the object is where that is nearest the target's.
 *
 * Sums over pixels are exact integers: of cells, then integrals over cells, so
 * that any window between cells takes four reads a sum. */
#ifndef CUV_RCD_H
#define CUV_RCD_H

#include <stdbool.h>
#include <stddef.h>
#include "cuv-frame.h"
#include "rcd/rcd-types.h"

/* NULL, or what is wrong with it. */
const char *cuv_rcd_shape_problem (const CuvRcdShape *shape);

/* ---- sums ---- */

/* Lines between cells: column i has the pixels x[i] .. x[i + 1] - 1, and may
 * have none; rows likewise. */
typedef struct {
  int n_columns, n_rows;
  const int32_t *x, *y; /* n_columns + 1, n_rows + 1 */
} CuvRcdGrid;

/* Sums of each cell, CUV_RCD_SUMS (n) after another, row by row. */
void cuv_rcd_cell_sums (const CuvFrame *frame, CuvRcdFeatures features,
    const CuvRcdGrid *grid, int64_t *cells);

/* Integrals: (n_rows + 1) x (n_columns + 1) times the sums over all cells above
 * and to the left of each crossing of lines. */
void cuv_rcd_integrate (const int64_t *cells, int n_sums,
    const CuvRcdGrid *grid, int64_t *integrals);

/* The sums between two lines across and two down. */
void cuv_rcd_window_sums (const int64_t *integrals, int n_sums,
    const CuvRcdGrid *grid, int left, int top, int right, int bottom,
    int64_t *sums);

/* The sums over a box inside the frame; x and y count from the box. */
void cuv_rcd_box_sums (const CuvFrame *frame, CuvRcdFeatures features,
    const CuvRcdBox *box, int64_t *sums);

/* ---- models ---- */

/* From the covariance of a region of this size, lambda added: fills in what is
 * computed from it. false if it is not positive definite. */
bool cuv_rcd_model_init (CuvRcdModel *self, const double *covariance, int n,
    double width, double height);

/* From sums over a box, of which x and y count from it. false as well if the
 * box has no more pixels than there are features. */
bool cuv_rcd_model_from_sums (CuvRcdModel *self, const int64_t *sums, int n,
    const CuvRcdBox *box, double lambda);

/* ---- search ---- */

/* The windows of a size, in cells, that lie in a part of the search's area,
 * whose cells count from the area's first; n_x and n_y are 0 if none fits. */
CuvRcdLevel cuv_rcd_level (
    const CuvRcdArea *part, int columns, int rows, int step, int first);

static inline int
cuv_rcd_level_windows (const CuvRcdLevel *level)
{
  return level->n_x * level->n_y;
}

/* Window i of a level: its pixels in the frame. */
CuvRcdBox cuv_rcd_level_box (
    const CuvRcdArea *area, const CuvRcdLevel *level, int cell, int i);

/* Whether the centre of box lies outside other. */
bool cuv_rcd_is_elsewhere (const CuvRcdBox *box, const CuvRcdBox *other);

/* The same of n places. */
bool cuv_rcd_is_beyond (const CuvRcdBox *box, const CuvRcdBox *places, int n);

/* Places that a search refines: one where it refines nothing. */
static inline int
cuv_rcd_n_places (const CuvRcdSearch *search)
{
  return search->refine > 0 && search->n_places > 1 ? search->n_places : 1;
}

/* The windows of a round of refinement around a box. Sizes are the box's, then
 * one and two steps smaller and larger; a step is 2^-shift of its longer side,
 * at least a pixel, and in proportion of the other. Windows that do not fit the
 * frame are left out, and a size that is empty. The best is the first with the
 * least score, by size, then row, then column. */
typedef struct {
  CuvRcdBox boxes[CUV_RCD_FINE_WINDOWS];
  bool there[CUV_RCD_FINE_WINDOWS];
} CuvRcdFine;

void cuv_rcd_fine_init (CuvRcdFine *self, const CuvRcdBox *around, int spacing,
    int shift, int width, int height);

/* Rounds go from a spacing to the next until it was 1. */
static inline int
cuv_rcd_next_spacing (int spacing)
{
  return spacing > 1 ? (spacing + 7) / 8 : 0;
}

/* The shift of the round with this spacing: 4 for the first, 6 for those after.
 */
enum { CUV_RCD_FINE_FIRST = 4, CUV_RCD_FINE_NEXT = 6 };

/* Searches one frame the plain way: one match for each target. scores: NULL, or
 * those of all windows of the search before refinement. false if there is no
 * memory. */
bool cuv_rcd_search (const CuvRcdShape *shape, const CuvFrame *frame,
    const CuvRcdSearch *search, double *scores, CuvRcdMatch *matches);

/* ---- the distance map (draw.c) ---- */

/* 255 for distance 0, 128 for half, less further away: 255 * 2^(-distance /
 * half). */
uint8_t cuv_rcd_map_value (double score, CuvRcdMetric metric, double half);

/* Draws over a frame the scores of a level's windows, each at its centre in a
 * rectangle of the level's step; grey, the rest black. */
void cuv_rcd_draw_map (const CuvFrame *frame, const CuvRcdArea *area,
    const CuvRcdLevel *level, int cell, const double *scores,
    CuvRcdMetric metric, double half);

#endif
