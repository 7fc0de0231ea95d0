/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "channels/cpu/channels-cpu-private.h"

#include <string.h>
#include "cuvtime.h"

enum { TASK_ROWS = 32 }; /* rows of a source that a task resizes */

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
  worker->pyramid_ns += cuv_thread_ns () - start;
}

static void
strip_task (void *data, int worker_index, int task)
{
  CuvChannelsCpu *self = data;
  CuvChannelsWorker *worker = &self->workers[worker_index];
  const int64_t start = cuv_thread_ns ();

  cuv_channels_strip (self, worker, &self->strips[task]);
  worker->pyramid_ns += cuv_thread_ns () - start;
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

  task->worker = worker_index;
  task->first_hit = worker->list.n_hits;
  for (int y = task->first; y < task->first + task->n; y++) {
    row.blocks = level->channels + (y - trees->overhang) * level->stride
        - trees->overhang;
    row.y = self->plan->first + y * trees->shrink;
    self->dsp.scan_row (&row, &worker->list);
  }
  task->n_hits = worker->list.n_hits - task->first_hit;
  worker->scan_ns += cuv_thread_ns () - start;
}

/* ---- results ---- */

static void
start_worker (const CuvChannelsCpu *self, CuvChannelsWorker *worker)
{
  worker->list = (CuvHitList){ .hits = worker->hits.data,
    .capacity = CUV_WALDBOOST_MAX_HITS,
    .survivors = worker->survivors.data };
  memset (worker->list.survivors, 0,
      (size_t) self->plan->n_segments * sizeof (uint64_t));
  worker->pyramid_ns = worker->scan_ns = 0;
}

static void
collect_counts (CuvChannelsCpu *self, CuvWaldboostResult *result)
{
  uint64_t *survivors = self->survivors.data;
  int64_t pyramid_ns = 0, scan_ns = 0;

  memset (survivors, 0, (size_t) self->plan->n_segments * sizeof *survivors);
  for (int i = 0; i < self->n_workers; i++) {
    const CuvChannelsWorker *worker = &self->workers[i];

    for (int s = 0; s < self->plan->n_segments; s++)
      survivors[s] += worker->list.survivors[s];
    result->windows += worker->list.windows;
    result->weak += worker->list.weak;
    pyramid_ns += worker->pyramid_ns;
    scan_ns += worker->scan_ns;
  }
  result->survivors = survivors;
  result->pyramid_us = (float) pyramid_ns / 1000;
  result->scan_us = (float) scan_ns / 1000;
}

/* In the order of the tasks, which is that of level, y, x. */
static void
collect_hits (CuvChannelsCpu *self, CuvWaldboostResult *result)
{
  CuvWaldboostHit *all = self->hits.data;
  uint64_t lost = 0;

  for (int i = 0; i < self->n_workers; i++)
    lost += self->workers[i].list.lost;
  for (int i = 0; i < self->n_scans; i++) {
    const CuvChannelsTask *task = &self->scans[i];
    const int left = CUV_WALDBOOST_MAX_HITS - result->n_hits;
    const int n = task->n_hits < left ? task->n_hits : left;

    memcpy (all + result->n_hits,
        self->workers[task->worker].list.hits + task->first_hit,
        (size_t) n * sizeof *all);
    result->n_hits += n;
    lost += (uint64_t) (task->n_hits - n);
  }
  result->hits = all;
  result->overflow = lost > INT32_MAX ? INT32_MAX : (int32_t) lost;
}

/* ---- a run ---- */

/* A level's source comes before it. */
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
    start_worker (self, &self->workers[i]);
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
  *result = (CuvWaldboostResult){ 0 };
  make_channels (self, picture, n_threads);
  cuv_threads_run_workers (
      n_threads, n_threads, self->n_scans, scan_task, self);
  collect_counts (self, result);
  collect_hits (self, result);
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
