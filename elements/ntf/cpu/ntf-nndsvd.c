/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* NNDSVD initialisation (Boutsidis, Gallopoulos 2008) of the tensor G as a
 * pixels x depth matrix: right singular vectors by subspace iteration; the
 * positive or negative part of each, whichever has the larger map; and the best
 * rank-1 approximation of that map by power iteration, or, for a MATRIX, the
 * map itself. All steps read G row by row. */
#include "cpu/ntf-cpu-private.h"

#include <math.h>
#include <string.h>

enum { SUBSPACE_STEPS = 10, POWER_STEPS = 3 };

static float *
at (CuvNtfCpu *self, int mode, int k)
{
  return &self->factors.mode[mode][k];
}

static double
nndsvd_dot (const float *a, const float *b, int n, int stride)
{
  double sum = 0;

  for (int i = 0; i < n; i++)
    sum += (double) a[i * stride] * b[i * stride];
  return sum;
}

static void
subtract (float *a, const float *b, double factor, int n, int stride)
{
  for (int i = 0; i < n; i++)
    a[i * stride] = (float) (a[i * stride] - factor * b[i * stride]);
}

static void
nndsvd_scale (float *a, double factor, int n, int stride)
{
  for (int i = 0; i < n; i++)
    a[i * stride] = (float) (a[i * stride] * factor);
}

/* Orthonormalises by Gram-Schmidt; a column that depends on previous ones
 * becomes 0. */
static void
make_orthonormal (CuvNtfCpu *self)
{
  const int n = self->tensor.depth, stride = self->factors.stride;

  for (int k = 0; k < self->factors.rank; k++) {
    float *column = at (self, CUV_NTF_W, k);
    double before = sqrt (nndsvd_dot (column, column, n, stride)), after;

    for (int l = 0; l < k; l++) {
      const float *other = at (self, CUV_NTF_W, l);

      subtract (
          column, other, nndsvd_dot (column, other, n, stride), n, stride);
    }
    after = sqrt (nndsvd_dot (column, column, n, stride));
    nndsvd_scale (column, after > 1e-5 * before ? 1 / after : 0, n, stride);
  }
}

void
cuv_ntf_cpu_map_row (CuvNtfCpu *self, int y, float *map)
{
  const CuvNtfTensor *g = &self->tensor;
  const int stride = self->factors.stride;

  self->dsp.product (cuv_ntf_row (self, y), 1, g->width, g->width, g->depth,
      self->factors.mode[CUV_NTF_W], stride, map);
  for (int x = 0; x < g->width && self->offset != NULL; x++, map += stride) {
    for (int k = 0; k < stride; k++)
      map[k] -= self->offset[k];
  }
}

static void
add_map_times_row (CuvNtfCpu *self, CuvNtfTask *task, int y)
{
  const CuvNtfTensor *g = &self->tensor;
  const int stride = self->factors.stride;

  cuv_ntf_cpu_map_row (self, y, task->map);
  self->dsp.product (cuv_ntf_row (self, y), g->width, 1, g->depth, g->width,
      task->map, stride, task->columns);
  for (int i = 0; i < g->depth * stride; i++)
    task->sums[CUV_NTF_W][i] += task->columns[i];
}

static void
add_part_norms (CuvNtfCpu *self, CuvNtfTask *task, int y)
{
  const int stride = self->factors.stride;

  cuv_ntf_cpu_map_row (self, y, task->map);
  for (int x = 0; x < self->tensor.width; x++) {
    for (int k = 0; k < self->factors.rank; k++) {
      double value = task->map[x * stride + k];

      task->parts[value < 0][k] += value * value;
    }
  }
}

/* Takes a step of power iteration: u = P v, v += P^T u with the positive part P
 * of the row's map. */
static void
add_power (CuvNtfCpu *self, CuvNtfTask *task, int y)
{
  const int width = self->tensor.width, stride = self->factors.stride;
  float *u = cuv_ntf_factor (self, CUV_NTF_U, y);

  cuv_ntf_cpu_map_row (self, y, task->map);
  for (int i = 0; i < width * stride; i++)
    task->map[i] = fmaxf (task->map[i], 0);
  memset (u, 0, (size_t) stride * sizeof (float));
  self->dsp.dot (task->map, self->factors.mode[CUV_NTF_V], width, stride, u);
  self->dsp.add (task->map, u, width, stride, task->sums[CUV_NTF_V]);
}

bool
cuv_ntf_cpu_sum_rows (CuvNtfCpu *self, int mode, CuvNtfRowFunc func)
{
  const int n = self->factors.size[mode] * self->factors.stride;
  float *sums = self->factors.mode[mode];

  cuv_ntf_cpu_clear_sums (self, mode);
  if (!cuv_ntf_cpu_rows (self, self->tensor.height, func))
    return false;
  memset (sums, 0, (size_t) n * sizeof (float));
  for (int p = 0; p < CUV_NTF_TASKS; p++) {
    for (int i = 0; i < n; i++)
      sums[i] += self->tasks[p].sums[mode][i];
  }
  return true;
}

