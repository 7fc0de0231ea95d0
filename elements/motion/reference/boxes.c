/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "motion.h"

#include <stdlib.h>

static int
compare (const void *a, const void *b)
{
  const CuvMotionPart *p = &((const CuvMotionBox *) a)->part;
  const CuvMotionPart *q = &((const CuvMotionBox *) b)->part;

  if (p->area != q->area)
    return p->area > q->area ? -1 : 1;
  if (p->top != q->top)
    return p->top < q->top ? -1 : 1;
  return (p->left > q->left) - (p->left < q->left);
}

static bool
are_near (const CuvMotionPart *a, const CuvMotionPart *b, int distance)
{
  return (int64_t) a->left - distance < b->right
      && (int64_t) b->left - distance < a->right
      && (int64_t) a->top - distance < b->bottom
      && (int64_t) b->top - distance < a->bottom;
}

static void
unite (CuvMotionPart *a, const CuvMotionPart *b)
{
  a->left = cuv_motion_min (a->left, b->left);
  a->top = cuv_motion_min (a->top, b->top);
  a->right = cuv_motion_max (a->right, b->right);
  a->bottom = cuv_motion_max (a->bottom, b->bottom);
  a->area += b->area;
}

/* Unites boxes with box i as long as there are any near it; returns whether
 * there were. */
static bool
grow (CuvMotionBox *boxes, int i, int *n, int distance)
{
  bool any = false;

  for (int k = *n - 1; k > i; k--) {
    if (!are_near (&boxes[i].part, &boxes[k].part, distance))
      continue;
    unite (&boxes[i].part, &boxes[k].part);
    boxes[k] = boxes[--*n];
    k = *n; /* the box is larger now */
    any = true;
  }
  return any;
}

static int
unite_near (CuvMotionBox *boxes, int n, int distance)
{
  bool again = true;

  while (again) {
    again = false;
    for (int i = 0; i < n; i++)
      again |= grow (boxes, i, &n, distance);
  }
  return n;
}

int
cuv_motion_boxes (const CuvMotionPart *parts, int n_parts, int min_area,
    int distance, CuvMotionBox *boxes)
{
  int n = 0;

  for (int i = 0; i < n_parts; i++) {
    if (parts[i].area < min_area)
      continue;
    if (n == CUV_MOTION_MAX_BOXES)
      n = unite_near (boxes, n, distance);
    if (n == CUV_MOTION_MAX_BOXES)
      break;
    boxes[n++] = (CuvMotionBox){ parts[i], 1 };
  }
  n = unite_near (boxes, n, distance);
  qsort (boxes, (size_t) n, sizeof *boxes, compare);
  return n;
}

void
cuv_motion_ages (
    CuvMotionBox *boxes, int n, const CuvMotionBox *before, int n_before)
{
  for (int i = 0; i < n; i++) {
    boxes[i].age = 1;
    for (int k = 0; k < n_before; k++) {
      if (are_near (&boxes[i].part, &before[k].part, 0))
        boxes[i].age = cuv_motion_max (boxes[i].age, before[k].age + 1);
    }
  }
}
