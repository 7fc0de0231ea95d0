/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From windows to objects: boxes that agree on all four edges form a group.
 *
 * The groups are those of OpenCV's groupRectangles with eps 0.2, which compares
 * each box with each. Here boxes are sorted into cells, by size and place, so
 * that a box is compared with those near it only. */
#include "waldboost.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EPS 0.2
#define CELLS (1 << 24) /* across and down */

typedef CuvWaldboostBox Box;

typedef struct {
  uint64_t key; /* of the cell */
  int32_t box;
} Entry;

typedef struct {
  int64_t x, y, width, height; /* sums over the members */
  float score;
  int32_t n;
} Group;

struct _CuvWaldboostGrouper {
  int capacity;
  Box *boxes;      /* of the hits */
  Entry *entries;  /* boxes by cell */
  int32_t *parent; /* a forest: boxes of one group have one root */
  int32_t *number; /* of the group of which a box is the root */
  Group *groups;
  Box *means; /* of the groups that are large enough */
  Box *out;
};

/* ---- cells ---- */

/* Boxes of class k have width + height in 2^k .. 2^(k+1) - 1. */
static int
size_class (const Box *box)
{
  int64_t size = (int64_t) box->width + box->height;

  return size < 2 ? 0 : 63 - __builtin_clzll ((uint64_t) size);
}

/* No edge of a similar box is further away. */
static int
reach (const Box *box)
{
  return (int) (EPS * 0.5 * ((double) box->width + box->height)) + 1;
}

/* Cells are squares of about the reach of their class. */
static uint64_t
cell_of (int place, int class)
{
  int64_t cell = (place >> (class > 2 ? class - 2 : 0)) + CELLS / 2;

  return cell < 0 ? 0 : cell >= CELLS ? CELLS - 1 : (uint64_t) cell;
}

static uint64_t
make_key (int class, uint64_t row, uint64_t column)
{
  return (uint64_t) class << 48 | row << 24 | column;
}

static int
compare_entries (const void *a, const void *b)
{
  const Entry *x = a, *y = b;

  if (x->key != y->key)
    return x->key < y->key ? -1 : 1;
  return (x->box > y->box) - (x->box < y->box);
}

static void
fill_cells (Entry *entries, const Box *boxes, int n)
{
  for (int i = 0; i < n; i++) {
    int class = size_class (&boxes[i]);

    entries[i].box = i;
    entries[i].key = make_key (
        class, cell_of (boxes[i].y, class), cell_of (boxes[i].x, class));
  }
  qsort (entries, n, sizeof *entries, compare_entries);
}

