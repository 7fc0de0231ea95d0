// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares queries with the entries of an index. As many as fit stay in device
// memory; the others are streamed for each query in chunks, through two pinned
// buffers, so that copying overlaps with comparing.
#include "ldp/match.h"

#include <algorithm>
#include <memory>
#include <new>
#include <stdio.h>
#include <vector>
#include "cuv-arena.cuh"
#include "cuv-wait.h"
#include "ldp/match.cuh"

#define CUV_LDP_MATCH_SLOTS 2
#define CUV_LDP_MATCH_CHUNK_BYTES (8 << 20) // larger chunks are no faster

// Buffers for one chunk of streamed entries.
struct Slot {
  uint8_t *staged, *entries; // pinned; on the device
  cudaEvent_t copied;        // recorded when staged may be overwritten
  cudaEvent_t matched;       // recorded when entries may be overwritten
};

// How many entries stay in device memory, and how many are streamed at a time.
struct Layout {
  int64_t resident, chunk; // chunk 0: all are resident
};

struct _CuvLdpMatchCuda {
  // memory for tables and the query; for entries and distances; for
  // similarities
  CuvArena fixed = {}, memory = {}, results = {};
  CuvLdpMatchArgs args = {};
  // sizes of an entry on the host: counts, bytes, bytes to the next entry
  int64_t n_counts = 0, size = 0, stride = 0;
  int64_t capacity = 0; // entries that fit in device memory
  CuvLdpCopy copy = nullptr;
  void *copy_data = nullptr;
  Layout layout = {};
  int64_t n_resident = 0, n = 0;    // number on the device, and of all entries
  int64_t n_matched = 0;            // entries compared with the last query
  const uint8_t *entries = nullptr; // the caller's, on the host
  uint8_t *resident = nullptr;      // entries on the device
  // on the device: buffers for packed queries, allocated when first needed; and
  // the queries, in these buffers or in the caller's memory
  uint8_t *packed[CUV_LDP_MATCH_QUERIES] = {};
  const uint8_t *queries[CUV_LDP_MATCH_QUERIES] = {};
  int n_queries = 1;              // number of queries of the last comparison
  double *similarities = nullptr; // similarities of all entries, pinned
  int64_t max_similarities = 0;   // how many of them fit there
  Slot slots[CUV_LDP_MATCH_SLOTS] = {};
  cudaStream_t copy_stream = nullptr, stream = nullptr;
  CuvWait copy_wait = {}, wait = {};

  ~_CuvLdpMatchCuda ();
};

_CuvLdpMatchCuda::~_CuvLdpMatchCuda ()
{
  if (copy_stream != nullptr) {
    cuv_cuda_record (
        cudaStreamSynchronize (copy_stream), "cudaStreamSynchronize");
    cuv_cuda_record (cudaStreamDestroy (copy_stream), "cudaStreamDestroy");
  }
  for (const Slot &slot : slots) {
    for (cudaEvent_t event : { slot.copied, slot.matched }) {
      if (event != nullptr)
        cuv_cuda_record (cudaEventDestroy (event), "cudaEventDestroy");
    }
  }
  cuv_arena_clear (&fixed);
  cuv_arena_clear (&memory);
  cuv_arena_clear (&results);
}

// ---- opening ----

// Returns an element per histogram of a picture, and one of weight 0, because
// half of the last unit may be padding after the picture.
static std::vector<CuvLdpHistogram>
list_histograms (const CuvLdpPacked &packed)
{
  const int n = packed.n_histograms;
  std::vector<CuvLdpHistogram> histograms ((size_t) packed.n_blocks * n + 1);

  for (size_t i = 0; i + 1 < histograms.size (); i++)
    histograms[i] = { packed.weights[i / n], packed.totals[i / n] };
  return histograms;
}

// Returns how many distances are stored per entry: to each query of a kernel,
// by part, and the smallest one.
static size_t
distances_of_entry (const CuvLdpMatchArgs &args)
{
  return (size_t) (CUV_LDP_MATCH_AT_ONCE * args.n_parts + 1);
}

