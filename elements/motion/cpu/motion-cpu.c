/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cpu/motion-cpu.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "cpu/bits.h"
#include "cpu/motion-dsp.h"
#include "cuvgrey.h"
#include "cuvthreads.h"

#define TASK_ROWS 16

/* Memory of a worker: rows of a frame and of values. */
typedef struct {
  uint8_t *row;
  uint16_t *sums;
  uint8_t *values[CUV_MOTION_MAX_CHANNELS];
} Worker;

struct _CuvMotionCpu {
  CuvMotionConfig config;
  CuvMotionDsp dsp;
  int width, height, stride; /* of the image of values */
  int frame_width, n_channels, n_workers, n_tasks;
  CuvMotionSquare square;
  float *fields; /* of modes, row by row */
  uint8_t *n_modes;
  uint16_t *averages;
  bool has_averages;
  uint8_t *mask;
  CuvMotionBits bits;
  uint64_t *scratch;
  CuvMotionRuns runs;
  int64_t *n_moving; /* of each task */
  Worker *workers;
  CuvMotionPart *parts;

  /* during a run */
  const CuvFrame *frame;
  const CuvMotionParams *params;
};

/* ---- memory ---- */

static bool
worker_init (const CuvMotionCpu *self, Worker *worker)
{
  const size_t width = (size_t) self->frame_width + CUV_MOTION_ROW_UNIT;
  bool ok;

  worker->row = malloc (width);
  worker->sums = malloc (width * sizeof *worker->sums);
  ok = worker->row != NULL && worker->sums != NULL;
  for (int c = 0; c < self->n_channels; c++) {
    worker->values[c] = calloc ((size_t) self->stride, 1);
    ok = ok && worker->values[c] != NULL;
  }
  return ok;
}

/* Modes are far apart in memory: with pages of 4 KiB much time goes into
 * finding them. */
static void *
allocate_huge_pages (size_t size)
{
  const size_t page = (size_t) 1 << 21;
  void *memory = aligned_alloc (page, (size + page - 1) / page * page);

  if (memory != NULL)
    madvise (memory, size, MADV_HUGEPAGE);
  return memory;
}

static bool
allocate_models (CuvMotionCpu *self)
{
  const size_t n = (size_t) self->stride * (size_t) self->height;

  if (self->config.method == CUV_MOTION_AVERAGE) {
    self->averages = calloc (n, sizeof *self->averages);
    return self->averages != NULL;
  }
  self->fields = allocate_huge_pages (n * CUV_MOG2_MAX_MODES
      * (size_t) (2 + self->n_channels) * sizeof *self->fields);
  self->n_modes = calloc (n, 1);
  return self->fields != NULL && self->n_modes != NULL;
}

static bool
motion_allocate (CuvMotionCpu *self)
{
  const size_t n_words =
      (size_t) self->bits.stride * (size_t) (self->height + 1);
  bool ok = allocate_models (self);

  self->mask = malloc ((size_t) self->stride * (size_t) self->height);
  self->bits.words = malloc (n_words * sizeof (uint64_t));
  self->scratch = malloc (n_words * sizeof (uint64_t));
  self->n_moving = malloc ((size_t) self->n_tasks * sizeof (int64_t));
  self->parts = malloc (CUV_MOTION_MAX_PARTS * sizeof *self->parts);
  self->workers = calloc ((size_t) self->n_workers, sizeof *self->workers);
  ok = cuv_motion_runs_init (&self->runs, self->width, self->height) && ok
      && self->mask != NULL && self->bits.words != NULL && self->scratch != NULL
      && self->n_moving != NULL && self->parts != NULL && self->workers != NULL;
  for (int i = 0; ok && i < self->n_workers; i++)
    ok = worker_init (self, &self->workers[i]);
  return ok;
}

