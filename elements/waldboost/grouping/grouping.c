/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Groups boxes whose four edges are similar.
 *
 * The groups are those of cv::groupRectangles, which compares all pairs; here a
 * box is only compared with those near it. */
#include "grouping/grouping.h"
#include "reference/waldboost-reference.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef CuvWaldboostBox Box;

typedef struct {
  int64_t x, y, width, height; /* sums over the members */
  float score;
  int32_t n;
  int32_t run, longest; /* windows of one rotation, which come together */
  int32_t run_of, rotation;
} Group;

struct _CuvWaldboostGrouper {
  int capacity;
  void *memory;          /* of the arrays below, capacity elements each */
  Box *boxes;            /* of the hits */
  CuvCellEntry *entries; /* boxes, or means, sorted by cell */
  CuvBoxRank *ranks;
  int32_t *root; /* the first box of the box's group */
  /* per hash of a cell: its first box that is in no group yet, or -1 */
  int32_t *chains;
  size_t n_chains; /* a power of 2 */
  int32_t *next;   /* per box in a chain: the next one, or -1 */
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

static double
size_of (const Box *box)
{
  return (double) box->width + box->height;
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

/* A power of 2 that is at least n, and 256, so that the size of each array is a
 * multiple of 16. */
static size_t
capacity_for (int n)
{
  size_t capacity = 256;

  while (capacity < (size_t) n)
    capacity *= 2;
  return capacity;
}

/* Boxes are as wide as the cells of their class to twice as wide. In wider
 * cells, boxes of different groups would be compared. */
static int64_t
place_of (int64_t coordinate, int class)
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

  return chain_of (
      self, class, place_of (box->y, class), place_of (box->x, class));
}

/* Chains are in ascending order. */
static void
fill_chains (CuvWaldboostGrouper *self, const Box *boxes, int n)
{
  self->n_chains = capacity_for (n);
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

/* The same for all boxes of class c. */
static int
add_similar (CuvWaldboostGrouper *self, const Box *boxes, int i, int c,
    double eps, int n_stack)
{
  const Box *box = &boxes[i];
  const double size = size_of (box), largest = (double) (INT64_C (2) << c);
  const int64_t far =
      (int64_t) (eps * 0.5 * (size < largest ? size : largest)) + 1;
  const int64_t bottom = place_of (box->y + far, c);
  const int64_t right = place_of (box->x + far, c);

  for (int64_t row = place_of (box->y - far, c); row <= bottom; row++) {
    for (int64_t column = place_of (box->x - far, c); column <= right; column++)
      n_stack = take_similar (
          self, boxes, i, chain_of (self, c, row, column), eps, n_stack);
  }
  return n_stack;
}

/* Completes one group after the other; its boxes leave their chains: comparing
 * all pairs would take seconds for 100000 boxes close to each other. Depth
 * first reaches the ends of a group early, which saves comparisons. Sizes of
 * similar boxes differ by a factor of at most 1 + 2 eps. */
static void
find_groups (CuvWaldboostGrouper *self, const Box *boxes, int n, double eps)
{
  fill_chains (self, boxes, n);
  for (int first = 0; first < n; first++) {
    int n_stack = 0;

    if (self->root[first] >= 0)
      continue;
    self->root[first] = first;
    *chain_of_box (self, &boxes[first]) = self->next[first];
    self->stack[n_stack++] = first;
    while (n_stack > 0) {
      const int i = self->stack[--n_stack];
      const double size = size_of (&boxes[i]);
      const int last = cuv_cell_class ((int64_t) (size * (1 + 2 * eps)) + 1);

      for (int c = cuv_cell_class ((int64_t) (size / (1 + 2 * eps))); c <= last;
           c++)
        n_stack = add_similar (self, boxes, i, c, eps, n_stack);
    }
  }
}

/* The rotation of most members is that of the longest run. */
static void
count_rotation (Group *group, int rotation)
{
  group->run = group->n > 0 && rotation == group->run_of ? group->run + 1 : 1;
  group->run_of = rotation;
  if (group->run > group->longest) {
    group->longest = group->run;
    group->rotation = rotation;
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
    count_rotation (group, boxes[i].rotation);
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
      self->means[n++] =
          (Box){ mean (group->x, group->n), mean (group->y, group->n),
            mean (group->width, group->n), mean (group->height, group->n),
            group->score, group->n, group->rotation };
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

/* A box that contains another one is at most eps and rounding smaller on each
 * side. */
static bool
is_inside_any (
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
      + sizeof (CuvBoxRank) + 5 * sizeof (int32_t) + sizeof (Group);
  const size_t capacity = capacity_for (n);
  char *at;

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
  self->chains = take (&at, capacity, sizeof *self->chains);
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

/* From the enlarged frame to the frame. */
static void
shrink (const CuvWaldboostPlan *plan, Box *boxes, int n)
{
  for (int i = 0; i < n; i++) {
    Box *box = &boxes[i];

    box->x = cuv_scale_to_frame (box->x, plan->upright_width, plan->width);
    box->y = cuv_scale_to_frame (box->y, plan->upright_height, plan->height);
    box->width =
        cuv_scale_to_frame (box->width, plan->upright_width, plan->width);
    box->height =
        cuv_scale_to_frame (box->height, plan->upright_height, plan->height);
  }
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

/* Appends the boxes of a scan to those of n hits. Returns the new number. */
static int
add_boxes (CuvWaldboostGrouper *self, const CuvWaldboostHits *scan, int n)
{
  const CuvWaldboostPlan *plan = scan->plan;

  for (int i = 0; i < scan->n; i++) {
    const CuvWaldboostHit *hit = &scan->hits[i];

    if (plan->turn.degrees == 0
        || cuv_turn_keeps (plan, &plan->levels[hit->level], hit->x, hit->y))
      self->boxes[n++] = cuv_waldboost_box (plan, hit);
  }
  return n;
}

int
cuv_waldboost_group_scans (CuvWaldboostGrouper *self,
    const CuvGrouping *grouping, const CuvWaldboostHits *scans, int n_scans,
    const CuvWaldboostBox **boxes)
{
  const CuvWaldboostPlan *plan = scans[0].plan; /* or another one with hits */
  CuvGrouping actual = *grouping;
  int n_hits = 0, n = 0;

  for (int i = 0; i < n_scans; i++) {
    n_hits += scans[i].n;
    if (scans[i].n > 0)
      plan = scans[i].plan;
  }
  if (actual.method == CUV_GROUPING_AUTO)
    actual.method = method_for (plan->scan);
  if (!reserve (self, n_hits))
    return -1;
  for (int i = 0; i < n_scans; i++)
    n = add_boxes (self, &scans[i], n);
  n = cuv_waldboost_group_boxes (self, &actual, self->boxes, n, boxes);
  if (n > 0
      && (plan->upright_width != plan->width
          || plan->upright_height != plan->height))
    shrink (plan, self->out, n);
  return n < 0 ? n : clip (self->out, n, plan->width, plan->height);
}

int
cuv_waldboost_group (CuvWaldboostGrouper *self, const CuvWaldboostPlan *plan,
    const CuvGrouping *grouping, const CuvWaldboostHit *hits, int n_hits,
    const CuvWaldboostBox **boxes)
{
  const CuvWaldboostHits scan = { plan, hits, n_hits };

  return cuv_waldboost_group_scans (self, grouping, &scan, 1, boxes);
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
