// SPDX-License-Identifier: LGPL-2.1-or-later
#include <string.h>
#include "waldboost/pyramid.cuh"

#define STRIP_WARPS 8
#define STRIP_THREADS (32 * STRIP_WARPS)
#define CHUNK 128 // columns at a time, 4 a thread of a warp

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

// ---- integral images ----
//
// A block has a strip of rows. One kernel finds, for each column, the sum of
// the strip's pixels left of it. The other adds those of the strips above to
// the sums of its own rows, so that the images themselves are only written.

// The pixels of a strip.
struct Strip {
  const CuvPyramidLevel &level;
  const Source source;
  const uint32_t *taps;
  const int first, rows;

  __device__
  Strip (const CuvTile &tile, const CuvPyramidLevel *levels,
      const Sources &sources, const uint32_t *all_taps)
      : level (levels[tile.level]), source (sources.of (levels, level)),
        taps (all_taps + level.first_tap), first (tile.y * CUV_STRIP),
        rows (min (CUV_STRIP, level.plan.height - first))
  {
  }

  // Those of columns x .. x + 3; those outside are 0.
  __device__ uint4
  pixels (int x, int row) const
  {
    const int width = level.plan.width;

    if (x >= width || row >= rows)
      return make_uint4 (0, 0, 0, 0);
    return resample (
        source, taps, taps[cuv_row_taps_at (width) + first + row], x, width);
  }

  // Where the sums of all strips of the level are.
  __device__ int64_t
  sums_at () const
  {
    return level.first / CUV_STRIP;
  }
};

