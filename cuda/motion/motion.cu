// SPDX-License-Identifier: LGPL-2.1-or-later
#include "motion/motion.h"

#include <memory>
#include <new>
#include "cuv-arena.cuh"
#include "cuv-replay.cuh"
#include "cuv-wait.h"
#include "motion/clean.cuh"
#include "motion/motion-mog2.cuh"

#define CUV_MOTION_THREADS 128

struct _CuvMotionCuda {
  CuvMotionConfig config = {};
  int width = 0, height = 0, n_channels = 0;
  CuvArena arena = {};
  CuvMog2Models models = {};
  uint16_t *averages = nullptr;
  uint8_t *mask = nullptr;
  CuvMotionBits bits = {};
  uint64_t *unmasked = nullptr; // as many words
  int mask_serial = 0;          // of the contents of unmasked
  CuvMotionCleaned cleaned = {};
  bool fresh = true; // nothing was learnt yet
  CuvReplay replay;  // of the kernels of a frame
  // parameters of the last frame for which the mask was cleaned
  int opening = 0, closing = 0;
  const uint64_t *shown = nullptr;
  cudaStream_t stream = nullptr;
  cudaEvent_t done = nullptr;
  CuvWait wait = {};

  ~_CuvMotionCuda ()
  {
    if (done != nullptr)
      cudaEventDestroy (done);
    cuv_arena_clear (&arena);
  }
};

// ---- kernels ----
// A warp has 32 values of a row, a word of the mask. Arrays have whole words:
// values beyond the width are copies of the last pixel's. Kernels are compiled
// once for PLAIN values, which are components of pixels, since to find out for
// each value what else to do takes longer than to compare it.

struct Output {
  uint8_t *mask;
  uint32_t *words;          // two for each of bits
  const uint32_t *unmasked; // as many, or NULL
  int width, height;
  int n_words; // of a row
};

// Where the thread's value is in arrays of whole words.
static __device__ __forceinline__ size_t
index_of (const Output &output, int x, int y)
{
  return (size_t) y * output.n_words * 32 + x;
}

// Writes the thread's value of the mask, and the warp's word. Call from whole
// warps.
static __device__ __forceinline__ void
write_mask (const Output &output, int x, int y, uint8_t value)
{
  const bool inside = x < output.width;
  uint32_t word = __ballot_sync (~0u, inside && value == CUV_MOTION_MOVING);

  if (inside)
    output.mask[(size_t) y * output.width + x] = value;
  if (threadIdx.x % 32 == 0) {
    const size_t at = (size_t) y * output.n_words + x / 32;

    if (output.unmasked != nullptr)
      word &= output.unmasked[at];
    output.words[at] = word;
  }
}

template <bool PLAIN>
static __device__ __forceinline__ uint8_t
read_motion_value (const CuvFrame &frame, const CuvMotionConfig &config,
    int channel, int x, int y)
{
  if (!PLAIN)
    return cuv_motion_value (&config, &frame, channel, x, y);
  return cuv_motion_sample (
      &frame.component[cuv_motion_component (&frame, channel)], x, y);
}

template <int MAX_MODES, int N_CHANNELS>
static __device__ __forceinline__ uint8_t
update_modes (CuvMog2Input<N_CHANNELS> *input, const CuvMog2Params &params,
    const CuvMog2Rate &rate)
{
  CuvMog2Value<N_CHANNELS, MAX_MODES> value = { *input, {} };
  bool background = false;

  if (!value.update (params, rate, &background) && rate.rate > 0)
    value.add (params, rate);
  value.store_weights ();
  input->n = value.in.n;
  return background                                ? CUV_MOTION_STILL
      : params.shadows && value.is_shadow (params) ? CUV_MOTION_SHADOW
                                                   : CUV_MOTION_MOVING;
}

// Call from whole warps.
template <int N_CHANNELS>
static __device__ uint8_t
run_mog2 (CuvMog2Input<N_CHANNELS> *input, const CuvMog2Params &params,
    const CuvMog2Rate &rate)
{
  switch (cuv_warp_max ((unsigned) input->n)) {
    case 0:
    case 1:
      return update_modes<2> (input, params, rate);
    case 2:
      return update_modes<3> (input, params, rate);
    case 3:
      return update_modes<4> (input, params, rate);
    default:
      return update_modes<CUV_MOG2_MAX_MODES> (input, params, rate);
  }
}

