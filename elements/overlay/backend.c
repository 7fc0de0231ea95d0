/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "backend.h"

#include <stddef.h>

#include "draw.h"
#if HAVE_CUDA
#include "overlay/overlay.h"
#endif

static const char *
overlay_run_cpu (void *state, void *data, const CuvProcessor *processor)
{
  const CuvOverlayJob *job = data;

  cuv_overlay_draw (job->list, job->frame);
  return NULL;
}

static const CuvBackendClass cpu = { .run = overlay_run_cpu };

#if HAVE_CUDA
static const char *
overlay_open_cuda (void **state, const void *config, const CuvFrame *frame,
    const CuvProcessor *processor)
{
  *state = cuv_overlay_cuda_new ();
  return *state != NULL ? NULL : cuv_cuda_error ();
}

static const char *
overlay_run_cuda (void *state, void *data, const CuvProcessor *processor)
{
  const CuvOverlayJob *job = data;

  return cuv_overlay_cuda_submit (
             state, job->list, job->frame, processor->stream)
              == 0
          && cuv_overlay_cuda_collect (state) == 0
      ? NULL
      : cuv_cuda_error ();
}

static void
overlay_close_cuda (void *state)
{
  cuv_overlay_cuda_free (state);
}

static const CuvBackendClass cuda = { overlay_open_cuda, overlay_run_cuda,
  overlay_close_cuda };
const CuvBackendClasses cuv_overlay_backend_classes = { &cpu, &cuda };
#else
const CuvBackendClasses cuv_overlay_backend_classes = { &cpu, NULL };
#endif
