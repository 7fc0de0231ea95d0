// SPDX-License-Identifier: LGPL-2.1-or-later
// Segments of regions of edges, as in reference/regions.c. A label is the index
// of an edge; edges are listed in any order, so no result depends on the values
// of labels. Edges are then listed by region, so that a block splits regions by
// itself. What other threads may write in the same step is read by __ldcg().
#include <cooperative_groups.h>

#include "hough/directions.cuh"
#include "hough/region-parts.cuh"

// ---- regions ----

static __device__ void
find_directions (
    const CuvHoughRegionWork &work, const CuvFrame &grey, unsigned n)
{
  const int n_bins = work.layout.n_bins;

  for (unsigned i = first_edge (); i < n; i += n_threads ()) {
    const unsigned pixel = work.edges.pixels[i];
    const short2 gradient = gradient_of (grey, pixel);

    work.edges.bins[i] =
        (uint16_t) (find_bin (work.layout.boundaries, n_bins, gradient)
            + (is_turned (gradient) ? n_bins : 0));
    work.regions.labels[i] = work.regions.roots[i] = (int) i;
    work.regions.places[i].edge = 0;
    *index_at (work, pixel) = (int) i;
  }
}

// Finds the neighbours above and to the left that belong with edge i; -1: none.
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

// Sets the parent of each edge to the neighbour with the smallest index that
// belongs with it, or to the edge itself. This unites most edges, and no thread
// waits for another.
static __device__ void
hang (const CuvHoughRegionWork &work, unsigned n)
{
  for (unsigned i = first_edge (); i < n; i += n_threads ()) {
    int mates[4], parent = (int) i;

    find_mates (work, i, mates);
    work.regions.mates[i] = int4{ mates[0], mates[1], mates[2], mates[3] };
#pragma unroll
    for (int k = 0; k < 4; k++)
      parent = mates[k] >= 0 ? min (parent, mates[k]) : parent;
    work.regions.labels[i] = parent;
  }
}

// Sets the parent of each edge to the root of its tree. All threads do so at
// the same time, so paths become shorter while they are followed.
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

