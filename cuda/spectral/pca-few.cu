// SPDX-License-Identifier: LGPL-2.1-or-later
// Passes over integers of up to 31 bands. A warp has all of the sums, and its
// own steps through the image, of which it fetches some ahead; nothing waits
// for another warp until the end. Pictures are products of bytes, too: of
// samples and the digits of gains.
#include <algorithm>
#include "spectral/pca-bytes.cuh"
#include "spectral/pca-fixed.cuh"
#include "spectral/pca-sums.cuh"

#define FEW_STAGES 4
#define DIGITS 6     // of gains, to base 256, from -128 to 127
#define COUNTS 31    // the slot that is 1 in pixels that count
#define GAIN_BITS 46 // of gains times samples' bytes

template <CuvCubeFormat F> struct Few {
  static constexpr int size = F == CUV_CUBE_U16 ? 2 : 1;
  static constexpr int step = 64 / size;            // pixels
  static constexpr int warps = size == 1 ? 24 : 16; // as registers allow
  typedef typename CuvPcaSample<F>::Type Sample;
  typedef CuvPcaBytes<size> Bytes;
};

// ---- steps through the image ----

// A warp's steps: every n-th of the image's, forwards or backwards. Rows have
// `across` of them.
struct Walk {
  int left, y, x; // the x-th of row y; left: steps to the end, as they are made

  __device__ __forceinline__
  Walk (const CuvPcaPass &pass, int first)
  {
    const int t = pass.backwards ? pass.n_tiles - 1 - first : first;

    left = pass.n_tiles - first;
    y = t / pass.tiles_across;
    x = t - y * pass.tiles_across;
  }

  __device__ __forceinline__ CuvPcaSpot
  spot (const CuvPcaPass &pass) const
  {
    const int first = x * pass.pixels;

    return { y, first, min (pass.pixels, pass.width - first) };
  }
};

// To a warp's next step.
struct Stride {
  int n, dy, dx, across, row;

  __device__ __forceinline__
  Stride (const CuvPcaPass &pass, int warps)
  {
    const int sign = pass.backwards ? -1 : 1;

    n = warps;
    row = sign;
    across = sign * pass.tiles_across;
    dy = sign * (n / pass.tiles_across);
    dx = sign * (n % pass.tiles_across);
  }

  __device__ __forceinline__ void
  go_on (const CuvPcaPass &pass, Walk *walk) const
  {
    walk->left -= n;
    walk->y += dy;
    walk->x += dx;
    if ((unsigned) walk->x >= (unsigned) pass.tiles_across) {
      walk->x -= across;
      walk->y += row;
    }
  }
};

// Where a step's bytes are, from the image's first on.
static __device__ __forceinline__ int64_t
step_at (const CuvPcaPass &pass, const CuvPcaSpot &spot)
{
  return (int64_t) spot.y * (int) pass.cube.row_step
      + (int64_t) spot.first * (int) pass.cube.pixel_step;
}

// A unit of which some samples are beyond the end.
template <CuvCubeFormat F>
static __device__ __forceinline__ void
fetch_rest (uint8_t *to, const uint8_t *from, int bytes)
{
  typedef typename Few<F>::Sample Sample;

#pragma unroll 1
  for (int i = 0; i < bytes; i += Few<F>::size)
    *(Sample *) (to + i) = __ldg ((const Sample *) (from + i));
}

