/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Votes and peaks on the CPU, for two rows at a time where possible. */
#include "cpu/hough-cpu-private.h"

#include <stdlib.h>
#include <string.h>

/* Rows are voted for in pairs if the table of a pair has at most this many
 * counts per edge, as clearing it and adding it up also takes time: measured in
 * docs/benchmarks/hough.md, "The methods". */
#define CELLS_PER_EDGE 3

static size_t
least (size_t a, size_t b)
{
  return a < b ? a : b;
}

static size_t
row_size (const CuvHoughCpu *self)
{
  return (size_t) self->layout->n_cells;
}

/* A row to vote for. */
typedef struct {
  CuvHoughRow row;
  uint32_t *votes; /* NULL = none */
} Target;

/* Finds the edges whose orientation bin votes for this row, in two parts; part
 * 1 is empty unless the bins wrap. Returns their number. */
static size_t
edges_of (const CuvHoughCpu *self, const CuvHoughRow *row, int part,
    const uint32_t **pixels)
{
  const size_t *first = self->first_of_bin;
  int bin = row->first_bin, end = bin + row->n_bins;
  int n_bins = self->layout->n_bins;

  if (self->list.bins == NULL) {
    *pixels = self->list.pixels;
    return part == 0 ? self->list.n : 0;
  }
  if (part == 1) {
    *pixels = self->sorted;
    return end > n_bins ? first[end - n_bins] : 0;
  }
  *pixels = self->sorted + first[bin];
  return first[end < n_bins ? end : n_bins] - first[bin];
}

/* Returns the number of votes. */
static uint64_t
vote_row (const CuvHoughCpu *self, const Target *target)
{
  uint64_t n_votes = 0;

  for (int part = 0; part < 2; part++) {
    const uint32_t *pixels;
    size_t n = edges_of (self, &target->row, part, &pixels);

    self->dsp.vote (
        &target->row, pixels, n, target->votes + self->layout->radius);
    n_votes += n;
  }
  return n_votes;
}

/* Adds the counts of a pair to both rows, and clears the counts. */
static void
add_pair (const CuvHoughCpu *self, const CuvHoughPair *pair, uint32_t *table,
    const Target targets[CUV_HOUGH_ROWS_AT_ONCE])
{
  const int radius = self->layout->radius;
  const CuvHoughRow *second = &targets[1].row;

  for (int d = 0; d < pair->n_differences; d++) {
    const int base = pair->base[1] + d; /* first cell of the second row */
    const int first = cuv_max (0, second->first_cell - base);
    const int end = cuv_min (pair->stride, second->last_cell + 1 - base);

    self->dsp.add_counts (table + (ptrdiff_t) d * pair->stride + first,
        end - first, targets[0].votes + radius + pair->base[0] + first,
        targets[1].votes + radius + base + first);
  }
}

/* Votes for both rows at once. Returns false if each row has to be done
 * alone. */
static bool
vote_pair (const CuvHoughCpu *self, const CuvHoughWorker *worker,
    const Target targets[CUV_HOUGH_ROWS_AT_ONCE])
{
  CuvHoughPair pair;
  size_t n_cells;

  if (self->list.bins != NULL || targets[0].votes == NULL
      || targets[1].votes == NULL)
    return false;
  n_cells = cuv_hough_pair_init (
      &pair, self->layout, &targets[0].row, &targets[1].row);
  if (n_cells == 0 || n_cells > self->n_pair_cells
      || n_cells / CELLS_PER_EDGE > self->list.n)
    return false;
  self->dsp.vote_pair (
      &pair, self->list.pixels, self->list.n, worker->pair_table);
  add_pair (self, &pair, worker->pair_table, targets);
  return true;
}

/* Votes for adjacent rows. Returns the number of votes. */
static uint64_t
vote_rows (const CuvHoughCpu *self, const CuvHoughWorker *worker,
    const Target targets[CUV_HOUGH_ROWS_AT_ONCE])
{
  uint64_t n = 0;

  for (int i = 0; i < CUV_HOUGH_ROWS_AT_ONCE; i++) {
    if (targets[i].votes != NULL)
      memset (targets[i].votes, 0, row_size (self) * sizeof (uint32_t));
  }
  if (vote_pair (self, worker, targets))
    return CUV_HOUGH_ROWS_AT_ONCE * self->list.n;
  for (int i = 0; i < CUV_HOUGH_ROWS_AT_ONCE; i++) {
    if (targets[i].votes != NULL)
      n += vote_row (self, &targets[i]);
  }
  return n;
}

static void
vote_task (void *data, int index, int task)
{
  CuvHoughCpu *self = data;
  Target targets[CUV_HOUGH_ROWS_AT_ONCE] = { 0 };

  for (int i = 0; i < CUV_HOUGH_ROWS_AT_ONCE; i++) {
    int k = task * CUV_HOUGH_ROWS_AT_ONCE + i;

    if (k < self->layout->n_rows)
      targets[i] = (Target){ self->layout->rows[k],
        self->votes + (size_t) k * row_size (self) };
  }
  self->n_votes += vote_rows (self, &self->workers[index], targets);
}

