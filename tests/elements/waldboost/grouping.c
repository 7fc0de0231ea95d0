/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Grouping against its definition, which compares all pairs of boxes. */
#include "config.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>
#include "cuvelements.h"
#include "waldboost.h"

#define MAX_BOXES 700
#define SECONDS 100 /* 20 times what the largest number of hits takes */

typedef CuvWaldboostBox Box;

/* ---- the definitions ---- */

static gint
minimum (gint a, gint b)
{
  return a < b ? a : b;
}

static gboolean
are_similar (const Box *a, const Box *b, gdouble eps)
{
  gdouble delta = eps
      * (minimum (a->width, b->width) + minimum (a->height, b->height)) * 0.5;

  return abs (a->x - b->x) <= delta && abs (a->y - b->y) <= delta
      && abs (a->x + a->width - b->x - b->width) <= delta
      && abs (a->y + a->height - b->y - b->height) <= delta;
}

/* Connected components: gives every box the lowest index of its group, until
 * nothing changes. */
static void
oracle_partition (const Box *boxes, gint n, gdouble eps, gint *group)
{
  gboolean changed = TRUE;

  for (gint i = 0; i < n; i++)
    group[i] = i;
  while (changed) {
    changed = FALSE;
    for (gint i = 0; i < n; i++) {
      for (gint j = 0; j < n; j++) {
        if (group[j] < group[i] && are_similar (&boxes[i], &boxes[j], eps)) {
          group[i] = group[j];
          changed = TRUE;
        }
      }
    }
  }
}

static Box
oracle_mean (
    const Box *boxes, gint n, const gint *group, gint number, gboolean wbd)
{
  gint x = 0, y = 0, w = 0, h = 0, members = 0;
  gdouble score = wbd ? DBL_MIN : -INFINITY, weight = -INFINITY;
  gfloat factor;

  for (gint i = 0; i < n; i++) {
    if (group[i] != number)
      continue;
    x += boxes[i].x;
    y += boxes[i].y;
    w += boxes[i].width;
    h += boxes[i].height;
    score = boxes[i].score > score ? boxes[i].score : score;
    weight = MAX (weight, boxes[i].weight);
    members++;
  }
  factor = 1.f / members;
  return (Box){ (gint) rint (x * factor), (gint) rint (y * factor),
    (gint) rint (w * factor), (gint) rint (h * factor), (gfloat) score, members,
    0, weight };
}

static gboolean
oracle_inside (const Box *r1, const Box *r2, gdouble eps)
{
  gint dx = (gint) rint (r2->width * eps), dy = (gint) rint (r2->height * eps);
  gint n1 = r1->neighbours, n2 = r2->neighbours;

  return r1->x >= r2->x - dx && r1->y >= r2->y - dy
      && r1->x + r1->width <= r2->x + r2->width + dx
      && r1->y + r1->height <= r2->y + r2->height + dy
      && (n2 > MAX (3, n1) || n1 < 3);
}

static gint
oracle_groups (const Box *in, gint n, const CuvGrouping *grouping, Box *out)
{
  gboolean wbd = grouping->method == CUV_GROUPING_WBD;
  gdouble eps = wbd ? 0.7 : 0.2;
  static gint group[MAX_BOXES];
  static Box means[MAX_BOXES];
  gint n_means = 0, n_out = 0;

  oracle_partition (in, n, eps, group);
  for (gint i = 0; i < n; i++) {
    Box mean = oracle_mean (in, n, group, i, wbd);

    if (group[i] == i && mean.neighbours > grouping->min_neighbours)
      means[n_means++] = mean;
  }
  for (gint i = 0; i < n_means; i++) {
    gboolean inside = FALSE;

    for (gint j = 0; j < n_means; j++)
      inside |= j != i && oracle_inside (&means[i], &means[j], eps);
    if (!inside)
      out[n_out++] = means[i];
  }
  return n_out;
}

/* Counts pixels; for small boxes only. */
static gboolean
oracle_overlap (const Box *a, const Box *b, const CuvGrouping *grouping)
{
  const gint first = a->width * a->height, second = b->width * b->height;
  gint intersection = 0;

  for (gint y = a->y; y < a->y + a->height; y++) {
    for (gint x = a->x; x < a->x + a->width; x++)
      intersection +=
          x >= b->x && x < b->x + b->width && y >= b->y && y < b->y + b->height;
  }
  return intersection / (gdouble) (first + second - intersection)
      > grouping->nms_iou
      || intersection / (gdouble) MIN (first, second) > grouping->nms_inside;
}

