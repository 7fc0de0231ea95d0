// SPDX-License-Identifier: LGPL-2.1-or-later
// The line detector on the GPU: its memory, and the order of the kernels of a
// frame; see the map in hough.h.
#include "hough/hough.h"

#include <algorithm>
#include <memory>
#include <new>
#include <string.h>
#include <vector>
#include "cuv-arena.cuh"
#include "cuv-own-stream.cuh"
#include "cuv-wait.h"
#include "hough/peaks.cuh"

struct _CuvHoughCuda {
  CuvArena arena = {};
  CuvHoughDeviceLayout layout = {};
  CuvHoughMaps maps = {};
  CuvHoughEdges edges = {}; // has bins if the layout has a window
  CuvHoughPeaks peaks = {};
  CuvHoughSegments segments = {};
  CuvHoughRegionBuffers regions = {};    // empty if the layout excludes them
  CuvHoughVotePlan plan = {}, ring = {}; // plans for SHARED and RING
  int ring_reach = -1;       // cuv_reach() that `ring` was planned for
  unsigned *cells = nullptr; // the accumulator, rows one after the other
  size_t n_cells = 0;
  std::vector<CuvHoughVoteRow> rows; // the host's copy of layout.rows
  std::vector<CuvHoughPeak> best;
  // parameters of the last submit
  CuvHoughParams params = {};
  bool has_regions = false; // segments come from regions, without votes
  CuvHoughMethod method = CUV_HOUGH_SHARED;
  CuvReplay replay;     // of the kernels of a frame
  bool repeats = false; // the parameters are those of the submit before
  CuvOwnStream own;
  cudaStream_t stream = nullptr; // that of the frame, see CuvOwnStream
  cudaEvent_t done = nullptr;
  CuvWait wait = {};

  ~_CuvHoughCuda ();
};

_CuvHoughCuda::~_CuvHoughCuda ()
{
  if (done != nullptr)
    cuv_cuda_record (cudaEventDestroy (done), "cudaEventDestroy");
  cuv_arena_clear (&arena);
}

template <typename T>
static bool
cuv_hough_upload (
    CuvHoughCuda *self, const T **memory, const std::vector<T> &data)
{
  *memory = (const T *) cuv_arena_upload (
      &self->arena, data.data (), data.size () * sizeof (T));
  return *memory != nullptr;
}

static void
lay_out_rows (CuvHoughCuda *self, const CuvHoughLayout *layout)
{
  for (int k = 0; k < layout->n_rows; k++) {
    const CuvHoughRow &row = layout->rows[k];
    const int n = row.last_cell - row.first_cell + 1;

    self->rows.push_back (CuvHoughVoteRow{ row.dx, row.dy, row.offset,
        row.first_cell, n, row.first_bin, row.n_bins, (int) self->n_cells });
    self->n_cells += (size_t) cuv_padded (n);
    self->layout.max_cells = std::max (self->layout.max_cells, n);
  }
}

// Returns the number of rows in which each orientation bin votes.
static std::vector<uint16_t>
cuv_hough_count_rows (const CuvHoughLayout *layout)
{
  std::vector<uint16_t> n (layout->n_bins);

  for (int k = 0; k < layout->n_rows; k++) {
    const CuvHoughRow &row = layout->rows[k];

    for (int i = 0; i < row.n_bins; i++)
      n[(row.first_bin + i) % layout->n_bins]++;
  }
  return n;
}

static bool
init_layout (CuvHoughCuda *self, const CuvHoughLayout *layout)
{
  std::vector<short2> boundaries (layout->n_bins);

  self->layout.width = layout->width;
  self->layout.height = layout->height;
  self->layout.n_rows = layout->n_rows;
  self->layout.period = layout->period;
  self->layout.radius = layout->radius;
  self->layout.n_bins = layout->n_bins;
  self->layout.range = layout->range;
  for (int g = 0; g < layout->n_bins; g++)
    boundaries[g] =
        short2{ layout->boundaries[2 * g], layout->boundaries[2 * g + 1] };
  lay_out_rows (self, layout);
  self->plan =
      cuv_vote_plan (self->rows, (double) layout->width * layout->height);
  return cuv_hough_upload (self, &self->layout.rows, self->rows)
      && cuv_hough_upload (self, &self->layout.boundaries, boundaries)
      && cuv_hough_upload (
          self, &self->layout.bin_rows, cuv_hough_count_rows (layout));
}

