/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>

#include "cpu/ntf-cpu-private.h"

static bool
make_task (const CuvNtfCpu *self, CuvNtfTask *task)
{
  const CuvNtfTensor *g = &self->tensor;
  const size_t stride = (size_t) self->factors.stride;
  const size_t map = (size_t) g->width * stride;
  const size_t rebuilt = (size_t) g->depth * (size_t) self->padded;

  task->sums[CUV_NTF_V] = cuv_ntf_alloc (map);
  task->sums[CUV_NTF_W] = cuv_ntf_alloc ((size_t) g->depth * stride);
  task->map = cuv_ntf_alloc (map > rebuilt ? map : rebuilt);
  task->columns = cuv_ntf_alloc ((size_t) g->depth * stride);
  return task->sums[CUV_NTF_V] != NULL && task->sums[CUV_NTF_W] != NULL
      && task->map != NULL && task->columns != NULL;
}

static bool
make_all (CuvNtfCpu *self, int rank)
{
  CuvNtfTensor *g = &self->tensor;

  /* calloc's untouched pages: writing zeros here could take long and not be
   * cancelled */
  g->values =
      calloc ((size_t) g->height * (size_t) g->width * (size_t) g->depth,
          sizeof *g->values);
  self->across = cuv_ntf_alloc ((size_t) rank * (size_t) self->padded);
  if (g->values == NULL || self->across == NULL
      || !cuv_ntf_factors_init (
          &self->factors, g->height, g->width, g->depth, rank))
    return false;
  for (int i = 0; i < CUV_NTF_TASKS; i++) {
    if (!make_task (self, &self->tasks[i]))
      return false;
  }
  return true;
}

CuvNtfCpu *
cuv_ntf_cpu_new (
    int height, int width, int depth, int rank, const int32_t *cancel)
{
  CuvNtfCpu *self = calloc (1, sizeof *self);

  if (self == NULL)
    return NULL;
  self->tensor = (CuvNtfTensor){ height, width, depth, NULL, 1 };
  self->padded = cuv_ntf_pad (width);
  self->cancel = cancel;
  cuv_ntf_dsp_init (&self->dsp);
  if (!make_all (self, rank)) {
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
  }
  cuv_ntf_factors_clear (&self->factors);
  free (self->across);
  free (self->tensor.values);
  free (self);
}
