// SPDX-License-Identifier: LGPL-2.1-or-later
// Computes exact sums of features and of their products over the cells of the
// search area. A warp sums a few adjacent cells, or half of their rows. Each
// lane goes down a column of four pixels and gets the grey values beside them
// from other lanes by shuffles.
#include "rcd/planes.cuh"
#include "rcd/load.cuh"

#define MAX_PARTS 2 // warps per block, each with a part of the cells' rows
#define LANES 30    // lanes that sum; the outer two only supply neighbours
#define AHEAD 5     // rows of loads in flight

// Returns how many columns of four pixels a cell touches at most, whatever its
// alignment.
static inline int
columns_of (int cell)
{
  return cell % 4 == 0 ? cell / 4 : (cell + 2) / 4 + 1;
}

// A lane's column of four pixels, some of which may be outside its cell.
struct Lane {
  int x;           // position of the first pixel in the cell
  int n;           // number of pixels inside the cell
  CuvRcdMask mask; // mask that selects these pixels
  int left, right; // lanes with the pixels to the left and right
  CuvRcdColumn column;
};

// Returns the nearest lane whose column is `step` (-1 or 1) from this lane's
// column. word: index of this lane's column, x / 4.
static __device__ __forceinline__ int
find_neighbour (int word, int step)
{
  const int lane = threadIdx.x % 32;
  int at = lane;

#pragma unroll
  for (int d = 4; d > 0; d--) { // a column may touch four cells
    const int other = __shfl_sync (~0u, word, (lane + d * step) & 31);

    at = other == word + step ? (lane + d * step) & 31 : at;
  }
  return at;
}

// Assigns lanes, from 1 on, to the columns of n_cells cells, n_columns each.
static __device__ __forceinline__ Lane
find_lane (const CuvRcdState &state, const CuvRcdSource &source, int n_cells,
    int n_columns)
{
  const int i = (int) threadIdx.x % 32 - 1;
  const int cell = min (max (i, 0) / n_columns, n_cells - 1);
  const int column = blockIdx.x * n_cells + cell;
  const int left = (state.area.column + column) * state.cell;
  const int word = left / 4 + i - cell * n_columns;
  Lane lane;

  lane.x = 4 * word - left;
  lane.n = max (min (state.cell - lane.x, 4) - max (-lane.x, 0), 0);
  lane.mask = cuv_rcd_mask (max (-lane.x, 0), max (state.cell - lane.x, 0));
  lane.left = find_neighbour (word, -1);
  lane.right = find_neighbour (word, 1);
  lane.column = cuv_rcd_column (source, 4 * word);
  return lane;
}

// ---- down the rows ----

// Sums over a lane's pixels in n_rows rows from y on, which is row `row` of its
// cell. Called by whole warps.
template <CuvRcdFeatures F, CuvRcdLoad L>
static __device__ __forceinline__ void
add_rows (const CuvRcdSource &source, const Lane &lane, int y, int row,
    int n_rows, unsigned *sums)
{
  CuvRcdGreys greys[3] = {};
  CuvRcdPlanes<F> planes;
  unsigned colours[3] = {};

  for (int first = -1; first <= n_rows; first += AHEAD) {
    CuvRcdRaw raw[AHEAD];

#pragma unroll
    for (int i = 0; i < AHEAD; i++)
      raw[i] = cuv_rcd_fetch<L> (source, lane.column, y + first + i);
#pragma unroll
    for (int i = 0; i < AHEAD; i++) {
      const int at = first + i; // rows -1 and n_rows only supply neighbours
      unsigned words[3];

      if (at > n_rows)
        break;
#pragma unroll
      for (int c = 0; c < planes.n_bytes; c++)
        planes.bytes[c] = colours[c]; // colours of the previous row
      cuv_rcd_unpack<L> (source, lane.column, raw[i], &words[1], colours);
      if (F == CUV_RCD_GREY_GRAD)
        colours[0] = __byte_perm (words[1], 0, CUV_RCD_COLOUR_ORDER);
      words[0] = __shfl_sync (~0u, words[1], lane.left);
      words[2] = __shfl_sync (~0u, words[1], lane.right);
      greys[0] = greys[1];
      greys[1] = greys[2];
      greys[2] = cuv_rcd_greys (&words[1]);
      if (at < 1)
        continue;
      cuv_rcd_gradients (greys, &planes);
      cuv_rcd_apply_mask (&planes, lane.mask);
      cuv_rcd_add (planes, (unsigned) lane.x, (unsigned) (row + at - 1), sums);
    }
  }
}