/* ---- gathering ----
 *
 * Votes without a list of edges: every pixel of the map adds 0 or 1 to a cell
 * of each row, so that the time does not depend on the frame. After G. van den
 * Braak et al., Fast Hough Transform on GPUs, ACIVS 2011. */

#define TILE 32

/* Transposes TILE columns of the edge map. */
static void
transpose_task (void *data, int index, int task)
{
  CuvHoughCpu *self = data;
  const int width = self->layout->width, height = self->layout->height;
  const int first = task * TILE, end = cuv_min (first + TILE, width);

  for (int top = 0; top < height; top += TILE) {
    for (int x = first; x < end; x++) {
      uint8_t *column = self->columns + (ptrdiff_t) x * height;

      for (int y = top; y < cuv_min (top + TILE, height); y++)
        column[y] = self->map[(ptrdiff_t) y * width + x];
    }
  }
}

/* Walks along the axis with fewer pixels per cell. */
static void
gather_task (void *data, int index, int task)
{
  CuvHoughCpu *self = data;
  CuvHoughWorker *worker = &self->workers[index];
  const CuvHoughLayout *layout = self->layout;
  const CuvHoughRow *row = &layout->rows[task];
  const CuvGather work = abs (row->dx) >= abs (row->dy)
      ? (CuvGather){ self->map, layout->height, layout->width, row->dy, row->dx,
          row->offset, layout->radius }
      : (CuvGather){ self->columns, layout->width, layout->height, row->dx,
          row->dy, row->offset, layout->radius };
  uint32_t *votes = self->votes + (size_t) task * (size_t) layout->n_cells;

  memset (votes, 0, (size_t) layout->n_cells * sizeof *votes);
  self->dsp.gather (&work, worker->lanes, votes + layout->radius);
}

static uint64_t
gather (CuvHoughCpu *self)
{
  cuv_hough_cpu_run_tasks (
      self, (self->layout->width + TILE - 1) / TILE, transpose_task);
  cuv_hough_cpu_run_tasks (self, self->layout->n_rows, gather_task);
  return (uint64_t) self->layout->n_rows * self->list.n;
}

/* ---- the accumulator ---- */

uint64_t
cuv_hough_cpu_vote (CuvHoughCpu *self, CuvHoughMethod method)
{
  const int n_rows = self->layout->n_rows;

  self->has_votes = true;
  if (method == CUV_HOUGH_GLOBAL)
    return cuv_hough_vote (self->layout, &self->list, self->votes);
  if (method == CUV_HOUGH_GATHER)
    return gather (self);
  self->n_votes = 0;
  cuv_hough_cpu_run_tasks (self,
      (n_rows + CUV_HOUGH_ROWS_AT_ONCE - 1) / CUV_HOUGH_ROWS_AT_ONCE,
      vote_task);
  return self->n_votes;
}

static void
find_peaks (
    CuvHoughCpu *self, CuvHoughWorker *worker, const CuvRowView *views, int k)
{
  const CuvHoughRow *row = &self->layout->rows[k];
  const CuvPeakParams *params = &self->params->peaks;
  int n = self->dsp.find_cells (views[0].middle + row->first_cell,
      row->last_cell - row->first_cell + 1, params->threshold, worker->found);

  for (int i = 0; i < n; i++)
    cuv_hough_add_peak (self->layout, views, k,
        row->first_cell + worker->found[i], params, &worker->peaks);
}

static void
begin_peaks (CuvHoughCpu *self)
{
  for (int i = 0; i < self->n_workers; i++) {
    self->workers[i].peaks.max = (size_t) self->params->max_lines;
    self->workers[i].peaks.n = 0;
  }
}

/* Merges the workers' lists. */
static void
collect_peaks (CuvHoughCpu *self, CuvPeakList *list)
{
  size_t n = 0;

  list->n = 0;
  for (int i = 0; i < self->n_workers; i++) {
    const CuvPeakList *part = &self->workers[i].peaks;

    for (size_t p = 0; p < least (part->n, part->max); p++)
      cuv_hough_keep_peak (list, &part->peaks[p]);
    n += part->n;
  }
  list->n = n;
  cuv_hough_sort_peaks (list);
}

#define PEAK_ROWS 8 /* rows of a task */

static void
peaks_task (void *data, int index, int task)
{
  CuvHoughCpu *self = data;
  CuvHoughWorker *worker = &self->workers[index];
  const int reach = cuv_hough_peak_radius (&self->params->peaks);
  CuvRowView views[CUV_HOUGH_MAX_NEIGHBORHOOD];

  for (int k = task * PEAK_ROWS;
       k < (task + 1) * PEAK_ROWS && k < self->layout->n_rows; k++) {
    cuv_hough_view_rows (self->layout, self->votes, k, reach, views + reach);
    find_peaks (self, worker, views + reach, k);
  }
}

