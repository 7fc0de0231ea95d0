// SPDX-License-Identifier: LGPL-2.1-or-later
// Votes and peaks without an accumulator (method=ring): a block counts votes in
// its rows and in the neighbouring rows that its peaks are compared with.
#include "hough/peaks.cuh"
#include "hough/slice.cuh"

#include <algorithm>

// A row in shared memory as seen from the block's rows: cell r is word middle +
// sign * r.
struct View {
  int row;               // row of the layout, -1 = none
  int sign, first, last; // range of cells
  int middle;            // word of cell 0
};

// Rows placed in shared memory, and the words they take.
struct SliceSize {
  int n_rows, n_words;
};

// Lays out rows k .. k + n - 1, if the layout has them, in shared memory.
static __device__ __forceinline__ SliceSize
place_rows (View *views, CuvHoughSliceRow *slice_rows,
    const CuvHoughDeviceLayout &layout, int k, int n)
{
  SliceSize placed = { 0, 0 };

  for (int i = 0; i < n; i++) {
    int sign;
    const int row = cuv_wrap_row (layout.n_rows, layout.period, k + i, &sign);
    View view = { row, sign, 1, 0, 0 };

    if (row >= 0) {
      const CuvHoughVoteRow &votes = layout.rows[row];

      view = View{ row, sign, votes.first_cell,
        votes.first_cell + votes.n_cells - 1,
        placed.n_words - votes.first_cell };
      if ((int) threadIdx.x == i)
        slice_rows[placed.n_rows] = slice_row (votes, placed.n_words);
      placed.n_rows++;
      placed.n_words += cuv_padded (votes.n_cells);
    }
    if ((int) threadIdx.x == i)
      views[i] = view;
  }
  return placed;
}

// Votes in the n rows of views. Called by a block.
static __device__ __forceinline__ void
vote_for_rows (unsigned *cells, const View *views, int n,
    const CuvHoughSliceRow *slice_rows, int n_slice_rows,
    const CuvHoughDeviceLayout &layout, const CuvHoughEdges &edges)
{
  if (edges.bins == nullptr) {
    cuv_vote_in_slice (cells, slice_rows, n_slice_rows, edges,
        cuv_warp_of_thread (), CUV_HOUGH_VOTE_THREADS / 32);
    return;
  }
  for (int i = 0, k = 0; i < n; i++) {
    if (views[i].row >= 0)
      cuv_vote_in_window (cells, slice_rows[k++], layout.rows[views[i].row],
          edges, layout.n_bins);
  }
}

// Finds the peaks of row k, whose view is views[0].
static __device__ __forceinline__ void
find_peaks (const unsigned *cells, const View *views,
    const CuvHoughDeviceLayout &layout, const CuvPeakParams &params,
    const CuvHoughPeaks &peaks, int k)
{
  const View own = views[0];
  const auto votes_at = [&] (int r, int dk, int dr) {
    const View &view = views[dk];
    const int at = view.sign * (r + dr);

    return at >= view.first && at <= view.last ? cells[view.middle + at] : 0;
  };

  for (int r = own.first + threadIdx.x; r - (int) threadIdx.x % 32 <= own.last;
       r += CUV_HOUGH_VOTE_THREADS) {
    const unsigned votes = r <= own.last ? cells[own.middle + r] : 0;
    bool peak = cuv_is_near_peak (params, votes, r, votes_at);
    unsigned left = cuv_looks_far (params) ? __ballot_sync (~0u, peak) : 0;

    for (; left != 0; left &= left - 1) {
      const int lane = __ffs (left) - 1, r_there = __shfl_sync (~0u, r, lane);
      const bool far = cuv_is_far_peak (params, __shfl_sync (~0u, votes, lane),
          [&] (int dk, int dr) { return votes_at (r_there, dk, dr); });

      peak &= far || (int) threadIdx.x % 32 != lane;
    }
    if (peak)
      cuv_add_peak (peaks, cuv_peak_key (votes, k, r, layout.radius));
  }
}

