// SPDX-License-Identifier: LGPL-2.1-or-later
// A detector on the GPU: manages its memory and processes frames: pyramid,
// scan, report of the hits to the host.
#include "waldboost/waldboost.h"

#include <algorithm>
#include <memory>
#include <new>
#include <string.h>
#include "cuv-arena.cuh"
#include "cuv-own-stream.cuh"
#include "cuv-wait.h"
#include "waldboost/scanner.cuh"

#define CUV_WALDBOOST_REPORT_BLOCKS 32
#define CUV_WALDBOOST_REPORT_THREADS 256
// maximum number of hits that the GPU sorts; the host sorts more
#define CUV_WALDBOOST_REPORT_SORTED 1024

// The results of a model's scan.
struct Findings {
  // Counters of a scan and of the next one, which the report clears; then hits.
  CuvBuffer block = {};
  int scan = 0;              // which of the counters: 0 or 1
  bool cleared = false;      // these counters are 0
  uint8_t *pinned = nullptr; // counters and hits of a scan, and room for the
                             // hits of find_first()
  bool cascade = false;      // STAGES, otherwise a WaldBoost model
  std::vector<CuvWaldboostLevel> levels;
  std::vector<int32_t> segment_end;
  std::vector<uint64_t> survivors;

  int
  n_segments () const
  {
    return (int) segment_end.size ();
  }
  size_t
  counters_size () const
  {
    size_t size =
        sizeof (CuvScanCounters) + n_segments () * sizeof (unsigned long long);

    return (size + 15) / 16 * 16;
  }
  CuvScanCounters *
  counters (int of_scan) const
  {
    return (CuvScanCounters *) ((uint8_t *) block.data
        + of_scan * counters_size ());
  }
  CuvScanHits
  device_hits () const
  {
    return CuvScanHits{ (CuvWaldboostHit *) counters (2), counters (scan) };
  }
  CuvScanCounters *
  host_counters () const
  {
    return (CuvScanCounters *) pinned;
  }
  CuvWaldboostHit *
  host_hits () const
  {
    return (CuvWaldboostHit *) (pinned + counters_size ());
  }
};

struct _CuvWaldboostCuda {
  CuvPyramid pyramid = {};
  CuvImagePool *pool = nullptr;
  std::unique_ptr<CuvScanner> scanner;
  std::vector<Findings> findings; // one for each model
  CuvBuffer tables = {};
  CuvArena arena = {};
  bool empty = true; // no plan has levels
  cudaEvent_t done = nullptr;
  bool in_parts = false; // this frame is scanned in two streams
  // a second stream, for half of the levels; see scan_in_parts()
  CuvOwnStream beside;
  cudaEvent_t joined = nullptr;
  CuvWait wait = {};
  CuvOwnStream own;
  cudaStream_t stream = nullptr; // that of the frame, see CuvOwnStream

  ~_CuvWaldboostCuda ();
};

static void
release_images (CuvWaldboostCuda *self)
{
  if (self->pyramid.images != nullptr)
    cuv_image_pool_release (self->pool, self->pyramid.images);
  self->pyramid.images = nullptr;
}

// Waits for a frame that was submitted but not collected; releases its images.
static void
drop_frame (CuvWaldboostCuda *self)
{
  if (self->pyramid.images == nullptr)
    return;
  cuv_cuda_record (cudaEventSynchronize (self->done), "cudaEventSynchronize");
  release_images (self);
}

_CuvWaldboostCuda::~_CuvWaldboostCuda ()
{
  drop_frame (this);
  for (cudaEvent_t event : { done, joined }) {
    if (event != nullptr)
      cuv_cuda_record (cudaEventDestroy (event), "cudaEventDestroy");
  }
  cuv_image_pool_unref (pool);
  cuv_buffer_clear (&tables);
  for (Findings &found : findings)
    cuv_buffer_clear (&found.block);
  cuv_arena_clear (&arena);
}

// ---- setup ----

// Acquires a frame's images, unless those of a submit that was not collected
// are still there.
static int
acquire_images (CuvWaldboostCuda *self)
{
  if (self->pyramid.images == nullptr)
    self->pyramid.images =
        cuv_image_pool_acquire (self->pool, self->pyramid.image_sizes);
  return self->pyramid.images != nullptr ? 0 : -1;
}