// What a lane fetches: packed every 32nd unit of 16 bytes, planar one of each
// of its four bands, which nobody else reads.
template <CuvCubeFormat F, bool PACKED> struct Source {
  static constexpr int n = PACKED ? 1 : GROUPS;

  const uint8_t *from[n]; // null: there is no such band

  __device__ __forceinline__
  Source (const CuvPcaPass &pass)
  {
    const int lane = threadIdx.x % 32;

#pragma unroll
    for (int g = 0; g < n; g++) {
      const int band = cuv_pca_band_of_row (g, lane / 4);

      if (PACKED)
        from[g] = pass.cube.data + pass.low + 16 * lane;
      else
        from[g] = band < pass.bands.n ? pass.cube.data
                + pass.bands.index[band] * pass.cube.band_step + lane % 4 * 16
                                      : nullptr;
    }
  }

  __device__ __forceinline__ void
  fetch_packed (
      const CuvPcaPass &pass, const CuvPcaSpot &spot, uint8_t *stage) const
  {
    const int lane = threadIdx.x % 32;
    const uint8_t *unit = from[0] + step_at (pass, spot);
    int bytes =
        (spot.count - 1) * (int) pass.cube.pixel_step + pass.span - 16 * lane;

    stage += 16 * lane;
#pragma unroll 1
    for (; bytes >= 16; bytes -= 512, stage += 512, unit += 512)
      __pipeline_memcpy_async (stage, unit, 16);
    fetch_rest<F> (stage, unit, bytes);
  }

  __device__ __forceinline__ void
  fetch_planar (
      const CuvPcaPass &pass, const CuvPcaSpot &spot, uint8_t *stage) const
  {
    const int lane = threadIdx.x % 32;
    const int64_t at = step_at (pass, spot);
    const int left = spot.count * Few<F>::size - lane % 4 * 16;

    stage += 16 * lane;
#pragma unroll
    for (int g = 0; g < n; g++) {
      if (from[g] != nullptr && left >= 16)
        __pipeline_memcpy_async (stage + g * 512, from[g] + at, 16);
    }
    if (spot.count == Few<F>::step)
      return;
    for (int g = 0; g < n; g++) {
      if (from[g] != nullptr && left < 16)
        fetch_rest<F> (stage + g * 512, from[g] + at, left);
    }
  }

  __device__ __forceinline__ void
  fetch (const CuvPcaPass &pass, const CuvPcaSpot &spot, uint8_t *stage) const
  {
    if (PACKED)
      fetch_packed (pass, spot, stage);
    else
      fetch_planar (pass, spot, stage);
  }
};

// ---- 32 pixels of a step, in registers ----

// Where the pixel is that lane 4 r + q paints, of a step's first 32.
template <CuvCubeFormat F, bool PACKED>
static __device__ __forceinline__ int
pixel_of_lane (int lane)
{
  const int q = lane % 4, r = lane / 4;

  return PACKED ? 8 * q + r : r / 2 * (16 / Few<F>::size) + q * 2 + r % 2;
}

// What counts among pixels: a word of by_bands, a set; of by_pixels one pixel.
static __device__ __forceinline__ unsigned
mask_of (int count)
{
  return count >= 4 ? ~0u : count <= 0 ? 0u : (1u << 8 * count) - 1;
}

template <CuvCubeFormat F>
static __device__ __forceinline__ typename Few<F>::Bytes
load_planar (const CuvPcaPass &pass, const uint8_t *stage, int half, int count)
{
  const int lane = threadIdx.x % 32;
  const int first = lane % 4 * (16 / Few<F>::size) + 8 * half;
  typename Few<F>::Bytes bytes;

#pragma unroll
  for (int g = 0; g < GROUPS; g++) {
    const uint8_t *from = stage + (g * 32 + lane) * 16;

    if constexpr (F == CUV_CUBE_U16) {
      const uint4 eight = *(const uint4 *) from;

      bytes.words[0][g] = __byte_perm (eight.x, eight.y, 0x6420);
      bytes.words[1][g] = __byte_perm (eight.x, eight.y, 0x7531);
      bytes.words[0][4 + g] = __byte_perm (eight.z, eight.w, 0x6420);
      bytes.words[1][4 + g] = __byte_perm (eight.z, eight.w, 0x7531);
    } else {
      const uint2 eight = *(const uint2 *) (from + 8 * half);

      bytes.words[0][g] = eight.x;
      bytes.words[0][4 + g] = eight.y;
    }
  }
  if (lane / 4 == COUNTS / 4) { // its last group is no band
    bytes.words[0][3] = bytes.words[0][7] = 0x01010101u;
  }
  if (count < Few<F>::step) {
#pragma unroll
    for (int i = 0; i < 8; i++)
      bytes.keep (i, mask_of (count - first - i / 4 * 4));
  }
  if (pass.has_ignore) {
#pragma unroll
    for (int set = 0; set < 2; set++) {
      unsigned found = 0;

#pragma unroll
      for (int g = 0; g < GROUPS; g++) {
        if (cuv_pca_band_of_row (g, lane / 4) < pass.bands.n)
          found |= bytes.equal (4 * set + g, (unsigned) pass.ignore);
      }
      for (int bit = 4; bit < 32; bit *= 2)
        found |= __shfl_xor_sync (~0u, found, bit);
#pragma unroll
      for (int g = 0; g < GROUPS; g++)
        bytes.keep (4 * set + g, ~found);
    }
  }
  return bytes;
}

