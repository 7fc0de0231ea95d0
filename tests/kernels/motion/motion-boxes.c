/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Boxes of parts against what defines them. */
#include "cuvcheck.h"
#include "motion.h"

#include <string.h>

#define MAX 120

static void
random_parts (CuvMotionPart *parts, int n, int range)
{
  for (int i = 0; i < n; i++) {
    const int left = (int) cuv_check_below ((unsigned) range);
    const int top = (int) cuv_check_below ((unsigned) range);
    const int width = 1 + (int) cuv_check_below (9);
    const int height = 1 + (int) cuv_check_below (9);

    parts[i] = (CuvMotionPart){ left, top, left + width, top + height,
      1 + (int) cuv_check_below ((unsigned) (width * height)) };
  }
}

/* Returns the pixels between two boxes, negative if they overlap. */
static int
gap (const CuvMotionPart *a, const CuvMotionPart *b)
{
  const int across = cuv_motion_max (a->left - b->right, b->left - a->right);
  const int down = cuv_motion_max (a->top - b->bottom, b->top - a->bottom);

  return cuv_motion_max (across, down);
}

static bool
contains (const CuvMotionPart *a, const CuvMotionPart *b)
{
  return a->left <= b->left && a->top <= b->top && a->right >= b->right
      && a->bottom >= b->bottom;
}

/* Labels parts by the box they end in, uniting two at a time from scratch. */
static int
count_boxes (const CuvMotionPart *parts, int n, int min_area, int distance)
{
  CuvMotionPart left[MAX];
  int n_left = 0;

  for (int i = 0; i < n; i++) {
    if (parts[i].area >= min_area)
      left[n_left++] = parts[i];
  }
restart:
  for (int i = 0; i < n_left; i++) {
    for (int k = 0; k < i; k++) {
      if (gap (&left[i], &left[k]) >= distance)
        continue;
      left[k] = (CuvMotionPart){ cuv_motion_min (left[i].left, left[k].left),
        cuv_motion_min (left[i].top, left[k].top),
        cuv_motion_max (left[i].right, left[k].right),
        cuv_motion_max (left[i].bottom, left[k].bottom), 0 };
      left[i] = left[--n_left];
      goto restart;
    }
  }
  return n_left;
}

static void
check_contents (const CuvMotionPart *parts, int n_parts, int min_area,
    const CuvMotionBox *boxes, int n)
{
  for (int i = 0; i < n; i++) {
    int area = 0;

    for (int k = 0; k < n_parts; k++) {
      if (parts[k].area >= min_area && contains (&boxes[i].part, &parts[k]))
        area += parts[k].area;
    }
    CUV_CHECK (area == boxes[i].part.area, ": box %d: %d, not %d", i,
        boxes[i].part.area, area);
  }
}

static void
check_order (const CuvMotionBox *boxes, int n, int distance)
{
  for (int i = 1; i < n; i++) {
    const CuvMotionPart *a = &boxes[i - 1].part, *b = &boxes[i].part;

    CUV_CHECK (a->area > b->area
            || (a->area == b->area
                && (a->top < b->top
                    || (a->top == b->top && a->left < b->left))),
        ": box %d", i);
    for (int k = 0; k < i; k++)
      CUV_CHECK (gap (&boxes[k].part, b) >= distance, ": boxes %d, %d", k, i);
  }
}

CUV_CHECKS_CPU (boxes)
{
  static CuvMotionBox found[CUV_MOTION_MAX_BOXES];
  CuvMotionPart parts[MAX];

  for (int i = 0; i < 300; i++) {
    const int n = (int) cuv_check_below (MAX),
              min_area = (int) cuv_check_below (6);
    const int distance = (int) cuv_check_below (8);
    int n_found;

    cuv_check_case ("boxes %d: %d parts, distance %d", i, n, distance);
    random_parts (parts, n, 60 + i);
    n_found = cuv_motion_boxes (parts, n, min_area, distance, found);
    CUV_CHECK (
        n_found == count_boxes (parts, n, min_area, distance), ": %d", n_found);
    check_order (found, n_found, distance);
    check_contents (parts, n, min_area, found, n_found);
  }
}

CUV_CHECKS_CPU (ages)
{
  CuvMotionBox before[] = { { { 0, 0, 10, 10, 50 }, 7 },
    { { 20, 0, 30, 10, 50 }, 3 } };
  CuvMotionBox boxes[] = { { { 9, 9, 21, 21, 90 }, 0 },
    { { 10, 10, 12, 12, 4 }, 0 }, { { 25, 5, 26, 6, 1 }, 0 } };

  cuv_motion_ages (boxes, 3, before, 2);
  CUV_CHECK (boxes[0].age == 8, ": the older of two: %d", boxes[0].age);
  CUV_CHECK (boxes[1].age == 1, ": touches only: %d", boxes[1].age);
  CUV_CHECK (boxes[2].age == 4, ": %d", boxes[2].age);
}

/* As many parts as there can be boxes, and more. */
CUV_CHECKS_CPU (many)
{
  static CuvMotionPart parts[CUV_MOTION_MAX_PARTS];
  static CuvMotionBox found[CUV_MOTION_MAX_BOXES];
  const int n = CUV_MOTION_MAX_BOXES + 100;

  for (int i = 0; i < n; i++)
    parts[i] = (CuvMotionPart){ i % 40 * 9, i / 40 * 9, i % 40 * 9 + 2,
      i / 40 * 9 + 2, 4 };
  CUV_CHECK (cuv_motion_boxes (parts, n, 1, 0, found) == CUV_MOTION_MAX_BOXES);
  CUV_CHECK (cuv_motion_boxes (parts, n, 1, 8, found) == 1);
  CUV_CHECK (found[0].part.area == 4 * n, ": %d", found[0].part.area);
}