static bool
init_maps (CuvHoughCuda *self, const CuvHoughLayout *layout)
{
  CuvHoughMaps *maps = &self->maps;
  const size_t n_pixels = (size_t) layout->width * layout->height;

  maps->width = layout->width;
  maps->height = layout->height;
  maps->tiles_x = cuv_div_up (layout->width, CUV_HOUGH_TILE_WIDTH);
  maps->tiles_y = cuv_div_up (layout->height, CUV_HOUGH_TILE_HEIGHT);
  return cuv_arena_new (&self->arena, &maps->edges, cuv_map_words (*maps))
      && cuv_arena_new (&self->arena, &maps->undecided, cuv_map_words (*maps))
      && cuv_arena_new (
          &self->arena, &maps->parents, 1 + 32 * cuv_map_words (*maps))
      && cuv_arena_new (&self->arena, &self->edges.pixels, n_pixels)
      && (layout->config.window >= 90
          || (cuv_arena_new (&self->arena, &maps->blurred,
                  (size_t) cuv_blurred_pitch (*maps) * maps->tiles_y
                      * CUV_HOUGH_TILE_HEIGHT)
              && cuv_arena_new (&self->arena, &self->edges.bins, n_pixels)
              && cuv_arena_new (&self->arena, &self->edges.sorted, n_pixels)
              && cuv_arena_new (&self->arena, &self->edges.counts, 1)));
}

static bool
init_regions (CuvHoughCuda *self, const CuvHoughLayout *layout)
{
  CuvHoughRegionBuffers *regions = &self->regions;
  const size_t n =
      (size_t) cuv_region_max_edges (layout->width, layout->height);

  if (layout->config.window >= 90 || layout->config.lines_only)
    return true;
  regions->max_edges = (unsigned) n;
  regions->labels = (int *) self->edges.sorted;
  regions->host_segments = (CuvLineSegment *) cuv_arena_pinned (
      &self->arena, CUV_HOUGH_MAX_LINES * sizeof (CuvLineSegment));
  if (!cuv_arena_new (&self->arena, &regions->edges, n)
      || !cuv_arena_new (&self->arena, &regions->boxes, n)
      || !cuv_arena_new (&self->arena, &regions->found, n / 2 + 1))
    return false;
  regions->mates = (int4 *) regions->edges;
  regions->ends = (int4 *) regions->boxes;
  regions->bridged = (int *) regions->found;
  return regions->host_segments != nullptr
      && cuv_arena_new (&self->arena, &regions->roots, n)
      && cuv_arena_new (&self->arena, &regions->parts, n)
      && cuv_arena_new (&self->arena, &regions->places, n)
      && cuv_arena_new (&self->arena, &regions->list, n)
      && cuv_arena_new (&self->arena, &regions->bent, n);
}

static bool
init_results (CuvHoughCuda *self)
{
  CuvHoughPeaks *peaks = &self->peaks;

  if (!cuv_arena_new (&self->arena, &peaks->keys, self->n_cells)
      || !cuv_arena_new (&self->arena, &peaks->best, CUV_HOUGH_MAX_LINES)
      || !cuv_arena_new (&self->arena, &peaks->counters, 1)
      || !cuv_arena_new (&self->arena, &self->cells, self->n_cells))
    return false;
  self->edges.counters = self->maps.counters = peaks->counters;
  peaks->host_counters = (CuvHoughCounters *) cuv_arena_pinned (
      &self->arena, sizeof *peaks->host_counters);
  peaks->host_best = (CuvHoughPeakKey *) cuv_arena_pinned (
      &self->arena, CUV_HOUGH_MAX_LINES * sizeof *peaks->host_best);
  self->segments.host_segments = (CuvHoughSegment *) cuv_arena_pinned (
      &self->arena, CUV_HOUGH_MAX_SEGMENTS * sizeof (CuvHoughSegment));
  if (peaks->host_counters != nullptr)
    *peaks->host_counters =
        CuvHoughCounters{}; // for a collect before the first submit
  return peaks->host_counters != nullptr && peaks->host_best != nullptr
      && self->segments.host_segments != nullptr
      && cuv_arena_new (
          &self->arena, &self->segments.counts, CUV_HOUGH_MAX_LINES);
}

