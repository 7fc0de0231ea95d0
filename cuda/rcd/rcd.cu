// SPDX-License-Identifier: LGPL-2.1-or-later
// Runs a search on the GPU: allocates memory, launches kernels (cells,
// integrals, windows, refinement) and copies matches to the host.
#include "rcd/rcd.h"

#include <algorithm>
#include <memory>
#include <new>
#include <string.h>
#include <vector>
#include "cuv-arena.cuh"
#include "cuv-wait.h"
#include "rcd/search.cuh"

struct _CuvRcdCuda {
  CuvArena arena = {};
  CuvRcdConfig config = {};
  CuvRcdState state = {}; // state of the last submit
  bool searched = false;  // false if there was no window to compare
  CuvRcdTarget *targets_pinned = nullptr;
  // sums of cuv_rcd_cuda_measure(), in device and in host memory
  int64_t *box_sums = nullptr, *box_sums_pinned = nullptr;
  cudaStream_t stream = nullptr;
  cudaEvent_t done = nullptr;
  CuvWait wait = {};

  ~_CuvRcdCuda ();
};

_CuvRcdCuda::~_CuvRcdCuda ()
{
  if (done != nullptr)
    cuv_cuda_record (cudaEventDestroy (done), "cudaEventDestroy");
  cuv_arena_clear (&arena);
}

// ---- setting up ----

template <typename T>
static bool
pin (CuvRcdCuda *self, T **memory, size_t n)
{
  *memory = (T *) cuv_arena_pinned (&self->arena, n * sizeof (T));
  return *memory != nullptr;
}

static bool
init_fine (CuvRcdCuda *self)
{
  const size_t lines = CUV_RCD_FINE_LINES, cells = lines - 1;
  const size_t n = (size_t) self->config.max_targets * self->state.n_sums;

  return cuv_arena_new (
             &self->arena, &self->state.fine_cells, n * cells * cells)
      && cuv_arena_new (
          &self->arena, &self->state.fine_integrals, n * lines * lines);
}

static void
clear_matches (CuvRcdCuda *self)
{
  CuvRcdMatch none = {};

  none.window = -1;
  none.score = none.second = (double) INFINITY;
  std::fill_n (self->state.matches_pinned, self->config.max_targets, none);
}

static bool
init_matches (CuvRcdCuda *self)
{
  CuvRcdState *state = &self->state;
  const size_t n = self->config.max_targets;

  if (!pin (self, &state->matches_pinned, n)
      || !pin (self, &self->targets_pinned, n)
      || !pin (self, &self->box_sums_pinned, CUV_RCD_MAX_SUMS))
    return false;
  clear_matches (self); // for a collect before any submit
  state->targets_pinned = self->targets_pinned;
  return cuv_arena_new (&self->arena, &state->matches, n)
      && cuv_arena_new (&self->arena, &state->targets, n)
      && cuv_arena_new (&self->arena, &state->second_scores, n)
      && cuv_arena_new (&self->arena, &state->done, n)
      && cuv_arena_new (
          &self->arena, &state->candidates, n * CUV_RCD_MAX_CANDIDATES)
      && cuv_arena_new (&self->arena, &state->first_scores, n)
      && cuv_arena_new (&self->arena, &state->best_matches, n)
      && cuv_arena_new (&self->arena, &self->box_sums, CUV_RCD_MAX_SUMS);
}

static bool
init (CuvRcdCuda *self)
{
  const CuvRcdConfig &config = self->config;
  CuvRcdState *state = &self->state;
  const size_t columns = config.width / config.cell;
  const size_t rows = config.height / config.cell;

  state->features = config.features;
  state->metric = config.metric;
  state->lambda = config.lambda;
  state->cell = config.cell;
  state->n_sums = CUV_RCD_SUMS (cuv_rcd_n_features (config.features));
  state->n_bests = config.max_windows / CUV_RCD_WINDOWS_PER_BLOCK + 1;
  return cuv_arena_new (
             &self->arena, &state->cells, columns * rows * state->n_sums)
      && cuv_arena_new (&self->arena, &state->integrals,
          (columns + 1) * (rows + 1) * state->n_sums)
      && cuv_arena_new (&self->arena, &state->scores, config.max_windows)
      && cuv_arena_new (&self->arena, &state->centres, config.max_windows)
      && cuv_arena_new (&self->arena, &state->block_bests,
          (size_t) config.max_targets * state->n_bests)
      && init_matches (self) && init_fine (self)
      && cuv_cuda_record (
             cudaEventCreateWithFlags (&self->done, cudaEventDisableTiming),
             "cudaEventCreateWithFlags")
      == 0;
}

extern "C" CuvRcdCuda *
cuv_rcd_cuda_new (const CuvRcdConfig *config)
{
  std::unique_ptr<CuvRcdCuda> self (new (std::nothrow) _CuvRcdCuda);

  if (self == nullptr) {
    cuv_cuda_record (cudaErrorMemoryAllocation, "host memory");
    return nullptr;
  }
  self->config = *config;
  return init (self.get ()) ? self.release () : nullptr;
}

extern "C" void
cuv_rcd_cuda_free (CuvRcdCuda *self)
{
  delete self;
}

// ---- running ----

