// SPDX-License-Identifier: LGPL-2.1-or-later
// Edges that go on from tile to tile.
#ifndef CUV_HOUGH_HYSTERESIS_CUH
#define CUV_HOUGH_HYSTERESIS_CUH

#include "hough/components.cuh"
#include "hough/maps.cuh"

// Connects the undecided runs of all tiles, after the kernel that has found
// those of each.
int cuv_hysteresis_submit (const CuvMaps &maps, cudaStream_t stream);

// The edges of a word, by a kernel after that.
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
