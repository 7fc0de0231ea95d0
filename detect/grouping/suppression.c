/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Non-maximum suppression. As a kept box drops its neighbours immediately, each
 * box is only compared with kept boxes near it. */
#include "grouping/grouping.h"

#include <math.h>
#include <stdlib.h>

typedef CuvWaldboostBox Box;

static int
compare_ranks (const void *a, const void *b)
{
  const CuvBoxRank *x = a, *y = b;

  if (x->score != y->score)
    return x->score > y->score ? -1 : 1;
  return (x->box > y->box) - (x->box < y->box);
}

static int64_t
overlap (int64_t a, int64_t a_length, int64_t b, int64_t b_length)
{
  int64_t start = a > b ? a : b;
  int64_t end = a + a_length < b + b_length ? a + a_length : b + b_length;

  return end > start ? end - start : 0;
}

static int64_t
area (const Box *box)
{
  return (int64_t) box->width * box->height;
}

/* Returns whether the overlap of two boxes is above a limit. Areas are exact,
 * and their quotients are rounded as the limits were when they were parsed: an
 * overlap of 3 in 10 pixels is not above 0.3. */
static bool
is_above (const Box *a, const Box *b, const CuvGrouping *limits)
{
  int64_t intersection = overlap (a->x, a->width, b->x, b->width)
      * overlap (a->y, a->height, b->y, b->height);
  int64_t smaller = area (a) < area (b) ? area (a) : area (b);
  int64_t united = area (a) + area (b) - intersection;

  return intersection > 0
      && ((double) intersection / (double) united > limits->nms_iou
          || (double) intersection / (double) smaller > limits->nms_inside);
}

/* Drops the boxes that overlap kept box i too much. IoU > t implies that in
 * each direction the overlap is more than t times the side of either box, which
 * bounds the size and the distance of the other box. A box that lies inside may
 * have any size: it only has to touch. */
static void
drop_around (const Box *boxes, int n, int i, const CuvGrouping *limits,
    const CuvCellEntry *entries, int32_t *by)
{
  const Box *box = &boxes[i];
  double size = (double) box->width + box->height;
  double iou = limits->nms_inside < 1 ? 0 : limits->nms_iou;
  int first = cuv_cell_class ((int64_t) (iou * size));
  int last = iou > size / INT32_MAX
      ? cuv_cell_class ((int64_t) (size / iou) + 1)
      : CUV_CELL_CLASSES - 1;

  for (int c = first; c <= last && cuv_cells_have (entries, n, c); c++) {
    double reach = (1 - iou) * (double) (INT64_C (2) << c) + 1;
    CuvCellWalk walk;
    int other;

    cuv_walk_start (&walk, entries, n, c, (int64_t) (box->x - reach),
        (int64_t) (box->y - reach),
        box->x + (int64_t) ((1 - iou) * box->width) + 1,
        box->y + (int64_t) ((1 - iou) * box->height) + 1);
    while ((other = cuv_walk_next (&walk)) >= 0) {
      if (by[other] < 0 && is_above (box, &boxes[other], limits))
        by[other] = i;
    }
  }
}

/* Counts, for each kept box, the box itself and the boxes that it dropped. */
static void
take_kept (Box *out, const Box *boxes, int n, const CuvBoxRank *kept,
    int n_kept, int32_t *by)
{
  for (int k = 0; k < n_kept; k++) {
    out[k] = boxes[kept[k].box];
    out[k].neighbours = 0;
    by[kept[k].box] = ~k;
  }
  for (int i = 0; i < n; i++)
    out[~(by[i] < 0 ? by[i] : by[by[i]])].neighbours++;
}

int
cuv_suppress (Box *out, const Box *boxes, int n, const CuvGrouping *grouping,
    CuvCellEntry *entries, CuvBoxRank *ranks, int32_t *by)
{
  int n_kept = 0;

  for (int i = 0; i < n; i++) {
    ranks[i] = (CuvBoxRank){ boxes[i].score, i };
    by[i] = -1;
  }
  qsort (ranks, n, sizeof *ranks, compare_ranks);
  cuv_cells_fill (entries, boxes, n);
  for (int r = 0; r < n; r++) {
    int i = ranks[r].box;

    if (by[i] >= 0)
      continue;
    by[i] = i;
    drop_around (boxes, n, i, grouping, entries, by);
    ranks[n_kept++] = ranks[r];
  }
  take_kept (out, boxes, n, ranks, n_kept, by);
  return n_kept;
}
