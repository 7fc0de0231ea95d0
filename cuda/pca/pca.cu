// SPDX-License-Identifier: LGPL-2.1-or-later
// Principal components on the GPU: the passes and kernels of a frame, and the
// state between frames.
#include "pca/pca.h"

#include <algorithm>
#include <memory>
#include <new>
#include <string.h>
#include "cuv-arena.cuh"
#include "cuv-wait.h"
#include "pca/pca-state.cuh"

struct _CuvPcaCuda {
  CuvArena arena = {};
  CuvPcaDeviceState pointers = {}; // what *learn.state is initialised with:
                                   // pointers to its memory
  CuvPcaLearn learn = {};          // pointers to all memory; describe() sets
                                   // the other fields
  CuvBuffer partial = {};          // floats: sums of each block

  // the state as the host knows it: after the last collect, and for which
  // display limits and gains were computed
  bool is_known = false, has_limits = false, has_gains = false;
  CuvPcaMode mode = CUV_PCA_SECOND_MOMENTS;
  CuvPcaDisplay limits_of = {}, gains_of = {};

  // mode of the last submit
  bool is_lagged = false;
  cudaStream_t stream = nullptr;
  CuvWait wait = {};
  int64_t n_pixels = 0;

  ~_CuvPcaCuda ();
};

_CuvPcaCuda::~_CuvPcaCuda ()
{
  cuv_buffer_clear (&partial);
  cuv_arena_clear (&arena);
}

static bool
cuv_pca_init (CuvPcaCuda *self, int n)
{
  const size_t n_sums = CUV_PCA_SUMS (n);
  CuvPcaDeviceState *state = &self->pointers;
  CuvPcaLearn *learn = &self->learn;
  char *scratch;

  learn->n = n;
  if (!cuv_arena_new (&self->arena, &learn->numbers, CUV_PCA_STATE_DOUBLES (n))
      || !cuv_arena_new (&self->arena, &scratch, CUV_PCA_SCRATCH_BYTES (n))
      || !cuv_arena_new (
          &self->arena, &learn->sums, CUV_PCA_COPIES (n) * n_sums)
      || !cuv_arena_new (&self->arena, &learn->last_sums, n_sums)
      || !cuv_arena_new (
          &self->arena, &learn->bins, (size_t) CUV_PCA_SHOWN * CUV_PCA_BINS)
      || !cuv_arena_new (&self->arena, &learn->left_out, 1))
    return false;
  state->scratch = cuv_pca_scratch_in ((double *) scratch, n);
  cuv_pca_place_basis (&state->basis, n, learn->numbers);
  cuv_pca_place_moments (
      &state->moments, n, learn->numbers + CUV_PCA_BASIS_DOUBLES (n));
  learn->state = (CuvPcaDeviceState *) cuv_arena_upload (
      &self->arena, state, sizeof *state);
  learn->report = (CuvPcaReport *) cuv_arena_pinned (&self->arena,
      sizeof *learn->report + sizeof (double) * CUV_PCA_BASIS_DOUBLES (n));
  if (learn->state == nullptr || learn->report == nullptr)
    return false;
  *learn->report = CuvPcaReport{};
  learn->reported = (double *) (learn->report + 1);
  return true;
}

extern "C" CuvPcaCuda *
cuv_pca_cuda_new (int n)
{
  std::unique_ptr<CuvPcaCuda> self (new (std::nothrow) _CuvPcaCuda);

  if (self == nullptr) {
    cuv_cuda_record (cudaErrorMemoryAllocation, "host memory");
    return nullptr;
  }
  return cuv_pca_init (self.get (), n) ? self.release () : nullptr;
}

extern "C" void
cuv_pca_cuda_free (CuvPcaCuda *self)
{
  delete self;
}

// Arguments of a frame's passes and kernels.
struct Frame {
  CuvPcaCuda *self;
  const CuvPcaParams *params;
  CuvPcaPass pass;
  CuvPcaLearn learn;
};

// Drops an ignore value that no sample of an integer cube can equal.
static void
set_ignore (CuvPcaPass *pass, const CuvPcaBands &bands)
{
  const bool bytes = pass->cube.format == CUV_CUBE_U8;
  const double ignore = bands.ignore;

  pass->has_ignore = bands.has_ignore != 0;
  if (pass->cube.format == CUV_CUBE_F32) {
    pass->ignore = (double) (float) ignore;
  } else if (ignore >= 0.0 && ignore <= (bytes ? 255.0 : 65535.0)
      && ignore == (int) ignore) {
    pass->ignore = ignore;
    pass->ignore_word = (unsigned) ignore * (bytes ? 0x01010101u : 0x00010001u);
  } else {
    pass->has_ignore = false;
  }
}