// Eight samples next to each other, wherever they begin.
template <CuvCubeFormat F>
static __device__ __forceinline__ void
load_eight (const uint8_t *from, unsigned words[Few<F>::size * 2])
{
  const unsigned *aligned = (const unsigned *) (from - (uintptr_t) from % 4);
  const unsigned shift = (unsigned) (uintptr_t) from % 4 * 8;
  unsigned low = aligned[0];

#pragma unroll
  for (int i = 0; i < Few<F>::size * 2; i++) {
    const unsigned high = aligned[i + 1];

    words[i] = __funnelshift_r (low, high, shift);
    low = high;
  }
}

// kept: bytes of a lane's 8 slots that are bands.
template <CuvCubeFormat F>
static __device__ __forceinline__ typename Few<F>::Bytes
load_packed (const CuvPcaPass &pass, const uint8_t *stage, int half, int count,
    const unsigned kept[2])
{
  const int lane = threadIdx.x % 32, q = lane % 4, r = lane / 4;
  const bool counts = q == COUNTS / 8;
  typename Few<F>::Bytes bytes;

#pragma unroll
  for (int i = 0; i < 4; i++) {
    const int pixel = 32 * half + 8 * i + r;
    unsigned words[Few<F>::size * 2];

    load_eight<F> (
        stage + pixel * (int) pass.cube.pixel_step + 8 * q * Few<F>::size,
        words);
#pragma unroll
    for (int w = 0; w < 2; w++) {
      if constexpr (F == CUV_CUBE_U16) {
        bytes.words[0][2 * i + w] =
            __byte_perm (words[2 * w], words[2 * w + 1], 0x6420);
        bytes.words[1][2 * i + w] =
            __byte_perm (words[2 * w], words[2 * w + 1], 0x7531);
      } else {
        bytes.words[0][2 * i + w] = words[w];
      }
    }
    unsigned good = pixel < count ? ~0u : 0u;

    if (pass.has_ignore) {
      unsigned found = 0;

#pragma unroll
      for (int w = 0; w < 2; w++)
        found |= bytes.equal (2 * i + w, (unsigned) pass.ignore) & kept[w];
      found |= __shfl_xor_sync (~0u, found, 1);
      found |= __shfl_xor_sync (~0u, found, 2);
      good = found != 0 ? 0u : good;
    }
    bytes.keep (2 * i, good & kept[0]);
    bytes.keep (2 * i + 1, good & kept[1]);
    bytes.words[0][2 * i + 1] |= counts ? good & 0x01000000u : 0u;
  }
  return bytes;
}

// ---- sums ----

template <CuvCubeFormat F>
static __device__ __forceinline__ void
add (const typename Few<F>::Bytes &bytes, Sums<F> *to)
{
#pragma unroll
  for (int k = 0; k < 2 * Few<F>::size * Few<F>::size; k++) {
    const int rows = k / 2 / Few<F>::size, columns = k / 2 % Few<F>::size;
    const unsigned *a = &bytes.words[rows][k % 2 * 4];
    const unsigned *b = &bytes.words[columns][k % 2 * 4];

    each_pair<true> (
        &to->products[(rows + columns)], [&] (int i, int j, unsigned *sums) {
          cuv_pca_mma (sums, a[i], a[i + 1], b[j]);
        });
  }
}

// Room for a block's sums.
template <CuvCubeFormat F>
static __host__ __device__ constexpr int
area_bytes ()
{
  return Sums<F>::kinds * Products<unsigned>::n * 32 * sizeof (unsigned);
}