// fixed: bytes of device memory that do not depend on the number of entries.
static bool
find_capacity (CuvLdpMatchCuda *self, size_t fixed, size_t max_bytes)
{
  const size_t entry = (size_t) self->args.pitch
      + distances_of_entry (self->args) * sizeof *self->args.distances;
  const size_t min_bytes = fixed + CUV_LDP_MATCH_SLOTS * entry;
  size_t available = 0, total;
  char text[120];

  if (max_bytes == 0
      && cuv_cuda_record (cudaMemGetInfo (&available, &total), "cudaMemGetInfo")
          != 0)
    return false;
  if (max_bytes == 0)
    max_bytes = available / 2;
  if (max_bytes >= min_bytes) {
    self->capacity = (int64_t) ((max_bytes - fixed) / entry);
    return true;
  }
  snprintf (text, sizeof text,
      "%zu bytes of device memory are allowed, but pictures of this size need "
      "at least %zu",
      max_bytes, min_bytes);
  cuv_cuda_record (cudaErrorMemoryAllocation, text);
  return false;
}

static int
create_events (CuvLdpMatchCuda *self)
{
  CUV_CUDA_TRY (
      cudaStreamCreateWithFlags (&self->copy_stream, cudaStreamNonBlocking));
  for (Slot &slot : self->slots) {
    for (cudaEvent_t *event : { &slot.copied, &slot.matched })
      CUV_CUDA_TRY (cudaEventCreateWithFlags (event, cudaEventDisableTiming));
  }
  return 0;
}

// The buffer is zeroed, like entries, because half of the last unit may be
// padding.
static int
reserve_query (CuvLdpMatchCuda *self, int i)
{
  if (self->packed[i] == nullptr)
    self->packed[i] =
        (uint8_t *) cuv_arena_zeroed (&self->fixed, (size_t) self->args.pitch);
  return self->packed[i] != nullptr ? 0 : -1;
}

static bool
cuv_ldp_match_init (CuvLdpMatchCuda *self, const CuvLdpPacked &packed,
    size_t stride, size_t max_bytes)
{
  CuvLdpMatchArgs *args = &self->args;
  const std::vector<CuvLdpHistogram> histograms = list_histograms (packed);
  const size_t bytes = histograms.size () * sizeof histograms[0];

  args->n_histograms = packed.n_blocks * packed.n_histograms;
  args->n_bins = packed.n_bins;
  args->count_size = packed.count_size;
  cuv_ldp_match_plan (args);
  args->max_distance = packed.max_distance;
  self->stride = (int64_t) stride;
  self->n_counts = (int64_t) args->n_histograms * args->n_bins;
  self->size = self->n_counts * args->count_size;
  args->pitch = (self->size + CUV_LDP_WARP_BYTES - 1) / CUV_LDP_WARP_BYTES
      * CUV_LDP_WARP_BYTES;
  if (!find_capacity (self, bytes + (size_t) args->pitch, max_bytes)
      || create_events (self) != 0)
    return false;
  args->histograms = (const CuvLdpHistogram *) cuv_arena_upload (
      &self->fixed, histograms.data (), bytes);
  return args->histograms != nullptr && reserve_query (self, 0) == 0;
}

extern "C" CuvLdpMatchCuda *
cuv_ldp_match_cuda_new (const CuvLdpPacked *packed, size_t stride,
    size_t max_bytes, CuvLdpCopy copy, void *data)
{
  std::unique_ptr<CuvLdpMatchCuda> self (new (std::nothrow) _CuvLdpMatchCuda);

  if (self == nullptr) {
    cuv_cuda_record (cudaErrorMemoryAllocation, "host memory");
    return nullptr;
  }
  self->copy = copy;
  self->copy_data = data;
  return cuv_ldp_match_init (self.get (), *packed, stride, max_bytes)
      ? self.release ()
      : nullptr;
}

extern "C" void
cuv_ldp_match_cuda_free (CuvLdpMatchCuda *self)
{
  delete self;
}

// ---- entries ----

// Reallocations reserve 25 % more than needed, because entries are appended and
// each reallocation copies all of them again.
static Layout
plan_layout (const CuvLdpMatchCuda *self, int64_t n)
{
  const Layout &now = self->layout;
  const int64_t pitch = self->args.pitch;

  if (n > self->capacity) {
    const int64_t chunk = std::max<int64_t> (
        std::min (CUV_LDP_MATCH_CHUNK_BYTES / pitch, self->capacity / 8), 1);

    return { self->capacity - CUV_LDP_MATCH_SLOTS * chunk, chunk };
  }
  if (now.chunk == 0 && n <= now.resident)
    return now;
  return { std::min (self->capacity, now.resident > 0 ? n + n / 4 + 1 : n), 0 };
}

