/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A factorisation, row by row of the tensor G, on several threads. The map of a
 * row, G times w, yields the numerators of u and, with the row's new u, those
 * of v. So an iteration reads G twice (GS) or once (Jacobi). */
#include "cpu/ntf-cpu-private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- memory ---- */

static bool
make_task (const CuvNtfCpu *self, CuvNtfTask *task)
{
  const CuvNtfTensor *g = &self->tensor;
  const size_t stride = (size_t) self->factors.stride;
  const size_t map = (size_t) g->width * stride;
  const size_t rebuilt = (size_t) g->depth * (size_t) self->padded;
  const size_t rank = (size_t) self->factors.rank;

  if (self->is_matrix) {
    task->transposed = cuv_ntf_alloc (rank * (size_t) self->padded);
    task->gram = calloc (rank * rank, sizeof *task->gram);
    if (task->transposed == NULL || task->gram == NULL)
      return false;
  }
  task->sums[CUV_NTF_V] = cuv_ntf_alloc (map);
  task->sums[CUV_NTF_W] = cuv_ntf_alloc ((size_t) g->depth * stride);
  task->map = cuv_ntf_alloc (map > rebuilt ? map : rebuilt);
  task->columns = cuv_ntf_alloc ((size_t) g->depth * stride);
  return task->sums[CUV_NTF_V] != NULL && task->sums[CUV_NTF_W] != NULL
      && task->map != NULL && task->columns != NULL;
}

static bool
ntf_cpu_allocate (CuvNtfCpu *self, int rank)
{
  CuvNtfTensor *g = &self->tensor;

  /* not cuv_ntf_alloc(), which writes zeros: that may take long and cannot be
   * cancelled */
  g->values =
      calloc ((size_t) g->height * (size_t) g->width * (size_t) g->depth,
          sizeof *g->values);
  self->v_transposed = cuv_ntf_alloc ((size_t) rank * (size_t) self->padded);
  self->mean = cuv_ntf_alloc ((size_t) g->depth);
  if (g->values == NULL || self->v_transposed == NULL || self->mean == NULL
      || !cuv_ntf_factors_init (&self->factors, self->is_matrix ? 1 : g->height,
          self->is_matrix ? g->height * g->width : g->width, g->depth, rank))
    return false;
  for (int i = 0; i < CUV_NTF_TASKS; i++) {
    if (!make_task (self, &self->tasks[i]))
      return false;
  }
  return true;
}

CuvNtfCpu *
cuv_ntf_cpu_new (int height, int width, int depth, int rank,
    CuvNtfFactorisation factorisation, const int32_t *cancel)
{
  CuvNtfCpu *self = calloc (1, sizeof *self);

  if (self == NULL)
    return NULL;
  self->tensor = (CuvNtfTensor){ height, width, depth, NULL, 1 };
  self->padded = cuv_ntf_pad (width);
  self->is_matrix = factorisation == CUV_NTF_MATRIX;
  self->cancel = cancel;
  cuv_ntf_dsp_init (&self->dsp);
  if (!ntf_cpu_allocate (self, rank)) {
    cuv_ntf_cpu_free (self);
    return NULL;
  }
  return self;
}

void
cuv_ntf_cpu_free (CuvNtfCpu *self)
{
  if (self == NULL)
    return;
  for (int i = 0; i < CUV_NTF_TASKS; i++) {
    for (int mode = 0; mode < CUV_NTF_MODES; mode++)
      free (self->tasks[i].sums[mode]);
    free (self->tasks[i].map);
    free (self->tasks[i].columns);
    free (self->tasks[i].transposed);
    free (self->tasks[i].gram);
  }
  cuv_ntf_factors_clear (&self->factors);
  free (self->v_transposed);
  free (self->mean);
  free (self->tensor.values);
  free (self);
}

/* ---- input ---- */

static void
ntf_scan_task (CuvNtfCpu *self, CuvNtfTask *task, int y)
{
  cuv_ntf_scan_rows (self->cube, self->ignore, y, y + 1, &task->scan);
}

bool
cuv_ntf_cpu_scan (CuvNtfCpu *self, const CuvCube *cube, const double *ignore,
    int n_threads, CuvNtfScan *scan)
{
  bool completed;

  self->n_threads = n_threads;
  *scan = (CuvNtfScan){ 0 };
  self->cube = cube;
  self->ignore = ignore;
  for (int i = 0; i < CUV_NTF_TASKS; i++)
    self->tasks[i].scan = *scan;
  completed = cuv_ntf_cpu_rows (self, cube->height, ntf_scan_task);
  for (int i = 0; i < CUV_NTF_TASKS; i++)
    cuv_ntf_scan_merge (scan, &self->tasks[i].scan);
  return completed;
}

