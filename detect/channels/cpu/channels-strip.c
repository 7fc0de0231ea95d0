/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Computes the channels of a strip from top to bottom. A row of channels needs
 * three rows of blocks. A row of blocks needs its own rows of magnitudes and
 * CUV_CHANNELS_RADIUS more above and below them. A row of magnitudes needs
 * three rows of pixels. Therefore rings of a few rows suffice, and stay in the
 * cache. */
#include "channels/cpu/channels-cpu-private.h"

#include <string.h>

typedef struct {
  const CuvChannelsCpu *cpu;
  CuvChannelsWorker *worker;
  int level, width, height; /* pixels */
  int columns, rows;        /* blocks */
  int shrink;
  /* the next rows of pixels and of magnitudes to make */
  int n_pixels, n_magnitudes;
} Strip;

/* ---- pixels ---- */

void
cuv_channels_make_row (const CuvChannelsCpu *self, CuvChannelsWorker *worker,
    int index, int plane, int y, uint8_t *out)
{
  const CuvChannelsCpuLevel *level = &self->levels[index];
  const CuvTap tap = level->y_taps[y];
  const uint8_t *in = level->source < 0
      ? self->picture->plane[plane]
      : self->levels[level->source].plane[plane];
  const int n_in = level->source < 0 ? self->picture->width
                                     : self->levels[level->source].width;
  const uint8_t *top = in + (ptrdiff_t) tap.index * n_in;

  if (level->source < 0 && level->width == n_in
      && level->height == self->picture->height)
    memcpy (out, top, (size_t) n_in); /* the level is the picture itself */
  else
    self->dsp.resize_row (out, level->width, top,
        tap.weight > 0 ? top + n_in : top, n_in, tap.weight, level->x_taps,
        worker->scratch);
}

static void
make_pixels (const Strip *self, int y)
{
  const CuvChannelsCpuLevel *level = &self->cpu->levels[self->level];

  for (int i = 0; i < CUV_CHANNELS_COLORS; i++) {
    uint8_t *row = self->worker->pixels[i][y % CUV_CHANNELS_RING];

    if (level->plane[i] != NULL)
      memcpy (row, level->plane[i] + (ptrdiff_t) y * self->width,
          (size_t) self->width);
    else
      cuv_channels_make_row (self->cpu, self->worker, self->level, i, y, row);
    row[-1] = row[0];
    row[self->width] = row[self->width - 1];
  }
}

/* ---- magnitudes ---- */

static void
make_magnitudes (Strip *self, int y)
{
  CuvChannelsRows rows[CUV_CHANNELS_COLORS];
  const int above = y > 0 ? y - 1 : 0;
  const int below = y + 1 < self->height ? y + 1 : y;

  while (self->n_pixels <= below)
    make_pixels (self, self->n_pixels++);
  for (int i = 0; i < CUV_CHANNELS_COLORS; i++) {
    uint8_t *const *ring = self->worker->pixels[i];

    rows[i] = (CuvChannelsRows){ ring[above % CUV_CHANNELS_RING],
      ring[y % CUV_CHANNELS_RING], ring[below % CUV_CHANNELS_RING] };
  }
  self->cpu->dsp.gradient_row (rows, self->width,
      self->worker->magnitudes[y % CUV_CHANNELS_RING],
      self->worker->bins[y % CUV_CHANNELS_RING]);
}

/* Returns the magnitudes of row y, or of the nearest row in the level. */
static const uint16_t *
magnitudes_at (Strip *self, int y)
{
  y = cuv_channels_clamp (y, self->height);
  while (self->n_magnitudes <= y)
    make_magnitudes (self, self->n_magnitudes++);
  return self->worker->magnitudes[y % CUV_CHANNELS_RING];
}

/* Repeats the first and the last of n elements n_beyond times beyond the
 * ends. */
static void
repeat_edges (uint16_t *row, int n, int n_beyond)
{
  for (int i = 1; i <= n_beyond; i++) {
    row[-i] = row[0];
    row[n - 1 + i] = row[n - 1];
  }
}

/* Sets the column sums to those around row y, the first row of the strip. */
static void
begin_sums (Strip *self, int y)
{
  uint16_t *sums = self->worker->column_sums;

  memset (sums, 0, (size_t) self->width * sizeof *sums);
  for (int i = -CUV_CHANNELS_RADIUS; i <= CUV_CHANNELS_RADIUS; i++) {
    const uint16_t *row = magnitudes_at (self, y + i);

    for (int x = 0; x < self->width; x++)
      sums[x] = (uint16_t) (sums[x] + row[x]);
  }
}

/* ---- blocks ---- */

