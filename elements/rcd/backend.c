/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs a search, crops and measurements on the CPU or with CUDA. */
#include "config.h"
#include "backend.h"

#include "cpu/crop.h"
#include "cpu/rcd-cpu.h"
#if HAVE_CUDA
#include "rcd/rcd-distance.h"
#include "rcd/rcd-pixel.h"
#include "rcd/rcd.h"
#endif

/* ---- CPU ---- */

static const char *
rcd_open_cpu (void **state, const void *config, const CuvFrame *frame,
    const CuvProcessor *processor)
{
  const char *error = cuv_rcd_config_problem (config);

  if (error != NULL)
    return error;
  *state = cuv_rcd_cpu_new (config);
  return *state != NULL ? NULL : "out of memory";
}

static const char *
rcd_run_cpu (void *state, void *data, const CuvProcessor *processor)
{
  const CuvRcdJob *job = data;
  const CuvRcdSearch *search = job->search;
  const int n_threads = processor->n_threads;

  for (int i = 0; i < job->n_crops; i++)
    cuv_rcd_cpu_crop (job->frame, &job->crops[i], CUV_RCD_CROP,
        job->pixels + i * CUV_RCD_CROP_PIXELS);
  if (job->box != NULL)
    cuv_rcd_cpu_measure (state, job->frame, job->box, n_threads, job->sums);
  if (search != NULL)
    cuv_rcd_cpu_run (state, job->frame, search, n_threads, job->matches);
  if (search != NULL && search->n_targets > 0 && job->half > 0.0)
    cuv_rcd_cpu_draw (
        state, job->frame, search, 0, &job->matches[0], job->half);
  return NULL;
}

static void
rcd_close_cpu (void *state)
{
  cuv_rcd_cpu_free (state);
}

static const CuvBackendClass cpu = { rcd_open_cpu, rcd_run_cpu, rcd_close_cpu };

/* ---- CUDA ---- */

#if HAVE_CUDA
static const char *
rcd_run_cuda (void *state, void *data, const CuvProcessor *processor)
{
  const CuvRcdJob *job = data;
  void *stream = processor->stream;
  int failed = 0;

  if (job->box != NULL)
    failed =
        cuv_rcd_cuda_measure (state, job->frame, job->box, stream, job->sums);
  if (!failed && job->search != NULL)
    failed = cuv_rcd_cuda_submit (state, job->frame, job->search, stream);
  if (!failed && job->n_crops > 0)
    failed =
        cuv_rcd_cuda_crop (state, job->frame, job->crops, job->n_crops, stream);
  if (!failed && job->search != NULL && job->half > 0.0)
    failed = cuv_rcd_cuda_draw (state, job->frame, 0, job->half, stream);
  if (!failed && job->search != NULL)
    failed = cuv_rcd_cuda_collect (state, job->matches);
  if (!failed && job->n_crops > 0)
    failed = cuv_rcd_cuda_collect_crops (state, job->pixels);
  return failed ? cuv_cuda_error () : NULL;
}

/* A target with one window, the frame's first cell. */
static CuvRcdTarget
rcd_first_cell (const CuvRcdConfig *config, const CuvRcdArea *area)
{
  const int n = cuv_rcd_n_features (config->features);
  CuvRcdTarget target = { .n_windows = 1, .n_levels = 1 };
  double unit[CUV_RCD_MAX_PACKED] = { 0 };

  for (int i = 0; i < n; i++)
    unit[cuv_rcd_packed_index (n, i, i)] = 1.0;
  cuv_rcd_model_init (&target.model, unit, n, config->cell, config->cell);
  target.levels[0] = cuv_rcd_level (area, 1, 1, 1, 0);
  return target;
}

static const char *
rcd_open_cuda (void **state, const void *data, const CuvFrame *frame,
    const CuvProcessor *processor)
{
  const CuvRcdConfig *config = data;
  const CuvRcdArea area = { 0, 0, 1, 1 };
  const CuvRcdBox box = { 0, 0, frame->width, frame->height };
  const char *error = cuv_rcd_config_problem (config);
  CuvRcdTarget target;
  CuvRcdSearch search = { area, 1, &target, 1, 2 };
  CuvRcdMatch match;
  int64_t sums[CUV_RCD_MAX_SUMS];
  const CuvRcdCrop crop = { 0, 0, 1 << 16, 1 };
  uint8_t pixels[CUV_RCD_CROP_PIXELS];
  CuvRcdJob job = { .frame = frame,
    .matches = &match,
    .crops = &crop,
    .n_crops = 1,
    .pixels = pixels,
    .box = &box,
    .sums = sums };

  if (error != NULL)
    return error;
  *state = cuv_rcd_cuda_new (config);
  if (*state == NULL)
    return cuv_cuda_error ();
  target = rcd_first_cell (config, &area);
  if (frame->width >= config->cell && frame->height >= config->cell)
    job.search = &search;
  return rcd_run_cuda (*state, &job, processor);
}

static void
rcd_close_cuda (void *state)
{
  cuv_rcd_cuda_free (state);
}

static const CuvBackendClass cuda = { rcd_open_cuda, rcd_run_cuda,
  rcd_close_cuda };
const CuvBackendClasses cuv_rcd_backend_classes = { &cpu, &cuda };
#else
const CuvBackendClasses cuv_rcd_backend_classes = { &cpu, NULL };
#endif