static int
submit_integrals (const CuvRcdState &state, cudaStream_t stream)
{
  const CuvRcdIntegrals integrals = { state.cells, state.integrals,
    state.area.n_columns, state.area.n_rows, state.n_sums, 1, false };

  return cuv_rcd_integrate_submit (integrals, stream);
}

static int
submit_all (CuvRcdCuda *self, const CuvRcdSearch *search)
{
  int max_windows = 0;

  for (int t = 0; t < search->n_targets; t++)
    max_windows = std::max (max_windows, (int) search->targets[t].n_windows);
  if (cuv_rcd_cells_submit (self->state, self->stream) != 0
      || submit_integrals (self->state, self->stream) != 0
      || cuv_rcd_windows_submit (self->state, max_windows, self->stream) != 0
      || cuv_rcd_candidates_submit (self->state, max_windows, self->stream)
          != 0)
    return -1;
  CUV_CUDA_TRY (cudaEventRecord (self->done, self->stream));
  return 0;
}

// Call after a failure. Waits for kernels that still read the frame, and clears
// the cells of refinement, which must be 0 when the next search begins. Returns
// -1.
static int
recover (CuvRcdCuda *self)
{
  const size_t cells = CUV_RCD_FINE_LINES - 1;

  cudaMemsetAsync (self->state.fine_cells, 0,
      self->config.max_targets * cells * cells * self->state.n_sums
          * sizeof (int64_t),
      self->stream);
  cudaStreamSynchronize (self->stream);
  clear_matches (self);
  self->searched = false;
  return -1;
}

extern "C" int
cuv_rcd_cuda_submit (CuvRcdCuda *self, const CuvFrame *frame,
    const CuvRcdSearch *search, CuvCudaStream stream)
{
  self->stream = (cudaStream_t) stream;
  self->state.frame = *frame;
  self->state.area = search->area;
  self->state.n_targets = search->n_targets;
  self->state.refine = search->refine;
  self->state.n_candidates =
      search->refine > 0 ? std::max (search->n_candidates, 1) : 1;
  self->searched = search->n_targets > 0 && search->area.n_columns > 0
      && search->area.n_rows > 0;
  if (!self->searched) {
    clear_matches (self);
    CUV_CUDA_TRY (cudaEventRecord (self->done, self->stream));
    return 0;
  }
  memcpy (self->targets_pinned, search->targets,
      search->n_targets * sizeof *self->targets_pinned);
  return submit_all (self, search) == 0 ? 0 : recover (self);
}

extern "C" int
cuv_rcd_cuda_collect (CuvRcdCuda *self, CuvRcdMatch *matches)
{
  if (cuv_wait_event (&self->wait, self->done) != 0)
    return -1;
  memcpy (matches, self->state.matches_pinned,
      self->state.n_targets * sizeof *matches);
  return 0;
}

extern "C" int
cuv_rcd_cuda_draw (CuvRcdCuda *self, const CuvFrame *frame, int target,
    double half, CuvCudaStream stream)
{
  self->stream = (cudaStream_t) stream;
  if ((!self->searched
          || cuv_rcd_draw_submit (
                 self->state, *frame, target, half, self->stream)
              == 0)
      && cuv_cuda_record (
             cudaEventRecord (self->done, self->stream), "cudaEventRecord")
          == 0)
    return 0;
  return recover (self);
}

extern "C" int
cuv_rcd_cuda_measure (CuvRcdCuda *self, const CuvFrame *frame,
    const CuvRcdBox *box, CuvCudaStream stream, int64_t *sums)
{
  const int n = cuv_rcd_n_features (self->config.features);
  const size_t size = self->state.n_sums * sizeof *sums;

  self->stream = (cudaStream_t) stream;
  self->state.frame = *frame;
  if (cuv_cuda_record (cudaMemsetAsync (self->box_sums, 0, size, self->stream),
          "cudaMemsetAsync")
          != 0
      || cuv_rcd_box_submit (self->state, *box, self->box_sums, self->stream)
          != 0
      || cuv_cuda_copy (
             self->box_sums_pinned, self->box_sums, size, self->stream)
          != 0)
    return recover (self);
  memcpy (sums, self->box_sums_pinned, size);
  if (self->config.features == CUV_RCD_TUZEL9)
    cuv_rcd_move_origin (
        sums, n, (int64_t) box->width * box->height, box->x, box->y);
  return 0;
}

// ---- for tests ----

extern "C" int
cuv_rcd_cuda_get_integrals (CuvRcdCuda *self, int64_t *integrals)
{
  const CuvRcdArea &area = self->state.area;
  const size_t n_sums = self->state.n_sums;
  const size_t entries = (size_t) (area.n_columns + 1) * (area.n_rows + 1);
  std::vector<int64_t> planes (entries * n_sums);

  if (cuv_cuda_copy (planes.data (), self->state.integrals,
          planes.size () * sizeof planes[0], self->stream)
      != 0)
    return -1;
  for (size_t i = 0; i < planes.size (); i++)
    integrals[i % entries * n_sums + i / entries] = planes[i];
  return 0;
}

extern "C" int
cuv_rcd_cuda_get_scores (CuvRcdCuda *self, double *scores)
{
  return cuv_cuda_copy (scores, self->state.scores,
      self->config.max_windows * sizeof *scores, self->stream);
}
