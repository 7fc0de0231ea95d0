// SPDX-License-Identifier: LGPL-2.1-or-later
// Refines a match: compares windows around a box by integral images over an
// uneven grid, which has a line at each edge of each of these windows. Also
// computes sums over a single box.
#include "rcd/search.cuh"

#define FINE_THREADS 256
#define FINE_WARPS (FINE_THREADS / 32)
// A warp sums CHUNK_X x CHUNK_Y pixels at a time, few enough for 32-bit sums.
#define CHUNK_X 32
#define CHUNK_Y 8
#define LINES CUV_RCD_FINE_LINES
#define CELLS (LINES - 1)
#define WINDOW_THREADS 416

static_assert (WINDOW_THREADS >= CUV_RCD_FINE_WINDOWS
        && WINDOW_THREADS % 32 == 0 && WINDOW_THREADS >= 2 * LINES
        && FINE_THREADS >= 2 * LINES,
    "every window and every line needs a thread");

// ---- windows and lines ----

// A round of refinement: windows are `spacing` pixels apart, and their sizes
// differ by 2^-shift of the longer side.
struct Round {
  int spacing, shift;
};

// Returns a window of a round, with the numbering of
// cuv_rcd_fine_windows_init().
static __device__ __forceinline__ CuvRcdBox
window_around (const CuvRcdBox &box, Round round, int size, int x, int y)
{
  const int steps = (size + 1) / 2 * (size % 2 != 0 ? -1 : 1);
  int dw, dh;

  cuv_rcd_resize (&box, steps, round.shift, &dw, &dh);
  return CuvRcdBox{ box.x + (x - CUV_RCD_FINE_STEPS / 2) * round.spacing
        - (dw >> 1),
    box.y + (y - CUV_RCD_FINE_STEPS / 2) * round.spacing - (dh >> 1),
    box.width + dw, box.height + dh };
}

// The grid's lines: the edges of all windows in ascending order, clamped to the
// frame. rank_x and rank_y have the index of each edge in this order, first for
// left or upper edges, then for right or lower ones, by size and step of the
// window.
struct Lines {
  int x[LINES], y[LINES];
  int rank_x[LINES], rank_y[LINES];
};

static __device__ __forceinline__ int
edge_at (
    const CuvFrame &frame, const CuvRcdBox &box, Round round, int i, bool down)
{
  const int edge = i / (LINES / 2), at = i % (LINES / 2);
  const int step = at % CUV_RCD_FINE_STEPS;
  const CuvRcdBox window =
      window_around (box, round, at / CUV_RCD_FINE_STEPS, step, step);

  return down ? min (max (window.y + edge * window.height, 0), frame.height)
              : min (max (window.x + edge * window.width, 0), frame.width);
}

// Sorts the edges by counting smaller ones. Called by all threads of a block.
static __device__ void
find_lines (
    const CuvFrame &frame, const CuvRcdBox &box, Round round, Lines *lines)
{
  __shared__ int values[2][LINES];
  const int i = threadIdx.x % LINES, down = threadIdx.x / LINES;

  if (down < 2)
    values[down][i] = edge_at (frame, box, round, i, down != 0);
  __syncthreads ();
  if (down < 2) {
    const int value = values[down][i];
    int rank = 0;

    for (int j = 0; j < LINES; j++)
      rank += values[down][j] < value || (values[down][j] == value && j < i);
    (down ? lines->y : lines->x)[rank] = value;
    (down ? lines->rank_y : lines->rank_x)[i] = rank;
  }
  __syncthreads ();
}

// ---- sums ----

// Adds the sums over at most CHUNK_X x CHUNK_Y pixels to `to`, in which sums
// are `plane` elements apart. Called by a warp.
template <CuvRcdFeatures F>
static __device__ void
add_chunk (const CuvFrame &frame, int left, int top, int right, int bottom,
    int64_t *to, size_t plane)
{
  constexpr int n = CUV_RCD_N_FEATURES (F);
  constexpr int n_sums = CUV_RCD_SUMS (n);
  const int lane = threadIdx.x % 32;
  const int width = right - left, pixels = width * (bottom - top);
  unsigned sums[n_sums] = {};
  int64_t warp_sums[n_sums];

  for (int i = lane; i < pixels; i += 32) {
    const int y = i / width, x = i - y * width;
    int32_t z[CUV_RCD_MAX_FEATURES];
    int k = n;

    cuv_rcd_pixel (&frame, F, left + x, top + y, z);
    if (F == CUV_RCD_TUZEL9) { // relative to the chunk, so that sums fit in 32
                               // bits
      z[0] = x;
      z[1] = y;
    }
#pragma unroll
    for (int a = 0; a < n; a++) {
      sums[a] += (unsigned) z[a];
#pragma unroll
      for (int b = a; b < n; b++, k++)
        sums[k] += (unsigned) (z[a] * z[b]);
    }
  }
#pragma unroll
  for (int k = 0; k < n_sums; k++)
    warp_sums[k] = (int) cuv_warp_sum (sums[k]);
  if constexpr (F == CUV_RCD_TUZEL9)
    cuv_rcd_move_origin (warp_sums, n, pixels, -left, -top);
#pragma unroll
  for (int k = 0; k < n_sums; k++) {
    if (lane == k % 32)
      atomicAdd ((unsigned long long *) &to[k * plane],
          (unsigned long long) warp_sums[k]);
  }
}

