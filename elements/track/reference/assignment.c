/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The assignment of least cost, by shortest augmenting paths with integers (R.
 * Jonker, A. Volgenant, A shortest augmenting path algorithm for dense and
 * sparse linear assignment problems, Computing 38, 1987).
 *
 * Each row has a column of its own that stands for none; those come after the
 * real ones. A search from a row visits only its component of the graph. In the
 * end every optimal assignment consists of tight pairs, whose cost is the sum
 * of the prices of row and column, and takes every column whose price is not 0:
 * among these the first is sought. */
#include "mot-private.h"

#include <stdlib.h>
#include <string.h>

#define FAR INT64_MAX

struct _CuvMotAssignment {
  int n_rows, n_columns; /* n_columns: with those that stand for none */
  int max_rows, max_columns, max_edges;
  int *first; /* of each row: its first edge; n_rows + 1 */
  int *edge_column;
  int64_t *edge_cost;
  int64_t *row_price, *column_price;
  int *column_of, *row_of; /* -1: none yet */

  /* of a search */
  int64_t *distance; /* of each column, FAR: not reached */
  int *from;         /* the row, or in walk() the column, before it */
  char *done;        /* of each column */
  int *reached;      /* columns to visit */
  int n_reached;
  bool free_visited; /* all columns of price 0 are visited */
};

CuvMotAssignment *
cuv_mot_assignment_new (void)
{
  return calloc (1, sizeof (CuvMotAssignment));
}

void
cuv_mot_assignment_free (CuvMotAssignment *self)
{
  if (self == NULL)
    return;
  free (self->first);
  free (self->edge_column);
  free (self->edge_cost);
  free (self->row_price);
  free (self->column_price);
  free (self->column_of);
  free (self->row_of);
  free (self->distance);
  free (self->from);
  free (self->done);
  free (self->reached);
  free (self);
}

/* ---- the graph ---- */

int
cuv_mot_grow (void *array, int n, size_t size)
{
  void *larger = realloc (*(void **) array, (size_t) n * size);

  if (larger == NULL)
    return -1;
  *(void **) array = larger;
  return 0;
}

#define GROW(field, n) cuv_mot_grow (&self->field, (n), sizeof *self->field)

static int
reserve_edges (CuvMotAssignment *self, int n)
{
  if (n <= self->max_edges)
    return 0;
  if (GROW (edge_column, n) != 0 || GROW (edge_cost, n) != 0)
    return -1;
  self->max_edges = n;
  return 0;
}

static int
reserve_rows (CuvMotAssignment *self, int n)
{
  if (n <= self->max_rows)
    return 0;
  if (GROW (first, n + 1) != 0 || GROW (row_price, n) != 0
      || GROW (column_of, n) != 0)
    return -1;
  self->max_rows = n;
  return 0;
}

static int
reserve_columns (CuvMotAssignment *self, int n)
{
  if (n <= self->max_columns)
    return 0;
  if (GROW (column_price, n) != 0 || GROW (row_of, n) != 0
      || GROW (distance, n) != 0 || GROW (from, n) != 0 || GROW (done, n) != 0
      || GROW (reached, n) != 0)
    return -1;
  self->max_columns = n;
  return 0;
}

static void
set_graph (CuvMotAssignment *self, int n_real, const CuvMotPair *pairs,
    int n_pairs, int32_t unassigned)
{
  int edge = 0, pair = 0;

  for (int row = 0; row < self->n_rows; row++) {
    self->first[row] = edge;
    for (; pair < n_pairs && pairs[pair].row == row; pair++, edge++) {
      self->edge_column[edge] = pairs[pair].column;
      self->edge_cost[edge] = pairs[pair].cost;
    }
    self->edge_column[edge] = n_real + row;
    self->edge_cost[edge++] = unassigned;
    self->row_price[row] = 0;
    self->column_of[row] = -1;
  }
  self->first[self->n_rows] = edge;
  for (int column = 0; column < self->n_columns; column++) {
    self->column_price[column] = 0;
    self->row_of[column] = -1;
    self->distance[column] = FAR;
    self->done[column] = 0;
  }
}

static int64_t
reduced_cost (const CuvMotAssignment *self, int row, int edge)
{
  return self->edge_cost[edge] - self->row_price[row]
      - self->column_price[self->edge_column[edge]];
}

/* ---- the least cost ---- */

static void
relax (CuvMotAssignment *self, int row, int64_t distance)
{
  for (int edge = self->first[row]; edge < self->first[row + 1]; edge++) {
    const int column = self->edge_column[edge];
    const int64_t through = distance + reduced_cost (self, row, edge);

    if (self->done[column] || through >= self->distance[column])
      continue;
    if (self->distance[column] == FAR)
      self->reached[self->n_reached++] = column;
    self->distance[column] = through;
    self->from[column] = row;
  }
}

static bool
is_nearer (const CuvMotAssignment *self, int a, int b)
{
  return self->distance[a] < self->distance[b]
      || (self->distance[a] == self->distance[b] && self->row_of[a] < 0
          && self->row_of[b] >= 0);
}

