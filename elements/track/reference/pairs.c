/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The graph of a round: only boxes that overlap are compared, which a list
 * ordered by left edges finds. */
#include "mot-private.h"

#include <stdlib.h>

static int64_t
area (const CuvMotBox *box)
{
  return (int64_t) (box->right - box->left) * (box->bottom - box->top);
}

static int32_t
smaller (int32_t a, int32_t b)
{
  return a < b ? a : b;
}

static int32_t
larger (int32_t a, int32_t b)
{
  return a > b ? a : b;
}

int32_t
cuv_mot_distance (const CuvMotBox *a, const CuvMotBox *b)
{
  const int32_t width =
      smaller (a->right, b->right) - larger (a->left, b->left);
  const int32_t height =
      smaller (a->bottom, b->bottom) - larger (a->top, b->top);
  int64_t both;

  if (width <= 0 || height <= 0)
    return CUV_MOT_ONE;
  both = (int64_t) width * height;
  return CUV_MOT_ONE
      - (int32_t) (both * CUV_MOT_ONE / (area (a) + area (b) - both));
}

static const CuvMotDetection *
column_box (const CuvMot *self, int column)
{
  return &self->frame->detections[self->columns[column]];
}

/* Merges the two ordered halves of a list. */
static void
merge (CuvMot *self, int *list, int half, int n, int *spare)
{
  int a = 0, b = half;

  for (int i = 0; i < n; i++) {
    const bool first = b == n
        || (a < half
            && column_box (self, list[a])->box.left
                <= column_box (self, list[b])->box.left);

    spare[i] = first ? list[a++] : list[b++];
  }
  for (int i = 0; i < n; i++)
    list[i] = spare[i];
}

static void
sort_columns (CuvMot *self, int *list, int n, int *spare)
{
  if (n < 2)
    return;
  sort_columns (self, list, n / 2, spare);
  sort_columns (self, list + n / 2, n - n / 2, spare);
  merge (self, list, n / 2, n, spare);
}

static int32_t
order_columns (CuvMot *self)
{
  int32_t widest = 0;

  for (int i = 0; i < self->n_columns; i++) {
    const CuvMotBox *box = &column_box (self, i)->box;

    self->by_left[i] = i;
    widest = larger (widest, box->right - box->left);
  }
  sort_columns (self, self->by_left, self->n_columns, self->column_of);
  return widest;
}

/* Returns the first position in by_left[] whose box begins after x. */
static int
first_after (const CuvMot *self, int32_t x)
{
  int begin = 0, end = self->n_columns;

  while (begin < end) {
    const int middle = (begin + end) / 2;

    if (column_box (self, self->by_left[middle])->box.left > x)
      end = middle;
    else
      begin = middle + 1;
  }
  return begin;
}

/* Inserts a pair behind those of the same row with smaller columns. */
static int
add_pair (CuvMot *self, int first, int row, int column, int32_t cost)
{
  int at = self->n_pairs;

  if (self->n_pairs == self->max_pairs) {
    if (cuv_mot_grow (
            &self->pairs, self->max_pairs * 2 + 256, sizeof *self->pairs)
        != 0)
      return -1;
    self->max_pairs = self->max_pairs * 2 + 256;
  }
  for (; at > first && self->pairs[at - 1].column > column; at--)
    self->pairs[at] = self->pairs[at - 1];
  self->pairs[at] = (CuvMotPair){ row, column, cost };
  self->n_pairs++;
  return 0;
}

static int
find_row (CuvMot *self, int row, int32_t widest, int32_t limit)
{
  const CuvMotTrack *track = &self->tracks[self->rows[row]];
  const CuvMotBox *box = &track->predicted;
  const int first = self->n_pairs;

  for (int i = first_after (self, box->left - widest); i < self->n_columns;
       i++) {
    const CuvMotDetection *other = column_box (self, self->by_left[i]);
    int32_t distance;

    if (other->box.left >= box->right)
      break;
    if (other->group != track->group)
      continue;
    distance = cuv_mot_distance (box, &other->box);
    if (distance < CUV_MOT_ONE && distance <= limit
        && add_pair (self, first, row, self->by_left[i], distance) != 0)
      return -1;
  }
  return 0;
}

int
cuv_mot_find_pairs (CuvMot *self, int32_t limit)
{
  const int32_t widest = order_columns (self);

  self->n_pairs = 0;
  for (int row = 0; row < self->n_rows; row++) {
    if (find_row (self, row, widest, limit) != 0)
      return -1;
  }
  return 0;
}