static CuvMotionSquare
square_of (const CuvMotionConfig *config, const CuvFrame *frame)
{
  const int across = cuv_motion_min (config->scale, frame->width);
  const int down = cuv_motion_min (config->scale, frame->height);
  const uint32_t n = (uint32_t) (across * down);

  return (CuvMotionSquare){ across, down, n / 2,
    n > 1 ? (uint32_t) ((UINT64_C (1) << 32) / n + 1) : 0 };
}

CuvMotionCpu *
cuv_motion_cpu_new (const CuvMotionConfig *config, const CuvFrame *frame)
{
  CuvMotionCpu *self = calloc (1, sizeof *self);

  if (self == NULL)
    return NULL;
  self->config = *config;
  self->frame_width = frame->width;
  self->width = cuv_motion_n_values (config, frame->width);
  self->height = cuv_motion_n_values (config, frame->height);
  self->stride = (self->width + CUV_MOTION_ROW_UNIT - 1) / CUV_MOTION_ROW_UNIT
      * CUV_MOTION_ROW_UNIT;
  self->n_channels = cuv_motion_n_channels (config, frame);
  self->square = square_of (config, frame);
  self->bits = (CuvMotionBits){ NULL, self->width, self->height,
    cuv_motion_n_words (self->width) };
  self->n_tasks = (self->height + TASK_ROWS - 1) / TASK_ROWS;
  self->n_workers = cuv_threads_n_workers ();
  cuv_motion_dsp_init (&self->dsp);
  if (motion_allocate (self))
    return self;
  cuv_motion_cpu_free (self);
  return NULL;
}

void
cuv_motion_cpu_free (CuvMotionCpu *self)
{
  if (self == NULL)
    return;
  for (int i = 0; self->workers != NULL && i < self->n_workers; i++) {
    free (self->workers[i].row);
    free (self->workers[i].sums);
    for (int c = 0; c < CUV_MOTION_MAX_CHANNELS; c++)
      free (self->workers[i].values[c]);
  }
  free (self->workers);
  free (self->fields);
  free (self->n_modes);
  free (self->averages);
  free (self->mask);
  free (self->bits.words);
  free (self->scratch);
  free (self->n_moving);
  free (self->parts);
  cuv_motion_runs_clear (&self->runs);
  free (self);
}

void
cuv_motion_cpu_reset (CuvMotionCpu *self)
{
  if (self->n_modes != NULL)
    memset (self->n_modes, 0, (size_t) self->stride * (size_t) self->height);
  self->has_averages = false;
}

/* ---- values ---- */

/* Writes row y of a channel of the frame. */
static void
read_row (const CuvMotionCpu *self, int channel, int y, uint8_t *out)
{
  const CuvFrame *frame = self->frame;
  const CuvComponent *c =
      &frame->component[cuv_motion_component (frame, channel)];
  const uint8_t *from = c->data + (int64_t) (y >> c->ysub) * c->stride;

  if (self->n_channels == 1)
    cuv_grey_row (frame, y, out);
  else
    for (int x = 0; x < frame->width; x++)
      out[x] = from[(int64_t) (x >> c->xsub) * c->step];
}

/* Returns row y of a channel: in the frame, if it is there as it is. */
static const uint8_t *
find_row (const CuvMotionCpu *self, Worker *worker, int channel, int y)
{
  const CuvComponent *c =
      &self->frame->component[cuv_motion_component (self->frame, channel)];

  if (!cuv_motion_is_mixed (&self->config, self->frame) && c->step == 1
      && c->xsub == 0)
    return c->data + (int64_t) (y >> c->ysub) * c->stride;
  read_row (self, channel, y, worker->row);
  return worker->row;
}

/* Writes a row of averages of squares. */
static void
average_squares (
    const CuvMotionCpu *self, Worker *worker, int channel, int y, uint8_t *out)
{
  const int down = self->square.down;

  memset (worker->sums, 0, (size_t) self->frame_width * sizeof *worker->sums);
  for (int j = 0; j < down; j++)
    self->dsp.add_row (worker->sums,
        find_row (self, worker, channel, y * down + j), self->frame_width);
  self->dsp.divide (worker->sums, self->width, &self->square, out);
}

