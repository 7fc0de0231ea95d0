// SPDX-License-Identifier: LGPL-2.1-or-later
// Correlation filters on the GPU: memory, and the order of kernels.
#include "rcd/filter.h"

#include <algorithm>
#include <memory>
#include <new>
#include <vector>
#include "cuv-arena.cuh"
#include "cuv-wait.h"
#include "rcd/filter.cuh"
#include "rcd/search.cuh"

struct _CuvRcdFilterCuda {
  CuvArena arena = {};
  CuvRcdFilters memory = {};
  int n = 0; // number of filters in the last search
  uint8_t *crops = nullptr;
  float *window = nullptr;
  cudaStream_t stream = nullptr;
  cudaEvent_t found = nullptr, learned = nullptr;
  CuvWait wait = {};

  ~_CuvRcdFilterCuda ();
};

_CuvRcdFilterCuda::~_CuvRcdFilterCuda ()
{
  if (found != nullptr)
    cuv_cuda_record (cudaEventDestroy (found), "cudaEventDestroy");
  if (learned != nullptr)
    cuv_cuda_record (cudaEventDestroy (learned), "cudaEventDestroy");
  cuv_arena_clear (&arena);
}

// ---- setting up ----

static bool
allocate (CuvRcdFilterCuda *self, size_t n)
{
  CuvArena *arena = &self->arena;
  CuvRcdFilters *memory = &self->memory;
  const size_t n_samples = n * CUV_RCD_FILTER_SCALES;
  const size_t n_cells = n_samples * CUV_RCD_GRID_CELLS;

  memory->peaks = (CuvRcdFilterPeak *) cuv_arena_pinned (
      arena, n_samples * sizeof *memory->peaks);
  return memory->peaks != nullptr
      && cuv_arena_new (arena, &self->crops, n * CUV_RCD_CROP_PIXELS)
      && cuv_arena_new (arena, &self->window, CUV_RCD_GRID_CELLS)
      && cuv_arena_new (
          arena, &memory->histograms, n_cells * CUV_RCD_HOG_SIGNED)
      && cuv_arena_new (arena, &memory->energies, n_cells)
      && cuv_arena_new (arena, &memory->greys, n_cells)
      && cuv_arena_new (arena, &memory->samples, n_samples * CUV_RCD_SPECTRUM)
      && cuv_arena_new (arena, &memory->models, n * CUV_RCD_SPECTRUM)
      && cuv_arena_new (arena, &memory->filters, n * CUV_RCD_SPECTRUM)
      && cuv_arena_new (arena, &memory->ratios, n * CUV_RCD_SPECTRUM_BINS)
      && cuv_arena_new (arena, &memory->labels, n * CUV_RCD_SPECTRUM_BINS)
      && cuv_arena_new (arena, &memory->masks, n * CUV_RCD_GRID_CELLS);
}

static int
init (CuvRcdFilterCuda *self, int max_targets)
{
  float window[CUV_RCD_GRID_CELLS];

  if (!allocate (self, max_targets))
    return -1;
  self->memory.crops = self->crops;
  self->memory.window = self->window;
  for (int i = 0; i < CUV_RCD_GRID_CELLS; i++)
    window[i] = cuv_filter_window (i / CUV_RCD_GRID)
        * cuv_filter_window (i % CUV_RCD_GRID);
  CUV_CUDA_TRY (
      cudaEventCreateWithFlags (&self->found, cudaEventDisableTiming));
  CUV_CUDA_TRY (
      cudaEventCreateWithFlags (&self->learned, cudaEventDisableTiming));
  return cuv_cuda_copy (self->window, window, sizeof window, self->stream);
}

extern "C" CuvRcdFilterCuda *
cuv_rcd_filter_cuda_new (int max_targets)
{
  std::unique_ptr<CuvRcdFilterCuda> self (new (std::nothrow) _CuvRcdFilterCuda);

  if (self == nullptr) {
    cuv_cuda_record (cudaErrorMemoryAllocation, "host memory");
    return nullptr;
  }
  return init (self.get (), max_targets) == 0 ? self.release () : nullptr;
}

