// SPDX-License-Identifier: LGPL-2.1-or-later
// Segments of regions of edges, as in reference/regions.c. A label is the index
// of an edge; edges are listed in any order, so what a label is decides
// nothing. begin_kernel() finds directions, join_kernel() unites neighbours,
// box_kernel() and key_kernel() measure regions, split_kernel() splits them,
// merge_kernel() unites them across gaps. What a kernel writes for labels is in
// one buffer while it reads the other.
#include "hough/directions.cuh"
#include "hough/peaks.cuh"

#define THREADS 256

struct Work {
  CuvRegionBuffers regions;
  CuvMaps maps;
  CuvEdges edges;
  CuvDeviceLayout layout;
};

// The number of edges; 0 if they are too many. Called by all threads of a
// block.
static __device__ __forceinline__ unsigned
count_edges (const Work &work)
{
  const unsigned n = cuv_block_load (&work.edges.counters->n_edges);

  return n <= work.regions.max_edges ? n : 0;
}

// The edges of a thread: from first_edge(), every n_threads().
static __device__ __forceinline__ unsigned
first_edge ()
{
  return blockIdx.x * THREADS + threadIdx.x;
}

static __device__ __forceinline__ unsigned
n_threads ()
{
  return gridDim.x * THREADS;
}

static __device__ __forceinline__ int *
index_at (const Work &work, unsigned pixel)
{
  return &work.maps
              .parents[cuv_map_node (work.maps, pixel & 0xffff, pixel >> 16)];
}

static __device__ __forceinline__ CuvRegionBox
load_box (const CuvRegionBox *box)
{
  const uint4 v = __ldcg ((const uint4 *) box);

  return CuvRegionBox{ v.x, v.y, v.z, v.w };
}

static __device__ __forceinline__ void
store_box (CuvRegionBox *box, uint4 v)
{
  *(uint4 *) box = v;
}

static __device__ __forceinline__ CuvRegionChord
chord_of (const Work &work, int at, int label)
{
  const CuvRegionBox box = load_box (&work.regions.boxes[at][label]);

  return cuv_region_chord (&box);
}

// Whether edge i is the label of a region that needs no split.
static __device__ __forceinline__ bool
is_straight (const Work &work, int at, unsigned i)
{
  return __ldcg (&work.regions.labels[i]) == (int) i
      && __ldcg (&work.regions.keys[at][i]) == 0;
}

// Most pixels of a region change nothing.
static __device__ __forceinline__ void
extend (CuvRegionBox *box, unsigned pixel)
{
  const unsigned turned = pixel << 16 | pixel >> 16;
  const CuvRegionBox now = load_box (box);

  if (pixel < now.top)
    atomicMin (&box->top, pixel);
  if (pixel > now.bottom)
    atomicMax (&box->bottom, pixel);
  if (turned < now.left)
    atomicMin (&box->left, turned);
  if (turned > now.right)
    atomicMax (&box->right, turned);
}

static __device__ __forceinline__ int
side_of (const Work &work, const CuvRegionChord &chord, int direction)
{
  const bool turned = direction >= work.layout.n_bins;
  const short2 boundary =
      work.layout.boundaries[direction - (turned ? work.layout.n_bins : 0)];

  return cuv_region_side (&chord, boundary.x, boundary.y, turned);
}

// Whether edge i's direction is to the other side of its region's chord than
// that of the region's first edge.
static __device__ __forceinline__ bool
opposes (const Work &work, const CuvRegionChord &chord, unsigned i)
{
  const int first = __ldcg (index_at (work, cuv_region_end (&chord, 0)));

  return side_of (work, chord, __ldcg (&work.edges.bins[i]))
      != side_of (work, chord, __ldcg (&work.edges.bins[first]));
}

