/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What CPU and GPU share of the line detector: parameters, the layout of lines,
 * results. */
#ifndef CUV_HOUGH_TYPES_H
#define CUV_HOUGH_TYPES_H

#include <stdint.h>

/* ---- edges ---- */

typedef enum {
  CUV_CANNY_L1, /* |gx| + |gy| */
  CUV_CANNY_L2, /* the square root of gx^2 + gy^2 */
} CuvCannyNorm;

typedef struct {
  int32_t blur; /* 1 = before anything else, by [1 4 6 4 1] both ways */
  CuvCannyNorm norm;
  /* limits of the gradient's norm, 0 .. 2040: above high a pixel is an edge,
   * above low it is one if it is connected to one */
  int32_t low, high;
} CuvCannyParams;

typedef enum {
  CUV_EDGES_CANNY,
  CUV_EDGES_INPUT, /* the frame is a map: edges are what is not 0 */
} CuvEdgeSource;

/* ---- the layout of lines ---- */

/* How lines are numbered. */
typedef enum {
  CUV_LINES_RHO_THETA,
  CUV_LINES_PCLINES, /* parallel coordinates, both halves of TS layout */
} CuvLineKind;

/* What a layout is made from. */
typedef struct {
  CuvLineKind kind;
  int32_t width, height; /* of the frame, 1 .. CUV_HOUGH_MAX_SIZE */
  int32_t period;        /* rows in 180 degrees; PCLINES: 2 D */
  int32_t inclusive;     /* 1 = one row more, the first again */
  /* degrees: rows are in min <= theta < max; min from -90 up to below 90, max
   * at most 180 more */
  double theta_min, theta_max;
  double rho_step; /* pixels, >= 1 */
  /* degrees: an edge votes for the lines so far from its own direction, up to
   * that of a bin more; 90 = for all */
  double window;
} CuvHoughConfig;

#define CUV_HOUGH_MAX_SIZE 16384
#define CUV_HOUGH_MAX_PERIOD 4096

/* A row: all lines of a direction. A pixel's line is its cell
 * r = (x * dx + y * dy + offset) >> 16. */
typedef struct {
  int32_t dx, dy, offset;
  int32_t first_cell, last_cell; /* that pixels of the frame have */
  int32_t first_bin, n_bins;     /* of the edges that vote here */
  double theta; /* radians: the angle of the lines' normal, (cos, sin) */
  double scale; /* of cells: 2^-16 per pixel of distance */
} CuvHoughRow;

/* Row k, cell r of the accumulator is its element k * n_cells + radius + r.
 * Row k + period is row k with r negated, whether it exists or not. */
typedef struct {
  CuvHoughConfig config;
  int32_t width, height;
  int32_t n_rows, period;
  int32_t radius, n_cells; /* cells -radius .. radius */
  /* Edges are grouped by the direction of their gradient, modulo 180 degrees:
   * bin g goes from -90 + g * 180 / n_bins degrees to the next. */
  int32_t n_bins;
  CuvHoughRow *rows;   /* owned */
  int16_t *boundaries; /* x, y of where each bin begins, in 2^-14; owned */
} CuvHoughLayout;

/* ---- votes ---- */

/* Ways to count votes; all count the same. */
typedef enum {
  CUV_HOUGH_AUTO,
  CUV_HOUGH_GLOBAL, /* each edge adds to the accumulator in memory */
  CUV_HOUGH_SHARED, /* slices of a few rows in fast memory */
  CUV_HOUGH_GATHER, /* each cell counts its pixels: takes the same time for any
                     * frame */
  CUV_HOUGH_RING,   /* no accumulator: a few rows at a time, and peaks from them
                     */
} CuvHoughMethod;

/* ---- peaks ---- */

/* What a peak is: a cell with more votes than the threshold, and */
typedef enum {
  CUV_PEAKS_ALL,    /* nothing else */
  CUV_PEAKS_CROSS,  /* more than the cells before it in rho and in theta, and no
                     * less than those after it, as OpenCV has it */
  CUV_PEAKS_SQUARE, /* the most of the n x n cells around it; of equal ones the
                     * first, row by row */
} CuvPeakRule;

typedef struct {
  uint32_t threshold;
  CuvPeakRule rule;
  int32_t
      neighborhood; /* of SQUARE: n, odd, up to CUV_HOUGH_MAX_NEIGHBORHOOD */
} CuvPeakParams;

#define CUV_HOUGH_MAX_NEIGHBORHOOD 31

typedef struct {
  int32_t k; /* row */
  int32_t r; /* cell */
  uint32_t votes;
} CuvHoughPeak;

/* ---- segments ---- */

typedef struct {
  int32_t min_length; /* pixels */
  int32_t max_gap;    /* pixels without an edge, across or down */
} CuvSegmentParams;

/* A piece of a peak's line: from one pixel to another along x if the line is
 * rather across than down (|dy| >= |dx| in its row), else along y. */
typedef struct {
  int32_t peak; /* its index */
  int32_t first, last;
} CuvHoughSegment;

/* ---- a run ---- */

#define CUV_HOUGH_MAX_LINES 4096
#define CUV_HOUGH_MAX_SEGMENTS 8192

/* What may differ from frame to frame. */
typedef struct {
  CuvEdgeSource source;
  CuvCannyParams canny;
  CuvHoughMethod method;
  CuvPeakParams peaks;
  int32_t max_lines; /* 1 .. CUV_HOUGH_MAX_LINES */
  int32_t segments;  /* 1 = wanted */
  CuvSegmentParams segment;
} CuvHoughParams;

/* Pictures of what is between frame and lines, for people who tune. */
typedef enum {
  CUV_HOUGH_DRAW_NONE,
  CUV_HOUGH_DRAW_EDGES,
  CUV_HOUGH_DRAW_ACCUMULATOR, /* theta from left to right, rho downwards */
} CuvHoughDraw;

/* Valid until the next run. */
typedef struct {
  const CuvHoughPeak *peaks;       /* most votes first, then by row and cell */
  int32_t n_peaks;                 /* up to max_lines */
  int32_t n_found;                 /* peaks that there were */
  const CuvHoughSegment *segments; /* by peak, then along the line */
  int32_t n_segments;              /* up to CUV_HOUGH_MAX_SEGMENTS */
  int32_t n_segments_found;
  int64_t n_edges, n_votes;
  CuvHoughMethod method; /* that was used, not AUTO */
  float edges_us, votes_us, peaks_us;
} CuvHoughResult;

#endif
