/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "backend.h"

#include <stddef.h>

#include "countbright.h"
#if HAVE_CUDA
#include "countbright/countbright.h"
#endif

static const char *
run_cpu (void *state, void *data, const CuvProcessor *processor)
{
  CuvCountbrightJob *job = data;

  job->count =
      cuv_countbright_cpu (job->frame, job->threshold, processor->n_threads);
  return NULL;
}

static const CuvBackendClass cpu = { .run = run_cpu };

#if HAVE_CUDA
static const char *
run_cuda (void *state, void *data, const CuvProcessor *processor)
{
  CuvCountbrightJob *job = data;

  return cuv_countbright_cuda_submit (
             state, job->frame, job->threshold, processor->stream)
              == 0
          && cuv_countbright_cuda_collect (state, &job->count) == 0
      ? NULL
      : cuv_cuda_error ();
}

static const char *
open_cuda (void **state, const void *config, const CuvFrame *frame,
    const CuvProcessor *processor)
{
  CuvCountbrightJob first = { .frame = frame };

  *state = cuv_countbright_cuda_new ();
  return *state != NULL ? run_cuda (*state, &first, processor)
                        : cuv_cuda_error ();
}

static void
close_cuda (void *state)
{
  cuv_countbright_cuda_free (state);
}

static const CuvBackendClass cuda = { open_cuda, run_cuda, close_cuda };
const CuvBackendClasses cuv_countbright_backend_classes = { &cpu, &cuda };
#else
const CuvBackendClasses cuv_countbright_backend_classes = { &cpu, NULL };
#endif
