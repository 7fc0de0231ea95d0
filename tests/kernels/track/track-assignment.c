/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cuv_mot_assign() against all assignments of small graphs, the first of which
 * is the right one, and what must hold in large ones. */
#include "cuvcheck.h"
#include "mot.h"

#include <stdlib.h>
#include <string.h>

#define MAX_SIDE 6
#define NO_EDGE -1

typedef struct {
  int n_rows, n_columns;
  int32_t unassigned;
  int32_t cost[MAX_SIDE][MAX_SIDE]; /* NO_EDGE: not allowed */
} Graph;

typedef struct {
  int64_t cost;
  int columns[MAX_SIDE];
} Solution;

/* Tries each column of a row in the order of preference; an assignment that
 * comes first stays, unless another one costs less. */
static void
try_row (const Graph *graph, int row, unsigned taken, Solution *so_far,
    Solution *best)
{
  if (row == graph->n_rows) {
    if (so_far->cost < best->cost)
      *best = *so_far;
    return;
  }
  for (int column = 0; column <= graph->n_columns; column++) {
    const bool none = column == graph->n_columns;
    const int32_t cost =
        none ? graph->unassigned : graph->cost[row][column % MAX_SIDE];

    if (!none && (cost == NO_EDGE || (taken >> column & 1)))
      continue;
    so_far->columns[row] = none ? -1 : column;
    so_far->cost += cost;
    try_row (graph, row + 1, none ? taken : taken | 1u << column, so_far, best);
    so_far->cost -= cost;
  }
}

static Graph
random_graph (void)
{
  const uint32_t n_costs = 1 + cuv_check_below (12);
  const uint32_t density = 1 + cuv_check_below (8);
  Graph graph = { 1 + (int) cuv_check_below (MAX_SIDE),
    1 + (int) cuv_check_below (MAX_SIDE),
    (int32_t) cuv_check_below (n_costs + 2), { { 0 } } };

  for (int row = 0; row < graph.n_rows; row++) {
    for (int column = 0; column < graph.n_columns; column++)
      graph.cost[row][column] = cuv_check_below (8) < density
          ? (int32_t) cuv_check_below (n_costs)
          : NO_EDGE;
  }
  return graph;
}

static int
list_pairs (const Graph *graph, CuvMotPair *pairs)
{
  int n = 0;

  for (int row = 0; row < graph->n_rows; row++) {
    for (int column = 0; column < graph->n_columns; column++) {
      if (graph->cost[row][column] != NO_EDGE)
        pairs[n++] = (CuvMotPair){ row, column, graph->cost[row][column] };
    }
  }
  return n;
}

CUV_CHECKS_CPU (assignment_is_the_first_of_all)
{
  CuvMotAssignment *assignment = cuv_mot_assignment_new ();

  for (int i = 0; i < (cuv_check_options.few ? 200 : 20000); i++) {
    const Graph graph = random_graph ();
    CuvMotPair pairs[MAX_SIDE * MAX_SIDE];
    const int n = list_pairs (&graph, pairs);
    Solution so_far = { 0 }, best = { INT64_MAX, { 0 } };
    int columns[MAX_SIDE];

    cuv_check_case ("graph %d of %d x %d, none costs %d", i, graph.n_rows,
        graph.n_columns, graph.unassigned);
    try_row (&graph, 0, 0, &so_far, &best);
    CUV_CHECK (cuv_mot_assign (assignment, graph.n_rows, graph.n_columns, pairs,
                   n, graph.unassigned, columns)
        == 0);
    CUV_CHECK (
        memcmp (columns, best.columns, (size_t) graph.n_rows * sizeof *columns)
        == 0);
  }
  cuv_mot_assignment_free (assignment);
}

/* With equal costs everywhere, row i has column i. */
CUV_CHECKS_CPU (equal_costs_are_assigned_in_order)
{
  enum { ROWS = 60, COLUMNS = 40 };
  CuvMotAssignment *assignment = cuv_mot_assignment_new ();
  CuvMotPair *pairs = calloc (ROWS * COLUMNS, sizeof *pairs);
  int columns[ROWS];

  for (int i = 0; i < ROWS * COLUMNS; i++)
    pairs[i] = (CuvMotPair){ i / COLUMNS, i % COLUMNS, 7 };
  CUV_CHECK (cuv_mot_assign (
                 assignment, ROWS, COLUMNS, pairs, ROWS * COLUMNS, 7, columns)
      == 0);
  for (int i = 0; i < ROWS; i++)
    CUV_CHECK (
        columns[i] == (i < COLUMNS ? i : -1), ": row %d has %d", i, columns[i]);
  free (pairs);
  cuv_mot_assignment_free (assignment);
}

CUV_CHECKS_CPU (nothing_to_assign)
{
  CuvMotAssignment *assignment = cuv_mot_assignment_new ();
  int columns[3] = { 5, 5, 5 };

  CUV_CHECK (cuv_mot_assign (assignment, 0, 4, NULL, 0, 9, columns) == 0);
  CUV_CHECK (columns[0] == 5);
  CUV_CHECK (cuv_mot_assign (assignment, 3, 0, NULL, 0, 9, columns) == 0);
  for (int i = 0; i < 3; i++)
    CUV_CHECK (columns[i] == -1);
  cuv_mot_assignment_free (assignment);
}
