/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The Hough transform for lines, and a map of this folder.
 *
 * A frame: gsthoughlines.c -> backend.c -> cpu/hough-cpu.c, or
 * cuda/hough/hough.cu if it is in CUDA memory -> lines or segments ->
 * gsthoughlines.c, which attaches them as metadata.
 *
 *   plugin.c                registers the element
 *   gsthoughlines.c         the element: results to metadata and messages
 *   gsthoughlinessettings.c its properties, converted to config and parameters
 *   backend.c               CPU or CUDA, regions of interest, lines of peaks
 *   reference/              the definition, in plain C:
 *     canny.c                 edges
 *     layout.c                rows and cells of the accumulator
 *     votes.c                 votes of edges for cells
 *     peaks.c                 lines: the cells with the most votes
 *     segments.c              the parts of lines that have edges
 *     regions.c               segments of edges whose directions are known
 *     draw.c                  pictures of edges and votes
 *   cpu/                    the same made fast:
 *     hough-cpu.c             runs the stages and chooses the voting method
 *     memory.c                all memory, allocated once
 *     edges.c                 Canny, and edges sorted by direction
 *     votes.c                 votes and peaks, by each method
 *     row-pairs.c             pairs of rows that one pass votes for
 *     hough-dsp.c             function table of the inner loops, in C
 *     x86/canny-avx2.c        inner loops of edges
 *     x86/votes-avx2.c        and of votes for rows and pairs of rows
 *     x86/gather-avx2.c       and of method GATHER
 *   ../../cuda/hough/       the same on the GPU
 *
 * Each edge pixel votes for all lines through it, each a cell of the
 * accumulator: R. Duda, P. Hart, Use of the Hough Transformation to Detect
 * Lines and Curves in Pictures, CACM 1972. What this header declares is the C
 * reference; all other versions return the same bits. */
#ifndef CUV_HOUGH_H
#define CUV_HOUGH_H

#include <stdbool.h>
#include <stddef.h>
#include "reference/canny.h"
#include "hough/hough-types.h"

static inline int
cuv_min (int a, int b)
{
  return a < b ? a : b;
}

static inline int
cuv_max (int a, int b)
{
  return a > b ? a : b;
}

/* ---- the accumulator's layout (layout.c) ---- */

/* Returns NULL, or why config is invalid. */
const char *cuv_hough_layout_init (
    CuvHoughLayout *self, const CuvHoughConfig *config);
void cuv_hough_layout_clear (CuvHoughLayout *self);

static inline size_t
cuv_hough_n_cells (const CuvHoughLayout *self)
{
  return (size_t) self->n_rows * (size_t) self->n_cells;
}

/* Returns the cell of a pixel in a row: -radius .. radius. */
static inline int32_t
cuv_hough_cell (const CuvHoughRow *row, int x, int y)
{
  return (x * row->dx + y * row->dy + row->offset) >> 16;
}

/* Returns the orientation bin of an edge whose gradient is (gx, gy), not 0. */
int cuv_hough_orientation_bin (const CuvHoughLayout *self, int gx, int gy);

/* Whether the normal of the bin points against the gradient, which is not 0. */
static inline bool
cuv_hough_is_turned (int gx, int gy)
{
  return gx < 0 || (gx == 0 && gy > 0);
}

/* Maps a row index outside 0 .. n_rows - 1 into this range; returns -1 if the
 * layout has no such row. Cell r of k is cell *sign * r of that row. */
int cuv_hough_wrap (const CuvHoughLayout *self, int k, int *sign);

/* Whether edges of an orientation bin vote in a row. */
static inline bool
cuv_hough_votes_for (
    const CuvHoughLayout *self, int bin, const CuvHoughRow *row)
{
  int behind = bin - row->first_bin;

  return (behind < 0 ? behind + self->n_bins : behind) < row->n_bins;
}

/* Computes the line at the centre of a cell: x cos (theta) + y sin (theta) =
 * rho, pixels counted from 0 at the top left; theta in radians, -pi/2 <= theta
 * < pi/2. */
void cuv_hough_line (
    const CuvHoughLayout *self, int k, int r, double *rho, double *theta);

/* Clips a line to a frame: finds the points where it enters and leaves, if any.
 * A line along the border is inside. */
bool cuv_hough_clip (double rho, double theta, int width, int height,
    double points[4] /* x1 y1 x2 y2 */);

/* ---- votes ---- */

/* Edge pixels, y << 16 | x, and their orientation bins. */
typedef struct {
  const uint32_t *pixels;
  const uint16_t *bins; /* NULL: all edges vote in all rows */
  size_t n;
} CuvEdgeList;

/* Lists the pixels of a map that are not 0, row by row. Returns their number;
 * pixels may be NULL. */
size_t cuv_hough_list_edges (
    const uint8_t *edges, int width, int height, int stride, uint32_t *pixels);

/* Finds the orientation bins of edge pixels, by the gradients of canny. */
void cuv_hough_list_bins (const CuvHoughLayout *self, const CuvCanny *canny,
    const uint32_t *pixels, size_t n, uint16_t *bins);

