/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "pca-maker.h"

#include <stdlib.h>
#if HAVE_CUDA
#include "pca/pca.h"
#endif

static const char *
open_maker (CuvPcaMaker *self)
{
#if HAVE_CUDA
  if (self->on_device) {
    self->cuda = cuv_pca_cuda_new (self->n);
    return self->cuda != NULL ? NULL : cuv_cuda_error ();
  }
#endif
  self->cpu = cuv_pca_cpu_new (self->n);
  return self->cpu != NULL ? NULL : "out of memory";
}

bool
cuv_pca_maker_fits (int n, CuvCubeFormat format)
{
#if HAVE_CUDA
  return cuv_pca_cuda_fits (n, format);
#else
  return false;
#endif
}

CuvPcaMaker *
cuv_pca_maker_new (int n, bool on_device, const char **problem)
{
  CuvPcaMaker *self = calloc (1, sizeof *self);

  *problem = "out of memory";
  if (self == NULL)
    return NULL;
  self->n = n;
  self->on_device = on_device;
  *problem = open_maker (self);
  if (*problem == NULL)
    return self;
  cuv_pca_maker_free (self);
  return NULL;
}

void
cuv_pca_maker_free (CuvPcaMaker *self)
{
  if (self == NULL)
    return;
#if HAVE_CUDA
  cuv_pca_cuda_free (self->cuda);
#endif
  cuv_pca_cpu_free (self->cpu);
  free (self);
}

const char *
cuv_pca_maker_set_basis (CuvPcaMaker *self, const CuvPcaBasis *basis)
{
  CuvPcaTrack *track;

#if HAVE_CUDA
  if (self->cuda != NULL)
    return cuv_pca_cuda_set_basis (self->cuda, basis) == 0 ? NULL
                                                           : cuv_cuda_error ();
#endif
  track = cuv_pca_cpu_track (self->cpu);
  cuv_pca_track_reset (track);
  cuv_pca_basis_copy (&track->basis, basis);
  return NULL;
}

const char *
cuv_pca_maker_reset (CuvPcaMaker *self)
{
#if HAVE_CUDA
  if (self->cuda != NULL)
    return cuv_pca_cuda_reset (self->cuda) == 0 ? NULL : cuv_cuda_error ();
#endif
  cuv_pca_track_reset (cuv_pca_cpu_track (self->cpu));
  return NULL;
}

#if HAVE_CUDA
static const char *
run_cuda (CuvPcaMaker *self, const CuvCube *cube, const CuvPcaBands *bands,
    const CuvPcaParams *params, uint8_t *picture, ptrdiff_t stride,
    void *stream, CuvPcaResult *result, CuvPcaBasis *basis)
{
  int failed = cuv_pca_cuda_submit (
      self->cuda, cube, bands, params, picture, stride, stream);

  if (!failed)
    failed = cuv_pca_cuda_collect (self->cuda, result, basis);
  return failed ? cuv_cuda_error () : NULL;
}
#endif

const char *
cuv_pca_maker_run (CuvPcaMaker *self, const CuvCube *cube,
    const CuvPcaBands *bands, const CuvPcaParams *params, uint8_t *picture,
    ptrdiff_t stride, void *stream, int n_threads, CuvPcaResult *result,
    CuvPcaBasis *basis)
{
#if HAVE_CUDA
  if (self->cuda != NULL)
    return run_cuda (
        self, cube, bands, params, picture, stride, stream, result, basis);
#endif
  cuv_pca_cpu_run (
      self->cpu, cube, bands, params, picture, stride, n_threads, result);
  cuv_pca_basis_copy (basis, &cuv_pca_cpu_track (self->cpu)->basis);
  return NULL;
}

const char *
cuv_pca_maker_score (CuvPcaMaker *self, const CuvCube *cube,
    const CuvPcaBands *bands, const CuvPcaParams *params,
    const CuvPcaScores *scores, int n_threads, CuvPcaResult *result,
    CuvPcaBasis *basis)
{
  if (!cuv_pca_cpu_score (
          self->cpu, cube, bands, params, scores, n_threads, result))
    return "out of memory";
  cuv_pca_basis_copy (basis, &cuv_pca_cpu_track (self->cpu)->basis);
  return NULL;
}