static void
ntf_load_task (CuvNtfCpu *self, CuvNtfTask *task, int y)
{
  cuv_ntf_load_rows (
      &self->tensor, self->cube, self->ignore, self->z, y, y + 1);
}

bool
cuv_ntf_cpu_load (CuvNtfCpu *self, const CuvCube *cube, const double *ignore,
    int z, double scale, int n_threads)
{
  self->n_threads = n_threads;
  self->cube = cube;
  self->ignore = ignore;
  self->z = z;
  self->tensor.scale = scale;
  return cuv_ntf_cpu_rows (self, cube->height, ntf_load_task);
}

/* ---- iterations ---- */

/* Computes a row's map and its numerators of u. */
static void
map_row (CuvNtfCpu *self, CuvNtfTask *task, int y, float *numerators)
{
  const CuvNtfTensor *g = &self->tensor;
  const int stride = self->factors.stride;

  memset (numerators, 0, (size_t) stride * sizeof (float));
  self->dsp.product (cuv_ntf_row (self, y), 1, g->width, g->width, g->depth,
      self->factors.mode[CUV_NTF_W], stride, task->map);
  self->dsp.dot (
      task->map, self->factors.mode[CUV_NTF_V], g->width, stride, numerators);
}

static void
add_to_v (CuvNtfCpu *self, CuvNtfTask *task, int y)
{
  self->dsp.add (task->map, cuv_ntf_factor (self, CUV_NTF_U, y),
      self->tensor.width, self->factors.stride, task->sums[CUV_NTF_V]);
}

static void
add_to_w (CuvNtfCpu *self, CuvNtfTask *task, int y)
{
  const CuvNtfTensor *g = &self->tensor;
  const int stride = self->factors.stride;

  self->dsp.product (cuv_ntf_row (self, y), g->width, 1, g->depth, g->width,
      self->factors.mode[CUV_NTF_V], stride, task->columns);
  self->dsp.add (task->columns, cuv_ntf_factor (self, CUV_NTF_U, y), g->depth,
      stride, task->sums[CUV_NTF_W]);
}

static void
update_u_add_to_v (CuvNtfCpu *self, CuvNtfTask *task, int y)
{
  float numerators[CUV_NTF_MAX_RANK];

  map_row (self, task, y, numerators);
  cuv_ntf_update_row (&self->updates[CUV_NTF_U], numerators,
      cuv_ntf_factor (self, CUV_NTF_U, y));
  add_to_v (self, task, y);
}

static void
add_to_all (CuvNtfCpu *self, CuvNtfTask *task, int y)
{
  float numerators[CUV_NTF_MAX_RANK];

  map_row (self, task, y, numerators);
  add_to_v (self, task, y);
  add_to_w (self, task, y);
  cuv_ntf_update_row (&self->updates[CUV_NTF_U], numerators,
      cuv_ntf_factor (self, CUV_NTF_U, y));
}

/* Updates a row of v or w; its numerators are summed over the tasks. */
static void
update_row (CuvNtfCpu *self, CuvNtfTask *unused, int i)
{
  const int stride = self->factors.stride, mode = self->mode;
  float numerators[CUV_NTF_MAX_RANK] = { 0 };

  for (int p = 0; p < CUV_NTF_TASKS; p++) {
    for (int k = 0; k < stride; k++)
      numerators[k] += self->tasks[p].sums[mode][i * stride + k];
  }
  cuv_ntf_update_row (
      &self->updates[mode], numerators, cuv_ntf_factor (self, mode, i));
}

void
cuv_ntf_cpu_init_update (CuvNtfCpu *self, int mode)
{
  cuv_ntf_update_init (
      &self->updates[mode], &self->params, &self->factors, self->grams, mode);
}

bool
cuv_ntf_cpu_update_mode (CuvNtfCpu *self, int mode)
{
  self->mode = mode;
  if (!cuv_ntf_cpu_rows (self, self->factors.size[mode], update_row))
    return false;
  cuv_ntf_gram (&self->factors, mode, self->grams[mode]);
  return true;
}

