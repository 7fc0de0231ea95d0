// SPDX-License-Identifier: LGPL-2.1-or-later
#include <string.h>
#include "waldboost/pyramid.cuh"

#define ROW_WARPS 4

// Where a level is resized from.
struct Source {
  const uint8_t *data;
  int stride;
};

// The pictures that levels are resized from.
struct Sources {
  Source frame;
  const uint8_t *pictures;

  __device__ Source
  of (const CuvPyramidLevel *levels, const CuvPyramidLevel &level) const
  {
    if (level.plan.source < 0)
      return frame;
    const CuvPyramidLevel &source = levels[level.plan.source];
    return Source{ pictures + source.picture, source.picture_pitch };
  }
};

// ---- pictures ----

// Block: 32 x 8 pixels. Frames whose grey is not already a plane of bytes.
static __global__ void
grey_kernel (CuvFrame frame, uint8_t *grey)
{
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;

  if (x < frame.width && y < frame.height)
    grey[(size_t) y * frame.width + x] = cuv_frame_grey (&frame, x, y);
}

// Pixels x .. x + 3 of a row of a level: two horizontal steps in 8.8, then the
// vertical one in 8.16, rounded once. Those outside are 0.
static __device__ uint4
resample (const Source &source, const uint32_t *x_taps, uint32_t y_tap, int x,
    int width)
{
  const unsigned down = y_tap & 511;
  const uint8_t *above = source.data + (size_t) (y_tap >> 9) * source.stride;
  const uint8_t *below = down ? above + source.stride : above;
  const uint4 tap = *(const uint4 *) (x_taps + x);
  uint4 out;
  auto pixel = [=] (int at, uint32_t t) -> unsigned {
    unsigned w = t & 511, left = t >> 9, right = left + (w != 0);
    unsigned a, b;

    if (at >= width)
      return 0;
    a = (256 - w) * above[left] + w * above[right];
    b = (256 - w) * below[left] + w * below[right];
    return ((256 - down) * a + down * b + 32768) >> 16;
  };

  out.x = pixel (x, tap.x);
  out.y = pixel (x + 1, tap.y);
  out.z = pixel (x + 2, tap.z);
  out.w = pixel (x + 3, tap.w);
  return out;
}

// Block: a tile of CUV_PICTURE_X x CUV_PICTURE_Y pixels, 4 a thread.
static __global__ void
picture_kernel (const CuvTile *tiles, const CuvPyramidLevel *levels,
    Sources sources, const uint32_t *taps, uint8_t *pictures)
{
  const CuvTile tile = tiles[blockIdx.x];
  const CuvPyramidLevel &level = levels[tile.level];
  const uint32_t *x_taps = taps + level.first_tap;
  int x = tile.x + 4 * threadIdx.x, y = tile.y + threadIdx.y;

  if (x >= level.plan.width || y >= level.plan.height)
    return;
  const uint32_t y_tap = x_taps[cuv_row_taps_at (level.plan.width) + y];
  uint4 p =
      resample (sources.of (levels, level), x_taps, y_tap, x, level.plan.width);
  *(uint32_t *) (pictures + level.picture + (size_t) y * level.picture_pitch
      + x) = p.x | p.y << 8 | p.z << 16 | p.w << 24;
}

// ---- integral images: rows, then columns ----

static __device__ int
level_of_row (const CuvPyramidLevel *levels, int n_levels, int row)
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

// Columns x .. x + 3 of an integral row.
template <typename Sum>
static __device__ void
store_four (Sum *row, bool split, int half, int x, uint4 v)
{
  struct alignas (2 * sizeof (Sum)) Two {
    Sum a, b;
  };
  const Two even = { (Sum) v.x, (Sum) v.z }, odd = { (Sum) v.y, (Sum) v.w };

  if (split) {
    *(Two *) (row + x / 2) = even;
    *(Two *) (row + half + x / 2) = odd;
  } else {
    *(Two *) (row + x) = Two{ even.a, odd.a };
    *(Two *) (row + x + 2) = Two{ even.b, odd.b };
  }
}

