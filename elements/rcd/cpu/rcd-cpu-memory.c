/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Allocates the memory of a search, once. */
#include "cpu/rcd-cpu-private.h"
#include "cuvthreads.h"
#include "rcd/rcd-pixel.h"

#include <stdlib.h>

static bool
grid_init (CuvRcdIntegralGrid *self, int columns, int rows, int n_sums)
{
  const size_t n = ((size_t) columns + 1) * ((size_t) rows + 1);
  /* AVX2 reads sums four at a time, so up to three past the last */
  const size_t n_integrals = n * (size_t) n_sums + 4;

  self->integrals = malloc (n_integrals * sizeof *self->integrals
      + ((size_t) columns + (size_t) rows + 2) * sizeof *self->x);
  if (self->integrals == NULL)
    return false;
  self->grid.x = self->x = (int32_t *) (self->integrals + n_integrals);
  self->grid.y = self->y = self->x + columns + 1;
  return true;
}

static void
init_coordinates (CuvRcdCpu *self)
{
  const int n = CUV_RCD_TILE_WIDTH + CUV_RCD_PADDING;

  for (int x = 0; x < n; x++)
    self->across[x] = (int16_t) x;
  for (int y = 0; y < CUV_RCD_BLOCK_HEIGHT; y++) {
    for (int x = 0; x < n; x++)
      self->down[y][x] = (int16_t) y;
  }
}

static bool
rcd_allocate (CuvRcdCpu *self)
{
  const CuvRcdConfig *config = &self->config;
  const int rows = config->height / config->cell;
  /* rows that are higher than a block are split */
  const int fine_rows =
      CUV_RCD_FINE_LINES + config->height / CUV_RCD_BLOCK_HEIGHT + 1;
  const size_t n_tasks = (size_t) (rows > fine_rows ? rows : fine_rows) + 1;

  self->scratch = calloc ((size_t) self->n_workers, sizeof *self->scratch);
  self->task_rows = malloc (n_tasks * sizeof *self->task_rows);
  self->scores =
      malloc (((size_t) config->max_windows + 1) * sizeof *self->scores);
  return grid_init (
             &self->cells, config->width / config->cell, rows, self->n_sums)
      && grid_init (&self->fine, CUV_RCD_FINE_LINES, fine_rows, self->n_sums)
      && self->scratch != NULL && self->task_rows != NULL
      && self->scores != NULL;
}

CuvRcdCpu *
cuv_rcd_cpu_new (const CuvRcdConfig *config)
{
  CuvRcdCpu *self = calloc (1, sizeof *self);

  if (self == NULL)
    return NULL;
  self->config = *config;
  self->n_features = cuv_rcd_n_features (config->features);
  self->n_sums = CUV_RCD_SUMS (self->n_features);
  self->n_workers = cuv_threads_n_workers ();
  if (!rcd_allocate (self)) {
    cuv_rcd_cpu_free (self);
    return NULL;
  }
  init_coordinates (self);
  cuv_rcd_dsp_init (&self->dsp);
  return self;
}

void
cuv_rcd_cpu_free (CuvRcdCpu *self)
{
  if (self == NULL)
    return;
  free (self->cells.integrals);
  free (self->fine.integrals);
  free (self->scratch);
  free (self->task_rows);
  free (self->scores);
  free (self);
}
