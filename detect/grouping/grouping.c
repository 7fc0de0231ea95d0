/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Entry points of the grouping: makes boxes of hits, chooses the method,
 * manages memory and clips boxes. */
#include "grouping/grouping.h"
#include "reference/waldboost-reference.h"

#include <stdlib.h>
#include <string.h>

typedef CuvWaldboostBox Box;

/* ---- memory ---- */

/* Returns the next n elements of memory, and moves *memory beyond them. */
static void *
next_array (char **memory, size_t n, size_t size)
{
  void *array = *memory;

  *memory += n * size;
  return array;
}

static bool
reserve_boxes (CuvWaldboostGrouper *self, int n)
{
  const size_t per_box = 3 * sizeof (Box) + sizeof (CuvCellEntry)
      + sizeof (CuvBoxRank) + 5 * sizeof (int32_t) + sizeof (CuvBoxGroup);
  const size_t capacity = cuv_group_capacity (n);
  char *at;

  if (n <= self->capacity)
    return true;
  free (self->memory);
  self->memory = at = malloc (capacity * per_box);
  self->capacity = at != NULL ? (int) capacity : 0;
  if (at == NULL)
    return false;
  self->boxes = next_array (&at, capacity, sizeof *self->boxes);
  self->entries = next_array (&at, capacity, sizeof *self->entries);
  self->ranks = next_array (&at, capacity, sizeof *self->ranks);
  self->root = next_array (&at, capacity, sizeof *self->root);
  self->chains = next_array (&at, capacity, sizeof *self->chains);
  self->next = next_array (&at, capacity, sizeof *self->next);
  self->stack = next_array (&at, capacity, sizeof *self->stack);
  self->number = next_array (&at, capacity, sizeof *self->number);
  self->groups = next_array (&at, capacity, sizeof *self->groups);
  self->means = next_array (&at, capacity, sizeof *self->means);
  self->out = next_array (&at, capacity, sizeof *self->out);
  return true;
}

/* ---- entry points ---- */

int
cuv_waldboost_group_boxes (CuvWaldboostGrouper *self,
    const CuvGrouping *grouping, const CuvWaldboostBox *in, int n,
    const CuvWaldboostBox **boxes)
{
  if (!reserve_boxes (self, n))
    return -1;
  *boxes = self->out;
  if (grouping->method == CUV_GROUPING_NMS)
    return cuv_suppress (
        self->out, in, n, grouping, self->entries, self->ranks, self->root);
  if (grouping->method != CUV_GROUPING_NONE && grouping->min_neighbours > 0)
    return cuv_group_similar (self, grouping, in, n);
  memcpy (self->out, in, n * sizeof *in);
  return n;
}

/* Scales boxes from the enlarged frame to the frame. */
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
clip_boxes (Box *boxes, int n, int width, int height)
{
  int n_out = 0;

  for (int i = 0; i < n; i++) {
    Box box = boxes[i];
    int right = box.x + box.width, bottom = box.y + box.height;

    box.x = box.x > 0 ? box.x : 0;
    box.y = box.y > 0 ? box.y : 0;
    box.width = (right < width ? right : width) - box.x;
    box.height = (bottom < height ? bottom : height) - box.y;
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

/* Appends the boxes of a scan to the first n boxes. Returns the new number of
 * boxes. */
static int
add_hits_of_scan (
    CuvWaldboostGrouper *self, const CuvWaldboostHits *scan, int n)
{
  const CuvWaldboostPlan *plan = scan->plan;

  for (int i = 0; i < scan->n; i++) {
    const CuvWaldboostHit *hit = &scan->hits[i];

    if (plan->turn.degrees != 0
        && !cuv_turn_keeps (plan, &plan->levels[hit->level], hit->x, hit->y))
      continue;
    self->boxes[n] = cuv_waldboost_box (plan, hit);
    if (scan->weights != NULL)
      self->boxes[n].weight = scan->weights[i];
    n++;
  }
  return n;
}

int
cuv_waldboost_group_scans (CuvWaldboostGrouper *self,
    const CuvGrouping *grouping, const CuvWaldboostHits *scans, int n_scans,
    const CuvWaldboostBox **boxes)
{
  /* replaced below by a plan with hits */
  const CuvWaldboostPlan *plan = scans[0].plan;
  CuvGrouping actual = *grouping;
  int n_hits = 0, n = 0;

  for (int i = 0; i < n_scans; i++) {
    n_hits += scans[i].n;
    if (scans[i].n > 0)
      plan = scans[i].plan;
  }
  if (actual.method == CUV_GROUPING_AUTO)
    actual.method = method_for (plan->scan);
  if (!reserve_boxes (self, n_hits))
    return -1;
  for (int i = 0; i < n_scans; i++)
    n = add_hits_of_scan (self, &scans[i], n);
  n = cuv_waldboost_group_boxes (self, &actual, self->boxes, n, boxes);
  if (n > 0
      && (plan->upright_width != plan->width
          || plan->upright_height != plan->height))
    shrink (plan, self->out, n);
  return n < 0 ? n : clip_boxes (self->out, n, plan->width, plan->height);
}

int
cuv_waldboost_group (CuvWaldboostGrouper *self, const CuvWaldboostPlan *plan,
    const CuvGrouping *grouping, const CuvWaldboostHit *hits, int n_hits,
    const CuvWaldboostBox **boxes)
{
  const CuvWaldboostHits scan = { plan, hits, n_hits, NULL };

  return cuv_waldboost_group_scans (self, grouping, &scan, 1, boxes);
}

CuvWaldboostGrouper *
cuv_waldboost_grouper_new (void)
{
  CuvWaldboostGrouper *self = calloc (1, sizeof *self);

  if (self != NULL && !reserve_boxes (self, 1)) {
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
