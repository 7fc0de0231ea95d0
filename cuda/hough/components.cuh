// SPDX-License-Identifier: LGPL-2.1-or-later
// Connected components of candidate pixels by union-find. A node is a run of
// ones within a word, identified by its first pixel. A parent has a smaller
// index than its child; root 0 is the set of edges.
//
// Union by atomic minimum as in A. Hennequin, L. Lacassagne, L. Cabaret, Q.
// Meunier, A New Direct Connected Component Labeling and Analysis Algorithm for
// GPUs, DASIP 2018, after V. Oliveira, R. Lotufo.
#ifndef CUV_HOUGH_COMPONENTS_CUH
#define CUV_HOUGH_COMPONENTS_CUH

#include "hough/maps.cuh"

// First bit of the run that contains a bit.
static __device__ __forceinline__ int
cuv_run_start (unsigned word, int bit)
{
  return 32 - __clz (~word & ((1u << bit) - 1));
}

// Mask of the run that starts at a bit: an addition carries to its end.
static __device__ __forceinline__ unsigned
cuv_run_at (unsigned word, int start)
{
  return word & ~(word + (1u << start));
}

static __device__ __forceinline__ int
cuv_find_root (const volatile int *parents, int node)
{
  for (int parent; (parent = parents[node]) != node; node = parent)
    ;
  return node;
}

// Unites two sets, safely against concurrent calls. The node gets the smaller
// parent; the loop then unites that one with its previous parent.
static __device__ __forceinline__ void
cuv_unite (int *parents, int a, int b)
{
  while (a != b) {
    const int high = max (a, b), low = min (a, b);
    const int before = atomicMin (&parents[high], low);

    if (before == high)
      return; // b was a root
    a = before;
    b = low;
  }
}

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