static gint
oracle_nms (const Box *in, gint n, const CuvGrouping *grouping, Box *out)
{
  static gboolean visited[MAX_BOXES];
  gint n_out = 0;

  memset (visited, 0, sizeof visited);
  for (gint round = 0; round < n; round++) {
    gint best = -1, by = -1;

    for (gint i = 0; i < n; i++) {
      if (!visited[i] && (best < 0 || in[i].score > in[best].score))
        best = i;
    }
    visited[best] = TRUE;
    for (gint k = 0; k < n_out && by < 0; k++) {
      if (oracle_overlap (&in[best], &out[k], grouping))
        by = k;
    }
    if (by < 0) {
      by = n_out++;
      out[by] = in[best];
      out[by].neighbours = 0;
    }
    out[by].neighbours++;
  }
  return n_out;
}

/* ---- random boxes ---- */

static gint
between (gint low, gint high)
{
  return g_random_int_range (low, high + 1);
}

/* Makes a few boxes around each other, so that dissimilar ones are not joined
 * through others. */
static gint
nested_boxes (Box *boxes, gint size)
{
  gint n = between (2, 6);

  boxes[0] = (Box){ 0, 0, between (1, size), between (1, size), 1, 1, 0, 0 };
  for (gint i = 1; i < n; i++) {
    const Box *other = &boxes[i - 1];
    gint w = other->width * between (4, 25) / 10;
    gint h = other->height * between (4, 25) / 10;

    boxes[i] = (Box){ other->x + (other->width - w) / 2,
      other->y + (other->height - h) / 2, MAX (1, w), MAX (1, h),
      between (-20, 20) / 4.f, 1, 0, 0 };
  }
  return n;
}

/* Makes boxes in clusters and anywhere, with sizes that differ by up to
 * 2^octaves. */
static gint
random_boxes (Box *boxes, gint size, gint octaves)
{
  gint n = between (1, MAX_BOXES);

  for (gint i = 0; i < n; i++) {
    Box box = { .neighbours = 1, .score = between (-20, 20) / 4.f };

    if (i > 0 && between (0, 3) > 0) {
      const Box *other = &boxes[between (0, i - 1)];

      box.x = other->x + between (-8, 8);
      box.y = other->y + between (-8, 8);
      box.width = MAX (1, other->width + between (-8, 8));
      box.height = MAX (1, other->height + between (-8, 8));
    } else {
      box.x = between (-size, size * 4);
      box.y = between (-size, size * 4);
      box.width = MAX (1, between (1, size) >> between (0, octaves));
      box.height = MAX (1, between (1, size) >> between (0, octaves));
    }
    box.weight = g_random_double () - 0.5;
    boxes[i] = box;
  }
  return n;
}

static void
compare (const Box *found, gint n_found, const Box *wanted, gint n_wanted,
    const CuvGrouping *grouping)
{
  fail_unless (n_found == n_wanted,
      "method %d, %d neighbours, iou %g, inside %g: %d boxes, not %d",
      grouping->method, grouping->min_neighbours, grouping->nms_iou,
      grouping->nms_inside, n_found, n_wanted);
  for (gint i = 0; i < n_found; i++)
    fail_unless (found[i].x == wanted[i].x && found[i].y == wanted[i].y
            && found[i].width == wanted[i].width
            && found[i].height == wanted[i].height
            && found[i].score == wanted[i].score
            && found[i].weight == wanted[i].weight
            && found[i].neighbours == wanted[i].neighbours,
        "method %d, box %d of %d: %d,%d %dx%d, %g, %d", grouping->method, i,
        n_found, found[i].x, found[i].y, found[i].width, found[i].height,
        (gdouble) found[i].score, found[i].neighbours);
}

static void
check (CuvWaldboostGrouper *grouper, const Box *in, gint n,
    const CuvGrouping *grouping)
{
  static Box wanted[MAX_BOXES];
  const Box *found;
  gint n_wanted, n_found;

  n_wanted = grouping->method == CUV_GROUPING_NMS
      ? oracle_nms (in, n, grouping, wanted)
      : oracle_groups (in, n, grouping, wanted);
  n_found = cuv_waldboost_group_boxes (grouper, grouping, in, n, &found);
  compare (found, n_found, wanted, n_wanted, grouping);
}

static void
check_method (CuvGroupingMethod method, gint rounds)
{
  static const gdouble ious[] = { 0, 0.05, 0.3, 0.3, 0.5, 0.75, 0.95, 1 };
  static const gdouble insides[] = { 0, 0.1, 0.5, 0.65, 0.65, 0.9, 1, 1, 1 };
  CuvWaldboostGrouper *grouper = cuv_waldboost_grouper_new ();
  static Box boxes[MAX_BOXES];

  g_random_set_seed (20);
  for (gint i = 0; i < rounds; i++) {
    CuvGrouping grouping = { .method = method,
      .min_neighbours = between (1, 4),
      .nms_iou = ious[between (0, G_N_ELEMENTS (ious) - 1)],
      .nms_inside = insides[between (0, G_N_ELEMENTS (insides) - 1)] };
    gint size = method == CUV_GROUPING_NMS ? 40 : 300;
    gint n = random_boxes (boxes, between (3, size), between (0, 4));

    check (grouper, boxes, n, &grouping);
    for (gint k = 0; k < 20; k++)
      check (grouper, boxes, nested_boxes (boxes, size), &grouping);
  }
  cuv_waldboost_grouper_free (grouper);
}