// Grid: slices of rows_per_slice rows. Dynamic shared memory: the cells of a
// slice and of cuv_reach() rows on either side.
static __global__ void
__launch_bounds__ (CUV_HOUGH_VOTE_THREADS, 1)
    ring_kernel (CuvHoughDeviceLayout layout, CuvHoughEdges edges,
        CuvPeakParams params, CuvHoughPeaks peaks, int rows_per_slice)
{
  extern __shared__ uint4 cells_of_block[];
  unsigned *cells = (unsigned *) cells_of_block;
  __shared__ CuvHoughSliceRow slice_rows[CUV_HOUGH_MAX_SLICE_ROWS + 1];
  __shared__ View views[CUV_HOUGH_MAX_SLICE_ROWS];
  const int first = blockIdx.x * rows_per_slice, reach = cuv_reach (params);
  const int n = min (rows_per_slice, layout.n_rows - first);

  cuv_pdl_trigger ();
  const SliceSize placed =
      place_rows (views, slice_rows, layout, first - reach, n + 2 * reach);

  for (int i = 4 * threadIdx.x; i < placed.n_words;
       i += 4 * CUV_HOUGH_VOTE_THREADS)
    *(uint4 *) (cells + i) = make_uint4 (0, 0, 0, 0);
  __syncthreads ();
  cuv_pdl_wait ();
  vote_for_rows (
      cells, views, n + 2 * reach, slice_rows, placed.n_rows, layout, edges);
  __syncthreads ();
  for (int k = 0; k < n; k++)
    find_peaks (cells, views + reach + k, layout, params, peaks, first + k);
}

// Returns an upper bound of the number of words that n rows from k on take.
static size_t
words_of (const std::vector<CuvHoughVoteRow> &rows, int period, int k, int n)
{
  size_t words = 0;

  for (int i = k; i < k + n; i++) {
    int sign;
    const int row = cuv_wrap_row ((int) rows.size (), period, i, &sign);

    words += row < 0 ? 0 : cuv_padded (rows[row].n_cells);
  }
  return words;
}

CuvHoughVotePlan
cuv_ring_plan (const std::vector<CuvHoughVoteRow> &rows, int period,
    const CuvPeakParams &params)
{
  const int n_rows = (int) rows.size (), reach = cuv_reach (params);
  const int n_blocks = cuv_cuda_multiprocessors ();
  CuvHoughVotePlan plan = { std::min (cuv_div_up (n_rows, n_blocks),
                                CUV_HOUGH_MAX_SLICE_ROWS - 2 * reach),
    0, 1, 0 };

  for (; plan.rows_per_slice > 0; plan.rows_per_slice--) {
    const int n = plan.rows_per_slice + 2 * reach;

    plan.n_slices = cuv_div_up (n_rows, plan.rows_per_slice);
    plan.shared = 0;
    for (int i = 0; i < plan.n_slices; i++)
      plan.shared = std::max (plan.shared,
          sizeof (unsigned)
              * words_of (rows, period, i * plan.rows_per_slice - reach, n));
    if (plan.shared + sizeof (View) * CUV_HOUGH_MAX_SLICE_ROWS
        <= cuv_shared_for_cells ())
      break;
  }
  return plan;
}

int
cuv_ring_submit (const CuvHoughVotePlan &plan,
    const CuvHoughDeviceLayout &layout, const CuvHoughEdges &edges,
    const CuvPeakParams &params, const CuvHoughPeaks &peaks,
    cudaStream_t stream)
{
  if (cuv_cuda_allow_shared ((const void *) ring_kernel, plan.shared) != 0)
    return -1;
  return cuv_launch_dependent ("ring_kernel", plan.n_slices,
      CUV_HOUGH_VOTE_THREADS, plan.shared, stream, ring_kernel, layout, edges,
      params, peaks, plan.rows_per_slice);
}
