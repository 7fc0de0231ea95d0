/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Boxes sorted by size and place, so that those near a box are found without
 * looking at all. What the ways of grouping share. */
#ifndef CUV_WALDBOOST_GROUPING_H
#define CUV_WALDBOOST_GROUPING_H

#include "waldboost.h"

typedef struct {
  uint64_t key; /* of the cell */
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

/* One entry for each box, in order of their cells. */
void cuv_cells_fill (
    CuvCellEntry *entries, const CuvWaldboostBox *boxes, int n);

/* Whether there are boxes of this class or a larger one. */
bool cuv_cells_have (const CuvCellEntry *entries, int n, int class);

/* A walk over the boxes of one class whose top left corner is in a rectangle,
 * or near it. */
typedef struct {
  const CuvCellEntry *entries;
  int n, at;
  uint64_t left, right; /* keys of the row's first and last cell */
  uint64_t last_left;
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

/* Greedy non-maximum suppression: the boxes that are left, by falling score,
 * each with the number of boxes that it stands for. ranks and by are memory for
 * n. */
typedef struct {
  float score;
  int32_t box;
} CuvBoxRank;

int cuv_suppress (CuvWaldboostBox *out, const CuvWaldboostBox *boxes, int n,
    double most_iou, CuvCellEntry *entries, CuvBoxRank *ranks, int32_t *by);

#endif
