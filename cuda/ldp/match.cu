// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares queries with the pictures of an index. As many pictures as fit stay
// in device memory. The rest is streamed for each query in chunks, double
// buffered through pinned memory: copying overlaps comparing.
#include "ldp/match.h"

#include <algorithm>
#include <memory>
#include <new>
#include <stdio.h>
#include <vector>
#include "cuv-wait.h"
#include "ldp/match.cuh"

#define SLOTS 2
#define CHUNK_BYTES (8 << 20) // larger chunks are no faster

// Buffers for one chunk of streamed entries.
struct Slot {
  uint8_t *staged, *entries;   // pinned; on the device
  cudaEvent_t copied, matched; // buffer may be overwritten: staged; entries
};

// Device memory, in entries.
struct Layout {
  int64_t resident, chunk; // chunk 0: all are resident
};

struct _CuvLdpMatchCuda {
  CuvArena fixed = {}, memory = {}, results = {};
  CuvLdpMatchPass pass = {};
  uint64_t max_distance = 0; // of pictures without a common code
  int64_t n_counts = 0, size = 0, stride = 0; // per entry, on the host
  int64_t room = 0; // entries that fit in device memory
  CuvLdpCopy copy = nullptr;
  void *copy_data = nullptr;
  Layout layout = {};
  int64_t n_resident = 0, n = 0, n_matched = 0;
  const uint8_t *entries = nullptr;
  uint8_t *resident = nullptr, *packed = nullptr;
  Slot slots[SLOTS] = {};
  cudaStream_t copying = nullptr, stream = nullptr;
  CuvWait copy_wait = {}, wait = {};

  ~_CuvLdpMatchCuda ();
};

