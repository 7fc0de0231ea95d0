/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Votes and peaks in a ring buffer of a few rows.
 *
 * After R. Josth, M. Dubska, A. Herout, J. Havel, Real-Time Line Detection
 * Using Accelerated High-Resolution Hough Transform, SCIA 2011: the ring buffer
 * has the rows that a peak rule compares. Rows before the first and after the
 * last one are computed again from the other end, with rho negated. */
#include "hough-inputs.h"

#include <stdlib.h>
#include <string.h>

/* Returns row k, wrapped around, or NULL if it does not exist. *sign is -1 if
 * its rho is negated. */
static const CuvHoughRow *
find_row (const CuvHoughLayout *self, int k, int *sign)
{
  k = cuv_hough_wrap (self, k, sign);
  return k < 0 ? NULL : &self->rows[k];
}

bool
cuv_hough_ring (const CuvHoughLayout *self, const CuvEdgeList *list,
    const CuvPeakParams *params, CuvPeakList *peaks, uint64_t *n_votes)
{
  const int reach = cuv_hough_peak_radius (params), n = 2 * reach + 1;
  const size_t size = (size_t) self->n_cells * sizeof (uint32_t);
  uint32_t *ring = malloc ((size_t) n * size);
  CuvRowView views[CUV_HOUGH_MAX_NEIGHBORHOOD];

  if (ring == NULL)
    return false;
  peaks->n = 0;
  *n_votes = 0;
  for (int k = -reach; k < self->n_rows + reach; k++) {
    int sign;
    uint64_t votes = 0;
    const CuvHoughRow *row = find_row (self, k, &sign);
    uint32_t *slice =
        ring + (size_t) ((k + reach) % n) * (size_t) self->n_cells;

    memmove (views, views + 1, (size_t) (n - 1) * sizeof *views);
    views[n - 1] = (CuvRowView){ row == NULL ? NULL : slice + self->radius, 1 };
    memset (slice, 0, size);
    if (row != NULL)
      votes = cuv_hough_vote_row (self, row, list, slice + self->radius, sign);
    if (k >= 0 && k < self->n_rows)
      *n_votes += votes;
    if (k >= reach)
      cuv_hough_add_peaks (self, views + reach, k - reach, params, peaks);
  }
  cuv_hough_sort_peaks (peaks);
  free (ring);
  return true;
}
