// SPDX-License-Identifier: LGPL-2.1-or-later
// Edges sorted by the direction of their gradients: a counting sort.
#include "hough/votes.cuh"

#define THREADS 512

// ---- directions ----

static __device__ __forceinline__ int
clamp (int v, int end)
{
  return min (max (v, 0), end - 1);
}

// The grey value that Canny saw, of a pixel in the frame.
static __device__ int
grey_at (const CuvFrame &frame, bool blurred, int x, int y)
{
  int sum = 128;

  if (!blurred)
    return cuv_frame_grey (&frame, x, y);
  for (int j = -2; j <= 2; j++) {
    for (int i = -2; i <= 2; i++) {
      const int wx = i == 0 ? 6 : abs (i) == 1 ? 4 : 1;
      const int wy = j == 0 ? 6 : abs (j) == 1 ? 4 : 1;

      sum += wx * wy
          * cuv_frame_grey (
              &frame, clamp (x + i, frame.width), clamp (y + j, frame.height));
    }
  }
  return sum >> 8;
}

// The last group that does not begin after a direction: one is guessed, which
// is off by one at most, and looked at exactly.
static __device__ __forceinline__ int
find_group (const CuvVoteSpace &space, int gx, int gy)
{
  const bool turn = gx < 0 || (gx == 0 && gy > 0);
  const int x = turn ? -gx : gx, y = turn ? -gy : gy;
  const auto begins_after = [&] (int g) {
    const short2 boundary = __ldg (&space.boundaries[g]);

    return boundary.x * y - boundary.y * x < 0;
  };
  const float turns = atan2f ((float) y, (float) x) * .318309886f + .5f;
  int g = min (max ((int) (turns * space.n_groups), 0), space.n_groups - 1);

  while (g > 0 && begins_after (g))
    g--;
  while (g < space.n_groups - 1 && !begins_after (g + 1))
    g++;
  return g;
}

static __device__ __forceinline__ int
group_of (const CuvVoteSpace &space, const CuvFrame &frame, bool blurred, int x,
    int y)
{
  int at[9];

  for (int i = 0; i < 9; i++)
    at[i] = grey_at (frame, blurred, x + i % 3 - 1, y + i / 3 - 1);
  return find_group (space,
      at[2] + 2 * at[5] + at[8] - at[0] - 2 * at[3] - at[6],
      at[6] + 2 * at[7] + at[8] - at[0] - 2 * at[1] - at[2]);
}

// Adds up a block's counts in those of all.
static __global__ void
__launch_bounds__ (THREADS) group_kernel (
    CuvEdges edges, CuvVoteSpace space, CuvFrame frame, bool blurred)
{
  __shared__ unsigned counts[CUV_HOUGH_MAX_PERIOD];
  unsigned votes = 0;

  cuv_let_next_kernel_start ();
  for (int g = threadIdx.x; g < space.n_groups; g += THREADS)
    counts[g] = 0;
  __syncthreads ();
  cuv_wait_for_previous_kernel ();
  const unsigned n = __ldcg (&edges.counters->n_edges);

  for (unsigned i = blockIdx.x * THREADS + threadIdx.x; i < n;
       i += gridDim.x * THREADS) {
    const unsigned pixel = __ldcg (&edges.pixels[i]);
    const int group =
        group_of (space, frame, blurred, pixel & 0xffff, pixel >> 16);

    edges.groups[i] = (uint16_t) group;
    votes += __ldg (&space.group_rows[group]);
    atomicAdd (&counts[group], 1u);
  }
  votes = cuv_running_sum (votes);
  if (threadIdx.x % 32 == 31 && votes > 0)
    atomicAdd (&edges.counters->n_votes, (unsigned long long) votes);
  __syncthreads ();
  for (int g = threadIdx.x; g < space.n_groups; g += THREADS) {
    if (counts[g] > 0)
      atomicAdd (&edges.counts->n[g], counts[g]);
  }
}

// ---- sorting ----

// Sums of all counts before each, and of all. By a block.
static __device__ void
add_up (unsigned *first, const unsigned *counts, int n)
{
  __shared__ unsigned ends[THREADS / 32];
  const int each = (n + THREADS - 1) / THREADS, begin = threadIdx.x * each;
  unsigned sum = 0, end, before = 0;

  for (int g = begin; g < min (begin + each, n); g++)
    sum += __ldcg (&counts[g]);
  end = cuv_running_sum (sum);
  if (threadIdx.x % 32 == 31)
    ends[threadIdx.x / 32] = end;
  __syncthreads ();
  for (int i = 0; i < cuv_warp_of_thread (); i++)
    before += ends[i];
  before += end - sum;
  for (int g = begin; g < min (begin + each, n); g++) {
    first[g] = before;
    before += __ldcg (&counts[g]);
  }
  if (threadIdx.x == THREADS - 1)
    first[n] = before;
  __syncthreads ();
}

// A block sorts a part of the edges.
static __global__ void
__launch_bounds__ (THREADS) sort_kernel (CuvEdges edges, int n_groups)
{
  __shared__ unsigned first[CUV_HOUGH_MAX_PERIOD + 1];
  __shared__ unsigned counts[CUV_HOUGH_MAX_PERIOD];

  cuv_let_next_kernel_start ();
  for (int g = threadIdx.x; g < n_groups; g += THREADS)
    counts[g] = 0;
  cuv_wait_for_previous_kernel ();
  add_up (first, edges.counts->n, n_groups);
  const unsigned n = first[n_groups];
  const unsigned each = (n + gridDim.x - 1) / gridDim.x;
  const unsigned begin = min (blockIdx.x * each, n),
                 end = min (begin + each, n);

  for (unsigned i = begin + threadIdx.x; i < end; i += THREADS)
    atomicAdd (&counts[__ldcg (&edges.groups[i])], 1u);
  __syncthreads ();
  for (int g = threadIdx.x; g < n_groups; g += THREADS) {
    const unsigned own = counts[g];

    if (own > 0)
      counts[g] = first[g] + atomicAdd (&edges.counts->used[g], own);
  }
  for (int g = threadIdx.x; blockIdx.x == 0 && g <= n_groups; g += THREADS)
    edges.counts->first[g] = first[g];
  __syncthreads ();
  for (unsigned i = begin + threadIdx.x; i < end; i += THREADS)
    edges.sorted[atomicAdd (&counts[__ldcg (&edges.groups[i])], 1u)] =
        __ldcg (&edges.pixels[i]);
}

int
cuv_sort_submit (const CuvEdges &edges, const CuvVoteSpace &space,
    const CuvFrame &frame, bool blurred, cudaStream_t stream)
{
  const int n = cuv_cuda_attribute (cudaDevAttrMultiProcessorCount);
  const int blocks = 2 * (n > 0 ? n : 1);

  if (cuv_launch_early ("group_kernel", blocks, THREADS, 0, stream,
          group_kernel, edges, space, frame, blurred)
      != 0)
    return -1;
  return cuv_launch_early ("sort_kernel", blocks, THREADS, 0, stream,
      sort_kernel, edges, space.n_groups);
}
