/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Types of the Hough transform for lines shared by CPU and GPU: edge detection,
 * the layout of the accumulator, peaks, segments, parameters, results. */
#ifndef CUV_HOUGH_TYPES_H
#define CUV_HOUGH_TYPES_H

#include <stdint.h>

/* ---- edges ---- */

/* Norm of the Sobel gradient (gx, gy). */
typedef enum {
  CUV_CANNY_L1, /* |gx| + |gy| */
  CUV_CANNY_L2, /* sqrt (gx^2 + gy^2) */
} CuvCannyNorm;

typedef struct {
  int32_t blur; /* boolean: first blur by [1 4 6 4 1] / 16 in x and y */
  CuvCannyNorm norm;
  /* hysteresis thresholds of the gradient's norm, 0 .. 2040: pixels above high
   * are edges, pixels above low are edges if connected to one */
  int32_t low, high;
} CuvCannyParams;

typedef enum {
  CUV_EDGES_CANNY,
  CUV_EDGES_INPUT, /* the frame is an edge map: nonzero pixels are edges */
} CuvEdgeSource;

/* ---- the accumulator: a row per direction, a cell per line ---- */

/* Parametrisation of lines. */
typedef enum {
  CUV_LINES_RHO_THETA,
  CUV_LINES_PCLINES, /* parallel coordinates, both halves of TS space, each D
                      * columns wide; a column is a row of the accumulator */
} CuvLineKind;

/* The settings that a CuvHoughLayout is computed from. */
typedef struct {
  CuvLineKind kind;
  int32_t width, height; /* size of the frame, 1 .. CUV_HOUGH_MAX_SIZE */
  int32_t period;        /* rows per 180 degrees; PCLINES: 2 D */
  int32_t inclusive;     /* boolean: repeat the first row at the end */
  /* degrees: rows cover min <= theta < max; -90 <= min < 90, max <= min + 180
   */
  double theta_min, theta_max;
  double rho_step; /* pixels, >= 1 */
  /* degrees: an edge votes only for lines within this angle of its own
   * direction, rounded up to whole bins; 90 = for all lines */
  double window;
  int32_t lines_only; /* boolean: no memory for segments of regions */
} CuvHoughConfig;

#define CUV_HOUGH_MAX_SIZE 16384
#define CUV_HOUGH_MAX_PERIOD 4096

/* A row: all lines of one direction. The line through pixel (x, y) is cell
 * r = (x * dx + y * dy + offset) >> 16. */
typedef struct {
  int32_t dx, dy, offset;        /* in 1/65536 cell; dx and dy per pixel */
  int32_t first_cell, last_cell; /* range of cells that pixels of the frame
                                  * reach */
  int32_t first_bin, n_bins; /* orientation bins whose edges vote in this row,
                              * modulo the layout's n_bins */
  double theta; /* radians: the lines' normal is (cos theta, sin theta) */
  double scale; /* 1/65536 cell per pixel along the normal */
} CuvHoughRow;

/* Directions of normals, modulo 180 degrees: from that of (from_x, from_y) up
 * to below that of (to_x, to_y), which are unit vectors times 2^14. */
typedef struct {
  int32_t all; /* boolean: no limits */
  int32_t from_x, from_y, to_x, to_y;
} CuvThetaRange;

/* Row k, cell r of the accumulator is its element k * n_cells + radius + r. Row
 * k + period is row k with r negated, whether or not it is stored. */
typedef struct {
  CuvHoughConfig config;
  int32_t width, height; /* size of the frame, pixels */
  int32_t n_rows, period;
  int32_t radius, n_cells; /* cells of a row: -radius .. radius */
  /* Edges are binned by gradient direction, modulo 180 degrees: bin g begins at
   * -90 + g * 180 / n_bins degrees. */
  int32_t n_bins;
  CuvHoughRow *rows;   /* owned */
  int16_t *boundaries; /* n_bins pairs x, y: direction at which a bin starts,
                        * times 2^14; owned */
  CuvThetaRange range; /* range of the rows' directions */
} CuvHoughLayout;

/* ---- votes ---- */

