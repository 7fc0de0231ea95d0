/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Integral images over a grid: features of a block of pixels, sums over its
 * parts that lie in one cell, then prefix sums along rows and down columns. */
#include "cpu/rcd-cpu-private.h"
#include "cuvthreads.h"
#include "rcd/rcd-distance.h"

#include <string.h>

/* The part of the frame whose features a worker computes at a time. */
typedef struct {
  CuvRcdCpu *self;
  CuvRcdScratch *scratch;
  CuvRcdTile tile; /* all of the block's features */
  int x, y, width, height;
} Block;

/* ---- features ---- */

static int
clamp_index (int v, int end)
{
  return v < 0 ? 0 : v < end ? v : end - 1;
}

/* Loads row y of the frame, with a border pixel on both sides that repeats the
 * frame's border. row: row of the scratch planes to store it in. */
static void
rcd_load_row (const Block *block, int y, int row)
{
  const CuvRcdDsp *dsp = &block->self->dsp;
  const CuvFrame *frame = block->self->frame;
  CuvRcdScratch *scratch = block->scratch;
  const int before = block->x > 0;
  const int n =
      before + block->width + (block->x + block->width < frame->width);
  const int x = block->x - before;
  int16_t *grey = scratch->grey + row * CUV_RCD_PITCH;
  int16_t *colours[3];

  for (int i = 0; i < 3; i++)
    colours[i] = scratch->colours[i] + row * CUV_RCD_PITCH + 1 - before;
  for (int i = frame->model != CUV_MODEL_RGB; i < 3 && i < frame->n_components;
       i++)
    dsp->samples (&frame->component[i], x, y, n, colours[i]);
  if (frame->model == CUV_MODEL_RGB)
    dsp->grey ((const int16_t *const *) colours, n, grey + 1 - before);
  else
    dsp->samples (&frame->component[0], x, y, n, grey + 1 - before);
  if (!before)
    grey[0] = grey[1];
  if (before + block->width == n)
    grey[block->width + 1] = grey[block->width];
}

static void
compute_gradients (const Block *block, int row)
{
  const CuvRcdCpu *self = block->self;
  const int16_t *grey = block->scratch->grey + row * CUV_RCD_PITCH + 1;
  const int16_t *const rows[3] = { grey, grey + CUV_RCD_PITCH,
    grey + 2 * CUV_RCD_PITCH };
  int16_t *out[4];

  for (int i = 0; i < 4; i++)
    out[i] = block->scratch->gradients[i] + row * CUV_RCD_PITCH;
  if (self->config.features == CUV_RCD_TUZEL9)
    self->dsp.abs_derivatives (rows, block->width, out);
  else
    self->dsp.gradients (rows, block->width, out[0], out[1]);
}

static void
add_plane (CuvRcdTile *tile, const int16_t *plane, int pitch)
{
  tile->z[tile->n] = plane;
  tile->pitch[tile->n++] = pitch;
}

/* Lists the planes in the order of CuvRcdFeatures. */
static void
list_planes (Block *block)
{
  const CuvRcdCpu *self = block->self;
  const CuvRcdFeatures features = self->config.features;
  const int first = CUV_RCD_PITCH + 1; /* after the border */

  block->tile.n = 0;
  if (features == CUV_RCD_TUZEL9) {
    add_plane (&block->tile, self->across, 0);
    add_plane (
        &block->tile, self->down[0], CUV_RCD_TILE_WIDTH + CUV_RCD_PADDING);
  }
  for (int i = 0; i < (features == CUV_RCD_GREY_GRAD ? 1 : 3); i++) {
    bool is_grey = features == CUV_RCD_GREY_GRAD
        || self->frame->n_components < 3
        || (self->frame->model == CUV_MODEL_YUV && i == 0);

    add_plane (&block->tile,
        (is_grey ? block->scratch->grey : block->scratch->colours[i]) + first,
        CUV_RCD_PITCH);
  }
  for (int i = 0; i < (features == CUV_RCD_TUZEL9 ? 4 : 2); i++)
    add_plane (&block->tile, block->scratch->gradients[i], CUV_RCD_PITCH);
}

static void
compute_features (Block *block)
{
  for (int row = 0; row < block->height + 2; row++)
    rcd_load_row (block,
        clamp_index (block->y + row - 1, block->self->frame->height), row);
  for (int row = 0; row < block->height; row++)
    compute_gradients (block, row);
  list_planes (block);
}

/* ---- sums ---- */

/* Adds the sums over the tile at (x, y) to those of a cell. The features x and
 * y count from the tile's corner so that they fit in 16 bits. */
static void
rcd_add_tile (
    const Block *block, int x, int y, int width, int height, int64_t *cell)
{
  const CuvRcdCpu *self = block->self;
  const bool has_xy = self->config.features == CUV_RCD_TUZEL9;
  CuvRcdTile tile = block->tile;
  int32_t sums[CUV_RCD_MAX_SUMS];
  int64_t moved[CUV_RCD_MAX_SUMS];

  tile.width = width;
  tile.height = height;
  for (int i = has_xy ? 2 : 0; i < tile.n; i++)
    tile.z[i] += (y - block->y) * tile.pitch[i] + x - block->x;
  self->dsp.sums (&tile, sums);
  for (int k = 0; k < self->n_sums; k++)
    moved[k] = sums[k];
  if (has_xy)
    cuv_rcd_move_origin (moved, 9, (int64_t) width * height, -x, -y);
  for (int k = 0; k < self->n_sums; k++)
    cell[k] += moved[k];
}

