// SPDX-License-Identifier: LGPL-2.1-or-later
// Tiles of window positions of an OpenCV cascade: a block copies its tile's
// part of the integral images to shared memory, or makes it there
// (pair-tile.cuh). Also computes the contrast of single windows.
#ifndef CUV_WALDBOOST_CASCADE_TILE_CUH
#define CUV_WALDBOOST_CASCADE_TILE_CUH

#include <cuda_pipeline.h>
#include "waldboost/cascade/cascade.cuh"

// A block's tile of the integral images; in shared memory if tiled.
template <typename Sum, bool tiled> struct CuvCascadeTile {
  static const bool paired = std::is_same<Sum, CuvPairSum>::value;
  const CuvPyramidLevel level;
  const CuvPyramidTile tile;
  bool split;
  int pitch;
  const Sum *sums; // address of the tile's first position
  const uint32_t *tilted;

  // Starts to copy the tile; before reading it, call wait() and
  // __syncthreads().
  __device__
  CuvCascadeTile (const CuvPyramidTile &tile, const CuvPyramidLevel *levels,
      const CuvCascadeImages &images, const CuvCascadeTileShape &shape)
      : level (levels[tile.level]), tile (tile), split (cuv_is_split (level))
  {
    const int64_t at = level.first
        + (int64_t) tile.y * level.plan.step * level.pitch
        + tile.x * (split ? 1 : level.plan.step);

    sums = (const Sum *) images.sums + at;
    tilted = images.tilted != nullptr ? images.tilted + at : nullptr;
    pitch = level.pitch;
    if (!tiled)
      return;
    sums = copy (sums, shared_sums (), shape);
    if (tilted != nullptr)
      tilted = copy (
          tilted, (uint32_t *) (shared_sums () + shape.image_elements), shape);
    pitch = shape.pitch_of (split);
    __pipeline_commit ();
  }

  // A tile that the block makes, in shared_sums().
  __device__
  CuvCascadeTile (const CuvPyramidTile &tile, const CuvPyramidLevel *levels,
      const CuvCascadeTileShape &shape)
      : level (levels[tile.level]), tile (tile), split (cuv_is_split (level)),
        pitch (shape.pitch_of (split)), sums (shared_sums ()), tilted (nullptr)
  {
  }

  static __device__ Sum *
  shared_sums ()
  {
    extern __shared__ uint4 shared[];

    return (Sum *) shared;
  }

  // Waits for the part that the calling thread copies.
  __device__ void
  wait () const
  {
    __pipeline_wait_prior (0);
  }

  // Starts to copy an image's tile: each warp copies every CUV_CASCADE_WARPS-th
  // row, 16 bytes per thread.
  template <typename T>
  __device__ const T *
  copy (const T *from, T *to, const CuvCascadeTileShape &shape) const
  {
    const int per_copy = 16 / sizeof (T), tile_pitch = shape.pitch_of (split);
    const int half = split ? shape.half : tile_pitch;
    const int rows =
        (shape.rows - 1) * level.plan.step + shape.window_height + 1;
    const int warp = cuv_warp_of_thread ();

    for (int x = threadIdx.x % 32 * per_copy; x < tile_pitch;
         x += 32 * per_copy) {
      const T *at = from + (int64_t) warp * level.pitch
          + (x < half ? x : level.pitch / 2 + x - half);

#pragma unroll 4
      for (int y = warp; y < rows; y += CUV_CASCADE_WARPS) {
        __pipeline_memcpy_async (to + y * tile_pitch + x, at, 16);
        at += CUV_CASCADE_WARPS * level.pitch;
      }
    }
    return to;
  }

  __device__ CuvCascadeView<Sum>
  view (int column, int row) const
  {
    const int across = paired ? column % CUV_CASCADE_PAIR_X : column;
    int at =
        row * level.plan.step * pitch + across * (split ? 1 : level.plan.step);

    return CuvCascadeView<Sum>{ sums + at, tilted + at, 1,
      column < CUV_CASCADE_PAIR_X ? 0x4410u : 0x4432u };
  }

  __device__ bool
  inside (int column, int row) const
  {
    return tile.x + column < level.plan.n_x && tile.y + row < level.plan.n_y;
  }
};

// Computes a window's contrast normalisation; returns false if the window has
// too little contrast or is outside its row's range.
static __device__ bool
find_factor (const CuvPyramidLevel &level, const CuvCascadeImages &images,
    int width, int height, int column, int row, float *factor)
{
  const bool split = cuv_is_split (level);
  const int half = level.pitch / 2, step = level.plan.step;
  const int64_t at = level.first + (int64_t) row * step * level.pitch
      + (split ? column : column * step);
  const int size = sizeof (uint32_t), pitch = level.pitch * size;
  const int top = pitch, bottom = (height - 1) * pitch;
  const int left = cuv_integral_column (split, half, 1) * size;
  const int right = cuv_integral_column (split, half, width - 1) * size;
  const int32_t corner[4] = { top + left, top + right, bottom + left,
    bottom + right };
  const int area = (width - 2) * (height - 2);

  if (images.ranges != nullptr) {
    const CuvRange range = images.ranges[level.plan.first_range + row];

    if (column < range.first || column >= range.end)
      return false;
  }
  double sum = cuv_rectangle ((const uint32_t *) images.sums + at, corner);
  double squares = cuv_rectangle (images.squares + at, corner);
  double nf = area * squares - sum * sum;

  if (!(nf > 0))
    return false;
  *factor = (float) (1 / sqrt (nf));
  return (double) area * (double) *factor < 0.1;
}

#endif
