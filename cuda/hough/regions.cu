// SPDX-License-Identifier: LGPL-2.1-or-later
// Segments of regions of edges, as in reference/regions.c. A label is the index
// of an edge; edges are listed in any order, so what a label is decides
// nothing. What a step writes for labels is in one buffer while it reads the
// other. A thread reads what it wrote itself directly, the rest by __ldcg().
#include <cooperative_groups.h>

#include "hough/directions.cuh"
#include "hough/region-buffers.cuh"

#define WRITE_THREADS 256
#define BEYOND 12 // pixels beyond a chord whose edges are loaded together

// The buffer that has the result: it changes with every split and merge.
#define AT_END ((CUV_HOUGH_REGION_SPLITS + 1 + CUV_HOUGH_REGION_RESPLITS) % 2)

// ---- regions ----

template <bool BLURRED>
static __device__ void
find_directions (
    const CuvHoughRegionWork &work, const CuvFrame &frame, unsigned n)
{
  const int n_bins = work.layout.n_bins;

  for (unsigned i = first_edge (); i < n; i += n_threads ()) {
    const unsigned pixel = work.edges.pixels[i];
    const short2 gradient =
        gradient_of<BLURRED> (frame, pixel & 0xffff, pixel >> 16);

    work.edges.bins[i] =
        (uint16_t) (find_bin (work.layout.boundaries, n_bins, gradient)
            + (is_turned (gradient) ? n_bins : 0));
    work.regions.labels[i] = work.regions.roots[i] = (int) i;
    *index_at (work, pixel) = (int) i;
    store_box (&work.regions.boxes[0][i], uint4{ ~0u, 0, ~0u, 0 });
    work.regions.keys[0][i] = 0;
  }
}

// The neighbours above and to the left that edge i belongs together with; -1:
// none.
static __device__ __forceinline__ void
find_mates (const CuvHoughRegionWork &work, unsigned i, int (&mates)[4])
{
  const unsigned pixel = work.edges.pixels[i];
  const int direction = work.edges.bins[i];
  // no edge is on the frame's border
  const unsigned around[] = { pixel - 0xffff, pixel - 0x10000, pixel - 0x10001,
    pixel - 1 };
  int directions[4];

  find_edges (work, around, mates);
#pragma unroll
  for (int k = 0; k < 4; k++)
    directions[k] = mates[k] >= 0 ? __ldcg (&work.edges.bins[mates[k]]) : 0;
#pragma unroll
  for (int k = 0; k < 4; k++) {
    if (mates[k] >= 0
        && !cuv_region_joins (direction, directions[k], work.layout.n_bins))
      mates[k] = -1;
  }
}

// Hangs each edge on one that belongs with it and has a smaller index, if there
// is one. Most are united so, without waiting for each other.
static __device__ void
hang (const CuvHoughRegionWork &work, unsigned n)
{
  for (unsigned i = first_edge (); i < n; i += n_threads ()) {
    int mates[4], parent = (int) i;

    find_mates (work, i, mates);
#pragma unroll
    for (int k = 0; k < 4; k++)
      parent = mates[k] >= 0 ? min (parent, mates[k]) : parent;
    work.regions.labels[i] = parent;
  }
}

// Hangs each edge on the root of its tree. All threads do so at the same time,
// so that paths become shorter while they are walked.
static __device__ void
flatten (const CuvHoughRegionWork &work, unsigned n)
{
  int *const labels = work.regions.labels;

  for (unsigned i = first_edge (); i < n; i += n_threads ()) {
    int parent = __ldcg (&labels[i]);

    for (int next; (next = __ldcg (&labels[parent])) != parent; parent = next)
      __stcg (&labels[i], next);
  }
}

