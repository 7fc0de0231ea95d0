// SPDX-License-Identifier: LGPL-2.1-or-later
// A run on the GPU: the order of its kernels, and when the host waits for them.
#include <algorithm>
#include "ntf/ntf-object.cuh"

// multiplications that take as long as a launch
#define CUV_NTF_LAUNCH_WORK 0x1p26

// Outcome of enqueuing.
enum { FAILED = -1, ENQUEUED, STOPPED };

#define CUV_NTF_TRY_ENQUEUE(call)                                              \
  if (const int outcome = (call); outcome != ENQUEUED)                         \
  return outcome

static bool
cuv_ntf_is_cancelled (const CuvNtfCuda *self)
{
  return __atomic_load_n (self->cancel, __ATOMIC_RELAXED) != 0;
}

// Waits first if more than max_work multiplications would be in flight.
static int
throttle (CuvNtfCuda *self, double work)
{
  if (self->work > 0 && self->work + work > self->max_work) {
    if (cuv_ntf_wait (self) != 0)
      return FAILED;
    if (cuv_ntf_is_cancelled (self))
      return STOPPED;
  }
  self->work += work + CUV_NTF_LAUNCH_WORK;
  return ENQUEUED;
}

// Returns the number of multiplications of n_rows rows of G with one mode.
static double
work_of_rows (const CuvNtfState &state, int n_rows)
{
  return (double) n_rows * state.pitch * state.depth * state.stride;
}

static int
rows_at_once (const CuvNtfCuda *self)
{
  const CuvNtfState &state = self->state;

  return (int) std::clamp (
      self->max_work / 2 / work_of_rows (state, 1), 1.0, (double) state.height);
}

// Calls submit (first, end) for n_parts parts of n_rows rows each: as many at a
// time as max_work allows, but at least min_parts, to fill the GPU.
template <typename F>
static int
enqueue_parts (
    CuvNtfCuda *self, int n_parts, int n_rows, int min_parts, F submit)
{
  const int n = std::max (rows_at_once (self) / n_rows, min_parts);

  for (int first = 0; first < n_parts; first += n) {
    const int end = std::min (first + n, n_parts);

    CUV_NTF_TRY_ENQUEUE (
        throttle (self, work_of_rows (self->state, (end - first) * n_rows)));
    if (submit (first, end) != 0)
      return FAILED;
  }
  return ENQUEUED;
}

template <typename F>
static int
enqueue_slots (CuvNtfCuda *self, int mode, int min_parts, F submit)
{
  return enqueue_parts (self, self->state.n_slots[mode],
      self->state.slot_rows[mode], min_parts, submit);
}

static int
enqueue_maps (CuvNtfCuda *self, int what)
{
  return enqueue_slots (self, CUV_NTF_V, 1, [=] (int first, int end) {
    return cuv_ntf_map_submit (self->state, first, end, what, self->stream);
  });
}

static int
enqueue_update (CuvNtfCuda *self, int mode)
{
  self->work += CUV_NTF_LAUNCH_WORK;
  return cuv_ntf_update_submit (self->state, mode, self->stream) == 0 ? ENQUEUED
                                                                      : FAILED;
}

static int
enqueue_w (CuvNtfCuda *self)
{
  return enqueue_slots (self, CUV_NTF_W, 4, [=] (int first, int end) {
    return cuv_ntf_sum_w_submit (self->state, first, end, self->stream);
  });
}

// Takes one pass if a block holds a whole row of G. Otherwise maps are computed
// twice, because v needs the new u.
static int
enqueue_u_and_sums_of_v (CuvNtfCuda *self)
{
  if (self->state.n_sums[CUV_NTF_U] == 1)
    return enqueue_maps (self, CUV_NTF_FIND_U | CUV_NTF_FIND_V);
  CUV_NTF_TRY_ENQUEUE (enqueue_maps (self, CUV_NTF_FIND_U));
  CUV_NTF_TRY_ENQUEUE (enqueue_update (self, CUV_NTF_U));
  return enqueue_maps (self, CUV_NTF_FIND_V);
}

static int
iterate_gs (CuvNtfCuda *self)
{
  CUV_NTF_TRY_ENQUEUE (enqueue_u_and_sums_of_v (self));
  CUV_NTF_TRY_ENQUEUE (enqueue_update (self, CUV_NTF_V));
  return enqueue_w (self);
}

static int
iterate_jacobi (CuvNtfCuda *self)
{
  CUV_NTF_TRY_ENQUEUE (enqueue_maps (self, CUV_NTF_FIND_U | CUV_NTF_FIND_V));
  CUV_NTF_TRY_ENQUEUE (enqueue_w (self));
  CUV_NTF_TRY_ENQUEUE (enqueue_update (self, CUV_NTF_U));
  CUV_NTF_TRY_ENQUEUE (enqueue_update (self, CUV_NTF_V));
  return cuv_ntf_grams_submit (self->state, CUV_NTF_U, self->stream);
}

static int
iterate_matrix (CuvNtfCuda *self)
{
  const CuvNtfState &state = self->state;
  const double work = work_of_rows (state, state.height);

  CUV_NTF_TRY_ENQUEUE (throttle (self, work));
  if (cuv_ntf_pixels_submit (state, self->stream) != 0)
    return FAILED;
  CUV_NTF_TRY_ENQUEUE (throttle (self, work));
  if (cuv_ntf_bands_submit (state, self->stream) != 0)
    return FAILED;
  CUV_NTF_TRY_ENQUEUE (enqueue_update (self, CUV_NTF_W));
  self->work += CUV_NTF_LAUNCH_WORK;
  return cuv_ntf_grams_submit (state, CUV_NTF_W, self->stream);
}

