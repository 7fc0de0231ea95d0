/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Scans the channels of a pyramid with one model. */
#include "channels/cpu/channels-cpu-private.h"
#include "cuvtime.h"

#include <stdlib.h>

/* ---- memory ---- */

/* Sets, for each node, the distance of its byte from that of the window's first
 * block. */
static void
set_offsets (const CuvChannelsTrees *trees, size_t n_nodes,
    const CuvChannelsCpuLevel *level, int32_t *offsets)
{
  for (size_t i = 0; i < n_nodes; i++) {
    const CuvChannelsNode *node = &trees->nodes[i];

    offsets[i] = (int32_t) (node->channel * level->pitch
        + node->row * level->stride + node->column);
  }
}

static bool
make_offsets (CuvChannelsScan *self, const CuvChannelsCpuLevel *pyramid)
{
  const CuvWaldboostPlan *plan = self->plan;
  const CuvChannelsTrees *trees = &self->model->trees;
  const size_t n_nodes =
      (size_t) trees->n_trees * (size_t) ((1 << trees->depth) - 1);
  int32_t *offsets;

  if (!cuv_channels_reserve (&self->offsets,
          (size_t) plan->n_levels * n_nodes * sizeof *offsets + 1))
    return false;
  offsets = self->offsets.data;
  for (int i = 0; i < plan->n_levels; i++) {
    CuvChannelsScanLevel *level = &self->levels[i];

    level->offsets = NULL;
    if (plan->levels[i].n_x == 0)
      continue;
    set_offsets (trees, n_nodes, &pyramid[level->level], offsets);
    level->offsets = offsets;
    offsets += n_nodes;
  }
  return true;
}

/* Sets n_tasks and, unless tasks is NULL, writes the tasks. */
static void
make_tasks (CuvChannelsScan *self, CuvChannelsTask *tasks)
{
  self->n_tasks = 0;
  for (int i = 0; i < self->plan->n_levels; i++)
    self->n_tasks +=
        cuv_channels_add_tasks (tasks != NULL ? tasks + self->n_tasks : NULL, i,
            self->plan->levels[i].n_y, CUV_CHANNELS_SCAN_ROWS);
}

static bool
reserve_tasks (CuvChannelsScan *self)
{
  make_tasks (self, NULL);
  if (!cuv_channels_reserve (&self->task_memory,
          ((size_t) self->n_tasks + 1) * sizeof *self->tasks))
    return false;
  self->tasks = self->task_memory.data;
  make_tasks (self, self->tasks);
  return true;
}

bool
cuv_channels_scan_reserve (
    CuvChannelsScan *self, const CuvChannelsCpuLevel *pyramid)
{
  return make_offsets (self, pyramid) && reserve_tasks (self)
      && cuv_channels_reserve (
          &self->hits, CUV_WALDBOOST_MAX_HITS * sizeof (CuvWaldboostHit))
      && cuv_channels_reserve (&self->survivors,
          (size_t) self->plan->n_segments * sizeof (uint64_t));
}

void
cuv_channels_scan_clear (CuvChannelsScan *self)
{
  free (self->level_memory.data);
  free (self->offsets.data);
  free (self->task_memory.data);
  free (self->hits.data);
  free (self->survivors.data);
}

/* ---- a run ---- */

void
cuv_channels_scan_rows (CuvChannelsCpu *cpu, int worker_index, int index)
{
  const CuvChannelsScan *self = cpu->scan;
  const CuvChannelsTrees *trees = &self->model->trees;
  CuvChannelsTask *task = &self->tasks[index];
  const CuvChannelsScanLevel *own = &self->levels[task->level];
  const CuvChannelsCpuLevel *level = &cpu->levels[own->level];
  CuvScanWork *work = &cpu->workers[worker_index].work;
  CuvChannelsScanRow row = { trees, self->plan, own->offsets, NULL, task->level,
    self->plan->levels[task->level].n_x, 0 };
  const int64_t start = cuv_thread_ns ();

  task->hits.worker = worker_index;
  task->hits.first_hit = work->list.n_hits;
  for (int y = task->first; y < task->first + task->n; y++) {
    row.blocks = level->channels + (y - trees->overhang) * level->stride
        - trees->overhang;
    row.y = self->plan->first + y * trees->shrink;
    cpu->dsp.scan_row (&row, &work->list);
  }
  task->hits.n_hits = work->list.n_hits - task->hits.first_hit;
  work->scan_ns += cuv_thread_ns () - start;
}

/* Appends hits in the order of the tasks, which is that of level, y, x. */
void
cuv_channels_scan_collect (
    const CuvChannelsCpu *cpu, CuvWaldboostResult *result)
{
  const CuvChannelsScan *self = cpu->scan;
  const int n_segments = self->plan->n_segments;

  cuv_scan_result_start (
      result, self->hits.data, self->survivors.data, n_segments);
  for (int i = 0; i < cpu->n_workers; i++)
    cuv_scan_result_add_work (result, &cpu->workers[i].work, n_segments);
  for (int i = 0; i < self->n_tasks; i++) {
    const CuvScanHits *hits = &self->tasks[i].hits;

    cuv_scan_result_add_hits (result, &cpu->workers[hits->worker].work, hits);
  }
}