static int
first_not_below (const Entry *entries, int n, uint64_t key)
{
  int low = 0, high = n;

  while (low < high) {
    int middle = low + (high - low) / 2;

    if (entries[middle].key < key)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* A walk over the boxes of one class whose cells touch a rectangle. */
typedef struct {
  const Entry *entries;
  int n, at;
  uint64_t left, right; /* keys of the row's first and last cell */
  uint64_t last_left;
} Walk;

static void
walk_start (Walk *self, const Entry *entries, int n, int class, int left,
    int top, int right, int bottom)
{
  uint64_t row = cell_of (top, class);

  self->entries = entries;
  self->n = n;
  self->left = make_key (class, row, cell_of (left, class));
  self->right = make_key (class, row, cell_of (right, class));
  self->last_left =
      make_key (class, cell_of (bottom, class), cell_of (left, class));
  self->at = first_not_below (entries, n, self->left);
}

/* The next box, or -1. */
static inline int
walk_next (Walk *self)
{
  const uint64_t down = make_key (0, 1, 0);

  while (self->at == self->n || self->entries[self->at].key > self->right) {
    if (self->left == self->last_left)
      return -1;
    self->left += down;
    self->right += down;
    self->at += first_not_below (
        self->entries + self->at, self->n - self->at, self->left);
  }
  return self->entries[self->at++].box;
}

/* ---- groups ---- */

static int
min_int (int a, int b)
{
  return a < b ? a : b;
}

static bool
similar (const Box *a, const Box *b)
{
  double most = EPS
      * (min_int (a->width, b->width) + min_int (a->height, b->height)) * 0.5;

  return abs (a->x - b->x) <= most && abs (a->y - b->y) <= most
      && abs (a->x + a->width - b->x - b->width) <= most
      && abs (a->y + a->height - b->y - b->height) <= most;
}

static int
find_root (int32_t *parent, int i)
{
  while (parent[i] != i) {
    parent[i] = parent[parent[i]];
    i = parent[i];
  }
  return i;
}

static void
unite (int32_t *parent, int a, int b)
{
  a = find_root (parent, a);
  b = find_root (parent, b);
  if (a < b)
    parent[b] = a;
  else
    parent[a] = b;
}

/* Similar boxes differ by a factor below 2, so by one class at most. Of a pair
 * in one class, the one that comes first in the cells finds the other. */
static void
unite_similar (CuvWaldboostGrouper *self, const Box *boxes, int n)
{
  fill_cells (self->entries, boxes, n);
  for (int i = 0; i < n; i++)
    self->parent[i] = i;
  for (int e = 0; e < n; e++) {
    int i = self->entries[e].box, other;
    const Box *box = &boxes[i];
    int class = size_class (box), d = reach (box);

    for (int c = class; c <= class + 1; c++) {
      int top = c == class ? box->y : box->y - d;
      Walk walk;

      walk_start (
          &walk, self->entries, n, c, box->x - d, top, box->x + d, box->y + d);
      if (c == class)
        walk.at = e + 1;
      while ((other = walk_next (&walk)) >= 0) {
        /* most boxes near each other have been united by way of a third */
        if (self->parent[other] != self->parent[i]
            && similar (box, &boxes[other]))
          unite (self->parent, i, other);
      }
    }
  }
}

/* A root is the first of its group, so groups are numbered as they appear. */
static int
sum_groups (CuvWaldboostGrouper *self, const Box *boxes, int n)
{
  int n_groups = 0;

  for (int i = 0; i < n; i++) {
    int root = find_root (self->parent, i);
    Group *group;

    if (root == i) {
      self->number[i] = n_groups;
      self->groups[n_groups++] = (Group){ .score = boxes[i].score };
    }
    group = &self->groups[self->number[root]];
    group->x += boxes[i].x;
    group->y += boxes[i].y;
    group->width += boxes[i].width;
    group->height += boxes[i].height;
    group->n++;
    if (boxes[i].score > group->score)
      group->score = boxes[i].score;
  }
  return n_groups;
}

static int
mean (int64_t sum, int n)
{
  return (int) lrintf ((float) sum * (1.f / n));
}

static int
take_means (CuvWaldboostGrouper *self, int n_groups, int min_neighbours)
{
  int n = 0;

  for (int i = 0; i < n_groups; i++) {
    const Group *group = &self->groups[i];

    if (group->n > min_neighbours)
      self->means[n++] = (Box){ mean (group->x, group->n),
        mean (group->y, group->n), mean (group->width, group->n),
        mean (group->height, group->n), group->score, group->n };
  }
  return n;
}

/* ---- groups inside others ---- */

static bool
is_inside (const Box *box, const Box *other)
{
  int dx = (int) lrint (other->width * EPS);
  int dy = (int) lrint (other->height * EPS);

  return box->x >= other->x - dx && box->y >= other->y - dy
      && box->x + box->width <= other->x + other->width + dx
      && box->y + box->height <= other->y + other->height + dy
      && (other->neighbours > box->neighbours || box->neighbours < 3);
}

/* A box around another one is of its class or the one below, or larger. */
static bool
is_inside_any (const Entry *entries, const Box *means, int n, int i)
{
  const Box *box = &means[i];
  int class = size_class (box);

  for (int c = class > 0 ? class - 1 : 0; c < 30; c++) {
    int size = 2 << c, grown = (int) (EPS * size) + 1;
    Walk walk;
    int other;

    if (first_not_below (entries, n, make_key (c, 0, 0)) == n)
      break; /* none is larger */
    walk_start (&walk, entries, n, c, box->x - size - grown,
        box->y - size - grown, box->x + grown, box->y + grown);
    while ((other = walk_next (&walk)) >= 0) {
      if (other != i && is_inside (box, &means[other]))
        return true;
    }
  }
  return false;
}

/* ---- entries ---- */

static void *
grow (void *memory, size_t size, bool *ok)
{
  void *grown = realloc (memory, size);

  if (grown == NULL)
    *ok = false;
  return grown != NULL ? grown : memory;
}

static bool
reserve (CuvWaldboostGrouper *self, int n)
{
  size_t capacity = 256;
  bool ok = true;

  while (capacity < (size_t) n)
    capacity *= 2;
  if (n <= self->capacity)
    return true;
  self->boxes = grow (self->boxes, capacity * sizeof *self->boxes, &ok);
  self->entries = grow (self->entries, capacity * sizeof *self->entries, &ok);
  self->parent = grow (self->parent, capacity * sizeof *self->parent, &ok);
  self->number = grow (self->number, capacity * sizeof *self->number, &ok);
  self->groups = grow (self->groups, capacity * sizeof *self->groups, &ok);
  self->means = grow (self->means, capacity * sizeof *self->means, &ok);
  self->out = grow (self->out, capacity * sizeof *self->out, &ok);
  if (ok)
    self->capacity = (int) capacity;
  return ok;
}

int
cuv_waldboost_group_boxes (CuvWaldboostGrouper *self,
    const CuvGrouping *grouping, const CuvWaldboostBox *in, int n,
    const CuvWaldboostBox **boxes)
{
  int min_neighbours = grouping->min_neighbours;
  int n_means, n_out = 0;

  if (!reserve (self, n))
    return -1;
  *boxes = self->out;
  if (min_neighbours <= 0) {
    memcpy (self->out, in, n * sizeof *in);
    return n;
  }
  unite_similar (self, in, n);
  n_means = take_means (self, sum_groups (self, in, n), min_neighbours);
  fill_cells (self->entries, self->means, n_means);
  for (int i = 0; i < n_means; i++) {
    if (!is_inside_any (self->entries, self->means, n_means, i))
      self->out[n_out++] = self->means[i];
  }
  return n_out;
}

CuvWaldboostBox
cuv_waldboost_box (const CuvWaldboostPlan *plan, const CuvWaldboostHit *hit)
{
  const CuvWaldboostLevel *level = &plan->levels[hit->level];

  return (Box){ (int) lrintf (hit->x * level->scale),
    (int) lrintf (hit->y * level->scale), level->box_width, level->box_height,
    hit->score, 1 };
}

/* Keeps of boxes what is inside the frame. */
static int
clip (Box *boxes, int n, int width, int height)
{
  int n_out = 0;

  for (int i = 0; i < n; i++) {
    Box box = boxes[i];
    int right = min_int (box.x + box.width, width);
    int bottom = min_int (box.y + box.height, height);

    box.x = box.x > 0 ? box.x : 0;
    box.y = box.y > 0 ? box.y : 0;
    box.width = right - box.x;
    box.height = bottom - box.y;
    if (box.width > 0 && box.height > 0)
      boxes[n_out++] = box;
  }
  return n_out;
}

int
cuv_waldboost_group (CuvWaldboostGrouper *self, const CuvWaldboostPlan *plan,
    const CuvGrouping *grouping, const CuvWaldboostHit *hits, int n_hits,
    const CuvWaldboostBox **boxes)
{
  int n;

  if (!reserve (self, n_hits))
    return -1;
  for (int i = 0; i < n_hits; i++)
    self->boxes[i] = cuv_waldboost_box (plan, &hits[i]);
  n = cuv_waldboost_group_boxes (self, grouping, self->boxes, n_hits, boxes);
  return n < 0 ? n : clip (self->out, n, plan->width, plan->height);
}

CuvWaldboostGrouper *
cuv_waldboost_grouper_new (void)
{
  CuvWaldboostGrouper *self = calloc (1, sizeof *self);

  if (self != NULL && !reserve (self, 1)) {
    cuv_waldboost_grouper_free (self);
    return NULL;
  }
  return self;
}

void
cuv_waldboost_grouper_free (CuvWaldboostGrouper *self)
{
  if (self == NULL)
    return;
  free (self->boxes);
  free (self->entries);
  free (self->parent);
  free (self->number);
  free (self->groups);
  free (self->means);
  free (self->out);
  free (self);
}
