/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Groups boxes whose four edges are similar.
 *
 * The groups are those of cv::groupRectangles, which compares all pairs; here a
 * box is only compared with those near it. */
#include "grouping/grouping.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef CuvWaldboostBox Box;

typedef struct {
  int64_t x, y, width, height; /* sums over the members */
  float score;
  int32_t n;
} Group;

struct _CuvWaldboostGrouper {
  int capacity;
  void *memory;          /* of the arrays below, capacity elements each */
  Box *boxes;            /* of the hits */
  CuvCellEntry *entries; /* boxes sorted by cell */
  CuvBoxRank *ranks;
  int32_t *root; /* the first box of the box's group */
  /* per entry: itself, or a later one; all boxes between are in groups */
  int32_t *next;
  int32_t *stack;  /* boxes of a group whose neighbours are still to be added */
  int32_t *number; /* per root: index of its group */
  Group *groups;
  Box *means; /* of the groups with enough members */
  Box *out;
};

/* ---- groups ---- */

static int
min_int (int a, int b)
{
  return a < b ? a : b;
}

/* Largest distance of similar boxes' edges, relative to their mean side. */
static double
eps_of (CuvGroupingMethod method)
{
  return method == CUV_GROUPING_WBD ? 0.7 : 0.2;
}

/* Sizes of similar boxes, and of a box inside another, differ by a factor of at
 * most 1 + 2 eps. Returns the number of size classes that this spans. */
static int
classes_apart (double eps)
{
  int n = 0;

  while ((1 << n) < 1 + 2 * eps)
    n++;
  return n;
}

static bool
similar (const Box *a, const Box *b, double eps)
{
  double most = eps
      * (min_int (a->width, b->width) + min_int (a->height, b->height)) * 0.5;

  return abs (a->x - b->x) <= most && abs (a->y - b->y) <= most
      && abs (a->x + a->width - b->x - b->width) <= most
      && abs (a->y + a->height - b->y - b->height) <= most;
}

/* The first entry from e on not known to be in a group, with path halving as in
 * union-find. */
static int
first_ungrouped (int32_t *next, int n, int e)
{
  while (e < n && next[e] != e) {
    if (next[e] < n)
      next[e] = next[next[e]];
    e = next[e];
  }
  return e;
}

/* The next box of a walk that is in no group yet, or -1. Boxes found to be in a
 * group are skipped from then on. */
static int
next_ungrouped (CuvWaldboostGrouper *self, CuvCellWalk *walk)
{
  for (;;) {
    int box, e;

    walk->at = first_ungrouped (self->next, walk->n, walk->at);
    box = cuv_walk_next (walk);
    if (box < 0 || self->root[box] < 0)
      return box;
    e = walk->at - 1;
    if (self->next[e] == e)
      self->next[e] = e + 1;
  }
}

/* Adds the boxes of class c similar to box i to its group and pushes them onto
 * the stack. Returns the size of the stack. */
static int
add_similar (CuvWaldboostGrouper *self, const Box *boxes, int n, int i, int c,
    double eps, int n_stack)
{
  const Box *box = &boxes[i];
  double size = (double) box->width + box->height,
         largest = (double) (INT64_C (2) << c);
  int64_t far = (int64_t) (eps * 0.5 * (size < largest ? size : largest)) + 1;
  CuvCellWalk walk;
  int other;

  cuv_walk_start (&walk, self->entries, n, c, box->x - far, box->y - far,
      box->x + far, box->y + far);
  while ((other = next_ungrouped (self, &walk)) >= 0) {
    if (similar (box, &boxes[other], eps)) {
      self->root[other] = self->root[i];
      self->stack[n_stack++] = other;
    }
  }
  return n_stack;
}

/* Completes one group after the other and skips its boxes from then on:
 * comparing all pairs would take seconds for 100000 boxes close to each other.
 * Depth first reaches the ends of a group early, which saves comparisons. */
static void
find_groups (CuvWaldboostGrouper *self, const Box *boxes, int n, double eps)
{
  int apart = classes_apart (eps);

  cuv_cells_fill (self->entries, boxes, n);
  for (int i = 0; i < n; i++) {
    self->root[i] = -1;
    self->next[i] = i;
  }
  for (int first = 0; first < n; first++) {
    int n_stack = 0;

    if (self->root[first] >= 0)
      continue;
    self->root[first] = first;
    self->stack[n_stack++] = first;
    while (n_stack > 0) {
      int i = self->stack[--n_stack], class = cuv_cell_class_of (&boxes[i]);

      for (int c = class > apart ? class - apart : 0; c <= class + apart; c++)
        n_stack = add_similar (self, boxes, n, i, c, eps, n_stack);
    }
  }
}

/* A root is the first box of its group, so groups are numbered in the order of
 * their first boxes. A score is the largest in a group, or least_score. */