/* Computes the sums of a row of blocks. On entry, column_sums must be those
 * around the row's first row of pixels; on return, they are those around the
 * first row of pixels of the next row of blocks. */
static void
make_sums (Strip *self, int row)
{
  const CuvChannelsDsp *dsp = &self->cpu->dsp;
  CuvChannelsWorker *worker = self->worker;
  const ptrdiff_t pitch = self->cpu->sums_pitch;
  uint16_t *sums = worker->sums[row % CUV_CHANNELS_SUM_ROWS];
  const uint8_t *pixels[CUV_CHANNELS_COLORS][4], *relative[4], *bins[4];

  for (int i = 0; i < self->shrink; i++) {
    const int y = row * self->shrink + i, at = y % CUV_CHANNELS_RING;
    const uint16_t *next = magnitudes_at (self, y + CUV_CHANNELS_RADIUS + 1);

    repeat_edges (worker->column_sums, self->width, CUV_CHANNELS_RADIUS);
    dsp->normalise_row (worker->magnitudes[at], worker->column_sums,
        self->width, worker->relative[i]);
    dsp->move_sums (worker->column_sums, next,
        magnitudes_at (self, y - CUV_CHANNELS_RADIUS), self->width);
    for (int k = 0; k < CUV_CHANNELS_COLORS; k++)
      pixels[k][i] = worker->pixels[k][at];
    relative[i] = worker->relative[i];
    bins[i] = worker->bins[at];
  }
  dsp->sum_colors (pixels, self->shrink, self->columns, sums, pitch);
  dsp->sum_gradients (relative, bins, self->shrink, self->columns,
      sums + CUV_CHANNELS_MAGNITUDE * pitch, pitch);
  for (int channel = 0; channel < CUV_CHANNELS_N; channel++)
    repeat_edges (sums + channel * pitch, self->columns, 1);
}

/* Repeats the blocks at the edges as far as windows extend beyond the level. */
static void
repeat_blocks (const Strip *self, uint8_t *blocks, int row)
{
  const int overhang = self->cpu->overhang;
  const ptrdiff_t stride = self->cpu->levels[self->level].stride;
  const size_t n = (size_t) (self->columns + 2 * overhang);

  memset (blocks - overhang, blocks[0], (size_t) overhang);
  memset (blocks + self->columns, blocks[self->columns - 1], (size_t) overhang);
  for (int i = 1; i <= overhang && row == 0; i++)
    memcpy (blocks - overhang - i * stride, blocks - overhang, n);
  for (int i = 1; i <= overhang && row == self->rows - 1; i++)
    memcpy (blocks - overhang + i * stride, blocks - overhang, n);
}

static void
make_channels (const Strip *self, int row)
{
  const CuvChannelsCpuLevel *level = &self->cpu->levels[self->level];
  uint16_t *const *ring = self->worker->sums;
  const int shift = self->shrink == 4 ? 8 : 6;

  for (int channel = 0; channel < CUV_CHANNELS_N; channel++) {
    const ptrdiff_t at = channel * self->cpu->sums_pitch;
    uint8_t *blocks =
        level->channels + channel * level->pitch + row * level->stride;

    self->cpu->dsp.smooth_row (
        ring[cuv_channels_clamp (row - 1, self->rows) % CUV_CHANNELS_SUM_ROWS]
            + at,
        ring[row % CUV_CHANNELS_SUM_ROWS] + at,
        ring[cuv_channels_clamp (row + 1, self->rows) % CUV_CHANNELS_SUM_ROWS]
            + at,
        self->columns, shift, blocks);
    repeat_blocks (self, blocks, row);
  }
}

void
cuv_channels_strip (const CuvChannelsCpu *self, CuvChannelsWorker *worker,
    const CuvChannelsTask *task)
{
  const CuvChannelsCpuLevel *level = &self->levels[task->level];
  const int end = task->first + task->n;
  Strip strip = { .cpu = self,
    .worker = worker,
    .level = task->level,
    .width = level->width,
    .height = level->height,
    .columns = level->columns,
    .rows = level->rows,
    .shrink = self->shrink };
  int row = cuv_channels_clamp (task->first - 1, level->rows);
  const int y = row * strip.shrink;

  strip.n_magnitudes =
      cuv_channels_clamp (y - CUV_CHANNELS_RADIUS, strip.height);
  strip.n_pixels = cuv_channels_clamp (strip.n_magnitudes - 1, strip.height);
  begin_sums (&strip, y);
  for (; row < end; row++) {
    if (row == cuv_channels_clamp (task->first - 1, level->rows))
      make_sums (&strip, row);
    if (row + 1 < level->rows)
      make_sums (&strip, row + 1);
    if (row >= task->first)
      make_channels (&strip, row);
  }
}
