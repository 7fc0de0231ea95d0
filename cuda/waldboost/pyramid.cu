// SPDX-License-Identifier: LGPL-2.1-or-later
#include "waldboost/pyramid.cuh"

#include <stdlib.h>
#include <string.h>

// Rows that one thread sums in the column passes.
#define STRIP 32
#define COLUMNS 256
#define ROW_WARPS 4

// ---- kernels ----

// Block: 32 x 8 pixels. Frames whose grey is not already a plane of bytes.
static __global__ void
grey_kernel (CuvFrame frame, uint8_t *grey)
{
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;

  if (x < frame.width && y < frame.height)
    grey[(size_t) y * frame.width + x] = cuv_frame_grey (&frame, x, y);
}

static __device__ int
level_of_row (const CuvIntegralLevel *levels, int n_levels, int row)
{
  int low = 0, high = n_levels - 1;

  while (low < high) {
    int middle = (low + high + 1) / 2;

    if (levels[middle].first_row <= row)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

// The pixel of a level: two horizontal steps in 8.8, then the vertical one in
// 8.16, rounded once.
static __device__ unsigned
resample (const uint8_t *above, const uint8_t *below, CuvTap tx, CuvTap ty)
{
  int right = tx.weight ? tx.index + 1 : tx.index;
  unsigned a = (256 - tx.weight) * above[tx.index] + tx.weight * above[right];
  unsigned b = (256 - tx.weight) * below[tx.index] + tx.weight * below[right];

  return ((256 - ty.weight) * a + ty.weight * b + 32768) >> 16;
}

// One warp per row of a level: resizes it and writes its running sums.
template <typename Sum>
static __global__ void
row_kernel (const uint8_t *grey, int stride, const CuvIntegralLevel *levels,
    int n_levels, int n_rows, const CuvTap *taps, Sum *integral)
{
  int row = blockIdx.x * ROW_WARPS + threadIdx.y, lane = threadIdx.x;
  unsigned carry = 0;

  if (row >= n_rows)
    return;
  const CuvIntegralLevel &level = levels[level_of_row (levels, n_levels, row)];
  int y = row - level.first_row;
  CuvTap ty = taps[level.plan.first_y_tap + y];
  const uint8_t *above = grey + (size_t) ty.index * stride;
  const uint8_t *below = ty.weight ? above + stride : above;
  Sum *out = integral + level.first + (int64_t) (y + 1) * level.pitch;

  for (int x = lane; x - lane < level.plan.width; x += 32) {
    unsigned sum = 0;

    if (x < level.plan.width)
      sum = resample (above, below, taps[level.plan.first_x_tap + x], ty);
    for (int d = 1; d < 32; d *= 2) {
      unsigned left = __shfl_up_sync (~0u, sum, d);

      sum += lane >= d ? left : 0;
    }
    sum += carry;
    if (x < level.plan.width)
      out[cuv_integral_column (level, x + 1)] = (Sum) sum;
    carry = __shfl_sync (~0u, sum, 31);
  }
}

// One thread per column of a strip of rows; a strip's sums lie where a row of
// an integral would, the strips of a level one after another.
template <typename Sum> struct Column {
  Sum *top;   // the strip's first row, pitch apart
  Sum *strip; // of the level's first strip, pitch apart
  int pitch, rows;
  bool inside;

  __device__
  Column (const CuvTile &tile, const CuvIntegralLevel &level, Sum *integral,
      Sum *strips)
  {
    int x = tile.x + threadIdx.x, y = tile.y * STRIP;

    pitch = level.pitch;
    rows = min (STRIP, level.plan.height - y);
    top = integral + level.first + (int64_t) (y + 1) * pitch + x;
    strip = strips + level.first / STRIP + x;
    inside = x < pitch;
  }
};

template <typename Sum>
static __global__ void
strip_kernel (const CuvTile *tiles, const CuvIntegralLevel *levels,
    Sum *integral, Sum *strips)
{
  const CuvTile tile = tiles[blockIdx.x];
  Column<Sum> column (tile, levels[tile.level], integral, strips);
  Sum sum = 0;

  if (!column.inside)
    return;
#pragma unroll 8
  for (int y = 0; y < column.rows; y++)
    sum += column.top[(int64_t) y * column.pitch];
  column.strip[(int64_t) tile.y * column.pitch] = sum;
}

template <typename Sum>
static __global__ void
column_kernel (const CuvTile *tiles, const CuvIntegralLevel *levels,
    Sum *integral, Sum *strips)
{
  const CuvTile tile = tiles[blockIdx.x];
  Column<Sum> column (tile, levels[tile.level], integral, strips);
  Sum sum = 0;

  if (!column.inside)
    return;
  for (int s = 0; s < tile.y; s++)
    sum += column.strip[(int64_t) s * column.pitch];
#pragma unroll 8
  for (int y = 0; y < column.rows; y++) {
    sum += column.top[(int64_t) y * column.pitch];
    column.top[(int64_t) y * column.pitch] = sum;
  }
}

// ---- launchers ----

template <typename Sum>
static int
launch (CuvPyramid *self, const uint8_t *grey, int stride, cudaStream_t stream)
{
  Sum *integral = (Sum *) self->integral, *strips = (Sum *) self->strips;

  row_kernel<Sum><<<cuv_div_up (self->n_rows, ROW_WARPS), dim3 (32, ROW_WARPS),
      0, stream>>> (grey, stride, self->levels, self->n_levels, self->n_rows,
      self->taps, integral);
  CUV_CUDA_LAUNCHED (row_kernel);
  strip_kernel<Sum><<<self->n_tiles, COLUMNS, 0, stream>>> (
      self->tiles, self->levels, integral, strips);
  CUV_CUDA_LAUNCHED (strip_kernel);
  column_kernel<Sum><<<self->n_tiles, COLUMNS, 0, stream>>> (
      self->tiles, self->levels, integral, strips);
  CUV_CUDA_LAUNCHED (column_kernel);
  return 0;
}

int
cuv_pyramid_submit (
    CuvPyramid *self, const CuvFrame *frame, cudaStream_t stream)
{
  const CuvComponent *y = &frame->component[0];
  const uint8_t *grey = self->grey;
  int stride = self->width;

  if (frame->model != CUV_MODEL_RGB && y->step == 1) {
    grey = y->data;
    stride = y->stride;
  } else {
    dim3 block (32, 8);
    dim3 grid (cuv_div_up (self->width, 32), cuv_div_up (self->height, 8));

    grey_kernel<<<grid, block, 0, stream>>> (*frame, self->grey);
    CUV_CUDA_LAUNCHED (grey_kernel);
  }
  return self->narrow ? launch<uint16_t> (self, grey, stride, stream)
                      : launch<uint32_t> (self, grey, stride, stream);
}

// ---- memory ----

// Lays the levels' integrals out one after another; returns the elements.
static int64_t
lay_out (CuvPyramid *self, const CuvWaldboostPlan *plan)
{
  int64_t elements = 0;
  int words = 0;

  for (int i = 0; i < plan->n_levels; i++) {
    CuvIntegralLevel *level = &self->levels_host[i];

    level->plan = plan->levels[i];
    level->pitch = cuv_div_up (level->plan.width + 2, 64) * 64;
    level->first = elements;
    level->first_row = self->n_rows;
    level->words = cuv_div_up (level->plan.n_x, 32);
    level->first_word = words;
    // whole strips, so that the strips' sums can be addressed like rows
    elements += (int64_t) level->pitch * STRIP
        * (cuv_div_up (level->plan.height + 1, STRIP) + 1);
    self->n_rows += level->plan.height;
    words += level->words * level->plan.n_y;
    self->n_tiles += cuv_div_up (level->pitch, COLUMNS)
        * cuv_div_up (level->plan.height, STRIP);
  }
  return elements;
}

static void
fill_tiles (const CuvPyramid *self, CuvTile *tile)
{
  for (int i = 0; i < self->n_levels; i++) {
    const CuvIntegralLevel *level = &self->levels_host[i];

    for (int y = 0; y < cuv_div_up (level->plan.height, STRIP); y++) {
      for (int x = 0; x < level->pitch; x += COLUMNS)
        *tile++ = CuvTile{ i, x, y };
    }
  }
}

int
cuv_pyramid_init (CuvPyramid *self, CuvArena *arena,
    const CuvWaldboostModel *model, const CuvWaldboostPlan *plan)
{
  CuvTile *tiles;
  int64_t elements;
  size_t sum_size;

  self->width = plan->width;
  self->height = plan->height;
  self->n_levels = plan->n_levels;
  self->narrow = (int64_t) model->max_block_area * 255 <= UINT16_MAX;
  sum_size = self->narrow ? sizeof (uint16_t) : sizeof (uint32_t);
  self->levels_host =
      (CuvIntegralLevel *) calloc (plan->n_levels, sizeof *self->levels_host);
  elements = lay_out (self, plan);
  tiles = (CuvTile *) calloc (self->n_tiles, sizeof *tiles);
  fill_tiles (self, tiles);
  self->tiles = (CuvTile *) cuv_arena_upload (
      arena, tiles, self->n_tiles * sizeof *tiles);
  free (tiles);
  self->levels = (CuvIntegralLevel *) cuv_arena_upload (
      arena, self->levels_host, plan->n_levels * sizeof *self->levels);
  self->taps = (CuvTap *) cuv_arena_upload (
      arena, plan->taps, plan->n_taps * sizeof *self->taps);
  self->grey =
      (uint8_t *) cuv_arena_alloc (arena, (size_t) plan->width * plan->height);
  // row 0 and column 0 of a level stay zero
  self->integral = cuv_arena_zeroed (arena, elements * sum_size);
  self->strips = cuv_arena_alloc (arena, elements / STRIP * sum_size);
  return self->tiles && self->levels && self->taps && self->grey
          && self->integral && self->strips
      ? 0
      : -1;
}

void
cuv_pyramid_clear (CuvPyramid *self)
{
  free (self->levels_host);
}
