/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Votes that are gathered: each cell reads all pixels of its line, so that the
 * time does not depend on the frame.
 *
 * After G. van den Braak, C. Nugteren, B. Mesman, H. Corporaal, Fast Hough
 * Transform on GPUs, ACIVS 2011, which also reads pixels instead of scattering
 * votes; the formulation differs. */
#include "hough-inputs.h"

#include <stdlib.h>

static int
clamp (int64_t v, int last)
{
  return v < 0 ? 0 : v > last ? last : (int) v;
}

/* Returns the smallest v with v * d >= n, for d > 0. */
static int64_t
divide_up (int64_t n, int64_t d)
{
  return n >= 0 ? (n + d - 1) / d : -(-n / d);
}

/* Finds the pixels *first .. *end - 1 of a line of n pixels that vote for cell
 * r: pixel v has the value at + v * d, in units of 2^-16 cells. */
static void
find_pixels (int64_t at, int32_t d, int r, int n, int *first, int *end)
{
  int64_t low = (int64_t) r * 65536 - at, high = low + 65536;

  if (d < 0) { /* low <= v * d < high */
    int64_t l = low;

    low = -high + 1;
    high = -l + 1;
    d = -d;
  }
  *first = clamp (divide_up (low, d), n);
  *end = clamp (divide_up (high, d), n);
}

void
cuv_hough_gather (
    const CuvHoughLayout *self, const uint8_t *edges, uint32_t *accumulator)
{
  for (int k = 0; k < self->n_rows; k++) {
    const CuvHoughRow *row = &self->rows[k];
    bool across = abs (row->dx) >= abs (row->dy);
    int n_lines = across ? self->height : self->width;
    int n = across ? self->width : self->height;

    for (int r = -self->radius; r <= self->radius; r++) {
      uint32_t votes = 0;
      int v, end;

      for (int line = 0; line < n_lines; line++) {
        int64_t at =
            (int64_t) line * (across ? row->dy : row->dx) + row->offset;

        for (find_pixels (at, across ? row->dx : row->dy, r, n, &v, &end);
             v < end; v++)
          votes +=
              edges[across ? (size_t) line * (size_t) self->width + (size_t) v
                           : (size_t) v * (size_t) self->width + (size_t) line]
              != 0;
      }
      *accumulator++ = votes;
    }
  }
}
