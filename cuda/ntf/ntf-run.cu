// SPDX-License-Identifier: LGPL-2.1-or-later
// A run on the GPU: the order of its kernels, and how far the host runs ahead
// of them.
#include <algorithm>
#include "ntf/ntf-object.cuh"

#define LAUNCH_WORK 0x1p26 // a launch's overhead in multiplications

// Outcome of enqueuing.
enum { FAILED = -1, ENQUEUED, STOPPED };

static bool
is_cancelled (const CuvNtfCuda *self)
{
  return __atomic_load_n (self->cancel, __ATOMIC_RELAXED) != 0;
}

// Waits before more multiplications are enqueued than may be in flight.
static int
throttle (CuvNtfCuda *self, double work)
{
  if (self->work > 0 && self->work + work > self->max_work) {
    if (cuv_ntf_wait (self) != 0)
      return FAILED;
    if (is_cancelled (self))
      return STOPPED;
  }
  self->work += work + LAUNCH_WORK;
  return ENQUEUED;
}

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

// Calls submit (first, end) for all of a mode's slots, as many at once as in
// flight limits allow, but at least enough to fill the GPU.
template <typename F>
static int
enqueue_slots (CuvNtfCuda *self, int mode, int least, F submit)
{
  const CuvNtfState &state = self->state;
  const int n_slots = state.n_slots[mode];
  const int n_rows = state.slot_rows[mode];
  const int n = std::max (rows_at_once (self) / n_rows, least);

  for (int first = 0; first < n_slots; first += n) {
    const int end = std::min (first + n, n_slots);
    const int throttled =
        throttle (self, work_of_rows (state, (end - first) * n_rows));

    if (throttled != ENQUEUED)
      return throttled;
    if (submit (first, end) != 0)
      return FAILED;
  }
  return ENQUEUED;
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
  self->work += LAUNCH_WORK;
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

// Rows too wide for a block: computes maps twice.
static int
enqueue_u_and_sums_of_v (CuvNtfCuda *self)
{
  int status;

  if (self->state.n_sums[CUV_NTF_U] == 1)
    return enqueue_maps (self, CUV_NTF_FIND_U | CUV_NTF_FIND_V);
  status = enqueue_maps (self, CUV_NTF_FIND_U);
  if (status == ENQUEUED)
    status = enqueue_update (self, CUV_NTF_U);
  return status == ENQUEUED ? enqueue_maps (self, CUV_NTF_FIND_V) : status;
}

static int
iterate_gs (CuvNtfCuda *self)
{
  int status = enqueue_u_and_sums_of_v (self);

  if (status == ENQUEUED)
    status = enqueue_update (self, CUV_NTF_V);
  return status == ENQUEUED ? enqueue_w (self) : status;
}

static int
iterate_jacobi (CuvNtfCuda *self)
{
  int status = enqueue_maps (self, CUV_NTF_FIND_U | CUV_NTF_FIND_V);

  if (status == ENQUEUED)
    status = enqueue_w (self);
  if (status == ENQUEUED)
    status = enqueue_update (self, CUV_NTF_U);
  if (status == ENQUEUED)
    status = enqueue_update (self, CUV_NTF_V);
  if (status == ENQUEUED)
    status = cuv_ntf_grams_submit (self->state, self->stream);
  return status;
}

static int
enqueue_test (CuvNtfCuda *self)
{
  const CuvNtfState &state = self->state;
  const int n = rows_at_once (self);

  for (int y = 0; y < state.height; y += n) {
    const int n_rows = std::min (n, state.height - y);
    const int throttled = throttle (self, work_of_rows (state, n_rows));

    if (throttled != ENQUEUED)
      return throttled;
    if (cuv_ntf_test_submit (state, state.iteration, y, n_rows, self->stream)
        != 0)
      return FAILED;
  }
  return ENQUEUED;
}

// Enqueues up to the next test.
static int
enqueue (CuvNtfCuda *self)
{
  CuvNtfState *state = &self->state;
  const CuvNtfParams &params = state->params;
  int status;

  do {
    state->iteration++;
    status = params.schedule == CUV_NTF_GS ? iterate_gs (self)
                                           : iterate_jacobi (self);
  } while (status == ENQUEUED && !cuv_ntf_has_test (&params, state->iteration));
  return status == ENQUEUED ? enqueue_test (self) : status;
}

static int
start_factors (CuvNtfCuda *self)
{
  const CuvNtfParams &params = self->state.params;

  if (params.init == CUV_NTF_RANDOM)
    cuv_ntf_randomise (&self->factors, params.seed);
  else if (cuv_ntf_download (self) != 0)
    return -1;
  else
    cuv_ntf_resume (&self->factors, self->state.scale);
  return cuv_ntf_upload (self);
}

extern "C" int
cuv_ntf_cuda_start (CuvNtfCuda *self, const CuvNtfParams *params)
{
  CuvNtfState *state = &self->state;

  state->params = *params;
  if (params->algorithm == CUV_NTF_HALS)
    state->params.schedule = CUV_NTF_GS;
  self->progress_to->result = CuvNtfResult{};
  state->iteration = 0;
  if (start_factors (self) != 0)
    return -1;
  CUV_CUDA_TRY (cudaMemsetAsync (
      state->progress, 0, sizeof *state->progress, self->stream));
  // a failed run may have left them nonzero
  CUV_CUDA_TRY (cudaMemsetAsync (
      state->counters, 0, sizeof *state->counters, self->stream));
  return cuv_ntf_end (self,
      cuv_ntf_grams_submit (*state, self->stream) == 0 ? enqueue_test (self)
                                                       : FAILED);
}

static int
finish (CuvNtfCuda *self)
{
  const CuvNtfState &state = self->state;

  if (cuv_ntf_download (self) != 0)
    return -1;
  cuv_ntf_finish (
      &self->factors, &state.params, state.scale, &self->progress_to->result);
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
  return cuv_ntf_upload (self) == 0
      ? cuv_ntf_end (self, cuv_ntf_grams_submit (self->state, self->stream))
      : -1;
}

// Enqueues as many tests as may be in flight, at least one.
static int
enqueue_tests (CuvNtfCuda *self)
{
  const CuvNtfParams &params = self->state.params;
  double work;
  int status;

  do {
    const double before = self->work;

    status = enqueue (self);
    work = self->work - before;
  } while (status == ENQUEUED && self->state.iteration < params.iterations
      && !params.reinit_dead && work > 0
      && self->work + work <= self->max_work);
  return status;
}

extern "C" int
cuv_ntf_cuda_step (CuvNtfCuda *self, CuvNtfStatus *status)
{
  const CuvNtfState &state = self->state;
  int enqueued = is_cancelled (self) ? STOPPED : enqueue_tests (self);

  if (enqueued == ENQUEUED
      && cuv_cuda_record (
             cudaMemcpyAsync (self->progress_to, state.progress,
                 sizeof *state.progress, cudaMemcpyDeviceToHost, self->stream),
             "cudaMemcpyAsync")
          != 0)
    enqueued = FAILED;
  if (cuv_ntf_end (self, enqueued) != 0)
    return -1;
  *status = CUV_NTF_CANCELLED;
  if (enqueued == STOPPED || is_cancelled (self))
    return 0;
  *status = self->progress_to->stop ? CUV_NTF_DONE : CUV_NTF_RUNNING;
  return self->progress_to->stop ? finish (self)
      : state.params.reinit_dead ? revive (self)
                                 : 0;
}

extern "C" const CuvNtfResult *
cuv_ntf_cuda_result (const CuvNtfCuda *self)
{
  return &self->progress_to->result;
}

extern "C" int
cuv_ntf_cuda_residual (CuvNtfCuda *self, float *map)
{
  const CuvNtfState &state = self->state;
  const size_t size = (size_t) state.height * state.width * sizeof *map;
  const int n = rows_at_once (self);
  float *device;
  int status = ENQUEUED;

  if (cuv_buffer_reserve (&self->residual, size) != 0)
    return -1;
  device = (float *) self->residual.data;
  for (int y = 0; y < state.height && status == ENQUEUED; y += n) {
    const int n_rows = std::min (n, state.height - y);

    status = throttle (self, work_of_rows (state, n_rows));
    if (status == ENQUEUED)
      status = cuv_ntf_residual_submit (state, y, n_rows, device, self->stream);
  }
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