// Sums of the pixels left of each of four columns, of a row that the warp goes
// along; carry is the sum so far.
static __device__ uint4
running_sums (uint4 p, unsigned *carry, int lane)
{
  unsigned total = p.x + p.y + p.z + p.w, sum = total;

  for (int d = 1; d < 32; d *= 2) {
    unsigned left = __shfl_up_sync (~0u, sum, d);

    sum += lane >= d ? left : 0;
  }
  uint4 out;
  out.x = *carry + sum - total;
  out.y = out.x + p.x;
  out.z = out.y + p.y;
  out.w = out.z + p.z;
  *carry += __shfl_sync (~0u, sum, 31);
  return out;
}

// One warp per integral row: the running sums of the level's row above it. Row
// 0 is zero.
template <typename Sum, bool with_squares>
static __global__ void
row_kernel (Sources sources, const CuvPyramidLevel *levels, int n_levels,
    int n_rows, const uint32_t *taps, Sum *sums, uint32_t *squares)
{
  int row = blockIdx.x * ROW_WARPS + threadIdx.y, lane = threadIdx.x;
  unsigned carry = 0, square_carry = 0;

  if (row >= n_rows)
    return;
  const CuvPyramidLevel &level = levels[level_of_row (levels, n_levels, row)];
  const uint32_t *x_taps = taps + level.first_tap;
  const int width = level.plan.width, y = row - level.first_row;
  const uint32_t y_tap = x_taps[cuv_row_taps_at (width) + max (y - 1, 0)];
  const Source source = sources.of (levels, level);
  const bool split = cuv_is_split (level);
  const int64_t at = level.first + (int64_t) y * level.pitch;

  for (int base = 0; base <= width; base += 128) {
    int x = base + 4 * lane;
    uint4 p = make_uint4 (0, 0, 0, 0);

    if (x < width && y > 0)
      p = resample (source, x_taps, y_tap, x, width);
    uint4 s = running_sums (p, &carry, lane);
    if (x <= width)
      store_four (sums + at, split, level.pitch / 2, x, s);
    if (with_squares) {
      p = make_uint4 (p.x * p.x, p.y * p.y, p.z * p.z, p.w * p.w);
      s = running_sums (p, &square_carry, lane);
      if (x <= width)
        store_four (squares + at, split, level.pitch / 2, x, s);
    }
  }
}

template <typename Sum>
static __device__ uint32_t
add_words (uint32_t a, uint32_t b)
{
  return sizeof (Sum) == 2 ? __vadd2 (a, b) : a + b;
}

// One thread per word of a strip of rows, of one or two elements; a strip's
// sums lie where a row of an integral would, the strips of a level one after
// another.
struct Column {
  uint32_t *top;   // the strip's first row, pitch apart
  uint32_t *strip; // of the level's first strip, pitch apart
  int pitch, rows; // in words
  bool inside;

  __device__
  Column (const CuvTile &tile, const CuvPyramidLevel &level, int sum_size,
      void *sums, uint32_t *strips)
  {
    int x = tile.x + threadIdx.x, y = tile.y * CUV_STRIP;

    pitch = level.pitch * sum_size / 4;
    rows = min (CUV_STRIP, level.plan.height - y);
    top = (uint32_t *) sums + level.first * sum_size / 4
        + (int64_t) (y + 1) * pitch + x;
    strip = strips + level.first * sum_size / 4 / CUV_STRIP + x;
    inside = x < pitch;
  }
};

template <typename Sum>
static __global__ void
strip_kernel (const CuvTile *tiles, const CuvPyramidLevel *levels, void *sums,
    uint32_t *strips)
{
  const CuvTile tile = tiles[blockIdx.x];
  Column column (tile, levels[tile.level], sizeof (Sum), sums, strips);
  uint32_t sum = 0;

  if (!column.inside)
    return;
#pragma unroll 8
  for (int y = 0; y < column.rows; y++)
    sum = add_words<Sum> (sum, column.top[(int64_t) y * column.pitch]);
  column.strip[(int64_t) tile.y * column.pitch] = sum;
}

