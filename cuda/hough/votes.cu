// SPDX-License-Identifier: LGPL-2.1-or-later
// Votes on the GPU: a block has slices of a few rows in shared memory and a
// part of the edges; the parts are added up in the accumulator.
#include "hough/slices.cuh"

#include <algorithm>

// Adds a block's cells to the accumulator's.
static __device__ __forceinline__ void
add_up (unsigned *accumulator, const unsigned *cells, int n)
{
  for (int i = threadIdx.x; i < n; i += CUV_VOTE_THREADS) {
    if (cells[i] != 0)
      atomicAdd (&accumulator[i], cells[i]);
  }
}

// Grid: groups of rows x parts of the edges.
static __global__ void
__launch_bounds__ (CUV_VOTE_THREADS, 1) vote_kernel (CuvVoteSpace space,
    CuvEdges edges, unsigned *accumulator, int rows_per_block)
{
  extern __shared__ unsigned cells[];
  __shared__ Slice slices[CUV_MAX_SLICES];
  __shared__ uint2 queues[CUV_VOTE_THREADS / 32][QUEUE];
  const int first_row = blockIdx.x * rows_per_block;
  const int n_rows = min (rows_per_block, space.n_rows - first_row);
  const CuvVoteRow *rows = space.rows + first_row;
  const int n_warps = gridDim.y * (CUV_VOTE_THREADS / 32);
  const int warp = cuv_warp_of_thread ();
  int n_words = 0;

  cuv_let_next_kernel_start ();
  for (int k = 0; k < n_rows; n_words += rows[k++].n_cells) {
    if ((int) threadIdx.x == k)
      slices[k] = slice_of (rows[k], n_words);
  }
  for (int i = threadIdx.x; i < n_words; i += CUV_VOTE_THREADS)
    cells[i] = 0;
  __syncthreads ();
  cuv_wait_for_previous_kernel ();
  cuv_vote_in_slices (cells, slices, n_rows, space, edges, queues[warp],
      blockIdx.y * (CUV_VOTE_THREADS / 32) + warp, n_warps);
  __syncthreads ();
  for (int k = 0, word = 0; k < n_rows; word += rows[k++].n_cells)
    add_up (accumulator + rows[k].start, cells + word, rows[k].n_cells);
}

// ---- the simplest way ----

static __global__ void
vote_global_kernel (CuvVoteSpace space, CuvEdges edges, unsigned *accumulator)
{
  cuv_let_next_kernel_start ();
  cuv_wait_for_previous_kernel ();
  const unsigned n = __ldcg (&edges.counters->n_edges);

  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += gridDim.x * blockDim.x) {
    const unsigned pixel = __ldcg (&edges.pixels[i]);
    const int x = pixel & 0xffff, y = pixel >> 16;
    const int group = edges.groups != nullptr ? __ldcg (&edges.groups[i]) : 0;

    for (int k = 0; k < space.n_rows; k++) {
      const CuvVoteRow &row = space.rows[k];

      if (edges.groups == nullptr
          || cuv_row_takes (space, row.first_group, row.n_groups, group))
        atomicAdd (&accumulator[row.start - row.first_cell
                       + ((x * row.dx + y * row.dy + row.offset) >> 16)],
            1u);
    }
  }
}

// ---- launchers ----

// As many rows as fit, or fewer if that deals them out to multiprocessors more
// evenly: the time goes with rows of a block by parts.
CuvVotePlan
cuv_vote_plan (const std::vector<CuvVoteRow> &rows)
{
  const int n_blocks =
      std::max (1, cuv_cuda_attribute (cudaDevAttrMultiProcessorCount));
  const int n_rows = (int) rows.size ();
  CuvVotePlan best = {};
  double best_time = 0;

  for (int n = 1; n <= std::min (CUV_MAX_SLICES, n_rows); n++) {
    CuvVotePlan plan = { n, cuv_div_up (n_rows, n), 1, 0 };

    for (int first = 0; first < n_rows; first += n) {
      size_t words = 0;

      for (int k = first; k < std::min (n_rows, first + n); k++)
        words += rows[k].n_cells;
      plan.shared = std::max (plan.shared, words * sizeof (unsigned));
    }
    if (plan.shared > cuv_room_for_cells ())
      break;
    plan.parts = std::max (1, n_blocks / plan.groups);
    const double rounds = cuv_div_up (plan.groups * plan.parts, n_blocks);
    const double time = rounds * n / plan.parts;

    if (best.groups == 0 || time < best_time * .97) {
      best = plan;
      best_time = time;
    }
  }
  return best;
}

int
cuv_vote_shared_submit (const CuvVotePlan &plan, const CuvVoteSpace &space,
    const CuvEdges &edges, unsigned *cells, cudaStream_t stream)
{
  const dim3 grid (plan.groups, plan.parts);

  if (cuv_cuda_allow_shared ((const void *) vote_kernel, plan.shared) != 0)
    return -1;
  return cuv_launch_early ("vote_kernel", grid, CUV_VOTE_THREADS, plan.shared,
      stream, vote_kernel, space, edges, cells, plan.rows_per_block);
}

int
cuv_vote_global_submit (const CuvVoteSpace &space, const CuvEdges &edges,
    unsigned *cells, cudaStream_t stream)
{
  const int blocks =
      4 * std::max (1, cuv_cuda_attribute (cudaDevAttrMultiProcessorCount));

  return cuv_launch_early ("vote_global_kernel", blocks, 256, 0, stream,
      vote_global_kernel, space, edges, cells);
}