// Sets the arguments that all kernels of a frame share.
static void
cuv_pca_describe (Frame *frame, CuvPcaCuda *self, const CuvCube *cube,
    const CuvPcaBands *bands, const CuvPcaParams *params, uint8_t *picture,
    ptrdiff_t stride)
{
  CuvPcaPass *pass = &frame->pass;
  CuvPcaLearn *learn = &frame->learn;

  *frame = Frame{ self, params, {}, self->learn };
  pass->cube = *cube;
  pass->bands.n = bands->n;
  std::copy_n (bands->index, bands->n, pass->bands.index);
  set_ignore (pass, *bands);
  pass->n_side = cuv_div_up (bands->n + 1, CUV_PCA_SIDE);
  pass->state = learn->state;
  pass->picture = picture;
  pass->stride = stride;
  pass->sums = learn->sums;
  pass->bins = learn->bins;
  learn->is_exact = cube->format != CUV_CUBE_F32;
  learn->learning = params->learning;
  learn->display = params->display;
  learn->counts = params->display.mapping == CUV_PCA_PERCENTILE;
  learn->n_pixels = self->n_pixels;
}

// Reserves memory for the float sums of each block.
static int
reserve_partial (Frame *frame, int n_blocks)
{
  CuvPcaCuda *self = frame->self;

  if (cuv_buffer_reserve (&self->partial,
          (size_t) n_blocks * CUV_PCA_SUMS (self->learn.n) * sizeof (CuvPcaSum))
      != 0)
    return -1;
  frame->pass.sums = (CuvPcaSum *) self->partial.data;
  frame->learn.partial = frame->pass.sums;
  frame->learn.n_partial = n_blocks;
  if (!frame->learn.is_exact)
    frame->learn.sums = self->learn.last_sums;
  return 0;
}

// Runs a pass; in several launches if a block cannot hold all sums. Each starts
// where the previous one ended, because that part of the cube is still in the
// cache.
static int
run_pass (Frame *frame, int tasks)
{
  CuvPcaCuda *self = frame->self;
  CuvPcaPass pass = frame->pass;
  const int n_parts = pass.n_side * (pass.n_side + 1) / 2;
  int n_blocks;

  pass.tasks = tasks;
  if (!(tasks & CUV_PCA_SUM))
    pass.n_side = 1;
  if (cuv_pca_pass_plan (&pass, &n_blocks) != 0)
    return -1;
  if ((tasks & CUV_PCA_SUM) && !frame->learn.is_exact) {
    if (reserve_partial (frame, n_blocks) != 0)
      return -1;
    pass.sums = frame->pass.sums;
    pass.pivots =
        frame->learn.sums + self->learn.n * CUV_PCA_STRIDE (self->learn.n);
    if (cuv_pca_pivots_submit (pass, self->stream) != 0)
      return -1;
    pass.cube_is_ready = true;
  }
  do {
    if (cuv_pca_pass_submit (pass, n_blocks, self->stream) != 0)
      return -1;
    pass.first_part += CUV_PCA_MAX_WARPS;
    pass.tasks = CUV_PCA_SUM;
    frame->pass.backwards = pass.backwards = !pass.backwards;
  } while ((tasks & CUV_PCA_SUM) && pass.first_part < n_parts);
  return 0;
}

static bool
cuv_pca_is_same_display (const CuvPcaDisplay &a, const CuvPcaDisplay &b)
{
  return cuv_pca_same_limits (&a, &b) && a.mapping == b.mapping
      && a.sigmas == b.sigmas && a.range[0] == b.range[0]
      && a.range[1] == b.range[1];
}

static bool
are_limits_for (const CuvPcaCuda *self, const CuvPcaDisplay &display)
{
  return self->has_limits && cuv_pca_same_limits (&self->limits_of, &display);
}

static int
set_limits (Frame *frame)
{
  CuvPcaCuda *self = frame->self;

  frame->learn.limits_weight = are_limits_for (self, frame->params->display)
      ? frame->params->learning.smoothing
      : 1.0;
  self->has_limits = true;
  self->limits_of = frame->params->display;
  return cuv_pca_limits_submit (frame->learn, self->stream);
}

// Fills the histograms of this frame and updates the percentiles.
static int
find_limits (Frame *frame)
{
  if (!frame->learn.counts)
    return 0;
  return run_pass (frame, CUV_PCA_COUNT) != 0 ? -1 : set_limits (frame);
}

// Updates the gains for the current state and display.
static int
update_gains (Frame *frame)
{
  CuvPcaCuda *self = frame->self;

  if (self->has_gains
      && cuv_pca_is_same_display (self->gains_of, frame->params->display))
    return 0;
  return cuv_pca_gains_submit (frame->learn, self->stream);
}

// Runs one pass with the previous frame's state.
static int
run_lagged (Frame *frame)
{
  const int counts = frame->learn.counts ? CUV_PCA_COUNT : 0;

  if (update_gains (frame) != 0
      || (counts && !are_limits_for (frame->self, frame->params->display)
          && find_limits (frame) != 0)
      || run_pass (frame, CUV_PCA_SUM | CUV_PCA_PAINT | counts) != 0
      || (counts && set_limits (frame) != 0))
    return -1;
  return cuv_pca_learn_submit (frame->learn, frame->self->stream);
}