static bool
cuv_hough_init (CuvHoughCuda *self, const CuvHoughLayout *layout)
{
  self->best.resize (CUV_HOUGH_MAX_LINES);
  return init_layout (self, layout) && init_maps (self, layout)
      && init_regions (self, layout) && init_results (self)
      && cuv_cuda_record (
             cudaEventCreateWithFlags (&self->done, cudaEventDisableTiming),
             "cudaEventCreateWithFlags")
      == 0
      && self->own.open (true) == 0;
}

extern "C" CuvHoughCuda *
cuv_hough_cuda_new (const CuvHoughLayout *layout)
{
  std::unique_ptr<CuvHoughCuda> self;

  try {
    self.reset (new _CuvHoughCuda);
    return cuv_hough_init (self.get (), layout) ? self.release () : nullptr;
  } catch (const std::bad_alloc &) {
    cuv_cuda_record (cudaErrorMemoryAllocation, "host memory");
    return nullptr;
  }
}

extern "C" void
cuv_hough_cuda_free (CuvHoughCuda *self)
{
  delete self;
}

// Chooses how votes are counted, see hough.h. GATHER becomes SHARED, which is
// 50 times as fast on a GPU (docs/houghlines.md).
static CuvHoughMethod
choose_method (CuvHoughCuda *self, const CuvHoughParams *params)
{
  CuvHoughMethod method = params->method;

  if (method == CUV_HOUGH_RING
      && self->ring_reach != cuv_reach (params->peaks)) {
    self->ring = cuv_ring_plan (self->rows, self->layout.period, params->peaks);
    self->ring_reach = cuv_reach (params->peaks);
  }
  if (method == CUV_HOUGH_AUTO || method == CUV_HOUGH_GATHER
      || (method == CUV_HOUGH_RING && self->ring.rows_per_slice == 0))
    method = CUV_HOUGH_SHARED;
  if (method == CUV_HOUGH_SHARED && self->plan.rows_per_slice == 0)
    method = CUV_HOUGH_GLOBAL;
  return method;
}

static int
submit_edges (CuvHoughCuda *self, const CuvFrame *frame, CuvReplay *recorded)
{
  return self->params.source == CUV_EDGES_CANNY
      ? cuv_maps_submit (
          self->maps, *frame, self->params.canny, self->stream, recorded)
      : cuv_maps_submit_input (self->maps, *frame, self->stream, recorded);
}

static int
submit_votes (CuvHoughCuda *self, const CuvHoughEdges &edges)
{
  return self->method == CUV_HOUGH_GLOBAL
      ? cuv_vote_global_submit (self->layout, edges, self->cells, self->stream)
      : cuv_vote_shared_submit (
          self->plan, self->layout, edges, self->cells, self->stream);
}

static int
submit_peaks (CuvHoughCuda *self, const CuvHoughEdges &edges)
{
  if (self->method == CUV_HOUGH_RING)
    return cuv_ring_submit (self->ring, self->layout, edges, self->params.peaks,
        self->peaks, self->stream);
  if (submit_votes (self, edges) != 0)
    return -1;
  return cuv_peaks_submit (
      self->layout, self->cells, self->params.peaks, self->peaks, self->stream);
}

// Edges of an input map have no gradient direction, so all vote in all rows.
static CuvHoughEdges
edges_of (const CuvHoughCuda *self)
{
  CuvHoughEdges edges = self->edges;

  if (self->params.source == CUV_EDGES_INPUT)
    edges.bins = nullptr;
  return edges;
}

// Returns the frame whose luma has the gradients of the edges: the frame itself
// or, if Canny blurs it, the blurred one.
static CuvFrame
grey_of (const CuvHoughCuda *self, const CuvFrame *frame)
{
  const CuvHoughMaps &maps = self->maps;

  if (!self->params.canny.blur)
    return *frame;
  return CuvFrame{ CUV_MODEL_GREY, frame->width, frame->height, 1,
    { { maps.blurred, cuv_blurred_pitch (maps), 1, 0, 0 } } };
}

static int
submit_list (
    CuvHoughCuda *self, const CuvFrame *frame, const CuvHoughEdges &edges)
{
  if (cuv_list_submit (
          self->maps, edges, self->cells, self->n_cells, self->stream)
      != 0)
    return -1;
  return edges.bins == nullptr ? 0
                               : cuv_sort_submit (edges, self->layout,
                                   grey_of (self, frame), self->stream);
}