// Unites the trees, which are flat, of edges that belong together.
static __device__ void
join (const CuvHoughRegionWork &work, unsigned n)
{
  int *const labels = work.regions.labels;

  for (unsigned i = first_edge (); i < n; i += n_threads ()) {
    const int root = __ldcg (&labels[i]);
    int mates[4], roots[4];

    find_mates (work, i, mates);
#pragma unroll
    for (int k = 0; k < 4; k++)
      roots[k] = mates[k] >= 0 ? __ldcg (&labels[mates[k]]) : root;
#pragma unroll
    for (int k = 0; k < 4; k++) {
      if (roots[k] != root && (k == 0 || roots[k] != roots[k - 1]))
        cuv_unite (labels, root, roots[k]);
    }
  }
}

static __device__ void
label (const CuvHoughRegionWork &work, unsigned n)
{
  for (unsigned first = first_of_warp (); first < n; first += n_threads ()) {
    const unsigned i = first + threadIdx.x % 32;
    const int label = i < n ? cuv_find_root (work.regions.labels, (int) i) : -1;

    if (i < n)
      work.regions.labels[i] = label;
    extend (work.regions.boxes[0], label, i < n ? work.edges.pixels[i] : 0);
  }
}

// Finds where to split, and clears the other buffer: its boxes become sums in
// the end, which begin at 0.
static __device__ void
find_keys (const CuvHoughRegionWork &work, unsigned n, int at, bool last)
{
  const unsigned begin = last ? 0 : ~0u;

  for (unsigned i = first_edge (); i < n; i += n_threads ()) {
    const int label = work.regions.labels[i];
    const CuvRegionChord chord = chord_of (work, at, label);
    const unsigned long long key =
        cuv_region_key (&chord, work.edges.pixels[i], opposes (work, chord, i));
    unsigned long long *greatest = &work.regions.keys[at][label];

    if (key > __ldcg (greatest))
      atomicMax (greatest, key);
    store_box (&work.regions.boxes[!at][i], uint4{ begin, 0, begin, 0 });
    work.regions.keys[!at][i] = 0;
  }
}

// The label of edge i after its region was split.
static __device__ __forceinline__ int
split_label (const CuvHoughRegionWork &work, unsigned i, int at)
{
  const int label = work.regions.labels[i];
  const unsigned long long key = __ldcg (&work.regions.keys[at][label]);
  const CuvRegionChord chord = chord_of (work, at, label);

  if (key == 0)
    return label;
  const bool aside =
      key >= CUV_HOUGH_REGION_OPPOSITE && opposes (work, chord, i);

  return __ldcg (index_at (
      work, cuv_region_part (&chord, key, work.edges.pixels[i], aside)));
}

static __device__ void
split (const CuvHoughRegionWork &work, unsigned n, int at)
{
  for (unsigned first = first_of_warp (); first < n; first += n_threads ()) {
    const unsigned i = first + threadIdx.x % 32;
    const int label = i < n ? split_label (work, i, at) : -1;

    if (i < n)
      work.regions.labels[i] = label;
    extend (work.regions.boxes[!at], label, i < n ? work.edges.pixels[i] : 0);
  }
}

// ---- gaps ----

// Whether both ends of a region are near the chord of another.
static __device__ __forceinline__ bool
is_near (const CuvHoughRegionWork &work, const CuvRegionChord &chord, int other,
    int at)
{
  const CuvRegionChord its = chord_of (work, at, other);

  return cuv_region_key (&chord, cuv_region_end (&its, 0), 0) == 0
      && cuv_region_key (&chord, cuv_region_end (&its, 1), 0) == 0;
}

// Replaces edges that a region does not go on in by -1, others by their labels.
static __device__ __forceinline__ void
find_others (const CuvHoughRegionWork &work, int label, int direction, int at,
    int (&edges)[BEYOND])
{
  int others[BEYOND], directions[BEYOND];

#pragma unroll
  for (int k = 0; k < BEYOND; k++) {
    others[k] = edges[k] < 0 ? label : __ldcg (&work.regions.labels[edges[k]]);
    directions[k] = edges[k] < 0 ? 0 : __ldcg (&work.edges.bins[edges[k]]);
  }
#pragma unroll
  for (int k = 0; k < BEYOND; k++)
    edges[k] = others[k] != label
            && cuv_region_joins (direction, directions[k], work.layout.n_bins)
            && __ldcg (&work.regions.keys[at][others[k]]) == 0
        ? others[k]
        : -1;
}

