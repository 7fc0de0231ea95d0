// SPDX-License-Identifier: LGPL-2.1-or-later
// How warps of pca-31-bands.cu load samples: in steps of 64 bytes per band,
// which a warp prefetches to its stages in shared memory and loads from there
// to registers, 32 pixels at a time.
#ifndef CUV_PCA_31_BANDS_LOAD_CUH
#define CUV_PCA_31_BANDS_LOAD_CUH

#include "pca/pca-byte-matrix.cuh"
#include "pca/pca-tile-sums.cuh"

// the slot after the bands, which is 1 in valid pixels
#define CUV_PCA_COUNTS_SLOT CUV_PCA_MATRIX_BANDS

// Sizes by sample format.
template <CuvCubeFormat F> struct CuvPcaStepFormat {
  static constexpr int size = F == CUV_CUBE_U16 ? 2 : 1;
  static constexpr int step = 64 / size;            // pixels
  static constexpr int warps = size == 1 ? 16 : 12; // per block
  static constexpr int stages = size == 1 ? 2 : 3;  // per warp
  typedef typename CuvPcaSample<F>::Type Sample;
  typedef CuvPcaBytes<size> Bytes;
};

// A warp's current step: every n-th step of the image, forwards or backwards.
struct CuvPcaStepPosition {
  int left, y, x; // step x of row y; left: steps to the end

  __device__ __forceinline__
  CuvPcaStepPosition (const CuvPcaPass &pass, int first)
  {
    const int t = pass.backwards ? pass.n_tiles - 1 - first : first;

    left = pass.n_tiles - first;
    y = t / pass.tiles_across;
    x = t - y * pass.tiles_across;
  }

  __device__ __forceinline__ CuvPcaExtent
  extent (const CuvPcaPass &pass) const
  {
    const int first = x * pass.pixels;

    return { y, first, min (pass.pixels, pass.width - first) };
  }
};

// Moves a step to a warp's next one without a division.
struct CuvPcaStepStride {
  int n, dy, dx;
  int across, row; // steps per row, and 1; both negated if backwards

  __device__ __forceinline__
  CuvPcaStepStride (const CuvPcaPass &pass, int warps)
  {
    const int sign = pass.backwards ? -1 : 1;

    n = warps;
    row = sign;
    across = sign * pass.tiles_across;
    dy = sign * (n / pass.tiles_across);
    dx = sign * (n % pass.tiles_across);
  }

  __device__ __forceinline__ void
  advance (const CuvPcaPass &pass, CuvPcaStepPosition *step) const
  {
    step->left -= n;
    step->y += dy;
    step->x += dx;
    if ((unsigned) step->x >= (unsigned) pass.tiles_across) {
      step->x -= across;
      step->y += row;
    }
  }
};

// Returns the byte offset of a step in the image.
static __device__ __forceinline__ int64_t
step_at (const CuvPcaPass &pass, const CuvPcaExtent &extent)
{
  return (int64_t) extent.y * (int) pass.cube.row_step
      + (int64_t) extent.first * (int) pass.cube.pixel_step;
}

// Copies the first bytes of a unit of 16, those before the end of the row.
template <CuvCubeFormat F>
static __device__ __forceinline__ void
fetch_rest (uint8_t *to, const uint8_t *from, int bytes)
{
  typedef typename CuvPcaStepFormat<F>::Sample Sample;

#pragma unroll 1
  for (int i = 0; i < bytes; i += CuvPcaStepFormat<F>::size)
    *(Sample *) (to + i) = *(const Sample *) (from + i);
}

