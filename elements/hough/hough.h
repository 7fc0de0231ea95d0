/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The Hough transform for lines: the C reference. Each edge pixel votes for all
 * lines through it.
 *
 * R. Duda, P. Hart, Use of the Hough Transformation to Detect Lines and Curves
 * in Pictures, CACM 1972. */
#ifndef CUV_HOUGH_H
#define CUV_HOUGH_H

#include <stdbool.h>
#include <stddef.h>
#include "canny.h"
#include "hough/hough-types.h"

/* ---- the space (space.c) ---- */

/* Returns NULL, or what is wrong with the shape. */
const char *cuv_hough_space_init (
    CuvHoughSpace *self, const CuvHoughShape *shape);
void cuv_hough_space_clear (CuvHoughSpace *self);

static inline size_t
cuv_hough_n_cells (const CuvHoughSpace *self)
{
  return (size_t) self->n_rows * (size_t) self->n_cells;
}

/* The cell of a pixel in a row: -radius .. radius. */
static inline int32_t
cuv_hough_cell (const CuvHoughRow *row, int x, int y)
{
  return (x * row->dx + y * row->dy + row->offset) >> 16;
}

/* The least v with v * d >= n; d > 0. */
static inline int64_t
cuv_hough_divide_up (int64_t n, int64_t d)
{
  return n >= 0 ? (n + d - 1) / d : -(-n / d);
}

/* The group of an edge by its gradient, which is not 0. */
int cuv_hough_group (const CuvHoughSpace *self, int gx, int gy);

/* The row that k is, which may be before the first and after the last one; -1
 * if there is none. Its cell sign * r is r of k. */
int cuv_hough_wrap (const CuvHoughSpace *self, int k, int *sign);

/* Whether edges of a group vote in a row. */
static inline bool
cuv_hough_votes_for (
    const CuvHoughSpace *self, int group, const CuvHoughRow *row)
{
  int behind = group - row->first_group;

  return (behind < 0 ? behind + self->n_groups : behind) < row->n_groups;
}

/* The line in the middle of a cell: x cos (theta) + y sin (theta) = rho, of
 * pixels counted from 0 at the top left; theta in radians, -pi/2 <= theta <
 * pi/2. */
void cuv_hough_line (
    const CuvHoughSpace *self, int k, int r, double *rho, double *theta);

/* Cuts a line down to a frame: the points where it enters and leaves. Returns
 * whether there are any; a line along the border is in it. */
bool cuv_hough_clip (double rho, double theta, int width, int height,
    double points[4] /* x1 y1 x2 y2 */);

/* ---- votes ---- */

/* Edges: y << 16 | x; and their groups, where the space has a window. */
typedef struct {
  const uint32_t *pixels;
  const uint16_t *groups; /* NULL = all vote for everything */
  size_t n;
} CuvEdgeList;

/* The edge pixels of a map, those that are not 0, row by row. Returns how many
 * there are; pixels may be NULL. */
size_t cuv_hough_list_edges (
    const uint8_t *edges, int width, int height, int stride, uint32_t *pixels);

/* The groups of pixels that are edges, by the gradients found with them. */
void cuv_hough_list_groups (const CuvHoughSpace *self, const CuvCanny *canny,
    const uint32_t *pixels, size_t n, uint16_t *groups);

/* Counts votes in an accumulator of n_rows x n_cells. Returns how many. */
uint64_t cuv_hough_vote (
    const CuvHoughSpace *self, const CuvEdgeList *list, uint32_t *accumulator);

/* Adds the votes for one row, those for cell r to middle[sign * r]. */
uint64_t cuv_hough_vote_row (const CuvHoughSpace *self, const CuvHoughRow *row,
    const CuvEdgeList *list, uint32_t *middle, int sign);

/* The same votes without a list, of a map of width x height; no window. */
void cuv_hough_gather (
    const CuvHoughSpace *self, const uint8_t *edges, uint32_t *accumulator);

/* ---- peaks ---- */

/* The best max peaks; peaks may be NULL if that is 0. */
typedef struct {
  CuvHoughPeak *peaks;
  size_t max;
  size_t n; /* that there were, which may be more */
} CuvPeakList;

/* The peaks of an accumulator, most votes first, then by row and cell. */
void cuv_hough_peaks (const CuvHoughSpace *self, const uint32_t *accumulator,
    const CuvPeakParams *params, CuvPeakList *list);

/* Votes and peaks at once, in memory for a few rows: the same peaks. Returns
 * whether there was memory. */
bool cuv_hough_ring (const CuvHoughSpace *self, const CuvEdgeList *list,
    const CuvPeakParams *params, CuvPeakList *peaks, uint64_t *n_votes);

/* The pieces, one at a time: a row as it is seen from another one. Its votes
 * for cell r are middle[sign * r]. */
typedef struct {
  const uint32_t *middle; /* NULL = no votes */
  int sign;
} CuvRowView;

/* How many rows on either side of a peak its rule looks at. */
int cuv_hough_reach (const CuvPeakParams *params);

/* The views of rows k - reach .. k + reach of an accumulator. */
void cuv_hough_view_rows (const CuvHoughSpace *self,
    const uint32_t *accumulator, int k, int reach,
    CuvRowView *views /* -reach .. reach */);

/* Adds the peaks of row k, whose view is views[0], to a list that is begun with
 * n = 0 and sorted at the end. */
void cuv_hough_add_peaks (const CuvHoughSpace *self,
    const CuvRowView *views /* -reach .. reach */, int k,
    const CuvPeakParams *params, CuvPeakList *list);
void cuv_hough_sort_peaks (CuvPeakList *list);

/* The same of one cell; and of what is a peak. */
void cuv_hough_add_peak (const CuvHoughSpace *self, const CuvRowView *views,
    int k, int r, const CuvPeakParams *params, CuvPeakList *list);
void cuv_hough_keep_peak (CuvPeakList *list, const CuvHoughPeak *peak);

/* ---- segments ---- */

/* The segments of peaks, along edge pixels whose cell in the peak's row is the
 * peak's or a neighbour. Returns how many there are; the first max are written.
 */
size_t cuv_hough_segments (const CuvHoughSpace *self, const uint8_t *edges,
    const CuvHoughPeak *peaks, size_t n_peaks, const CuvSegmentParams *params,
    CuvHoughSegment *segments, size_t max);

/* The end points of a segment: on its line, or on the frame's border where the
 * line leaves it beside the last edge pixels. */
void cuv_hough_segment_ends (const CuvHoughSpace *self,
    const CuvHoughPeak *peak, const CuvHoughSegment *segment,
    double points[4] /* x1 y1 x2 y2 */);

#endif