// A block's sums. By all threads, which are through with their steps; area is
// 0.
template <CuvCubeFormat F>
static __device__ __forceinline__ void
give (const CuvPcaPass &pass, const Sums<F> &sums, unsigned *area)
{
  typedef unsigned long long Sum;
  constexpr int n = Products<unsigned>::n;

#pragma unroll
  for (int i = 0; i < Sums<F>::kinds * n; i++) {
    if (is_used<false> (i % n))
      atomicAdd (&area[32 * i + threadIdx.x % 32],
          sums.products[i / n].sums[i % n / 4][i % 4]);
  }
  __syncthreads ();
#pragma unroll 1
  for (int at = threadIdx.x; at < 32 * n; at += blockDim.x) {
    const int i = at / 32, row = at % 32 / 4, column = at % 4 * 2 + i % 2;
    const int g = i / 4 / GROUPS * 2 + i % 4 / 2, h = i / 4 % GROUPS;
    const int a = pass.band_of_slot[cuv_pca_band_of_row (g, row)];
    const int b = pass.band_of_slot[cuv_pca_band_of_row (h, column)];
    Sum sum = 0;

#pragma unroll
    for (int kind = 0; kind < Sums<F>::kinds; kind++)
      sum += (Sum) area[32 * n * kind + at] << 8 * kind;
    if (g <= h && (g < h || row <= column) && a >= 0 && b >= 0)
      atomicAdd (
          (Sum *) &pass
              .sums[min (a, b) * CUV_PCA_STRIDE (pass.bands.n) + max (a, b)],
          sum);
  }
}

// ---- pictures ----

// Gains of channel r / 2, of slots 8 q on. The last channel is 255 in pixels
// that count.
static __device__ __forceinline__ void
read_gains (const CuvPcaPass &pass, double of_slots[8])
{
  const int q = threadIdx.x % 4, c = threadIdx.x % 32 / 8;

#pragma unroll
  for (int i = 0; i < 8; i++) {
    const int band = pass.band_of_slot[8 * q + i];

    of_slots[i] = c == CUV_PCA_SHOWN       ? (8 * q + i == COUNTS ? 255.0 : 0.0)
        : band >= 0 && band < pass.bands.n ? pass.known->gains.gain[c][band]
                                           : 0.0;
  }
}