// A lane's copies. Packed: every 32nd unit of 16 bytes. Planar: one unit of
// each of its four bands, which no other lane reads.
template <CuvCubeFormat F, bool PACKED> struct CuvPcaStepSource {
  static constexpr int n = PACKED ? 1 : CUV_PCA_GROUPS;

  const uint8_t *from[n]; // null: no such band

  __device__ __forceinline__
  CuvPcaStepSource (const CuvPcaPass &pass)
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
      const CuvPcaPass &pass, const CuvPcaExtent &extent, uint8_t *stage) const
  {
    const int lane = threadIdx.x % 32;
    const uint8_t *unit = from[0] + step_at (pass, extent);
    const int bytes =
        (extent.count - 1) * (int) pass.cube.pixel_step + pass.span - 16 * lane;
    const int rest = bytes & 511;
    int left = bytes;

    stage += 16 * lane;
#pragma unroll 1
    for (; left >= 16; left -= 2048, stage += 2048, unit += 2048) {
#pragma unroll
      for (int at = 0; at < 2048; at += 512) {
        if (left >= at + 16)
          __pipeline_memcpy_async (stage + at, unit + at, 16);
      }
    }
    if (bytes > 0 && rest < 16)
      fetch_rest<F> (stage + left - rest, unit + left - rest, rest);
  }

  __device__ __forceinline__ void
  fetch_planar (
      const CuvPcaPass &pass, const CuvPcaExtent &extent, uint8_t *stage) const
  {
    const int lane = threadIdx.x % 32;
    const int64_t at = step_at (pass, extent);
    const int left = extent.count * CuvPcaStepFormat<F>::size - lane % 4 * 16;

    stage += 16 * lane;
#pragma unroll
    for (int g = 0; g < n; g++) {
      if (from[g] != nullptr && left >= 16)
        __pipeline_memcpy_async (stage + g * 512, from[g] + at, 16);
    }
    if (extent.count == CuvPcaStepFormat<F>::step)
      return;
    for (int g = 0; g < n; g++) {
      if (from[g] != nullptr && left < 16)
        fetch_rest<F> (stage + g * 512, from[g] + at, left);
    }
  }

  __device__ __forceinline__ void
  fetch (
      const CuvPcaPass &pass, const CuvPcaExtent &extent, uint8_t *stage) const
  {
    if (PACKED)
      fetch_packed (pass, extent, stage);
    else
      fetch_planar (pass, extent, stage);
  }
};

// Returns which of a step's first 32 pixels lane 4 r + q paints.
template <CuvCubeFormat F, bool PACKED>
static __device__ __forceinline__ int
pixel_of_lane (int lane)
{
  const int q = lane % 4, r = lane / 4;

  return PACKED ? 8 * q + r
                : r / 2 * (16 / CuvPcaStepFormat<F>::size) + q * 2 + r % 2;
}

// Returns a mask of the bytes of the first `count` of four pixels.
static __device__ __forceinline__ unsigned
mask_of (int count)
{
  return count >= 4 ? ~0u : count <= 0 ? 0u : (1u << 8 * count) - 1;
}