static void
read_values (const CuvMotionCpu *self, Worker *worker, int y)
{
  for (int c = 0; c < self->n_channels; c++) {
    if (self->square.reciprocal == 0)
      read_row (self, c, y, worker->values[c]);
    else
      average_squares (self, worker, c, y, worker->values[c]);
  }
}

/* ---- rows ---- */

static void
run_averages (CuvMotionCpu *self, const uint8_t *values, int y, uint8_t *mask)
{
  uint16_t *averages = self->averages + (size_t) y * (size_t) self->stride;

  for (int x = 0; !self->has_averages && x < self->width; x++)
    averages[x] = (uint16_t) (values[x] << 8);
  self->dsp.average (
      averages, values, self->width, &self->params->average, mask);
}

static void
run_mog2 (
    CuvMotionCpu *self, const uint8_t *const *values, int y, uint8_t *mask)
{
  const size_t at = (size_t) y * (size_t) self->stride;
  const CuvMog2Row row = { self->fields
        + at * CUV_MOG2_MAX_MODES * (size_t) (2 + self->n_channels),
    self->n_modes + at, self->stride, self->n_channels,
    cuv_motion_zero (self->frame, 1) };

  self->dsp.mog2 (&row, values, self->width, &self->params->mog2,
      &self->params->mog2_rate, mask);
}

static int64_t
count_bits (const uint64_t *words, int n)
{
  int64_t sum = 0;

  for (int i = 0; i < n; i++)
    sum += __builtin_popcountll (words[i]);
  return sum;
}

static const uint64_t *
unmasked_row (const CuvMotionCpu *self, int y)
{
  const uint64_t *words = self->params->unmasked;

  return words != NULL ? words + (size_t) y * (size_t) self->bits.stride : NULL;
}

static void
run_rows (void *data, int index, int task)
{
  CuvMotionCpu *self = data;
  Worker *worker = &self->workers[index];
  const int end = cuv_motion_min ((task + 1) * TASK_ROWS, self->height);

  self->n_moving[task] = 0;
  for (int y = task * TASK_ROWS; y < end; y++) {
    uint8_t *mask = self->mask + (size_t) y * (size_t) self->stride;
    uint64_t *bits = self->bits.words + (size_t) y * (size_t) self->bits.stride;

    read_values (self, worker, y);
    if (self->config.method == CUV_MOTION_AVERAGE)
      run_averages (self, worker->values[0], y, mask);
    else
      run_mog2 (self, (const uint8_t *const *) worker->values, y, mask);
    self->dsp.pack (mask, self->width, bits);
    cuv_motion_bits_hide (
        &(CuvMotionBits){ bits, self->width, 1, self->bits.stride },
        unmasked_row (self, y));
    self->n_moving[task] += count_bits (bits, self->bits.stride);
  }
}

void
cuv_motion_cpu_run (CuvMotionCpu *self, const CuvFrame *frame,
    const CuvMotionParams *params, int n_threads, CuvMotionResult *result)
{
  self->frame = frame;
  self->params = params;
  cuv_threads_run_workers (
      n_threads, self->n_workers, self->n_tasks, run_rows, self);
  self->has_averages = true;
  *result = (CuvMotionResult){ self->mask, self->width, self->height,
    self->stride, 0, self->parts, 0 };
  for (int i = 0; i < self->n_tasks; i++)
    result->n_moving += self->n_moving[i];
  cuv_motion_bits_open (&self->bits, params->opening, self->scratch);
  cuv_motion_bits_close (&self->bits, params->closing, self->scratch);
  cuv_motion_bits_hide (&self->bits, params->unmasked);
  result->n_parts = cuv_motion_min (CUV_MOTION_MAX_PARTS,
      cuv_motion_bits_parts (
          &self->bits, NULL, &self->runs, self->parts, CUV_MOTION_MAX_PARTS));
}