static bool
iterate_gs (CuvNtfCpu *self)
{
  const int height = self->tensor.height;

  cuv_ntf_cpu_init_update (self, CUV_NTF_U);
  cuv_ntf_cpu_clear_sums (self, CUV_NTF_V);
  if (!cuv_ntf_cpu_rows (self, height, update_u_add_to_v))
    return false;
  cuv_ntf_gram (&self->factors, CUV_NTF_U, self->grams[CUV_NTF_U]);
  cuv_ntf_cpu_init_update (self, CUV_NTF_V);
  if (!cuv_ntf_cpu_update_mode (self, CUV_NTF_V))
    return false;
  cuv_ntf_cpu_init_update (self, CUV_NTF_W);
  cuv_ntf_cpu_clear_sums (self, CUV_NTF_W);
  return cuv_ntf_cpu_rows (self, height, add_to_w)
      && cuv_ntf_cpu_update_mode (self, CUV_NTF_W);
}

static bool
iterate_jacobi (CuvNtfCpu *self)
{
  for (int mode = 0; mode < CUV_NTF_MODES; mode++)
    cuv_ntf_cpu_init_update (self, mode);
  cuv_ntf_cpu_clear_sums (self, CUV_NTF_V);
  cuv_ntf_cpu_clear_sums (self, CUV_NTF_W);
  if (!cuv_ntf_cpu_rows (self, self->tensor.height, add_to_all))
    return false;
  cuv_ntf_gram (&self->factors, CUV_NTF_U, self->grams[CUV_NTF_U]);
  return cuv_ntf_cpu_update_mode (self, CUV_NTF_V)
      && cuv_ntf_cpu_update_mode (self, CUV_NTF_W);
}

static bool
ntf_cpu_iterate (CuvNtfCpu *self)
{
  if (self->is_matrix)
    return cuv_ntf_cpu_iterate_matrix (self);
  return self->params.schedule == CUV_NTF_GS ? iterate_gs (self)
                                             : iterate_jacobi (self);
}

void
cuv_ntf_cpu_transpose (
    const CuvNtfCpu *self, const float *rows, int n, float *to)
{
  for (int x = 0; x < n; x++, rows += self->factors.stride) {
    for (int k = 0; k < self->factors.rank; k++)
      to[k * self->padded + x] = rows[k];
  }
}

/* Transposes v of a tensor. Each row of a MATRIX has its own transposed v, see
 * transposed_v(). */
static void
transpose_v (CuvNtfCpu *self)
{
  if (!self->is_matrix)
    cuv_ntf_cpu_transpose (self, self->factors.mode[CUV_NTF_V],
        self->tensor.width, self->v_transposed);
}

static const float *
transposed_v (CuvNtfCpu *self, CuvNtfTask *task, int y)
{
  if (!self->is_matrix)
    return self->v_transposed;
  cuv_ntf_cpu_transpose (
      self, cuv_ntf_pixels (self, y), self->tensor.width, task->transposed);
  return task->transposed;
}

/* Computes the sum of terms in a row, depth x padded, in task->map. */
static void
rebuild_row (CuvNtfCpu *self, CuvNtfTask *task, int y)
{
  const CuvNtfFactors *f = &self->factors;
  const float *u = cuv_ntf_factor (self, CUV_NTF_U, self->is_matrix ? 0 : y);

  for (int z = 0; z < f->size[CUV_NTF_W]; z++) {
    for (int k = 0; k < f->rank; k++)
      task->columns[z * f->stride + k] =
          u[k] * cuv_ntf_factor (self, CUV_NTF_W, z)[k];
  }
  self->dsp.product (task->columns, f->stride, 1, f->size[CUV_NTF_W], f->rank,
      transposed_v (self, task, y), self->padded, task->map);
}

static void
add_residual (CuvNtfCpu *self, CuvNtfTask *task, int y)
{
  const CuvNtfTensor *g = &self->tensor;
  const float *row = cuv_ntf_row (self, y);

  rebuild_row (self, task, y);
  for (int z = 0; z < g->depth; z++)
    task->residual += self->dsp.distance (&row[(size_t) z * (size_t) g->width],
        &task->map[(size_t) z * (size_t) self->padded], g->width);
}

/* Adds the squares of a row: distances from v_transposed, which is still
 * zero. */
static void
add_square (CuvNtfCpu *self, CuvNtfTask *task, int y)
{
  const CuvNtfTensor *g = &self->tensor;
  const float *row = cuv_ntf_row (self, y);

  for (int z = 0; z < g->depth; z++)
    task->square += self->dsp.distance (
        &row[(size_t) z * (size_t) g->width], self->v_transposed, g->width);
}

static bool
find_error (CuvNtfCpu *self, double *error)
{
  double square = 0, residual = 0;

  transpose_v (self);
  for (int i = 0; i < CUV_NTF_TASKS; i++)
    self->tasks[i].residual = 0;
  if (!cuv_ntf_cpu_rows (self, self->tensor.height, add_residual))
    return false;
  for (int i = 0; i < CUV_NTF_TASKS; i++) {
    square += self->tasks[i].square;
    residual += self->tasks[i].residual;
  }
  *error = square > 0 ? sqrt (residual / square) : 0;
  return true;
}

