/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Connected parts, row by row: a run of moving pixels joins the parts of the
 * runs above that it touches. Labels are numbered in the order of the first
 * pixels of their parts, so that the least of joined labels keeps that order.
 */
#include "cpu/bits.h"

#include <stdlib.h>

bool
cuv_motion_runs_init (CuvMotionRuns *self, int width, int height)
{
  const size_t n_runs = (size_t) width / 2 + 1;

  self->runs = malloc (2 * n_runs * sizeof *self->runs);
  /* parts of single pixels, none of which touch, are the most there can be */
  self->labels =
      malloc (n_runs * ((size_t) height / 2 + 1) * sizeof *self->labels);
  return self->runs != NULL && self->labels != NULL;
}

void
cuv_motion_runs_clear (CuvMotionRuns *self)
{
  free (self->runs);
  free (self->labels);
}

/* Adds the runs of a word, the first pixel of which is x, to n of the row;
 * returns their number. */
static int
add_runs (uint64_t word, int x, CuvMotionRun *runs, int n)
{
  while (word != 0) {
    const int first = __builtin_ctzll (word);
    const uint64_t gap = ~(word >> first);
    const int length = gap != 0 ? __builtin_ctzll (gap) : 64;

    if (n > 0 && first == 0 && runs[n - 1].end == x)
      runs[n - 1].end += length;
    else
      runs[n++] = (CuvMotionRun){ x + first, x + first + length, -1 };
    if (first + length >= 64)
      break;
    word &= ~UINT64_C (0) << (first + length);
  }
  return n;
}

/* Lists the runs of a row; returns their number. */
static int
find_runs (const CuvMotionBits *mask, const CuvMotionMark *marks, int y,
    CuvMotionRun *runs)
{
  const uint64_t *row = mask->words + (size_t) y * (size_t) mask->stride;
  const int n_marks = cuv_motion_n_marks (mask->stride);
  int n = 0;

  if (marks == NULL) {
    for (int i = 0; i < mask->stride; i++)
      n = add_runs (row[i], 64 * i, runs, n);
    return n;
  }
  for (int i = 0; i < n_marks; i++) {
    unsigned left = marks[(size_t) y * (size_t) n_marks + (size_t) i];

    for (; left != 0; left &= left - 1) {
      const int k = CUV_MOTION_MARK_WORDS * i + __builtin_ctz (left);

      n = add_runs (row[k], 64 * k, runs, n);
    }
  }
  return n;
}

static int
find_root (CuvMotionLabel *labels, int i)
{
  while (labels[i].parent != i) {
    labels[i].parent = labels[labels[i].parent].parent;
    i = labels[i].parent;
  }
  return i;
}

static void
add_part (CuvMotionPart *to, const CuvMotionPart *part)
{
  to->left = cuv_motion_min (to->left, part->left);
  to->top = cuv_motion_min (to->top, part->top);
  to->right = cuv_motion_max (to->right, part->right);
  to->bottom = cuv_motion_max (to->bottom, part->bottom);
  to->area += part->area;
}

/* Joins two parts; returns their label. */
static int
join_parts (CuvMotionLabel *labels, int a, int b)
{
  const int root = cuv_motion_min (a, b), other = cuv_motion_max (a, b);

  if (root != other)
    labels[other].parent = root;
  return root;
}

/* Labels the runs of row y, given those of the row above. */
static void
label_runs (CuvMotionRun *runs, int n, const CuvMotionRun *above, int n_above,
    int y, CuvMotionLabel *labels, int *n_labels)
{
  for (int i = 0, k = 0; i < n; i++) {
    CuvMotionRun *run = &runs[i];
    const CuvMotionPart part = { run->first, y, run->end, y + 1,
      run->end - run->first };

    while (k < n_above && above[k].end < run->first)
      k++;
    for (int j = k; j < n_above && above[j].first <= run->end; j++) {
      const int root = find_root (labels, above[j].label);

      run->label =
          run->label < 0 ? root : join_parts (labels, run->label, root);
    }
    if (run->label < 0) {
      run->label = (*n_labels)++;
      labels[run->label] = (CuvMotionLabel){ part, run->label };
    } else {
      add_part (&labels[run->label].part, &part);
    }
  }
}

/* Adds labels to those that they were joined with, and lists the latter. */
static int
list_parts (CuvMotionLabel *labels, int n_labels, CuvMotionPart *parts, int max)
{
  int n = 0;

  for (int i = n_labels - 1; i >= 0; i--) {
    if (labels[i].parent != i)
      add_part (&labels[labels[i].parent].part, &labels[i].part);
  }
  for (int i = 0; i < n_labels; i++) {
    if (labels[i].parent == i) {
      if (n < max)
        parts[n] = labels[i].part;
      n++;
    }
  }
  return n;
}

int
cuv_motion_bits_parts (const CuvMotionBits *mask, const CuvMotionMark *marks,
    CuvMotionRuns *memory, CuvMotionPart *parts, int max)
{
  CuvMotionRun *runs = memory->runs, *above = runs + mask->width / 2 + 1;
  int n_above = 0, n_labels = 0;

  for (int y = 0; y < mask->height; y++) {
    CuvMotionRun *const swapped = above;
    const int n = find_runs (mask, marks, y, runs);

    label_runs (runs, n, above, n_above, y, memory->labels, &n_labels);
    above = runs;
    runs = swapped;
    n_above = n;
  }
  return list_parts (memory->labels, n_labels, parts, max);
}
