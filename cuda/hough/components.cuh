// SPDX-License-Identifier: LGPL-2.1-or-later
// Which candidates are connected: sets of runs, a run being the ones next to
// each other in a word, known by its first pixel. Sets are trees, a parent
// having a smaller number than its child; 0 is the set of all edges.
//
// Union by an atomic minimum: A. Hennequin, L. Lacassagne, L. Cabaret,
// Q. Meunier, A New Direct Connected Component Labeling and Analysis Algorithm
// for GPUs, DASIP 2018, has it in this way, after V. Oliveira, R. Lotufo.
#ifndef CUV_HOUGH_COMPONENTS_CUH
#define CUV_HOUGH_COMPONENTS_CUH

#include "cuv-cuda.cuh"

// The first bit of the run that a bit is in.
static __device__ __forceinline__ int
cuv_run_start (unsigned word, int bit)
{
  return 32 - __clz (~word & ((1u << bit) - 1));
}

// The run that begins at a bit. Adding to it carries to its end.
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

// Makes one set of two, whatever others do at the same time. A node gets the
// smaller parent; what is left to do is to unite that with the one before.
static __device__ __forceinline__ void
cuv_unite (int *parents, int a, int b)
{
  while (a != b) {
    const int high = max (a, b), low = min (a, b);
    const int before = atomicMin (&parents[high], low);

    if (before == high)
      return; // it was a root: now it is not
    a = before;
    b = low;
  }
}

#endif
