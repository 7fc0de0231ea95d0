// SPDX-License-Identifier: LGPL-2.1-or-later
// The pyramid of a frame: integral images, tilted ones, and all launches.
#include <string.h>
#include <type_traits>
#include "waldboost/pictures.cuh"
#include "waldboost/pyramid.cuh"

#define WARPS 8                  // per block of the integral kernel
#define ROWS (CUV_STRIP / WARPS) // per warp: four; pictures are padded to fours
#define CHUNK 128                // columns at a time, 4 per lane

// ---- integral images ----
//
// A block processes a strip of CUV_STRIP rows, each of its warps ROWS rows. The
// sum of a column down to a row is that of whole strips above, which the
// picture kernel has computed, of rows of other warps and of the warp's own.
// The inclusive scan of these column sums along the row is the next row of the
// integral image.

// Column sums exchanged between the warps: slot w holds the sum over every
// WARPS-th strip above, from strip w on; slot WARPS + w the same plus the rows
// of warp w. So the WARPS slots from w on sum to all that is above the rows of
// warp w.
using Columns = uint4[2 * WARPS][32];

static __device__ uint4
add (uint4 a, uint4 b)
{
  return make_uint4 (a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

// Exclusive scan of four columns per lane; carry is the sum of the previous
// chunks.
static __device__ uint4
scan_columns (uint4 p, unsigned *carry)
{
  const unsigned total = p.x + p.y + p.z + p.w,
                 sum = cuv_inclusive_scan (total);
  uint4 out;

  out.x = *carry + sum - total;
  out.y = out.x + p.x;
  out.z = out.y + p.y;
  out.w = out.z + p.z;
  *carry += __shfl_sync (~0u, sum, 31);
  return out;
}

static __device__ void
store_two (uint16_t *to, uint32_t a, uint32_t b)
{
  *(uint32_t *) to = __byte_perm (a, b, 0x5410);
}

template <typename Sum>
static __device__ void
store_two (Sum *to, uint32_t a, uint32_t b)
{
  static_assert (sizeof (Sum) == sizeof a, "a word");
  *(uint2 *) to = make_uint2 (a, b);
}

// Four pixels of a row, a byte each; for CuvPair also those of the second
// window.
template <typename Sum> struct Four {
  uint32_t pixels;

  __device__ void
  read (const uint8_t *row, int x, int, int)
  {
    pixels = __ldg ((const uint32_t *) (row + x));
  }

  __device__ uint4
  values () const
  {
    return make_uint4 (__byte_perm (pixels, 0, 0x4440),
        __byte_perm (pixels, 0, 0x4441), __byte_perm (pixels, 0, 0x4442),
        __byte_perm (pixels, 0, 0x4443));
  }
};

template <> struct Four<CuvPair> {
  uint32_t pixels, others;

  __device__ void
  read (const uint8_t *row, int x, int apart, int width)
  {
    pixels = __ldg ((const uint32_t *) (row + x));
    if (x + apart < width)
      others = __ldg ((const uint32_t *) (row + x + apart));
  }

  __device__ uint4
  values () const
  {
    const uint32_t mask = 0xff00ff;

    return make_uint4 (__byte_perm (pixels, others, 0x0400) & mask,
        __byte_perm (pixels, others, 0x0501) & mask,
        __byte_perm (pixels, others, 0x0602) & mask,
        __byte_perm (pixels, others, 0x0703) & mask);
  }
};

// A warp's rows of an integral image.
template <typename Sum, bool squared> struct WarpRows {
  static const bool paired = std::is_same<Sum, CuvPair>::value;
  const bool split, top; // columns are split; the first row is the picture's
  const int warp, lane, pitch, width;
  const int apart; // columns between the windows of a pair
  const uint32_t
      *strips; // sums of the level's first strip, at the lane's columns
  Sum *image;  // element above the first row, at these columns
  unsigned carry[ROWS] = {};

  __device__
  WarpRows (const CuvPyramidLevel &level, int first_row,
      const uint32_t *all_strips, Sum *images)
      : split (cuv_is_split (level)), top (first_row == 0),
        warp (cuv_warp_of_thread ()), lane (threadIdx.x % 32),
        pitch (level.pitch), width (level.plan.width),
        apart (CUV_PAIR_X * level.plan.step),
        strips (all_strips + cuv_strip_sums_at (level, 0) + 4 * lane),
        image (images + level.first + (int64_t) first_row * pitch
            + (split ? 2 : 4) * lane)
  {
  }

  static __device__ uint4
  values (const Four<Sum> &four)
  {
    const uint4 v = four.values ();

    return squared ? make_uint4 (v.x * v.x, v.y * v.y, v.z * v.z, v.w * v.w)
                   : v;
  }

  // Reads four columns of the warp's rows, 0 right of the picture.
  __device__ void
  read (Four<Sum> pixels[ROWS], const uint8_t *picture, int picture_pitch,
      int x) const
  {
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
      pixels[i] = {};
      if (x < width)
        pixels[i].read (picture + i * picture_pitch, x, apart, width);
    }
  }

  // x: the lane's first column. Two strips are read at a time.
  __device__ uint4
  sum_of_strips (int n, int x) const
  {
    const bool has_pair = paired && x + apart < width;
    uint4 sum = make_uint4 (0, 0, 0, 0);

#pragma unroll 1
    for (int s = warp; s < n; s += 2 * WARPS) {
      const uint32_t *strip = strips + (int64_t) s * pitch;
      const uint32_t *other = strip + (int64_t) WARPS * pitch;
      const bool has_other = s + WARPS < n;
      uint4 v[4] = {};

      v[0] = __ldg ((const uint4 *) strip);
      if (has_other)
        v[1] = __ldg ((const uint4 *) other);
      if (has_pair)
        v[2] = __ldg ((const uint4 *) (strip + apart));
      if (has_pair && has_other)
        v[3] = __ldg ((const uint4 *) (other + apart));
      sum = add (sum, add (v[0], v[1]));
      if (paired)
        sum = add (sum, upper (add (v[2], v[3])));
    }
    return sum;
  }

  static __device__ uint4
  upper (uint4 v)
  {
    return make_uint4 (v.x << 16, v.y << 16, v.z << 16, v.w << 16);
  }

  // Publishes the warp's part of the sums of the n_strips strips above, without
  // and with its rows.
  __device__ void
  publish (const Four<Sum> pixels[ROWS], int n_strips, int x, Columns columns)
  {
    uint4 sum = sum_of_strips (n_strips, x);

    columns[warp][lane] = sum;
#pragma unroll
    for (int i = 0; i < ROWS; i++)
      sum = add (sum, values (pixels[i]));
    columns[WARPS + warp][lane] = sum;
    strips += CHUNK;
  }

  // Stores a row's elements of the lane's columns; split: even columns first.
  __device__ void
  store (int row, uint4 v) const
  {
    Sum *to = image + row * pitch;

    store_two (to, v.x, split ? v.z : v.y);
    store_two (to + (split ? pitch / 2 : 2), split ? v.y : v.z, v.w);
  }

  // Writes n_rows rows, after all warps have called publish().
  __device__ void
  write (const Four<Sum> pixels[ROWS], int n_rows, const Columns columns)
  {
    uint4 sum = make_uint4 (0, 0, 0, 0), out[ROWS];

    if (top && n_rows > 0)
      store (0, sum); // row 0 of an integral image
#pragma unroll
    for (int w = 0; w < WARPS; w++)
      sum = add (sum, columns[warp + w][lane]);
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
      sum = add (sum, values (pixels[i]));
      out[i] = scan_columns (sum, &carry[i]);
    }
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
      if (i < n_rows)
        store (i + 1, out[i]);
    }
    image += split ? CHUNK / 2 : CHUNK;
  }
};

