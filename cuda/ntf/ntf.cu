// SPDX-License-Identifier: LGPL-2.1-or-later
// The factorisation on the GPU: memory, loading the tensor, copies of factors.
#include <algorithm>
#include <memory>
#include <new>
#include <string.h>
#include "cuv-arena.cuh"
#include "ntf/ntf-object.cuh"

_CuvNtfCuda::~_CuvNtfCuda ()
{
  cuv_buffer_clear (&residual);
  cuv_arena_clear (&arena);
}

template <typename T>
static bool
pin (CuvNtfCuda *self, T **memory, size_t n)
{
  *memory = (T *) cuv_arena_pinned (&self->arena, n * sizeof (T));
  if (*memory != nullptr)
    memset (*memory, 0, n * sizeof (T));
  return *memory != nullptr;
}

static void
init_factors (CuvNtfState *state)
{
  const int height = state->is_matrix ? 1 : state->height;
  const int rows_of_v = state->is_matrix ? state->height : 1;
  const int width = state->is_matrix ? state->pitch : state->width;
  const int step = state->pitch * rows_of_v;

  state->factors[CUV_NTF_U] = { nullptr, height, state->stride, 1 };
  state->factors[CUV_NTF_V] = { nullptr, width * rows_of_v, 1, step };
  state->factors[CUV_NTF_W] = { nullptr, state->depth, state->stride, 1 };
}

static void
init_shape (CuvNtfState *state, int height, int width, int depth, int rank)
{
  state->height = height;
  state->width = width;
  state->depth = depth;
  state->rank = rank;
  state->stride = 8;
  while (state->stride < rank)
    state->stride *= 2;
  state->pitch = cuv_div_up (width, 4) * 4;
  state->scale = 1;
  init_factors (state);
  for (int mode = 0; mode < CUV_NTF_MODES; mode++)
    state->n_parts[mode] = std::min (
        cuv_div_up (state->factors[mode].size, 32), CUV_NTF_GRAM_PARTS);
  if (state->is_matrix) {
    cuv_ntf_init_matrix (state);
    return;
  }
  cuv_ntf_init_slots_of_v (state);
  cuv_ntf_init_slots_of_w (state);
}

static bool
alloc_modes (CuvNtfCuda *self)
{
  CuvNtfState *state = &self->state;
  const size_t n_products = (size_t) state->stride * state->stride;
  bool ok = true;

  for (int mode = 0; mode < CUV_NTF_MODES && ok; mode++)
    ok = cuv_arena_new (&self->arena, &state->factors[mode].values,
             cuv_ntf_n_values (*state, mode))
        && cuv_arena_new (&self->arena, &state->sums[mode],
            state->n_sums[mode] * cuv_ntf_n_values (*state, mode))
        && cuv_arena_new (&self->arena, &state->grams[mode], n_products)
        && cuv_arena_new (&self->arena, &state->gram_parts[mode],
            state->n_parts[mode] * n_products);
  return ok;
}

static bool
pin_factors (CuvNtfCuda *self)
{
  const CuvNtfState &state = self->state;
  const int height = state.is_matrix ? 1 : state.height;
  const int width = state.width * (state.is_matrix ? state.height : 1);
  const size_t rows = (size_t) height + width + state.depth;
  CuvNtfFactors *factors = &self->factors;
  float *values;

  *factors = { { height, width, state.depth }, state.rank, state.stride, {} };
  if (!pin (self, &values, rows * state.stride)
      || !pin (self, &self->host_v, cuv_ntf_n_values (state, CUV_NTF_V)))
    return false;
  for (int mode = 0; mode < CUV_NTF_MODES; mode++) {
    factors->mode[mode] = values;
    values += (size_t) factors->size[mode] * state.stride;
  }
  return true;
}

static bool
cuv_ntf_init (CuvNtfCuda *self)
{
  CuvNtfState *state = &self->state;

  return cuv_arena_new (&self->arena, &state->g,
             (size_t) state->height * state->depth * state->pitch)
      && alloc_modes (self) && cuv_arena_new (&self->arena, &state->counters, 1)
      && cuv_arena_new (&self->arena, &state->row_squares, state->height)
      && cuv_arena_new (&self->arena, &state->progress, 1)
      && cuv_arena_new (&self->arena, &self->found, 1)
      && pin (self, &self->host_progress, 1) && pin (self, &self->host_found, 1)
      && pin_factors (self);
}

// Whether the values of a factor can be counted by int, as kernels do.
static bool
has_indices (int height, int width, int rank)
{
  return (double) height * (width + 3) * std::max (8, 2 * rank) < INT32_MAX;
}

extern "C" CuvNtfCuda *
cuv_ntf_cuda_new (int height, int width, int depth, int rank,
    CuvNtfFactorisation factorisation, const int32_t *cancel,
    CuvCudaStream stream)
{
  std::unique_ptr<CuvNtfCuda> self (new (std::nothrow) _CuvNtfCuda);

  if (self == nullptr) {
    cuv_cuda_record (cudaErrorMemoryAllocation, "host memory");
    return nullptr;
  }
  self->cancel = cancel;
  self->stream = (cudaStream_t) stream;
  self->state.is_matrix = factorisation == CUV_NTF_MATRIX;
  if (self->state.is_matrix && !has_indices (height, width, rank)) {
    cuv_cuda_record (
        cudaErrorMemoryAllocation, "factor of more than 2^31 values");
    return nullptr;
  }
  init_shape (&self->state, height, width, depth, rank);
  return cuv_ntf_init (self.get ()) ? self.release () : nullptr;
}

