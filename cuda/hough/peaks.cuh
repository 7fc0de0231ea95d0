// SPDX-License-Identifier: LGPL-2.1-or-later
// Peaks: which cells are, and the best of them in order.
#ifndef CUV_HOUGH_PEAKS_CUH
#define CUV_HOUGH_PEAKS_CUH

#include "hough/votes.cuh"

// How many rows on either side of a peak its rule looks at.
static __device__ __forceinline__ int
cuv_reach (const CuvPeakParams &params)
{
  return params.rule == CUV_PEAKS_ALL  ? 0
      : params.rule == CUV_PEAKS_CROSS ? 1
                                       : params.neighborhood / 2;
}

// Whether a cell with more votes than the threshold is a peak. votes (dk, dr)
// are those of a cell dk rows and dr cells away; of equal ones the first is the
// peak.
template <typename Votes>
static __device__ __forceinline__ bool
cuv_is_peak (const CuvPeakParams &params, unsigned own, const Votes &votes)
{
  const int reach = cuv_reach (params);

  for (int dk = -reach; dk <= reach; dk++) {
    for (int dr = -reach; dr <= reach; dr++) {
      if ((dk == 0 && dr == 0)
          || (params.rule == CUV_PEAKS_CROSS && dk != 0 && dr != 0))
        continue;
      const unsigned other = votes (dk, dr);

      if (dk < 0 || (dk == 0 && dr < 0) ? own <= other : own < other)
        return false;
    }
  }
  return true;
}

// The row that k is, and whether its cells are turned round; -1 if there is
// none.
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
cuv_add_peak (const CuvPeaks &peaks, CuvPeakKey key)
{
  peaks.keys[atomicAdd (&peaks.counters->n_found, 1u)] = key;
}

#endif
