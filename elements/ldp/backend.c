/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Describes frames on the CPU or with CUDA. */
#include "config.h"
#include "backend.h"

#include <string.h>

#include "cpu/ldp-cpu.h"
#if HAVE_CUDA
#include "ldp/ldp.h"
#endif

static const char *
open_descriptor_cpu (void **state, const void *layout, const CuvFrame *frame,
    const CuvProcessor *processor)
{
  *state = cuv_ldp_cpu_new (layout);
  return *state != NULL ? NULL : "out of memory";
}

static const char *
run_descriptor_cpu (void *state, void *data, const CuvProcessor *processor)
{
  CuvLdpDescription *job = data;

  job->counts =
      cuv_ldp_cpu_run (state, &job->frame, &job->rect, processor->n_threads);
  if (job->counts == NULL)
    return "out of memory";
  if (job->draw != CUV_LDP_DIRECTIONS)
    cuv_ldp_cpu_draw (state, job->draw, processor->n_threads);
  return NULL;
}

static void
close_descriptor_cpu (void *state)
{
  cuv_ldp_cpu_free (state);
}

static const CuvBackendClass descriptor_cpu = { open_descriptor_cpu,
  run_descriptor_cpu, close_descriptor_cpu };

#if HAVE_CUDA
static const char *
run_descriptor_cuda (void *state, void *data, const CuvProcessor *processor)
{
  CuvLdpDescription *job = data;

  if (cuv_ldp_cuda_submit (state, &job->frame, &job->rect, processor->stream)
          != 0
      || (job->draw != CUV_LDP_DIRECTIONS
          && cuv_ldp_cuda_draw (state, job->draw) != 0))
    return cuv_cuda_error ();
  job->counts = cuv_ldp_cuda_collect (state);
  return job->counts != NULL ? NULL : cuv_cuda_error ();
}

static const char *
open_descriptor_cuda (void **state, const void *layout, const CuvFrame *frame,
    const CuvProcessor *processor)
{
  CuvLdpDescription job = { *frame, { 0, 0, frame->width, frame->height },
    CUV_LDP_DIRECTIONS, NULL };

  *state = cuv_ldp_cuda_new (layout);
  return *state != NULL ? run_descriptor_cuda (*state, &job, processor)
                        : cuv_cuda_error ();
}

static void
close_descriptor_cuda (void *state)
{
  cuv_ldp_cuda_free (state);
}

static const CuvBackendClass descriptor_cuda = { open_descriptor_cuda,
  run_descriptor_cuda, close_descriptor_cuda };

static const CuvBackendClasses descriptors = { &descriptor_cpu,
  &descriptor_cuda };
#else
static const CuvBackendClasses descriptors = { &descriptor_cpu, NULL };
#endif

const char *
cuv_ldp_descriptor_open (CuvLdpDescriptor *self, const CuvLdpLayout *layout,
    const CuvFrame *frame, const CuvProcessor *processor)
{
  CuvBackend backend;
  const char *error =
      cuv_backend_open (&backend, &descriptors, layout, frame, processor);

  if (error != NULL)
    return error;
  cuv_backend_close (&self->backend);
  *self = (CuvLdpDescriptor){ *layout, backend };
  return NULL;
}

bool
cuv_ldp_descriptor_matches (const CuvLdpDescriptor *self,
    const CuvLdpLayout *layout, const CuvProcessor *processor)
{
  return self->backend.klass != NULL
      && self->backend.on_device == processor->on_device
      && memcmp (layout, &self->layout, sizeof *layout) == 0;
}