static void
expect (Findings *self, const CuvWaldboostPlan &plan)
{
  self->levels.assign (plan.levels, plan.levels + plan.n_levels);
  self->segment_end.assign (
      plan.segment_end, plan.segment_end + plan.n_segments);
  self->survivors.assign (plan.n_segments, 0);
  self->cleared = false; // their size has changed
}

static int
cuv_waldboost_set_plans (
    CuvWaldboostCuda *self, const CuvWaldboostSearch *searches)
{
  CuvPyramidTables tables;

  drop_frame (self); // the pending frame's images may be too small
  self->empty = true;
  for (size_t i = 0; i < self->findings.size (); i++) {
    expect (&self->findings[i], *searches[i].plan);
    self->empty = self->empty && searches[i].plan->n_levels == 0;
  }
  if (self->empty)
    return 0;
  if (self->scanner->set_plans (searches, &self->pyramid, &tables) != 0
      || cuv_buffer_upload (
             &self->tables, tables.bytes.data (), tables.bytes.size ())
          != 0)
    return -1;
  self->pyramid.tables = (const uint8_t *) self->tables.data;
  // makes sure that there is memory for at least one frame
  CuvImages *images =
      cuv_image_pool_acquire (self->pool, self->pyramid.image_sizes);

  if (images == nullptr)
    return -1;
  cuv_image_pool_release (self->pool, images);
  return 0;
}

static int
reserve (Findings *self, const CuvWaldboostModel &model, CuvArena *arena)
{
  const size_t counters = sizeof (CuvScanCounters)
      + (std::max (model.n_stages, 64) + 2) * sizeof (unsigned long long);
  const size_t hits = CUV_WALDBOOST_MAX_HITS * sizeof (CuvWaldboostHit);

  self->cascade = model.arithmetic == CUV_SUM_STAGES;
  self->pinned = (uint8_t *) cuv_arena_pinned (arena, counters + 2 * hits);
  return self->pinned != nullptr
      ? cuv_buffer_reserve (&self->block, 2 * counters + hits)
      : -1;
}

static CuvScanner *
new_scanner (const CuvWaldboostSearch *searches, int n)
{
  const CuvWaldboostModel *model = searches[0].model;

  if (model->channels != nullptr)
    return cuv_channels_scanner_new (searches, n);
  return model->arithmetic == CUV_SUM_STAGES
      ? cuv_cascade_scanner_new (model)
      : cuv_waldboost_scanner_new (model);
}

static int
cuv_waldboost_init (
    CuvWaldboostCuda *self, const CuvWaldboostSearch *searches, int n)
{
  self->pool = cuv_image_pool_ref ();
  self->scanner.reset (new_scanner (searches, n));
  if (self->pool == nullptr || self->scanner == nullptr)
    return -1;
  self->findings.resize (n);
  for (int i = 0; i < n; i++) {
    if (reserve (&self->findings[i], *searches[i].model, &self->arena) != 0)
      return -1;
  }
  for (cudaEvent_t *event : { &self->done, &self->joined })
    CUV_CUDA_TRY (cudaEventCreateWithFlags (event, cudaEventDisableTiming));
  if (self->own.open (false) != 0 || self->beside.open (false) != 0)
    return -1;
  return cuv_waldboost_set_plans (self, searches);
}

extern "C" CuvWaldboostCuda *
cuv_waldboost_cuda_new (const CuvWaldboostSearch *searches, int n)
{
  std::unique_ptr<CuvWaldboostCuda> self;

  try {
    self.reset (new _CuvWaldboostCuda);
    return cuv_waldboost_init (self.get (), searches, n) == 0 ? self.release ()
                                                              : nullptr;
  } catch (const std::bad_alloc &) {
    cuv_cuda_record (cudaErrorMemoryAllocation, "host memory");
    return nullptr;
  }
}

extern "C" void
cuv_waldboost_cuda_free (CuvWaldboostCuda *self)
{
  delete self;
}

extern "C" int
cuv_waldboost_cuda_set_plans (
    CuvWaldboostCuda *self, const CuvWaldboostSearch *searches)
{
  try {
    return cuv_waldboost_set_plans (self, searches);
  } catch (const std::bad_alloc &) {
    return cuv_cuda_record (cudaErrorMemoryAllocation, "host memory");
  }
}

