/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "describer.h"

#include <stdlib.h>
#include <string.h>
#if HAVE_CUDA
#include "ldp/ldp.h"
#endif

/* ---- new and free ---- */

#if HAVE_CUDA
static const char *
open_cuda (CuvDescriber *self, const CuvFrame *frame, void *stream)
{
  const CuvLdpRect all = { 0, 0, frame->width, frame->height };

  self->cuda = cuv_ldp_cuda_new (&self->layout);
  return self->cuda != NULL
          && cuv_ldp_cuda_submit (self->cuda, frame, &all, stream) == 0
          && cuv_ldp_cuda_wait (self->cuda) == 0
      ? NULL
      : cuv_cuda_error ();
}
#endif

static const char *
open_describer (CuvDescriber *self, const CuvFrame *frame, void *stream)
{
#if HAVE_CUDA
  if (self->on_device)
    return open_cuda (self, frame, stream);
#endif
  self->cpu = cuv_ldp_cpu_new (&self->layout);
  return self->cpu != NULL ? NULL : "out of memory";
}

CuvDescriber *
cuv_describer_new (const CuvLdpLayout *layout, const CuvFrame *frame,
    bool on_device, void *stream, const char **problem)
{
  CuvDescriber *self = calloc (1, sizeof *self);

  *problem = "out of memory";
  if (self == NULL)
    return NULL;
  self->layout = *layout;
  self->on_device = on_device;
  *problem = open_describer (self, frame, stream);
  if (*problem == NULL)
    return self;
  cuv_describer_free (self);
  return NULL;
}

void
cuv_describer_free (CuvDescriber *self)
{
  if (self == NULL)
    return;
#if HAVE_CUDA
  cuv_ldp_cuda_free (self->cuda);
#endif
  cuv_ldp_cpu_free (self->cpu);
  free (self);
}

bool
cuv_describer_is_for (
    const CuvDescriber *self, const CuvLdpLayout *layout, bool on_device)
{
  return self != NULL && self->on_device == on_device
      && memcmp (layout, &self->layout, sizeof *layout) == 0;
}

/* ---- a run ---- */

#if HAVE_CUDA
static const char *
run_cuda (CuvDescriber *self, const CuvFrame *frame, const CuvLdpRect *rect,
    void *stream, const void **counts)
{
  *counts = cuv_ldp_cuda_submit (self->cuda, frame, rect, stream) == 0
      ? cuv_ldp_cuda_collect (self->cuda)
      : NULL;
  return *counts != NULL ? NULL : cuv_cuda_error ();
}

static const char *
draw_cuda (CuvDescriber *self, int direction)
{
  return cuv_ldp_cuda_draw (self->cuda, direction) == 0
          && cuv_ldp_cuda_wait (self->cuda) == 0
      ? NULL
      : cuv_cuda_error ();
}
#endif

const char *
cuv_describer_run (CuvDescriber *self, const CuvFrame *frame,
    const CuvLdpRect *rect, void *stream, int n_threads, const void **counts)
{
#if HAVE_CUDA
  if (self->cuda != NULL)
    return run_cuda (self, frame, rect, stream, counts);
#endif
  *counts = cuv_ldp_cpu_run (self->cpu, frame, rect, n_threads);
  return NULL;
}

const char *
cuv_describer_draw (CuvDescriber *self, int direction, int n_threads)
{
#if HAVE_CUDA
  if (self->cuda != NULL)
    return draw_cuda (self, direction);
#endif
  cuv_ldp_cpu_draw (self->cpu, direction, n_threads);
  return NULL;
}
