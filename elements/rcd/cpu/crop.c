/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Crops row by row: places across are the same in all rows. */
#include "cpu/crop.h"
#include "rcd/rcd-crop.h"

#include <string.h>

enum { MAX_SAMPLES = 2 * CUV_RCD_CROP };

/* Horizontally, each sample lies between two pixels. */
typedef struct {
  const CuvFrame *frame;
  int n_samples;
  int32_t left[MAX_SAMPLES], right[MAX_SAMPLES]; /* columns of the frame */
  int32_t weight[MAX_SAMPLES]; /* weight of the right pixel, in 1/256 */
} Columns;

/* Grey values, times 256, of a row of the frame; interpolated horizontally. */
typedef struct {
  int y; /* the row; -1 = no values yet */
  int32_t value[MAX_SAMPLES];
} Row;

static int
crop_clamp (int64_t v, int end)
{
  return v < 0 ? 0 : v < end ? (int) v : end - 1;
}

static void
set_columns (
    Columns *self, const CuvFrame *frame, const CuvRcdCrop *crop, int side)
{
  self->frame = frame;
  self->n_samples = side * crop->samples;
  for (int i = 0; i < self->n_samples; i++) {
    const int64_t x = (crop->x + crop->step * i) >> 8;

    self->left[i] = crop_clamp (x >> 8, frame->width);
    self->right[i] = crop_clamp ((x >> 8) + 1, frame->width);
    self->weight[i] = (int32_t) (x & 255);
  }
}

static void
read_luma (const Columns *self, Row *row)
{
  const CuvComponent *c = &self->frame->component[0];
  const uint8_t *data = c->data + (int64_t) row->y * c->stride;

  for (int i = 0; i < self->n_samples; i++)
    row->value[i] = data[self->left[i] * c->step] * (256 - self->weight[i])
        + data[self->right[i] * c->step] * self->weight[i];
}

static void
read_rgb (const Columns *self, Row *row)
{
  for (int i = 0; i < self->n_samples; i++)
    row->value[i] = cuv_rcd_grey (self->frame, self->left[i], row->y)
            * (256 - self->weight[i])
        + cuv_rcd_grey (self->frame, self->right[i], row->y) * self->weight[i];
}

/* rows: the last two rows of the frame that were read. */
static const Row *
crop_read_row (const Columns *self, Row rows[2], int64_t at)
{
  const int y = crop_clamp (at, self->frame->height);
  Row *row = &rows[y % 2];

  if (row->y != y) {
    row->y = y;
    if (self->frame->model == CUV_MODEL_RGB)
      read_rgb (self, row);
    else
      read_luma (self, row);
  }
  return row;
}

static void
add_samples (const Columns *columns, Row rows[2], int64_t y, int32_t *sums)
{
  const int32_t weight = (int32_t) (y & 255);
  const Row *above = crop_read_row (columns, rows, y >> 8);
  const Row *below = crop_read_row (columns, rows, (y >> 8) + 1);

  for (int i = 0; i < columns->n_samples; i++)
    sums[i] += above->value[i] * (256 - weight) + below->value[i] * weight;
}

/* Computes the rounded means of sums of n x n samples, times 65536. */
static void
set_pixels (const int32_t *sums, int n, int side, uint8_t *pixels)
{
  if (n == 1) {
    for (int x = 0; x < side; x++)
      pixels[x] = (uint8_t) ((sums[x] + (1 << 15)) >> 16);
  } else {
    for (int x = 0; x < side; x++)
      pixels[x] = (uint8_t) ((sums[2 * x] + sums[2 * x + 1] + (1 << 17)) >> 18);
  }
}

void
cuv_rcd_cpu_crop (
    const CuvFrame *frame, const CuvRcdCrop *crop, int side, uint8_t *pixels)
{
  const int n = crop->samples;
  Row rows[2] = { { .y = -1 }, { .y = -1 } };
  int32_t sums[MAX_SAMPLES];
  Columns columns;

  set_columns (&columns, frame, crop, side);
  for (int y = 0; y < side; y++) {
    memset (sums, 0, (size_t) columns.n_samples * sizeof *sums);
    for (int j = 0; j < n; j++)
      add_samples (
          &columns, rows, (crop->y + crop->step * (y * n + j)) >> 8, sums);
    set_pixels (sums, n, side, pixels + y * side);
  }
}