// ---- run ----

// Returns whether a comes before b. Blocks find hits in any order, but results
// are ordered by level, y, x. No two hits are of the same window.
static __host__ __device__ bool
is_before (const CuvWaldboostHit &a, const CuvWaldboostHit &b)
{
  if (a.level != b.level)
    return a.level < b.level;
  return a.y != b.y ? a.y < b.y : a.x < b.x;
}

// Writes counters and sorted hits to pinned host memory, and clears the
// counters of the next scan. A copy engine would start up to 8 us later, and
// the host would take some 20 us to sort a few hundred hits.
static __global__ void
report_kernel (CuvScanHits found, int n_counters, uint4 *next_counters,
    uint4 *counters_to, uint4 *hits_to)
{
  static_assert (sizeof (CuvWaldboostHit) == sizeof (uint4),
      "a hit is copied as one uint4");
  __shared__ CuvWaldboostHit unsorted[CUV_WALDBOOST_REPORT_SORTED];
  const int thread = blockIdx.x * CUV_WALDBOOST_REPORT_THREADS + threadIdx.x;
  const int lane = threadIdx.x % 32;
  const int n_threads =
      CUV_WALDBOOST_REPORT_BLOCKS * CUV_WALDBOOST_REPORT_THREADS;
  const uint4 *hits = (const uint4 *) found.hits;

  cuv_pdl_wait ();
  if (thread == 0)
    found.counters->ended = cuv_nanoseconds ();
  __syncthreads ();
  const int n_hits = (int) min (
      found.counters->n_hits, (unsigned long long) CUV_WALDBOOST_MAX_HITS);
  const bool sort = n_hits <= CUV_WALDBOOST_REPORT_SORTED;

  for (int i = threadIdx.x; blockIdx.x == 0 && i < n_counters; i += blockDim.x)
    counters_to[i] = ((const uint4 *) found.counters)[i];
  for (int i = threadIdx.x; blockIdx.x == 1 && i < n_counters; i += blockDim.x)
    next_counters[i] = uint4{ 0, 0, 0, 0 };
  for (int i = threadIdx.x; sort && i < n_hits; i += blockDim.x)
    unsorted[i] = found.hits[i];
  __syncthreads ();
  // a hit's position is the number of hits before it, which a warp counts
  for (int i = thread / 32; sort && i < n_hits; i += n_threads / 32) {
    int before = 0;

    for (int j = lane; j < n_hits; j += 32)
      before += is_before (unsorted[j], unsorted[i]);
    before = cuv_warp_sum (before);
    if (lane == 0)
      hits_to[before] = hits[i];
  }
  for (int i = thread; !sort && i < n_hits; i += n_threads)
    hits_to[i] = hits[i];
}

// Clears counters that no report has cleared: before the pyramid, so that the
// scan follows the pyramid directly.
static int
clear_counters (Findings *found, cudaStream_t stream)
{
  if (!found->cleared)
    CUV_CUDA_TRY (cudaMemsetAsync (
        found->counters (found->scan), 0, found->counters_size (), stream));
  found->cleared = true;
  return 0;
}

// Enqueues the report of a scan; the counters then are those of the next one.
// Programmatic dependent launch requires that the kernel before it is on the
// same stream, without a wait for the other one in between.
static int
enqueue_report (
    CuvWaldboostCuda *self, Findings *found, CuvWaldboostHit *hits_to)
{
  const int n_counters = (int) (found->counters_size () / sizeof (uint4));
  const CuvScanHits hits = found->device_hits ();

  found->scan = 1 - found->scan;
  uint4 *next = (uint4 *) found->counters (found->scan);

  if (!self->in_parts)
    return cuv_launch_dependent ("report_kernel", CUV_WALDBOOST_REPORT_BLOCKS,
        CUV_WALDBOOST_REPORT_THREADS, 0, self->stream, report_kernel, hits,
        n_counters, next, (uint4 *) found->pinned, (uint4 *) hits_to);
  report_kernel<<<CUV_WALDBOOST_REPORT_BLOCKS, CUV_WALDBOOST_REPORT_THREADS, 0,
      self->stream>>> (
      hits, n_counters, next, (uint4 *) found->pinned, (uint4 *) hits_to);
  CUV_CUDA_LAUNCHED (report_kernel);
  return 0;
}