template <typename Sum>
static __global__ void
column_kernel (const CuvTile *tiles, const CuvPyramidLevel *levels, void *sums,
    uint32_t *strips)
{
  const CuvTile tile = tiles[blockIdx.x];
  Column column (tile, levels[tile.level], sizeof (Sum), sums, strips);
  uint32_t sum = 0;

  if (!column.inside)
    return;
#pragma unroll 4
  for (int s = 0; s < tile.y; s++)
    sum = add_words<Sum> (sum, column.strip[(int64_t) s * column.pitch]);
#pragma unroll 8
  for (int y = 0; y < column.rows; y++) {
    uint32_t *at = column.top + (int64_t) y * column.pitch;

    sum = add_words<Sum> (sum, *at);
    *at = sum;
  }
}

// ---- tilted integral images: two sweeps along diagonals ----
//
// T (x, y) sums the pixels of the cone above (x, y), at 45 degrees: row y - 1's
// pixel x - 1, row y - 2's x - 2 to x, and so on. With A (i, j) = I (i, j) +
// A (i + 1, j - 1), the running sum down to the left,
// T (x, y) = T (x - 1, y - 1) + A (x - 1, y - 1) + A (x - 1, y - 2).
// A line that has left the picture on the left keeps its sum.

// One thread per line down to the left.
static __global__ void
antidiagonal_kernel (const CuvTile *tiles, const CuvPyramidLevel *levels,
    const uint8_t *pictures, uint32_t *diagonal)
{
  const CuvTile tile = tiles[blockIdx.x];
  const CuvPyramidLevel &level = levels[tile.level];
  const int width = level.plan.width, height = level.plan.height;
  int line = tile.x + threadIdx.x;
  uint32_t sum = 0;

  for (int j = max (0, line - width + 1); j <= min (line, height - 1); j++) {
    int i = line - j;

    sum += pictures[level.picture + (int64_t) j * level.picture_pitch + i];
    diagonal[level.first + (int64_t) j * level.pitch + i] = sum;
  }
}

static __device__ uint32_t
line_sum (const uint32_t *diagonal, const CuvPyramidLevel &level, int i, int j)
{
  if (i < 0) {
    j += i;
    i = 0;
  }
  return j < 0 || i >= level.plan.width
      ? 0
      : diagonal[level.first + (int64_t) j * level.pitch + i];
}

// One thread per line down to the right, those that begin left of the picture
// too.
static __global__ void
diagonal_kernel (const CuvTile *tiles, const CuvPyramidLevel *levels,
    const uint32_t *diagonal, uint32_t *tilted)
{
  const CuvTile tile = tiles[blockIdx.x];
  const CuvPyramidLevel &level = levels[tile.level];
  const int width = level.plan.width, height = level.plan.height;
  const bool split = cuv_is_split (level);
  int start = tile.x + (int) threadIdx.x - height;
  uint32_t sum = 0;

  if (start > width)
    return;
  for (int y = 0; y <= min (height, width - start); y++) {
    int x = start + y;

    if (y > 0)
      sum += line_sum (diagonal, level, x - 1, y - 1)
          + line_sum (diagonal, level, x - 1, y - 2);
    if (x >= 0)
      tilted[level.first + (int64_t) y * level.pitch
          + cuv_integral_column (split, level.pitch / 2, x)] = sum;
  }
}

// ---- launchers ----

