/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "hough.h"

#include <stdlib.h>

/* Votes of a row and rho, beyond the space too. */
static uint32_t
votes_at (const CuvHoughSpace *space, const uint32_t *accumulator, int k, int r)
{
  while (k < 0 || k >= space->n_theta) {
    k += k < 0 ? space->period : -space->period;
    r = -r;
  }
  return r < -space->diagonal || r > space->diagonal
      ? 0
      : accumulator[(size_t) k * (size_t) space->n_rho
          + (size_t) (r + space->diagonal)];
}

/* Whether a cell with so many votes goes before the one dk rows and dr steps
 * away: of equal ones the first does. */
static bool
goes_before (const CuvHoughSpace *space, const uint32_t *accumulator,
    const CuvHoughPeak *cell, int dk, int dr)
{
  uint32_t other = votes_at (space, accumulator, cell->k + dk, cell->r + dr);
  bool earlier = dk < 0 || (dk == 0 && dr < 0);

  return earlier ? cell->votes > other : cell->votes >= other;
}

static bool
is_peak (const CuvHoughSpace *space, const uint32_t *accumulator,
    const CuvPeakParams *params, const CuvHoughPeak *cell)
{
  const int half = params->neighborhood / 2;

  if (cell->votes <= params->threshold)
    return false;
  if (params->rule == CUV_PEAKS_ALL)
    return true;
  if (params->rule == CUV_PEAKS_CROSS)
    return goes_before (space, accumulator, cell, 0, -1)
        && goes_before (space, accumulator, cell, 0, 1)
        && goes_before (space, accumulator, cell, -1, 0)
        && goes_before (space, accumulator, cell, 1, 0);
  for (int dk = -half; dk <= half; dk++) {
    for (int dr = -half; dr <= half; dr++) {
      if ((dk != 0 || dr != 0)
          && !goes_before (space, accumulator, cell, dk, dr))
        return false;
    }
  }
  return true;
}

/* Most votes first, then by row and rho. */
static int
compare_peaks (const void *a, const void *b)
{
  const CuvHoughPeak *p = a, *q = b;

  if (p->votes != q->votes)
    return p->votes < q->votes ? 1 : -1;
  if (p->k != q->k)
    return p->k < q->k ? -1 : 1;
  return (p->r > q->r) - (p->r < q->r);
}

/* Puts a peak to the first ones, in a heap whose root is the last of them. */
static void
keep (CuvHoughPeak *heap, size_t n, CuvHoughPeak peak)
{
  size_t at = 0, child;

  while ((child = 2 * at + 1) < n) {
    if (child + 1 < n && compare_peaks (&heap[child + 1], &heap[child]) > 0)
      child++;
    if (compare_peaks (&heap[child], &peak) <= 0)
      break;
    heap[at] = heap[child];
    at = child;
  }
  heap[at] = peak;
}

static int
compare_backwards (const void *a, const void *b)
{
  return compare_peaks (b, a);
}

size_t
cuv_hough_peaks (const CuvHoughSpace *self, const uint32_t *accumulator,
    const CuvPeakParams *params, CuvHoughPeak *peaks, size_t max_peaks)
{
  size_t n = 0;

  for (int k = 0; k < self->n_theta; k++) {
    for (int r = -self->diagonal; r <= self->diagonal; r++) {
      CuvHoughPeak cell = { k, r, votes_at (self, accumulator, k, r) };

      if (!is_peak (self, accumulator, params, &cell))
        continue;
      if (n < max_peaks)
        peaks[n] = cell;
      else if (max_peaks > 0 && compare_peaks (&cell, &peaks[0]) < 0)
        keep (peaks, max_peaks, cell);
      if (++n == max_peaks) /* sorted backwards is a heap */
        qsort (peaks, n, sizeof *peaks, compare_backwards);
    }
  }
  if (max_peaks > 0)
    qsort (peaks, n < max_peaks ? n : max_peaks, sizeof *peaks, compare_peaks);
  return n;
}