extern "C" void
cuv_ntf_cuda_free (CuvNtfCuda *self)
{
  delete self;
}

extern "C" int
cuv_ntf_cuda_scan (CuvNtfCuda *self, const CuvCube *cube, const double *ignore,
    CuvNtfScan *scan)
{
  const CuvNtfFound *found = self->host_found;
  const size_t size = sizeof *found;
  unsigned long long first;

  *scan = CuvNtfScan{};
  if (cube->format != CUV_CUBE_F32)
    return 0;
  CUV_CUDA_TRY (cudaMemsetAsync (self->found, 0, size, self->stream));
  if (cuv_ntf_scan_submit (*cube, ignore, self->found, self->stream) != 0)
    return cuv_ntf_end (self, -1);
  CUV_CUDA_TRY (cudaMemcpyAsync (self->host_found, self->found, size,
      cudaMemcpyDeviceToHost, self->stream));
  if (cuv_ntf_wait (self) != 0)
    return -1;
  memcpy (&scan->largest, &found->largest, sizeof scan->largest);
  scan->n_negative = (int64_t) found->n_negative;
  scan->n_not_finite = (int64_t) found->n_not_finite;
  first = found->first == 0 ? 0 : ~found->first;
  scan->x = (int32_t) (first % cube->width);
  scan->band = (int32_t) (first / cube->width % cube->bands);
  scan->y = (int32_t) (first / cube->width / cube->bands);
  return 0;
}

extern "C" int
cuv_ntf_cuda_load (CuvNtfCuda *self, const CuvCube *cube, const double *ignore,
    int z, double scale)
{
  self->state.scale = scale;
  return cuv_ntf_end (
      self, cuv_ntf_load_submit (self->state, *cube, ignore, z, self->stream));
}

extern "C" int
cuv_ntf_cuda_get_tensor (CuvNtfCuda *self, float *values)
{
  const CuvNtfState &state = self->state;
  const size_t line = state.width * sizeof (float);

  CUV_CUDA_TRY (cudaMemcpy2DAsync (values, line, state.g,
      state.pitch * sizeof (float), line, (size_t) state.height * state.depth,
      cudaMemcpyDeviceToHost, self->stream));
  return cuv_ntf_wait (self);
}

static int
copy_factors (CuvNtfCuda *self, cudaMemcpyKind kind)
{
  for (int mode = 0; mode < CUV_NTF_MODES; mode++) {
    float *device = self->state.factors[mode].values;
    float *host = mode == CUV_NTF_V ? self->host_v : self->factors.mode[mode];
    const bool up = kind == cudaMemcpyHostToDevice;

    CUV_CUDA_TRY (cudaMemcpyAsync (up ? device : host, up ? host : device,
        cuv_ntf_n_values (self->state, mode) * sizeof (float), kind,
        self->stream));
  }
  return cuv_ntf_wait (self);
}

// Returns a pointer to value (i, k) of v in the device's layout, where rows of
// an image are padded.
static float *
host_v_at (CuvNtfCuda *self, int i, int k)
{
  const CuvNtfState &state = self->state;
  const int y = i / state.width, x = i % state.width;

  return &self->host_v[(size_t) k * state.factors[CUV_NTF_V].k_step
      + (size_t) y * state.pitch + x];
}

int
cuv_ntf_upload (CuvNtfCuda *self)
{
  const CuvNtfState &state = self->state;

  for (int i = 0; i < self->factors.size[CUV_NTF_V]; i++) {
    for (int k = 0; k < state.rank; k++)
      *host_v_at (self, i, k) = *cuv_ntf_at (&self->factors, CUV_NTF_V, i, k);
  }
  return copy_factors (self, cudaMemcpyHostToDevice);
}

int
cuv_ntf_download (CuvNtfCuda *self)
{
  const CuvNtfState &state = self->state;

  if (copy_factors (self, cudaMemcpyDeviceToHost) != 0)
    return -1;
  for (int i = 0; i < self->factors.size[CUV_NTF_V]; i++) {
    for (int k = 0; k < state.rank; k++)
      *cuv_ntf_at (&self->factors, CUV_NTF_V, i, k) = *host_v_at (self, i, k);
  }
  return 0;
}

extern "C" const CuvNtfFactors *
cuv_ntf_cuda_factors (const CuvNtfCuda *self)
{
  return &self->factors;
}

extern "C" void
cuv_ntf_cuda_set_factors (CuvNtfCuda *self, const CuvNtfFactors *factors)
{
  for (int mode = 0; mode < CUV_NTF_MODES; mode++) {
    for (int i = 0; i < factors->size[mode]; i++)
      memcpy (cuv_ntf_at (&self->factors, mode, i, 0),
          cuv_ntf_at (factors, mode, i, 0), factors->rank * sizeof (float));
  }
}