static __device__ uint4
add (uint4 a, uint4 b)
{
  return make_uint4 (a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

static __device__ uint4
squared (uint4 p)
{
  return make_uint4 (p.x * p.x, p.y * p.y, p.z * p.z, p.w * p.w);
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

// The same of a row that the block goes along.
static __device__ uint4
running_sums_of_block (uint4 p, unsigned *carry)
{
  __shared__ unsigned totals[STRIP_WARPS];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  unsigned total = 0, before = *carry;
  uint4 sums = running_sums (p, &total, lane);

  __syncthreads (); // the totals before have been read
  if (lane == 0)
    totals[warp] = total;
  __syncthreads ();
  for (int w = 0; w < STRIP_WARPS; w++) {
    before += w < warp ? totals[w] : 0;
    *carry += totals[w];
  }
  return add (sums, make_uint4 (before, before, before, before));
}

// Block: a strip. The sums of its pixels, and of their squares, left of each
// column.
template <bool with_squares>
static __global__ void
__launch_bounds__ (STRIP_THREADS) strip_kernel (const CuvTile *tiles,
    const CuvPyramidLevel *levels, Sources sources, const uint32_t *taps,
    uint32_t *sums, uint32_t *squares)
{
  const CuvTile tile = tiles[blockIdx.x];
  const Strip strip (tile, levels, sources, taps);
  const int width = strip.level.plan.width;
  const int64_t at = strip.sums_at () + (int64_t) tile.y * strip.level.pitch;
  unsigned carry = 0, square_carry = 0;

  for (int base = 0; base <= width; base += 4 * STRIP_THREADS) {
    const int x = base + 4 * threadIdx.x;
    uint4 sum = make_uint4 (0, 0, 0, 0), square = sum;

#pragma unroll 4
    for (int row = 0; row < strip.rows; row++) {
      const uint4 p = strip.pixels (x, row);

      sum = add (sum, p);
      if (with_squares)
        square = add (square, squared (p));
    }
    sum = running_sums_of_block (sum, &carry);
    if (with_squares)
      square = running_sums_of_block (square, &square_carry);
    if (x <= width) {
      *(uint4 *) (sums + at + x) = sum;
      if (with_squares)
        *(uint4 *) (squares + at + x) = square;
    }
  }
}

// A thread's column of a chunk of a strip: to the sums of the strips above it
// adds those of the strip's rows one after another.
template <typename Sum>
static __device__ __forceinline__ void
sum_column (const Strip &strip, int strip_row, int x, const uint32_t *strips,
    const uint32_t *rows, Sum *image)
{
  const CuvPyramidLevel &level = strip.level;
  const int column =
      cuv_integral_column (cuv_is_split (level), level.pitch / 2, x);
  Sum *at =
      image + level.first + column + (int64_t) (strip.first + 1) * level.pitch;
  uint32_t sum = 0;

  if (strip_row == 0)
    at[-level.pitch] = 0; // nothing is above row 0
#pragma unroll 4
  for (int s = 0; s < strip_row; s++)
    sum += strips[strip.sums_at () + (int64_t) s * level.pitch + x];
#pragma unroll 8
  for (int row = 0; row < strip.rows; row++, at += level.pitch) {
    sum += rows[row * CHUNK];
    *at = (Sum) sum;
  }
}

// Block: a strip. Its warps go along its rows, and for each chunk of columns
// its threads down them; neighbours write neighbouring elements.
template <typename Sum, bool with_squares>
static __global__ void
__launch_bounds__ (STRIP_THREADS)
    integral_kernel (const CuvTile *tiles, const CuvPyramidLevel *levels,
        Sources sources, const uint32_t *taps, const uint32_t *strip_sums,
        const uint32_t *strip_squares, Sum *sums, uint32_t *squares)
{
  const int rows = CUV_STRIP / STRIP_WARPS;
  // of pixels, and of their squares
  __shared__ uint4 running[1 + with_squares][CUV_STRIP][CHUNK / 4];
  const CuvTile tile = tiles[blockIdx.x];
  const Strip strip (tile, levels, sources, taps);
  const int width = strip.level.plan.width;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int image = threadIdx.x / CHUNK, k = threadIdx.x % CHUNK;
  const int column =
      cuv_is_split (strip.level) ? k % (CHUNK / 2) * 2 + k / (CHUNK / 2) : k;
  unsigned carry[rows] = {}, square_carry[rows] = {};

  for (int base = 0; base <= width; base += CHUNK) {
    const int x = base + column;

    __syncthreads (); // the chunk before has been read
#pragma unroll
    for (int i = 0; i < rows; i++) {
      const int row = warp + i * STRIP_WARPS;
      const uint4 p = strip.pixels (base + 4 * lane, row);

      running[0][row][lane] = running_sums (p, &carry[i], lane);
      if (with_squares)
        running[with_squares][row][lane] =
            running_sums (squared (p), &square_carry[i], lane);
    }
    __syncthreads ();
    if (x <= width && image == 0)
      sum_column (strip, tile.y, x, strip_sums,
          (const uint32_t *) running[0] + column, sums);
    else if (x <= width && with_squares)
      sum_column (strip, tile.y, x, strip_squares,
          (const uint32_t *) running[with_squares] + column, squares);
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

template <typename Sum, bool with_squares>
static int
make_sums (CuvPyramid *self, const Sources &sources, cudaStream_t stream)
{
  const CuvTile *tiles = self->table<CuvTile> (self->strip_tiles_at);
  const uint32_t *taps = self->table<uint32_t> (self->taps_at);
  uint32_t *sums = (uint32_t *) self->strip_sums.data;
  uint32_t *squares = (uint32_t *) self->strip_squares.data;

  strip_kernel<with_squares><<<self->n_strips, STRIP_THREADS, 0, stream>>> (
      tiles, self->levels (), sources, taps, sums, squares);
  CUV_CUDA_LAUNCHED (strip_kernel);
  integral_kernel<Sum, with_squares>
      <<<self->n_strips, STRIP_THREADS, 0, stream>>> (tiles, self->levels (),
          sources, taps, sums, squares, (Sum *) self->sums.data,
          (uint32_t *) self->squares.data);
  CUV_CUDA_LAUNCHED (integral_kernel);
  return 0;
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