// Sums and updates the basis, unless it is frozen, then paints.
static int
run_exact (Frame *frame)
{
  const bool learns = !frame->params->is_frozen || !frame->self->is_known;

  if (learns) {
    if (run_pass (frame, CUV_PCA_SUM) != 0
        || cuv_pca_learn_submit (frame->learn, frame->self->stream) != 0)
      return -1;
  } else if (update_gains (frame) != 0) {
    return -1;
  }
  frame->pass.cube_is_ready = frame->pass.is_summed = learns;
  if (find_limits (frame) != 0)
    return -1;
  frame->pass.left_out = learns ? nullptr : frame->self->learn.left_out;
  if (run_pass (frame, CUV_PCA_PAINT) != 0)
    return -1;
  return learns ? 0 : cuv_pca_report_submit (frame->learn, frame->self->stream);
}

static int
cuv_pca_run (Frame *frame)
{
  CuvPcaCuda *self = frame->self;
  const CuvPcaParams &params = *frame->params;
  const bool lagged = params.timing == CUV_PCA_LAGGED && !params.is_frozen
      && self->is_known && self->mode == params.learning.mode;

  self->is_lagged = lagged;
  if ((lagged ? run_lagged (frame) : run_exact (frame)) != 0)
    return -1;
  self->has_gains = true;
  self->gains_of = params.display;
  return 0;
}

// After a failure: waits for enqueued kernels, which read the cube, and clears
// sums and counts for the next frame. Returns -1.
static int
give_up (CuvPcaCuda *self)
{
  cudaMemsetAsync (self->learn.sums, 0,
      CUV_PCA_COPIES (self->learn.n) * CUV_PCA_SUMS (self->learn.n)
          * sizeof (CuvPcaSum),
      self->stream);
  cudaMemsetAsync (self->learn.bins, 0,
      (size_t) CUV_PCA_SHOWN * CUV_PCA_BINS * sizeof *self->learn.bins,
      self->stream);
  cudaMemsetAsync (
      self->learn.left_out, 0, sizeof *self->learn.left_out, self->stream);
  cudaStreamSynchronize (self->stream);
  self->has_gains = self->has_limits = false;
  return -1;
}

extern "C" int
cuv_pca_cuda_submit (CuvPcaCuda *self, const CuvCube *cube,
    const CuvPcaBands *bands, const CuvPcaParams *params, uint8_t *picture,
    ptrdiff_t stride, CuvCudaStream stream)
{
  Frame frame;

  self->stream = (cudaStream_t) stream;
  self->n_pixels = (int64_t) cube->width * cube->height;
  cuv_pca_describe (&frame, self, cube, bands, params, picture, stride);
  return cuv_pca_run (&frame) == 0 ? 0 : give_up (self);
}

extern "C" int
cuv_pca_cuda_collect (
    CuvPcaCuda *self, CuvPcaResult *result, CuvPcaBasis *basis)
{
  const CuvPcaReport *report = self->learn.report;

  // an event would keep kernels of the next frame from starting early
  if (cuv_wait_stream (&self->wait, self->stream) != 0)
    return -1;
  if (report->update.is_cut && self->is_lagged) // otherwise limits are those of
                                                // the new scene
    self->has_limits = false;
  self->is_known = report->is_known != 0;
  self->mode = report->mode;
  *result = CuvPcaResult{};
  result->pixels = report->pixels;
  result->left_out = self->n_pixels - report->pixels;
  result->update = report->update;
  if (basis == nullptr)
    return 0;
  basis->mode = report->mode;
  basis->is_known = report->is_known;
  memcpy (basis->mean, report + 1,
      CUV_PCA_BASIS_DOUBLES (self->learn.n) * sizeof (double));
  return 0;
}

// Resets moments and limits; the basis is that of state.
static int
replace_state (CuvPcaCuda *self, const CuvPcaDeviceState &state)
{
  self->has_gains = self->has_limits = false;
  self->is_known = state.basis.is_known != 0;
  self->mode = state.basis.mode;
  return cuv_cuda_copy (self->learn.state, &state, sizeof state, self->stream);
}

extern "C" int
cuv_pca_cuda_set_basis (CuvPcaCuda *self, const CuvPcaBasis *basis)
{
  CuvPcaDeviceState state = self->pointers;

  state.basis.mode = basis->mode;
  state.basis.is_known = basis->is_known;
  if (cuv_cuda_copy (state.basis.mean, basis->mean,
          CUV_PCA_BASIS_DOUBLES (self->learn.n) * sizeof (double), self->stream)
      != 0)
    return -1;
  return replace_state (self, state);
}

extern "C" int
cuv_pca_cuda_reset (CuvPcaCuda *self)
{
  return replace_state (self, self->pointers);
}

extern "C" int
cuv_pca_cuda_get_sums (CuvPcaCuda *self, CuvPcaSum *sums)
{
  return cuv_cuda_copy (sums, self->learn.last_sums,
      CUV_PCA_SUMS (self->learn.n) * sizeof *sums, self->stream);
}
