/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An iteration on pixels x depth: row by row of the image, new values of the
 * pixels and, from these, numerators of w. So an iteration reads G once. */
#include "cpu/ntf-cpu-private.h"

#include <string.h>

void
cuv_ntf_cpu_randomise_w (CuvNtfCpu *self)
{
  for (int k = 0; k < self->factors.rank; k++)
    cuv_ntf_randomise_column (
        &self->factors, k, CUV_NTF_W, self->params.seed, 0);
}

static void
randomise_pixels (CuvNtfCpu *self, CuvNtfTask *task, int y)
{
  const int rank = self->factors.rank, width = self->tensor.width;

  for (int x = 0; x < width; x++) {
    const int i = y * width + x;

    for (int k = 0; k < rank; k++)
      cuv_ntf_factor (self, CUV_NTF_V, i)[k] =
          cuv_ntf_random (self->params.seed, 0, CUV_NTF_V,
              (uint32_t) i * (uint32_t) rank + (uint32_t) k);
  }
}

bool
cuv_ntf_cpu_randomise_matrix (CuvNtfCpu *self)
{
  cuv_ntf_cpu_randomise_w (self);
  return cuv_ntf_cpu_rows (self, self->tensor.height, randomise_pixels);
}

static void
update_pixels (CuvNtfCpu *self, CuvNtfTask *task, int y)
{
  const int stride = self->factors.stride, width = self->tensor.width;
  float *v = cuv_ntf_pixels (self, y);

  cuv_ntf_cpu_map_row (self, y, task->map);
  for (int x = 0; x < width; x++)
    cuv_ntf_update_row (
        &self->updates[CUV_NTF_V], &task->map[x * stride], &v[x * stride]);
  cuv_ntf_add_gram (v, (size_t) width, self->factors.rank, stride, task->gram);
}

static void
update_pixels_add_to_w (CuvNtfCpu *self, CuvNtfTask *task, int y)
{
  const CuvNtfTensor *g = &self->tensor;
  const int n = g->depth * self->factors.stride;

  update_pixels (self, task, y);
  self->dsp.product (cuv_ntf_row (self, y), g->width, 1, g->depth, g->width,
      cuv_ntf_pixels (self, y), self->factors.stride, task->columns);
  for (int i = 0; i < n; i++)
    task->sums[CUV_NTF_W][i] += task->columns[i];
}

static void
clear_grams (CuvNtfCpu *self)
{
  const size_t n = (size_t) (self->factors.rank * self->factors.rank);

  for (int i = 0; i < CUV_NTF_TASKS; i++)
    memset (self->tasks[i].gram, 0, n * sizeof (double));
}

static void
add_grams (CuvNtfCpu *self)
{
  double *gram = self->grams[CUV_NTF_V];

  for (int k = 0; k < self->factors.rank * self->factors.rank; k++) {
    gram[k] = 0;
    for (int i = 0; i < CUV_NTF_TASKS; i++)
      gram[k] += self->tasks[i].gram[k];
  }
}

bool
cuv_ntf_cpu_iterate_matrix (CuvNtfCpu *self)
{
  cuv_ntf_cpu_init_update (self, CUV_NTF_V);
  cuv_ntf_cpu_clear_sums (self, CUV_NTF_W);
  clear_grams (self);
  if (!cuv_ntf_cpu_rows (self, self->tensor.height, update_pixels_add_to_w))
    return false;
  add_grams (self);
  cuv_ntf_cpu_init_update (self, CUV_NTF_W);
  return cuv_ntf_cpu_update_mode (self, CUV_NTF_W);
}