// A strip of an integral image, one chunk of columns after the other.
template <typename Sum, bool squared>
static __device__ __forceinline__ void
make_strip (const CuvPyramidLevel &level, int strip, const uint8_t *pictures,
    const uint32_t *strip_sums, Sum *images, Columns columns[2])
{
  const int width = level.plan.width, pitch = level.picture_pitch;
  const int first = strip * CUV_STRIP + cuv_warp_of_thread () * ROWS;
  const int n_rows = level.plan.height - first; // the warp may have fewer
  const uint8_t *picture = pictures + level.picture + (int64_t) first * pitch;
  WarpRows<Sum, squared> rows (level, first, strip_sums, images);

  Four<Sum> pixels[ROWS] = {}, next[ROWS] = {};
  int x = 4 * (threadIdx.x % 32);

  if (n_rows > 0)
    rows.read (pixels, picture, pitch, x);
  for (int base = 0; base <= width; base += CHUNK, x += CHUNK) {
    rows.publish (pixels, x < width ? strip : 0, x, columns[base / CHUNK % 2]);
    if (n_rows > 0) // in advance: it takes as long as the rest
      rows.read (next, picture, pitch, x + CHUNK);
    __syncthreads ();
    rows.write (pixels, x <= width ? n_rows : 0, columns[base / CHUNK % 2]);
    memcpy (pixels, next, sizeof next);
  }
}