static int
cuv_ldp_match_allocate (CuvLdpMatchCuda *self, const Layout &layout)
{
  CuvLdpMatchArgs *args = &self->args;
  const size_t bytes = (size_t) (layout.resident * args->pitch);
  const size_t chunk = (size_t) (layout.chunk * args->pitch);

  self->layout = {};
  self->n_resident = 0;
  cuv_arena_clear (&self->memory);
  if (bytes > 0) {
    self->resident = (uint8_t *) cuv_arena_zeroed (&self->memory, bytes);
    if (self->resident == nullptr)
      return -1;
  }
  args->distances_pitch = std::max (layout.resident, layout.chunk);
  if (!cuv_arena_new (&self->memory, &args->distances,
          distances_of_entry (*args) * (size_t) args->distances_pitch))
    return -1;
  args->smallest = args->distances
      + CUV_LDP_MATCH_AT_ONCE * args->n_parts * args->distances_pitch;
  for (Slot &slot : self->slots) {
    if (chunk == 0)
      break;
    slot.entries = (uint8_t *) cuv_arena_alloc (&self->memory, chunk);
    slot.staged = (uint8_t *) cuv_arena_pinned (&self->memory, chunk);
    if (slot.entries == nullptr || slot.staged == nullptr)
      return -1;
  }
  self->layout = layout;
  return 0;
}

// The kernel writes similarities directly to host memory.
static int
reserve_results (CuvLdpMatchCuda *self, int64_t n)
{
  if (n <= self->max_similarities)
    return 0;
  n = std::max (n, 2 * self->max_similarities);
  self->max_similarities = 0;
  cuv_arena_clear (&self->results);
  self->similarities = (double *) cuv_arena_pinned (
      &self->results, (size_t) n * sizeof *self->similarities);
  if (self->similarities == nullptr)
    return -1;
  self->max_similarities = n;
  return 0;
}

// Copies entries from `first` on, as many as fit.
static int
copy_to_device (CuvLdpMatchCuda *self, int64_t first, cudaStream_t stream)
{
  const int64_t end = std::min (self->n, self->layout.resident);
  const int64_t pitch = self->args.pitch;

  self->n_resident = end;
  if (first >= end)
    return 0;
  CUV_CUDA_TRY (cudaMemcpy2DAsync (self->resident + first * pitch,
      (size_t) pitch, self->entries + first * self->stride,
      (size_t) self->stride, (size_t) self->size, (size_t) (end - first),
      cudaMemcpyHostToDevice, stream));
  // queries may run on another stream
  CUV_CUDA_TRY (cudaStreamSynchronize (stream));
  return 0;
}

static int
set_entries (CuvLdpMatchCuda *self, int64_t first_new, cudaStream_t stream)
{
  const Layout layout = plan_layout (self, self->n);

  if ((layout.resident != self->layout.resident
          || layout.chunk != self->layout.chunk)
      && cuv_ldp_match_allocate (self, layout) != 0)
    return -1;
  if (reserve_results (self, self->n) != 0)
    return -1;
  return copy_to_device (self, std::min (first_new, self->n_resident), stream);
}

extern "C" int
cuv_ldp_match_cuda_set_entries (CuvLdpMatchCuda *self, const uint8_t *entries,
    int64_t n, int64_t first_new, CuvCudaStream stream)
{
  self->entries = entries;
  self->n = n;
  self->n_matched = 0;
  if (set_entries (self, first_new, (cudaStream_t) stream) == 0)
    return 0;
  self->n = self->n_resident = 0;
  return -1;
}

// ---- queries ----

// Compares entries first .. first + n - 1; entry `first` is at `entries`.
static int
cuv_ldp_match_entries (
    CuvLdpMatchCuda *self, const uint8_t *entries, int64_t first, int64_t n)
{
  CuvLdpMatchArgs args = self->args;

  args.entries = entries;
  args.n = n;
  args.similarities = self->similarities + first;
  for (int i = 0; i < self->n_queries; i += CUV_LDP_MATCH_AT_ONCE) {
    args.is_first = i == 0;
    args.n_queries = std::min (self->n_queries - i, CUV_LDP_MATCH_AT_ONCE);
    std::copy_n (self->queries + i, args.n_queries, args.queries);
    if (cuv_ldp_match_run (args, self->stream) != 0)
      return -1;
  }
  return 0;
}