// Unites the trees of edges that belong together. Each tree is flat: the parent
// of every edge is the root.
static __device__ void
join (const CuvHoughRegionWork &work, unsigned n)
{
  int *const labels = work.regions.labels;

  for (unsigned i = first_edge (); i < n; i += n_threads ()) {
    const int root = __ldcg (&labels[i]);
    const int4 found = work.regions.mates[i];
    const int mates[] = { found.x, found.y, found.z, found.w };
    int roots[4];

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

// Counts the edges of each label; the edges of a warp often have the same one.
// Called by a warp for edges i; label -1: none.
static __device__ __forceinline__ void
count (const CuvHoughRegionWork &work, unsigned i, int label)
{
  const unsigned mates = __match_any_sync (~0u, label);
  const unsigned lane = threadIdx.x % 32, leader = __ffs (mates) - 1;
  unsigned before = 0;

  if (label >= 0 && lane == leader)
    before = atomicAdd (&work.regions.places[label].edge, __popc (mates));
  before = __shfl_sync (~0u, before, leader);
  if (label >= 0)
    work.regions.parts[i] = (int) before + __popc (mates & ((1u << lane) - 1));
}

// Labels edges by the roots of their trees.
static __device__ void
label (const CuvHoughRegionWork &work, unsigned n, int pass)
{
  for (unsigned first = first_of_warp (); first < n; first += n_threads ()) {
    const unsigned i = first + threadIdx.x % 32;
    int label = -1;

    if (i < n) {
      label = pass == 0
          ? cuv_find_root (work.regions.labels, (int) i)
          : cuv_find_root (work.regions.roots, work.regions.labels[i]);
      work.regions.labels[i] = label;
    }
    count (work, i, label);
  }
}

// ---- edges by region ----

// Returns the number of edges of the region that edge i is the label of;
// otherwise 0.
static __device__ __forceinline__ unsigned
size_at (const CuvHoughRegionWork &work, unsigned n, unsigned i)
{
  return i < n && work.regions.labels[i] == (int) i
      ? __ldcg (&work.regions.places[i].edge)
      : 0;
}

// Lists regions, and reserves a place for the edges of each, in the same order.
static __device__ void
list_regions (const CuvHoughRegionWork &work, unsigned n, int pass)
{
  const unsigned lane = threadIdx.x % 32;
  unsigned long long at = 0; // edges << 32 | regions

  for (unsigned first = first_of_warp (); first < n; first += n_threads ()) {
    const unsigned size = size_at (work, n, first + lane);

    at += (unsigned long long) cuv_warp_sum (size) << 32
        | __popc (__ballot_sync (~0u, size > 0));
  }
  if (at == 0)
    return;
  if (lane == 0)
    at = atomicAdd (&work.edges.counters->n_listed[pass], at);
  at = __shfl_sync (~0u, at, 0);
  for (unsigned first = first_of_warp (); first < n; first += n_threads ()) {
    const unsigned size = size_at (work, n, first + lane);
    const unsigned regions = __ballot_sync (~0u, size > 0);
    const unsigned end = cuv_inclusive_scan (size);
    const unsigned edge = (unsigned) (at >> 32) + end - size;
    const unsigned region =
        (unsigned) at + __popc (regions & ((1u << lane) - 1));

    if (size > 0) {
      work.regions.places[first + lane] = CuvHoughRegionPlace{ edge, region };
      work.regions.list[region] = CuvHoughRegionEdges{ edge, size };
    }
    at += (unsigned long long) __shfl_sync (~0u, end, 31) << 32
        | __popc (regions);
  }
}

static __device__ void
list_edges (const CuvHoughRegionWork &work, unsigned n)
{
  for (unsigned i = first_edge (); i < n; i += n_threads ()) {
    const uint2 place =
        __ldcg ((const uint2 *) &work.regions.places[work.regions.labels[i]]);

    work.regions.edges[place.x + work.regions.parts[i]] =
        CuvHoughRegionEdge{ work.edges.pixels[i], (int) i,
          __ldcg (&work.edges.bins[i]), place.y };
  }
}

// Returns the first region of the list that begins at an edge or beyond.
static __device__ unsigned
region_from (
    const CuvHoughRegionWork &work, unsigned n, int pass, unsigned edge)
{
  if (edge >= n)
    return (unsigned) __ldcg (&work.edges.counters->n_listed[pass]);
  const unsigned region = __ldcg (&work.regions.edges[edge].region);

  return region + (__ldcg (&work.regions.list[region].edge) < edge);
}

// Splits the block's part of all regions, in chunks, and calls f with the
// splitter of each chunk.
template <typename F>
static __device__ void
split_all (const CuvHoughRegionWork &work, unsigned n, int pass, int n_splits,
    CuvHoughRegionParts *parts, const F &f)
{
  __shared__ unsigned limits[2], n_edges;

  if (threadIdx.x < 2)
    limits[threadIdx.x] = region_from (work, n, pass,
        (unsigned) ((unsigned long long) (blockIdx.x + threadIdx.x) * n
            / gridDim.x));
  __syncthreads ();
  const unsigned end = limits[1];

  for (unsigned region = limits[0], n_regions; region < end;
       region += n_regions) {
    const unsigned first = __ldcg (&work.regions.list[region].edge);
    const unsigned own = min (region + threadIdx.x, end - 1);
    const uint2 edges = __ldcg ((const uint2 *) &work.regions.list[own]);
    const unsigned up_to = edges.x + edges.y - first;
    const bool fits =
        region + threadIdx.x < end && up_to <= CUV_HOUGH_REGION_CHUNK;

    n_regions = max (1, __syncthreads_count (fits));
    if (threadIdx.x == n_regions - 1)
      n_edges = up_to;
    __syncthreads ();
    const CuvHoughRegionSplitter splitter = { work, &work.regions.edges[first],
      n_edges, parts };

    splitter.begin (region, (int) n_regions);
    splitter.run (n_splits);
    f (splitter);
    __syncthreads ();
  }
}

// Labels parts by their first edges, and lists those that look for others
// across gaps.
struct LabelParts {
  __device__ __forceinline__ void
  operator() (const CuvHoughRegionSplitter &splitter) const
  {
    const CuvHoughRegionBuffers &regions = splitter.work.regions;
    const CuvHoughRegionParts &parts = *splitter.parts;
    const int part = (int) threadIdx.x;

    splitter.for_each_edge ([&] (const CuvHoughRegionEdge &edge, int part) {
      regions.labels[edge.index] = parts.firsts[part];
    });
    if (part >= parts.n)
      return;
    const int label = parts.firsts[part];
    const bool bent = !splitter.is_straight (part);

    regions.boxes[label] = parts.boxes[part];
    regions.bent[label] = bent;
    if (!bent
        && splitter.chord_of_part (part).dt >= CUV_HOUGH_REGION_MIN_BRIDGED)
      regions
          .bridged[atomicAdd (&splitter.work.edges.counters->n_bridged, 1u)] =
          label;
  }
};

// ---- gaps ----

// Whether both ends of a region are near the chord of another.
static __device__ __forceinline__ bool
is_near (const CuvHoughRegionWork &work, const CuvRegionChord &chord, int other)
{
  const CuvRegionChord its = chord_of (work, other);

  return cuv_region_key (&chord, cuv_region_end (&its, 0), 0) == 0
      && cuv_region_key (&chord, cuv_region_end (&its, 1), 0) == 0;
}

// Returns the label of the region that continues a region, given by its label
// and chord, at a pixel; -1: none.
static __device__ __forceinline__ int
find_next (const CuvHoughRegionWork &work, const CuvRegionChord &chord,
    int label, unsigned pixel)
{
  const unsigned pixels[] = { pixel };
  const int direction =
      __ldcg (&work.edges.bins[label]); // bin of the region's first edge
  int edges[1];

  find_edges (work, pixels, edges);
  if (edges[0] < 0
      || !cuv_region_joins (
          direction, __ldcg (&work.edges.bins[edges[0]]), work.layout.n_bins))
    return -1;
  const int other = __ldcg (&work.regions.labels[edges[0]]);

  return other != label && !__ldcg (&work.regions.bent[other])
          && is_near (work, chord, other)
      ? other
      : -1;
}

// Unites a region with those that continue it, looked for in strips of three
// pixels beyond both ends of its chord. Called by a warp, a lane per pixel.
static __device__ void
bridge (const CuvHoughRegionWork &work, int label, int max_gap)
{
  const CuvRegionChord chord = chord_of (work, label);
  const int lane = threadIdx.x % 32, last = lane % 2, aside = lane / 2 % 3 - 1;

  for (int step = 1 + lane / 6; step <= max_gap + 1; step += 32 / 6) {
    unsigned pixel;

    if (lane < 32 / 6 * 6
        && cuv_region_beyond (&chord, last, step, aside, work.maps.width,
            work.maps.height, &pixel)) {
      const int other = find_next (work, chord, label, pixel);

      if (other >= 0)
        cuv_unite (work.regions.roots, label, other);
    }
  }
}

static __device__ void
merge (const CuvHoughRegionWork &work, unsigned n, int max_gap)
{
  const unsigned n_bridged = __ldcg (&work.edges.counters->n_bridged);

  for (unsigned i = first_edge (); i < n; i += n_threads ())
    work.regions.places[i].edge = 0; // cleared to count edges again
  for (unsigned i = first_of_warp () / 32; i < n_bridged;
       i += n_threads () / 32)
    bridge (work, __ldcg (&work.regions.bridged[i]), max_gap);
}

// ---- segments ----

// Lists the segments of straight parts by votes and the first end.
struct ListSegments {
  const CuvSegmentParams &params;
  unsigned threshold;
  const CuvHoughPeaks &found;

  __device__ __forceinline__ void
  operator() (const CuvHoughRegionSplitter &splitter) const
  {
    const CuvHoughRegionWork &work = splitter.work;
    const CuvHoughRegionParts &parts = *splitter.parts;
    const int part = (int) threadIdx.x;

    splitter.add_up ();
    if (part >= parts.n || !splitter.is_straight (part))
      return;
    const CuvRegionChord chord = splitter.chord_of_part (part);
    const CuvLineSegment segment =
        cuv_region_segment (&chord, &parts.sums[part]);

    if (chord.dt > 0
        && cuv_region_is_wanted (
            &segment, &work.layout.range, &params, threshold)) {
      work.regions.ends[parts.firsts[part]] =
          int4{ segment.x1, segment.y1, segment.x2, segment.y2 };
      cuv_add_peak (found,
          (CuvHoughPeakKey) segment.votes << 32 | ~cuv_region_end (&chord, 0));
    }
  }
};

// All steps in one cooperative launch: each takes less time than the launch of
// a kernel.
static __global__ void
__launch_bounds__ (CUV_HOUGH_REGION_THREADS, 1)
    regions_kernel (CuvHoughRegionWork work, CuvFrame grey,
        CuvSegmentParams params, unsigned threshold, CuvHoughPeaks found)
{
  __shared__ CuvHoughRegionParts parts;
  const cooperative_groups::grid_group grid = cooperative_groups::this_grid ();
  const unsigned n = count_edges (work);
  const auto group_edges = [&] (int pass) {
    label (work, n, pass);
    grid.sync ();
    list_regions (work, n, pass);
    grid.sync ();
    list_edges (work, n);
    grid.sync ();
  };

  if (n == 0)
    return;
  find_directions (work, grey, n);
  grid.sync ();
  hang (work, n);
  grid.sync ();
  flatten (work, n);
  grid.sync ();
  join (work, n);
  grid.sync ();
  group_edges (0);
  split_all (work, n, 0, CUV_HOUGH_REGION_SPLITS, &parts, LabelParts{});
  grid.sync ();
  merge (work, n, params.max_gap);
  grid.sync ();
  group_edges (1);
  split_all (work, n, 1, CUV_HOUGH_REGION_RESPLITS, &parts,
      ListSegments{ params, threshold, found });
}

// ---- launches ----

int
cuv_regions_submit (const CuvHoughRegionBuffers &regions,
    const CuvHoughMaps &maps, const CuvHoughEdges &edges,
    const CuvHoughDeviceLayout &layout, const CuvFrame &grey,
    const CuvHoughParams &params, const CuvHoughPeaks &peaks,
    cudaStream_t stream)
{
  const CuvHoughRegionWork work = { regions, maps, edges, layout };
  CuvHoughPeaks found = peaks;

  found.keys = regions.found;
  found.ends = regions.ends;
  found.edges_at = maps;
  found.host_segments = regions.host_segments;
  return cuv_launch_cooperative ("regions_kernel", CUV_HOUGH_REGION_THREADS,
             stream, regions_kernel, work, grey, params.segment,
             params.peaks.threshold, found)
          == 0
      ? cuv_best_submit (found, params.max_lines, stream)
      : -1;
}