CUV_TEST (test_neighbors)
{
  check_method (CUV_GROUPING_NEIGHBORS, 150);
}

CUV_TEST (test_wbd)
{
  check_method (CUV_GROUPING_WBD, 150);
}

CUV_TEST (test_nms)
{
  check_method (CUV_GROUPING_NMS, 60);
}

static gint
number_kept (gdouble iou, gdouble inside, const Box *pair)
{
  const CuvGrouping grouping = {
    .method = CUV_GROUPING_NMS, .nms_iou = iou, .nms_inside = inside
  };
  CuvWaldboostGrouper *grouper = cuv_waldboost_grouper_new ();
  const Box *found;
  const gint n =
      cuv_waldboost_group_boxes (grouper, &grouping, pair, 2, &found);

  fail_unless_equals_int (found[0].neighbours, 3 - n);
  cuv_waldboost_grouper_free (grouper);
  return n;
}

/* An overlap of three of ten pixels is not above nms-iou 0.3, nor one of three
 * of five above nms-inside 0.6. */
CUV_TEST (test_nms_limit)
{
  const Box pair[] = { { 0, 0, 7, 1, 2, 1, 0, 0 }, { 4, 0, 6, 1, 1, 1, 0, 0 } };
  const Box inside[] = { { 5, 0, 5, 1, 2, 1, 0, 0 },
    { 0, 0, 8, 1, 1, 1, 0, 0 } };

  fail_unless_equals_int (number_kept (0.3, 1, pair), 2);
  fail_unless_equals_int (number_kept (0.2999, 1, pair), 1);
  fail_unless_equals_int (number_kept (0.3, 0.6, inside), 2);
  fail_unless_equals_int (number_kept (0.3, 0.5999, inside), 1);
}

/* Of a window and one around it, however large, the better one is kept. */
CUV_TEST (test_nms_around)
{
  for (gint size = 2; size <= 1 << 20; size *= 2) {
    const Box around[] = { { 3, 2, 10, 10, 2, 1, 0, 0 },
      { 3 - size, 2 - size, 10 + 2 * size, 10 + 2 * size, 1, 1, 0, 0 } };
    const Box inside[] = { { around[1].x, around[1].y, around[1].width,
                               around[1].height, 3, 1, 0, 0 },
      around[0] };

    fail_unless_equals_int (number_kept (0.99, 0.99, around), 1);
    fail_unless_equals_int (number_kept (0.99, 0.99, inside), 1);
    fail_unless_equals_int (number_kept (0.99, 1, around), 2);
    fail_unless_equals_int (number_kept (0.99, 1, inside), 2);
  }
}

/* ---- from hits ---- */

/* AUTO depends on the scan; boxes are clipped to the frame. */
CUV_TEST (test_auto)
{
  const CuvWaldboostLevel level = { .width = 45,
    .height = 50,
    .scale = 2,
    .factor = 0.5f,
    .box_width = 48,
    .box_height = 48 };
  CuvWaldboostPlan plan = { .width = 90,
    .height = 100,
    .picture_width = 90,
    .picture_height = 100,
    .upright_width = 90,
    .upright_height = 100,
    .n_levels = 1,
    .levels = &level };
  const CuvWaldboostHit hits[] = { { 0, 8, 0, 1 }, { 0, 22, 0, 2 },
    { 0, 25, 1, 3 }, { 0, 25, 26, 2 } };
  static const struct {
    CuvScan scan;
    gint n;
    CuvWaldboostBox first;
  } cases[] = {
    { CUV_SCAN_OPENCV, 1, { 47, 1, 43, 48, 3, 2, 0, 0 } },
    { CUV_SCAN_WBD, 1, { 37, 1, 48, 48, 3, 3, 0, 0 } },
    { CUV_SCAN_DENSE, 3, { 50, 2, 40, 48, 3, 2, 0, 0 } },
  };
  CuvWaldboostGrouper *grouper = cuv_waldboost_grouper_new ();
  const Box *found;

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    CuvGrouping grouping = {
      .min_neighbours = 1, .nms_iou = 0.3, .nms_inside = 1
    };
    gint n;

    plan.scan = cases[i].scan;
    n = cuv_waldboost_group (grouper, &plan, &grouping, hits, 4, &found);
    compare (found, 1, &cases[i].first, 1, &grouping);
    fail_unless_equals_int (n, cases[i].n);
    grouping.method = CUV_GROUPING_NONE;
    fail_unless_equals_int (
        cuv_waldboost_group (grouper, &plan, &grouping, hits, 4, &found), 4);
  }
  cuv_waldboost_grouper_free (grouper);
}