// ---- sums of a cell ----

// Returns a sum of x, y or one of their products over the n x n cell at (x, y).
// These sums do not depend on the pixels.
static __device__ __forceinline__ int64_t
sum_of_positions (int which, int64_t x, int64_t y, int64_t n)
{
  const int64_t sum = n * (n - 1) / 2, squares = sum * (2 * n - 1) / 3;
  const int64_t sum_x = n * x + sum, sum_y = n * y + sum;

  switch (which) {
    case 0:
      return n * sum_x;
    case 1:
      return n * sum_y;
    case 2: // x x
      return n * (n * x * x + 2 * x * sum + squares);
    case 3: // x y
      return sum_x * sum_y;
    default: // y y
      return n * (n * y * y + 2 * y * sum + squares);
  }
}

// Returns sum k (see CUV_RCD_SUMS) of the cell at (x, y) from the totals of the
// planes. There is a plane for each feature but x and y.
template <CuvRcdFeatures F>
static __device__ __forceinline__ int64_t
cell_sum (const unsigned *totals, int k, int64_t x, int64_t y, int cell)
{
  constexpr int planes = CuvRcdPlanes<F>::n, n = planes + 2;
  const int product = k - n;
  const unsigned *slopes = totals + CUV_RCD_SUMS (planes);

  if (!CuvRcdPlanes<F>::has_xy || (k >= 2 && k < n))
    return (int) totals[CuvRcdPlanes<F>::has_xy ? k - 2 : k];
  if (k < 2)
    return sum_of_positions (k, x, y, cell);
  if (product < 2 || product == n)
    return sum_of_positions (product < 2 ? 2 + product : 4, x, y, cell);
  if (product < n)
    return x * (int) totals[product - 2] + (int) slopes[product - 2];
  if (product < 2 * n - 1)
    return y * (int) totals[product - n - 1]
        + (int) slopes[product - n - 1 + planes];
  return (int) totals[planes + product - (2 * n - 1)];
}

// ---- the kernel ----

// Shared memory: the sums of each lane of a block.
template <CuvRcdFeatures F> struct Parts {
  unsigned sums[MAX_PARTS][CuvRcdPlanes<F>::n_all]
               [33]; // 33: avoids bank conflicts
};

// Reduces the lanes of a cell and writes its sums. Called by a warp.
template <CuvRcdFeatures F>
static __device__ __forceinline__ void
finish_cell (const CuvRcdState &state, const Parts<F> &parts, int cell,
    int column, int n_columns)
{
  constexpr int n_all = CuvRcdPlanes<F>::n_all;
  __shared__ unsigned totals[MAX_PARTS][n_all];
  unsigned *mine = totals[threadIdx.x / 32];
  const size_t plane = (size_t) state.area.n_columns * state.area.n_rows;
  int64_t *to =
      state.cells + (size_t) blockIdx.y * state.area.n_columns + column;

  __syncwarp ();
  for (int k = threadIdx.x % 32; k < n_all; k += 32) {
    unsigned total = 0;

    for (int p = 0; p < (int) blockDim.x / 32; p++) {
      for (int c = 0; c < n_columns; c++)
        total += parts.sums[p][k][1 + cell * n_columns + c];
    }
    mine[k] = total;
  }
  __syncwarp ();
  for (int k = threadIdx.x % 32; k < state.n_sums; k += 32)
    to[k * plane] =
        cell_sum<F> (mine, k, (state.area.column + column) * state.cell,
            (state.area.row + (int) blockIdx.y) * state.cell, state.cell);
}

