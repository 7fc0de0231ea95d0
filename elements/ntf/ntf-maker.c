/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "ntf-maker.h"

#include <stdlib.h>
#include <string.h>
#if HAVE_CUDA
#include "ntf/ntf.h"
#endif

static const char no_memory[] = "out of memory";

/* ---- new and free ---- */

static CuvNtfCpu *
new_cpu (const CuvNtfMaker *self)
{
  const CuvNtfShape *shape = &self->shape;

  return cuv_ntf_cpu_new (
      shape->height, shape->width, shape->depth, shape->rank, self->cancel);
}

#if HAVE_CUDA
static size_t
packed_size (const CuvNtfMaker *self, int mode)
{
  return (size_t) self->factors.size[mode] * (size_t) self->factors.rank;
}

static const char *
open_cuda (CuvNtfMaker *self)
{
  const CuvNtfShape *shape = &self->shape;

  if (!cuv_ntf_factors_init (&self->factors, shape->height, shape->width,
          shape->depth, shape->rank))
    return no_memory;
  for (int mode = 0; mode < CUV_NTF_MODES; mode++) {
    self->packed[mode] = cuv_ntf_alloc (packed_size (self, mode));
    if (self->packed[mode] == NULL)
      return no_memory;
  }
  self->cuda = cuv_ntf_cuda_new (shape->height, shape->width, shape->depth,
      shape->rank, self->cancel, shape->stream);
  return self->cuda != NULL ? NULL : cuv_cuda_error ();
}
#endif

static const char *
open_maker (CuvNtfMaker *self)
{
#if HAVE_CUDA
  if (self->shape.on_device)
    return open_cuda (self);
#endif
  self->cpu = new_cpu (self);
  return self->cpu != NULL ? NULL : no_memory;
}

CuvNtfMaker *
cuv_ntf_maker_new (
    const CuvNtfShape *shape, const int32_t *cancel, const char **problem)
{
  CuvNtfMaker *self = calloc (1, sizeof *self);

  *problem = no_memory;
  if (self == NULL)
    return NULL;
  self->shape = *shape;
  self->cancel = cancel;
  self->map = malloc (
      (size_t) shape->height * (size_t) shape->width * sizeof *self->map);
  if (self->map != NULL)
    *problem = open_maker (self);
  if (*problem == NULL)
    return self;
  cuv_ntf_maker_free (self);
  return NULL;
}

void
cuv_ntf_maker_free (CuvNtfMaker *self)
{
  if (self == NULL)
    return;
#if HAVE_CUDA
  cuv_ntf_cuda_free (self->cuda);
#endif
  cuv_ntf_cpu_free (self->cpu);
  cuv_ntf_factors_clear (&self->factors);
  for (int mode = 0; mode < CUV_NTF_MODES; mode++)
    free (self->packed[mode]);
  free (self->values);
  free (self->map);
  free (self);
}

bool
cuv_ntf_maker_is_for (const CuvNtfMaker *self, const CuvNtfShape *shape)
{
  return self != NULL && self->shape.height == shape->height
      && self->shape.width == shape->width && self->shape.depth == shape->depth
      && self->shape.rank == shape->rank
      && self->shape.on_device == shape->on_device
      && self->shape.stream == shape->stream;
}

/* ---- on the device ---- */

#if HAVE_CUDA
/* FALSE if it failed, or was cancelled. */
static bool
went_well (CuvNtfMaker *self, int status)
{
  self->problem = status == 0 ? NULL : cuv_cuda_error ();
  return status == 0 && __atomic_load_n (self->cancel, __ATOMIC_RELAXED) == 0;
}

/* One of the CPU's, with the tensor that the device has, in its scale. */
static bool
ensure_starter (CuvNtfMaker *self)
{
  const CuvNtfShape *shape = &self->shape;

  if (self->cpu == NULL)
    self->cpu = new_cpu (self);
  if (self->values == NULL)
    self->values = malloc ((size_t) shape->height * (size_t) shape->width
        * (size_t) shape->depth * sizeof *self->values);
  self->problem = self->cpu != NULL && self->values != NULL ? NULL : no_memory;
  return self->problem == NULL;
}

static CuvCube
cube_of_tensor (const CuvNtfMaker *self)
{
  const CuvNtfShape *shape = &self->shape;
  const int64_t band = (int64_t) sizeof (float) * shape->width;
  const CuvCube cube = { (const uint8_t *) self->values, CUV_CUBE_F32,
    shape->width, shape->height, shape->depth, sizeof (float),
    band * shape->depth, band };

  return cube;
}

static void
pack (CuvNtfMaker *self, const CuvNtfFactors *factors)
{
  const size_t rank = (size_t) factors->rank;

  for (int mode = 0; mode < CUV_NTF_MODES; mode++) {
    for (size_t i = 0; i < (size_t) factors->size[mode]; i++)
      memcpy (&self->packed[mode][i * rank],
          &factors->mode[mode][i * (size_t) factors->stride],
          rank * sizeof (float));
  }
  for (size_t i = 0; i < packed_size (self, CUV_NTF_W); i++)
    self->packed[CUV_NTF_W][i] *= (float) self->scale;
}