/* The rotation of a group is its most frequent one, the first of these if
 * several are; with NMS it is that of the best window. */
CUV_TEST (test_rotations)
{
  static const struct {
    gint rotations[5], most, best;
  } cases[] = {
    { { 20, 0, 0, 0, -20 }, 0, -20 },
    { { -20, -20, 0, 0, 20 }, -20, 20 },
    { { -20, 0, 0, 20, 20 }, 0, 20 },
    { { 90, 90, 90, 90, -90 }, 90, -90 },
  };
  CuvWaldboostGrouper *grouper = cuv_waldboost_grouper_new ();
  const Box *found;

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    CuvGrouping grouping = { .method = CUV_GROUPING_NEIGHBORS,
      .min_neighbours = 1,
      .nms_iou = 0.3,
      .nms_inside = 1 };
    Box boxes[5];

    for (gint k = 0; k < 5; k++)
      boxes[k] = (Box){ k, 0, 50, 50, (gfloat) k, 1, cases[i].rotations[k], 0 };
    fail_unless_equals_int (
        cuv_waldboost_group_boxes (grouper, &grouping, boxes, 5, &found), 1);
    fail_unless_equals_int (found->rotation, cases[i].most);
    grouping.method = CUV_GROUPING_NMS;
    fail_unless_equals_int (
        cuv_waldboost_group_boxes (grouper, &grouping, boxes, 5, &found), 1);
    fail_unless_equals_int (found->rotation, cases[i].best);
  }
  cuv_waldboost_grouper_free (grouper);
}

/* Groups the largest number of hits, as from a dense scan with windows of
 * this size. */
static void
check_many (gint width, gint height, gint size, gint per_octave)
{
  static const CuvGrouping groupings[] = { { .method = CUV_GROUPING_NEIGHBORS,
                                               .min_neighbours = 3 },
    { .method = CUV_GROUPING_WBD, .min_neighbours = 3 },
    { .method = CUV_GROUPING_NMS, .nms_iou = 0, .nms_inside = 1 },
    { .method = CUV_GROUPING_NMS, .nms_iou = 0.3, .nms_inside = 1 },
    { .method = CUV_GROUPING_NMS, .nms_iou = 0.9, .nms_inside = 1 },
    { .method = CUV_GROUPING_NMS, .nms_iou = 0.3, .nms_inside = 0.65 },
    { .method = CUV_GROUPING_NMS, .nms_iou = 1, .nms_inside = 0.99 } };
  CuvWaldboostGrouper *grouper = cuv_waldboost_grouper_new ();
  g_autofree Box *boxes = g_new0 (Box, CUV_WALDBOOST_MAX_HITS);
  const Box *found;
  gint n = 0;

  g_random_set_seed (21);
  for (gint level = 0; n < CUV_WALDBOOST_MAX_HITS; level++) {
    gdouble scale = exp2 (level / (gdouble) per_octave);

    for (gint y = 0; y < height / scale - size; y++) {
      for (gint x = 0; x < width / scale - size && n < CUV_WALDBOOST_MAX_HITS;
           x++)
        boxes[n++] = (Box){ (gint) rint (x * scale), (gint) rint (y * scale),
          (gint) rint (size * scale), (gint) rint (size * scale),
          (gfloat) g_random_double (), 1, 0, 0 };
    }
    if (level > per_octave * 3)
      level = 0;
  }
  for (guint i = 0; i < G_N_ELEMENTS (groupings); i++) {
    clock_t start =
        clock (); /* CPU time, which other processes do not change */
    gdouble took;
    gint found_n =
        cuv_waldboost_group_boxes (grouper, &groupings[i], boxes, n, &found);

    took = (gdouble) (clock () - start) / CLOCKS_PER_SEC;
    g_print ("%dx%d: method %d, iou %g, inside %g: %d to %d in %.1f ms\n",
        width, height, groupings[i].method, groupings[i].nms_iou,
        groupings[i].nms_inside, n, found_n, took * 1000);
    fail_unless (found_n > 0 && took < SECONDS);
  }
  cuv_waldboost_grouper_free (grouper);
}

CUV_TEST (test_many_boxes)
{
  check_many (320, 240, 24, 8);
}

/* All boxes are near each other. */
CUV_TEST (test_many_similar_boxes)
{
  check_many (20, 20, 8, 64);
}
