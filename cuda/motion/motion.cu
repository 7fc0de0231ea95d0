// SPDX-License-Identifier: LGPL-2.1-or-later
#include "motion/motion.h"

#include <memory>
#include <new>
#include "cuv-arena.cuh"
#include "cuv-wait.h"
#include "motion/clean.cuh"
#include "motion/motion-mog2.cuh"

#define CUV_MOTION_THREADS 128

struct _CuvMotionCuda {
  CuvMotionConfig config = {};
  int width = 0, height = 0, n_channels = 0;
  CuvArena arena = {};
  float *fields = nullptr; // of modes, a plane each
  uint8_t *n_modes = nullptr;
  uint16_t *averages = nullptr;
  uint8_t *mask = nullptr;
  CuvMotionBits bits = {}, scratch = {};
  unsigned long long *n_moving = nullptr; // after the words of bits
  uint64_t *host_words = nullptr;         // pinned, as many, and n_moving
  size_t n_words = 0;
  bool fresh = true; // nothing was learnt yet
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

// ---- kernels: a block has a part of a row, rounded up to whole words ----

struct Output {
  uint8_t *mask;
  uint32_t *words; // two for each of bits
  int width, n_words;
  unsigned long long *n_moving;
};

// Writes the thread's value of the mask, and a bit of a warp's word. Call from
// whole warps; CUV_MOTION_STILL beyond the row.
static __device__ __forceinline__ void
write_mask (const Output &output, int x, int y, uint8_t value)
{
  const uint32_t word = __ballot_sync (~0u, value == CUV_MOTION_MOVING);

  if (x < output.width)
    output.mask[(size_t) y * output.width + x] = value;
  if (threadIdx.x % 32 == 0 && x / 32 < output.n_words) {
    output.words[(size_t) y * output.n_words + x / 32] = word;
    if (word != 0)
      atomicAdd (output.n_moving, (unsigned long long) __popc (word));
  }
}

template <int N_CHANNELS>
static __device__ uint8_t
run_mog2 (CuvMog2Value<N_CHANNELS> *value, uint8_t *n_modes,
    const CuvMog2Params &params, const CuvMog2Rate &rate)
{
  bool background = false;

  value->n = *n_modes;
  if (!value->update (params, rate, &background) && rate.rate > 0)
    value->add (params, rate);
  value->store_weights ();
  *n_modes = (uint8_t) value->n;
  return background                                 ? CUV_MOTION_STILL
      : params.shadows && value->is_shadow (params) ? CUV_MOTION_SHADOW
                                                    : CUV_MOTION_MOVING;
}

template <int N_CHANNELS>
static __global__ void
__launch_bounds__ (CUV_MOTION_THREADS)
    mog2_kernel (const __grid_constant__ CuvFrame frame, CuvMotionConfig config,
        const __grid_constant__ CuvMog2Params params, CuvMog2Rate rate,
        float *fields, uint8_t *n_modes, size_t plane, Output output)
{
  const int x = blockIdx.x * CUV_MOTION_THREADS + threadIdx.x, y = blockIdx.y;
  const size_t at = (size_t) y * output.width + x;
  uint8_t result = CUV_MOTION_STILL;

  if (x < output.width) {
    CuvMog2Value<N_CHANNELS> value = { fields + at, plane, {}, {}, 0 };

#pragma unroll
    for (int c = 0; c < N_CHANNELS; c++)
      value.value[c] = cuv_motion_value (&config, &frame, c, x, y)
          - cuv_motion_zero (&frame, c);
    result = run_mog2 (&value, &n_modes[at], params, rate);
  }
  write_mask (output, x, y, result);
}

static __global__ void
__launch_bounds__ (CUV_MOTION_THREADS) average_kernel (
    const __grid_constant__ CuvFrame frame, CuvMotionConfig config,
    CuvAverageParams params, uint16_t *averages, bool fresh, Output output)
{
  const int x = blockIdx.x * CUV_MOTION_THREADS + threadIdx.x, y = blockIdx.y;
  uint8_t result = CUV_MOTION_STILL;

  if (x < output.width) {
    const uint8_t value = cuv_motion_value (&config, &frame, 0, x, y);
    uint16_t *average = &averages[(size_t) y * output.width + x];

    if (fresh)
      *average = (uint16_t) (value << 8);
    result = cuv_average_pixel (average, value, &params);
  }
  write_mask (output, x, y, result);
}

// ---- launches ----

static dim3
grid_of (const CuvMotionCuda *self)
{
  return dim3 (
      cuv_div_up (self->bits.stride * 64, CUV_MOTION_THREADS), self->height);
}

static Output
output_of (const CuvMotionCuda *self)
{
  return { self->mask, (uint32_t *) self->bits.words, self->width,
    2 * self->bits.stride, self->n_moving };
}

template <int N_CHANNELS>
static int
launch_mog2 (const CuvMotionCuda *self, const CuvFrame *frame,
    const CuvMotionParams *params)
{
  const size_t plane = (size_t) self->width * self->height;

  mog2_kernel<N_CHANNELS>
      <<<grid_of (self), CUV_MOTION_THREADS, 0, self->stream>>> (*frame,
          self->config, params->mog2, params->mog2_rate, self->fields,
          self->n_modes, plane, output_of (self));
  CUV_CUDA_LAUNCHED (mog2_kernel);
  return 0;
}

static int
launch_average (const CuvMotionCuda *self, const CuvFrame *frame,
    const CuvMotionParams *params)
{
  average_kernel<<<grid_of (self), CUV_MOTION_THREADS, 0, self->stream>>> (
      *frame, self->config, params->average, self->averages, self->fresh,
      output_of (self));
  CUV_CUDA_LAUNCHED (average_kernel);
  return 0;
}

static int
launch (const CuvMotionCuda *self, const CuvFrame *frame,
    const CuvMotionParams *params)
{
  if (self->averages != nullptr)
    return launch_average (self, frame, params);
  return self->n_channels == 1 ? launch_mog2<1> (self, frame, params)
                               : launch_mog2<3> (self, frame, params);
}

static int
submit (
    CuvMotionCuda *self, const CuvFrame *frame, const CuvMotionParams *params)
{
  if (self->fresh && self->n_modes != nullptr)
    CUV_CUDA_TRY (cudaMemsetAsync (
        self->n_modes, 0, (size_t) self->width * self->height, self->stream));
  CUV_CUDA_TRY (cudaMemsetAsync (
      self->n_moving, 0, sizeof *self->n_moving, self->stream));
  if (launch (self, frame, params) != 0
      || cuv_motion_clean (&self->bits, &self->scratch, params->opening,
             params->closing, self->stream)
          != 0)
    return -1;
  CUV_CUDA_TRY (cudaMemcpyAsync (self->host_words, self->bits.words,
      (self->n_words + 1) * sizeof (uint64_t), cudaMemcpyDeviceToHost,
      self->stream));
  CUV_CUDA_TRY (cudaEventRecord (self->done, self->stream));
  self->fresh = false;
  return 0;
}

// ---- the entry points ----

static bool
allocate_models (CuvMotionCuda *self, size_t n)
{
  if (self->config.method == CUV_MOTION_AVERAGE) {
    self->averages =
        (uint16_t *) cuv_arena_alloc (&self->arena, n * sizeof (uint16_t));
    return self->averages != nullptr;
  }
  self->fields = (float *) cuv_arena_alloc (&self->arena,
      n * CUV_MOG2_MAX_MODES * (2 + self->n_channels) * sizeof (float));
  self->n_modes = (uint8_t *) cuv_arena_alloc (&self->arena, n);
  return self->fields != nullptr && self->n_modes != nullptr;
}

static bool
motion_allocate (CuvMotionCuda *self)
{
  const size_t n = (size_t) self->width * self->height;
  const int stride = cuv_motion_n_words (self->width);

  self->n_words = (size_t) stride * self->height;
  self->bits = { nullptr, self->width, self->height, stride };
  self->scratch = self->bits;
  self->mask = (uint8_t *) cuv_arena_alloc (&self->arena, n);
  self->bits.words = (uint64_t *) cuv_arena_alloc (
      &self->arena, (self->n_words + 1) * sizeof (uint64_t));
  self->scratch.words = (uint64_t *) cuv_arena_alloc (
      &self->arena, self->n_words * sizeof (uint64_t));
  self->host_words = (uint64_t *) cuv_arena_pinned (
      &self->arena, (self->n_words + 1) * sizeof (uint64_t));
  if (!allocate_models (self, n) || self->mask == nullptr
      || self->bits.words == nullptr || self->scratch.words == nullptr
      || self->host_words == nullptr)
    return false;
  self->n_moving = (unsigned long long *) (self->bits.words + self->n_words);
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
cuv_motion_cuda_collect (
    CuvMotionCuda *self, CuvMotionBits *cleaned, int64_t *n_moving)
{
  if (cuv_wait_event (&self->wait, self->done) != 0)
    return -1;
  *cleaned = self->bits;
  cleaned->words = self->host_words;
  *n_moving = (int64_t) self->host_words[self->n_words];
  return 0;
}

extern "C" int
cuv_motion_cuda_get_mask (CuvMotionCuda *self, uint8_t *mask)
{
  return cuv_cuda_copy (
      mask, self->mask, (size_t) self->width * self->height, self->stream);
}