// Unites a region with those that it goes on in: in strips of three pixels
// beyond both ends of its chord.
static __device__ void
bridge (const CuvHoughRegionWork &work, const CuvRegionChord &chord, int label,
    int at, int max_gap)
{
  const int direction = __ldcg (
      &work.edges.bins[__ldcg (index_at (work, cuv_region_end (&chord, 0)))]);

  for (int step = 1; step <= max_gap + 1; step += BEYOND / 6) {
    unsigned pixels[BEYOND];
    int others[BEYOND], last = label;

#pragma unroll
    for (int k = 0; k < BEYOND; k++) {
      if (step + k / 6 > max_gap + 1
          || !cuv_region_beyond (&chord, k % 2, step + k / 6, k / 2 % 3 - 1,
              work.maps.width, work.maps.height, &pixels[k]))
        pixels[k] = CUV_HOUGH_REGION_NO_PIXEL;
    }
    find_edges (work, pixels, others);
    find_others (work, label, direction, at, others);
#pragma unroll
    for (int k = 0; k < BEYOND; k++) {
      if (others[k] >= 0 && others[k] != last
          && is_near (work, chord, others[k], at))
        cuv_unite (work.regions.roots, label, others[k]);
      last = others[k] >= 0 ? others[k] : last;
    }
  }
}

static __device__ void
merge (const CuvHoughRegionWork &work, unsigned n, int at, int max_gap)
{
  for (unsigned i = first_edge (); i < n; i += n_threads ()) {
    if (!is_straight (work, at, i))
      continue;
    const CuvRegionChord chord = chord_of (work, at, (int) i);

    if (chord.dt >= CUV_HOUGH_REGION_MIN_BRIDGED)
      bridge (work, chord, (int) i, at, max_gap);
  }
}

static __device__ void
relabel (const CuvHoughRegionWork &work, unsigned n, int at)
{
  for (unsigned first = first_of_warp (); first < n; first += n_threads ()) {
    const unsigned i = first + threadIdx.x % 32;
    const int label =
        i < n ? cuv_find_root (work.regions.roots, work.regions.labels[i]) : -1;

    if (i < n)
      work.regions.labels[i] = label;
    extend (work.regions.boxes[!at], label, i < n ? work.edges.pixels[i] : 0);
  }
}

// ---- segments ----

static __device__ void
add_up (const CuvHoughRegionWork &work, unsigned n, int at)
{
  for (unsigned i = first_edge (); i < n; i += n_threads ()) {
    const int label = work.regions.labels[i];

    if (__ldcg (&work.regions.keys[at][label]) != 0)
      continue;
    const CuvRegionChord chord = chord_of (work, at, label);
    CuvRegionSums *sums = (CuvRegionSums *) &work.regions.boxes[!at][label];
    int distance;
    const int half = cuv_region_half (&chord, work.edges.pixels[i], &distance);

    atomicAdd (&sums->n[half], 1);
    atomicAdd (&sums->sum[half], distance);
  }
}

static __device__ __forceinline__ CuvLineSegment
segment_of (const CuvHoughRegionWork &work, int at, const CuvRegionChord &chord,
    int label)
{
  const uint4 v = __ldcg ((const uint4 *) &work.regions.boxes[!at][label]);
  const CuvRegionSums sums = { { (int) v.x, (int) v.y },
    { (int) v.z, (int) v.w } };

  return cuv_region_segment (&chord, &sums);
}