// What a lane needs to paint its channel.
template <CuvCubeFormat F> struct Brush {
  unsigned digits[Few<F>::size][DIGITS / 2][2];
  CuvPcaShading shading;
  int offset[DIGITS / 2];
  unsigned selectors[2]; // see cuv_pca_turn_bytes()
  bool coarse;           // some channel's gains are very large

  // Lane 4 r + q has, for two digits of channel r / 2, those of slots 8 q on;
  // and channel q is its own. By whole warps.
  __device__ __forceinline__ void
  load (const CuvPcaGains &gains, const double of_slots[8])
  {
    const int q = threadIdx.x % 4, r = threadIdx.x % 32 / 4;
    const int bits = // the last channel is of one byte
        r / 2 == CUV_PCA_SHOWN ? GAIN_BITS : GAIN_BITS - 8 * (Few<F>::size - 1);
    float largest = 0.0f;

#pragma unroll
    for (int i = 0; i < 8; i++)
      largest = fmaxf (largest, fabsf ((float) of_slots[i]));
    largest = fmaxf (largest, __shfl_xor_sync (~0u, largest, 1));
    largest = fmaxf (largest, __shfl_xor_sync (~0u, largest, 2));

    const int fraction = cuv_pca_fraction (largest, bits);

    set_digits (of_slots, fraction, (double) (1LL << bits), r % 2);
    shading = cuv_pca_shading (
        gains, min (q, 2), __shfl_sync (~0u, fraction, min (q, 2) * 8));
    if (q == CUV_PCA_SHOWN)
      shading = CuvPcaShading{ 0, 0, 256 };
    coarse = __any_sync (~0u, shading.shift != 0);
    selectors[0] = q & 2 ? 0x3276 : 0x5410;
    selectors[1] = q & 1 ? 0x3715 : 0x6240;
    offset[0] = (int) (shading.offset & 0xffff);
    offset[1] = (int) (shading.offset >> 16 & 0xffff);
    offset[2] = (int) (shading.offset >> 32);
  }

  // Digits of eight slots: of each pair of them the odd ones or the even.
  __device__ __forceinline__ void
  set_digits (const double of_slots[8], int fraction, double most, int odd)
  {
    const int64_t carries = 0x808080808080; // to what is below -128

#pragma unroll
    for (int w = 0; w < Few<F>::size * 2; w++) {
      unsigned low[4], high[4]; // words of gains

#pragma unroll
      for (int b = 0; b < 4; b++) {
        const int64_t gain =
            cuv_pca_fixed (of_slots[w % 2 * 4 + b], fraction, most)
                * (w / 2 == 1 ? 256 : 1)
            + carries;

        low[b] = (unsigned) gain;
        high[b] = (unsigned) (gain >> 32);
      }
#pragma unroll
      for (int pair = 0; pair < DIGITS / 2; pair++) {
        const unsigned *words = pair < 2 ? low : high;
        const unsigned two = 0x40u + 0x11u * (pair % 2 * 2 + odd);

        digits[w / 2][pair][w % 2] =
            __byte_perm (__byte_perm (words[0], words[1], two),
                __byte_perm (words[2], words[3], two), 0x5410)
            ^ 0x80808080u;
      }
    }
  }

  // A channel from sums of its digits, before it is cut to a byte.
  template <bool COARSE>
  __device__ __forceinline__ int
  shade (const int (*sums)[4], int odd) const
  {
    int pairs[DIGITS / 2];

#pragma unroll
    for (int i = 0; i < DIGITS / 2; i++)
      pairs[i] = offset[i] + sums[i][2 * odd] + sums[i][2 * odd + 1] * 256;
    if (COARSE)
      return shading.shade (
          pairs[0] + pairs[1] * 65536LL + pairs[2] * (1LL << 32));
    return pairs[2] + ((pairs[1] + (pairs[0] >> 16)) >> 16);
  }
};

// The four channels of 32 pixels; a lane's is that of pixel_of_lane().
template <bool COARSE, CuvCubeFormat F>
static __device__ __forceinline__ unsigned
channels (const typename Few<F>::Bytes &by_pixels, const Brush<F> &brush)
{
  int values[4]; // of a channel

#pragma unroll
  for (int set = 0; set < 2; set++) {
    int sums[DIGITS / 2][4] = {};

#pragma unroll
    for (int i = 0; i < Few<F>::size * DIGITS / 2; i++) {
      const int plane = i / (DIGITS / 2), pair = i % (DIGITS / 2);
      const unsigned *words = &by_pixels.words[plane][4 * set];
      const unsigned a[4] = { words[0], words[2], words[1], words[3] };

      cuv_pca_mma (sums[pair], a, brush.digits[plane][pair]);
    }
#pragma unroll
    for (int odd = 0; odd < 2; odd++)
      values[2 * set + odd] = brush.template shade<COARSE> (sums, odd);
  }
  return cuv_pca_turn_bytes (cuv_pca_pack_bytes (values), brush.selectors);
}

// ---- the kernel ----

// Planar, bands that are not there are 0 in all stages.
static __device__ __forceinline__ void
clear_missing (const CuvPcaPass &pass, uint8_t *stages)
{
  const int lane = threadIdx.x % 32;

  for (int i = 0; i < FEW_STAGES * GROUPS; i++) {
    if (cuv_pca_band_of_row (i % GROUPS, lane / 4) >= pass.bands.n)
      ((uint4 *) stages)[i * 32 + lane] = make_uint4 (0, 0, 0, 0);
  }
}

// Bytes of the lane's slots that are bands.
static __device__ __forceinline__ unsigned
kept_of (const CuvPcaPass &pass, int w)
{
  unsigned kept = 0;

  for (int b = 0; b < 4; b++) {
    const int band = pass.band_of_slot[threadIdx.x % 4 * 8 + 4 * w + b];

    kept |= band >= 0 && band < pass.bands.n ? 255u << 8 * b : 0;
  }
  return kept;
}

