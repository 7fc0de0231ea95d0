/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Scans a frame on the CPU: grey, pyramid, integral images and windows.
 *
 * Levels from which others are resized are computed first, as whole pictures.
 * Then all levels are split into strips whose integral images fit the cache. A
 * strip computes all rows that it needs, including those shared with its
 * neighbours, so strips are independent tasks. */
#include "cpu/waldboost-cpu-private.h"
#include "cuvgrey.h"
#include "cuvtime.h"

#include <string.h>

#define TASK_ROWS 32 /* rows of a picture that a task computes */

/* ---- whole pictures ---- */

static const uint8_t *
picture_row (const CuvPicture *picture, int y)
{
  return picture->data + y * picture->stride;
}

static void
make_row (const CuvWaldboostCpu *self, CuvWorker *worker,
    const CuvWaldboostLevel *level, int y, uint8_t *out)
{
  const CuvTap *taps = self->plan->taps;
  const CuvPicture *source = cuv_picture_of (self, level->source);
  CuvTap tap = taps[level->first_y_tap + y];
  const uint8_t *top = picture_row (source, tap.index);
  const uint8_t *bottom =
      tap.weight > 0 ? picture_row (source, tap.index + 1) : top;

  self->dsp.resize_row (out, level->width, top, bottom, source->width,
      tap.weight, taps + level->first_x_tap, worker->column.data);
}

static void
turn_row (const CuvWaldboostCpu *self, int y, uint8_t *out)
{
  const CuvPicture *frame = cuv_picture_of (self, -2);

  cuv_turn_row (&self->plan->turn, frame->data, frame->stride, frame->width,
      frame->height, y, out);
}

/* Computes TASK_ROWS rows of self->level. */
static void
picture_task (void *data, int worker_index, int task)
{
  CuvWaldboostCpu *self = data;
  CuvWorker *worker = &self->workers[worker_index];
  const CuvPicture *picture = cuv_picture_of (self, self->level);
  int first = task * TASK_ROWS, end = first + TASK_ROWS;
  int64_t start = cuv_thread_ns ();

  for (int y = first; y < end && y < picture->height; y++) {
    uint8_t *out = (uint8_t *) picture_row (picture, y);

    if (self->level >= 0)
      make_row (self, worker, &self->plan->levels[self->level], y, out);
    else if (self->level == -1)
      turn_row (self, y, out);
    else
      cuv_grey_row (self->frame, y, out);
  }
  worker->work.pyramid_ns += cuv_thread_ns () - start;
}

static void
make_level_picture (CuvWaldboostCpu *self, int level, int n_threads)
{
  int height = cuv_picture_of (self, level)->height;

  self->level = level;
  cuv_threads_run_workers (n_threads, n_threads,
      (height + TASK_ROWS - 1) / TASK_ROWS, picture_task, self);
}

static void
make_grey (CuvWaldboostCpu *self, int n_threads)
{
  const CuvFrame *frame = self->frame;
  CuvPicture *picture = cuv_picture_of (self, -2);

  picture->width = self->plan->width;
  picture->height = self->plan->height;
  if (frame->model != CUV_MODEL_RGB && frame->component[0].step == 1) {
    picture->data = frame->component[0].data;
    picture->stride = frame->component[0].stride;
    return;
  }
  picture->data = self->grey.data;
  picture->stride = self->plan->width;
  make_level_picture (self, -2, n_threads);
}

static void
turn_frame (CuvWaldboostCpu *self, int n_threads)
{
  const CuvTurn *turn = &self->plan->turn;
  CuvPicture *picture = cuv_picture_of (self, -1);

  if (turn->degrees == 0) {
    *picture = *cuv_picture_of (self, -2);
    return;
  }
  *picture =
      (CuvPicture){ self->turned.data, turn->width, turn->width, turn->height };
  make_level_picture (self, -1, n_threads);
}

/* Makes the levels from which others are resized. Each level's source precedes
 * it. */
static void
make_sources (CuvWaldboostCpu *self, int n_threads)
{
  for (int i = 0; i < self->plan->n_levels; i++) {
    if (cuv_picture_of (self, i)->data != NULL)
      make_level_picture (self, i, n_threads);
  }
}

/* ---- strips ---- */

static const uint8_t *
level_row (const CuvWaldboostCpu *self, CuvWorker *worker, int level, int y)
{
  const CuvPicture *picture = cuv_picture_of (self, level);
  uint8_t *row = worker->grey[y & 1].data;

  if (picture->data != NULL)
    return picture_row (picture, y);
  make_row (self, worker, &self->plan->levels[level], y, row);
  return row;
}