static int
submit_regions (
    CuvHoughCuda *self, const CuvFrame *frame, const CuvHoughEdges &edges)
{
  if (cuv_list_submit (
          self->maps, edges, self->cells, self->n_cells, self->stream)
      != 0)
    return -1;
  return cuv_regions_submit (self->regions, self->maps, edges, self->layout,
      grey_of (self, frame), self->params, self->peaks, self->stream);
}

static int
submit_lines (
    CuvHoughCuda *self, const CuvFrame *frame, const CuvHoughEdges &edges)
{
  if (submit_list (self, frame, edges) != 0 || submit_peaks (self, edges) != 0
      || cuv_best_submit (self->peaks, self->params.max_lines, self->stream)
          != 0
      || (self->params.segments
          && cuv_segments_submit (self->layout, self->maps, self->peaks,
                 self->params.max_lines, self->params.segment, self->segments,
                 self->stream)
              != 0))
    return -1;
  return 0;
}

static int
submit_results (
    CuvHoughCuda *self, const CuvFrame *frame, const CuvHoughEdges &edges)
{
  if (self->params.source == CUV_EDGES_CANNY
      && cuv_hysteresis_submit (self->maps, self->stream) != 0)
    return -1;
  return self->has_regions ? submit_regions (self, frame, edges)
                           : submit_lines (self, frame, edges);
}

// Enqueues all kernels of a frame. While the GPU is busy, frames replay them
// unless their parameters are new, which may never come again; otherwise
// kernels that start early (PDL) shorten the frame. Only the first may read the
// frame.
static int
submit_kernels (
    CuvHoughCuda *self, const CuvFrame *frame, const CuvHoughEdges &edges)
{
  const bool needs_frame = edges.bins != nullptr && !self->params.canny.blur;
  const bool replays = self->repeats && !needs_frame && cuv_gpu_is_busy ();
  const auto first = [=] (CuvReplay *recorded) {
    return submit_edges (self, frame, recorded);
  };
  const auto rest = [=] { return submit_results (self, frame, edges); };

  return self->replay.submit (&self->stream, replays, first, rest);
}

static int
cuv_hough_submit_all (
    CuvHoughCuda *self, const CuvFrame *frame, cudaStream_t stream)
{
  const CuvHoughEdges edges = edges_of (self);

  // as cuv_hough_uses_regions() says
  self->has_regions = self->params.segments && edges.bins != nullptr
      && self->regions.max_edges > 0;
  self->maps.bins = edges.bins != nullptr ? edges.counts : nullptr;
  if (self->own.choose (stream, self->done, &self->stream) != 0
      || submit_kernels (self, frame, edges) != 0)
    return -1;
  CUV_CUDA_TRY (cudaEventRecord (self->done, self->stream));
  return 0;
}

extern "C" int
cuv_hough_cuda_submit (CuvHoughCuda *self, const CuvFrame *frame,
    const CuvHoughParams *params, CuvCudaStream stream)
{
  CuvHoughParams wanted = *params;

  wanted.max_lines =
      std::min (std::max (params->max_lines, 1), CUV_HOUGH_MAX_LINES);
  self->repeats = memcmp (&wanted, &self->params, sizeof wanted) == 0;
  if (!self->repeats)
    self->replay.forget ();
  self->params = wanted;
  self->method = choose_method (self, params);
  const int status = cuv_hough_submit_all (self, frame, (cudaStream_t) stream);

  return cuv_end_submit (status, self->stream);
}

