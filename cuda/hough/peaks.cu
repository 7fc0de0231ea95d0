// SPDX-License-Identifier: LGPL-2.1-or-later
// Finds the peaks of an accumulator in global memory.
#include "hough/peaks.cuh"

#define CUV_HOUGH_PEAK_THREADS 256
#define CUV_HOUGH_PEAK_FOURS 4 // groups of four cells that a thread checks
#define CUV_HOUGH_PEAK_CELLS (4 * CUV_HOUGH_PEAK_FOURS * CUV_HOUGH_PEAK_THREADS)

// A row as seen from a neighbouring one; beyond 180 degrees rho is negated. The
// votes for cell r are middle[sign * r].
struct CellView {
  const unsigned *middle;
  int sign, first, last; // range of cells
};

static __device__ __forceinline__ CellView
view_of (const CuvHoughDeviceLayout &layout, const unsigned *cells, int k)
{
  CellView view = { cells, 1, 1, 0 };
  const int row = cuv_wrap_row (layout.n_rows, layout.period, k, &view.sign);

  if (row < 0)
    return view;
  view.first = layout.rows[row].first_cell;
  view.last = view.first + layout.rows[row].n_cells - 1;
  view.middle = cells + layout.rows[row].start - view.first;
  return view;
}

// Lists the cells above the threshold among CUV_HOUGH_PEAK_CELLS from `first`
// on, as offsets from it.
static __device__ __forceinline__ void
list_cells (uint16_t *list, unsigned *n, const unsigned *cells, int n_cells,
    int first, unsigned threshold)
{
  __align__ (16) unsigned votes[CUV_HOUGH_PEAK_FOURS][4];
  unsigned count = 0, at = 0;

#pragma unroll
  for (int i = 0; i < CUV_HOUGH_PEAK_FOURS; i++) {
    const int cell = first + 4 * (i * CUV_HOUGH_PEAK_THREADS + threadIdx.x);

    *(uint4 *) votes[i] =
        cell < n_cells ? *(const uint4 *) (cells + cell) : uint4{};
  }
#pragma unroll
  for (int i = 0; i < 4 * CUV_HOUGH_PEAK_FOURS; i++)
    count += votes[i / 4][i % 4] > threshold;
  const unsigned end = cuv_inclusive_scan (count);

  if (threadIdx.x % 32 == 31 && end > 0)
    at = atomicAdd (n, end);
  at = __shfl_sync (~0u, at, 31) + end - count;
#pragma unroll
  for (int i = 0; i < 4 * CUV_HOUGH_PEAK_FOURS; i++) {
    if (votes[i / 4][i % 4] > threshold)
      list[at++] =
          (uint16_t) (4 * (i / 4 * CUV_HOUGH_PEAK_THREADS + threadIdx.x)
              + i % 4);
  }
}

// Grid: parts of a row x rows. Shared memory: the cells above the threshold, so
// that threads share their checks evenly; those of them that outvote the cells
// next to them, so that warps do.
static __global__ void
__launch_bounds__ (CUV_HOUGH_PEAK_THREADS)
    peak_kernel (CuvHoughDeviceLayout layout, const unsigned *cells,
        CuvPeakParams params, CuvHoughPeaks peaks)
{
  __shared__ CellView views[CUV_HOUGH_MAX_NEIGHBORHOOD];
  __shared__ uint16_t list[CUV_HOUGH_PEAK_CELLS], near[CUV_HOUGH_PEAK_CELLS];
  __shared__ unsigned n, n_near;
  const int k = blockIdx.y, reach = cuv_reach (params);
  const int first = blockIdx.x * CUV_HOUGH_PEAK_CELLS;
  const CuvHoughVoteRow row = layout.rows[k];

  cuv_pdl_trigger ();
  if (threadIdx.x == 0)
    n = n_near = 0;
  if ((int) threadIdx.x <= 2 * reach)
    views[threadIdx.x] = view_of (layout, cells, k + threadIdx.x - reach);
  __syncthreads ();
  cuv_pdl_wait ();
  if (blockIdx.x == 0 && k == 0 && threadIdx.x == 0)
    peaks.counters->voted_ns = cuv_nanoseconds ();
  list_cells (
      list, &n, cells + row.start, row.n_cells, first, params.threshold);
  __syncthreads ();
  const auto votes_at = [&] (int r, int dk, int dr) {
    const CellView &view = views[reach + dk];
    const int at = view.sign * (r + dr);
    // loaded in any case, so that no branch separates the loads
    const unsigned votes = view.middle[max (view.first, min (at, view.last))];

    return at >= view.first && at <= view.last ? votes : 0;
  };

  const auto add = [&] (int cell) {
    cuv_add_peak (peaks,
        cuv_peak_key (
            cells[row.start + cell], k, row.first_cell + cell, layout.radius));
  };

  for (unsigned i = threadIdx.x; i < n; i += CUV_HOUGH_PEAK_THREADS) {
    const int cell = first + list[i];

    if (!cuv_is_near_peak (
            params, cells[row.start + cell], row.first_cell + cell, votes_at))
      continue;
    if (cuv_looks_far (params))
      near[atomicAdd (&n_near, 1u)] = list[i];
    else
      add (cell);
  }
  __syncthreads ();
  for (unsigned i = cuv_warp_of_thread (); i < n_near;
       i += CUV_HOUGH_PEAK_THREADS / 32) {
    const int cell = first + near[i];
    const bool peak =
        cuv_is_far_peak (params, cells[row.start + cell], [&] (int dk, int dr) {
          return votes_at (row.first_cell + cell, dk, dr);
        });

    if (peak && threadIdx.x % 32 == 0)
      add (cell);
  }
}

int
cuv_peaks_submit (const CuvHoughDeviceLayout &layout, const unsigned *cells,
    const CuvPeakParams &params, const CuvHoughPeaks &peaks,
    cudaStream_t stream)
{
  const dim3 grid (
      cuv_div_up (layout.max_cells, CUV_HOUGH_PEAK_CELLS), layout.n_rows);

  return cuv_launch_dependent ("peak_kernel", grid, CUV_HOUGH_PEAK_THREADS, 0,
      stream, peak_kernel, layout, cells, params, peaks);
}