// Enqueues the integral images and the scan of some levels. Only scanners with
// a single model need integral images.
static int
scan_levels (CuvWaldboostCuda *self, int model, CuvPyramidLevels levels,
    cudaStream_t stream)
{
  return cuv_pyramid_submit_integrals (&self->pyramid, levels, stream) == 0
      ? self->scanner->submit (self->pyramid, model,
          self->findings[model].device_hits (), CuvScanRows{ levels, 0, 0 },
          stream)
      : -1;
}

// Scans in two streams: making integral images, which is limited by memory
// bandwidth, overlaps with the scan of other levels, and the last tiles of a
// kernel overlap with the first ones of another.
static int
scan_in_parts (CuvWaldboostCuda *self, int model)
{
  if (self->beside.follow (self->stream) != 0
      || scan_levels (
             self, model, CUV_PYRAMID_OTHER_LEVELS, self->beside.stream)
          != 0)
    return -1;
  CUV_CUDA_TRY (cudaEventRecord (self->joined, self->beside.stream));
  if (scan_levels (self, model, CUV_PYRAMID_SPLIT_LEVELS, self->stream) != 0)
    return -1;
  CUV_CUDA_TRY (cudaStreamWaitEvent (self->stream, self->joined, 0));
  return 0;
}

static int
scan_model (CuvWaldboostCuda *self, int model)
{
  return self->in_parts
      ? scan_in_parts (self, model)
      : scan_levels (self, model, CUV_PYRAMID_ALL_LEVELS, self->stream);
}

static int
cuv_waldboost_submit_all (
    CuvWaldboostCuda *self, const CuvScanFrame &frame, cudaStream_t stream)
{
  const int n = (int) self->findings.size ();

  if (self->own.choose (stream, self->done, &self->stream) != 0
      || acquire_images (self) != 0)
    return -1;
  self->in_parts = self->pyramid.in_parts () && !cuv_gpu_is_busy ();
  Findings *first = &self->findings[0];

  self->pyramid.began = &first->counters (first->scan)->frame_began;
  for (Findings &found : self->findings) {
    if (clear_counters (&found, self->stream) != 0)
      return -1;
  }
  if (self->scanner->submit_pictures (&self->pyramid, frame, self->stream) != 0)
    return -1;
  for (int i = 0; i < n; i++) {
    Findings *found = &self->findings[i];

    if (scan_model (self, i) != 0
        || enqueue_report (self, found, found->host_hits ()) != 0)
      return -1;
  }
  CUV_CUDA_TRY (cudaEventRecord (self->done, self->stream));
  return 0;
}

// After a failure, waits for the kernels that have been enqueued, because they
// use frame and images.
static int
end_submit (CuvWaldboostCuda *self, int status)
{
  if (status == 0)
    return 0;
  cudaStreamSynchronize (self->beside.stream);
  cudaEventSynchronize (self->done); // of a frame that was not collected
  cuv_end_submit (status, self->stream);
  release_images (self);
  for (Findings &found : self->findings)
    found.cleared = false;
  return -1;
}

static int
cuv_waldboost_submit (
    CuvWaldboostCuda *self, const CuvScanFrame &frame, CuvCudaStream stream)
{
  return self->empty
      ? 0
      : end_submit (
          self, cuv_waldboost_submit_all (self, frame, (cudaStream_t) stream));
}

extern "C" int
cuv_waldboost_cuda_submit (
    CuvWaldboostCuda *self, const CuvFrame *frame, CuvCudaStream stream)
{
  return cuv_waldboost_submit (self,
      CuvScanFrame{ frame, { 0, 0, frame->width, frame->height, nullptr } },
      stream);
}

extern "C" int
cuv_waldboost_cuda_submit_part (CuvWaldboostCuda *self, const CuvFrame *frame,
    const CuvWaldboostPart *part, CuvCudaStream stream)
{
  return cuv_waldboost_submit (self, CuvScanFrame{ frame, *part }, stream);
}

// Sorts hits unless the GPU has sorted them.
static void
sort_hits (CuvWaldboostHit *hits, size_t n)
{
  if (n > CUV_WALDBOOST_REPORT_SORTED)
    std::sort (hits, hits + n, is_before);
}