/* Voting methods; all count the same votes. */
typedef enum {
  CUV_HOUGH_AUTO,
  CUV_HOUGH_GLOBAL, /* each edge votes in all rows of the whole accumulator */
  CUV_HOUGH_SHARED, /* all edges vote in a few rows at a time, held in the CPU's
                     * cache or the GPU's shared memory */
  CUV_HOUGH_GATHER, /* each cell sums the edge map along its line, which takes
                     * the same time for any number of edges; CPU only */
  CUV_HOUGH_RING,   /* like SHARED, but peaks are found in these rows at once,
                     * so that no accumulator is stored */
} CuvHoughMethod;

/* ---- peaks ---- */

/* Which cells above the threshold are peaks. */
typedef enum {
  CUV_PEAKS_ALL,      /* all of them */
  CUV_PEAKS_CROSS,    /* those with more votes than the cells before them in rho
                       * and in theta, and no fewer than those after them, as in
                       * OpenCV */
  CUV_PEAKS_SQUARE,   /* those with the maximum votes of the n x n cells around
                       * them; of equal ones the first, row by row */
  CUV_PEAKS_DOMINANT, /* those of SQUARE that have at least 2/3 of the votes of
                       * any of the n x n cells around them, n =
                       * CUV_HOUGH_MAX_NEIGHBORHOOD */
} CuvPeakRule;

typedef struct {
  uint32_t threshold; /* votes */
  CuvPeakRule rule;
  /* SQUARE, DOMINANT: n, odd, up to CUV_HOUGH_MAX_NEIGHBORHOOD */
  int32_t neighborhood;
} CuvPeakParams;

#define CUV_HOUGH_MAX_NEIGHBORHOOD 31

typedef struct {
  int32_t k; /* row, 0 .. n_rows - 1 */
  int32_t r; /* cell, -radius .. radius */
  uint32_t votes;
} CuvHoughPeak;

/* ---- segments ---- */

typedef struct {
  int32_t min_length; /* minimum length in pixels along the line */
  int32_t max_gap;    /* maximum number of columns, or of rows if the line is
                       * steep, without an edge */
} CuvSegmentParams;

/* The part of a peak's line from column `first` to `last` of the frame if |dy|
 * >= |dx| in the peak's row, otherwise from row `first` to `last`. */
typedef struct {
  int32_t peak; /* index into peaks */
  int32_t first, last;
} CuvHoughSegment;

/* The segment of a region of edges: its ends in 1/256 pixel, and the number of
 * edges. */
typedef struct {
  int32_t x1, y1, x2, y2;
  uint32_t votes;
} CuvLineSegment;

/* ---- a run ---- */

#define CUV_HOUGH_MAX_LINES 4096
#define CUV_HOUGH_MAX_SEGMENTS 8192

/* Parameters that may change from frame to frame. */
typedef struct {
  CuvEdgeSource source;
  CuvCannyParams canny;
  CuvHoughMethod method;
  CuvPeakParams peaks;
  int32_t max_lines; /* 1 .. CUV_HOUGH_MAX_LINES */
  int32_t segments;  /* boolean: find segments */
  CuvSegmentParams segment;
} CuvHoughParams;

/* Debug views, for tuning. */
typedef enum {
  CUV_HOUGH_DRAW_NONE,
  CUV_HOUGH_DRAW_EDGES,       /* white on black */
  CUV_HOUGH_DRAW_ACCUMULATOR, /* theta from left to right, rho downwards */
} CuvHoughDraw;

/* The results of a run, valid until the next run. */
typedef struct {
  const CuvHoughPeak *peaks; /* most votes first, then by row and cell */
  int32_t n_peaks;           /* up to max_lines */
  int32_t n_found; /* peaks, or segments of regions, before the limit */
  const CuvHoughSegment *segments; /* ordered by peak, then along the line */
  int32_t n_segments;              /* up to CUV_HOUGH_MAX_SEGMENTS */
  int32_t n_segments_found;
  /* instead of peaks and segments, if cuv_hough_uses_regions(): up to
   * max_lines, most votes first, then by the first end's row and column */
  const CuvLineSegment *line_segments;
  int64_t n_edges, n_votes;
  CuvHoughMethod method;              /* method that was used, not AUTO */
  float edges_us, votes_us, peaks_us; /* duration in microseconds */
} CuvHoughResult;

#endif
