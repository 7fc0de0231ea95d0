/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs the tasks of a factorisation on the CPU or with CUDA. */
#include "config.h"
#include "backend.h"

#include <stdlib.h>
#if HAVE_CUDA
#include "ntf/ntf.h"
#endif

static const char no_memory[] = "out of memory";

static CuvNtfCpu *
new_cpu (const CuvNtfConfig *config)
{
  return cuv_ntf_cpu_new (config->height, config->width, config->depth,
      config->rank, config->factorisation, config->cancel);
}

static float *
new_map (const CuvNtfConfig *config)
{
  return malloc (
      (size_t) config->height * (size_t) config->width * sizeof (float));
}

typedef struct {
  CuvNtfCpu *cpu;
  float *map; /* map of residuals */
} CpuState;

static const char *
ntf_open_cpu (void **state, const void *config, const CuvFrame *frame,
    const CuvProcessor *processor)
{
  CpuState *self = *state = calloc (1, sizeof *self);

  if (self == NULL)
    return no_memory;
  self->cpu = new_cpu (config);
  self->map = new_map (config);
  return self->cpu != NULL && self->map != NULL ? NULL : no_memory;
}

static CuvNtfStatus
do_task (CpuState *self, const CuvNtfJob *job, int n_threads)
{
  bool ok = true;

  switch (job->task) {
    case CUV_NTF_SCAN:
      ok = cuv_ntf_cpu_scan (
          self->cpu, job->cube, job->ignore, n_threads, job->scan);
      break;
    case CUV_NTF_LOAD:
      ok = cuv_ntf_cpu_load (
          self->cpu, job->cube, job->ignore, job->z, job->scale, n_threads);
      break;
    case CUV_NTF_START:
      ok = cuv_ntf_cpu_start (self->cpu, job->params, n_threads);
      break;
    case CUV_NTF_STEP:
      return cuv_ntf_cpu_step (self->cpu, n_threads);
    case CUV_NTF_RESIDUAL:
      ok = cuv_ntf_cpu_residual (self->cpu, n_threads, self->map);
  }
  return ok ? CUV_NTF_RUNNING : CUV_NTF_CANCELLED;
}

static const char *
ntf_run_cpu (void *state, void *data, const CuvProcessor *processor)
{
  CpuState *self = state;
  CuvNtfJob *job = data;

  job->status = do_task (self, job, processor->n_threads);
  job->result = cuv_ntf_cpu_result (self->cpu);
  job->factors = cuv_ntf_cpu_factors (self->cpu);
  job->map = self->map;
  return NULL;
}

static void
ntf_close_cpu (void *state)
{
  CpuState *self = state;

  cuv_ntf_cpu_free (self->cpu);
  free (self->map);
  free (self);
}

static const CuvBackendClass cpu = { ntf_open_cpu, ntf_run_cpu, ntf_close_cpu };

#if HAVE_CUDA
typedef struct {
  CuvNtfConfig config;
  CuvNtfCuda *cuda;
  float *map;       /* map of residuals */
  CuvNtfCpu *start; /* used by init=nndsvd and nfindr; NULL until then */
  float *values;    /* tensor of start */
} CudaState;

static const char *
ntf_open_cuda (void **state, const void *data, const CuvFrame *frame,
    const CuvProcessor *processor)
{
  const CuvNtfConfig *config = data;
  CudaState *self = *state = calloc (1, sizeof *self);

  if (self == NULL)
    return no_memory;
  self->config = *config;
  self->map = new_map (config);
  if (self->map == NULL)
    return no_memory;
  self->cuda = cuv_ntf_cuda_new (config->height, config->width, config->depth,
      config->rank, config->factorisation, config->cancel, processor->stream);
  return self->cuda != NULL ? NULL : cuv_cuda_error ();
}

static const char *
problem_of (int status)
{
  return status == 0 ? NULL : cuv_cuda_error ();
}

