/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by the grouping methods: boxes sorted by size class and grid cell, for
 * neighbour search without comparing all pairs. */
#ifndef CUV_WALDBOOST_GROUPING_H
#define CUV_WALDBOOST_GROUPING_H

#include "waldboost.h"

typedef struct {
  uint64_t key; /* class, row and column of the cell */
  int32_t box;
} CuvCellEntry;

/* Boxes of class k have width + height in 2^k .. 2^(k+1) - 1. */
#define CUV_CELL_CLASSES 32

static inline int
cuv_cell_class (int64_t size)
{
  return size < 2 ? 0 : 63 - __builtin_clzll ((uint64_t) size);
}

static inline int
cuv_cell_class_of (const CuvWaldboostBox *box)
{
  return cuv_cell_class ((int64_t) box->width + box->height);
}

/* One entry per box, sorted by cell. */
void cuv_cells_fill (
    CuvCellEntry *entries, const CuvWaldboostBox *boxes, int n);

/* Whether a box of this class or a larger one exists. */
bool cuv_cells_have (const CuvCellEntry *entries, int n, int class);

/* Iterates over the boxes of one class whose top left corner is in the cells
 * that a rectangle overlaps. */
typedef struct {
  const CuvCellEntry *entries;
  int n, at;
  uint64_t left, right; /* keys of the first and last cell of a row */
  uint64_t last_left;   /* key of the first cell of the last row */
} CuvCellWalk;

void cuv_walk_start (CuvCellWalk *self, const CuvCellEntry *entries, int n,
    int class, int64_t left, int64_t top, int64_t right, int64_t bottom);
bool cuv_walk_next_row (CuvCellWalk *self);

/* The next box, or -1. */
static inline int
cuv_walk_next (CuvCellWalk *self)
{
  while (self->at == self->n || self->entries[self->at].key > self->right) {
    if (!cuv_walk_next_row (self))
      return -1;
  }
  return self->entries[self->at++].box;
}

typedef struct {
  float score;
  int32_t box;
} CuvBoxRank;

/* Greedy non-maximum suppression. Writes the kept boxes by descending score to
 * out, with the number of boxes that each stands for, and returns their number.
 * entries, ranks and by are scratch memory for n elements. */
int cuv_suppress (CuvWaldboostBox *out, const CuvWaldboostBox *boxes, int n,
    double max_iou, CuvCellEntry *entries, CuvBoxRank *ranks, int32_t *by);

#endif
