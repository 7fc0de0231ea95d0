/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Memory of a plan: levels, tasks, and the rows of each thread. */
#include "channels/cpu/channels-cpu-private.h"

#include <stdlib.h>
#include <string.h>

static bool
reserve (CuvChannelsMemory *self, size_t size)
{
  if (size <= self->size)
    return true;
  free (self->data);
  self->data = calloc (size, 1);
  self->size = self->data != NULL ? size : 0;
  return self->data != NULL;
}

/* ---- levels ---- */

/* Whether a level has windows. Levels without are only sources of others. */
static bool
is_scanned (const CuvChannelsCpu *self, int level)
{
  return self->plan->levels[level].n_x > 0;
}

static bool
is_source (const CuvChannelsCpu *self, int level)
{
  for (int i = level + 1; i < self->plan->n_levels; i++) {
    if (self->plan->levels[i].source == level)
      return true;
  }
  return false;
}

static void
set_size (CuvChannelsCpu *self, int index)
{
  const CuvChannelsTrees *trees = &self->model->trees;
  const CuvWaldboostLevel *size = &self->plan->levels[index];
  CuvChannelsCpuLevel *level = &self->levels[index];

  level->columns = size->width / trees->shrink;
  level->rows = size->height / trees->shrink;
  level->stride = level->columns + 2 * trees->overhang + CUV_CHANNELS_PADDING;
  level->pitch = level->stride * (level->rows + 2 * trees->overhang);
}

static size_t
n_pixels (const CuvChannelsCpu *self, int level)
{
  const CuvWaldboostLevel *size = &self->plan->levels[level];

  return (size_t) size->width * (size_t) size->height;
}

/* Whether offsets of nodes fit in 32 bits. With blocks of 2 x 2 pixels, those
 * of levels of up to about 850 million pixels do. */
static bool
is_addressable (const CuvChannelsCpuLevel *level)
{
  return level->pitch <= INT32_MAX / CUV_CHANNELS_N;
}

static bool
reserve_levels (CuvChannelsCpu *self)
{
  const int n_levels = self->plan->n_levels;
  size_t pixels = 0, channels = CUV_CHANNELS_PADDING;

  if (!reserve (
          &self->level_memory, ((size_t) n_levels + 1) * sizeof *self->levels))
    return false;
  self->levels = self->level_memory.data;
  for (int i = 0; i < n_levels; i++) {
    self->levels[i] = (CuvChannelsCpuLevel){ .plane = { NULL } };
    set_size (self, i);
    if (!is_addressable (&self->levels[i]))
      return false;
    if (is_source (self, i))
      pixels += CUV_CHANNELS_COLORS * n_pixels (self, i);
    if (is_scanned (self, i))
      channels += CUV_CHANNELS_N * (size_t) self->levels[i].pitch;
  }
  return reserve (&self->pixels, pixels + 1)
      && reserve (&self->channels, channels);
}

static void
place_levels (CuvChannelsCpu *self)
{
  const int overhang = self->model->trees.overhang;
  uint8_t *pixels = self->pixels.data, *channels = self->channels.data;

  for (int i = 0; i < self->plan->n_levels; i++) {
    CuvChannelsCpuLevel *level = &self->levels[i];

    for (int k = 0; k < CUV_CHANNELS_COLORS && is_source (self, i); k++) {
      level->plane[k] = pixels;
      pixels += n_pixels (self, i);
    }
    if (is_scanned (self, i)) {
      level->channels = channels + overhang * level->stride + overhang;
      channels += CUV_CHANNELS_N * level->pitch;
    }
  }
}

/* Sets the distance of each node's byte from the window's first byte. */
static bool
make_offsets (CuvChannelsCpu *self)
{
  const CuvChannelsTrees *trees = &self->model->trees;
  const size_t n_nodes =
      (size_t) trees->n_trees * (size_t) ((1 << trees->depth) - 1);
  int32_t *offsets;

  if (!reserve (&self->offsets,
          (size_t) self->plan->n_levels * n_nodes * sizeof *offsets + 1))
    return false;
  offsets = self->offsets.data;
  for (int i = 0; i < self->plan->n_levels; i++, offsets += n_nodes) {
    CuvChannelsCpuLevel *level = &self->levels[i];

    for (size_t k = 0; k < n_nodes; k++) {
      const CuvChannelsNode *node = &trees->nodes[k];

      offsets[k] = (int32_t) (node->channel * level->pitch
          + node->row * level->stride + node->column);
    }
    level->offsets = offsets;
  }
  return true;
}

/* ---- tasks ---- */

/* Divides n rows of a level into tasks and returns the number of tasks. Writes
 * them unless tasks is NULL. */
static int
add_tasks (CuvChannelsTask *tasks, int level, int n, int rows_of_task)
{
  int n_tasks = 0;

  for (int first = 0; first < n; first += rows_of_task, n_tasks++) {
    const int left = n - first;

    if (tasks != NULL)
      tasks[n_tasks] = (CuvChannelsTask){ .level = level,
        .first = first,
        .n = left < rows_of_task ? left : rows_of_task };
  }
  return n_tasks;
}

/* Sets n_strips and n_scans. Writes the tasks unless strips and scans are
 * NULL. */