static int
cuv_ntf_iterate (CuvNtfCuda *self)
{
  return self->state.is_matrix                    ? iterate_matrix (self)
      : self->state.params.schedule == CUV_NTF_GS ? iterate_gs (self)
                                                  : iterate_jacobi (self);
}

static int
enqueue_test (CuvNtfCuda *self)
{
  const CuvNtfState &state = self->state;

  return enqueue_parts (self, state.height, 1, 1, [=] (int first, int end) {
    return cuv_ntf_test_submit (
        self->state, self->state.iteration, first, end - first, self->stream);
  });
}

// Enqueues iterations up to the next test, and the test.
static int
enqueue (CuvNtfCuda *self)
{
  CuvNtfState *state = &self->state;
  const CuvNtfParams &params = state->params;

  do {
    state->iteration++;
    CUV_NTF_TRY_ENQUEUE (cuv_ntf_iterate (self));
  } while (!cuv_ntf_has_test (&params, state->iteration));
  return enqueue_test (self);
}

static int
start_factors (CuvNtfCuda *self)
{
  const CuvNtfParams &params = self->state.params;

  if (params.init == CUV_NTF_RANDOM)
    cuv_ntf_randomise (&self->factors, params.seed);
  else
    cuv_ntf_resume (&self->factors,
        params.init == CUV_NTF_PREVIOUS ? self->state.scale : 1);
  if (self->state.is_matrix)
    cuv_ntf_set_ones (&self->factors);
  return cuv_ntf_upload (self);
}

extern "C" int
cuv_ntf_cuda_start (CuvNtfCuda *self, const CuvNtfParams *params)
{
  CuvNtfState *state = &self->state;

  state->params = *params;
  cuv_ntf_complete (&state->params);
  self->host_progress->result = CuvNtfResult{};
  state->iteration = 0;
  if (start_factors (self) != 0)
    return -1;
  CUV_CUDA_TRY (cudaMemsetAsync (
      state->progress, 0, sizeof *state->progress, self->stream));
  // a failed run may have left counters nonzero
  CUV_CUDA_TRY (cudaMemsetAsync (
      state->counters, 0, sizeof *state->counters, self->stream));
  return cuv_ntf_end (self,
      cuv_ntf_grams_submit (*state, CUV_NTF_U, self->stream) == 0
          ? enqueue_test (self)
          : FAILED);
}

static int
cuv_ntf_finish_run (CuvNtfCuda *self)
{
  const CuvNtfState &state = self->state;

  if (cuv_ntf_download (self) != 0)
    return -1;
  cuv_ntf_finish (
      &self->factors, &state.params, state.scale, &self->host_progress->result);
  return cuv_ntf_upload (self);
}

static int
revive (CuvNtfCuda *self)
{
  const CuvNtfParams &params = self->state.params;

  if (cuv_ntf_download (self) != 0)
    return -1;
  if (cuv_ntf_revive (&self->factors, params.seed, self->state.iteration) == 0)
    return 0;
  return cuv_ntf_upload (self) == 0 ? cuv_ntf_end (
             self, cuv_ntf_grams_submit (self->state, CUV_NTF_U, self->stream))
                                    : -1;
}

// Enqueues iterations with as many tests as may be in flight, at least one.
static int
enqueue_tests (CuvNtfCuda *self)
{
  const CuvNtfParams &params = self->state.params;
  double work;

  do {
    const double before = self->work;

    CUV_NTF_TRY_ENQUEUE (enqueue (self));
    work = self->work - before;
  } while (self->state.iteration < params.iterations && !params.reinit_dead
      && work > 0 && self->work + work <= self->max_work);
  return ENQUEUED;
}

extern "C" int
cuv_ntf_cuda_step (CuvNtfCuda *self, CuvNtfStatus *status)
{
  const CuvNtfState &state = self->state;
  int enqueued = cuv_ntf_is_cancelled (self) ? STOPPED : enqueue_tests (self);

  if (enqueued == ENQUEUED
      && cuv_cuda_record (
             cudaMemcpyAsync (self->host_progress, state.progress,
                 sizeof *state.progress, cudaMemcpyDeviceToHost, self->stream),
             "cudaMemcpyAsync")
          != 0)
    enqueued = FAILED;
  if (cuv_ntf_end (self, enqueued) != 0)
    return -1;
  *status = CUV_NTF_CANCELLED;
  if (enqueued == STOPPED || cuv_ntf_is_cancelled (self))
    return 0;
  *status = self->host_progress->stop ? CUV_NTF_DONE : CUV_NTF_RUNNING;
  return self->host_progress->stop ? cuv_ntf_finish_run (self)
      : state.params.reinit_dead   ? revive (self)
                                   : 0;
}

extern "C" const CuvNtfResult *
cuv_ntf_cuda_result (const CuvNtfCuda *self)
{
  return &self->host_progress->result;
}

extern "C" int
cuv_ntf_cuda_residual (CuvNtfCuda *self, float *map)
{
  const CuvNtfState &state = self->state;
  const size_t size = (size_t) state.height * state.width * sizeof *map;
  float *device;
  int status;

  if (cuv_buffer_reserve (&self->residual, size) != 0)
    return -1;
  device = (float *) self->residual.data;
  status = enqueue_parts (self, state.height, 1, 1, [=] (int first, int end) {
    return cuv_ntf_residual_submit (
        self->state, first, end - first, device, self->stream);
  });
  if (cuv_ntf_end (self, status) != 0)
    return -1;
  CUV_CUDA_TRY (cudaMemcpyAsync (
      map, device, size, cudaMemcpyDeviceToHost, self->stream));
  return cuv_ntf_wait (self);
}

extern "C" void
cuv_ntf_cuda_set_max_work (CuvNtfCuda *self, double max_work)
{
  self->max_work = max_work;
}