template <bool BLURRED>
static __global__ void
__launch_bounds__ (THREADS) begin_kernel (Work work, CuvFrame frame)
{
  __shared__ short2 boundaries[CUV_HOUGH_MAX_PERIOD];
  const int n_bins = work.layout.n_bins;

  cuv_pdl_trigger ();
  for (int g = threadIdx.x; g < n_bins; g += THREADS)
    boundaries[g] = work.layout.boundaries[g];
  cuv_pdl_wait ();
  const unsigned n = count_edges (work);

  for (unsigned i = first_edge (); i < n; i += n_threads ()) {
    const unsigned pixel = __ldcg (&work.edges.pixels[i]);
    const short2 gradient =
        gradient_of<BLURRED> (frame, pixel & 0xffff, pixel >> 16);

    work.edges.bins[i] = (uint16_t) (find_bin (boundaries, n_bins, gradient)
        + (is_turned (gradient) ? n_bins : 0));
    work.regions.labels[i] = work.regions.roots[i] = (int) i;
    *index_at (work, pixel) = (int) i;
    store_box (&work.regions.boxes[0][i], uint4{ ~0u, 0, ~0u, 0 });
    work.regions.keys[0][i] = 0;
  }
}

// The index of the edge at a pixel, or -1.
static __device__ __forceinline__ int
edge_at (const Work &work, unsigned pixel)
{
  const int x = pixel & 0xffff, y = pixel >> 16;
  const unsigned word = __ldcg (
      &work.maps.edges[(size_t) y * cuv_map_pitch (work.maps) + x / 32]);

  return word >> x % 32 & 1 ? __ldcg (index_at (work, pixel)) : -1;
}

// Unites an edge with its neighbours above and to the left.
static __global__ void
__launch_bounds__ (THREADS) join_kernel (Work work)
{
  cuv_pdl_trigger ();
  cuv_pdl_wait ();
  const unsigned n = count_edges (work);

  for (unsigned i = first_edge (); i < n; i += n_threads ()) {
    const unsigned pixel = __ldcg (&work.edges.pixels[i]);
    const int direction = __ldcg (&work.edges.bins[i]);

    for (int k = 0; k < 4; k++) { // no edge is on the frame's border
      const int j = edge_at (work, pixel - (k == 3 ? 1 : 0xffff + k));

      if (j >= 0
          && cuv_region_joins (
              direction, __ldcg (&work.edges.bins[j]), work.layout.n_bins))
        cuv_unite (work.regions.labels, (int) i, j);
    }
  }
}

static __global__ void
__launch_bounds__ (THREADS) box_kernel (Work work)
{
  cuv_pdl_trigger ();
  cuv_pdl_wait ();
  const unsigned n = count_edges (work);

  for (unsigned i = first_edge (); i < n; i += n_threads ()) {
    const int label = cuv_find_root (work.regions.labels, (int) i);

    work.regions.labels[i] = label;
    extend (&work.regions.boxes[0][label], __ldcg (&work.edges.pixels[i]));
  }
}

// Finds where to split, and clears the other buffer: its boxes become sums in
// the end, which begin at 0.
static __global__ void
__launch_bounds__ (THREADS) key_kernel (Work work, int at, bool last)
{
  cuv_pdl_trigger ();
  cuv_pdl_wait ();
  const unsigned n = count_edges (work), begin = last ? 0 : ~0u;

  for (unsigned i = first_edge (); i < n; i += n_threads ()) {
    const int label = __ldcg (&work.regions.labels[i]);
    const CuvRegionChord chord = chord_of (work, at, label);
    const unsigned long long key = cuv_region_key (
        &chord, __ldcg (&work.edges.pixels[i]), opposes (work, chord, i));
    unsigned long long *greatest = &work.regions.keys[at][label];

    if (key > __ldcg (greatest))
      atomicMax (greatest, key);
    store_box (&work.regions.boxes[!at][i], uint4{ begin, 0, begin, 0 });
    work.regions.keys[!at][i] = 0;
  }
}