template <bool PLAIN, int N_CHANNELS>
static __global__ void
__launch_bounds__ (CUV_MOTION_THREADS)
    mog2_kernel (const __grid_constant__ CuvFrame frame, CuvMotionConfig config,
        const __grid_constant__ CuvMog2Params params, CuvMog2Rate rate,
        CuvMog2Models models, Output output)
{
  const int x = blockIdx.x * CUV_MOTION_THREADS + threadIdx.x, y = blockIdx.y;
  const size_t at = index_of (output, x, y);
  CuvMog2Input<N_CHANNELS> input;

  cuv_pdl_trigger ();
  if (x >= 32 * output.n_words)
    return;
  input.read (models, at);
#pragma unroll
  for (int c = 0; c < N_CHANNELS; c++)
    input.value[c] = read_motion_value<PLAIN> (
                         frame, config, c, min (x, output.width - 1), y)
        - cuv_motion_zero (&frame, c);
  write_mask (output, x, y, run_mog2 (&input, params, rate));
  models.n_modes[at] = (uint8_t) input.n;
}

// A warp has N_WORDS words, so that it waits for memory once for all.
template <bool PLAIN, int N_WORDS>
static __global__ void
__launch_bounds__ (CUV_MOTION_THREADS) average_kernel (
    const __grid_constant__ CuvFrame frame, CuvMotionConfig config,
    CuvAverageParams params, uint16_t *averages, bool fresh, Output output)
{
  const int warp = blockIdx.x * CUV_MOTION_THREADS / 32 + threadIdx.x / 32;
  const int first = warp * 32 * N_WORDS + threadIdx.x % 32, y = blockIdx.y;
  const int end = 32 * output.n_words;
  uint8_t values[N_WORDS];
  uint16_t old[N_WORDS];

  cuv_pdl_trigger ();
#pragma unroll
  for (int i = 0; i < N_WORDS; i++) {
    const int x = min (first + 32 * i, end - 1);

    values[i] = read_motion_value<PLAIN> (
        frame, config, 0, min (x, output.width - 1), y);
    old[i] = averages[index_of (output, x, y)];
  }
#pragma unroll
  for (int i = 0; i < N_WORDS; i++) {
    const int x = first + 32 * i;

    if (x >= end)
      return;
    if (fresh)
      old[i] = (uint16_t) (values[i] << 8);
    write_mask (output, x, y, cuv_average_pixel (&old[i], values[i], &params));
    averages[index_of (output, x, y)] = old[i];
  }
}

// ---- launches ----

// Blocks for a number of words of each row to a warp.
static dim3
grid_of (const CuvMotionCuda *self, int n_words)
{
  return dim3 (
      cuv_div_up (self->bits.stride * 64, CUV_MOTION_THREADS * n_words),
      self->height);
}

// What params->unmasked is on the device.
static const uint64_t *
shown (const CuvMotionCuda *self, const CuvMotionParams *params)
{
  return params->unmasked != nullptr ? self->unmasked : nullptr;
}

static Output
output_of (const CuvMotionCuda *self, const CuvMotionParams *params)
{
  return { self->mask, (uint32_t *) self->bits.words,
    (const uint32_t *) shown (self, params), self->width, self->height,
    2 * self->bits.stride };
}

template <bool PLAIN, int N_CHANNELS>
static int
launch_mog2 (const CuvMotionCuda *self, const CuvFrame *frame,
    const CuvMotionParams *params, CuvReplay *recorded)
{
  if (recorded != nullptr)
    return recorded->change_first (mog2_kernel<PLAIN, N_CHANNELS>,
        grid_of (self, 1), CUV_MOTION_THREADS, *frame, self->config,
        params->mog2, params->mog2_rate, self->models,
        output_of (self, params));
  mog2_kernel<PLAIN, N_CHANNELS>
      <<<grid_of (self, 1), CUV_MOTION_THREADS, 0, self->stream>>> (*frame,
          self->config, params->mog2, params->mog2_rate, self->models,
          output_of (self, params));
  CUV_CUDA_LAUNCHED (mog2_kernel);
  return 0;
}

