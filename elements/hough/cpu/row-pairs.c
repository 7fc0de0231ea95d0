/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Votes for pairs of rows: an edge votes for both with one increment. */
#include "cpu/hough-cpu-private.h"

/* Maximum number of counts in a table (2 MiB): clearing and adding up a larger
 * one takes longer than it saves. */
enum { MAX_CELLS = 1 << 19 };

/* Finds the minimum and the maximum difference between the cells of a pixel in
 * both rows. Cells are rounded down, so the difference is that of the exact
 * values rounded down or up; the corners of the frame have the extremes. */
static void
find_differences (const CuvHoughLayout *layout, const CuvHoughRow *a,
    const CuvHoughRow *b, int64_t *least, int64_t *greatest)
{
  for (int i = 0; i < 4; i++) {
    const int64_t x = i & 1 ? layout->width - 1 : 0;
    const int64_t y = i & 2 ? layout->height - 1 : 0;
    const int64_t down = (x * (b->dx - a->dx) + y * (b->dy - a->dy) + b->offset
                             - (int64_t) a->offset)
        >> 16;

    if (i == 0 || down < *least)
      *least = down;
    if (i == 0 || down + 1 > *greatest)
      *greatest = down + 1;
  }
}

size_t
cuv_hough_pair_init (CuvHoughPair *self, const CuvHoughLayout *layout,
    const CuvHoughRow *a, const CuvHoughRow *b)
{
  const int64_t stride = a->last_cell - a->first_cell + 1;
  int64_t least = 0, greatest = 0, n;

  find_differences (layout, a, b, &least, &greatest);
  n = greatest - least + 1;
  /* shifted cells are below n + stride; SIMD multiplies 15 bits */
  if (n * stride > MAX_CELLS || n + stride > INT16_MAX)
    return 0;
  *self = (CuvHoughPair){ { *a, *b },
    { a->first_cell, a->first_cell + (int) least }, (int) n, (int) stride };
  for (int i = 0; i < 2; i++)
    self->rows[i].offset -= self->base[i] * 65536;
  return (size_t) (n * stride);
}

size_t
cuv_hough_max_pair_cells (const CuvHoughLayout *layout)
{
  size_t most = 0;

  for (int k = 1; k < layout->n_rows; k++) {
    CuvHoughPair pair;
    size_t n = cuv_hough_pair_init (
        &pair, layout, &layout->rows[k - 1], &layout->rows[k]);

    most = n > most ? n : most;
  }
  return most;
}
