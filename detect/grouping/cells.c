/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sorts boxes by size class and grid cell to find neighbours; see
 * grouping.h. */
#include "grouping/grouping.h"

#include <stdlib.h>

#define CELLS (1 << 24) /* number of cells of a class, across and down */

/* Returns the cell of a coordinate. Cells are squares with about the side of
 * the boxes of their class. */
static uint64_t
cell_of (int64_t coordinate, int class)
{
  int64_t cell = (coordinate >> (class > 2 ? class - 2 : 0)) + CELLS / 2;

  return cell < 0 ? 0 : cell >= CELLS ? CELLS - 1 : (uint64_t) cell;
}

static uint64_t
make_key (int class, uint64_t row, uint64_t column)
{
  return (uint64_t) class << 48 | row << 24 | column;
}

static int
compare_entries (const void *a, const void *b)
{
  const CuvCellEntry *x = a, *y = b;

  if (x->key != y->key)
    return x->key < y->key ? -1 : 1;
  return (x->box > y->box) - (x->box < y->box);
}

void
cuv_cells_fill (CuvCellEntry *entries, const CuvWaldboostBox *boxes, int n)
{
  for (int i = 0; i < n; i++) {
    int class = cuv_cell_class_of (&boxes[i]);

    entries[i].box = i;
    entries[i].key = make_key (
        class, cell_of (boxes[i].y, class), cell_of (boxes[i].x, class));
  }
  qsort (entries, n, sizeof *entries, compare_entries);
}

static int
first_not_below (const CuvCellEntry *entries, int n, uint64_t key)
{
  int low = 0, high = n;

  while (low < high) {
    int middle = low + (high - low) / 2;

    if (entries[middle].key < key)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

bool
cuv_cells_have (const CuvCellEntry *entries, int n, int class)
{
  return n > 0 && entries[n - 1].key >= make_key (class, 0, 0);
}

void
cuv_walk_start (CuvCellWalk *self, const CuvCellEntry *entries, int n,
    int class, int64_t left, int64_t top, int64_t right, int64_t bottom)
{
  uint64_t row = cell_of (top, class);

  self->entries = entries;
  self->n = n;
  self->left = make_key (class, row, cell_of (left, class));
  self->right = make_key (class, row, cell_of (right, class));
  self->last_left =
      make_key (class, cell_of (bottom, class), cell_of (left, class));
  self->at = first_not_below (entries, n, self->left);
}

/* Moves to the next row with boxes, skipping empty rows in one step. */
bool
cuv_walk_next_row (CuvCellWalk *self)
{
  const uint64_t down = make_key (0, 1, 0);
  uint64_t rows_left = (self->last_left - self->left) / down, rows;

  if (rows_left == 0 || self->at == self->n)
    return false;
  rows = (self->entries[self->at].key - self->right + down - 1) / down;
  if (rows > rows_left)
    rows = rows_left;
  self->left += rows * down;
  self->right += rows * down;
  self->at += first_not_below (
      self->entries + self->at, self->n - self->at, self->left);
  return true;
}
