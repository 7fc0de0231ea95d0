/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parts of a search on the CPU: pieces of work that any thread may take, made
 * of steps that AVX2 makes fast. */
#ifndef CUV_RCD_CPU_PRIVATE_H
#define CUV_RCD_CPU_PRIVATE_H

#include "cpu/rcd-cpu.h"

/* ---- blocks of pixels ----
 *
 * Features are computed for a block at a time, and summed over tiles of it. */
enum {
  CUV_RCD_BLOCK_WIDTH = 320,
  CUV_RCD_BLOCK_HEIGHT = 32,
  CUV_RCD_TILE_WIDTH = 64,
  CUV_RCD_PADDING = 16, /* may be read after a row */
  CUV_RCD_PITCH = CUV_RCD_BLOCK_WIDTH + 2 + CUV_RCD_PADDING,
};

/* A tile's products add up in 32 bits. */
_Static_assert(
    CUV_RCD_TILE_WIDTH *CUV_RCD_BLOCK_HEIGHT <= INT32_MAX / (1020 * 1020),
    "a tile is too large");

_Static_assert(
    (int) CUV_RCD_BLOCK_HEIGHT >= CUV_RCD_MAX_CELL, "a cell fits no block");

typedef int16_t CuvRcdPlane[(CUV_RCD_BLOCK_HEIGHT + 2) * CUV_RCD_PITCH];

/* Features of a few pixels: rows of n planes. */
typedef struct {
  int n, width, height;
  const int16_t *z[CUV_RCD_MAX_FEATURES];
  ptrdiff_t pitch[CUV_RCD_MAX_FEATURES];
} CuvRcdTile;

/* ---- rows of windows ---- */

/* Windows of one size side by side, and what they are compared with. */
typedef struct {
  const CuvRcdModel *model;
  CuvRcdMetric metric;
  int n; /* features */
  double lambda;
  const int64_t *upper, *lower; /* integrals along the windows' edges */
  int32_t y, width, height;     /* pixels */
} CuvRcdRow;

/* A window's first pixel, and where in a line of integrals its edges are. */
typedef struct {
  int32_t x, left, right;
} CuvRcdPlace;

/* ---- steps ---- */

typedef struct {
  /* n samples of a component, from the pixel (x, y) on */
  void (*samples) (const CuvComponent *c, int x, int y, int n, int16_t *out);
  /* n grey values of R, G, B */
  void (*grey) (const int16_t *const rgb[3], int n, int16_t *out);
  /* Ix and Iy of n pixels of the row rows[1], which go on for one on either
   * side */
  void (*gradients) (
      const int16_t *const rows[3], int n, int16_t *ix, int16_t *iy);
  /* |Ix| |Iy| |Ixx| |Iyy| */
  void (*differences) (
      const int16_t *const rows[3], int n, int16_t *const out[4]);
  /* CUV_RCD_SUMS (n) sums over a tile */
  void (*sums) (const CuvRcdTile *tile, int32_t *sums);
  /* Scores of windows in a row. */
  void (*score) (const CuvRcdRow *row, const CuvRcdPlace *places, int n_places,
      double *scores);
} CuvRcdSteps;

void cuv_rcd_steps_init (CuvRcdSteps *self);
void cuv_rcd_avx2_init (CuvRcdSteps *self);

/* ---- memory ---- */

enum { CUV_RCD_MAX_WORKERS = 64 };

/* What a thread needs for itself: a block with a pixel more on all sides, but
 * for gradients. */
typedef struct {
  CuvRcdPlane grey, colours[3], gradients[4];
} CuvRcdWorker;

/* Lines of a grid that is made anew for every frame. */
typedef struct {
  CuvRcdGrid grid;
  int32_t *x, *y;
  int64_t *integrals;
} CuvRcdLines;

struct _CuvRcdCpu {
  CuvRcdShape shape;
  CuvRcdSteps steps;
  int n_features, n_sums;
  int n_workers;
  CuvRcdWorker *workers;
  CuvRcdLines cells, fine; /* between cells, and for refinement */
  int32_t *piece_rows;     /* of a grid: each piece's first, and the end */
  double *scores;
  /* x and y of a tile's pixels */
  int16_t across[CUV_RCD_TILE_WIDTH + CUV_RCD_PADDING];
  int16_t down[CUV_RCD_BLOCK_HEIGHT][CUV_RCD_TILE_WIDTH + CUV_RCD_PADDING];

  /* the run at hand */
  const CuvFrame *frame;
  const CuvRcdSearch *search;
  int n_threads;
  CuvRcdLines *lines;
  const CuvRcdTarget *target;
  CuvRcdFine round;
  double round_scores[CUV_RCD_FINE_WINDOWS];
  void (*func) (CuvRcdCpu *self, CuvRcdWorker *worker, int piece);
};

/* Calls func for each piece, on the run's threads. */
void cuv_rcd_cpu_pieces (CuvRcdCpu *self, int n_pieces,
    void (*func) (CuvRcdCpu *self, CuvRcdWorker *worker, int piece));

/* ---- parts of a run ---- */

/* The integrals of a grid over the frame, of which no row is higher than a
 * block. */
void cuv_rcd_cpu_integrals (CuvRcdCpu *self, CuvRcdLines *lines);

/* The sums over a box, which is so many columns and rows of a grid; x and y
 * count from the box. */
void cuv_rcd_cpu_sums (const CuvRcdCpu *self, const CuvRcdLines *lines,
    int left, int top, const CuvRcdBox *box, int columns, int rows,
    int64_t *sums);

/* Room for refinement's lines, in a frame of this height. */
static inline int
cuv_rcd_fine_rows (int height)
{
  return CUV_RCD_FINE_LINES + height / CUV_RCD_BLOCK_HEIGHT + 1;
}

/* Refines the match of the run's target. */
void cuv_rcd_cpu_refine (CuvRcdCpu *self, CuvRcdMatch *match);

#endif
