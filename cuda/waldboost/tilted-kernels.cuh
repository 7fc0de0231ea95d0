// SPDX-License-Identifier: LGPL-2.1-or-later
// The kernels of tilted integral images: two sweeps along diagonals.
//
// T (x, y) sums the pixels of the cone above (x, y), at 45 degrees: row y - 1's
// pixel x - 1, row y - 2's x - 2 to x, and so on. With A (i, j) = I (i, j) +
// A (i + 1, j - 1), the prefix sum along a line down to the left,
// T (x, y) = T (x - 1, y - 1) + A (x - 1, y - 1) + A (x - 1, y - 2).
// Beyond the picture's left edge, a line keeps its last sum.
#ifndef CUV_WALDBOOST_TILTED_KERNELS_CUH
#define CUV_WALDBOOST_TILTED_KERNELS_CUH

#include "waldboost/pyramid.cuh"

// Computes A with one thread per line running down to the left. Grid: tiles of
// lines.
static __global__ void
antidiagonal_kernel (const CuvPyramidTile *tiles, const CuvPyramidLevel *levels,
    const uint8_t *pictures, uint32_t *diagonal)
{
  const CuvPyramidTile tile = tiles[blockIdx.x];
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

// Returns A (i, j), which is also defined to the left of the picture.
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

// Computes T with one thread per line running down to the right, including
// lines that start to the left of the picture. Grid: tiles of lines.
static __global__ void
diagonal_kernel (const CuvPyramidTile *tiles, const CuvPyramidLevel *levels,
    const uint32_t *diagonal, uint32_t *tilted)
{
  const CuvPyramidTile tile = tiles[blockIdx.x];
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

#endif
