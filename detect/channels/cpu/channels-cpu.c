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
  const CuvChannelsCpuLevel *level = &self->levels[self->level];
  const int end = (task + 1) * TASK_ROWS;
  const int64_t start = cuv_thread_ns ();

  for (int y = task * TASK_ROWS; y < end && y < level->height; y++) {
    for (int i = 0; i < CUV_CHANNELS_COLORS; i++)
      cuv_channels_make_row (self, worker, self->level, i, y,
          level->plane[i] + (ptrdiff_t) y * level->width);
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
scan_task (void *data, int worker_index, int task)
{
  cuv_channels_scan_rows (data, worker_index, task);
}

/* ---- a run ---- */

/* Makes the levels from which others are resized. Each level's source precedes
 * it. */
static void
make_sources (CuvChannelsCpu *self, int n_threads)
{
  for (int i = 0; i < self->n_levels; i++) {
    const int height = self->levels[i].height;

    self->level = i;
    if (self->levels[i].is_source)
      cuv_threads_run_workers (n_threads, n_threads,
          (height + TASK_ROWS - 1) / TASK_ROWS, source_task, self);
  }
}

static void
make_channels (
    CuvChannelsCpu *self, const CuvChannelsPicture *picture, int n_threads)
{
  self->picture = picture;
  make_sources (self, n_threads);
  cuv_threads_run_workers (
      n_threads, n_threads, self->n_strips, strip_task, self);
}

static void
start_work (CuvChannelsCpu *self, CuvChannelsScan *scan)
{
  self->scan = scan;
  for (int i = 0; i < self->n_workers; i++)
    cuv_scan_work_start (&self->workers[i].work, self->workers[i].hits.data,
        self->workers[i].survivors.data, scan->plan->n_segments);
}

/* Scan tasks start in ascending order. A worker whose list is full therefore
 * loses only hits that follow CUV_WALDBOOST_MAX_HITS others, which the result
 * would lose anyway. */
void
cuv_channels_cpu_run (CuvChannelsCpu *self, const CuvChannelsPicture *picture,
    int n_threads, CuvWaldboostResult *results)
{
  if (n_threads <= 0 || n_threads > self->n_workers)
    n_threads = self->n_workers;
  for (int i = 0; i < self->n_scans; i++) {
    start_work (self, &self->scans[i]);
    if (i == 0)
      make_channels (self, picture, n_threads);
    cuv_threads_run_workers (
        n_threads, n_threads, self->scan->n_tasks, scan_task, self);
    cuv_channels_scan_collect (self, &results[i]);
  }
}

/* ---- for training ---- */

void
cuv_channels_cpu_make (CuvChannelsCpu *self, const CuvChannelsPicture *picture)
{
  start_work (self, &self->scans[0]);
  make_channels (self, picture, 1);
}

static const CuvChannelsCpuLevel *
level_of (const CuvChannelsCpu *self, int level)
{
  return &self->levels[self->scans[0].levels[level].level];
}

const uint8_t *
cuv_channels_cpu_window (
    const CuvChannelsCpu *self, const CuvWaldboostHit *window)
{
  const CuvChannelsCpuLevel *level = level_of (self, window->level);

  return level->channels + window->y / self->shrink * level->stride
      + window->x / self->shrink;
}

void
cuv_channels_cpu_offsets (
    const CuvChannelsCpu *self, int level, ptrdiff_t *offsets)
{
  const CuvChannelsTrees *trees = &self->scans[0].model->trees;
  const CuvChannelsCpuLevel *at = level_of (self, level);

  for (int channel = 0; channel < CUV_CHANNELS_N; channel++) {
    for (int row = 0; row < trees->rows; row++) {
      for (int column = 0; column < trees->columns; column++)
        *offsets++ = channel * at->pitch + row * at->stride + column;
    }
  }
}
