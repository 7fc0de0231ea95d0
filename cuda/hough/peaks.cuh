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

// Whether a cell's votes beat those of the cell dk rows and dr cells away; of
// equal ones the first cell wins.
static __device__ __forceinline__ bool
outvotes (unsigned own, unsigned other, int dk, int dr)
{
  return dk < 0 || (dk == 0 && dr < 0) ? own > other : own >= other;
}

// Whether a cell outvotes those next to it that its rule compares. votes (dk,
// dr) returns the votes dk rows and dr cells away. All cells are loaded at
// once, so that their latencies overlap.
template <typename Votes>
static __device__ __forceinline__ bool
outvotes_next (const CuvPeakParams &params, unsigned own, const Votes &votes)
{
  const bool square = params.rule >= CUV_PEAKS_SQUARE;
  bool peak = true;

  if (params.rule == CUV_PEAKS_ALL || (square && params.neighborhood < 3))
    return true;
#pragma unroll
  for (int i = 0; i < 9; i++) {
    const int dk = i / 3 - 1, dr = i % 3 - 1;

    // CROSS compares only the same cell of other rows
    if (i != 4)
      peak &= outvotes (own, votes (dk, dr), dk, dr)
          | !(square || dk == 0 || dr == 0);
  }
  return peak;
}

// Whether the rule compares a cell with more than those next to it.
static __device__ __forceinline__ bool
cuv_looks_far (const CuvPeakParams &params)
{
  return cuv_reach (params) > 1;
}

// Whether a cell that outvotes those next to it is a peak, if its rule compares
// up to `reach` rows and cells on either side. Called by a warp: each lane
// takes a column, so that all cells are loaded at once.
template <int reach, typename Votes>
static __device__ __forceinline__ bool
is_peak_within (const CuvPeakParams &params, unsigned own, const Votes &votes)
{
  static_assert (2 * reach + 1 <= 32, "a warp has a lane for each column");
  const int last = cuv_reach (params), highest = params.neighborhood / 2;
  const int dr = (int) threadIdx.x % 32 - reach;
  unsigned loaded[2 * reach + 1], most = 0;
  bool peak = true;

#pragma unroll
  for (int dk = -reach; dk <= reach; dk++)
    loaded[reach + dk] = max (abs (dk), abs (dr)) <= last ? votes (dk, dr) : 0;
#pragma unroll
  for (int dk = -reach; dk <= reach; dk++) {
    const unsigned other = loaded[reach + dk];

    most = max (most, other);
    if (max (abs (dk), abs (dr)) <= highest && (dk != 0 || dr != 0))
      peak &= outvotes (own, other, dk, dr);
  }
  // DOMINANT: no cell has more than 3/2 as many votes
  if (params.rule == CUV_PEAKS_DOMINANT)
    peak &= 3ull * own >= 2ull * most;
  return __ballot_sync (~0u, peak) == ~0u;
}

// The same for any reach.
template <typename Votes>
static __device__ __forceinline__ bool
cuv_is_far_peak (const CuvPeakParams &params, unsigned own, const Votes &votes)
{
  constexpr int most = CUV_HOUGH_MAX_NEIGHBORHOOD / 2;
  const int reach = cuv_reach (params);

  return reach <= 3 ? is_peak_within<3> (params, own, votes)
      : reach <= 7  ? is_peak_within<7> (params, own, votes)
                    : is_peak_within<most> (params, own, votes);
}

// Whether cell r, which has `own` votes, may be a peak: it is one unless
// cuv_looks_far(). votes_at (r, dk, dr) returns the votes dk rows and dr cells
// away from a cell r.
template <typename VotesAt>
static __device__ __forceinline__ bool
cuv_is_near_peak (
    const CuvPeakParams &params, unsigned own, int r, const VotesAt &votes_at)
{
  return own > params.threshold
      && outvotes_next (
          params, own, [&] (int dk, int dr) { return votes_at (r, dk, dr); });
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