// Finds the grid row and the pixel rows top .. bottom - 1 of block `band`. Grid
// rows are split into bands of at most CHUNK_Y pixel rows, one for each block;
// surplus blocks get none. Called by one thread.
static __device__ void
find_band (const Lines &lines, int band, int *row, int *top, int *bottom)
{
  for (*row = 0; *row < CELLS; ++*row) {
    const int height = lines.y[*row + 1] - lines.y[*row];
    const int n = (height + CHUNK_Y - 1) / CHUNK_Y;

    if (band < n) {
      *top = lines.y[*row] + band * CHUNK_Y;
      *bottom = min (*top + CHUNK_Y, lines.y[*row + 1]);
      return;
    }
    band -= n;
  }
  *top = *bottom = 0;
}

// Adds the sums over the pixels of each cell of the grid. Grid: bands x
// targets.
template <CuvRcdFeatures F>
static __global__ void
__launch_bounds__ (FINE_THREADS)
    fine_cells_kernel (const __grid_constant__ CuvRcdState state, Round round)
{
  __shared__ Lines lines;
  __shared__ int row, top, bottom;
  const int t = blockIdx.y, warp = cuv_warp_of_thread ();
  int64_t *cells = state.fine_cells + (size_t) t * CELLS * CELLS * state.n_sums;
  int chunk = 0;

  cuv_pdl_trigger ();
  cuv_pdl_wait ();
  if (state.matches[t].window < 0)
    return;
  find_lines (state.frame, state.matches[t].box, round, &lines);
  if (threadIdx.x == 0)
    find_band (lines, blockIdx.x, &row, &top, &bottom);
  __syncthreads ();
  if (top == bottom)
    return;
  for (int column = 0; column < CELLS; column++) {
    const int end = lines.x[column + 1];

    for (int x = lines.x[column]; x < end; x += CHUNK_X, chunk++) {
      if (chunk % FINE_WARPS == warp)
        add_chunk<F> (state.frame, x, top, min (x + CHUNK_X, end), bottom,
            cells + row * CELLS + column, CELLS * CELLS);
    }
  }
}

// ---- the best window of a round ----

// Computes the sums over a window.
template <CuvRcdFeatures F>
static __device__ void
fine_sums (const int64_t *integrals, const Lines &lines, int size, int x, int y,
    int64_t *sums)
{
  constexpr int n = CUV_RCD_N_FEATURES (F);
  constexpr int n_sums = CUV_RCD_SUMS (n), half = LINES / 2;
  const int *rank_x = lines.rank_x + size * CUV_RCD_FINE_STEPS + x;
  const int *rank_y = lines.rank_y + size * CUV_RCD_FINE_STEPS + y;
  const int64_t *at = integrals + rank_y[0] * LINES + rank_x[0];

#pragma unroll
  for (int i = 0; i < n_sums; i++)
    sums[i] = cuv_rcd_corners (at + i * LINES * LINES, rank_x[half] - rank_x[0],
        (rank_y[half] - rank_y[0]) * LINES);
}