static void
make_tasks (
    CuvChannelsCpu *self, CuvChannelsTask *strips, CuvChannelsTask *scans)
{
  self->n_strips = self->n_scans = 0;
  for (int i = 0; i < self->plan->n_levels; i++) {
    if (!is_scanned (self, i))
      continue;
    self->n_strips +=
        add_tasks (strips != NULL ? strips + self->n_strips : NULL, i,
            self->levels[i].rows, CUV_CHANNELS_STRIP_ROWS);
    self->n_scans += add_tasks (scans != NULL ? scans + self->n_scans : NULL, i,
        self->plan->levels[i].n_y, CUV_CHANNELS_SCAN_ROWS);
  }
}

static bool
reserve_tasks (CuvChannelsCpu *self)
{
  make_tasks (self, NULL, NULL);
  if (!reserve (&self->strip_memory,
          ((size_t) self->n_strips + 1) * sizeof *self->strips)
      || !reserve (&self->scan_memory,
          ((size_t) self->n_scans + 1) * sizeof *self->scans))
    return false;
  self->strips = self->strip_memory.data;
  self->scans = self->scan_memory.data;
  make_tasks (self, self->strips, self->scans);
  return true;
}

/* ---- threads ---- */

/* Adds the size of a row of n elements, with padding on both sides, to *size.
 * Returns the row's first element, or NULL if memory is NULL. */
static void *
next_row (char *memory, size_t *size, size_t n, size_t bytes)
{
  const size_t at = *size + CUV_CHANNELS_PADDING * bytes;

  *size = at + (n + CUV_CHANNELS_PADDING) * bytes;
  return memory != NULL ? memory + at : NULL;
}

/* Places the rows in memory, which may be NULL, and returns their size. */
static size_t
place_rows (CuvChannelsWorker *self, char *memory, size_t width, size_t n_in,
    size_t sums)
{
  size_t size = 0;

  for (int i = 0; i < CUV_CHANNELS_RING; i++) {
    self->magnitudes[i] = next_row (memory, &size, width, sizeof (uint16_t));
    self->bins[i] = next_row (memory, &size, width, 1);
    for (int k = 0; k < CUV_CHANNELS_COLORS; k++)
      self->pixels[k][i] = next_row (memory, &size, width, 1);
    size += size & 1; /* the next row has elements of two bytes */
  }
  for (int i = 0; i < 4; i++)
    self->relative[i] = next_row (memory, &size, width, 1);
  size += size & 1;
  self->column_sums = next_row (memory, &size, width, sizeof (uint16_t));
  self->scratch = next_row (memory, &size, n_in, sizeof (uint16_t));
  for (int i = 0; i < CUV_CHANNELS_SUM_ROWS; i++)
    self->sums[i] = next_row (memory, &size, sums, sizeof (uint16_t));
  return size;
}

static bool
reserve_worker (CuvChannelsCpu *self, CuvChannelsWorker *worker, size_t width)
{
  const size_t n_in = (size_t) (self->plan->turn.width > (int32_t) width
          ? self->plan->turn.width
          : (int32_t) width);
  const size_t sums = CUV_CHANNELS_N * (size_t) self->sums_pitch;
  const size_t size = place_rows (worker, NULL, width, n_in, sums);

  if (!reserve (&worker->memory, size)
      || !reserve (
          &worker->hits, CUV_WALDBOOST_MAX_HITS * sizeof (CuvWaldboostHit))
      || !reserve (&worker->survivors,
          (size_t) self->plan->n_segments * sizeof (uint64_t)))
    return false;
  place_rows (worker, worker->memory.data, width, n_in, sums);
  return true;
}

static bool
reserve_workers (CuvChannelsCpu *self)
{
  int32_t width = 1;

  for (int i = 0; i < self->plan->n_levels; i++) {
    if (self->plan->levels[i].width > width)
      width = self->plan->levels[i].width;
  }
  self->sums_pitch = width / self->model->trees.shrink + CUV_CHANNELS_PADDING;
  for (int i = 0; i < self->n_workers; i++) {
    if (!reserve_worker (self, &self->workers[i], (size_t) width))
      return false;
  }
  return true;
}

/* ---- entry points ---- */

bool
cuv_channels_cpu_set_plan (CuvChannelsCpu *self, const CuvWaldboostPlan *plan)
{
  self->plan = plan;
  if (!reserve_levels (self) || !make_offsets (self) || !reserve_tasks (self)
      || !reserve_workers (self)
      || !reserve (
          &self->hits, CUV_WALDBOOST_MAX_HITS * sizeof (CuvWaldboostHit))
      || !reserve (
          &self->survivors, (size_t) plan->n_segments * sizeof (uint64_t)))
    return false;
  place_levels (self);
  return true;
}

CuvChannelsCpu *
cuv_channels_cpu_new (
    const CuvWaldboostModel *model, const CuvWaldboostPlan *plan)
{
  CuvChannelsCpu *self = calloc (1, sizeof *self);

  if (self == NULL)
    return NULL;
  self->model = model->channels;
  self->dsp = cuv_channels_dsp ();
  self->n_workers = cuv_threads_n_workers ();
  if (cuv_channels_cpu_set_plan (self, plan))
    return self;
  cuv_channels_cpu_free (self);
  return NULL;
}

void
cuv_channels_cpu_free (CuvChannelsCpu *self)
{
  if (self == NULL)
    return;
  for (int i = 0; i < self->n_workers; i++) {
    free (self->workers[i].memory.data);
    free (self->workers[i].hits.data);
    free (self->workers[i].survivors.data);
  }
  free (self->level_memory.data);
  free (self->offsets.data);
  free (self->pixels.data);
  free (self->channels.data);
  free (self->strip_memory.data);
  free (self->scan_memory.data);
  free (self->hits.data);
  free (self->survivors.data);
  free (self);
}