template <bool PLAIN, int N_WORDS>
static int
launch_average (const CuvMotionCuda *self, const CuvFrame *frame,
    const CuvMotionParams *params, CuvReplay *recorded)
{
  if (recorded != nullptr)
    return recorded->change_first (average_kernel<PLAIN, N_WORDS>,
        grid_of (self, N_WORDS), CUV_MOTION_THREADS, *frame, self->config,
        params->average, self->averages, self->fresh, output_of (self, params));
  average_kernel<PLAIN, N_WORDS>
      <<<grid_of (self, N_WORDS), CUV_MOTION_THREADS, 0, self->stream>>> (
          *frame, self->config, params->average, self->averages, self->fresh,
          output_of (self, params));
  CUV_CUDA_LAUNCHED (average_kernel);
  return 0;
}

// Values of the arrays of whole words.
static size_t
n_values (const CuvMotionCuda *self)
{
  return (size_t) self->bits.stride * 64 * self->height;
}

// recorded: NULL, or see CuvReplay
static int
launch (const CuvMotionCuda *self, const CuvFrame *frame,
    const CuvMotionParams *params, CuvReplay *recorded)
{
  const bool plain =
      self->config.scale == 1 && !cuv_motion_is_mixed (&self->config, frame);

  if (self->averages != nullptr)
    return plain ? launch_average<true, 4> (self, frame, params, recorded)
                 : launch_average<false, 1> (self, frame, params, recorded);
  if (self->n_channels == 3)
    return plain ? launch_mog2<true, 3> (self, frame, params, recorded)
                 : launch_mog2<false, 3> (self, frame, params, recorded);
  return plain ? launch_mog2<true, 1> (self, frame, params, recorded)
               : launch_mog2<false, 1> (self, frame, params, recorded);
}

static int
upload_mask (CuvMotionCuda *self, const CuvMotionParams *params)
{
  if (params->unmasked == nullptr || params->mask_serial == self->mask_serial)
    return 0;
  CUV_CUDA_TRY (cudaMemcpyAsync (self->unmasked, params->unmasked,
      n_values (self) / 8, cudaMemcpyHostToDevice, self->stream));
  self->mask_serial = params->mask_serial;
  return 0;
}

// Returns whether the mask is cleaned as that of the last frame was.
static bool
cleans_again (CuvMotionCuda *self, const CuvMotionParams *params)
{
  const bool again = self->opening == params->opening
      && self->closing == params->closing
      && self->shown == shown (self, params);

  self->opening = params->opening;
  self->closing = params->closing;
  self->shown = shown (self, params);
  return again;
}

// Enqueues the kernels of a frame. While the GPU is busy, frames replay them.
static int
submit_kernels (
    CuvMotionCuda *self, const CuvFrame *frame, const CuvMotionParams *params)
{
  const bool again = cleans_again (self, params);
  const auto first = [=] (CuvReplay *recorded) {
    return launch (self, frame, params, recorded);
  };
  const auto rest = [=] {
    return cuv_motion_clean (&self->bits, params->opening, params->closing,
        shown (self, params), self->cleaned, self->stream);
  };

  if (!again)
    self->replay.forget ();
  return self->replay.submit (
      &self->stream, again && cuv_gpu_is_busy (), first, rest);
}

static int
submit (
    CuvMotionCuda *self, const CuvFrame *frame, const CuvMotionParams *params)
{
  if (self->fresh && self->models.n_modes != nullptr)
    CUV_CUDA_TRY (cudaMemsetAsync (
        self->models.n_modes, 0, n_values (self), self->stream));
  if (upload_mask (self, params) != 0
      || submit_kernels (self, frame, params) != 0)
    return -1;
  CUV_CUDA_TRY (cudaEventRecord (self->done, self->stream));
  self->fresh = false;
  return 0;
}

// ---- the entry points ----