// Scores the windows of a round and keeps the best. One thread per window.
// Grid: targets.
template <CuvRcdFeatures F>
static __global__ void
__launch_bounds__ (WINDOW_THREADS)
    fine_windows_kernel (const __grid_constant__ CuvRcdState state, Round round)
{
  constexpr int n = CUV_RCD_N_FEATURES (F);
  __shared__ Lines lines;
  const int t = blockIdx.x, i = threadIdx.x;
  const int size = i / (CUV_RCD_FINE_STEPS * CUV_RCD_FINE_STEPS);
  const int x = i % CUV_RCD_FINE_STEPS;
  const int y = i / CUV_RCD_FINE_STEPS % CUV_RCD_FINE_STEPS;
  const int64_t *integrals =
      state.fine_integrals + (size_t) t * LINES * LINES * state.n_sums;
  CuvRcdBest best = { CUV_RCD_INFINITE, INT32_MAX };
  int64_t sums[CUV_RCD_SUMS (n)];

  cuv_pdl_trigger ();
  cuv_pdl_wait ();
  CuvRcdMatch *match = &state.matches[t];

  if (match->window < 0)
    return;
  const CuvRcdBox box = window_around (match->box, round, size, x, y);

  find_lines (state.frame, match->box, round, &lines);
  if (i < CUV_RCD_FINE_WINDOWS && box.width > 0 && box.height > 0 && box.x >= 0
      && box.y >= 0 && box.x + box.width <= state.frame.width
      && box.y + box.height <= state.frame.height) {
    const CuvRcdTarget *target = &state.targets[t];

    fine_sums<F> (integrals, lines, size, x, y, sums);
    best.window = i;
    best.score = cuv_rcd_score_bits (cuv_rcd_score (
        sums, n, &box, &target->model, state.metric, state.lambda));
  }
  best = cuv_rcd_block_best (best);
  if (i == best.window) { // cuv_rcd_score() moved the origin of sums
    match->box = box;
    match->score = cuv_rcd_score_from_bits (best.score);
    for (int k = 0; k < CUV_RCD_SUMS (n); k++)
      match->sums[k] = sums[k];
  }
  __syncthreads ();
  cuv_rcd_block_copy (&state.matches_pinned[t], match);
}

// ---- a box ----

// One chunk per warp. Grid: FINE_WARPS chunks across x chunks down.
template <CuvRcdFeatures F>
static __global__ void
__launch_bounds__ (FINE_THREADS)
    box_kernel (CuvFrame frame, CuvRcdBox box, int64_t *sums)
{
  const int x =
      box.x + ((int) blockIdx.x * FINE_WARPS + cuv_warp_of_thread ()) * CHUNK_X;
  const int y = box.y + (int) blockIdx.y * CHUNK_Y;

  if (x < box.x + box.width)
    add_chunk<F> (frame, x, y, min (x + CHUNK_X, box.x + box.width),
        min (y + CHUNK_Y, box.y + box.height), sums, 1);
}

// ---- launchers ----

static int
submit_fine_integrals (const CuvRcdState &state, cudaStream_t stream)
{
  const CuvRcdIntegrals integrals = { state.fine_cells, state.fine_integrals,
    CELLS, CELLS, state.n_sums, state.n_targets, true };

  return cuv_rcd_integrate_submit (integrals, stream);
}

template <CuvRcdFeatures F>
static int
submit_round (const CuvRcdState &state, Round round, cudaStream_t stream)
{
  const dim3 bands (
      CELLS + cuv_div_up (state.frame.height, CHUNK_Y), state.n_targets);

  if (cuv_launch_dependent ("fine_cells_kernel", bands, FINE_THREADS, 0, stream,
          fine_cells_kernel<F>, state, round)
          != 0
      || submit_fine_integrals (state, stream) != 0)
    return -1;
  return cuv_launch_dependent ("fine_windows_kernel", state.n_targets,
      WINDOW_THREADS, 0, stream, fine_windows_kernel<F>, state, round);
}

int
cuv_rcd_fine_submit (const CuvRcdState &state, cudaStream_t stream)
{
  Round round = { state.refine, CUV_RCD_FINE_FIRST_SHIFT };

  for (; round.spacing > 0; round.shift = CUV_RCD_FINE_NEXT_SHIFT) {
    if (CUV_RCD_FOR_FEATURES (
            state.features, submit_round, state, round, stream)
        != 0)
      return -1;
    round.spacing = cuv_rcd_next_spacing (round.spacing);
  }
  return 0;
}

template <CuvRcdFeatures F>
static int
submit_box (const CuvRcdState &state, const CuvRcdBox &box, int64_t *sums,
    cudaStream_t stream)
{
  const dim3 grid (cuv_div_up (box.width, CHUNK_X * FINE_WARPS),
      cuv_div_up (box.height, CHUNK_Y));

  box_kernel<F><<<grid, FINE_THREADS, 0, stream>>> (state.frame, box, sums);
  CUV_CUDA_LAUNCHED (box_kernel);
  return 0;
}

int
cuv_rcd_box_submit (const CuvRcdState &state, const CuvRcdBox &box,
    int64_t *sums, cudaStream_t stream)
{
  return CUV_RCD_FOR_FEATURES (
      state.features, submit_box, state, box, sums, stream);
}
