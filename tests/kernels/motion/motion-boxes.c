/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Boxes of parts against what defines them. */
#include "cuvcheck.h"
#include "motion.h"

#include <limits.h>
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

static bool
are_of_one_object (const CuvMotionPart *a, const CuvMotionPart *b, int distance)
{
  const int across = cuv_motion_max (a->left - b->right, b->left - a->right);
  const int down = cuv_motion_max (a->top - b->bottom, b->top - a->bottom);
  const int narrower = cuv_motion_min (a->right - a->left, b->right - b->left);

  return cuv_motion_max (across, down) < distance
      && (-across >= 0.8 * narrower - 1e-9 || a->area < 0.1 * b->area - 1e-9
          || b->area < 0.1 * a->area - 1e-9);
}

/* Returns the box of the parts with a label. */
static CuvMotionPart
box_of (const CuvMotionPart *parts, const int *labels, int n, int label)
{
  CuvMotionPart box = { INT_MAX, INT_MAX, INT_MIN, INT_MIN, 0 };

  for (int i = 0; i < n; i++) {
    if (labels[i] != label)
      continue;
    box.left = cuv_motion_min (box.left, parts[i].left);
    box.top = cuv_motion_min (box.top, parts[i].top);
    box.right = cuv_motion_max (box.right, parts[i].right);
    box.bottom = cuv_motion_max (box.bottom, parts[i].bottom);
    box.area += parts[i].area;
  }
  return box;
}

/* Gives the parts before part n that are of one object with it its label.
 * Returns whether there are any. */
static bool
label_near (const CuvMotionPart *parts, int *labels, int n, int distance)
{
  const CuvMotionPart box = box_of (parts, labels, n + 1, n);
  bool joins[MAX] = { false };
  bool any = false;

  for (int label = 0; label < n; label++) {
    const CuvMotionPart other = box_of (parts, labels, n + 1, label);

    joins[label] = other.area > 0 && are_of_one_object (&box, &other, distance);
    any |= joins[label];
  }
  for (int i = 0; i < n; i++) {
    if (labels[i] < n && labels[i] >= 0 && joins[labels[i]])
      labels[i] = n;
  }
  return any;
}

/* Labels the parts by the last part of their box; -1: too small. Returns the
 * number of labels. */
static int
label_parts (
    const CuvMotionPart *parts, int n, int min_area, int distance, int *labels)
{
  int n_labels = 0;

  for (int i = 0; i < n; i++) {
    labels[i] = parts[i].area >= min_area ? i : -1;
    while (labels[i] == i && label_near (parts, labels, i, distance))
      continue;
  }
  for (int label = 0; label < n; label++)
    n_labels += box_of (parts, labels, n, label).area > 0;
  return n_labels;
}

/* Checks that each label has its box. */
static void
check_boxes (const CuvMotionPart *parts, const int *labels, int n,
    const CuvMotionBox *boxes, int n_boxes)
{
  for (int label = 0; label < n; label++) {
    const CuvMotionPart box = box_of (parts, labels, n, label);
    bool found = box.area == 0;

    for (int i = 0; i < n_boxes && !found; i++)
      found = memcmp (&boxes[i].part, &box, sizeof box) == 0;
    CUV_CHECK (found, ": label %d: %d,%d to %d,%d", label, box.left, box.top,
        box.right, box.bottom);
  }
}

static void
check_order (const CuvMotionBox *boxes, int n)
{
  for (int i = 1; i < n; i++) {
    const CuvMotionPart *a = &boxes[i - 1].part, *b = &boxes[i].part;

    CUV_CHECK (a->area > b->area
            || (a->area == b->area
                && (a->top < b->top
                    || (a->top == b->top && a->left < b->left))),
        ": box %d", i);
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
    int labels[MAX], n_found;

    cuv_check_case ("boxes %d: %d parts, distance %d", i, n, distance);
    random_parts (parts, n, 60 + i);
    n_found = cuv_motion_boxes (parts, n, min_area, distance, found);
    CUV_CHECK (n_found == label_parts (parts, n, min_area, distance, labels),
        ": %d", n_found);
    check_order (found, n_found);
    check_boxes (parts, labels, n, found, n_found);
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
  for (int i = 0; i < n; i++)
    parts[i].left = 0;
  CUV_CHECK (cuv_motion_boxes (parts, n, 1, 8, found) == 1);
  CUV_CHECK (found[0].part.area == 4 * n, ": %d", found[0].part.area);
}