static const char *
ensure_start (CudaState *self)
{
  const CuvNtfConfig *config = &self->config;

  if (self->start == NULL)
    self->start = new_cpu (config);
  if (self->values == NULL)
    self->values = malloc ((size_t) config->height * (size_t) config->width
        * (size_t) config->depth * sizeof *self->values);
  return self->start != NULL && self->values != NULL ? NULL : no_memory;
}

static CuvCube
cube_of_tensor (const CudaState *self)
{
  const CuvNtfConfig *config = &self->config;
  const int64_t band = (int64_t) sizeof (float) * config->width;
  const CuvCube cube = { (const uint8_t *) self->values, CUV_CUBE_F32,
    config->width, config->height, config->depth, sizeof (float),
    band * config->depth, band };

  return cube;
}

static bool
ntf_is_cancelled (const CudaState *self)
{
  return __atomic_load_n (self->config.cancel, __ATOMIC_RELAXED) != 0;
}

static const char *
set_start (CudaState *self, const CuvNtfParams *params, int n_threads)
{
  const char *problem = ensure_start (self);
  CuvCube cube;

  if (problem == NULL)
    problem = problem_of (cuv_ntf_cuda_get_tensor (self->cuda, self->values));
  if (problem != NULL || ntf_is_cancelled (self))
    return problem;
  cube = cube_of_tensor (self);
  if (!cuv_ntf_cpu_load (self->start, &cube, NULL, 0, 1, n_threads)
      || !cuv_ntf_cpu_start (self->start, params, n_threads))
    return NULL; /* cancelled */
  cuv_ntf_cuda_set_factors (self->cuda, cuv_ntf_cpu_factors (self->start));
  return NULL;
}

static const char *
start_cuda (CudaState *self, const CuvNtfParams *params, int n_threads)
{
  const char *problem = NULL;

  if (params->init == CUV_NTF_NNDSVD || params->init == CUV_NTF_NFINDR)
    problem = set_start (self, params, n_threads);
  return problem != NULL || ntf_is_cancelled (self)
      ? problem
      : problem_of (cuv_ntf_cuda_start (self->cuda, params));
}

static const char *
do_cuda_task (CudaState *self, CuvNtfJob *job, int n_threads)
{
  switch (job->task) {
    case CUV_NTF_SCAN:
      return problem_of (
          cuv_ntf_cuda_scan (self->cuda, job->cube, job->ignore, job->scan));
    case CUV_NTF_LOAD:
      return problem_of (cuv_ntf_cuda_load (
          self->cuda, job->cube, job->ignore, job->z, job->scale));
    case CUV_NTF_START:
      return start_cuda (self, job->params, n_threads);
    case CUV_NTF_STEP:
      return problem_of (cuv_ntf_cuda_step (self->cuda, &job->status));
    default:
      return problem_of (cuv_ntf_cuda_residual (self->cuda, self->map));
  }
}

static const char *
ntf_run_cuda (void *state, void *data, const CuvProcessor *processor)
{
  CudaState *self = state;
  CuvNtfJob *job = data;
  const char *problem;

  job->status = CUV_NTF_RUNNING;
  problem = do_cuda_task (self, job, processor->n_threads);
  if (ntf_is_cancelled (self))
    job->status = CUV_NTF_CANCELLED;
  job->result = cuv_ntf_cuda_result (self->cuda);
  job->factors = cuv_ntf_cuda_factors (self->cuda);
  job->map = self->map;
  return problem;
}

static void
ntf_close_cuda (void *state)
{
  CudaState *self = state;

  cuv_ntf_cuda_free (self->cuda);
  cuv_ntf_cpu_free (self->start);
  free (self->values);
  free (self->map);
  free (self);
}

static const CuvBackendClass cuda = { ntf_open_cuda, ntf_run_cuda,
  ntf_close_cuda };
const CuvBackendClasses cuv_ntf_backends = { &cpu, &cuda };
#else
const CuvBackendClasses cuv_ntf_backends = { &cpu, NULL };
#endif
