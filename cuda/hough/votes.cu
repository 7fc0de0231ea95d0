// SPDX-License-Identifier: LGPL-2.1-or-later
// Fills an accumulator in global memory. In vote_kernel a block counts the
// votes of a part of the edges in some rows in shared memory, then adds them.
// In vote_window_kernel it counts the votes in one row, by orientation.
// vote_global_kernel uses no shared memory.
#include "hough/slice.cuh"

#include <algorithm>
#include <math.h>

// Adds a block's n cells, a multiple of 4, to the cleared accumulator. If
// `alone` is set, no other block adds to them, so they are stored. A thread
// adds two cells at once and a warp contiguous ones, because an atomic costs
// time per 32 bytes.
static __device__ __forceinline__ void
add_cells (unsigned *accumulator, const unsigned *cells, int n, bool alone)
{
  for (int i = 2 * threadIdx.x; i < n; i += 2 * CUV_HOUGH_VOTE_THREADS) {
    const unsigned long long two = *(const unsigned long long *) (cells + i);
    unsigned long long *to = (unsigned long long *) (accumulator + i);

    if (alone)
      *to = two;
    else if (two != 0)
      atomicAdd (to, two); // adds to both cells: no carry
  }
}

// Grid: slices x parts of the edges. Dynamic shared memory: the slice's cells.
static __global__ void
__launch_bounds__ (CUV_HOUGH_VOTE_THREADS, 1)
    vote_kernel (CuvHoughDeviceLayout layout, CuvHoughEdges edges,
        unsigned *accumulator, int rows_per_slice)
{
  extern __shared__ uint4 cells_of_block[];
  unsigned *cells = (unsigned *) cells_of_block;
  __shared__ CuvHoughSliceRow slice_rows[CUV_HOUGH_MAX_SLICE_ROWS + 1];
  const int first_row = blockIdx.x * rows_per_slice;
  const int n_rows = min (rows_per_slice, layout.n_rows - first_row);
  const CuvHoughVoteRow *rows = layout.rows + first_row;
  const int n_warps = gridDim.y * (CUV_HOUGH_VOTE_THREADS / 32);

  cuv_pdl_trigger ();
  // the slice is a contiguous part of the accumulator
  const int start = rows[0].start;
  const int n_words =
      rows[n_rows - 1].start + cuv_padded (rows[n_rows - 1].n_cells) - start;

  if ((int) threadIdx.x < n_rows)
    slice_rows[threadIdx.x] =
        slice_row (rows[threadIdx.x], rows[threadIdx.x].start - start);
  for (int i = 4 * threadIdx.x; i < n_words; i += 4 * CUV_HOUGH_VOTE_THREADS)
    *(uint4 *) (cells + i) = make_uint4 (0, 0, 0, 0);
  __syncthreads ();
  cuv_pdl_wait ();
  cuv_vote_in_slice (cells, slice_rows, n_rows, edges,
      cuv_warp_of_thread () * gridDim.y + blockIdx.y, n_warps);
  __syncthreads ();
  add_cells (accumulator + start, cells, n_words, gridDim.y == 1);
}

// Votes with an orientation window: a block counts all votes in one row. Grid:
// rows.
static __global__ void
__launch_bounds__ (CUV_HOUGH_VOTE_THREADS) vote_window_kernel (
    CuvHoughDeviceLayout layout, CuvHoughEdges edges, unsigned *accumulator)
{
  extern __shared__ uint4 cells_of_block[];
  unsigned *cells = (unsigned *) cells_of_block;
  const CuvHoughVoteRow row = layout.rows[blockIdx.x];
  const int n = cuv_padded (row.n_cells);

  cuv_pdl_trigger ();
  for (int i = 4 * threadIdx.x; i < n; i += 4 * CUV_HOUGH_VOTE_THREADS)
    *(uint4 *) (cells + i) = make_uint4 (0, 0, 0, 0);
  cuv_pdl_wait ();
  cuv_vote_in_window (cells, slice_row (row, 0), row, edges, layout.n_bins);
  __syncthreads ();
  add_cells (accumulator + row.start, cells, n, true);
}

// Whether the edges of a bin vote in a row.
static __device__ __forceinline__ bool
votes_in (const CuvHoughVoteRow &row, int n_bins, int bin)
{
  const int behind = bin - row.first_bin;

  return (behind < 0 ? behind + n_bins : behind) < row.n_bins;
}