extern "C" void
cuv_rcd_filter_cuda_free (CuvRcdFilterCuda *self)
{
  delete self;
}

// ---- searching ----

// A new stream first waits until the previous one has finished learning.
static int
use_stream (CuvRcdFilterCuda *self, CuvCudaStream stream)
{
  if (self->stream != (cudaStream_t) stream)
    CUV_CUDA_TRY (
        cudaStreamWaitEvent ((cudaStream_t) stream, self->learned, 0));
  self->stream = (cudaStream_t) stream;
  return 0;
}

extern "C" int
cuv_rcd_filter_cuda_crop (CuvRcdFilterCuda *self, const CuvFrame *frame,
    const CuvRcdCrop *crops, int n, CuvCudaStream stream)
{
  CuvRcdCrops all = {};

  if (use_stream (self, stream) != 0)
    return -1;
  std::copy_n (crops, n, all.crop);
  return cuv_end_submit (
      cuv_rcd_crop_submit (*frame, all, n, self->crops, self->stream),
      self->stream);
}

static int
submit_find (CuvRcdFilterCuda *self, const CuvRcdSample *samples, int n)
{
  CuvRcdSamples parts = {};
  CuvRcdSlots slots = {};

  for (int i = 0; i < n; i++) {
    std::copy_n (samples[i].part, (int) CUV_RCD_FILTER_SCALES,
        parts.part + i * CUV_RCD_FILTER_SCALES);
    parts.crop[i] = (uint8_t) samples[i].crop;
    slots.slot[i] = (uint8_t) samples[i].slot;
  }
  if (cuv_rcd_samples_submit (
          self->memory, parts, n * CUV_RCD_FILTER_SCALES, self->stream)
          != 0
      || cuv_rcd_responses_submit (self->memory, slots,
             n * CUV_RCD_FILTER_SCALES, false, self->stream)
          != 0)
    return -1;
  CUV_CUDA_TRY (cudaEventRecord (self->found, self->stream));
  return 0;
}

extern "C" int
cuv_rcd_filter_cuda_find (CuvRcdFilterCuda *self, const CuvRcdSample *samples,
    int n, CuvCudaStream stream)
{
  if (use_stream (self, stream) != 0)
    return -1;
  self->n = n;
  return cuv_end_submit (submit_find (self, samples, n), self->stream);
}

extern "C" int
cuv_rcd_filter_cuda_collect (CuvRcdFilterCuda *self, CuvRcdFilterPeak *peaks)
{
  if (cuv_wait_event (&self->wait, self->found) != 0)
    return -1;
  std::copy_n (self->memory.peaks, self->n * CUV_RCD_FILTER_SCALES, peaks);
  return 0;
}

// ---- learning ----

static int
submit_learn (CuvRcdFilterCuda *self, const CuvRcdSample *sample, float rate)
{
  CuvRcdSamples one = {};

  one.part[0] = sample->part[0];
  one.crop[0] = (uint8_t) sample->crop;
  if (cuv_rcd_samples_submit (self->memory, one, 1, self->stream) != 0
      || cuv_rcd_solve_submit (self->memory, sample->slot, rate, self->stream)
          != 0)
    return -1;
  CUV_CUDA_TRY (cudaEventRecord (self->learned, self->stream));
  return 0;
}

extern "C" int
cuv_rcd_filter_cuda_learn (CuvRcdFilterCuda *self, const CuvRcdSample *sample,
    float rate, CuvCudaStream stream)
{
  if (use_stream (self, stream) != 0)
    return -1;
  return cuv_end_submit (submit_learn (self, sample, rate), self->stream);
}