static void
make_integral_row (const CuvWaldboostCpu *self, CuvWorker *worker,
    const CuvWaldboostLevel *level, const uint8_t *grey,
    const uint8_t *grey_above, int row)
{
  ptrdiff_t pitch = self->stride * (ptrdiff_t) self->dsp.sum_size;
  char *at[3] = { NULL };

  for (int i = 0; i < 3; i++)
    if (worker->integral[i].data != NULL) /* only the images that the model
                                           * needs */
      at[i] = (char *) worker->integral[i].data + row * pitch;
  self->dsp.sum_row (
      at[0], at[0] - pitch, grey, level->width, level->step, self->stride);
  if (self->model->feature == CUV_FEATURE_HAAR)
    self->dsp.square_row (
        at[1], at[1] - pitch, grey, level->width, level->step, self->stride);
  if (self->model->tilted)
    self->dsp.tilted_row (at[2], at[2] - pitch, at[2] - 2 * pitch, grey,
        grey_above, level->width, level->step, self->stride);
}

/* Makes the integral images of n rows of a level, from row `first` on. The zero
 * rows above them are never written. */
static void
make_integrals (
    const CuvWaldboostCpu *self, CuvWorker *worker, int level, int first, int n)
{
  const uint8_t *above = self->zeros.data;

  for (int y = 0; y < n; y++) {
    const uint8_t *grey = level_row (self, worker, level, first + y);

    make_integral_row (self, worker, &self->plan->levels[level], grey, above,
        CUV_ZERO_ROWS + y);
    above = grey;
  }
}

static void
scan_rows (CuvWaldboostCpu *self, CuvWorker *worker, const CuvStrip *strip)
{
  const CuvWaldboostLevel *level = &self->plan->levels[strip->level];
  size_t pitch = (size_t) self->stride * self->dsp.sum_size;
  CuvScanRow row = { self->model, self->plan, self->dsp.tables, { 0 },
    strip->level, level->step, level->n_x, 0, { 0, level->n_x } };
  const CuvRange *ranges = self->plan->ranges;

  row.integrals.stride = self->stride;
  for (int i = 0; i < strip->n; i++) {
    size_t at = (size_t) (CUV_ZERO_ROWS - 1 + i * level->step) * pitch;

    row.y = (strip->first + i) * level->step;
    if (ranges != NULL)
      row.range = ranges[level->first_range + strip->first + i];
    row.integrals.sums = (char *) worker->integral[0].data + at;
    if (self->model->feature == CUV_FEATURE_HAAR)
      row.integrals.squares = (char *) worker->integral[1].data + at;
    if (self->model->tilted)
      row.integrals.tilted = (char *) worker->integral[2].data + at;
    self->dsp.scan_row (&row, &worker->work.list);
  }
}

static void
strip_task (void *data, int worker_index, int task)
{
  CuvWaldboostCpu *self = data;
  CuvWorker *worker = &self->workers[worker_index];
  CuvStrip *strip = (CuvStrip *) self->strips.data + task;
  int step = self->plan->levels[strip->level].step;
  int64_t start = cuv_thread_ns (), middle;

  strip->hits.worker = (int32_t) worker_index;
  strip->hits.first_hit = worker->work.list.n_hits;
  make_integrals (self, worker, strip->level, strip->first * step,
      (strip->n - 1) * step + self->model->window_height);
  middle = cuv_thread_ns ();
  scan_rows (self, worker, strip);
  strip->hits.n_hits = worker->work.list.n_hits - strip->hits.first_hit;
  worker->work.pyramid_ns += middle - start;
  worker->work.scan_ns += cuv_thread_ns () - middle;
}

/* ---- a run ---- */

static void
collect (CuvWaldboostCpu *self, CuvWaldboostResult *result)
{
  const int n_segments = self->plan->n_segments;

  cuv_scan_result_start (
      result, self->hits.data, self->survivors.data, n_segments);
  for (int i = 0; i < self->n_workers; i++)
    cuv_scan_result_add_work (result, &self->workers[i].work, n_segments);
  for (int i = 0; i < self->n_strips; i++) {
    const CuvStrip *strip = (const CuvStrip *) self->strips.data + i;

    cuv_scan_result_add_hits (
        result, &self->workers[strip->hits.worker].work, &strip->hits);
  }
}

void
cuv_waldboost_cpu_run (CuvWaldboostCpu *self, const CuvFrame *frame,
    int n_threads, CuvWaldboostResult *result)
{
  if (n_threads <= 0 || n_threads > self->n_workers)
    n_threads = self->n_workers;
  self->frame = frame;
  for (int i = 0; i < self->n_workers; i++)
    cuv_scan_work_start (&self->workers[i].work, self->workers[i].hits.data,
        self->workers[i].survivors.data, self->plan->n_segments);
  if (self->n_strips > 0) {
    make_grey (self, n_threads);
    turn_frame (self, n_threads);
    make_sources (self, n_threads);
    /* Tasks start in ascending order. A worker whose list is full therefore
     * loses only hits that follow CUV_WALDBOOST_MAX_HITS others, which the
     * result would lose anyway. */
    cuv_threads_run_workers (
        n_threads, n_threads, self->n_strips, strip_task, self);
  }
  collect (self, result);
}
