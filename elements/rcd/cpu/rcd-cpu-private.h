/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* State of a search on the CPU, and its stages. */
#ifndef CUV_RCD_CPU_PRIVATE_H
#define CUV_RCD_CPU_PRIVATE_H

#include "cpu/rcd-cpu.h"
#include "cpu/rcd-dsp.h"

/* Samples of a row of a block, with a pixel of border on both sides. */
enum { CUV_RCD_PITCH = CUV_RCD_BLOCK_WIDTH + 2 + CUV_RCD_PADDING };

_Static_assert((int) CUV_RCD_BLOCK_HEIGHT >= CUV_RCD_MAX_CELL,
    "a cell is higher than a block");

typedef int16_t CuvRcdPlane[(CUV_RCD_BLOCK_HEIGHT + 2) * CUV_RCD_PITCH];

/* Memory of one worker: a block of samples with a border, and its gradients
 * without one. */
typedef struct {
  CuvRcdPlane grey, colours[3], gradients[4];
} CuvRcdScratch;

/* A grid whose lines are set for every frame, and its integrals. */
typedef struct {
  CuvRcdGrid grid; /* points to x and y */
  int32_t *x, *y;
  int64_t *integrals; /* owns the memory of x and y */
} CuvRcdIntegralGrid;

struct _CuvRcdCpu {
  CuvRcdConfig config;
  CuvRcdDsp dsp;
  int n_features, n_sums;
  int n_workers;
  CuvRcdScratch *scratch;   /* one per worker */
  CuvRcdIntegralGrid cells; /* the search area's cells */
  CuvRcdIntegralGrid fine;  /* between the edges of refinement's windows */
  int32_t *task_rows;       /* first grid row of each task, and the end */
  double *scores;           /* indexed by window number */
  /* x and y of a tile's pixels, as planes of features */
  int16_t across[CUV_RCD_TILE_WIDTH + CUV_RCD_PADDING];
  int16_t down[CUV_RCD_BLOCK_HEIGHT][CUV_RCD_TILE_WIDTH + CUV_RCD_PADDING];

  /* state of the current run */
  const CuvFrame *frame;
  const CuvRcdSearch *search;
  int n_threads;
  CuvRcdIntegralGrid *current; /* the grid being integrated */
  const CuvRcdTarget *target;
  CuvRcdFineWindows round; /* windows of a refinement round */
  double round_scores[CUV_RCD_FINE_WINDOWS];
};

/* ---- integrals.c ---- */

/* Computes the integrals of a grid over the frame. No row may be higher than a
 * block. */
void cuv_rcd_cpu_integrals (CuvRcdCpu *self, CuvRcdIntegralGrid *grid);

/* Computes the sums over a box, which covers columns x rows cells of the grid
 * from (left, top) on; the features x and y count from the box. */
void cuv_rcd_cpu_sums (const CuvRcdCpu *self, const CuvRcdIntegralGrid *grid,
    int left, int top, const CuvRcdBox *box, int columns, int rows,
    int64_t *sums);

/* ---- refinement.c ---- */

/* Refines a match of self->target. */
void cuv_rcd_cpu_refine (CuvRcdCpu *self, CuvRcdMatch *match);

#endif