// A step that is there.
template <CuvCubeFormat F, bool PACKED>
static __device__ __forceinline__ void
work_on (const CuvPcaPass &pass, const CuvPcaSpot &spot, const uint8_t *stage,
    const unsigned kept[2], const Brush<F> &brush, Sums<F> *sums,
    unsigned *left_out)
{
  const int pixel = pixel_of_lane<F, PACKED> (threadIdx.x % 32);
  unsigned *out =
      (unsigned *) (pass.picture + (int64_t) spot.y * (int) pass.stride)
      + (spot.first + pixel);

#pragma unroll
  for (int half = 0; half < Few<F>::step / 32; half++) {
    constexpr int apart = PACKED ? 32 : 8; // pixels of halves
    typename Few<F>::Bytes bytes;

    if constexpr (PACKED)
      bytes = load_packed<F> (pass, stage, half, spot.count, kept);
    else
      bytes = load_planar<F> (pass, stage, half, spot.count);
    if (pass.tasks & CUV_PCA_SUM)
      add<F> (PACKED ? cuv_pca_by_bands (bytes) : bytes, sums);
    if (pass.tasks & CUV_PCA_PAINT) {
      const auto by_pixels = PACKED ? bytes : cuv_pca_by_pixels (bytes);
      const unsigned word = brush.coarse ? channels<true> (by_pixels, brush)
                                         : channels<false> (by_pixels, brush);
      const bool counts = word >= 1u << 24;

      if (pixel + apart * half < spot.count) {
        out[apart * half] = counts ? word : 0xff000000u;
        if (pass.left_out != nullptr && !counts)
          *left_out += 1;
      }
    }
  }
}

template <CuvCubeFormat F, bool PACKED>
static __global__ void __launch_bounds__ (32 * Few<F>::warps, 1)
    few_kernel (const __grid_constant__ CuvPcaPass pass)
{
  extern __shared__ uint4 shared_of_block[];
  constexpr int n_sums = area_bytes<F> () / (int) sizeof (unsigned);
  const int warp = cuv_warp_of_thread (), warps = blockDim.x / 32;
  const bool paints = pass.tasks & CUV_PCA_PAINT;
  unsigned *area = (unsigned *) shared_of_block;
  uint8_t *stages =
      (uint8_t *) (area + n_sums) + warp * FEW_STAGES * pass.tile_bytes;
  const Source<F, PACKED> source (pass);
  const Stride stride (pass, gridDim.x * warps);
  Walk here (pass, blockIdx.x * warps + warp), ahead = here;
  double gains[8];
  unsigned kept[2], left_out = 0;
  Brush<F> brush = {};
  Sums<F> sums;

  for (int i = threadIdx.x; i < n_sums; i += blockDim.x)
    area[i] = 0;
  if (!PACKED)
    clear_missing (pass, stages);
  for (int w = 0; w < 2; w++)
    kept[w] = PACKED ? kept_of (pass, w) : 0;
  __syncthreads ();
  // after that, so that whatever starts early finds the cube as this one does
  if (!pass.knows_cube) {
    cuv_wait_for_previous_kernel ();
    if (paints)
      read_gains (pass, gains);
  }
  cuv_let_next_kernel_start ();
#pragma unroll 1
  for (int i = 0; i < FEW_STAGES - 1; i++) {
    if (ahead.left > 0)
      source.fetch (pass, ahead.spot (pass), stages + i * pass.tile_bytes);
    __pipeline_commit ();
    stride.go_on (pass, &ahead);
  }
  if (pass.knows_cube) {
    cuv_wait_for_previous_kernel ();
    if (paints)
      read_gains (pass, gains);
  }
  if (paints)
    brush.load (pass.known->gains, gains);

  for (int stage = 0; here.left > 0; stage = (stage + 1) % FEW_STAGES) {
    __syncwarp (); // all are through with the stage that comes next to last
    if (ahead.left > 0)
      source.fetch (pass, ahead.spot (pass),
          stages + (stage + FEW_STAGES - 1) % FEW_STAGES * pass.tile_bytes);
    __pipeline_commit ();
    __pipeline_wait_prior (FEW_STAGES - 1);
    __syncwarp ();
    work_on<F, PACKED> (pass, here.spot (pass),
        stages + stage * pass.tile_bytes, kept, brush, &sums, &left_out);
    stride.go_on (pass, &here);
    stride.go_on (pass, &ahead);
  }
  if (pass.left_out != nullptr && left_out > 0)
    atomicAdd (pass.left_out, (unsigned long long) left_out);
  if (pass.tasks & CUV_PCA_SUM)
    give<F> (pass, sums, area);
}