// Grid: groups of n_cells cells x the larger of the numbers of rows of cells
// and of targets. The first block of each row of the grid copies a target to
// the device.
template <CuvRcdFeatures F, CuvRcdLoad L>
static __global__ void __launch_bounds__ (32 * MAX_PARTS)
    cells_kernel (const __grid_constant__ CuvRcdState state,
        const __grid_constant__ CuvRcdSource source, int n_cells, int n_columns)
{
  constexpr int n_all = CuvRcdPlanes<F>::n_all;
  __shared__ Parts<F> parts;
  const int part = cuv_warp_of_thread (), n_parts = blockDim.x / 32;
  const int first = part * state.cell / n_parts;
  const int n_rows = (part + 1) * state.cell / n_parts - first;
  const int y = (state.area.row + (int) blockIdx.y) * state.cell;
  const Lane lane = find_lane (state, source, n_cells, n_columns);
  unsigned sums[n_all] = {};

  cuv_pdl_trigger ();
  if (blockIdx.x == 0 && (int) blockIdx.y < state.n_targets)
    cuv_rcd_block_copy (
        &state.targets[blockIdx.y], &state.targets_pinned[blockIdx.y]);
  if ((int) blockIdx.y >= state.area.n_rows)
    return;
  add_rows<F, L> (source, lane, y + first, first, n_rows, sums);
  if constexpr (!CuvRcdPlanes<F>::has_xy)
    cuv_rcd_remove_bias<F> (sums, (unsigned) (lane.n * n_rows));
#pragma unroll
  for (int k = 0; k < n_all; k++)
    parts.sums[part][k][threadIdx.x % 32] = sums[k];
  __syncthreads ();
  for (int i = part; i < n_cells; i += n_parts) {
    const int column = blockIdx.x * n_cells + i;

    if (column < state.area.n_columns)
      finish_cell<F> (state, parts, i, column, n_columns);
  }
}

template <CuvRcdFeatures F, CuvRcdLoad L>
static int
submit_load (
    const CuvRcdState &state, const CuvRcdSource &source, cudaStream_t stream)
{
  const int n_columns = columns_of (state.cell), n_cells = LANES / n_columns;
  const int n_parts = state.cell > 8 ? MAX_PARTS : 1;
  const dim3 grid (cuv_div_up (state.area.n_columns, n_cells),
      state.area.n_rows > state.n_targets ? state.area.n_rows
                                          : state.n_targets);

  cells_kernel<F, L>
      <<<grid, 32 * n_parts, 0, stream>>> (state, source, n_cells, n_columns);
  CUV_CUDA_LAUNCHED (cells_kernel);
  return 0;
}

template <CuvRcdFeatures F>
static int
submit (const CuvRcdState &state, cudaStream_t stream)
{
  const CuvRcdSource source = cuv_rcd_source (state.frame);

  switch (source.load) {
    case CUV_RCD_LOAD_PIXELS_3:
      return submit_load<F, CUV_RCD_LOAD_PIXELS_3> (state, source, stream);
    case CUV_RCD_LOAD_PIXELS_4:
      return submit_load<F, CUV_RCD_LOAD_PIXELS_4> (state, source, stream);
    case CUV_RCD_LOAD_LUMA:
      return submit_load<F, CUV_RCD_LOAD_LUMA> (state, source, stream);
    default:
      return submit_load<F, CUV_RCD_LOAD_SAMPLES> (state, source, stream);
  }
}

int
cuv_rcd_cells_submit (const CuvRcdState &state, cudaStream_t stream)
{
  return CUV_RCD_FOR_FEATURES (state.features, submit, state, stream);
}
