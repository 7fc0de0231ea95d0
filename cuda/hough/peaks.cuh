// SPDX-License-Identifier: LGPL-2.1-or-later
// Whether a cell is a peak, and how rows continue beyond 180 degrees.
#ifndef CUV_HOUGH_PEAKS_CUH
#define CUV_HOUGH_PEAKS_CUH

#include "hough/votes.cuh"

// Returns the number of rows, and of cells, on either side of a peak that its
// rule compares.
static __host__ __device__ __forceinline__ int
cuv_reach (const CuvPeakParams &params)
{
  return params.rule == CUV_PEAKS_ALL     ? 0
      : params.rule == CUV_PEAKS_CROSS    ? 1
      : params.rule == CUV_PEAKS_DOMINANT ? CUV_HOUGH_MAX_NEIGHBORHOOD / 2
                                          : params.neighborhood / 2;
}

// Returns the i-th of 0, -1, 1, -2, 2, ...
static __device__ __forceinline__ int
alternating_offset (int i)
{
  return i % 2 ? -(i / 2) - 1 : i / 2;
}

// Whether a cell's votes beat those of the cell dk rows and dr cells away; of
// equal ones the first cell wins.
static __device__ __forceinline__ bool
outvotes (unsigned own, unsigned other, int dk, int dr)
{
  return dk < 0 || (dk == 0 && dr < 0) ? own > other : own >= other;
}

// Whether a cell outvotes its neighbours. votes (dk, dr) returns the votes dk
// rows and dr cells away. The nearest cells, which usually decide, are loaded
// all at once, so that their latencies overlap.
template <typename Votes>
static __device__ __forceinline__ bool
is_highest (const CuvPeakParams &params, unsigned own, const Votes &votes)
{
  const bool square = params.rule >= CUV_PEAKS_SQUARE;
  const int reach = square ? params.neighborhood / 2 : cuv_reach (params);
  const int n = 2 * reach + 1;
  bool peak = true;

  if (reach == 0)
    return true;
#pragma unroll
  for (int i = 0; i < 9; i++) {
    const int dk = i / 3 - 1, dr = i % 3 - 1;

    // CROSS compares only the same cell of other rows
    if (i != 4)
      peak &= outvotes (own, votes (dk, dr), dk, dr)
          | !(square || dk == 0 || dr == 0);
  }
  if (!peak)
    return false;
  for (int i = 0; reach > 1 && i < n; i++) {
    const int dk = alternating_offset (i);

    for (int j = dk == 0 ? 1 : 0; j < n; j++) {
      const int dr = alternating_offset (j);

      if (!outvotes (own, votes (dk, dr), dk, dr))
        return false;
    }
  }
  return true;
}

// Whether no cell within reach has more than 3/2 as many votes. Called by a
// warp: each lane takes a column, so that all cells are loaded at once.
template <typename Votes>
static __device__ __forceinline__ bool
is_dominant (unsigned own, const Votes &votes)
{
  constexpr int reach = CUV_HOUGH_MAX_NEIGHBORHOOD / 2;
  const int dr = min ((int) threadIdx.x % 32 - reach, reach);
  unsigned most = 0;

  static_assert (2 * reach + 1 <= 32, "a warp has a lane for each column");
#pragma unroll
  for (int dk = -reach; dk <= reach; dk++)
    most = max (most, votes (dk, dr));
  return 3ull * own >= 2ull * cuv_warp_max (most);
}

// Whether cell r, which has `own` votes, is a peak. votes_at (r, dk, dr)
// returns the votes dk rows and dr cells away from a cell r. Called by whole
// warps, whose lanes have different cells.
template <typename VotesAt>
static __device__ __forceinline__ bool
cuv_is_peak (
    const CuvPeakParams &params, unsigned own, int r, const VotesAt &votes_at)
{
  bool peak = own > params.threshold
      && is_highest (
          params, own, [&] (int dk, int dr) { return votes_at (r, dk, dr); });

  if (params.rule != CUV_PEAKS_DOMINANT)
    return peak;
  for (unsigned left = __ballot_sync (~0u, peak); left != 0; left &= left - 1) {
    const int lane = __ffs (left) - 1, r_there = __shfl_sync (~0u, r, lane);
    const bool dominant = is_dominant (__shfl_sync (~0u, own, lane),
        [&] (int dk, int dr) { return votes_at (r_there, dk, dr); });

    peak &= dominant || (int) threadIdx.x % 32 != lane;
  }
  return peak;
}

// Maps row k into 0 .. n_rows - 1 and sets *sign to -1 if rho is negated.
// Returns -1 if the layout has no such row.
static __host__ __device__ __forceinline__ int
cuv_wrap_row (int n_rows, int period, int k, int *sign)
{
  const int end = n_rows > period ? n_rows : period;

  for (*sign = 1; k < 0; k += period)
    *sign = -*sign;
  for (; k >= end; k -= period)
    *sign = -*sign;
  return k < n_rows ? k : -1;
}

static __device__ __forceinline__ void
cuv_add_peak (const CuvHoughPeaks &peaks, CuvHoughPeakKey key)
{
  peaks.keys[atomicAdd (&peaks.counters->n_found, 1u)] = key;
}

#endif
