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

static bool
are_near (const CuvMotionPart *a, const CuvMotionPart *b, int distance)
{
  return (int64_t) a->left - distance < b->right
      && (int64_t) b->left - distance < a->right
      && (int64_t) a->top - distance < b->bottom
      && (int64_t) b->top - distance < a->bottom;
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

/* Adds a box to others of which none are near each other, after uniting it with
 * those near it. */
static void
add_box (CuvMotionBox *boxes, int *n, CuvMotionBox box, int distance)
{
  for (int i = *n - 1; i >= 0; i--) {
    if (!are_near (&boxes[i].part, &box.part, distance))
      continue;
    unite_boxes (&box.part, &boxes[i].part);
    boxes[i] = boxes[--*n];
    i = *n; /* the box is larger now */
  }
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
      add_box (boxes, &n, (CuvMotionBox){ parts[i], 1 }, distance);
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
    add_box (boxes, &n_united, box, 0);
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
      if (are_near (&boxes[i].part, &before[k].part, 0))
        boxes[i].age = cuv_motion_max (boxes[i].age, before[k].age + 1);
    }
  }
}
