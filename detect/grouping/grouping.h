/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Turns hits into boxes. This header declares what the grouping methods share.
 *
 *   grouping.c     entry points: hits -> boxes, method, clipping, memory
 *   similar.c      NEIGHBORS, WBD and EPS: groups of similar boxes, as found by
 *                  cv::groupRectangles
 *   suppression.c  NMS: non-maximum suppression
 *   cells.c        neighbour search in a fixed set of boxes, sorted by cell,
 *                  for NMS and for groups that lie inside others; a walk
 *                  visits a rectangle of cells of one size class and skips
 *                  empty rows
 *
 * To collect groups, similar.c has a neighbour search of its own with hashed
 * chains of boxes: a box leaves its chain as soon as it joins a group, and is
 * never compared again. Removing boxes from the sorted array of cells.c would
 * be expensive; hashed chains could not skip the many empty cells in NMS. */
#ifndef CUV_WALDBOOST_GROUPING_H
#define CUV_WALDBOOST_GROUPING_H

#include "waldboost.h"

/* ---- neighbour search (cells.c) ---- */

typedef struct {
  uint64_t key; /* class, row and column of the cell */
  int32_t box;
} CuvCellEntry;

/* Boxes of class k have width + height from 2^k to 2^(k+1) - 1. */
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

/* Writes an entry for each box, sorted by cell. */
void cuv_cells_fill (
    CuvCellEntry *entries, const CuvWaldboostBox *boxes, int n);

/* Returns whether there is a box of this class or of a larger one. */
bool cuv_cells_have (const CuvCellEntry *entries, int n, int class);

/* Iterates over the boxes of one class whose top left corner is in a cell that
 * a rectangle overlaps. */
typedef struct {
  const CuvCellEntry *entries;
  int n, at;
  uint64_t left, right; /* keys of the first and last cell of a row */
  uint64_t last_left;   /* key of the first cell of the last row */
} CuvCellWalk;

void cuv_walk_start (CuvCellWalk *self, const CuvCellEntry *entries, int n,
    int class, int64_t left, int64_t top, int64_t right, int64_t bottom);
bool cuv_walk_next_row (CuvCellWalk *self);

/* Returns the next box, or -1 at the end. */
static inline int
cuv_walk_next (CuvCellWalk *self)
{
  while (self->at == self->n || self->entries[self->at].key > self->right) {
    if (!cuv_walk_next_row (self))
      return -1;
  }
  return self->entries[self->at++].box;
}

/* ---- non-maximum suppression (suppression.c) ---- */

typedef struct {
  float score;
  int32_t box;
} CuvBoxRank;

/* Suppresses non-maxima greedily. Writes the kept boxes by descending score to
 * out, each with the number of boxes that it stands for, and returns the number
 * of kept boxes. entries, ranks and by are scratch memory for n elements. */
int cuv_suppress (CuvWaldboostBox *out, const CuvWaldboostBox *boxes, int n,
    const CuvGrouping *grouping, CuvCellEntry *entries, CuvBoxRank *ranks,
    int32_t *by);

/* ---- groups of similar boxes (similar.c) ---- */

/* A group of similar boxes. */
typedef struct {
  int64_t x, y, width, height; /* sums over the members */
  float score;
  double weight;
  int32_t n;
  /* lengths of runs of successive windows of one rotation: current run,
   * longest run */
  int32_t run, longest;
  int32_t run_of, rotation;
} CuvBoxGroup;

struct _CuvWaldboostGrouper {
  int capacity;
  /* allocated memory of the arrays below, each with at least capacity
   * elements */
  void *memory;
  CuvWaldboostBox *boxes; /* boxes of the hits */
  CuvCellEntry *entries;  /* boxes, or means, sorted by cell */
  CuvBoxRank *ranks;
  int32_t *root; /* for each box the first box of its group */
  /* for each hash of a cell its first box that is in no group yet, or -1 */
  int32_t *chains;
  size_t n_chains; /* a power of 2 */
  int32_t *next;   /* for each box in a chain the next box, or -1 */
  int32_t *stack;  /* boxes of a group whose neighbours are still to be added */
  int32_t *number; /* for each root the index of its group */
  CuvBoxGroup *groups;
  CuvWaldboostBox *means; /* means of the groups with enough members */
  CuvWaldboostBox *out;
};

/* Returns the smallest power of 2 that is at least n and at least 256, so that
 * the size of each array is a multiple of 16 bytes. */
static inline size_t
cuv_group_capacity (int n)
{
  size_t capacity = 256;

  while (capacity < (size_t) n)
    capacity *= 2;
  return capacity;
}

/* Groups n boxes by the method NEIGHBORS, WBD or EPS. Writes the means of
 * groups of more than min_neighbours boxes to self->out, except means that lie
 * inside those of larger groups, and returns their number. self has a capacity
 * of n boxes or more. */
int cuv_group_similar (CuvWaldboostGrouper *self, const CuvGrouping *grouping,
    const CuvWaldboostBox *in, int n);

#endif