// Grid: strips; with squares two blocks per strip, the second for the squares.
// Shared memory: column sums exchanged between warps.
template <typename Sum, bool with_squares>
static __global__ void __launch_bounds__ (32 * WARPS, 3)
    integral_kernel (const CuvTile *tiles, const CuvPyramidLevel *levels,
        const uint8_t *pictures, const uint32_t *strip_sums,
        const uint32_t *strip_squares, Sum *sums, uint32_t *squares)
{
  // double buffer: one is written while the other may still be read
  __shared__ Columns columns[2];
  const CuvTile tile = tiles[blockIdx.x / (1 + with_squares)];
  const CuvPyramidLevel level = levels[tile.level];

  if (with_squares && blockIdx.x % 2 != 0)
    make_strip<uint32_t, true> (
        level, tile.y, pictures, strip_squares, squares, columns);
  else
    make_strip<Sum, false> (level, tile.y, pictures, strip_sums, sums, columns);
}

// ---- tilted integral images: two sweeps along diagonals ----
//
// T (x, y) sums the pixels of the cone above (x, y), at 45 degrees: row y - 1's
// pixel x - 1, row y - 2's x - 2 to x, and so on. With A (i, j) = I (i, j) +
// A (i + 1, j - 1), the prefix sum down to the left,
// T (x, y) = T (x - 1, y - 1) + A (x - 1, y - 1) + A (x - 1, y - 2).
// Left of the picture, a line keeps its last sum.

// A: one thread per line running down to the left. Grid: tiles of lines.
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

// A (i, j), also left of the picture.
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

// T: one thread per line running down to the right, including those that start
// left of the picture. Grid: tiles of lines.
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

// Sets *source to the frame's grey plane if its layout allows, else to a copy,
// turned or not.
static int
prepare_source (CuvPyramid *self, const CuvFrame *frame, CuvSource *source,
    cudaStream_t stream)
{
  const CuvComponent *y = &frame->component[0];
  const bool words = ((uintptr_t) y->data | y->stride | self->width) % 4 == 0;

  if (self->turn.degrees == 0 && frame->model != CUV_MODEL_RGB && y->step == 1
      && words && self->width >= 12 && self->height >= 2) {
    *source = CuvSource{ y->data, (int) y->stride, self->width };
    return 0;
  }
  const int pitch = self->grey_pitch ();
  uint8_t *grey = self->image<uint8_t> (CUV_GREY);
  dim3 block (32, 8);
  dim3 grid (cuv_div_up (self->width, 32), cuv_div_up (self->height, 8));

  *source = CuvSource{ grey, pitch, pitch };
  if (self->turn.degrees != 0) {
    cuv_turned_grey_kernel<<<grid, block, 0, stream>>> (
        *frame, self->turn, grey, pitch);
    CUV_CUDA_LAUNCHED (cuv_turned_grey_kernel);
    return 0;
  }
  cuv_grey_kernel<<<grid, block, 0, stream>>> (*frame, grey, pitch);
  CUV_CUDA_LAUNCHED (cuv_grey_kernel);
  return 0;
}

static int
make_halves (CuvPyramid *self, const CuvSource &frame, cudaStream_t stream)
{
  const CuvWaldboostLevel &first =
      self->host_levels[self->halves.level[0]].plan;
  dim3 grid (cuv_div_up (first.width, CUV_HALVES),
      cuv_div_up (first.height, CUV_HALVES));

  cuv_halves_kernel<<<grid, CUV_HALVES * CUV_HALVES, 0, stream>>> (self->halves,
      self->levels (), frame, self->image<uint8_t> (CUV_PICTURES));
  CUV_CUDA_LAUNCHED (cuv_halves_kernel);
  return 0;
}