// Threads of the grid take turns at edges; a thread votes in all rows.
static __global__ void
vote_global_kernel (
    CuvHoughDeviceLayout layout, CuvHoughEdges edges, unsigned *accumulator)
{
  cuv_pdl_trigger ();
  cuv_pdl_wait ();
  const unsigned n = cuv_block_load (&edges.counters->n_edges);

  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += gridDim.x * blockDim.x) {
    const unsigned pixel = __ldcg (&edges.pixels[i]);
    const int x = pixel & 0xffff, y = pixel >> 16;
    const int bin = edges.bins != nullptr ? __ldcg (&edges.bins[i]) : 0;

    for (int k = 0; k < layout.n_rows; k++) {
      const CuvHoughVoteRow &row = layout.rows[k];

      if (edges.bins == nullptr || votes_in (row, layout.n_bins, bin))
        atomicAdd (&accumulator[row.start - row.first_cell
                       + ((x * row.dx + y * row.dy + row.offset) >> 16)],
            1u);
    }
  }
}

// Returns the estimated number of instructions per multiprocessor: each edge is
// read and votes in each row; cells are cleared, and stored or, which costs
// more, added if there are several parts. The number of edges is assumed to
// grow with the frame's side, not its area.
static double
estimated_cost (const CuvHoughVotePlan &plan, double n_pixels, double n_blocks)
{
  const double rounds = ceil (plan.n_slices * plan.parts / n_blocks);
  const double edges = 80 * sqrt (n_pixels) / plan.parts;

  return rounds
      * (edges * (10 + plan.rows_per_slice * 5.5)
          + plan.shared / 4. * (plan.parts > 1 ? 32 : 8));
}

// Chooses the number of rows per slice: with many rows a block has many cells
// to add; with few, the list of edges is read many times.
CuvHoughVotePlan
cuv_vote_plan (const std::vector<CuvHoughVoteRow> &rows, double n_pixels)
{
  const int n_blocks = cuv_cuda_multiprocessors ();
  const int n_rows = (int) rows.size ();
  CuvHoughVotePlan best = {};

  for (int n = 1; n <= std::min (CUV_HOUGH_MAX_SLICE_ROWS, n_rows); n++) {
    CuvHoughVotePlan plan = { n, cuv_div_up (n_rows, n), 1, 0 };

    for (int first = 0; first < n_rows; first += n) {
      size_t words = 0;

      for (int k = first; k < std::min (n_rows, first + n); k++)
        words += cuv_padded (rows[k].n_cells);
      plan.shared = std::max (plan.shared, words * sizeof (unsigned));
    }
    if (plan.shared > cuv_shared_for_cells ())
      break;
    plan.parts = std::max (1, n_blocks / plan.n_slices);
    if (best.n_slices == 0
        || estimated_cost (plan, n_pixels, n_blocks)
            < estimated_cost (best, n_pixels, n_blocks))
      best = plan;
  }
  return best;
}

int
cuv_vote_shared_submit (const CuvHoughVotePlan &plan,
    const CuvHoughDeviceLayout &layout, const CuvHoughEdges &edges,
    unsigned *cells, cudaStream_t stream)
{
  const dim3 grid (plan.n_slices, plan.parts);

  if (edges.bins != nullptr) {
    const size_t shared = cuv_padded (layout.max_cells) * sizeof (unsigned);

    if (cuv_cuda_allow_shared ((const void *) vote_window_kernel, shared) != 0)
      return -1;
    return cuv_launch_dependent ("vote_window_kernel", layout.n_rows,
        CUV_HOUGH_VOTE_THREADS, shared, stream, vote_window_kernel, layout,
        edges, cells);
  }
  if (cuv_cuda_allow_shared ((const void *) vote_kernel, plan.shared) != 0)
    return -1;
  return cuv_launch_dependent ("vote_kernel", grid, CUV_HOUGH_VOTE_THREADS,
      plan.shared, stream, vote_kernel, layout, edges, cells,
      plan.rows_per_slice);
}

int
cuv_vote_global_submit (const CuvHoughDeviceLayout &layout,
    const CuvHoughEdges &edges, unsigned *cells, cudaStream_t stream)
{
  const int blocks = 4 * cuv_cuda_multiprocessors ();

  return cuv_launch_dependent ("vote_global_kernel", blocks, 256, 0, stream,
      vote_global_kernel, layout, edges, cells);
}