_CuvLdpMatchCuda::~_CuvLdpMatchCuda ()
{
  if (copying != nullptr) {
    cuv_cuda_record (cudaStreamSynchronize (copying), "cudaStreamSynchronize");
    cuv_cuda_record (cudaStreamDestroy (copying), "cudaStreamDestroy");
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

// ---- what does not depend on the entries ----

// One more of weight 0: half of the last unit may lie beyond the picture, in
// padding.
static std::vector<CuvLdpHistogram>
histograms_of (const CuvLdpPacked &packed)
{
  const int n = packed.n_histograms;
  std::vector<CuvLdpHistogram> histograms ((size_t) packed.n_blocks * n + 1);

  for (size_t i = 0; i + 1 < histograms.size (); i++)
    histograms[i] = { packed.weights[i / n], packed.totals[i / n] };
  return histograms;
}

static bool
has_room (CuvLdpMatchCuda *self, size_t fixed, size_t max_bytes)
{
  const size_t least = fixed + SLOTS * (size_t) self->pass.pitch;
  char text[120];

  if (max_bytes >= least) {
    self->room = (int64_t) ((max_bytes - fixed) / (size_t) self->pass.pitch);
    return true;
  }
  snprintf (text, sizeof text,
      "%zu bytes of device memory are allowed, but pictures of this size need "
      "at least %zu",
      max_bytes, least);
  cuv_cuda_record (cudaErrorMemoryAllocation, text);
  return false;
}

static int
find_max_bytes (size_t *max_bytes)
{
  size_t available, total;

  if (*max_bytes > 0)
    return 0;
  CUV_CUDA_TRY (cudaMemGetInfo (&available, &total));
  *max_bytes = available / 2;
  return 0;
}

static int
make_events (CuvLdpMatchCuda *self)
{
  CUV_CUDA_TRY (
      cudaStreamCreateWithFlags (&self->copying, cudaStreamNonBlocking));
  for (Slot &slot : self->slots) {
    for (cudaEvent_t *event : { &slot.copied, &slot.matched })
      CUV_CUDA_TRY (cudaEventCreateWithFlags (event, cudaEventDisableTiming));
  }
  return 0;
}

static bool
init (CuvLdpMatchCuda *self, const CuvLdpPacked &packed, size_t stride,
    size_t max_bytes)
{
  CuvLdpMatchPass *pass = &self->pass;
  const std::vector<CuvLdpHistogram> histograms = histograms_of (packed);
  const size_t bytes = histograms.size () * sizeof histograms[0];

  pass->n_histograms = packed.n_blocks * packed.n_histograms;
  pass->n_bins = packed.n_bins;
  pass->count_size = packed.count_size;
  self->max_distance = packed.max_distance;
  self->stride = (int64_t) stride;
  self->n_counts = (int64_t) pass->n_histograms * pass->n_bins;
  self->size = self->n_counts * pass->count_size;
  pass->pitch = (self->size + CUV_LDP_UNIT - 1) / CUV_LDP_UNIT * CUV_LDP_UNIT;
  if (find_max_bytes (&max_bytes) != 0
      || !has_room (self, bytes + (size_t) pass->pitch, max_bytes)
      || make_events (self) != 0)
    return false;
  pass->histograms = (const CuvLdpHistogram *) cuv_arena_upload (
      &self->fixed, histograms.data (), bytes);
  self->packed =
      (uint8_t *) cuv_arena_alloc (&self->fixed, (size_t) pass->pitch);
  return pass->histograms != nullptr && self->packed != nullptr;
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
  return init (self.get (), *packed, stride, max_bytes) ? self.release ()
                                                        : nullptr;
}

extern "C" void
cuv_ldp_match_cuda_free (CuvLdpMatchCuda *self)
{
  delete self;
}

// ---- the entries ----

// After the first time with 25 % to spare: entries are being appended, and each
// reallocation copies all of them again.
static Layout
layout_for (const CuvLdpMatchCuda *self, int64_t n)
{
  const Layout &now = self->layout;
  const int64_t pitch = self->pass.pitch;

  if (n > self->room) {
    const int64_t chunk =
        std::max<int64_t> (std::min (CHUNK_BYTES / pitch, self->room / 8), 1);

    return { self->room - SLOTS * chunk, chunk };
  }
  if (now.chunk == 0 && n <= now.resident)
    return now;
  return { std::min (self->room, now.resident > 0 ? n + n / 4 + 1 : n), 0 };
}

static int
allocate (CuvLdpMatchCuda *self, const Layout &layout)
{
  const size_t bytes = (size_t) (layout.resident * self->pass.pitch);
  const size_t chunk = (size_t) (layout.chunk * self->pass.pitch);

  self->layout = {};
  self->n_resident = 0;
  cuv_arena_clear (&self->memory);
  if (bytes > 0) {
    self->resident = (uint8_t *) cuv_arena_alloc (&self->memory, bytes);
    if (self->resident == nullptr)
      return -1;
  }
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

// Kernels write distances directly to pinned host memory.
static int
reserve_results (CuvLdpMatchCuda *self, int64_t n)
{
  CuvLdpMatchPass *pass = &self->pass;

  if (n <= pass->distances_pitch)
    return 0;
  n = std::max (n, 2 * pass->distances_pitch);
  pass->distances_pitch = 0;
  cuv_arena_clear (&self->results);
  pass->distances = (uint64_t *) cuv_arena_pinned (
      &self->results, CUV_LDP_PARTS * (size_t) n * sizeof *pass->distances);
  if (pass->distances == nullptr)
    return -1;
  pass->distances_pitch = n;
  return 0;
}

// Copies entries from `first` on, as many as fit.
static int
copy_residents (CuvLdpMatchCuda *self, int64_t first, cudaStream_t stream)
{
  const int64_t end = std::min (self->n, self->layout.resident);
  const int64_t pitch = self->pass.pitch;

  if (first < end)
    CUV_CUDA_TRY (cudaMemcpy2DAsync (self->resident + first * pitch,
        (size_t) pitch, self->entries + first * self->stride,
        (size_t) self->stride, (size_t) self->size, (size_t) (end - first),
        cudaMemcpyHostToDevice, stream));
  // queries may run on another stream
  if (first < end)
    CUV_CUDA_TRY (cudaStreamSynchronize (stream));
  self->n_resident = end;
  return 0;
}

static int
set_entries (CuvLdpMatchCuda *self, int64_t first_new, cudaStream_t stream)
{
  const Layout layout = layout_for (self, self->n);

  if ((layout.resident != self->layout.resident
          || layout.chunk != self->layout.chunk)
      && allocate (self, layout) != 0)
    return -1;
  if (reserve_results (self, self->n) != 0)
    return -1;
  return copy_residents (self, std::min (first_new, self->n_resident), stream);
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

// ---- a query ----

// Compares entries first .. first + n - 1; entry `first` is at `entries`.
static int
match (CuvLdpMatchCuda *self, const uint8_t *entries, int64_t first, int64_t n)
{
  CuvLdpMatchPass pass = self->pass;

  pass.entries = entries;
  pass.n = n;
  pass.distances += first;
  return cuv_ldp_match_run (pass, self->stream);
}

static int
match_chunk (CuvLdpMatchCuda *self, const Slot &slot, int64_t first, int64_t n)
{
  const int64_t pitch = self->pass.pitch;

  if (cuv_wait_event (&self->copy_wait, slot.copied) != 0)
    return -1;
  self->copy (self->copy_data, slot.staged, (size_t) pitch,
      self->entries + first * self->stride, (size_t) self->stride,
      (size_t) self->size, n);
  CUV_CUDA_TRY (cudaStreamWaitEvent (self->copying, slot.matched, 0));
  CUV_CUDA_TRY (cudaMemcpyAsync (slot.entries, slot.staged,
      (size_t) (n * pitch), cudaMemcpyHostToDevice, self->copying));
  CUV_CUDA_TRY (cudaEventRecord (slot.copied, self->copying));
  CUV_CUDA_TRY (cudaStreamWaitEvent (self->stream, slot.copied, 0));
  if (match (self, slot.entries, first, n) != 0)
    return -1;
  CUV_CUDA_TRY (cudaEventRecord (slot.matched, self->stream));
  return 0;
}

static int
set_query (CuvLdpMatchCuda *self, const void *counts, int count_size)
{
  CuvLdpMatchPass *pass = &self->pass;
  const bool same = count_size == pass->count_size;

  pass->query = same ? (const uint8_t *) counts : self->packed;
  return same ? 0
              : cuv_ldp_match_pack (counts, count_size, self->n_counts,
                  self->packed, pass->count_size, self->stream);
}

extern "C" int
cuv_ldp_match_cuda_submit_counts (CuvLdpMatchCuda *self, const void *counts,
    int count_size, int64_t n_entries, CuvCudaStream stream)
{
  const int64_t n = std::min (n_entries, self->n);
  const int64_t n_resident = std::min (n, self->n_resident);
  int slot = 0;

  self->stream = (cudaStream_t) stream;
  self->n_matched = n;
  if (set_query (self, counts, count_size) != 0
      || match (self, self->resident, 0, n_resident) != 0)
    return -1;
  for (int64_t first = n_resident; first < n; first += self->layout.chunk) {
    if (match_chunk (self, self->slots[slot++ % SLOTS], first,
            std::min (n - first, self->layout.chunk))
        != 0)
      return -1;
  }
  return 0;
}

extern "C" int
cuv_ldp_match_cuda_collect (CuvLdpMatchCuda *self, double *similarities)
{
  const CuvLdpMatchPass &pass = self->pass;

  if (cuv_wait_stream (&self->wait, self->stream) != 0)
    return -1;
  for (int64_t i = 0; i < self->n_matched; i++) {
    uint64_t distance = 0;

    for (int part = 0; part < CUV_LDP_PARTS; part++)
      distance += pass.distances[part * pass.distances_pitch + i];
    similarities[i] = cuv_ldp_similarity_of (self->max_distance, distance);
  }
  return 0;
}