// Finds the first CUV_WALDBOOST_MAX_HITS hits in order if there are too many,
// because those stored are an arbitrary subset: scans again, a few rows at a
// time.
static int
find_first (CuvWaldboostCuda *self, int model)
{
  Findings &found = self->findings[model];
  CuvWaldboostHit *hits = found.host_hits ();
  size_t n = 0, n_found;

  for (int l = 0; l < (int) found.levels.size (); l++) {
    const CuvWaldboostLevel &level = found.levels[l];
    const int rows_at_once =
        std::max (1, CUV_WALDBOOST_MAX_HITS / std::max (1, level.n_x));

    for (int y = 0; y < level.n_y && n < CUV_WALDBOOST_MAX_HITS;
         y += rows_at_once) {
      const CuvScanRows rows = { l, y, std::min (y + rows_at_once, level.n_y) };

      if (self->scanner->submit (
              self->pyramid, model, found.device_hits (), rows, self->stream)
              != 0
          || enqueue_report (self, &found, hits + n) != 0)
        return -1;
      CUV_CUDA_TRY (cudaStreamSynchronize (self->stream));
      n_found = found.host_counters ()->n_hits;
      sort_hits (hits + n, n_found);
      n += n_found;
    }
  }
  return 0;
}

// Returns the number of weak classifiers that a cascade evaluated: all of a
// stage's for each window that reached the stage.
static uint64_t
cascade_weak (const Findings &found, const CuvScanCounters &counters)
{
  uint64_t before = counters.windows - counters.flat, weak = 0;
  int32_t first = 0;

  for (int s = 0; s < found.n_segments (); s++) {
    weak += before * (found.segment_end[s] - first);
    first = found.segment_end[s];
    before = found.survivors[s];
  }
  return weak;
}

// Sets the result of a model, except pyramid_us, after the frame is done.
static int
collect_model (CuvWaldboostCuda *self, int model, CuvWaldboostResult *result)
{
  Findings &found = self->findings[model];
  // find_first() overwrites the counters in pinned memory
  const CuvScanCounters counters = *found.host_counters ();

  for (int s = 0; s < found.n_segments (); s++)
    found.survivors[s] = found.host_counters ()->survivors[s];
  result->hits = found.host_hits ();
  result->n_hits = (int32_t) std::min<unsigned long long> (
      counters.n_hits, CUV_WALDBOOST_MAX_HITS);
  if (counters.n_hits > CUV_WALDBOOST_MAX_HITS) {
    if (find_first (self, model) != 0)
      return -1;
  } else {
    sort_hits (found.host_hits (), counters.n_hits);
  }
  result->overflow = (int32_t) std::min<unsigned long long> (
      counters.n_hits - result->n_hits, INT32_MAX);
  result->windows = counters.windows;
  result->weak = found.cascade ? cascade_weak (found, counters) : counters.weak;
  result->scan_us = cuv_microseconds (counters.began, counters.ended);
  return 0;
}

static int
cuv_waldboost_collect (CuvWaldboostCuda *self, CuvWaldboostResult *results)
{
  const int n = (int) self->findings.size ();
  float scan_us = 0;

  for (int i = 0; i < n; i++) {
    results[i] = CuvWaldboostResult{};
    results[i].survivors = self->findings[i].survivors.data ();
  }
  if (self->empty)
    return 0;
  if (cuv_wait_event (&self->wait, self->done) != 0)
    return -1;
  // before find_first() overwrites the counters
  const float frame_us =
      cuv_microseconds (self->findings[0].host_counters ()->frame_began,
          self->findings[n - 1].host_counters ()->ended);

  for (int i = 0; i < n; i++) {
    if (collect_model (self, i, &results[i]) != 0)
      return -1;
    scan_us += results[i].scan_us;
  }
  results[0].pyramid_us = std::max (0.f, frame_us - scan_us);
  return 0;
}

extern "C" int
cuv_waldboost_cuda_collect (CuvWaldboostCuda *self, CuvWaldboostResult *results)
{
  if (cuv_waldboost_collect (self, results) != 0)
    return end_submit (self, -1);
  release_images (self);
  return 0;
}