static void
unpack (CuvNtfMaker *self)
{
  const size_t rank = (size_t) self->factors.rank;

  for (int mode = 0; mode < CUV_NTF_MODES; mode++) {
    for (size_t i = 0; i < (size_t) self->factors.size[mode]; i++)
      memcpy (&self->factors.mode[mode][i * (size_t) self->factors.stride],
          &self->packed[mode][i * rank], rank * sizeof (float));
  }
}

/* The start from singular vectors is the CPU's to find. */
static bool
set_start (CuvNtfMaker *self, const CuvNtfParams *params, int n_threads)
{
  CuvCube cube;

  if (!ensure_starter (self)
      || !went_well (self, cuv_ntf_cuda_get_tensor (self->cuda, self->values)))
    return false;
  cube = cube_of_tensor (self);
  if (!cuv_ntf_cpu_load (self->cpu, &cube, NULL, 0, 1, n_threads)
      || !cuv_ntf_cpu_start (self->cpu, params, n_threads))
    return false;
  pack (self, cuv_ntf_cpu_factors (self->cpu));
  return went_well (self,
      cuv_ntf_cuda_set_factors (self->cuda, self->packed[CUV_NTF_U],
          self->packed[CUV_NTF_V], self->packed[CUV_NTF_W]));
}

static bool
step_cuda (CuvNtfMaker *self, CuvNtfStatus *status)
{
  if (!went_well (self, cuv_ntf_cuda_step (self->cuda, status))
      || *status == CUV_NTF_CANCELLED)
    return false;
  if (*status != CUV_NTF_DONE)
    return true;
  if (!went_well (self,
          cuv_ntf_cuda_get_factors (self->cuda, self->packed[CUV_NTF_U],
              self->packed[CUV_NTF_V], self->packed[CUV_NTF_W])))
    return false;
  unpack (self);
  return true;
}
#endif

/* ---- a run ---- */

bool
cuv_ntf_maker_scan (CuvNtfMaker *self, const CuvCube *cube,
    const double *ignore, int n_threads, CuvNtfScan *scan)
{
#if HAVE_CUDA
  if (self->cuda != NULL)
    return went_well (self, cuv_ntf_cuda_scan (self->cuda, cube, ignore, scan));
#endif
  return cuv_ntf_cpu_scan (self->cpu, cube, ignore, n_threads, scan);
}

bool
cuv_ntf_maker_load (CuvNtfMaker *self, const CuvCube *cube,
    const double *ignore, int z, double scale, int n_threads)
{
  self->scale = scale;
#if HAVE_CUDA
  if (self->cuda != NULL)
    return went_well (
        self, cuv_ntf_cuda_load (self->cuda, cube, ignore, z, scale));
#endif
  return cuv_ntf_cpu_load (self->cpu, cube, ignore, z, scale, n_threads);
}

bool
cuv_ntf_maker_start (
    CuvNtfMaker *self, const CuvNtfParams *params, int n_threads)
{
#if HAVE_CUDA
  if (self->cuda != NULL)
    return (params->init != CUV_NTF_NNDSVD
               || set_start (self, params, n_threads))
        && went_well (self, cuv_ntf_cuda_start (self->cuda, params));
#endif
  return cuv_ntf_cpu_start (self->cpu, params, n_threads);
}

bool
cuv_ntf_maker_step (CuvNtfMaker *self, int n_threads, CuvNtfStatus *status)
{
#if HAVE_CUDA
  if (self->cuda != NULL)
    return step_cuda (self, status);
#endif
  *status = cuv_ntf_cpu_step (self->cpu, n_threads);
  return *status != CUV_NTF_CANCELLED;
}

const CuvNtfResult *
cuv_ntf_maker_result (const CuvNtfMaker *self)
{
#if HAVE_CUDA
  if (self->cuda != NULL)
    return cuv_ntf_cuda_result (self->cuda);
#endif
  return cuv_ntf_cpu_result (self->cpu);
}

const CuvNtfFactors *
cuv_ntf_maker_factors (const CuvNtfMaker *self)
{
  return self->cuda != NULL ? &self->factors : cuv_ntf_cpu_factors (self->cpu);
}

const float *
cuv_ntf_maker_residual (CuvNtfMaker *self, int n_threads)
{
#if HAVE_CUDA
  if (self->cuda != NULL)
    return went_well (self, cuv_ntf_cuda_residual (self->cuda, self->map))
        ? self->map
        : NULL;
#endif
  return cuv_ntf_cpu_residual (self->cpu, n_threads, self->map) ? self->map
                                                                : NULL;
}