// Lists segments by votes and the first end.
static __device__ void
list (const CuvHoughRegionWork &work, const CuvSegmentParams &params,
    unsigned threshold, const CuvHoughPeaks &found, unsigned n, int at)
{
  for (unsigned i = first_edge (); i < n; i += n_threads ()) {
    if (!is_straight (work, at, i))
      continue;
    const CuvRegionChord chord = chord_of (work, at, (int) i);
    const CuvLineSegment segment = segment_of (work, at, chord, (int) i);

    if (chord.dt > 0
        && cuv_region_is_wanted (
            &segment, &work.layout.range, &params, threshold))
      cuv_add_peak (found,
          (CuvHoughPeakKey) segment.votes << 32 | ~cuv_region_end (&chord, 0));
  }
}

// All steps in one cooperative launch: each takes less time than the launch of
// a kernel.
template <bool BLURRED>
static __global__ void
__launch_bounds__ (CUV_HOUGH_REGION_THREADS, 1)
    regions_kernel (CuvHoughRegionWork work, CuvFrame frame,
        CuvSegmentParams params, unsigned threshold, CuvHoughPeaks found)
{
  const cooperative_groups::grid_group grid = cooperative_groups::this_grid ();
  const unsigned n = count_edges (work);
  int at = 0;
  const auto split_all = [&] (int times) {
    for (; times > 0; times--, at = !at) {
      find_keys (work, n, at, false);
      grid.sync ();
      split (work, n, at);
      grid.sync ();
    }
  };

  if (n == 0)
    return;
  find_directions<BLURRED> (work, frame, n);
  grid.sync ();
  hang (work, n);
  grid.sync ();
  flatten (work, n);
  grid.sync ();
  join (work, n);
  grid.sync ();
  label (work, n);
  grid.sync ();
  split_all (CUV_HOUGH_REGION_SPLITS);
  find_keys (work, n, at, false);
  grid.sync ();
  merge (work, n, at, params.max_gap);
  grid.sync ();
  relabel (work, n, at);
  at = !at;
  grid.sync ();
  split_all (CUV_HOUGH_REGION_RESPLITS);
  find_keys (work, n, at, true);
  grid.sync ();
  add_up (work, n, at);
  grid.sync ();
  list (work, params, threshold, found, n, at);
}

static __global__ void
__launch_bounds__ (WRITE_THREADS) write_kernel (
    CuvHoughRegionWork work, CuvHoughPeaks found, unsigned max, int at)
{
  const unsigned i = blockIdx.x * WRITE_THREADS + threadIdx.x;

  cuv_pdl_trigger ();
  cuv_pdl_wait ();
  if (i >= min (__ldcg (&found.counters->n_found), max))
    return;
  const unsigned pixel = ~(unsigned) __ldcg (&found.best[i]);
  const int label =
      __ldcg (&work.regions.labels[__ldcg (index_at (work, pixel))]);

  work.regions.host_segments[i] =
      segment_of (work, at, chord_of (work, at, label), label);
}

// ---- launches ----

int
cuv_regions_submit (const CuvHoughRegionBuffers &regions,
    const CuvHoughMaps &maps, const CuvHoughEdges &edges,
    const CuvHoughDeviceLayout &layout, const CuvFrame &frame,
    const CuvHoughParams &params, const CuvHoughPeaks &peaks,
    cudaStream_t stream)
{
  const CuvHoughRegionWork work = { regions, maps, edges, layout };
  CuvHoughPeaks found = peaks;

  found.keys = regions.found;
  if (cuv_launch_cooperative ("regions_kernel", CUV_HOUGH_REGION_THREADS,
          stream,
          params.canny.blur ? regions_kernel<true> : regions_kernel<false>,
          work, frame, params.segment, params.peaks.threshold, found)
          != 0
      || cuv_best_submit (found, params.max_lines, stream) != 0)
    return -1;
  return cuv_launch_dependent ("write_kernel",
      cuv_div_up (params.max_lines, WRITE_THREADS), WRITE_THREADS, 0, stream,
      write_kernel, work, found, params.max_lines, AT_END);
}