static void
find_residual_row (CuvNtfCpu *self, CuvNtfTask *task, int y)
{
  const CuvNtfTensor *g = &self->tensor;
  const float *row = cuv_ntf_row (self, y);
  float *out = &self->residual_map[(size_t) y * (size_t) g->width];

  rebuild_row (self, task, y);
  for (int x = 0; x < g->width; x++) {
    double sum = 0;

    for (int z = 0; z < g->depth; z++) {
      double left = row[(size_t) z * (size_t) g->width + (size_t) x] * g->scale
          - task->map[(size_t) z * (size_t) self->padded + (size_t) x];

      sum += left * left;
    }
    out[x] = (float) sqrt (sum / g->depth);
  }
}

bool
cuv_ntf_cpu_residual (CuvNtfCpu *self, int n_threads, float *map)
{
  self->n_threads = n_threads;
  self->residual_map = map;
  transpose_v (self);
  return cuv_ntf_cpu_rows (self, self->tensor.height, find_residual_row);
}

static bool
start_factors (CuvNtfCpu *self)
{
  switch (self->params.init) {
    case CUV_NTF_PREVIOUS:
      cuv_ntf_resume (&self->factors, self->tensor.scale);
      return true;
    case CUV_NTF_NNDSVD:
      if (self->is_matrix)
        cuv_ntf_cpu_randomise_w (self);
      else
        cuv_ntf_randomise (&self->factors, self->params.seed);
      return cuv_ntf_cpu_nndsvd (self);
    case CUV_NTF_NFINDR:
      return cuv_ntf_cpu_nfindr (self);
    default:
      if (self->is_matrix)
        return cuv_ntf_cpu_randomise_matrix (self);
      cuv_ntf_randomise (&self->factors, self->params.seed);
      return true;
  }
}

static void
find_grams (CuvNtfCpu *self)
{
  for (int mode = 0; mode < CUV_NTF_MODES; mode++) {
    /* the pixels' Gram matrix takes long, and is only needed for the penalty */
    if (!self->is_matrix || mode != CUV_NTF_V || self->params.sparsity > 0)
      cuv_ntf_gram (&self->factors, mode, self->grams[mode]);
  }
}

bool
cuv_ntf_cpu_start (CuvNtfCpu *self, const CuvNtfParams *params, int n_threads)
{
  self->n_threads = n_threads;
  self->params = *params;
  self->result = (CuvNtfResult){ 0 };
  cuv_ntf_complete (&self->params);
  memset (self->v_transposed, 0, (size_t) self->padded * sizeof (float));
  for (int i = 0; i < CUV_NTF_TASKS; i++)
    self->tasks[i].square = 0;
  if (!cuv_ntf_cpu_rows (self, self->tensor.height, add_square)
      || !start_factors (self))
    return false;
  if (self->is_matrix)
    cuv_ntf_set_ones (&self->factors);
  find_grams (self);
  return true;
}

static void
test (CuvNtfCpu *self, double error)
{
  CuvNtfResult *result = &self->result;
  const int n = result->iterations;

  cuv_ntf_record_error (result, &self->params, error);
  if (result->converged || n == self->params.iterations)
    cuv_ntf_finish (&self->factors, &self->params, self->tensor.scale, result);
  else if (self->params.reinit_dead
      && cuv_ntf_revive (&self->factors, self->params.seed, (uint32_t) n) > 0)
    find_grams (self);
}

CuvNtfStatus
cuv_ntf_cpu_step (CuvNtfCpu *self, int n_threads)
{
  CuvNtfResult *result = &self->result;
  double error;

  self->n_threads = n_threads;
  do {
    if (!ntf_cpu_iterate (self))
      return CUV_NTF_CANCELLED;
    result->iterations++;
  } while (!cuv_ntf_has_test (&self->params, result->iterations));
  if (!find_error (self, &error))
    return CUV_NTF_CANCELLED;
  test (self, error);
  return result->converged || result->iterations == self->params.iterations
      ? CUV_NTF_DONE
      : CUV_NTF_RUNNING;
}

const CuvNtfResult *
cuv_ntf_cpu_result (const CuvNtfCpu *self)
{
  return &self->result;
}

const CuvNtfFactors *
cuv_ntf_cpu_factors (const CuvNtfCpu *self)
{
  return &self->factors;
}