/* Finds the directions of edge pixels: the bin, plus n_bins where
 * cuv_hough_is_turned(). */
void cuv_hough_list_directions (const CuvHoughLayout *self,
    const CuvCanny *canny, const uint32_t *pixels, size_t n,
    uint16_t *directions);

/* Counts votes in an accumulator of n_rows x n_cells, which is cleared first.
 * Returns the number of votes. */
uint64_t cuv_hough_vote (
    const CuvHoughLayout *self, const CuvEdgeList *list, uint32_t *accumulator);

/* Adds the votes for one row, those for cell r to middle[sign * r]. */
uint64_t cuv_hough_vote_row (const CuvHoughLayout *self, const CuvHoughRow *row,
    const CuvEdgeList *list, uint32_t *middle, int sign);

/* ---- peaks ---- */

/* A list of the best peaks; peaks may be NULL if max is 0. */
typedef struct {
  CuvHoughPeak *peaks;
  size_t max;
  size_t n; /* peaks found, which may be more than max */
} CuvPeakList;

/* Finds the peaks of an accumulator, most votes first, then by row and cell. */
void cuv_hough_peaks (const CuvHoughLayout *self, const uint32_t *accumulator,
    const CuvPeakParams *params, CuvPeakList *list);

/* A row as seen from a neighbouring one, whose rho may be negated: the votes
 * for cell r are middle[sign * r]. */
typedef struct {
  const uint32_t *middle; /* NULL = no votes */
  int sign;
} CuvRowView;

/* Returns the number of rows on either side of a peak that its rule
 * compares. */
int cuv_hough_peak_radius (const CuvPeakParams *params);

/* Sets the views of rows k - reach .. k + reach of an accumulator. */
void cuv_hough_view_rows (const CuvHoughLayout *self,
    const uint32_t *accumulator, int k, int reach,
    CuvRowView *views /* -reach .. reach */);

/* Adds the peaks of row k, whose view is views[0], to a list. Set n = 0 before
 * the first row and sort the list after the last one. */
void cuv_hough_add_peaks (const CuvHoughLayout *self,
    const CuvRowView *views /* -reach .. reach */, int k,
    const CuvPeakParams *params, CuvPeakList *list);
void cuv_hough_sort_peaks (CuvPeakList *list);

/* Adds cell r of row k if it is a peak. */
void cuv_hough_add_peak (const CuvHoughLayout *self, const CuvRowView *views,
    int k, int r, const CuvPeakParams *params, CuvPeakList *list);

/* Adds a peak, unless max better ones are listed. */
void cuv_hough_keep_peak (CuvPeakList *list, const CuvHoughPeak *peak);

/* ---- segments ---- */

/* Finds the segments of peaks, along edge pixels whose cell in the peak's row
 * is the peak's or a neighbour. Returns their number; the first max are
 * written. */
size_t cuv_hough_segments (const CuvHoughLayout *self, const uint8_t *edges,
    const CuvHoughPeak *peaks, size_t n_peaks, const CuvSegmentParams *params,
    CuvHoughSegment *segments, size_t max);

/* Computes the end points of a segment: on its line, or on the frame's border
 * where the line leaves it beside the last edge pixels. */
void cuv_hough_segment_ends (const CuvHoughLayout *self,
    const CuvHoughPeak *peak, const CuvHoughSegment *segment,
    double points[4] /* x1 y1 x2 y2 */);

/* ---- regions ---- */

/* Whether segments come from regions, which are adjacent edges of similar
 * directions, and not from lines: J. B. Burns, A. R. Hanson, E. M. Riseman,
 * Extracting Straight Lines, PAMI 1986, on which LSD is based as well. */
static inline bool
cuv_hough_uses_regions (
    const CuvHoughLayout *self, const CuvHoughParams *params)
{
  return params->segments && params->source == CUV_EDGES_CANNY
      && self->config.window < 90 && !self->config.lines_only;
}

typedef struct _CuvRegions CuvRegions;

/* Allocates memory for frames of a size; returns NULL if out of memory. */
CuvRegions *cuv_regions_new (int width, int height);
void cuv_regions_free (CuvRegions *self); /* NULL is allowed */

/* Finds the segments of a list of edges whose bins are directions. Writes the
 * best ones, up to max, and returns the number of all. */
size_t cuv_regions_find (CuvRegions *self, const CuvHoughLayout *layout,
    const CuvEdgeList *list, const CuvHoughParams *params,
    CuvLineSegment *segments, size_t max);

/* ---- debug views ---- */

/* Draws edges, a map of the frame's size. */
void cuv_hough_draw_edges (const CuvFrame *frame, const uint8_t *edges);

/* Draws votes. Each pixel shows the maximum of its cells: white above the
 * threshold, otherwise up to 3/4 as bright. */
void cuv_hough_draw_votes (const CuvFrame *frame, const CuvHoughLayout *layout,
    const uint32_t *accumulator, uint32_t threshold);

#endif
