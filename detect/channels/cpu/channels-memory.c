/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Allocates the memory for the plans' pyramid: levels, strips, and the rows of
 * each thread. */
#include "channels/cpu/channels-cpu-private.h"

#include <stdlib.h>
#include <string.h>

bool
cuv_channels_reserve (CuvChannelsMemory *self, size_t size)
{
  if (size <= self->size)
    return true;
  free (self->data);
  self->data = calloc (size, 1);
  self->size = self->data != NULL ? size : 0;
  return self->data != NULL;
}

/* ---- levels ---- */

/* Returns the pyramid's level that equals the plan's, or n_levels if none does;
 * source: index of its own source in the pyramid. Levels of the same scale and
 * source have the same pixels, because scale and frame determine the size. */
static int
find_level (
    const CuvChannelsCpu *self, const CuvWaldboostLevel *level, int source)
{
  int i = 0;

  while (i < self->n_levels
      && (self->levels[i].scale != level->scale
          || self->levels[i].source != source))
    i++;
  return i;
}

static CuvChannelsCpuLevel
new_level (const CuvChannelsCpu *self, const CuvWaldboostPlan *plan,
    const CuvWaldboostLevel *level, int source)
{
  CuvChannelsCpuLevel added = { .width = level->width,
    .height = level->height,
    .source = source,
    .scale = level->scale,
    .x_taps = plan->taps + level->first_x_tap,
    .y_taps = plan->taps + level->first_y_tap,
    .columns = level->width / self->shrink,
    .rows = level->height / self->shrink };

  added.stride = added.columns + 2 * self->overhang + CUV_CHANNELS_PADDING;
  added.pitch = added.stride * (added.rows + 2 * self->overhang);
  return added;
}

/* Adds the levels of a plan that the pyramid does not have yet. In a plan, and
 * thus in the pyramid, a level comes after its source. */
static void
add_levels (CuvChannelsCpu *self, CuvChannelsScan *scan)
{
  const CuvWaldboostPlan *plan = scan->plan;

  for (int i = 0; i < plan->n_levels; i++) {
    const CuvWaldboostLevel *level = &plan->levels[i];
    const int source =
        level->source < 0 ? -1 : scan->levels[level->source].level;
    const int at = find_level (self, level, source);

    if (at == self->n_levels)
      self->levels[self->n_levels++] = new_level (self, plan, level, source);
    if (source >= 0)
      self->levels[source].is_source = true;
    self->levels[at].is_scanned |= level->n_x > 0;
    scan->levels[i].level = at;
  }
}

static bool
make_levels (CuvChannelsCpu *self)
{
  size_t n = 1;

  for (int i = 0; i < self->n_scans; i++)
    n += (size_t) self->scans[i].plan->n_levels;
  if (!cuv_channels_reserve (&self->level_memory, n * sizeof *self->levels))
    return false;
  self->levels = self->level_memory.data;
  self->n_levels = 0;
  for (int i = 0; i < self->n_scans; i++) {
    CuvChannelsScan *scan = &self->scans[i];

    if (!cuv_channels_reserve (&scan->level_memory,
            ((size_t) scan->plan->n_levels + 1) * sizeof *scan->levels))
      return false;
    scan->levels = scan->level_memory.data;
    add_levels (self, scan);
  }
  return true;
}

static size_t
n_pixels (const CuvChannelsCpuLevel *level)
{
  return (size_t) level->width * (size_t) level->height;
}

/* Returns whether offsets of nodes fit in 32 bits. With blocks of 2 x 2 pixels
 * this is so for levels of up to about 850 million pixels. */
static bool
is_addressable (const CuvChannelsCpuLevel *level)
{
  return level->pitch <= INT32_MAX / CUV_CHANNELS_N;
}

static bool
reserve_levels (CuvChannelsCpu *self)
{
  size_t pixels = 0, channels = CUV_CHANNELS_PADDING;

  for (int i = 0; i < self->n_levels; i++) {
    const CuvChannelsCpuLevel *level = &self->levels[i];

    if (!is_addressable (level))
      return false;
    if (level->is_source)
      pixels += CUV_CHANNELS_COLORS * n_pixels (level);
    if (level->is_scanned)
      channels += CUV_CHANNELS_N * (size_t) level->pitch;
  }
  return cuv_channels_reserve (&self->pixels, pixels + 1)
      && cuv_channels_reserve (&self->channels, channels);
}

