/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "motion.h"

#include <stdlib.h>

static int
compare_motion_boxes (const void *a, const void *b)
{
  const CuvMotionPart *p = &((const CuvMotionBox *) a)->part;
  const CuvMotionPart *q = &((const CuvMotionBox *) b)->part;

  if (p->area != q->area)
    return p->area > q->area ? -1 : 1;
  if (p->top != q->top)
    return p->top < q->top ? -1 : 1;
  return (p->left > q->left) - (p->left < q->left);
}

/* Returns the pixels between two ranges, negative if they overlap. */
static int
gap (int first, int end, int other_first, int other_end)
{
  return cuv_motion_max (first - other_end, other_first - end);
}

static int
gap_across (const CuvMotionPart *a, const CuvMotionPart *b)
{
  return gap (a->left, a->right, b->left, b->right);
}

static int
gap_down (const CuvMotionPart *a, const CuvMotionPart *b)
{
  return gap (a->top, a->bottom, b->top, b->bottom);
}

typedef bool (*CuvMotionRelation) (
    const CuvMotionPart *a, const CuvMotionPart *b, int distance);

static bool
are_overlapping (const CuvMotionPart *a, const CuvMotionPart *b, int distance)
{
  return gap_across (a, b) < 0 && gap_down (a, b) < 0;
}

static bool
are_stacked (const CuvMotionPart *a, const CuvMotionPart *b)
{
  const int narrower = cuv_motion_min (a->right - a->left, b->right - b->left);

  return -5 * (int64_t) gap_across (a, b) >= 4 * (int64_t) narrower;
}

static bool
has_fragment (const CuvMotionPart *a, const CuvMotionPart *b)
{
  return 10 * (int64_t) cuv_motion_min (a->area, b->area)
      < cuv_motion_max (a->area, b->area);
}

static bool
are_of_one_object (const CuvMotionPart *a, const CuvMotionPart *b, int distance)
{
  return gap_across (a, b) < distance && gap_down (a, b) < distance
      && (are_stacked (a, b) || has_fragment (a, b));
}

static void
unite_boxes (CuvMotionPart *a, const CuvMotionPart *b)
{
  a->left = cuv_motion_min (a->left, b->left);
  a->top = cuv_motion_min (a->top, b->top);
  a->right = cuv_motion_max (a->right, b->right);
  a->bottom = cuv_motion_max (a->bottom, b->bottom);
  a->area += b->area;
}

/* Adds a box to others of which no two have this relation, after uniting it
 * with all that have, again and again. */
static void
add_box (CuvMotionBox *boxes, int *n, CuvMotionBox box,
    CuvMotionRelation relation, int distance)
{
  int n_before;

  do {
    const CuvMotionPart part = box.part;

    n_before = *n;
    for (int i = *n - 1; i >= 0; i--) {
      if (!relation (&boxes[i].part, &part, distance))
        continue;
      unite_boxes (&box.part, &boxes[i].part);
      boxes[i] = boxes[--*n];
    }
  } while (*n < n_before);
  boxes[(*n)++] = box;
}

int
cuv_motion_boxes (const CuvMotionPart *parts, int n_parts, int min_area,
    int distance, CuvMotionBox *boxes)
{
  int n = 0;

  for (int i = 0; i < n_parts; i++) {
    if (n == CUV_MOTION_MAX_BOXES)
      break;
    if (parts[i].area >= min_area)
      add_box (boxes, &n, (CuvMotionBox){ parts[i], 1 }, are_of_one_object,
          distance);
  }
  qsort (boxes, (size_t) n, sizeof *boxes, compare_motion_boxes);
  return n;
}

int
cuv_motion_pad (CuvMotionBox *boxes, int n, int percent, int width, int height)
{
  int n_united = 0;

  for (int i = 0; i < n; i++) {
    CuvMotionBox box = boxes[i];
    CuvMotionPart *part = &box.part;
    const int64_t side =
        cuv_motion_max (part->right - part->left, part->bottom - part->top);
    const int pad = (int) (side * percent / 100);

    part->left = cuv_motion_max (part->left - pad, 0);
    part->top = cuv_motion_max (part->top - pad, 0);
    part->right = cuv_motion_min (part->right + pad, width);
    part->bottom = cuv_motion_min (part->bottom + pad, height);
    add_box (boxes, &n_united, box, are_overlapping, 0);
  }
  qsort (boxes, (size_t) n_united, sizeof *boxes, compare_motion_boxes);
  return n_united;
}

void
cuv_motion_ages (
    CuvMotionBox *boxes, int n, const CuvMotionBox *before, int n_before)
{
  for (int i = 0; i < n; i++) {
    boxes[i].age = 1;
    for (int k = 0; k < n_before; k++) {
      if (are_overlapping (&boxes[i].part, &before[k].part, 0))
        boxes[i].age = cuv_motion_max (boxes[i].age, before[k].age + 1);
    }
  }
}
