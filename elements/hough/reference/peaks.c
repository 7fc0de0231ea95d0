/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Peaks of the accumulator: the rules, and a list of the best. */
#include "hough.h"

#include <stdlib.h>

static uint32_t
votes_at (const CuvHoughLayout *layout, const CuvRowView *view, int r)
{
  return view->middle == NULL || r < -layout->radius || r > layout->radius
      ? 0
      : view->middle[view->sign * r];
}

/* Whether a cell with this many votes beats the one dk rows and dr cells away;
 * of equal cells the first one does. */
static bool
goes_before (const CuvHoughLayout *layout, const CuvRowView *views,
    const CuvHoughPeak *cell, int dk, int dr)
{
  uint32_t other = votes_at (layout, &views[dk], cell->r + dr);
  bool earlier = dk < 0 || (dk == 0 && dr < 0);

  return earlier ? cell->votes > other : cell->votes >= other;
}

/* Returns the number of rows and of cells on either side that must have fewer
 * votes than a peak. */
static int
inner_radius (const CuvPeakParams *params)
{
  return params->rule == CUV_PEAKS_ALL  ? 0
      : params->rule == CUV_PEAKS_CROSS ? 1
                                        : params->neighborhood / 2;
}

int
cuv_hough_peak_radius (const CuvPeakParams *params)
{
  return params->rule == CUV_PEAKS_DOMINANT ? CUV_HOUGH_MAX_NEIGHBORHOOD / 2
                                            : inner_radius (params);
}

static bool
is_greatest (const CuvHoughLayout *layout, const CuvRowView *views,
    const CuvPeakParams *params, const CuvHoughPeak *cell)
{
  const int reach = inner_radius (params);

  for (int dk = -reach; dk <= reach; dk++) {
    for (int dr = -reach; dr <= reach; dr++) {
      if ((dk == 0 && dr == 0)
          || (params->rule == CUV_PEAKS_CROSS && dk != 0 && dr != 0))
        continue;
      if (!goes_before (layout, views, cell, dk, dr))
        return false;
    }
  }
  return true;
}

/* Whether no cell nearby has more than 3/2 as many votes. A line beside such a
 * cell may only have votes from noise along the stronger line. */
static bool
is_dominant (const CuvHoughLayout *layout, const CuvRowView *views,
    const CuvHoughPeak *cell)
{
  const int reach = CUV_HOUGH_MAX_NEIGHBORHOOD / 2;

  for (int dk = -reach; dk <= reach; dk++) {
    for (int dr = -reach; dr <= reach; dr++) {
      uint64_t other = votes_at (layout, &views[dk], cell->r + dr);

      if (3 * (uint64_t) cell->votes < 2 * other)
        return false;
    }
  }
  return true;
}

static bool
is_peak (const CuvHoughLayout *layout, const CuvRowView *views,
    const CuvPeakParams *params, const CuvHoughPeak *cell)
{
  return cell->votes > params->threshold
      && is_greatest (layout, views, params, cell)
      && (params->rule != CUV_PEAKS_DOMINANT
          || is_dominant (layout, views, cell));
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

/* Replaces the root of a heap of the best peaks, which is the worst of them. */
static void
sift (CuvHoughPeak *heap, size_t n, CuvHoughPeak peak)
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

void
cuv_hough_keep_peak (CuvPeakList *list, const CuvHoughPeak *peak)
{
  if (list->n < list->max)
    list->peaks[list->n] = *peak;
  else if (list->max > 0 && compare_peaks (peak, &list->peaks[0]) < 0)
    sift (list->peaks, list->max, *peak);
  if (++list->n == list->max) /* reverse order is a valid heap */
    qsort (list->peaks, list->n, sizeof *peak, compare_backwards);
}

void
cuv_hough_add_peak (const CuvHoughLayout *self, const CuvRowView *views, int k,
    int r, const CuvPeakParams *params, CuvPeakList *list)
{
  CuvHoughPeak cell = { k, r, votes_at (self, views, r) };

  if (is_peak (self, views, params, &cell))
    cuv_hough_keep_peak (list, &cell);
}

void
cuv_hough_add_peaks (const CuvHoughLayout *self, const CuvRowView *views, int k,
    const CuvPeakParams *params, CuvPeakList *list)
{
  const CuvHoughRow *row = &self->rows[k];

  for (int r = row->first_cell; r <= row->last_cell; r++)
    cuv_hough_add_peak (self, views, k, r, params, list);
}

void
cuv_hough_sort_peaks (CuvPeakList *list)
{
  size_t n = list->n < list->max ? list->n : list->max;

  if (n > 0)
    qsort (list->peaks, n, sizeof *list->peaks, compare_peaks);
}

void
cuv_hough_view_rows (const CuvHoughLayout *self, const uint32_t *accumulator,
    int k, int reach, CuvRowView *views)
{
  for (int dk = -reach; dk <= reach; dk++) {
    CuvRowView *view = &views[dk];
    int row = cuv_hough_wrap (self, k + dk, &view->sign);

    view->middle = row < 0
        ? NULL
        : accumulator + (size_t) row * (size_t) self->n_cells + self->radius;
  }
}

void
cuv_hough_peaks (const CuvHoughLayout *self, const uint32_t *accumulator,
    const CuvPeakParams *params, CuvPeakList *list)
{
  const int reach = cuv_hough_peak_radius (params);
  CuvRowView views[CUV_HOUGH_MAX_NEIGHBORHOOD];

  list->n = 0;
  for (int k = 0; k < self->n_rows; k++) {
    cuv_hough_view_rows (self, accumulator, k, reach, views + reach);
    cuv_hough_add_peaks (self, views + reach, k, params, list);
  }
  cuv_hough_sort_peaks (list);
}