static int
set_goal (CuvRcdFilterCuda *self, int slot, const CuvRcdFilterGoal *goal)
{
  if (cuv_cuda_copy (self->memory.masks + slot * CUV_RCD_GRID_CELLS, goal->mask,
          sizeof goal->mask, self->stream)
      != 0)
    return -1;
  return cuv_cuda_copy (self->memory.labels + slot * CUV_RCD_SPECTRUM_BINS,
      goal->label, sizeof goal->label, self->stream);
}

extern "C" int
cuv_rcd_filter_cuda_start (CuvRcdFilterCuda *self, const CuvRcdSample *sample,
    const CuvRcdFilterGoal *goal, CuvCudaStream stream, double *peak)
{
  CuvRcdSlots slot = {};

  slot.slot[0] = (uint8_t) sample->slot;
  if (use_stream (self, stream) != 0 || set_goal (self, sample->slot, goal) != 0
      || cuv_end_submit (submit_learn (self, sample, 1.0f), self->stream) != 0
      || cuv_rcd_responses_submit (self->memory, slot, 1, true, self->stream)
          != 0)
    return -1;
  CUV_CUDA_TRY (cudaStreamSynchronize (self->stream));
  *peak = self->memory.peaks[0].value;
  return 0;
}

// ---- models ----

extern "C" int
cuv_rcd_filter_cuda_set (CuvRcdFilterCuda *self, int slot,
    const CuvRcdFilterGoal *goal, const float *re, const float *im,
    CuvCudaStream stream)
{
  std::vector<float> planes (CUV_RCD_SPECTRUM);

  for (int i = 0; i < CUV_RCD_SPECTRUM_PLANES; i++) {
    const int at =
        i % CUV_RCD_CHANNELS * CUV_RCD_SPECTRUM_BINS + i / CUV_RCD_CHANNELS;

    planes[at] = re[i];
    planes[at + CUV_RCD_SPECTRUM_PLANES] = im[i];
  }
  if (use_stream (self, stream) != 0 || set_goal (self, slot, goal) != 0
      || cuv_cuda_copy (self->memory.models + (size_t) slot * CUV_RCD_SPECTRUM,
             planes.data (), CUV_RCD_SPECTRUM * sizeof (float), self->stream)
          != 0)
    return -1;
  return cuv_end_submit (
      cuv_rcd_solve_submit (self->memory, slot, 0.0f, self->stream),
      self->stream);
}

static int
get (CuvRcdFilterCuda *self, const float *spectra, int slot, float *re,
    float *im)
{
  std::vector<float> planes (CUV_RCD_SPECTRUM);

  if (cuv_cuda_copy (planes.data (), spectra + (size_t) slot * CUV_RCD_SPECTRUM,
          CUV_RCD_SPECTRUM * sizeof (float), self->stream)
      != 0)
    return -1;
  for (int i = 0; i < CUV_RCD_SPECTRUM_PLANES; i++) {
    const int at =
        i % CUV_RCD_CHANNELS * CUV_RCD_SPECTRUM_BINS + i / CUV_RCD_CHANNELS;

    re[i] = planes[at];
    im[i] = planes[at + CUV_RCD_SPECTRUM_PLANES];
  }
  return 0;
}

extern "C" int
cuv_rcd_filter_cuda_get (CuvRcdFilterCuda *self, int slot, float *re, float *im)
{
  return get (self, self->memory.models, slot, re, im);
}

// ---- for tests ----

extern "C" int
cuv_rcd_filter_cuda_get_filter (
    CuvRcdFilterCuda *self, int slot, float *re, float *im)
{
  return get (self, self->memory.filters, slot, re, im);
}

extern "C" int
cuv_rcd_filter_cuda_get_crops (CuvRcdFilterCuda *self, int n, uint8_t *pixels)
{
  return cuv_cuda_copy (
      pixels, self->crops, (size_t) n * CUV_RCD_CROP_PIXELS, self->stream);
}