/* Returns the nearest column that is not done, a free one if there is one.
 * There always is a column: the row's own. */
static int
nearest (const CuvMotAssignment *self)
{
  int best = -1;

  for (int i = 0; i < self->n_reached; i++) {
    const int column = self->reached[i];

    if (!self->done[column] && (best < 0 || is_nearer (self, column, best)))
      best = column;
  }
  return best;
}

/* Keeps the reduced costs of all edges from 0 up, and those of pairs 0. */
static void
update_prices (CuvMotAssignment *self, int row, int64_t distance)
{
  self->row_price[row] += distance;
  for (int i = 0; i < self->n_reached; i++) {
    const int column = self->reached[i];

    if (self->done[column]) {
      const int64_t gain = distance - self->distance[column];

      self->row_price[self->row_of[column]] += gain;
      self->column_price[column] -= gain;
    }
    self->distance[column] = FAR;
    self->done[column] = 0;
  }
}

/* Gives a row a column, moving others along the shortest path to a free one. */
static void
add_row (CuvMotAssignment *self, int start)
{
  int row = start, column;

  self->n_reached = 0;
  relax (self, row, 0);
  while (self->row_of[column = nearest (self)] >= 0) {
    self->done[column] = 1;
    relax (self, self->row_of[column], self->distance[column]);
  }
  update_prices (self, start, self->distance[column]);
  do {
    const int next = self->column_of[row = self->from[column]];

    self->column_of[row] = column;
    self->row_of[column] = row;
    column = next;
  } while (row != start);
}

/* ---- the first of equal assignments ---- */

static void
visit (CuvMotAssignment *self, int column, int from)
{
  self->done[column] = 1;
  self->from[column] = from;
  self->reached[self->n_reached++] = column;
}

/* Visits the columns that the row of a column may take instead of it. What no
 * row has may be exchanged for any column of price 0. Rows up to `fixed` keep
 * theirs. */
static void
visit_next (CuvMotAssignment *self, int column, int fixed)
{
  const int row = self->row_of[column];

  if (row < 0 && !self->free_visited) {
    self->free_visited = true;
    for (int i = 0; i < self->n_columns; i++) {
      if (!self->done[i] && self->column_price[i] == 0)
        visit (self, i, column);
    }
  } else if (row > fixed) {
    for (int edge = self->first[row]; edge < self->first[row + 1]; edge++) {
      const int next = self->edge_column[edge];

      if (!self->done[next] && reduced_cost (self, row, edge) == 0)
        visit (self, next, column);
    }
  }
}

/* Whether rows after `fixed` can vacate a column so that the column `end` is
 * taken or its price is 0; from[] is the way back. */
static bool
can_vacate (CuvMotAssignment *self, int column, int end, int fixed)
{
  int next = self->n_reached;

  visit (self, column, -1);
  while (next < self->n_reached && !self->done[end])
    visit_next (self, self->reached[next++], fixed);
  return self->done[end];
}

/* Moves the rows of all columns on the way to the next column, and the row to
 * the first of them. */
static void
exchange (CuvMotAssignment *self, int row, int end)
{
  int column = end;

  for (int before; (before = self->from[column]) >= 0; column = before) {
    self->row_of[column] = self->row_of[before];
    if (self->row_of[column] >= 0)
      self->column_of[self->row_of[column]] = column;
  }
  self->row_of[column] = row;
  self->column_of[row] = column;
}

static void
prefer_first_column (CuvMotAssignment *self, int row)
{
  const int end = self->column_of[row];
  bool found = false;

  self->n_reached = 0;
  self->free_visited = false;
  for (int edge = self->first[row]; !found; edge++) {
    const int column = self->edge_column[edge];

    if (column == end)
      break;
    if (reduced_cost (self, row, edge) == 0 && !self->done[column])
      found = can_vacate (self, column, end, row);
  }
  if (found)
    exchange (self, row, end);
  for (int i = 0; i < self->n_reached; i++)
    self->done[self->reached[i]] = 0;
}

int
cuv_mot_assign (CuvMotAssignment *self, int n_rows, int n_columns,
    const CuvMotPair *pairs, int n_pairs, int32_t unassigned, int *columns)
{
  if (n_rows == 0)
    return 0;
  if (reserve_rows (self, n_rows) != 0
      || reserve_columns (self, n_columns + n_rows) != 0
      || reserve_edges (self, n_pairs + n_rows) != 0)
    return -1;
  self->n_rows = n_rows;
  self->n_columns = n_columns + n_rows;
  set_graph (self, n_columns, pairs, n_pairs, unassigned);
  for (int row = 0; row < n_rows; row++)
    add_row (self, row);
  for (int row = 0; row < n_rows; row++)
    prefer_first_column (self, row);
  for (int row = 0; row < n_rows; row++)
    columns[row] = self->column_of[row] < n_columns ? self->column_of[row] : -1;
  return 0;
}
