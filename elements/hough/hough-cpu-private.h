/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parts of a run on the CPU: pieces of work that any thread may take, made of
 * steps that AVX2 makes fast. */
#ifndef CUV_HOUGH_CPU_PRIVATE_H
#define CUV_HOUGH_CPU_PRIVATE_H

#include "hough-cpu.h"

/* ---- steps ---- */

/* What pixels are while edges are looked for. */
enum { CUV_PIXEL_NONE, CUV_PIXEL_WEAK, CUV_PIXEL_EDGE };

/* Rows have room for so many pixels more. */
#define CUV_ROW_PADDING 32

typedef struct {
  int16_t *gx, *gy;
  int16_t *l1; /* norms: these */
  int32_t *l2; /* or these, squared */
} CuvGradientRow;

/* Votes of pixels for a row; a cell r is middle[r]. */
typedef struct {
  const uint32_t *pixels;
  size_t n;
  const CuvHoughRow *row;
  uint16_t *middle;
} CuvVoteStream;

enum { CUV_N_STREAMS = 4 };

/* A map's lines, across or down, and the cells of their pixels in a row: line
 * step + pixel d + offset in 2^-16. */
typedef struct {
  const uint8_t *map;
  int n_lines, n; /* and pixels of each */
  int32_t step, d, offset;
  int radius; /* of the cells */
} CuvGather;

enum { CUV_N_LANES = 8 };

typedef struct {
  /* A row's grey values. */
  void (*grey) (const CuvFrame *frame, int y, uint8_t *out);
  /* [1 4 6 4 1] along a row that goes on for two pixels on either side */
  void (*blur_across) (const uint8_t *row, int width, uint16_t *out);
  void (*blur_down) (const uint16_t *const rows[5], int width, uint8_t *out);
  /* Of the row rows[1]; scratch has room for two padded rows. */
  void (*gradients) (const uint8_t *const rows[3], int width, CuvCannyNorm norm,
      int16_t *scratch, const CuvGradientRow *out);
  /* What pixels are, all but the first and the last one. */
  void (*suppress) (const CuvGradientRow *const rows[3], int width,
      const CuvCannyParams *params, uint8_t *out);
  /* Where the next edge beside a weak pixel is, from x > 0 on, in rows[1]; end,
   * which is before the last pixel, if there is none. */
  int (*find_seed) (const uint8_t *const rows[3], int x, int end);
  /* Lists a row's edge pixels, as first and on; makes it 255 or 0. */
  size_t (*list) (uint8_t *row, int width, uint32_t first, uint32_t *pixels);
  /* Groups of gradients. */
  void (*group) (const CuvHoughSpace *space, const int16_t *gx,
      const int16_t *gy, int n, uint16_t *groups);
  void (*vote) (const CuvVoteStream streams[CUV_N_STREAMS]);
  /* Adds pixels to cells, 255 as 1. Lanes have room for CUV_N_LANES rows of
   * cells and CUV_ROW_PADDING, and are 0 between uses. */
  void (*gather) (const CuvGather *work, uint8_t *lanes, uint32_t *middle);
  /* Adds votes to cells, and leaves none. */
  void (*flush) (uint16_t *slice, int n, uint32_t *cells);
  /* Lists cells above a threshold; there is room for all. */
  int (*find_cells) (
      const uint32_t *cells, int n, uint32_t threshold, int32_t *found);
  /* Of all pixels those that are edges, from which on gathering is faster;
   * percent. docs/benchmarks/hough.md has the figures. */
  int gather_share;
} CuvHoughSteps;

void cuv_hough_steps_init (CuvHoughSteps *self);
void cuv_hough_avx2_init (CuvHoughSteps *self);

/* ---- memory ---- */

enum {
  CUV_MAX_WORKERS = 64,
  CUV_MAX_MEMORY = 32 * (CUV_MAX_WORKERS + 1),
  CUV_EDGE_ROWS = 32, /* of a piece */
};

/* What a thread needs for itself. */
typedef struct {
  uint8_t *grey;        /* from two pixels before a row on */
  uint16_t *blurred[5]; /* rows, across */
  CuvGradientRow gradients[3];
  int16_t *scratch;
  uint16_t *slices[CUV_N_STREAMS]; /* of cells, all 0 between uses */
  uint8_t *lanes;
  uint32_t *ring;
  int32_t *found;
  CuvPeakList peaks;
  uint64_t n_votes;
} CuvHoughWorker;

enum { CUV_N_SORT_PIECES = 16, CUV_N_SEGMENT_PIECES = 16 };

struct _CuvHoughCpu {
  const CuvHoughSpace *space;
  CuvHoughSteps steps;
  int n_workers;
  CuvHoughWorker workers[CUV_MAX_WORKERS];
  void *memory[CUV_MAX_MEMORY]; /* all that is owned */
  int n_memory;
  bool complete;

  /* edges */
  uint8_t *grey; /* where the frame's rows cannot be read as they are */
  uint8_t *map, *columns; /* the same, turned */
  uint32_t *pixels, *sorted;
  uint16_t *groups;
  size_t *piece_edges; /* how many each piece has */
  /* where a group begins; and of each piece of the list how many edges it has,
   * then where the next one goes */
  size_t *first_of_group, *next_of_group[CUV_N_SORT_PIECES];
  CuvEdgeList list;

  /* results */
  uint32_t *votes;
  bool has_votes; /* of the last run */
  CuvHoughPeak *peaks;
  CuvHoughSegment *segments, *piece_segments;
  size_t piece_n_segments[CUV_N_SEGMENT_PIECES];
  uint32_t threshold;

  /* the run at hand */
  const CuvFrame *frame;
  const CuvHoughParams *params;
  int n_threads;
  const uint8_t *source; /* grey values, and from one row to the next */
  ptrdiff_t stride;
  size_t n_peaks;
  void (*func) (CuvHoughCpu *self, CuvHoughWorker *worker, int piece);
};

/* Calls func for each piece, on the run's threads. */
void cuv_hough_cpu_pieces (CuvHoughCpu *self, int n_pieces,
    void (*func) (CuvHoughCpu *self, CuvHoughWorker *worker, int piece));

/* ---- parts of a run ---- */

/* Finds and lists the edges. */
void cuv_hough_cpu_edges (CuvHoughCpu *self);

/* Sorts them by group, if there are gradients and the space has a window. */
void cuv_hough_cpu_sort (CuvHoughCpu *self);

/* Votes by a method other than RING into the accumulator. Returns how many. */
uint64_t cuv_hough_cpu_vote (CuvHoughCpu *self, CuvHoughMethod method);
uint64_t cuv_hough_cpu_gather (CuvHoughCpu *self);

/* The peaks of the accumulator, or of votes by RING. */
void cuv_hough_cpu_peaks (CuvHoughCpu *self, CuvPeakList *list);
uint64_t cuv_hough_cpu_ring (CuvHoughCpu *self, CuvPeakList *list);

size_t cuv_hough_cpu_segments (CuvHoughCpu *self, size_t n_peaks);

#endif