static bool
allocate_models (CuvMotionCuda *self)
{
  const size_t n = n_values (self);

  if (self->config.method == CUV_MOTION_AVERAGE) {
    self->averages =
        (uint16_t *) cuv_arena_alloc (&self->arena, n * sizeof (uint16_t));
    return self->averages != nullptr;
  }
  self->models.fields = (float *) cuv_arena_alloc (&self->arena,
      n * CUV_MOG2_MAX_MODES * (2 + self->n_channels) * sizeof (float));
  self->models.n_modes = (uint8_t *) cuv_arena_alloc (&self->arena, n);
  return self->models.fields != nullptr && self->models.n_modes != nullptr;
}

static bool
motion_allocate (CuvMotionCuda *self)
{
  const int stride = cuv_motion_n_words (self->width);
  const size_t n_bytes = (size_t) stride * self->height * sizeof (uint64_t);

  self->bits = { nullptr, self->width, self->height, stride };
  self->mask = (uint8_t *) cuv_arena_alloc (
      &self->arena, (size_t) self->width * self->height);
  self->bits.words = (uint64_t *) cuv_arena_alloc (&self->arena, n_bytes);
  self->unmasked = (uint64_t *) cuv_arena_alloc (&self->arena, n_bytes);
  self->cleaned.words = (uint64_t *) cuv_arena_pinned (&self->arena, n_bytes);
  self->cleaned.marks = (CuvMotionMark *) cuv_arena_pinned (&self->arena,
      (size_t) cuv_motion_n_marks (stride) * self->height
          * sizeof (CuvMotionMark));
  self->cleaned.n_moving = (unsigned *) cuv_arena_pinned (&self->arena,
      (size_t) cuv_motion_n_tiles (&self->bits) * sizeof (unsigned));
  if (!allocate_models (self) || self->mask == nullptr
      || self->bits.words == nullptr || self->unmasked == nullptr
      || self->cleaned.words == nullptr || self->cleaned.marks == nullptr
      || self->cleaned.n_moving == nullptr)
    return false;
  return cuv_cuda_record (
             cudaEventCreateWithFlags (&self->done, cudaEventDisableTiming),
             "cudaEventCreateWithFlags")
      == 0;
}

extern "C" CuvMotionCuda *
cuv_motion_cuda_new (const CuvMotionConfig *config, const CuvFrame *frame)
{
  std::unique_ptr<CuvMotionCuda> self (new (std::nothrow) _CuvMotionCuda);

  if (self == nullptr) {
    cuv_cuda_record (cudaErrorMemoryAllocation, "host memory");
    return nullptr;
  }
  self->config = *config;
  self->width = cuv_motion_n_values (config, frame->width);
  self->height = cuv_motion_n_values (config, frame->height);
  self->n_channels = cuv_motion_n_channels (config, frame);
  return motion_allocate (self.get ()) ? self.release () : nullptr;
}

extern "C" void
cuv_motion_cuda_free (CuvMotionCuda *self)
{
  delete self;
}

extern "C" void
cuv_motion_cuda_reset (CuvMotionCuda *self)
{
  self->fresh = true;
}

extern "C" int
cuv_motion_cuda_submit (CuvMotionCuda *self, const CuvFrame *frame,
    const CuvMotionParams *params, CuvCudaStream stream)
{
  self->stream = (cudaStream_t) stream;
  return cuv_end_submit (submit (self, frame, params), self->stream);
}

extern "C" int
cuv_motion_cuda_collect (CuvMotionCuda *self, CuvMotionBits *cleaned,
    const CuvMotionMark **marks, int64_t *n_moving)
{
  if (cuv_wait_event (&self->wait, self->done) != 0)
    return -1;
  *cleaned = self->bits;
  cleaned->words = self->cleaned.words;
  *marks = self->cleaned.marks;
  *n_moving = 0;
  for (int i = 0; i < cuv_motion_n_tiles (&self->bits); i++)
    *n_moving += self->cleaned.n_moving[i];
  return 0;
}

extern "C" int
cuv_motion_cuda_get_mask (CuvMotionCuda *self, uint8_t *mask)
{
  return cuv_cuda_copy (
      mask, self->mask, (size_t) self->width * self->height, self->stream);
}
