// SPDX-License-Identifier: LGPL-2.1-or-later
// Hysteresis across tiles.
#ifndef CUV_HOUGH_HYSTERESIS_CUH
#define CUV_HOUGH_HYSTERESIS_CUH

#include "hough/components.cuh"
#include "hough/maps.cuh"

// Connects undecided runs across tiles, after the kernel that found those of
// each tile.
int cuv_hysteresis_submit (const CuvMaps &maps, cudaStream_t stream);

// The final edges of a word, for kernels launched after that.
static __device__ __forceinline__ unsigned
cuv_decide (
    const CuvMaps &maps, unsigned edges, unsigned undecided, int x, int y)
{
  unsigned starts = undecided & ~(undecided << 1);

  for (; starts != 0; starts &= starts - 1) {
    const int bit = __ffs (starts) - 1;

    if (cuv_find_root (maps.parents, cuv_map_node (maps, x + bit, y)) == 0)
      edges |= cuv_run_at (undecided, bit);
  }
  return edges;
}

#endif