/* Adds the part of a grid row that lies in the block to the row's cells.
 * column: the first column that overlaps the block. */
static void
rcd_add_row (const Block *block, int row, int column, int64_t *cells)
{
  const CuvRcdGrid *grid = &block->self->current->grid;
  const int end = block->x + block->width;
  const int height = grid->y[row + 1] - grid->y[row];
  int x = block->x;

  while (x < end) {
    const int limit = grid->x[column + 1] < end ? grid->x[column + 1] : end;
    const int width =
        limit - x < CUV_RCD_TILE_WIDTH ? limit - x : CUV_RCD_TILE_WIDTH;

    if (width > 0 && height > 0)
      rcd_add_tile (block, x, grid->y[row], width, height,
          cells + (ptrdiff_t) column * block->self->n_sums);
    x += width;
    column += x == grid->x[column + 1];
  }
}

/* Returns a row's cells. They are summed in place, in the memory of the row's
 * integrals. */
static int64_t *
row_cells (const CuvRcdCpu *self, int row)
{
  return self->current->integrals
      + ((ptrdiff_t) (row + 1) * (self->current->grid.n_columns + 1) + 1)
      * self->n_sums;
}

/* Integrates grid rows first .. end - 1, together no higher than a block. */
static void
rcd_add_rows (Block *block, int first, int end)
{
  const CuvRcdGrid *grid = &block->self->current->grid;
  const int right = grid->x[grid->n_columns];
  int column = 0;

  block->y = grid->y[first];
  block->height = grid->y[end] - grid->y[first];
  for (block->x = grid->x[0]; block->x < right;
       block->x += CUV_RCD_BLOCK_WIDTH) {
    block->width = right - block->x < CUV_RCD_BLOCK_WIDTH ? right - block->x
                                                          : CUV_RCD_BLOCK_WIDTH;
    while (grid->x[column + 1] <= block->x)
      column++;
    compute_features (block);
    for (int row = first; row < end; row++)
      rcd_add_row (block, row, column, row_cells (block->self, row));
  }
}

/* ---- integrals ---- */

/* Computes prefix sums along a row. */
static void
integrate_row (const CuvRcdCpu *self, int64_t *cells)
{
  const size_t n_sums = (size_t) self->n_sums;
  const size_t n = (size_t) self->current->grid.n_columns * n_sums;

  for (size_t at = n_sums; at < n; at++)
    cells[at] += cells[at - n_sums];
}

static void
rows_task (void *data, int worker, int task)
{
  CuvRcdCpu *self = data;
  const CuvRcdGrid *grid = &self->current->grid;
  const int first = self->task_rows[task], end = self->task_rows[task + 1];
  const size_t size = (size_t) (grid->n_columns + 1) * (size_t) self->n_sums;
  Block block = { .self = self, .scratch = &self->scratch[worker] };

  for (int row = first; row < end; row++)
    memset (row_cells (self, row) - self->n_sums, 0, size * sizeof (int64_t));
  rcd_add_rows (&block, first, end);
  for (int row = first; row < end; row++)
    integrate_row (self, row_cells (self, row));
}

enum { CHUNK = 512 };

/* Computes prefix sums down the rows, for CHUNK integrals of each row. */
static void
columns_task (void *data, int task)
{
  CuvRcdCpu *self = data;
  const CuvRcdGrid *grid = &self->current->grid;
  const ptrdiff_t pitch = (ptrdiff_t) (grid->n_columns + 1) * self->n_sums;
  const ptrdiff_t first = (ptrdiff_t) task * CHUNK;
  const ptrdiff_t n = pitch - first < CHUNK ? pitch - first : CHUNK;
  int64_t *at = self->current->integrals + first;

  memset (at, 0, (size_t) n * sizeof *at);
  for (int row = 0; row < grid->n_rows; row++, at += pitch) {
    for (ptrdiff_t i = 0; i < n; i++)
      at[pitch + i] += at[i];
  }
}

/* Forms tasks of as many rows as fit in a block. Returns the number of
 * tasks. */
static int
split_rows (CuvRcdCpu *self)
{
  const CuvRcdGrid *grid = &self->current->grid;
  int32_t *first = self->task_rows;
  int n = 0;

  first[0] = 0;
  for (int row = 1; row < grid->n_rows; row++) {
    if (grid->y[row + 1] - grid->y[first[n]] > CUV_RCD_BLOCK_HEIGHT)
      first[++n] = row;
  }
  first[++n] = grid->n_rows;
  return n;
}

void
cuv_rcd_cpu_integrals (CuvRcdCpu *self, CuvRcdIntegralGrid *grid)
{
  const int pitch = (grid->grid.n_columns + 1) * self->n_sums;

  self->current = grid;
  if (grid->grid.n_rows < 1 || grid->grid.n_columns < 1)
    return;
  cuv_threads_run_workers (
      self->n_threads, self->n_workers, split_rows (self), rows_task, self);
  cuv_threads_run (
      self->n_threads, (pitch + CHUNK - 1) / CHUNK, columns_task, self);
}

void
cuv_rcd_cpu_sums (const CuvRcdCpu *self, const CuvRcdIntegralGrid *grid,
    int left, int top, const CuvRcdBox *box, int columns, int rows,
    int64_t *sums)
{
  cuv_rcd_window_sums (grid->integrals, self->n_sums, &grid->grid, left, top,
      left + columns, top + rows, sums);
  if (self->config.features == CUV_RCD_TUZEL9)
    cuv_rcd_move_origin (sums, self->n_features,
        (int64_t) box->width * box->height, box->x, box->y);
}