// ---- plans ----

static size_t
shared_bytes (const CuvPcaPass &pass)
{
  const bool bytes = pass.cube.format == CUV_CUBE_U8;

  return (bytes ? area_bytes<CUV_CUBE_U8> () : area_bytes<CUV_CUBE_U16> ())
      + (size_t) pass.warps * FEW_STAGES * pass.tile_bytes;
}

typedef void (*Kernel) (const CuvPcaPass);

static Kernel
kernel_of (const CuvPcaPass &pass)
{
  if (pass.cube.format == CUV_CUBE_U8)
    return pass.packed ? few_kernel<CUV_CUBE_U8, true>
                       : few_kernel<CUV_CUBE_U8, false>;
  return pass.packed ? few_kernel<CUV_CUBE_U16, true>
                     : few_kernel<CUV_CUBE_U16, false>;
}

static bool
fits (const CuvPcaPass &pass)
{
  const int size = cuv_cube_sample_size (pass.cube.format);

  if (pass.cube.format == CUV_CUBE_F32 || pass.bands.n > COUNTS
      || (pass.tasks & CUV_PCA_COUNT) || pass.unit != 16)
    return false;
  return (!pass.packed || pass.span <= COUNTS * size)
      && std::abs (pass.cube.row_step) <= INT32_MAX
      && std::abs (pass.stride) <= INT32_MAX;
}

// Planar, a slot is a band, packed a sample of the pixel.
static void
set_slots (CuvPcaPass *pass)
{
  const int size = cuv_cube_sample_size (pass->cube.format);

  std::fill_n (pass->band_of_slot, 32, (int8_t) -1);
  for (int b = 0; b < pass->bands.n; b++) {
    const int64_t at = pass->bands.index[b] * pass->cube.band_step - pass->low;

    pass->band_of_slot[pass->packed ? (int) at / size : b] = (int8_t) b;
  }
  pass->band_of_slot[COUNTS] = (int8_t) pass->bands.n;
}

bool
cuv_pca_few_plan (CuvPcaPass *pass, int *n_blocks)
{
  const int size = cuv_cube_sample_size (pass->cube.format);
  const size_t room =
      cuv_cuda_attribute (cudaDevAttrMaxSharedMemoryPerBlockOptin);
  CuvPcaPass few = *pass;

  if (!fits (few))
    return false;
  set_slots (&few);
  few.pixels = 64 / size;
  few.tile_bytes = few.packed
      ? few.pixels * (int) few.cube.pixel_step + 64 // that may be looked at
      : 2048;
  few.tiles_across = cuv_div_up (few.width, few.pixels);
  few.n_tiles = few.tiles_across * few.height;
  few.warps = size == 1 ? Few<CUV_CUBE_U8>::warps : Few<CUV_CUBE_U16>::warps;
  while (few.warps > 0 && shared_bytes (few) > room)
    few.warps -= 4;
  if (few.warps == 0
      || cuv_cuda_allow_shared (
             (const void *) kernel_of (few), shared_bytes (few))
          != 0)
    return false;
  *n_blocks = std::max (cuv_cuda_multiprocessors (),
      cuv_div_up (few.n_tiles, CUV_PCA_BLOCK_PIXELS / few.pixels - few.warps));
  *n_blocks = std::min (*n_blocks, cuv_div_up (few.n_tiles, few.warps));
  *pass = few;
  pass->few = true;
  return true;
}

int
cuv_pca_few_submit (const CuvPcaPass &pass, int n_blocks, cudaStream_t stream)
{
  return cuv_launch_early ("few_kernel", n_blocks, 32 * pass.warps,
      shared_bytes (pass), stream, kernel_of (pass), pass);
}