static int
match_chunk (CuvLdpMatchCuda *self, const Slot &slot, int64_t first, int64_t n)
{
  const int64_t pitch = self->args.pitch;

  if (cuv_wait_event (&self->copy_wait, slot.copied) != 0)
    return -1;
  self->copy (self->copy_data, slot.staged, (size_t) pitch,
      self->entries + first * self->stride, (size_t) self->stride,
      (size_t) self->size, n);
  CUV_CUDA_TRY (cudaStreamWaitEvent (self->copy_stream, slot.matched, 0));
  CUV_CUDA_TRY (cudaMemcpyAsync (slot.entries, slot.staged,
      (size_t) (n * pitch), cudaMemcpyHostToDevice, self->copy_stream));
  CUV_CUDA_TRY (cudaEventRecord (slot.copied, self->copy_stream));
  CUV_CUDA_TRY (cudaStreamWaitEvent (self->stream, slot.copied, 0));
  if (cuv_ldp_match_entries (self, slot.entries, first, n) != 0)
    return -1;
  CUV_CUDA_TRY (cudaEventRecord (slot.matched, self->stream));
  return 0;
}

// Packs the counts. If they are packed already, those of query 0 are used in
// place and others are copied, because they may share memory.
static int
set_query (CuvLdpMatchCuda *self, int i, const void *counts, int count_size,
    cudaStream_t stream)
{
  const bool same = count_size == self->args.count_size;

  if (reserve_query (self, i) != 0)
    return -1;
  self->queries[i] =
      same && i == 0 ? (const uint8_t *) counts : self->packed[i];
  if (!same)
    return cuv_ldp_match_pack (counts, count_size, self->n_counts,
        self->packed[i], self->args.count_size, stream);
  if (i > 0)
    CUV_CUDA_TRY (cudaMemcpyAsync (self->packed[i], counts, (size_t) self->size,
        cudaMemcpyDeviceToDevice, stream));
  return 0;
}

extern "C" int
cuv_ldp_match_cuda_set_query (CuvLdpMatchCuda *self, int i, const void *counts,
    int count_size, CuvCudaStream stream)
{
  return set_query (self, i, counts, count_size, (cudaStream_t) stream);
}

// Compares n_queries queries with the first n_entries entries.
static int
match_all (CuvLdpMatchCuda *self, int n_queries, int64_t n_entries)
{
  const int64_t n = std::min (n_entries, self->n);
  const int64_t n_resident = std::min (n, self->n_resident);
  int slot = 0;

  self->n_matched = 0;
  if (reserve_results (self, self->n) != 0)
    return -1;
  self->n_queries = n_queries;
  self->n_matched = n;
  if (cuv_ldp_match_entries (self, self->resident, 0, n_resident) != 0)
    return -1;
  for (int64_t first = n_resident; first < n; first += self->layout.chunk) {
    if (match_chunk (self, self->slots[slot++ % CUV_LDP_MATCH_SLOTS], first,
            std::min (n - first, self->layout.chunk))
        != 0)
      return -1;
  }
  return 0;
}

extern "C" int
cuv_ldp_match_cuda_submit_counts (CuvLdpMatchCuda *self, const void *counts,
    int count_size, int64_t n_entries, CuvCudaStream stream)
{
  return set_query (self, 0, counts, count_size, (cudaStream_t) stream) == 0
      ? cuv_ldp_match_cuda_submit (self, 1, n_entries, stream)
      : -1;
}

extern "C" int
cuv_ldp_match_cuda_submit (CuvLdpMatchCuda *self, int n_queries,
    int64_t n_entries, CuvCudaStream stream)
{
  self->stream = (cudaStream_t) stream;
  return match_all (self, n_queries, n_entries);
}

// A copy from pageable memory returns when the memory has been read.
extern "C" int
cuv_ldp_match_cuda_set_packed (
    CuvLdpMatchCuda *self, int i, const void *packed, CuvCudaStream stream)
{
  if (reserve_query (self, i) != 0)
    return -1;
  self->queries[i] = self->packed[i];
  CUV_CUDA_TRY (cudaMemcpyAsync (self->packed[i], packed, (size_t) self->size,
      cudaMemcpyHostToDevice, (cudaStream_t) stream));
  return 0;
}

extern "C" int
cuv_ldp_match_cuda_submit_packed (CuvLdpMatchCuda *self, const void *packed,
    int64_t n_entries, CuvCudaStream stream)
{
  return cuv_ldp_match_cuda_set_packed (self, 0, packed, stream) == 0
      ? cuv_ldp_match_cuda_submit (self, 1, n_entries, stream)
      : -1;
}

extern "C" int
cuv_ldp_match_cuda_collect (CuvLdpMatchCuda *self, double *similarities)
{
  if (cuv_wait_stream (&self->wait, self->stream) != 0)
    return -1;
  std::copy_n (self->similarities, self->n_matched, similarities);
  return 0;
}