template <int powers>
static int
make_pictures (CuvPyramid *self, const CuvSource &frame, cudaStream_t stream)
{
  const CuvTile *tiles = self->table<CuvTile> (self->picture_tiles_at);
  const CuvPictures pictures = { self->levels (),
    self->table<uint32_t> (self->taps_at), frame, self->needs.picture_rows (),
    self->image<uint8_t> (CUV_PICTURES), self->image<uint32_t> (CUV_STRIP_SUMS),
    self->image<uint32_t> (CUV_STRIP_SQUARES) };

  for (size_t d = 0; d + 1 < self->picture_tiles.size (); d++) {
    int first = self->picture_tiles[d], n = self->picture_tiles[d + 1] - first;

    if (n == 0)
      continue; // all levels of this depth are halves
    cuv_picture_kernel<powers>
        <<<n, CUV_PICTURE_THREADS, 0, stream>>> (tiles + first, pictures);
    CUV_CUDA_LAUNCHED (cuv_picture_kernel);
  }
  return 0;
}

template <typename Sum, bool with_squares>
static int
make_sums (CuvPyramid *self, CuvLevels levels, cudaStream_t stream)
{
  const int first = levels == CUV_OTHER_LEVELS ? self->n_split_strips : 0;
  const int end =
      levels == CUV_SPLIT_LEVELS ? self->n_split_strips : self->n_strips;

  integral_kernel<Sum, with_squares>
      <<<(1 + with_squares) * (end - first), 32 * WARPS, 0, stream>>> (
          self->table<CuvTile> (self->strip_tiles_at) + first, self->levels (),
          self->image<const uint8_t> (CUV_PICTURES),
          self->image<const uint32_t> (CUV_STRIP_SUMS),
          self->image<const uint32_t> (CUV_STRIP_SQUARES),
          self->image<Sum> (CUV_SUMS), self->image<uint32_t> (CUV_SQUARES));
  CUV_CUDA_LAUNCHED (integral_kernel);
  return 0;
}

static int
make_tilted (CuvPyramid *self, cudaStream_t stream)
{
  const CuvTile *tiles = self->table<CuvTile> (self->diagonals_at);
  uint32_t *diagonal = self->image<uint32_t> (CUV_DIAGONAL);

  antidiagonal_kernel<<<self->n_diagonal_tiles, CUV_DIAGONALS, 0, stream>>> (
      tiles, self->levels (), self->image<const uint8_t> (CUV_PICTURES),
      diagonal);
  CUV_CUDA_LAUNCHED (antidiagonal_kernel);
  diagonal_kernel<<<self->n_diagonal_tiles, CUV_DIAGONALS, 0, stream>>> (
      tiles, self->levels (), diagonal, self->image<uint32_t> (CUV_TILTED));
  CUV_CUDA_LAUNCHED (diagonal_kernel);
  return 0;
}

int
cuv_pyramid_submit_pictures (
    CuvPyramid *self, const CuvFrame *frame, cudaStream_t stream)
{
  CuvSource source;

  if (prepare_source (self, frame, &source, stream) != 0
      || (self->halves.n > 0 && make_halves (self, source, stream) != 0))
    return -1;
  return self->needs.squares ? make_pictures<2> (self, source, stream)
      : self->needs.sums     ? make_pictures<1> (self, source, stream)
                             : make_pictures<0> (self, source, stream);
}

int
cuv_pyramid_submit_integrals (
    CuvPyramid *self, CuvLevels levels, cudaStream_t stream)
{
  const CuvPyramidNeeds &needs = self->needs;

  if (needs.sums) {
    const auto make = needs.narrow ? make_sums<uint16_t, false>
        : needs.paired             ? make_sums<CuvPair, false>
        : needs.squares            ? make_sums<uint32_t, true>
                                   : make_sums<uint32_t, false>;

    if (make (self, levels, stream) != 0)
      return -1;
  }
  return needs.tilted ? make_tilted (self, stream) : 0;
}