void
cuv_hough_cpu_find_peaks (CuvHoughCpu *self, CuvPeakList *list)
{
  begin_peaks (self);
  cuv_hough_cpu_run_tasks (
      self, (self->layout->n_rows + PEAK_ROWS - 1) / PEAK_ROWS, peaks_task);
  collect_peaks (self, list);
}

/* Returns the number of rows of a task. Together with the rows beside them, for
 * which other tasks vote as well, it is even. */
static int
ring_rows (int reach)
{
  return (reach < 4 ? 32 : 8 * reach) - 2 * reach;
}

/* A ring buffer of the rows that the peak rule compares and those that vote at
 * once: R. Josth et al., Real-Time Line Detection Using Accelerated
 * High-Resolution Hough Transform, SCIA 2011. */
typedef struct {
  CuvHoughCpu *self;
  CuvHoughWorker *worker;
  int first, end, reach, n;
} Ring;

static uint32_t *
ring_row (const Ring *ring, int k)
{
  size_t slot = (size_t) (k - ring->first + ring->reach) % (size_t) ring->n;

  return ring->worker->ring + slot * row_size (ring->self);
}

/* Returns the row whose cell -r is cell r of this one: -floor (v) = floor (1 -
 * e - v), where v is a multiple of e = 1/65536. */
static CuvHoughRow
reversed (CuvHoughRow row)
{
  const int first = row.first_cell;

  row.dx = -row.dx;
  row.dy = -row.dy;
  row.offset = 65535 - row.offset;
  row.first_cell = -row.last_cell;
  row.last_cell = -first;
  return row;
}

static void
vote_in_ring (const Ring *ring, int k)
{
  const CuvHoughCpu *self = ring->self;
  Target targets[CUV_HOUGH_ROWS_AT_ONCE] = { 0 };

  for (int i = 0; i < CUV_HOUGH_ROWS_AT_ONCE; i++) {
    int sign, row = cuv_hough_wrap (self->layout, k + i, &sign);

    if (row < 0 || k + i >= ring->end + ring->reach)
      continue;
    targets[i].row =
        sign > 0 ? self->layout->rows[row] : reversed (self->layout->rows[row]);
    targets[i].votes = ring_row (ring, k + i);
  }
  vote_rows (self, ring->worker, targets);
}

static void
find_peaks_in_ring (const Ring *ring, int k)
{
  CuvHoughCpu *self = ring->self;
  CuvRowView views[CUV_HOUGH_MAX_NEIGHBORHOOD];

  for (int dk = -ring->reach; dk <= ring->reach; dk++) {
    int sign, row = cuv_hough_wrap (self->layout, k + dk, &sign);

    views[ring->reach + dk] = (CuvRowView){
      row < 0 ? NULL : ring_row (ring, k + dk) + self->layout->radius, 1
    };
  }
  find_peaks (self, ring->worker, views + ring->reach, k);
}

static uint64_t
votes_in (const CuvHoughCpu *self, const CuvHoughRow *row)
{
  const uint32_t *pixels;

  return edges_of (self, row, 0, &pixels) + edges_of (self, row, 1, &pixels);
}

static void
ring_task (void *data, int index, int task)
{
  CuvHoughCpu *self = data;
  CuvHoughWorker *worker = &self->workers[index];
  const int reach = cuv_hough_peak_radius (&self->params->peaks);
  const int n_rows = self->layout->n_rows, first = task * ring_rows (reach);
  const int end = first + ring_rows (reach);
  const Ring ring = { self, worker, first, end < n_rows ? end : n_rows, reach,
    2 * reach + CUV_HOUGH_ROWS_AT_ONCE };
  int next = first; /* first row whose peaks are not found yet */
  uint64_t n_votes = 0;

  for (int k = first - reach; next < ring.end; k += CUV_HOUGH_ROWS_AT_ONCE) {
    vote_in_ring (&ring, k);
    for (; next < ring.end && next + reach < k + CUV_HOUGH_ROWS_AT_ONCE;
         next++) {
      find_peaks_in_ring (&ring, next);
      n_votes += votes_in (self, &self->layout->rows[next]);
    }
  }
  self->n_votes += n_votes;
}

uint64_t
cuv_hough_cpu_ring (CuvHoughCpu *self, CuvPeakList *list)
{
  int rows = ring_rows (cuv_hough_peak_radius (&self->params->peaks));

  self->has_votes = false;
  self->n_votes = 0;
  begin_peaks (self);
  cuv_hough_cpu_run_tasks (
      self, (self->layout->n_rows + rows - 1) / rows, ring_task);
  collect_peaks (self, list);
  return self->n_votes;
}
