// SPDX-License-Identifier: LGPL-2.1-or-later
// A detector on the GPU: its memory, and a frame: pyramid, scan, report of the
// hits to the host.
#include "waldboost/waldboost.h"

#include <algorithm>
#include <memory>
#include <new>
#include <string.h>
#include "cuv-arena.cuh"
#include "cuv-wait.h"
#include "waldboost/scanner.cuh"

#define CUV_WALDBOOST_REPORT_BLOCKS 32
#define CUV_WALDBOOST_REPORT_THREADS 256
#define CUV_WALDBOOST_REPORT_SORTED 1024 // hits at most, else the host sorts

struct _CuvWaldboostCuda {
  CuvPyramid pyramid = {};
  CuvImagePool *pool = nullptr;
  std::unique_ptr<CuvScanner> scanner;
  CuvBuffer tables = {}, block = {}; // block: counters, then hits
  CuvArena arena = {};
  uint8_t *pinned = nullptr; // copy of block, and room for the hits of
                             // find_first()
  bool cascade = false;      // STAGES, otherwise a WaldBoost model
  bool empty = true;         // the plan has no levels
  int n_segments = 0;
  std::vector<int32_t> segment_end;
  std::vector<uint64_t> survivors;
  cudaEvent_t started = nullptr, done = nullptr;
  // a second stream, for half of the levels; see scan_in_parts()
  cudaStream_t beside = nullptr;
  cudaEvent_t forked = nullptr, joined = nullptr;
  CuvWait wait = {};
  cudaStream_t stream = nullptr;