// Loads 32 pixels of a step by bands, excluded ones as 0. count: pixels in the
// step.
template <CuvCubeFormat F>
static __device__ __forceinline__ typename CuvPcaStepFormat<F>::Bytes
load_planar (const CuvPcaPass &pass, const uint8_t *stage, int half, int count)
{
  const int lane = threadIdx.x % 32;
  const int first = lane % 4 * (16 / CuvPcaStepFormat<F>::size) + 8 * half;
  typename CuvPcaStepFormat<F>::Bytes bytes;

#pragma unroll
  for (int g = 0; g < CUV_PCA_GROUPS; g++) {
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
  if (lane / 4 == CUV_PCA_COUNTS_SLOT / 4) { // the last slot is the counts
    bytes.words[0][3] = bytes.words[0][7] = 0x01010101u;
  }
  if (count < CuvPcaStepFormat<F>::step) {
#pragma unroll
    for (int i = 0; i < 8; i++)
      bytes.keep (i, mask_of (count - first - i / 4 * 4));
  }
  if (pass.has_ignore) {
#pragma unroll
    for (int set = 0; set < 2; set++) {
      unsigned found = 0;

#pragma unroll
      for (int g = 0; g < CUV_PCA_GROUPS; g++) {
        if (cuv_pca_band_of_row (g, lane / 4) < pass.bands.n)
          found |= bytes.equal (4 * set + g, (unsigned) pass.ignore);
      }
      for (int bit = 4; bit < 32; bit *= 2)
        found |= __shfl_xor_sync (~0u, found, bit);
#pragma unroll
      for (int g = 0; g < CUV_PCA_GROUPS; g++)
        bytes.keep (4 * set + g, ~found);
    }
  }
  return bytes;
}

// Packed: where a lane's eight samples of a pixel are, and which of them are
// selected bands.
template <CuvCubeFormat F> struct CuvPcaPackedLane {
  int at;           // byte offset from a pixel with index % 8 == 0
  unsigned shift;   // bits from there to the first sample
  unsigned kept[2]; // byte mask of slots that are bands
  unsigned counts;  // 1 in slot CUV_PCA_COUNTS_SLOT

  __device__ __forceinline__
  CuvPcaPackedLane (const CuvPcaPass &pass)
  {
    const int q = threadIdx.x % 4, r = threadIdx.x % 32 / 4;

    at = r * (int) pass.cube.pixel_step + 8 * q * CuvPcaStepFormat<F>::size;
    shift = at % 4 * 8;
    at -= at % 4;
    counts = q == CUV_PCA_COUNTS_SLOT / 8 ? 0x01000000u : 0;
    for (int w = 0; w < 2; w++) {
      kept[w] = 0;
      for (int b = 0; b < 4; b++) {
        const int band = pass.band_of_slot[q * 8 + 4 * w + b];

        kept[w] |= band >= 0 && band < pass.bands.n ? 255u << 8 * b : 0;
      }
    }
  }

  // Loads a pixel. `bytes`: offset of the pixel in the stage.
  __device__ __forceinline__ void
  load (const uint8_t *stage, int bytes,
      unsigned words[CuvPcaStepFormat<F>::size * 2]) const
  {
    const unsigned *from = (const unsigned *) (stage + at + bytes);
    unsigned low = from[0];

#pragma unroll
    for (int i = 0; i < CuvPcaStepFormat<F>::size * 2; i++) {
      const unsigned high = from[i + 1];

      words[i] = __funnelshift_r (low, high, shift);
      low = high;
    }
  }
};

// Loads 32 pixels of a step by pixels, excluded ones as 0. WHOLE: all pixels
// are present and none can be excluded.
template <bool WHOLE, CuvCubeFormat F>
static __device__ __forceinline__ typename CuvPcaStepFormat<F>::Bytes
load_pixels (const CuvPcaPass &pass, const CuvPcaPackedLane<F> &lane,
    const uint8_t *stage, int half, int count)
{
  typename CuvPcaStepFormat<F>::Bytes bytes;

#pragma unroll
  for (int i = 0; i < 4; i++) {
    const int pixel = 32 * half + 8 * i;
    unsigned words[CuvPcaStepFormat<F>::size * 2], good = ~0u;

    lane.load (stage, pixel * (int) pass.cube.pixel_step, words);
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
    if (!WHOLE) {
      unsigned found = 0;

#pragma unroll
      for (int w = 0; w < 2; w++)
        found |= bytes.equal (2 * i + w, (unsigned) pass.ignore) & lane.kept[w];
      found |= __shfl_xor_sync (~0u, found, 1);
      found |= __shfl_xor_sync (~0u, found, 2);
      if ((pass.has_ignore && found != 0)
          || pixel + (int) threadIdx.x % 32 / 4 >= count)
        good = 0;
    }
    bytes.keep (2 * i, good & lane.kept[0]);
    bytes.keep (2 * i + 1, good & lane.kept[1]);
    bytes.words[0][2 * i + 1] |= good & lane.counts;
  }
  return bytes;
}

template <CuvCubeFormat F>
static __device__ __forceinline__ typename CuvPcaStepFormat<F>::Bytes
load_packed (const CuvPcaPass &pass, const CuvPcaPackedLane<F> &lane,
    const uint8_t *stage, int half, int count)
{
  return count == CuvPcaStepFormat<F>::step && !pass.has_ignore
      ? load_pixels<true> (pass, lane, stage, half, count)
      : load_pixels<false> (pass, lane, stage, half, count);
}

#endif