extern "C" int
cuv_hough_cuda_collect (CuvHoughCuda *self, CuvHoughResult *result)
{
  const CuvHoughCounters *counters = self->peaks.host_counters;

  *result = CuvHoughResult{};
  if (cuv_wait_event (&self->wait, self->done) != 0)
    return -1;
  result->n_edges = counters->n_edges;
  result->n_found = (int32_t) counters->n_found;
  result->peaks = self->best.data ();
  result->segments = self->segments.host_segments;
  result->method = self->method;
  result->edges_us = cuv_microseconds (counters->began_ns, counters->listed_ns);
  if (self->has_regions) {
    result->n_segments_found = result->n_found;
    result->n_segments = std::min (result->n_found, self->params.max_lines);
    result->line_segments = self->regions.host_segments;
    result->peaks_us =
        cuv_microseconds (counters->listed_ns, counters->ended_ns);
    return 0;
  }
  result->n_votes =
      self->edges.bins != nullptr && self->params.source == CUV_EDGES_CANNY
      ? (int64_t) counters->n_votes
      : (int64_t) counters->n_edges * self->layout.n_rows;
  result->n_peaks = std::min (result->n_found, self->params.max_lines);
  for (int i = 0; i < result->n_peaks; i++) {
    const CuvHoughPeakKey key = self->peaks.host_best[i];
    CuvHoughPeak *peak = &self->best[i];

    cuv_cell_of_key (key, self->layout.radius, &peak->k, &peak->r);
    peak->votes = (uint32_t) (key >> 32);
  }
  result->n_segments_found = (int32_t) counters->n_segments;
  result->n_segments =
      std::min (result->n_segments_found, CUV_HOUGH_MAX_SEGMENTS);
  // the ring kernel both votes and finds peaks
  result->votes_us = cuv_microseconds (counters->listed_ns,
      counters->voted_ns != 0 ? counters->voted_ns : counters->ended_ns);
  result->peaks_us = cuv_microseconds (counters->voted_ns, counters->ended_ns);
  return 0;
}

// Votes for the accumulator that is drawn, unless the frame's kernels did.
static int
submit_missing_votes (CuvHoughCuda *self, const CuvFrame *frame)
{
  const CuvHoughEdges edges = edges_of (self);

  if (self->has_regions) // edges.bins are directions, not bins
    return cuv_sort_submit (
               edges, self->layout, grey_of (self, frame), self->stream)
            != 0
        ? -1
        : submit_votes (self, edges);
  return self->method == CUV_HOUGH_RING ? cuv_vote_shared_submit (
             self->plan, self->layout, edges, self->cells, self->stream)
                                        : 0;
}

static int
submit_drawing (CuvHoughCuda *self, const CuvFrame *frame, CuvHoughDraw draw)
{
  CUV_CUDA_TRY (cudaStreamWaitEvent (self->stream, self->done, 0));
  if (draw == CUV_HOUGH_DRAW_EDGES
      && cuv_draw_edges_submit (*frame, self->maps, self->stream) != 0)
    return -1;
  if (draw == CUV_HOUGH_DRAW_ACCUMULATOR
      && (submit_missing_votes (self, frame) != 0
          || cuv_draw_votes_submit (*frame, self->layout, self->cells,
                 self->params.peaks.threshold, self->stream)
              != 0))
    return -1;
  CUV_CUDA_TRY (cudaEventRecord (self->done, self->stream));
  return 0;
}

extern "C" int
cuv_hough_cuda_draw (CuvHoughCuda *self, const CuvFrame *frame,
    CuvHoughDraw draw, CuvCudaStream stream)
{
  self->stream = (cudaStream_t) stream;
  return cuv_end_submit (submit_drawing (self, frame, draw), self->stream);
}

extern "C" int
cuv_hough_cuda_get_edges (CuvHoughCuda *self, uint8_t *map)
{
  std::vector<unsigned> words (cuv_map_words (self->maps));
  const int pitch = cuv_map_pitch (self->maps);

  if (cuv_cuda_copy (
          words.data (), self->maps.edges, words.size () * 4, self->stream)
      != 0)
    return -1;
  for (int y = 0; y < self->maps.height; y++) {
    for (int x = 0; x < self->maps.width; x++)
      *map++ = words[(size_t) y * pitch + x / 32] >> x % 32 & 1 ? 255 : 0;
  }
  return 0;
}

extern "C" int
cuv_hough_cuda_get_votes (CuvHoughCuda *self, uint32_t *accumulator)
{
  const int n_columns = 2 * self->layout.radius + 1;
  std::vector<unsigned> cells (self->n_cells);

  if (cuv_cuda_copy (
          cells.data (), self->cells, cells.size () * 4, self->stream)
      != 0)
    return -1;
  memset (accumulator, 0, sizeof *accumulator * n_columns * self->rows.size ());
  for (const CuvHoughVoteRow &row : self->rows) {
    memcpy (accumulator + self->layout.radius + row.first_cell,
        cells.data () + row.start, sizeof *accumulator * row.n_cells);
    accumulator += n_columns;
  }
  return 0;
}