  ~_CuvWaldboostCuda ();
  size_t
  counters_size () const
  {
    size_t size =
        sizeof (CuvScanCounters) + n_segments * sizeof (unsigned long long);

    return (size + 15) / 16 * 16;
  }
  CuvScanHits
  device_hits () const
  {
    return CuvScanHits{ (CuvWaldboostHit *) ((uint8_t *) block.data
                            + counters_size ()),
      (CuvScanCounters *) block.data };
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
  for (cudaEvent_t event : { started, done, forked, joined }) {
    if (event != nullptr)
      cuv_cuda_record (cudaEventDestroy (event), "cudaEventDestroy");
  }
  if (beside != nullptr)
    cuv_cuda_record (cudaStreamDestroy (beside), "cudaStreamDestroy");
  cuv_image_pool_unref (pool);
  cuv_buffer_clear (&tables);
  cuv_buffer_clear (&block);
  cuv_arena_clear (&arena);
}

// ---- setup ----

// Acquires a frame's images, unless a submit that was not collected has left
// some.
static int
acquire_images (CuvWaldboostCuda *self)
{
  if (self->pyramid.images == nullptr)
    self->pyramid.images =
        cuv_image_pool_acquire (self->pool, self->pyramid.image_sizes);
  return self->pyramid.images != nullptr ? 0 : -1;
}

static int
cuv_waldboost_set_plan (CuvWaldboostCuda *self, const CuvWaldboostPlan *plan)
{
  CuvPyramidTables tables;

  drop_frame (self); // its images may be too small
  self->n_segments = plan->n_segments;
  self->segment_end.assign (
      plan->segment_end, plan->segment_end + plan->n_segments);
  self->survivors.assign (plan->n_segments, 0);
  self->empty = plan->n_levels == 0;
  if (self->empty)
    return 0;
  if (self->scanner->set_plan (*plan, &self->pyramid, &tables) != 0
      || cuv_buffer_upload (
             &self->tables, tables.bytes.data (), tables.bytes.size ())
          != 0)
    return -1;
  self->pyramid.tables = (const uint8_t *) self->tables.data;
  // allocates memory for at least one frame
  CuvImages *images =
      cuv_image_pool_acquire (self->pool, self->pyramid.image_sizes);

  if (images == nullptr)
    return -1;
  cuv_image_pool_release (self->pool, images);
  return 0;
}

static int
cuv_waldboost_init (CuvWaldboostCuda *self, const CuvWaldboostModel *model,
    const CuvWaldboostPlan *plan)
{
  const size_t block_size = sizeof (CuvScanCounters)
      + (std::max (model->n_stages, 64) + 2) * sizeof (unsigned long long)
      + 2 * CUV_WALDBOOST_MAX_HITS * sizeof (CuvWaldboostHit);

  self->pool = cuv_image_pool_ref ();
  self->cascade = model->arithmetic == CUV_SUM_STAGES;
  self->scanner.reset (self->cascade   ? cuv_cascade_scanner_new (model)
          : model->channels != nullptr ? cuv_channels_scanner_new (model)
                                       : cuv_waldboost_scanner_new (model));
  self->pinned = (uint8_t *) cuv_arena_pinned (&self->arena, block_size);
  if (self->pool == nullptr || self->scanner == nullptr
      || self->pinned == nullptr
      || cuv_buffer_reserve (&self->block, block_size) != 0)
    return -1;
  CUV_CUDA_TRY (cudaEventCreate (&self->started));
  CUV_CUDA_TRY (cudaEventCreate (&self->done));
  for (cudaEvent_t *event : { &self->forked, &self->joined })
    CUV_CUDA_TRY (cudaEventCreateWithFlags (event, cudaEventDisableTiming));
  CUV_CUDA_TRY (
      cudaStreamCreateWithFlags (&self->beside, cudaStreamNonBlocking));
  return cuv_waldboost_set_plan (self, plan);
}

extern "C" CuvWaldboostCuda *
cuv_waldboost_cuda_new (
    const CuvWaldboostModel *model, const CuvWaldboostPlan *plan)
{
  std::unique_ptr<CuvWaldboostCuda> self;

  try {
    self.reset (new _CuvWaldboostCuda);
    return cuv_waldboost_init (self.get (), model, plan) == 0 ? self.release ()
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
cuv_waldboost_cuda_set_plan (
    CuvWaldboostCuda *self, const CuvWaldboostPlan *plan)
{
  try {
    return cuv_waldboost_set_plan (self, plan);
  } catch (const std::bad_alloc &) {
    return cuv_cuda_record (cudaErrorMemoryAllocation, "host memory");
  }
}

// ---- run ----

// Blocks find hits in any order; results are ordered by level, y, x. No two
// hits are of the same window.
static __host__ __device__ bool
is_before (const CuvWaldboostHit &a, const CuvWaldboostHit &b)
{
  if (a.level != b.level)
    return a.level < b.level;
  return a.y != b.y ? a.y < b.y : a.x < b.x;
}

// Writes counters and sorted hits to pinned host memory. A copy engine would
// start up to 8 us later, and the host would take some 20 us to sort a few
// hundred hits.
static __global__ void
report_kernel (
    CuvScanHits found, int n_counters, uint4 *counters_to, uint4 *hits_to)
{
  static_assert (sizeof (CuvWaldboostHit) == sizeof (uint4), "a hit is one");
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
  for (int i = threadIdx.x; sort && i < n_hits; i += blockDim.x)
    unsorted[i] = found.hits[i];
  __syncthreads ();
  // a hit's place is the number of hits before it, counted by a warp
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

// Clears the counters before the pyramid, so that the scan follows the pyramid
// directly.
static int
clear_counters (CuvWaldboostCuda *self)
{
  CUV_CUDA_TRY (cudaMemsetAsync (
      self->block.data, 0, self->counters_size (), self->stream));
  return 0;
}

// Enqueues the report. Programmatic dependent launch requires that the kernel
// before it is on the same stream, without a wait for the other one in between.
static int
enqueue_report (CuvWaldboostCuda *self, CuvWaldboostHit *hits_to)
{
  const int n_counters = (int) (self->counters_size () / sizeof (uint4));

  if (!self->pyramid.in_parts ())
    return cuv_launch_dependent ("report_kernel", CUV_WALDBOOST_REPORT_BLOCKS,
        CUV_WALDBOOST_REPORT_THREADS, 0, self->stream, report_kernel,
        self->device_hits (), n_counters, (uint4 *) self->pinned,
        (uint4 *) hits_to);
  report_kernel<<<CUV_WALDBOOST_REPORT_BLOCKS, CUV_WALDBOOST_REPORT_THREADS, 0,
      self->stream>>> (self->device_hits (), n_counters, (uint4 *) self->pinned,
      (uint4 *) hits_to);
  CUV_CUDA_LAUNCHED (report_kernel);
  return 0;
}

// Enqueues integral images and the scan of some levels.
static int
scan_levels (
    CuvWaldboostCuda *self, CuvPyramidLevels levels, cudaStream_t stream)
{
  return cuv_pyramid_submit_integrals (&self->pyramid, levels, stream) == 0
      ? self->scanner->submit (self->pyramid, self->device_hits (),
          CuvScanRows{ levels, 0, 0 }, stream)
      : -1;
}

// Scans on two streams: making integral images, limited by memory, overlaps
// with the scan of other levels, and the last tiles of a kernel with the first
// ones of another.
static int
scan_in_parts (CuvWaldboostCuda *self)
{
  CUV_CUDA_TRY (cudaEventRecord (self->forked, self->stream));
  CUV_CUDA_TRY (cudaStreamWaitEvent (self->beside, self->forked, 0));
  if (scan_levels (self, CUV_PYRAMID_OTHER_LEVELS, self->beside) != 0)
    return -1;
  CUV_CUDA_TRY (cudaEventRecord (self->joined, self->beside));
  if (scan_levels (self, CUV_PYRAMID_SPLIT_LEVELS, self->stream) != 0)
    return -1;
  CUV_CUDA_TRY (cudaStreamWaitEvent (self->stream, self->joined, 0));
  return 0;
}

static int
scan_all (CuvWaldboostCuda *self)
{
  return self->pyramid.in_parts ()
      ? scan_in_parts (self)
      : scan_levels (self, CUV_PYRAMID_ALL_LEVELS, self->stream);
}

static int
cuv_waldboost_submit_all (CuvWaldboostCuda *self, const CuvScanFrame &frame)
{
  if (acquire_images (self) != 0)
    return -1;
  CUV_CUDA_TRY (cudaEventRecord (self->started, self->stream));
  if (clear_counters (self) != 0
      || self->scanner->submit_pictures (&self->pyramid, frame, self->stream)
          != 0
      || scan_all (self) != 0 || enqueue_report (self, self->host_hits ()) != 0)
    return -1;
  CUV_CUDA_TRY (cudaEventRecord (self->done, self->stream));
  return 0;
}

// After a failure waits for the kernels already enqueued, which use frame and
// images.
static int
end_submit (CuvWaldboostCuda *self, int status)
{
  if (status == 0)
    return 0;
  cudaStreamSynchronize (self->beside);
  cuv_end_submit (status, self->stream);
  release_images (self);
  return -1;
}

static int
cuv_waldboost_submit (
    CuvWaldboostCuda *self, const CuvScanFrame &frame, CuvCudaStream stream)
{
  self->stream = (cudaStream_t) stream;
  return self->empty
      ? 0
      : end_submit (self, cuv_waldboost_submit_all (self, frame));
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

// Sorts hits unless the GPU did.
static void
sort_hits (CuvWaldboostHit *hits, size_t n)
{
  if (n > CUV_WALDBOOST_REPORT_SORTED)
    std::sort (hits, hits + n, is_before);
}

// If there are too many hits, those stored are an arbitrary subset. Scans
// again, a few rows at a time, to find the first CUV_WALDBOOST_MAX_HITS in
// order.
static int
find_first (CuvWaldboostCuda *self)
{
  CuvWaldboostHit *hits = self->host_hits ();
  size_t n = 0, found;

  for (int l = 0; l < self->pyramid.n_levels; l++) {
    const CuvWaldboostLevel &level = self->pyramid.host_levels[l].plan;
    const int rows_at_once =
        std::max (1, CUV_WALDBOOST_MAX_HITS / std::max (1, level.n_x));

    for (int y = 0; y < level.n_y && n < CUV_WALDBOOST_MAX_HITS;
         y += rows_at_once) {
      const CuvScanRows rows = { l, y, std::min (y + rows_at_once, level.n_y) };

      if (clear_counters (self) != 0
          || self->scanner->submit (
                 self->pyramid, self->device_hits (), rows, self->stream)
              != 0
          || enqueue_report (self, hits + n) != 0)
        return -1;
      CUV_CUDA_TRY (cudaStreamSynchronize (self->stream));
      found = self->host_counters ()->n_hits;
      sort_hits (hits + n, found);
      n += found;
    }
  }
  return 0;
}

// The number of weak classifiers that a cascade evaluated: all of a stage's,
// for every window that reached it.
static uint64_t
cascade_weak (const CuvWaldboostCuda *self, const CuvScanCounters &counters)
{
  uint64_t before = counters.windows - counters.flat, weak = 0;
  int32_t first = 0;

  for (int s = 0; s < self->n_segments; s++) {
    weak += before * (self->segment_end[s] - first);
    first = self->segment_end[s];
    before = self->survivors[s];
  }
  return weak;
}

static int
cuv_waldboost_collect (CuvWaldboostCuda *self, CuvWaldboostResult *result)
{
  CuvScanCounters counters;
  float ms;

  *result = CuvWaldboostResult{};
  result->survivors = self->survivors.data ();
  if (self->empty)
    return 0;
  if (cuv_wait_event (&self->wait, self->done) != 0)
    return -1;
  counters = *self->host_counters ();
  for (int s = 0; s < self->n_segments; s++)
    self->survivors[s] = self->host_counters ()->survivors[s];
  result->hits = self->host_hits ();
  result->n_hits = (int32_t) std::min<unsigned long long> (
      counters.n_hits, CUV_WALDBOOST_MAX_HITS);
  if (counters.n_hits > CUV_WALDBOOST_MAX_HITS) {
    if (find_first (self) != 0)
      return -1;
  } else {
    sort_hits (self->host_hits (), counters.n_hits);
  }
  result->overflow = (int32_t) std::min<unsigned long long> (
      counters.n_hits - result->n_hits, INT32_MAX);
  result->windows = counters.windows;
  result->weak = self->cascade ? cascade_weak (self, counters) : counters.weak;
  CUV_CUDA_TRY (cudaEventElapsedTime (&ms, self->started, self->done));
  if (counters.began != 0 && counters.began < counters.ended)
    result->scan_us = (counters.ended - counters.began) * 1e-3f;
  result->pyramid_us = std::max (0.f, ms * 1000 - result->scan_us);
  return 0;
}

extern "C" int
cuv_waldboost_cuda_collect (CuvWaldboostCuda *self, CuvWaldboostResult *result)
{
  if (cuv_waldboost_collect (self, result) != 0)
    return end_submit (self, -1);
  release_images (self);
  return 0;
}