static __global__ void
__launch_bounds__ (THREADS) split_kernel (Work work, int at)
{
  cuv_pdl_trigger ();
  cuv_pdl_wait ();
  const unsigned n = count_edges (work);

  for (unsigned i = first_edge (); i < n; i += n_threads ()) {
    int label = __ldcg (&work.regions.labels[i]);
    const unsigned pixel = __ldcg (&work.edges.pixels[i]);
    const unsigned long long key = __ldcg (&work.regions.keys[at][label]);

    if (key != 0) {
      const CuvRegionChord chord = chord_of (work, at, label);

      label = __ldcg (index_at (work,
          cuv_region_part (&chord, key, pixel, opposes (work, chord, i))));
      work.regions.labels[i] = label;
    }
    extend (&work.regions.boxes[!at][label], pixel);
  }
}

// ---- gaps ----

// Whether a region goes on in that of an edge: its ends are near the chord,
// too.
static __device__ bool
goes_on (const Work &work, const CuvRegionChord &chord, int direction, int edge,
    int other, int at)
{
  if (__ldcg (&work.regions.keys[at][other]) != 0
      || !cuv_region_joins (
          direction, __ldcg (&work.edges.bins[edge]), work.layout.n_bins))
    return false;
  const CuvRegionChord its = chord_of (work, at, other);

  return cuv_region_key (&chord, cuv_region_end (&its, 0), 0) == 0
      && cuv_region_key (&chord, cuv_region_end (&its, 1), 0) == 0;
}

// Looks for edges beyond both ends of each region, in strips of three pixels.
static __global__ void
__launch_bounds__ (THREADS) merge_kernel (Work work, int at, int max_gap)
{
  cuv_pdl_trigger ();
  cuv_pdl_wait ();
  const unsigned n = count_edges (work);

  for (unsigned i = first_edge (); i < n; i += n_threads ()) {
    if (!is_straight (work, at, i))
      continue;
    const CuvRegionChord chord = chord_of (work, at, (int) i);

    if (chord.dt < CUV_REGION_MIN_BRIDGED)
      continue;
    const int direction = __ldcg (
        &work.edges.bins[__ldcg (index_at (work, cuv_region_end (&chord, 0)))]);

    for (int k = 0; k < 6 * (max_gap + 1); k++) {
      unsigned pixel;
      const int edge =
          cuv_region_beyond (&chord, k % 2, k / 6 + 1, k / 2 % 3 - 1,
              work.maps.width, work.maps.height, &pixel)
          ? edge_at (work, pixel)
          : -1;
      const int other =
          edge < 0 ? (int) i : __ldcg (&work.regions.labels[edge]);

      if (other != (int) i && goes_on (work, chord, direction, edge, other, at))
        cuv_unite (work.regions.roots, (int) i, other);
    }
  }
}

static __global__ void
__launch_bounds__ (THREADS) relabel_kernel (Work work, int at)
{
  cuv_pdl_trigger ();
  cuv_pdl_wait ();
  const unsigned n = count_edges (work);

  for (unsigned i = first_edge (); i < n; i += n_threads ()) {
    const int label =
        cuv_find_root (work.regions.roots, __ldcg (&work.regions.labels[i]));

    work.regions.labels[i] = label;
    extend (&work.regions.boxes[!at][label], __ldcg (&work.edges.pixels[i]));
  }
}

// ---- segments ----

static __global__ void
__launch_bounds__ (THREADS) sum_kernel (Work work, int at)
{
  cuv_pdl_trigger ();
  cuv_pdl_wait ();
  const unsigned n = count_edges (work);

  for (unsigned i = first_edge (); i < n; i += n_threads ()) {
    const int label = __ldcg (&work.regions.labels[i]);

    if (__ldcg (&work.regions.keys[at][label]) != 0)
      continue;
    const CuvRegionChord chord = chord_of (work, at, label);
    CuvRegionSums *sums = (CuvRegionSums *) &work.regions.boxes[!at][label];
    int distance;
    const int half =
        cuv_region_half (&chord, __ldcg (&work.edges.pixels[i]), &distance);

    atomicAdd (&sums->n[half], 1);
    atomicAdd (&sums->sum[half], distance);
  }
}

static __device__ __forceinline__ CuvLineSegment
segment_of (const Work &work, int at, const CuvRegionChord &chord, int label)
{
  const uint4 v = __ldcg ((const uint4 *) &work.regions.boxes[!at][label]);
  const CuvRegionSums sums = { { (int) v.x, (int) v.y },
    { (int) v.z, (int) v.w } };

  return cuv_region_segment (&chord, &sums);
}

