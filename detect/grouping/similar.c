/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds groups of boxes whose four edges are similar. Results equal those of
 * cv::groupRectangles, which compares all pairs of boxes; this code only
 * compares boxes that are near each other. */
#include "grouping/grouping.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef CuvWaldboostBox Box;

/* ---- groups ---- */

static int
smaller (int a, int b)
{
  return a < b ? a : b;
}

/* Returns the largest distance of similar boxes' edges, relative to the mean of
 * their width and height. */
static double
eps_of (const CuvGrouping *grouping)
{
  switch (grouping->method) {
    case CUV_GROUPING_WBD:
      return 0.7;
    case CUV_GROUPING_EPS:
      return grouping->eps;
    default:
      return 0.2;
  }
}

/* Returns whether similar boxes are near each other and of similar size, so
 * that they can be found by their cells. */
static bool
can_use_cells (const Box *boxes, int n, double eps)
{
  bool can = eps >= 0 && eps <= 1;

  for (int i = 0; i < n && can; i++)
    can = boxes[i].width > 0 && boxes[i].height > 0;
  return can;
}

static double
size_of (const Box *box)
{
  return (double) box->width + box->height;
}

static bool
similar (const Box *a, const Box *b, double eps)
{
  double most = eps
      * (smaller (a->width, b->width) + smaller (a->height, b->height)) * 0.5;

  return abs (a->x - b->x) <= most && abs (a->y - b->y) <= most
      && abs (a->x + a->width - b->x - b->width) <= most
      && abs (a->y + a->height - b->y - b->height) <= most;
}

/* Returns the cell of a coordinate. A cell is half as wide to as wide as the
 * boxes of its class; in wider cells, boxes of different groups would be
 * compared. */
static int64_t
group_cell_of (int64_t coordinate, int class)
{
  return coordinate >> (class > 0 ? class - 1 : 0);
}

static int32_t *
chain_of (
    const CuvWaldboostGrouper *self, int class, int64_t row, int64_t column)
{
  const uint32_t hash = (uint32_t) class * 0x9e3779b1u
      + (uint32_t) row * 0x85ebca77u + (uint32_t) column * 0xc2b2ae3du;

  return &self->chains[(hash ^ hash >> 16) & (self->n_chains - 1)];
}

static int32_t *
chain_of_box (const CuvWaldboostGrouper *self, const Box *box)
{
  const int class = cuv_cell_class_of (box);

  return chain_of (self, class, group_cell_of (box->y, class),
      group_cell_of (box->x, class));
}

/* Fills the chains, each with its boxes in ascending order; without cells, a
 * single chain. */
static void
fill_chains (CuvWaldboostGrouper *self, const Box *boxes, int n, bool cells)
{
  self->n_chains = cells ? cuv_group_capacity (n) : 1;
  memset (self->chains, 0xff, sizeof *self->chains * self->n_chains);
  for (int i = n - 1; i >= 0; i--) {
    int32_t *chain = chain_of_box (self, &boxes[i]);

    self->root[i] = -1;
    self->next[i] = *chain;
    *chain = i;
  }
}

/* Moves the boxes of a chain that are similar to box i to its group and pushes
 * them onto the stack. Returns the size of the stack. */
static int
take_similar (CuvWaldboostGrouper *self, const Box *boxes, int i,
    int32_t *chain, double eps, int n_stack)
{
  while (*chain >= 0) {
    const int other = *chain;

    if (similar (&boxes[i], &boxes[other], eps)) {
      *chain = self->next[other];
      self->root[other] = self->root[i];
      self->stack[n_stack++] = other;
    } else {
      chain = &self->next[other];
    }
  }
  return n_stack;
}

/* Calls take_similar() for all chains with boxes of size class c near box i. */
static int
add_similar (CuvWaldboostGrouper *self, const Box *boxes, int i, int c,
    double eps, int n_stack)
{
  const Box *box = &boxes[i];
  const double size = size_of (box), largest = (double) (INT64_C (2) << c);
  const int64_t far =
      (int64_t) (eps * 0.5 * (size < largest ? size : largest)) + 1;
  const int64_t bottom = group_cell_of (box->y + far, c);
  const int64_t right = group_cell_of (box->x + far, c);

  for (int64_t row = group_cell_of (box->y - far, c); row <= bottom; row++) {
    for (int64_t column = group_cell_of (box->x - far, c); column <= right;
         column++)
      n_stack = take_similar (
          self, boxes, i, chain_of (self, c, row, column), eps, n_stack);
  }
  return n_stack;
}

/* Calls take_similar() for all chains that may have boxes similar to box i. */
static int
add_near (
    CuvWaldboostGrouper *self, const Box *boxes, int i, double eps, int n_stack)
{
  const double size = size_of (&boxes[i]);
  const int last = cuv_cell_class ((int64_t) (size * (1 + 2 * eps)) + 1);

  for (int c = cuv_cell_class ((int64_t) (size / (1 + 2 * eps))); c <= last;
       c++)
    n_stack = add_similar (self, boxes, i, c, eps, n_stack);
  return n_stack;
}

/* Completes one group after the other. Boxes of a group leave their chains,
 * because comparing all pairs would take seconds for 100000 boxes close to
 * each other. Depth-first search reaches the ends of a group early, which
 * saves comparisons. Sizes of similar boxes differ by a factor of at most 1
 * + 2 eps. */
