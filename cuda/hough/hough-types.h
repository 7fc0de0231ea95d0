/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Types of the line detector shared by CPU and GPU. */
#ifndef CUV_HOUGH_TYPES_H
#define CUV_HOUGH_TYPES_H

#include <stdint.h>

/* ---- edges ---- */

typedef enum {
  CUV_CANNY_L1, /* |gx| + |gy| */
  CUV_CANNY_L2, /* the square root of gx^2 + gy^2 */
} CuvCannyNorm;

typedef struct {
  int32_t blur; /* 1 = first blur by [1 4 6 4 1] in x and y */
  CuvCannyNorm norm;
  /* hysteresis thresholds of the gradient's norm, 0 .. 2040: pixels above high
   * are edges, those above low if connected to one */
  int32_t low, high;
} CuvCannyParams;

typedef enum {
  CUV_EDGES_CANNY,
  CUV_EDGES_INPUT, /* the frame is an edge map: nonzero pixels are edges */
} CuvEdgeSource;

/* ---- the layout of lines ---- */

/* Parametrisation of lines. */
typedef enum {
  CUV_LINES_RHO_THETA,
  CUV_LINES_PCLINES, /* parallel coordinates, both halves of TS space */
} CuvLineKind;

/* The request that a CuvHoughLayout is computed from. */
typedef struct {
  CuvLineKind kind;
  int32_t width, height; /* of the frame, 1 .. CUV_HOUGH_MAX_SIZE */
  int32_t period;        /* rows in 180 degrees; PCLINES: 2 D */
  int32_t inclusive;     /* 1 = repeat the first row at the end */
  /* degrees: rows cover min <= theta < max; -90 <= min < 90, max <= min + 180
   */
  double theta_min, theta_max;
  double rho_step; /* pixels, >= 1 */
  /* degrees: an edge votes only for lines within this angle of its own
   * direction, rounded up to whole bins; 90 = for all lines */
  double window;
} CuvHoughConfig;

#define CUV_HOUGH_MAX_SIZE 16384
#define CUV_HOUGH_MAX_PERIOD 4096

/* A row: all lines of one direction. A pixel's line is its cell r = (x * dx + y
 * * dy + offset) >> 16. */
typedef struct {
  int32_t dx, dy, offset;
  int32_t first_cell, last_cell; /* range reached by pixels of the frame */
  int32_t first_bin, n_bins;     /* orientation bins that vote here */
  double theta; /* radians: the angle of the lines' normal, (cos, sin) */
  double scale; /* 2^-16 cells per pixel of distance */
} CuvHoughRow;

/* Row k, cell r of the accumulator is its element k * n_cells + radius + r. Row
 * k + period is row k with r negated, whether or not it is stored. */
typedef struct {
  CuvHoughConfig config;
  int32_t width, height;
  int32_t n_rows, period;
  int32_t radius, n_cells; /* cells -radius .. radius */
  /* Edges are binned by gradient direction, modulo 180 degrees: bin g covers
   * -90 + g * 180 / n_bins degrees up to the next. */
  int32_t n_bins;
  CuvHoughRow *rows;   /* owned */
  int16_t *boundaries; /* x, y of each bin's start, in 2^-14; owned */
} CuvHoughLayout;

/* ---- votes ---- */

/* Voting methods; all count the same votes. */
typedef enum {
  CUV_HOUGH_AUTO,
  CUV_HOUGH_GLOBAL, /* edges add to the accumulator in memory */
  CUV_HOUGH_SHARED, /* a few rows at a time in fast memory */
  CUV_HOUGH_GATHER, /* each cell counts its pixels: takes the same time for any
                     * frame */
  CUV_HOUGH_RING,   /* no accumulator: a few rows at a time, and peaks from them
                     */
} CuvHoughMethod;

/* ---- peaks ---- */

/* Which cells above the threshold are peaks. */
typedef enum {
  CUV_PEAKS_ALL,    /* all of them */
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

/* Part of a peak's line: from one pixel to another along x if |dy| >= |dx| in
 * its row, else along y. */
typedef struct {
  int32_t peak; /* index */
  int32_t first, last;
} CuvHoughSegment;

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
  int32_t segments;  /* 1 = wanted */
  CuvSegmentParams segment;
} CuvHoughParams;

/* Debug views, for tuning. */
typedef enum {
  CUV_HOUGH_DRAW_NONE,
  CUV_HOUGH_DRAW_EDGES,
  CUV_HOUGH_DRAW_ACCUMULATOR, /* theta from left to right, rho downwards */
} CuvHoughDraw;

/* Valid until the next run. */
typedef struct {
  const CuvHoughPeak *peaks;       /* most votes first, then by row and cell */
  int32_t n_peaks;                 /* up to max_lines */
  int32_t n_found;                 /* all peaks, before max_lines */
  const CuvHoughSegment *segments; /* by peak, then along the line */
  int32_t n_segments;              /* up to CUV_HOUGH_MAX_SEGMENTS */
  int32_t n_segments_found;
  int64_t n_edges, n_votes;
  CuvHoughMethod method; /* the one used, not AUTO */
  float edges_us, votes_us, peaks_us;
} CuvHoughResult;

#endif
