// SPDX-License-Identifier: LGPL-2.1-or-later
// Segments of the best peaks' lines. A line is walked along x or y, whichever
// it is closer to; a step has an edge if one of its pixels in or next to the
// line's cell is an edge. One launch counts segments, the next writes them in
// order of peaks.
#include "hough/votes.cuh"

#define THREADS 128
#define WARPS (THREADS / 32)

// A line and the axis it is walked along.
struct Walk {
  bool across;           // whether the walk is along x
  int n_steps, n_pixels; // the frame's size along and across the walk
  int along, aside;      // the row's dx and dy, or dy and dx
  long long low;         // minimum of x * dx + y * dy over the line's pixels
};

static __device__ Walk
walk_of (const CuvHoughDeviceLayout &layout, CuvHoughPeakKey key)
{
  int k, r;
  cuv_cell_of_key (key, layout.radius, &k, &r);
  const CuvHoughVoteRow &row = layout.rows[k];
  const bool across = abs (row.dy) >= abs (row.dx);

  return Walk{ across, across ? layout.width : layout.height,
    across ? layout.height : layout.width, across ? row.dx : row.dy,
    across ? row.dy : row.dx, 65536LL * (r - 1) - row.offset };
}

// Whether a step has an edge pixel in the line's cell or an adjacent one.
static __device__ bool
has_edge (const Walk &walk, const CuvHoughMaps &maps, int step)
{
  const long long low = walk.low - (long long) step * walk.along;
  const long long high = low + 3 * 65536;
  const int d = abs (walk.aside);
  const long long first = cuv_divide_up (walk.aside > 0 ? low : 1 - high, d);
  const long long end = cuv_divide_up (walk.aside > 0 ? high : 1 - low, d);

  for (long long v = max (first, 0LL); v < min (end, (long long) walk.n_pixels);
       v++) {
    const int x = walk.across ? step : (int) v,
              y = walk.across ? (int) v : step;

    if (__ldcg (&maps.edges[(size_t) y * cuv_map_pitch (maps) + x / 32])
            >> x % 32
        & 1)
      return true;
  }
  return false;
}

// Whether steps first .. last are min_length pixels or more along the line.
static __device__ bool
is_long (const Walk &walk, int first, int last, int min_length)
{
  const unsigned long long steps = last - first, length = min_length;
  const unsigned long long a = abs (walk.along), b = abs (walk.aside);

  if (min_length > walk.n_steps + walk.n_pixels)
    return false; // the products below would overflow
  return steps * steps * (a * a + b * b) >= length * length * (b * b);
}

// Finds a line's segments, called by one warp, and numbers them from n. Writes
// those below CUV_HOUGH_MAX_SEGMENTS to `to`, unless that is NULL. Returns the
// next number.
static __device__ unsigned
follow (const Walk &walk, const CuvHoughMaps &maps,
    const CuvSegmentParams &params, int peak, unsigned n, CuvHoughSegment *to)
{
  int first = -1, last = -1; // steps of the current segment
  const auto finish = [&] {
    if (first < 0 || !is_long (walk, first, last, params.min_length))
      return;
    if (to != nullptr && n < CUV_HOUGH_MAX_SEGMENTS && threadIdx.x % 32 == 0)
      to[n] = CuvHoughSegment{ peak, first, last };
    n++;
  };

  for (int begin = 0; begin < walk.n_steps; begin += 32) {
    const int step = begin + threadIdx.x % 32;
    unsigned edges =
        __ballot_sync (~0u, step < walk.n_steps && has_edge (walk, maps, step));

    for (; edges != 0; edges &= edges - 1) {
      const int at = begin + __ffs (edges) - 1;

      if (first < 0 || at - last - 1 > params.max_gap) {
        finish ();
        first = at;
      }
      last = at;
    }
  }
  finish ();
  return n;
}

// One warp per peak. If `to` is NULL, only counts.
static __global__ void
__launch_bounds__ (THREADS) segment_kernel (CuvHoughDeviceLayout layout,
    CuvHoughMaps maps, CuvHoughPeaks peaks, int max, CuvSegmentParams params,
    CuvHoughSegments segments, CuvHoughSegment *to)
{
  const int peak = blockIdx.x * WARPS + cuv_warp_of_thread ();
  unsigned n = 0;

  cuv_pdl_trigger ();
  cuv_pdl_wait ();
  const int n_peaks = min (__ldcg (&peaks.counters->n_found), (unsigned) max);

  if (peak >= n_peaks)
    return;
  for (int i = threadIdx.x % 32; to != nullptr && i < peak; i += 32)
    n += __ldcg (&segments.counts[i]);
  for (int bit = 16; bit > 0; bit /= 2)
    n += __shfl_xor_sync (~0u, n, bit);
  n = follow (
      walk_of (layout, __ldcg (&peaks.best[peak])), maps, params, peak, n, to);
  if (threadIdx.x % 32 != 0)
    return;
  if (to == nullptr)
    segments.counts[peak] = n;
  else if (peak == n_peaks - 1)
    peaks.host_counters->n_segments = n;
}

int
cuv_segments_submit (const CuvHoughDeviceLayout &layout,
    const CuvHoughMaps &maps, const CuvHoughPeaks &peaks, int max,
    const CuvSegmentParams &params, const CuvHoughSegments &segments,
    cudaStream_t stream)
{
  const int blocks = cuv_div_up (max, WARPS);

  for (CuvHoughSegment *to :
      { (CuvHoughSegment *) nullptr, segments.host_segments }) {
    if (cuv_launch_dependent ("segment_kernel", blocks, THREADS, 0, stream,
            segment_kernel, layout, maps, peaks, max, params, segments, to)
        != 0)
      return -1;
  }
  return 0;
}
