/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* All memory that searches in frames of a size need. */
#include "cpu/rcd-cpu-private.h"
#include "rcd/rcd-pixel.h"

#include <stdlib.h>
#include <unistd.h>

static bool
make_lines (CuvRcdLines *self, int columns, int rows, int n_sums)
{
  const size_t n = ((size_t) columns + 1) * ((size_t) rows + 1);

  self->x = malloc (((size_t) columns + 1) * sizeof *self->x);
  self->y = malloc (((size_t) rows + 1) * sizeof *self->y);
  /* sums are read four at a time */
  self->integrals = malloc ((n * (size_t) n_sums + 4) * sizeof (int64_t));
  self->grid.x = self->x;
  self->grid.y = self->y;
  return self->x != NULL && self->y != NULL && self->integrals != NULL;
}

static void
clear_lines (CuvRcdLines *self)
{
  free (self->x);
  free (self->y);
  free (self->integrals);
}

static void
count_pixels (CuvRcdCpu *self)
{
  const int n = CUV_RCD_TILE_WIDTH + CUV_RCD_PADDING;

  for (int x = 0; x < n; x++)
    self->across[x] = (int16_t) x;
  for (int y = 0; y < CUV_RCD_BLOCK_HEIGHT; y++) {
    for (int x = 0; x < n; x++)
      self->down[y][x] = (int16_t) y;
  }
}

static int
count_workers (void)
{
  long n = sysconf (_SC_NPROCESSORS_ONLN);

  return n < 4 ? 4 : n > CUV_RCD_MAX_WORKERS ? CUV_RCD_MAX_WORKERS : (int) n;
}

static bool
allocate (CuvRcdCpu *self)
{
  const CuvRcdShape *shape = &self->shape;
  const int rows = shape->height / shape->cell;
  const int fine_rows = cuv_rcd_fine_rows (shape->height);
  const size_t n_pieces = (size_t) (rows > fine_rows ? rows : fine_rows) + 1;

  self->workers = calloc ((size_t) self->n_workers, sizeof *self->workers);
  self->piece_rows = malloc (n_pieces * sizeof *self->piece_rows);
  self->scores =
      malloc (((size_t) shape->max_windows + 1) * sizeof *self->scores);
  return make_lines (
             &self->cells, shape->width / shape->cell, rows, self->n_sums)
      && make_lines (&self->fine, CUV_RCD_FINE_LINES, fine_rows, self->n_sums)
      && self->workers != NULL && self->piece_rows != NULL
      && self->scores != NULL;
}

CuvRcdCpu *
cuv_rcd_cpu_new (const CuvRcdShape *shape)
{
  CuvRcdCpu *self = calloc (1, sizeof *self);

  if (self == NULL)
    return NULL;
  self->shape = *shape;
  self->n_features = cuv_rcd_n_features (shape->features);
  self->n_sums = CUV_RCD_SUMS (self->n_features);
  self->n_workers = count_workers ();
  if (!allocate (self)) {
    cuv_rcd_cpu_free (self);
    return NULL;
  }
  count_pixels (self);
  cuv_rcd_steps_init (&self->steps);
  return self;
}

void
cuv_rcd_cpu_free (CuvRcdCpu *self)
{
  if (self == NULL)
    return;
  clear_lines (&self->cells);
  clear_lines (&self->fine);
  free (self->workers);
  free (self->piece_rows);
  free (self->scores);
  free (self);
}
