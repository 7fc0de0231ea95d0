/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "channels/planes.h"
#include "cuvthreads.h"
#include "reference/waldboost-reference.h"

#include <stdlib.h>
#include <string.h>

enum { TASK_ROWS = 32 };

typedef struct {
  const CuvFrame *frame;
  int left, top, width, height; /* the part of the frame */
  const CuvRgbMatrix *matrix;
  const CuvTurn *turn;
  uint8_t *planes, *turned; /* n_planes planes each, one after the other */
  int n_planes;
} Job;

/* ---- rows ---- */

/* Writes a component's samples of `width` pixels, beginning with pixel (left,
 * y). Pixels that share a chroma sample each get a copy of it. */
static void
spread_row (const CuvComponent *c, int left, int y, int width, uint8_t *out)
{
  const uint8_t *row = c->data + (ptrdiff_t) (y >> c->ysub) * c->stride;

  if (c->step == 1 && c->xsub == 0)
    memcpy (out, row + left, (size_t) width);
  else
    for (int x = 0; x < width; x++)
      out[x] = row[(ptrdiff_t) ((left + x) >> c->xsub) * c->step];
}

/* Converts Y, U and V to R, G and B in place. */
static void
convert_row (
    const CuvRgbMatrix *matrix, int width, uint8_t *a, uint8_t *b, uint8_t *c)
{
  for (int x = 0; x < width; x++) {
    const int y = a[x], u = b[x], v = c[x];

    a[x] = cuv_rgb_of_yuv (matrix->m[0], y, u, v);
    b[x] = cuv_rgb_of_yuv (matrix->m[1], y, u, v);
    c[x] = cuv_rgb_of_yuv (matrix->m[2], y, u, v);
  }
}

static void
make_row (const Job *job, int y)
{
  const CuvFrame *frame = job->frame;
  const size_t width = (size_t) job->width;
  uint8_t *row[CUV_CHANNELS_COLORS];

  for (int i = 0; i < job->n_planes; i++) {
    row[i] =
        job->planes + ((size_t) i * (size_t) job->height + (size_t) y) * width;
    spread_row (
        &frame->component[i], job->left, job->top + y, job->width, row[i]);
  }
  if (frame->model == CUV_MODEL_YUV)
    convert_row (job->matrix, job->width, row[0], row[1], row[2]);
}

static void
turn_row (const Job *job, int y)
{
  const int width = job->width, height = job->height;
  const CuvTurn *turn = job->turn;
  const size_t n = (size_t) width * (size_t) height;
  const size_t n_turned = (size_t) turn->width * (size_t) turn->height;

  for (int i = 0; i < job->n_planes; i++)
    cuv_turn_row (turn, job->planes + (size_t) i * n, width, width, height, y,
        job->turned + (size_t) i * n_turned
            + (size_t) y * (size_t) turn->width);
}

/* ---- tasks ---- */

static void
make_task (void *data, int task)
{
  const Job *job = data;

  for (int i = 0; i < TASK_ROWS; i++) {
    if (task * TASK_ROWS + i < job->height)
      make_row (job, task * TASK_ROWS + i);
  }
}

static void
turn_task (void *data, int task)
{
  const Job *job = data;

  for (int i = 0; i < TASK_ROWS; i++) {
    if (task * TASK_ROWS + i < job->turn->height)
      turn_row (job, task * TASK_ROWS + i);
  }
}

static int
n_tasks (int height)
{
  return (height + TASK_ROWS - 1) / TASK_ROWS;
}

/* ---- a frame ---- */

static bool
reserve (uint8_t **memory, size_t *size, size_t wanted)
{
  if (wanted <= *size)
    return true;
  free (*memory);
  *memory = malloc (wanted);
  *size = *memory != NULL ? wanted : 0;
  return *memory != NULL;
}

/* Sets *picture; the three planes of a grey picture are the same memory. */
static void
set_picture (CuvChannelsPicture *picture, const uint8_t *planes, int n_planes,
    int32_t width, int32_t height)
{
  const size_t n = (size_t) width * (size_t) height;

  picture->width = width;
  picture->height = height;
  for (int i = 0; i < CUV_CHANNELS_COLORS; i++)
    picture->plane[i] = planes + (size_t) (i < n_planes ? i : 0) * n;
}

bool
cuv_channels_planes_make (CuvChannelsPlanes *self, const CuvFrame *frame,
    const CuvRoi *part, const CuvRgbMatrix *matrix, const CuvTurn *turn,
    int n_threads, CuvChannelsPicture *picture)
{
  const int width = part->right - part->left;
  const int height = part->bottom - part->top;
  const int n_planes = frame->n_components < 3 ? 1 : CUV_CHANNELS_COLORS;
  const size_t n = (size_t) width * (size_t) height;
  const size_t n_turned = (size_t) turn->width * (size_t) turn->height;
  Job job = { frame, part->left, part->top, width, height, matrix, turn, NULL,
    NULL, n_planes };

  if (!reserve (&self->frame, &self->frame_size, (size_t) n_planes * n + 1))
    return false;
  job.planes = self->frame;
  cuv_threads_run (n_threads, n_tasks (height), make_task, &job);
  set_picture (picture, self->frame, n_planes, width, height);
  if (turn->degrees == 0)
    return true;
  if (!reserve (
          &self->turned, &self->turned_size, (size_t) n_planes * n_turned + 1))
    return false;
  job.turned = self->turned;
  cuv_threads_run (n_threads, n_tasks (turn->height), turn_task, &job);
  set_picture (picture, self->turned, n_planes, turn->width, turn->height);
  return true;
}

void
cuv_channels_planes_clear (CuvChannelsPlanes *self)
{
  free (self->frame);
  free (self->turned);
  *self = (CuvChannelsPlanes){ 0 };
}
