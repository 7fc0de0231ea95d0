/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "channels/cpu/channels-cpu-private.h"

#include <string.h>
#include "cuvtime.h"

enum { TASK_ROWS = 32 }; /* rows of a level that a source_task() makes */

/* ---- tasks ---- */

static void
source_task (void *data, int worker_index, int task)
{
  CuvChannelsCpu *self = data;
  CuvChannelsWorker *worker = &self->workers[worker_index];
  const CuvWaldboostLevel *size = &self->plan->levels[self->level];
  const int end = (task + 1) * TASK_ROWS;
  const int64_t start = cuv_thread_ns ();

  for (int y = task * TASK_ROWS; y < end && y < size->height; y++) {
    for (int i = 0; i < CUV_CHANNELS_COLORS; i++)
      cuv_channels_make_row (self, worker, self->level, i, y,
          self->levels[self->level].plane[i] + (ptrdiff_t) y * size->width);
  }
  worker->work.pyramid_ns += cuv_thread_ns () - start;
}

static void
strip_task (void *data, int worker_index, int task)
{
  CuvChannelsCpu *self = data;
  CuvChannelsWorker *worker = &self->workers[worker_index];
  const int64_t start = cuv_thread_ns ();

  cuv_channels_strip (self, worker, &self->strips[task]);
  worker->work.pyramid_ns += cuv_thread_ns () - start;
}

static void
scan_task (void *data, int worker_index, int index)
{
  CuvChannelsCpu *self = data;
  CuvChannelsWorker *worker = &self->workers[worker_index];
  CuvChannelsTask *task = &self->scans[index];
  const CuvChannelsCpuLevel *level = &self->levels[task->level];
  const CuvChannelsTrees *trees = &self->model->trees;
  CuvChannelsScanRow row = { trees, self->plan, level->offsets, NULL,
    task->level, self->plan->levels[task->level].n_x, 0 };
  const int64_t start = cuv_thread_ns ();

  task->hits.worker = worker_index;
  task->hits.first_hit = worker->work.list.n_hits;
  for (int y = task->first; y < task->first + task->n; y++) {
    row.blocks = level->channels + (y - trees->overhang) * level->stride
        - trees->overhang;
    row.y = self->plan->first + y * trees->shrink;
    self->dsp.scan_row (&row, &worker->work.list);
  }
  task->hits.n_hits = worker->work.list.n_hits - task->hits.first_hit;
  worker->work.scan_ns += cuv_thread_ns () - start;
}

/* ---- results ---- */

/* Collects hits in the order of the tasks, and so by level, y and x. */
static void
collect (CuvChannelsCpu *self, CuvWaldboostResult *result)
{
  const int n_segments = self->plan->n_segments;

  cuv_scan_result_start (
      result, self->hits.data, self->survivors.data, n_segments);
  for (int i = 0; i < self->n_workers; i++)
    cuv_scan_result_add_work (result, &self->workers[i].work, n_segments);
  for (int i = 0; i < self->n_scans; i++) {
    const CuvScanHits *hits = &self->scans[i].hits;

    cuv_scan_result_add_hits (result, &self->workers[hits->worker].work, hits);
  }
}

/* ---- a run ---- */

/* Makes the levels that others are resized from. The source of a level always
 * comes before it. */
static void
make_sources (CuvChannelsCpu *self, int n_threads)
{
  for (int i = 0; i < self->plan->n_levels; i++) {
    const int height = self->plan->levels[i].height;

    self->level = i;
    if (self->levels[i].plane[0] != NULL)
      cuv_threads_run_workers (n_threads, n_threads,
          (height + TASK_ROWS - 1) / TASK_ROWS, source_task, self);
  }
}

static void
make_channels (
    CuvChannelsCpu *self, const CuvChannelsPicture *picture, int n_threads)
{
  self->picture = picture;
  for (int i = 0; i < self->n_workers; i++)
    cuv_scan_work_start (&self->workers[i].work, self->workers[i].hits.data,
        self->workers[i].survivors.data, self->plan->n_segments);
  make_sources (self, n_threads);
  cuv_threads_run_workers (
      n_threads, n_threads, self->n_strips, strip_task, self);
}

/* Scan tasks start in ascending order, so a worker whose list is full only
 * loses hits that come after CUV_WALDBOOST_MAX_HITS others, which the result
 * would lose anyway. */
void
cuv_channels_cpu_run (CuvChannelsCpu *self, const CuvChannelsPicture *picture,
    int n_threads, CuvWaldboostResult *result)
{
  if (n_threads <= 0 || n_threads > self->n_workers)
    n_threads = self->n_workers;
  make_channels (self, picture, n_threads);
  cuv_threads_run_workers (
      n_threads, n_threads, self->n_scans, scan_task, self);
  collect (self, result);
}

/* ---- for training ---- */

void
cuv_channels_cpu_make (CuvChannelsCpu *self, const CuvChannelsPicture *picture)
{
  make_channels (self, picture, 1);
}

void
cuv_channels_cpu_window (
    const CuvChannelsCpu *self, const CuvWaldboostHit *window, uint8_t *values)
{
  const CuvChannelsTrees *trees = &self->model->trees;
  const CuvChannelsCpuLevel *level = &self->levels[window->level];
  const uint8_t *first = level->channels
      + window->y / trees->shrink * level->stride + window->x / trees->shrink;

  for (int channel = 0; channel < CUV_CHANNELS_N; channel++) {
    for (int row = 0; row < trees->rows; row++, values += trees->columns)
      memcpy (values, first + channel * level->pitch + row * level->stride,
          (size_t) trees->columns);
  }
}
