/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "backend.h"

#include <stdlib.h>

#include "cpu/bits.h"
#include "cpu/motion-cpu.h"
#if HAVE_CUDA
#include "motion/motion.h" /* cuda/motion/motion.h, not that of this folder */
#endif

static const char *
motion_open_cpu (void **state, const void *config, const CuvFrame *frame,
    const CuvProcessor *processor)
{
  *state = cuv_motion_cpu_new (config, frame);
  return *state != NULL ? NULL : "out of memory";
}

static const char *
motion_run_cpu (void *state, void *data, const CuvProcessor *processor)
{
  CuvMotionJob *job = data;

  if (job->reset)
    cuv_motion_cpu_reset (state);
  cuv_motion_cpu_run (
      state, job->frame, job->params, processor->n_threads, job->result);
  return NULL;
}

static void
motion_close_cpu (void *state)
{
  cuv_motion_cpu_free (state);
}

static const CuvBackendClass cpu = { motion_open_cpu, motion_run_cpu,
  motion_close_cpu };

#if HAVE_CUDA
/* The GPU finds the mask, the CPU its parts. */
typedef struct {
  CuvMotionCuda *cuda;
  CuvMotionRuns runs;
  CuvMotionPart *parts;
} OnDevice;

static bool
motion_submit_cuda (OnDevice *self, const CuvMotionJob *job, void *stream)
{
  if (job->reset)
    cuv_motion_cuda_reset (self->cuda);
  return cuv_motion_cuda_submit (self->cuda, job->frame, job->params, stream)
      == 0;
}

static bool
motion_collect_cuda (OnDevice *self, CuvMotionResult *result)
{
  const CuvMotionMark *marks;
  CuvMotionBits bits;
  int64_t n_moving;

  if (cuv_motion_cuda_collect (self->cuda, &bits, &marks, &n_moving) != 0)
    return false;
  *result = (CuvMotionResult){ NULL, bits.width, bits.height, 0, n_moving,
    self->parts,
    cuv_motion_min (CUV_MOTION_MAX_PARTS,
        cuv_motion_bits_parts (
            &bits, marks, &self->runs, self->parts, CUV_MOTION_MAX_PARTS)) };
  return true;
}

static const char *
motion_run_cuda (void *state, void *data, const CuvProcessor *processor)
{
  const CuvMotionJob *job = data;
  const bool ok =
      (job->submitted || motion_submit_cuda (state, job, processor->stream))
      && (job->result == NULL || motion_collect_cuda (state, job->result));

  return ok ? NULL : cuv_cuda_error ();
}

/* Runs every kernel once, so that the first frame need not load any. */
static const char *
warm_up (OnDevice *self, const CuvFrame *frame, const CuvProcessor *processor)
{
  const CuvMotionParams params = { .opening = 3, .closing = 3 };
  CuvMotionResult result;
  CuvMotionJob job = { frame, &params, true, false, &result };

  return motion_run_cuda (self, &job, processor);
}

static const char *
motion_open_cuda (void **state, const void *config, const CuvFrame *frame,
    const CuvProcessor *processor)
{
  const CuvMotionConfig *values = config;
  OnDevice *self = calloc (1, sizeof *self);

  *state = self;
  if (self == NULL)
    return "out of memory";
  self->parts = malloc (CUV_MOTION_MAX_PARTS * sizeof *self->parts);
  if (!cuv_motion_runs_init (&self->runs,
          cuv_motion_n_values (values, frame->width),
          cuv_motion_n_values (values, frame->height))
      || self->parts == NULL)
    return "out of memory";
  self->cuda = cuv_motion_cuda_new (values, frame);
  return self->cuda != NULL ? warm_up (self, frame, processor)
                            : cuv_cuda_error ();
}

static void
motion_close_cuda (void *state)
{
  OnDevice *self = state;

  cuv_motion_cuda_free (self->cuda);
  cuv_motion_runs_clear (&self->runs);
  free (self->parts);
  free (self);
}

static const CuvBackendClass cuda = { motion_open_cuda, motion_run_cuda,
  motion_close_cuda };
const CuvBackendClasses cuv_motion_classes = { &cpu, &cuda };
#else
const CuvBackendClasses cuv_motion_classes = { &cpu, NULL };
#endif