static void
find_groups (
    CuvWaldboostGrouper *self, const Box *boxes, int n, double eps, bool cells)
{
  fill_chains (self, boxes, n, cells);
  for (int first = 0; first < n; first++) {
    int n_stack = 0;

    if (self->root[first] >= 0)
      continue;
    self->root[first] = first;
    *chain_of_box (self, &boxes[first]) = self->next[first];
    self->stack[n_stack++] = first;
    while (n_stack > 0) {
      const int i = self->stack[--n_stack];

      n_stack = cells
          ? add_near (self, boxes, i, eps, n_stack)
          : take_similar (self, boxes, i, self->chains, eps, n_stack);
    }
  }
}

/* Counts a member's rotation. As windows of one rotation are consecutive, the
 * most frequent rotation is that of the longest run. */
static void
count_rotation (CuvBoxGroup *group, int rotation)
{
  group->run = group->n > 0 && rotation == group->run_of ? group->run + 1 : 1;
  group->run_of = rotation;
  if (group->run > group->longest) {
    group->longest = group->run;
    group->rotation = rotation;
  }
}

/* Sums the boxes of each group and returns the number of groups. A root is the
 * first box of its group, so groups are numbered in the order of their first
 * boxes. The score of a group is the largest of its boxes' scores and
 * least_score. */
static int
sum_groups (
    CuvWaldboostGrouper *self, const Box *boxes, int n, float least_score)
{
  int n_groups = 0;

  for (int i = 0; i < n; i++) {
    int root = self->root[i];
    CuvBoxGroup *group;

    if (root == i) {
      self->number[i] = n_groups;
      self->groups[n_groups++] =
          (CuvBoxGroup){ .score = least_score, .weight = -INFINITY };
    }
    group = &self->groups[self->number[root]];
    group->x += boxes[i].x;
    group->y += boxes[i].y;
    group->width += boxes[i].width;
    group->height += boxes[i].height;
    count_rotation (group, boxes[i].rotation);
    group->n++;
    if (boxes[i].score > group->score)
      group->score = boxes[i].score;
    if (boxes[i].weight > group->weight)
      group->weight = boxes[i].weight;
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
    const CuvBoxGroup *group = &self->groups[i];

    if (group->n > min_neighbours)
      self->means[n++] =
          (Box){ mean (group->x, group->n), mean (group->y, group->n),
            mean (group->width, group->n), mean (group->height, group->n),
            group->score, group->n, group->rotation, group->weight };
  }
  return n;
}

/* ---- groups inside others ---- */

static bool
is_group_inside (const Box *box, const Box *other, double eps)
{
  const int64_t dx = llrint (other->width * eps);
  const int64_t dy = llrint (other->height * eps);

  return box->x >= other->x - dx && box->y >= other->y - dy
      && box->x + box->width <= other->x + other->width + dx
      && box->y + box->height <= other->y + other->height + dy
      && (other->neighbours > box->neighbours || box->neighbours < 3);
}

/* Returns whether box i is inside another box, by comparing all. */
static bool
is_inside_one (const Box *means, int n, int i, double eps)
{
  for (int other = 0; other < n; other++) {
    if (other != i && is_group_inside (&means[i], &means[other], eps))
      return true;
  }
  return false;
}

/* The same, by cells. On each side, the other box is
 * at most eps and rounding smaller than box i, which limits the search. */
static bool
is_inside_near (
    const CuvCellEntry *entries, const Box *means, int n, int i, double eps)
{
  const Box *box = &means[i];
  const int first =
      cuv_cell_class ((int64_t) ((size_of (box) - 2) / (1 + 2 * eps)));

  for (int c = first; cuv_cells_have (entries, n, c); c++) {
    int64_t largest = INT64_C (2) << c,
            grown = (int64_t) (eps * (double) largest) + 1;
    CuvCellWalk walk;
    int other;

    cuv_walk_start (&walk, entries, n, c, box->x - largest - grown,
        box->y - largest - grown, box->x + grown, box->y + grown);
    while ((other = cuv_walk_next (&walk)) >= 0) {
      if (other != i && is_group_inside (box, &means[other], eps))
        return true;
    }
  }
  return false;
}

/* WBDetector calls the variant of cv::groupRectangles that returns scores and
 * starts their maximum at DBL_MIN. */
int
cuv_group_similar (CuvWaldboostGrouper *self, const CuvGrouping *grouping,
    const Box *in, int n)
{
  bool wbd = grouping->method == CUV_GROUPING_WBD;
  const double eps = eps_of (grouping);
  const bool cells = can_use_cells (in, n, eps);
  int n_means, n_out = 0;

  find_groups (self, in, n, eps, cells);
  n_means = take_means (self,
      sum_groups (self, in, n, wbd ? (float) DBL_MIN : -INFINITY),
      grouping->min_neighbours);
  if (cells)
    cuv_cells_fill (self->entries, self->means, n_means);
  for (int i = 0; i < n_means; i++) {
    const bool inside = cells
        ? is_inside_near (self->entries, self->means, n_means, i, eps)
        : is_inside_one (self->means, n_means, i, eps);

    if (!inside)
      self->out[n_out++] = self->means[i];
  }
  return n_out;
}