static void
place_levels (CuvChannelsCpu *self)
{
  uint8_t *pixels = self->pixels.data, *channels = self->channels.data;

  for (int i = 0; i < self->n_levels; i++) {
    CuvChannelsCpuLevel *level = &self->levels[i];

    for (int k = 0; k < CUV_CHANNELS_COLORS && level->is_source; k++) {
      level->plane[k] = pixels;
      pixels += n_pixels (level);
    }
    if (level->is_scanned) {
      level->channels =
          channels + self->overhang * level->stride + self->overhang;
      channels += CUV_CHANNELS_N * level->pitch;
    }
  }
}

/* ---- strips ---- */

int
cuv_channels_add_tasks (
    CuvChannelsTask *tasks, int level, int n, int rows_of_task)
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

/* Sets n_strips and, unless strips is NULL, writes the strips. */
static void
make_strips (CuvChannelsCpu *self, CuvChannelsTask *strips)
{
  self->n_strips = 0;
  for (int i = 0; i < self->n_levels; i++) {
    if (self->levels[i].is_scanned)
      self->n_strips += cuv_channels_add_tasks (
          strips != NULL ? strips + self->n_strips : NULL, i,
          self->levels[i].rows, CUV_CHANNELS_STRIP_ROWS);
  }
}

static bool
reserve_strips (CuvChannelsCpu *self)
{
  make_strips (self, NULL);
  if (!cuv_channels_reserve (&self->strip_memory,
          ((size_t) self->n_strips + 1) * sizeof *self->strips))
    return false;
  self->strips = self->strip_memory.data;
  make_strips (self, self->strips);
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

/* Allocates the memory of a worker. turned: width of the turned frame. */
static bool
reserve_worker (CuvChannelsCpu *self, CuvChannelsWorker *worker, size_t width,
    size_t turned, size_t n_segments)
{
  const size_t n_in = turned > width ? turned : width;
  const size_t sums = CUV_CHANNELS_N * (size_t) self->sums_pitch;
  const size_t size = place_rows (worker, NULL, width, n_in, sums);

  if (!cuv_channels_reserve (&worker->memory, size)
      || !cuv_channels_reserve (
          &worker->hits, CUV_WALDBOOST_MAX_HITS * sizeof (CuvWaldboostHit))
      || !cuv_channels_reserve (
          &worker->survivors, n_segments * sizeof (uint64_t)))
    return false;
  place_rows (worker, worker->memory.data, width, n_in, sums);
  return true;
}

static bool
reserve_workers (CuvChannelsCpu *self)
{
  const size_t turned = (size_t) self->scans[0].plan->turn.width;
  int32_t width = 1, n_segments = 0;

  for (int i = 0; i < self->n_levels; i++) {
    if (self->levels[i].width > width)
      width = self->levels[i].width;
  }
  for (int i = 0; i < self->n_scans; i++) {
    if (self->scans[i].plan->n_segments > n_segments)
      n_segments = self->scans[i].plan->n_segments;
  }
  self->sums_pitch = width / self->shrink + CUV_CHANNELS_PADDING;
  for (int i = 0; i < self->n_workers; i++) {
    if (!reserve_worker (self, &self->workers[i], (size_t) width, turned,
            (size_t) n_segments))
      return false;
  }
  return true;
}

/* ---- entry points ---- */

bool
cuv_channels_cpu_set_plans (
    CuvChannelsCpu *self, const CuvWaldboostSearch *searches)
{
  for (int i = 0; i < self->n_scans; i++)
    self->scans[i].plan = searches[i].plan;
  if (!make_levels (self) || !reserve_levels (self) || !reserve_strips (self)
      || !reserve_workers (self))
    return false;
  place_levels (self);
  for (int i = 0; i < self->n_scans; i++) {
    if (!cuv_channels_scan_reserve (&self->scans[i], self->levels))
      return false;
  }
  return true;
}

static void
set_models (CuvChannelsCpu *self, const CuvWaldboostSearch *searches, int n)
{
  self->n_scans = n;
  self->shrink = searches[0].model->channels->trees.shrink;
  for (int i = 0; i < n; i++) {
    const CuvChannelsModel *model = searches[i].model->channels;

    self->scans[i].model = model;
    if (model->trees.overhang > self->overhang)
      self->overhang = model->trees.overhang;
  }
}

CuvChannelsCpu *
cuv_channels_cpu_new (const CuvWaldboostSearch *searches, int n)
{
  CuvChannelsCpu *self = calloc (1, sizeof *self);

  if (self == NULL)
    return NULL;
  self->dsp = cuv_channels_dsp ();
  self->n_workers = cuv_threads_n_workers ();
  set_models (self, searches, n);
  if (cuv_channels_cpu_set_plans (self, searches))
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
  for (int i = 0; i < self->n_scans; i++)
    cuv_channels_scan_clear (&self->scans[i]);
  free (self->level_memory.data);
  free (self->pixels.data);
  free (self->channels.data);
  free (self->strip_memory.data);
  free (self);
}