static int
make_pictures (CuvPyramid *self, const Sources &sources, cudaStream_t stream)
{
  const CuvTile *tiles = self->table<CuvTile> (self->picture_tiles_at);

  for (size_t d = 0; d + 1 < self->picture_tiles.size (); d++) {
    int first = self->picture_tiles[d], n = self->picture_tiles[d + 1] - first;

    if (n == 0)
      continue;
    picture_kernel<<<n, dim3 (CUV_PICTURE_X / 4, CUV_PICTURE_Y), 0, stream>>> (
        tiles + first, self->levels (), sources,
        self->table<uint32_t> (self->taps_at), (uint8_t *) self->pictures.data);
    CUV_CUDA_LAUNCHED (picture_kernel);
  }
  return 0;
}

template <typename Sum>
static int
sum_columns (CuvPyramid *self, void *sums, cudaStream_t stream)
{
  const CuvTile *tiles = self->table<CuvTile> (self->strip_tiles_at);
  uint32_t *strips = (uint32_t *) self->strips.data;

  strip_kernel<Sum><<<self->n_strip_tiles, CUV_COLUMNS, 0, stream>>> (
      tiles, self->levels (), sums, strips);
  CUV_CUDA_LAUNCHED (strip_kernel);
  column_kernel<Sum><<<self->n_strip_tiles, CUV_COLUMNS, 0, stream>>> (
      tiles, self->levels (), sums, strips);
  CUV_CUDA_LAUNCHED (column_kernel);
  return 0;
}

template <typename Sum, bool with_squares>
static int
make_sums (CuvPyramid *self, const Sources &sources, cudaStream_t stream)
{
  row_kernel<Sum, with_squares><<<cuv_div_up (self->n_rows, ROW_WARPS),
      dim3 (32, ROW_WARPS), 0, stream>>> (sources, self->levels (),
      self->n_levels, self->n_rows, self->table<uint32_t> (self->taps_at),
      (Sum *) self->sums.data, (uint32_t *) self->squares.data);
  CUV_CUDA_LAUNCHED (row_kernel);
  if (sum_columns<Sum> (self, self->sums.data, stream) != 0)
    return -1;
  return with_squares ? sum_columns<uint32_t> (self, self->squares.data, stream)
                      : 0;
}

static int
make_tilted (CuvPyramid *self, cudaStream_t stream)
{
  const CuvTile *tiles = self->table<CuvTile> (self->diagonals_at);
  uint32_t *diagonal = (uint32_t *) self->diagonal.data;

  antidiagonal_kernel<<<self->n_diagonal_tiles, CUV_DIAGONALS, 0, stream>>> (
      tiles, self->levels (), (const uint8_t *) self->pictures.data, diagonal);
  CUV_CUDA_LAUNCHED (antidiagonal_kernel);
  diagonal_kernel<<<self->n_diagonal_tiles, CUV_DIAGONALS, 0, stream>>> (
      tiles, self->levels (), diagonal, (uint32_t *) self->tilted.data);
  CUV_CUDA_LAUNCHED (diagonal_kernel);
  return 0;
}

int
cuv_pyramid_submit (
    CuvPyramid *self, const CuvFrame *frame, cudaStream_t stream)
{
  const CuvComponent *y = &frame->component[0];
  Sources sources = { { (const uint8_t *) self->grey.data, self->width },
    (const uint8_t *) self->pictures.data };

  if (frame->model != CUV_MODEL_RGB && y->step == 1) {
    sources.frame = Source{ y->data, (int) y->stride };
  } else {
    dim3 block (32, 8);
    dim3 grid (cuv_div_up (self->width, 32), cuv_div_up (self->height, 8));

    grey_kernel<<<grid, block, 0, stream>>> (
        *frame, (uint8_t *) self->grey.data);
    CUV_CUDA_LAUNCHED (grey_kernel);
  }
  if (make_pictures (self, sources, stream) != 0)
    return -1;
  if (self->needs.sums) {
    int status = self->needs.narrow
        ? make_sums<uint16_t, false> (self, sources, stream)
        : self->needs.squares
        ? make_sums<uint32_t, true> (self, sources, stream)
        : make_sums<uint32_t, false> (self, sources, stream);

    if (status != 0)
      return -1;
  }
  return self->needs.tilted ? make_tilted (self, stream) : 0;
}