/* Computes the offset: the map of the mean. */
static void
find_offset (CuvNtfCpu *self, const float *mean, float *offset)
{
  const int stride = self->factors.stride;

  self->offset = mean != NULL ? offset : NULL;
  if (mean != NULL)
    self->dsp.product (mean, 0, 1, 1, self->tensor.depth,
        self->factors.mode[CUV_NTF_W], stride, offset);
}

bool
cuv_ntf_cpu_find_vectors (CuvNtfCpu *self, const float *mean, float *offset)
{
  make_orthonormal (self);
  find_offset (self, mean, offset);
  for (int i = 0; i < SUBSPACE_STEPS; i++) {
    if (!cuv_ntf_cpu_sum_rows (self, CUV_NTF_W, add_map_times_row))
      return false;
    make_orthonormal (self);
    find_offset (self, mean, offset);
  }
  return true;
}

/* Flips vectors so that their positive part, times that of the map, is the
 * larger one; then clips the negative part. */
static bool
choose_parts (CuvNtfCpu *self)
{
  const int depth = self->tensor.depth, stride = self->factors.stride;

  for (int p = 0; p < CUV_NTF_TASKS; p++)
    memset (self->tasks[p].parts, 0, sizeof self->tasks[p].parts);
  if (!cuv_ntf_cpu_rows (self, self->tensor.height, add_part_norms))
    return false;
  for (int k = 0; k < self->factors.rank; k++) {
    float *column = at (self, CUV_NTF_W, k);
    double of_map[2] = { 0 }, of_column[2] = { 0 };

    for (int p = 0; p < CUV_NTF_TASKS; p++) {
      of_map[0] += self->tasks[p].parts[0][k];
      of_map[1] += self->tasks[p].parts[1][k];
    }
    for (int i = 0; i < depth; i++)
      of_column[column[i * stride] < 0] += pow (column[i * stride], 2);
    if (of_map[1] * of_column[1] > of_map[0] * of_column[0])
      nndsvd_scale (column, -1, depth, stride);
  }
  return true;
}

static bool
find_rank_1 (CuvNtfCpu *self)
{
  const int width = self->tensor.width, stride = self->factors.stride;

  for (int i = 0; i < POWER_STEPS; i++) {
    if (!cuv_ntf_cpu_sum_rows (self, CUV_NTF_V, add_power))
      return false;
    for (int k = 0; k < self->factors.rank; k++) {
      float *v = at (self, CUV_NTF_V, k);
      double norm = sqrt (nndsvd_dot (v, v, width, stride));

      nndsvd_scale (v, norm > 0 ? 1 / norm : 0, width, stride);
    }
  }
  return true;
}

static void
keep_map (CuvNtfCpu *self, CuvNtfTask *task, int y)
{
  const int n = self->tensor.width * self->factors.stride;
  float *v = cuv_ntf_pixels (self, y);

  cuv_ntf_cpu_map_row (self, y, v);
  for (int i = 0; i < n; i++)
    v[i] = fmaxf (v[i], 0);
}

/* Raises values to at least half of the column's largest: small ones would take
 * many iterations to grow. */
static void
fill_column (CuvNtfCpu *self, int mode, int k)
{
  const size_t stride = (size_t) self->factors.stride;
  float *column = at (self, mode, k), largest = 0;

  for (int i = 0; i < self->factors.size[mode]; i++)
    largest = fmaxf (largest, column[(size_t) i * stride]);
  for (int i = 0; i < self->factors.size[mode]; i++) {
    float *value = &column[(size_t) i * stride];

    /* a faint random term where a singular vector is missing */
    *value = largest > 0 ? fmaxf (*value, 0.5f * largest)
                         : 0.1f
            * cuv_ntf_random (self->params.seed, 0, mode,
                (uint32_t) i * (uint32_t) self->factors.rank + (uint32_t) k);
  }
}

bool
cuv_ntf_cpu_nndsvd (CuvNtfCpu *self)
{
  if (!cuv_ntf_cpu_find_vectors (self, NULL, NULL) || !choose_parts (self)
      || !(self->is_matrix
              ? cuv_ntf_cpu_rows (self, self->tensor.height, keep_map)
              : find_rank_1 (self)))
    return false;
  for (int mode = 0; mode < CUV_NTF_MODES; mode++) {
    for (int k = 0; k < self->factors.rank; k++)
      fill_column (self, mode, k);
  }
  cuv_ntf_resume (&self->factors, 1);
  return true;
}
