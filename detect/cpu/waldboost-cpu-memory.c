/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Allocates the memory of a scan on the CPU, which grows with the largest plan
 * so far. */
#include "cpu/waldboost-cpu-private.h"

#include <stdlib.h>
#include <string.h>

/* Rows of level pixels from strip to strip. 64, 192, 256 and 512 were not
 * faster: docs/benchmarks/waldboost.md, "On the CPU", "No gain". */
#define STRIP_ROWS 128
#define ALIGNMENT 64

static bool
reserve_buffer (CuvBuffer *self, size_t size)
{
  if (size <= self->size)
    return true;
  free (self->memory);
  self->size = 0;
  self->memory = calloc (size + ALIGNMENT, 1);
  if (self->memory == NULL)
    return false;
  self->data =
      (char *) self->memory + ALIGNMENT - (uintptr_t) self->memory % ALIGNMENT;
  self->size = size;
  return true;
}

/* Splits the levels into strips and returns their number; strips may be
 * NULL. */
static int
split_levels (const CuvWaldboostPlan *plan, CuvStrip *strips)
{
  int n = 0;

  for (int i = 0; i < plan->n_levels; i++) {
    const CuvWaldboostLevel *level = &plan->levels[i];
    int rows = level->step < STRIP_ROWS ? STRIP_ROWS / level->step : 1;

    for (int j = 0; level->n_x > 0 && j < level->n_y; j += rows, n++) {
      if (strips != NULL)
        strips[n] = (CuvStrip){ .level = i,
          .first = j,
          .n = level->n_y - j < rows ? level->n_y - j : rows };
    }
  }
  return n;
}

static bool
make_strips (CuvWaldboostCpu *self)
{
  self->n_strips = split_levels (self->plan, NULL);
  if (!reserve_buffer (&self->strips, (self->n_strips + 1) * sizeof (CuvStrip)))
    return false;
  split_levels (self->plan, self->strips.data);
  return true;
}

/* Allocates pictures for the levels from which other levels are resized.
 * Returns false if memory runs out. */
static bool
make_pictures (CuvWaldboostCpu *self)
{
  const CuvWaldboostPlan *plan = self->plan;
  size_t n = 0;

  if (!reserve_buffer (
          &self->pictures, (plan->n_levels + 2) * sizeof (CuvPicture)))
    return false;
  memset (self->pictures.data, 0, (plan->n_levels + 2) * sizeof (CuvPicture));
  for (int i = 0; i < plan->n_levels; i++) {
    int at = plan->levels[i].source;
    CuvPicture *picture = cuv_picture_of (self, at);

    if (at < 0 || picture->width > 0)
      continue;
    picture->stride = picture->width = plan->levels[at].width;
    picture->height = plan->levels[at].height;
    n += (size_t) picture->width * picture->height;
  }
  if (!reserve_buffer (&self->pixels, n))
    return false;
  n = 0;
  for (int i = 0; i < plan->n_levels; i++) {
    CuvPicture *picture = cuv_picture_of (self, i);

    if (picture->width > 0)
      picture->data = (uint8_t *) self->pixels.data + n;
    n += (size_t) picture->width * picture->height;
  }
  return true;
}

static bool
make_worker (const CuvWaldboostCpu *self, CuvWorker *worker, int width)
{
  const CuvWaldboostModel *model = self->model;
  size_t row = (size_t) width + ALIGNMENT;
  size_t rows = STRIP_ROWS + model->window_height + CUV_ZERO_ROWS;
  size_t integral = rows * self->stride * self->dsp.sum_size;

  return reserve_buffer (&worker->grey[0], row)
      && reserve_buffer (&worker->grey[1], row)
      && reserve_buffer (&worker->column, row * sizeof (uint16_t))
      && reserve_buffer (&worker->integral[0], integral)
      && (model->feature != CUV_FEATURE_HAAR
          || reserve_buffer (&worker->integral[1], integral))
      && (!model->tilted || reserve_buffer (&worker->integral[2], integral))
      && reserve_buffer (
          &worker->hits, CUV_WALDBOOST_MAX_HITS * sizeof (CuvWaldboostHit))
      && reserve_buffer (
          &worker->survivors, self->plan->n_segments * sizeof (uint64_t));
}

static int
largest_width (const CuvWaldboostPlan *plan)
{
  int width = plan->turn.width > plan->width ? plan->turn.width : plan->width;

  for (int i = 0; i < plan->n_levels; i++) {
    if (plan->levels[i].width > width)
      width = plan->levels[i].width;
  }
  return width;
}

static size_t
size_of_turned (const CuvWaldboostPlan *plan)
{
  return plan->turn.degrees == 0
      ? 0
      : (size_t) plan->turn.width * plan->turn.height;
}

/* The stride never shrinks because tables depend on it and would have to be
 * rebuilt. */
static void
choose_functions (CuvWaldboostCpu *self, int width)
{
  ptrdiff_t stride = (width + CUV_SUMS_PADDING + 15) / 16 * 16;

  if (stride <= self->stride)
    return;
  self->stride = stride;
  cuv_waldboost_dsp_clear (&self->dsp);
  cuv_waldboost_dsp_init (&self->dsp, self->model, stride);
}

bool
cuv_waldboost_cpu_set_plan (CuvWaldboostCpu *self, const CuvWaldboostPlan *plan)
{
  int width = largest_width (plan);

  self->plan = plan;
  choose_functions (self, width);
  for (int i = 0; i < self->n_workers; i++) {
    if (!make_worker (self, &self->workers[i], width))
      return false;
  }
  return make_strips (self) && make_pictures (self)
      && reserve_buffer (&self->zeros, (size_t) width + ALIGNMENT)
      && reserve_buffer (&self->grey, (size_t) plan->width * plan->height + 1)
      && reserve_buffer (&self->turned, size_of_turned (plan))
      && reserve_buffer (
          &self->hits, CUV_WALDBOOST_MAX_HITS * sizeof (CuvWaldboostHit))
      && reserve_buffer (
          &self->survivors, plan->n_segments * sizeof (uint64_t));
}

CuvWaldboostCpu *
cuv_waldboost_cpu_new (
    const CuvWaldboostModel *model, const CuvWaldboostPlan *plan)
{
  CuvWaldboostCpu *self = calloc (1, sizeof *self);

  if (self == NULL)
    return NULL;
  self->model = model;
  self->n_workers = cuv_threads_n_workers ();
  if (!cuv_waldboost_cpu_set_plan (self, plan)) {
    cuv_waldboost_cpu_free (self);
    return NULL;
  }
  return self;
}

static void
free_worker (CuvWorker *worker)
{
  free (worker->grey[0].memory);
  free (worker->grey[1].memory);
  free (worker->column.memory);
  for (int i = 0; i < 3; i++)
    free (worker->integral[i].memory);
  free (worker->hits.memory);
  free (worker->survivors.memory);
}

void
cuv_waldboost_cpu_free (CuvWaldboostCpu *self)
{
  if (self == NULL)
    return;
  for (int i = 0; i < self->n_workers; i++)
    free_worker (&self->workers[i]);
  cuv_waldboost_dsp_clear (&self->dsp);
  free (self->strips.memory);
  free (self->pictures.memory);
  free (self->pixels.memory);
  free (self->zeros.memory);
  free (self->grey.memory);
  free (self->turned.memory);
  free (self->hits.memory);
  free (self->survivors.memory);
  free (self);
}