static int
sum_groups (
    CuvWaldboostGrouper *self, const Box *boxes, int n, float least_score)
{
  int n_groups = 0;

  for (int i = 0; i < n; i++) {
    int root = self->root[i];
    Group *group;

    if (root == i) {
      self->number[i] = n_groups;
      self->groups[n_groups++] = (Group){ .score = least_score };
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
is_inside (const Box *box, const Box *other, double eps)
{
  int dx = (int) lrint (other->width * eps);
  int dy = (int) lrint (other->height * eps);

  return box->x >= other->x - dx && box->y >= other->y - dy
      && box->x + box->width <= other->x + other->width + dx
      && box->y + box->height <= other->y + other->height + dy
      && (other->neighbours > box->neighbours || box->neighbours < 3);
}

/* A box that contains another one is at most eps and rounding smaller. */
static bool
is_inside_any (
    const CuvCellEntry *entries, const Box *means, int n, int i, double eps)
{
  const Box *box = &means[i];
  int first = cuv_cell_class_of (box) - classes_apart (eps);

  for (int c = first > 0 ? first : 0; cuv_cells_have (entries, n, c); c++) {
    int64_t size = INT64_C (2) << c,
            grown = (int64_t) (eps * (double) size) + 1;
    CuvCellWalk walk;
    int other;

    cuv_walk_start (&walk, entries, n, c, box->x - size - grown,
        box->y - size - grown, box->x + grown, box->y + grown);
    while ((other = cuv_walk_next (&walk)) >= 0) {
      if (other != i && is_inside (box, &means[other], eps))
        return true;
    }
  }
  return false;
}

/* cv::groupRectangles. With scores, as WBDetector calls it, their maximum
 * starts at DBL_MIN. */
static int
group_similar (CuvWaldboostGrouper *self, const CuvGrouping *grouping,
    const Box *in, int n)
{
  bool wbd = grouping->method == CUV_GROUPING_WBD;
  double eps = eps_of (grouping->method);
  int n_means, n_out = 0;

  find_groups (self, in, n, eps);
  n_means = take_means (self,
      sum_groups (self, in, n, wbd ? (float) DBL_MIN : -INFINITY),
      grouping->min_neighbours);
  cuv_cells_fill (self->entries, self->means, n_means);
  for (int i = 0; i < n_means; i++) {
    if (!is_inside_any (self->entries, self->means, n_means, i, eps))
      self->out[n_out++] = self->means[i];
  }
  return n_out;
}

/* ---- entry points ---- */

/* The next n elements of memory. */
static void *
take (char **memory, size_t n, size_t size)
{
  void *array = *memory;

  *memory += n * size;
  return array;
}

static bool
reserve (CuvWaldboostGrouper *self, int n)
{
  const size_t per_box = 3 * sizeof (Box) + sizeof (CuvCellEntry)
      + sizeof (CuvBoxRank) + 4 * sizeof (int32_t) + sizeof (Group);
  size_t capacity = 256; /* doubled: each array's size is a multiple of 16 */
  char *at;

  while (capacity < (size_t) n)
    capacity *= 2;
  if (n <= self->capacity)
    return true;
  free (self->memory);
  self->memory = at = malloc (capacity * per_box);
  self->capacity = at != NULL ? (int) capacity : 0;
  if (at == NULL)
    return false;
  self->boxes = take (&at, capacity, sizeof *self->boxes);
  self->entries = take (&at, capacity, sizeof *self->entries);
  self->ranks = take (&at, capacity, sizeof *self->ranks);
  self->root = take (&at, capacity, sizeof *self->root);
  self->next = take (&at, capacity, sizeof *self->next);
  self->stack = take (&at, capacity, sizeof *self->stack);
  self->number = take (&at, capacity, sizeof *self->number);
  self->groups = take (&at, capacity, sizeof *self->groups);
  self->means = take (&at, capacity, sizeof *self->means);
  self->out = take (&at, capacity, sizeof *self->out);
  return true;
}

int
cuv_waldboost_group_boxes (CuvWaldboostGrouper *self,
    const CuvGrouping *grouping, const CuvWaldboostBox *in, int n,
    const CuvWaldboostBox **boxes)
{
  if (!reserve (self, n))
    return -1;
  *boxes = self->out;
  if (grouping->method == CUV_GROUPING_NMS)
    return cuv_suppress (self->out, in, n, grouping->nms_iou, self->entries,
        self->ranks, self->root);
  if (grouping->method != CUV_GROUPING_NONE && grouping->min_neighbours > 0)
    return group_similar (self, grouping, in, n);
  memcpy (self->out, in, n * sizeof *in);
  return n;
}

/* Clips boxes to the frame and drops those outside. Returns their number. */
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

static CuvGroupingMethod
method_for (CuvScan scan)
{
  return scan == CUV_SCAN_DENSE ? CUV_GROUPING_NMS
      : scan == CUV_SCAN_WBD    ? CUV_GROUPING_WBD
                                : CUV_GROUPING_NEIGHBORS;
}

int
cuv_waldboost_group (CuvWaldboostGrouper *self, const CuvWaldboostPlan *plan,
    const CuvGrouping *grouping, const CuvWaldboostHit *hits, int n_hits,
    const CuvWaldboostBox **boxes)
{
  CuvGrouping actual = *grouping;
  int n;

  if (actual.method == CUV_GROUPING_AUTO)
    actual.method = method_for (plan->scan);
  if (!reserve (self, n_hits))
    return -1;
  for (int i = 0; i < n_hits; i++)
    self->boxes[i] = cuv_waldboost_box (plan, &hits[i]);
  n = cuv_waldboost_group_boxes (self, &actual, self->boxes, n_hits, boxes);
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
  free (self->memory);
  free (self);
}
