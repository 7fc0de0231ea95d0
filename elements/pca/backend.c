/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs the analysis of a cube on the CPU or with CUDA. */
#include "config.h"
#include "backend.h"

#if HAVE_CUDA
#include "pca/pca.h"
#endif

static const char *
pca_open_cpu (void **state, const void *config, const CuvFrame *frame,
    const CuvProcessor *processor)
{
  *state = cuv_pca_cpu_new (*(const int *) config);
  return *state != NULL ? NULL : "out of memory";
}

static const char *
pca_run_cpu (void *state, void *data, const CuvProcessor *processor)
{
  const CuvPcaJob *job = data;
  CuvPcaTrack *track = cuv_pca_cpu_track (state);

  if (job->reset || job->start != NULL)
    cuv_pca_track_reset (track);
  if (job->start != NULL)
    cuv_pca_basis_copy (&track->basis, job->start);
  if (job->scores == NULL)
    cuv_pca_cpu_run (state, job->cube, job->bands, job->params, job->picture,
        job->stride, processor->n_threads, job->result);
  else if (!cuv_pca_cpu_score (state, job->cube, job->bands, job->params,
               job->scores, processor->n_threads, job->result))
    return "out of memory";
  cuv_pca_basis_copy (job->basis, &track->basis);
  return NULL;
}

static void
pca_close_cpu (void *state)
{
  cuv_pca_cpu_free (state);
}

static const CuvBackendClass cpu = { pca_open_cpu, pca_run_cpu, pca_close_cpu };

#if HAVE_CUDA
static const char *
pca_open_cuda (void **state, const void *config, const CuvFrame *frame,
    const CuvProcessor *processor)
{
  *state = cuv_pca_cuda_new (*(const int *) config);
  return *state != NULL ? NULL : cuv_cuda_error ();
}

static const char *
pca_run_cuda (void *state, void *data, const CuvProcessor *processor)
{
  const CuvPcaJob *job = data;
  int failed = 0;

  if (job->reset)
    failed = cuv_pca_cuda_reset (state);
  if (!failed && job->start != NULL)
    failed = cuv_pca_cuda_set_basis (state, job->start);
  if (!failed)
    failed = cuv_pca_cuda_submit (state, job->cube, job->bands, job->params,
        job->picture, job->stride, processor->stream);
  if (!failed)
    failed = cuv_pca_cuda_collect (state, job->result, job->basis);
  return failed ? cuv_cuda_error () : NULL;
}

static void
pca_close_cuda (void *state)
{
  cuv_pca_cuda_free (state);
}

bool
cuv_pca_fits_device (int n, CuvCubeFormat format)
{
  return cuv_pca_cuda_fits (n, format);
}

static const CuvBackendClass cuda = { pca_open_cuda, pca_run_cuda,
  pca_close_cuda };
const CuvBackendClasses cuv_pca_backends = { &cpu, &cuda };
#else
bool
cuv_pca_fits_device (int n, CuvCubeFormat format)
{
  return false;
}

const CuvBackendClasses cuv_pca_backends = { &cpu, NULL };
#endif