// Lists segments by votes and the first end.
static __global__ void
__launch_bounds__ (THREADS) list_kernel (Work work, CuvSegmentParams params,
    unsigned threshold, CuvPeaks found, int at)
{
  cuv_pdl_trigger ();
  cuv_pdl_wait ();
  const unsigned n = count_edges (work);

  for (unsigned i = first_edge (); i < n; i += n_threads ()) {
    if (!is_straight (work, at, i))
      continue;
    const CuvRegionChord chord = chord_of (work, at, (int) i);
    const CuvLineSegment segment = segment_of (work, at, chord, (int) i);

    if (chord.dt > 0
        && cuv_region_is_wanted (
            &segment, &work.layout.range, &params, threshold))
      cuv_add_peak (found,
          (CuvPeakKey) segment.votes << 32 | ~cuv_region_end (&chord, 0));
  }
}

static __global__ void
__launch_bounds__ (THREADS)
    write_kernel (Work work, CuvPeaks found, unsigned max, int at)
{
  const unsigned i = first_edge ();

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

template <typename... Parameters, typename... Arguments>
static int
launch (const char *name, cudaStream_t stream, void (*kernel) (Parameters...),
    const Arguments &...arguments)
{
  return cuv_launch_dependent (name, 4 * cuv_cuda_multiprocessors (), THREADS,
      0, stream, kernel, arguments...);
}

// Splits n times; *at becomes the buffer with the result.
static int
split (const Work &work, int n, int *at, cudaStream_t stream)
{
  for (; n > 0; n--, *at = !*at) {
    if (launch ("key_kernel", stream, key_kernel, work, *at, false) != 0
        || launch ("split_kernel", stream, split_kernel, work, *at) != 0)
      return -1;
  }
  return 0;
}

static int
merge (const Work &work, int max_gap, int *at, cudaStream_t stream)
{
  if (launch ("key_kernel", stream, key_kernel, work, *at, false) != 0
      || launch ("merge_kernel", stream, merge_kernel, work, *at, max_gap) != 0
      || launch ("relabel_kernel", stream, relabel_kernel, work, *at) != 0)
    return -1;
  *at = !*at;
  return 0;
}

static int
find_regions (const Work &work, const CuvFrame &frame,
    const CuvHoughParams &params, int *at, cudaStream_t stream)
{
  if (launch ("begin_kernel", stream,
          params.canny.blur ? begin_kernel<true> : begin_kernel<false>, work,
          frame)
          != 0
      || launch ("join_kernel", stream, join_kernel, work) != 0
      || launch ("box_kernel", stream, box_kernel, work) != 0
      || split (work, CUV_REGION_SPLITS, at, stream) != 0
      || merge (work, params.segment.max_gap, at, stream) != 0
      || split (work, CUV_REGION_RESPLITS, at, stream) != 0)
    return -1;
  return launch ("key_kernel", stream, key_kernel, work, *at, true);
}

int
cuv_regions_submit (const CuvRegionBuffers &regions, const CuvMaps &maps,
    const CuvEdges &edges, const CuvDeviceLayout &layout, const CuvFrame &frame,
    const CuvHoughParams &params, const CuvPeaks &peaks, cudaStream_t stream)
{
  const Work work = { regions, maps, edges, layout };
  CuvPeaks found = peaks;
  int at = 0;

  found.keys = regions.found;
  if (find_regions (work, frame, params, &at, stream) != 0
      || launch ("sum_kernel", stream, sum_kernel, work, at) != 0
      || launch ("list_kernel", stream, list_kernel, work, params.segment,
             params.peaks.threshold, found, at)
          != 0
      || cuv_best_submit (found, params.max_lines, stream) != 0)
    return -1;
  return cuv_launch_dependent ("write_kernel",
      cuv_div_up (params.max_lines, THREADS), THREADS, 0, stream, write_kernel,
      work, found, params.max_lines, at);
}
