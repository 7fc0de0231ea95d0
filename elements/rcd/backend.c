/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs a search, crops and measurements on the CPU or with CUDA. */
#include "config.h"
#include "backend.h"

#include "cpu/crop.h"
#include "cpu/rcd-cpu.h"
#if HAVE_CUDA
#include <stdlib.h>
#include "rcd/filter.h"
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

static void
run_filters (const CuvFrame *frame, const CuvRcdFilterJob *job)
{
  CuvCorrelationWork *work = job->work;

  for (int i = 0; i < job->n; i++) {
    CuvCorrelation *filter = job->filters[i];
    const int slot = job->task == CUV_RCD_LEARN ? job->crop : i;
    uint8_t *pixels = work->crops[slot];

    if (job->task != CUV_RCD_LEARN) {
      const CuvRcdCrop crop = cuv_correlation_crop (filter);

      cuv_rcd_cpu_crop (frame, &crop, CUV_RCD_CROP, pixels);
    }
    if (job->task == CUV_RCD_FIND)
      cuv_correlation_find (filter, work, pixels);
    else if (job->task == CUV_RCD_START)
      cuv_correlation_start (filter, work, pixels);
    else
      cuv_correlation_learn (filter, work, pixels, job->rate);
  }
}

static const char *
rcd_run_cpu (void *state, void *data, const CuvProcessor *processor)
{
  const CuvRcdJob *job = data;
  const CuvRcdSearch *search = job->search;
  const int n_threads = processor->n_threads;

  if (job->filters != NULL)
    run_filters (job->frame, job->filters);
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
typedef struct {
  CuvRcdCuda *search;
  CuvRcdFilterCuda *filters;
  /* one for each slot of filters; NULL = free */
  CuvCorrelation *owners[CUV_RCD_MAX_TARGETS];
  int n_slots;
} Cuda;

/* Returns the slot of a filter; assigns one if it has none. */
static int
slot_of (Cuda *self, CuvCorrelation *filter)
{
  int slot = 0;

  for (int i = self->n_slots - 1; i >= 0; i--) {
    if (self->owners[i] == filter)
      return i;
    if (self->owners[i] == NULL)
      slot = i;
  }
  self->owners[slot] = filter;
  return slot;
}

/* Copies a filter to the device unless its model is there already. Returns 0,
 * or -1 after an error. */
static int
fetch (Cuda *self, CuvCorrelation *filter, void *stream)
{
  const int slot = slot_of (self, filter);

  if (filter->on_device)
    return 0;
  filter->on_device = true;
  return cuv_rcd_filter_cuda_set (self->filters, slot, &filter->goal,
      filter->model.re, filter->model.im, stream);
}

/* Describes a sample of one size, the filter's current one, in part[0]. */
static CuvRcdSample
sample_of (Cuda *self, CuvCorrelation *filter, int crop)
{
  CuvRcdSample sample = { .crop = crop, .slot = slot_of (self, filter) };

  sample.part[0] = cuv_correlation_sample (filter, CUV_RCD_FILTER_SCALES / 2);
  return sample;
}

static int
submit_find (Cuda *self, const CuvRcdFilterJob *job, void *stream)
{
  CuvRcdSample samples[CUV_RCD_MAX_TARGETS];

  for (int i = 0; i < job->n; i++) {
    if (fetch (self, job->filters[i], stream) != 0)
      return -1;
    samples[i].crop = i;
    samples[i].slot = slot_of (self, job->filters[i]);
    for (int k = 0; k < CUV_RCD_FILTER_SCALES; k++)
      samples[i].part[k] = cuv_correlation_sample (job->filters[i], k);
  }
  return cuv_rcd_filter_cuda_find (self->filters, samples, job->n, stream);
}

static int
start (Cuda *self, CuvCorrelation *filter, const CuvRcdFilterJob *job, int crop,
    void *stream)
{
  const CuvRcdSample sample = sample_of (self, filter, crop);

  cuv_correlation_set_goal (filter, job->work);
  filter->on_device = true;
  return cuv_rcd_filter_cuda_start (
      self->filters, &sample, &filter->goal, stream, &filter->peak);
}

static int
learn (Cuda *self, CuvCorrelation *filter, const CuvRcdFilterJob *job,
    void *stream)
{
  const CuvRcdSample sample = sample_of (self, filter, job->crop);

  return cuv_rcd_filter_cuda_learn (self->filters, &sample, job->rate, stream);
}

/* Enqueues all work except what collect_filters() waits for. */
static int
submit_filters (
    Cuda *self, const CuvFrame *frame, const CuvRcdFilterJob *job, void *stream)
{
  CuvRcdCrop crops[CUV_RCD_MAX_TARGETS];
  int failed = 0;

  if (job->task == CUV_RCD_LEARN)
    return learn (self, job->filters[0], job, stream);
  for (int i = 0; i < job->n; i++)
    crops[i] = cuv_correlation_crop (job->filters[i]);
  failed =
      cuv_rcd_filter_cuda_crop (self->filters, frame, crops, job->n, stream);
  if (!failed && job->task == CUV_RCD_FIND)
    return submit_find (self, job, stream);
  for (int i = 0; i < job->n && !failed; i++)
    failed = start (self, job->filters[i], job, i, stream);
  return failed;
}

static int
collect_filters (Cuda *self, const CuvRcdFilterJob *job)
{
  CuvRcdFilterPeak peaks[CUV_RCD_MAX_TARGETS * CUV_RCD_FILTER_SCALES];

  if (job->task != CUV_RCD_FIND)
    return 0;
  if (cuv_rcd_filter_cuda_collect (self->filters, peaks) != 0)
    return -1;
  for (int i = 0; i < job->n; i++)
    cuv_correlation_choose (job->filters[i], peaks + i * CUV_RCD_FILTER_SCALES);
  return 0;
}

static const char *
rcd_run_cuda (void *state, void *data, const CuvProcessor *processor)
{
  Cuda *self = state;
  const CuvRcdJob *job = data;
  const CuvRcdFilterJob *filters = job->filters;
  void *stream = processor->stream;
  int failed = 0;

  if (job->box != NULL)
    failed = cuv_rcd_cuda_measure (
        self->search, job->frame, job->box, stream, job->sums);
  if (!failed && job->search != NULL)
    failed =
        cuv_rcd_cuda_submit (self->search, job->frame, job->search, stream);
  if (!failed && filters != NULL)
    failed = submit_filters (self, job->frame, filters, stream);
  if (!failed && job->search != NULL && job->half > 0.0)
    failed = cuv_rcd_cuda_draw (self->search, job->frame, 0, job->half, stream);
  if (!failed && job->search != NULL)
    failed = cuv_rcd_cuda_collect (self->search, job->matches);
  if (!failed && filters != NULL)
    failed = collect_filters (self, filters);
  return failed ? cuv_cuda_error () : NULL;
}

/* Runs each kernel of the filters once, so that it is loaded. */
static const char *
open_filters (Cuda *self, const CuvFrame *frame, const CuvProcessor *processor)
{
  CuvCorrelationWork *work = calloc (1, sizeof *work);
  CuvCorrelation *filter = calloc (1, sizeof *filter);
  const CuvRcdBox box = { 0, 0, frame->width, frame->height };
  CuvRcdFilterJob task = { CUV_RCD_START, &filter, 1, 0, 0.5f, work };
  CuvRcdJob job = { .frame = frame, .filters = &task };
  const char *problem = work == NULL || filter == NULL ? "out of memory" : NULL;

  if (problem == NULL) {
    cuv_correlation_work_init (work);
    cuv_correlation_init (filter, &box);
  }
  for (int i = CUV_RCD_START; i >= CUV_RCD_FIND && problem == NULL; i--) {
    task.task = (CuvRcdFilterTask) i;
    problem = rcd_run_cuda (self, &job, processor);
  }
  self->owners[0] = NULL;
  free (filter);
  free (work);
  return problem;
}

/* Returns a target with one window, which is the frame's first cell. */
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
  Cuda *self;
  CuvRcdSearch search = { area, 1, &target, 1, 2 };
  CuvRcdMatch match;
  int64_t sums[CUV_RCD_MAX_SUMS];
  CuvRcdJob job = {
    .frame = frame, .matches = &match, .box = &box, .sums = sums
  };

  if (error != NULL)
    return error;
  *state = self = calloc (1, sizeof *self);
  if (self == NULL)
    return "out of memory";
  self->n_slots = config->max_targets;
  self->search = cuv_rcd_cuda_new (config);
  if (self->search != NULL)
    self->filters = cuv_rcd_filter_cuda_new (config->max_targets);
  if (self->filters == NULL)
    return cuv_cuda_error ();
  target = rcd_first_cell (config, &area);
  if (frame->width >= config->cell && frame->height >= config->cell)
    job.search = &search;
  error = rcd_run_cuda (self, &job, processor);
  return error != NULL ? error : open_filters (self, frame, processor);
}

/* The filters keep what they have learned: their models are copied to the
 * host. */
static void
rcd_close_cuda (void *state)
{
  Cuda *self = state;

  for (int i = 0; i < self->n_slots; i++) {
    CuvCorrelation *filter = self->owners[i];

    if (filter == NULL || !filter->on_device)
      continue;
    cuv_rcd_filter_cuda_get (
        self->filters, i, filter->model.re, filter->model.im);
    filter->on_device = false;
    filter->unsolved = true;
  }
  cuv_rcd_filter_cuda_free (self->filters);
  cuv_rcd_cuda_free (self->search);
  free (self);
}

static const CuvBackendClass cuda = { rcd_open_cuda, rcd_run_cuda,
  rcd_close_cuda };
const CuvBackendClasses cuv_rcd_backend_classes = { &cpu, &cuda };
#else
const CuvBackendClasses cuv_rcd_backend_classes = { &cpu, NULL };
#endif
