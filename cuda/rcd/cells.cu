// SPDX-License-Identifier: LGPL-2.1-or-later
// Exact sums of features and products over the cells of an area. A block has a
// few cells of a row in shared memory, a warp sums up a cell.
#include "rcd/planes.cuh"
#include "rcd/words.cuh"

#define THREADS 256
#define WARPS (THREADS / 32)
#define TILE 128 // pixels across at most
#define WORDS (TILE / 4 + 1)
#define ROWS CUV_RCD_MAX_CELL

struct Tile {
  unsigned grey[ROWS + 2][WORDS + 2]; // a word and a row around
  unsigned colours[3][ROWS][WORDS];
};

// The pixels of a block: words from first_word on.
struct Place {
  int column, n_columns; // cells of the area
  int first_word, n_words;
  int y; // of the first row
};

static __device__ __forceinline__ Place
place_of_block (const CuvRcdState &state, int per_block)
{
  Place place;
  const int x = (state.area.column + (int) blockIdx.x * per_block) * state.cell;

  place.column = blockIdx.x * per_block;
  place.n_columns = min (per_block, state.area.n_columns - place.column);
  place.first_word = x / 4;
  place.n_words =
      (x + place.n_columns * state.cell - 1) / 4 - place.first_word + 1;
  place.y = (state.area.row + (int) blockIdx.y) * state.cell;
  return place;
}

// i / n for i up to some thousands.
struct Divisor {
  unsigned n, magic;

  __device__ __forceinline__ explicit Divisor (int by)
      : n (by), magic (((1u << 20) + by - 1) / by)
  {
  }
  __device__ __forceinline__ int
  divide (int i) const
  {
    return (int) ((unsigned) i * magic >> 20);
  }
};

template <CuvRcdFeatures F>
static __device__ __forceinline__ void
load_tile (Tile &tile, const CuvRcdSource &source, const Place &place, int cell)
{
  const int n_words = place.n_words + 2;
  const Divisor across (n_words);

  for (int i = threadIdx.x; i < (cell + 2) * n_words; i += THREADS) {
    const int row = across.divide (i), word = i - row * n_words;
    unsigned grey, colours[3];

    cuv_rcd_load (source, 4 * (place.first_word + word - 1), place.y + row - 1,
        &grey, colours);
    tile.grey[row][word] = grey;
    if (row < 1 || row > cell || word < 1 || word > place.n_words)
      continue;
    if (F == CUV_RCD_GREY_GRAD)
      colours[0] = __byte_perm (grey, 0, CUV_RCD_ORDER);
#pragma unroll
    for (int c = 0; c < CuvRcdPlanes<F>::n_bytes; c++)
      tile.colours[c][row - 1][word - 1] = colours[c];
  }
}

// Adds the pixels that a lane has of the cell from x on.
template <CuvRcdFeatures F>
static __device__ __forceinline__ void
add_cell (const Tile &tile, const Place &place, int x, int cell, unsigned *sums)
{
  const int first = x / 4 - place.first_word;
  const int n_words = (x + cell - 1) / 4 - x / 4 + 1;
  const Divisor across (n_words);

  for (int i = threadIdx.x % 32; i < cell * n_words; i += 32) {
    const int row = across.divide (i), word = first + i - row * n_words;
    const int begin = 4 * (place.first_word + word) - x;
    CuvRcdPlanes<F> planes;
    CuvRcdGreys greys[3];

#pragma unroll
    for (int j = 0; j < 3; j++)
      greys[j] = cuv_rcd_greys (&tile.grey[row + j][word + 1]);
#pragma unroll
    for (int c = 0; c < planes.n_bytes; c++)
      planes.bytes[c] = tile.colours[c][row][word];
    cuv_rcd_gradients (greys, &planes);
    if (begin < 0 || begin + 4 > cell)
      cuv_rcd_mask (&planes, max (-begin, 0), min (cell - begin, 4));
    cuv_rcd_add (planes, (unsigned) begin, (unsigned) row, sums);
  }
}

// What does not depend on the pixels: sums of x, y and their products over the
// cell at (x, y).
static __device__ __forceinline__ int64_t
sum_of_places (int which, int64_t x, int64_t y, int64_t n)
{
  const int64_t some = n * (n - 1) / 2, squares = some * (2 * n - 1) / 3;
  const int64_t sum_x = n * x + some, sum_y = n * y + some;

  switch (which) {
    case 0:
      return n * sum_x;
    case 1:
      return n * sum_y;
    case 2: // x x
      return n * (n * x * x + 2 * x * some + squares);
    case 3: // x y
      return sum_x * sum_y;
    default: // y y
      return n * (n * y * y + 2 * y * some + squares);
  }
}

// Sums of planes only, to where they belong; lane i has what it writes.
template <CuvRcdFeatures F>
static __device__ __forceinline__ void
write_sums (const unsigned *sums, int64_t *to)
{
#pragma unroll
  for (int i = 0; i < CuvRcdPlanes<F>::n_sums; i++) {
    if ((int) threadIdx.x % 32 == i)
      to[i] = (int) sums[i];
  }
}

// With x and y as features before the planes.
template <CuvRcdFeatures F>
static __device__ __forceinline__ void
write_sums_and_places (
    const unsigned *sums, int64_t x, int64_t y, int cell, int64_t *to)
{
  constexpr int planes = CuvRcdPlanes<F>::n, n = planes + 2;
  const unsigned *slopes = sums + CUV_RCD_SUMS (planes);
  int64_t *products = to + n;
  const int lane = threadIdx.x % 32;

#pragma unroll
  for (int i = 0; i < planes; i++) {
    if (lane == i) {
      to[2 + i] = (int) sums[i];
      products[2 + i] = x * (int) sums[i] + (int) slopes[i];
      products[n + 1 + i] = y * (int) sums[i] + (int) slopes[planes + i];
    }
  }
#pragma unroll
  for (int i = 0; i < CUV_RCD_TRIANGLE (planes); i++) {
    if (lane == i % 32)
      products[2 * n - 1 + i] = (int) sums[planes + i];
  }
  if (lane < 5)
    (lane < 2 ? to[lane] : products[lane < 4 ? lane - 2 : n]) =
        sum_of_places (lane, x, y, cell);
}

template <CuvRcdFeatures F>
static __global__ void
__launch_bounds__ (THREADS)
    cells_kernel (const __grid_constant__ CuvRcdState state,
        const __grid_constant__ CuvRcdSource source, int per_block)
{
  __shared__ Tile tile;
  const Place place = place_of_block (state, per_block);

  cuv_let_next_kernel_start ();
  if (blockIdx.x == 0 && (int) blockIdx.y < state.n_targets)
    cuv_rcd_copy (&state.targets[blockIdx.y], &state.targets_from[blockIdx.y]);
  if ((int) blockIdx.y >= state.area.n_rows)
    return;
  load_tile<F> (tile, source, place, state.cell);
  __syncthreads ();
  for (int i = cuv_warp_of_thread (); i < place.n_columns; i += WARPS) {
    const int column = place.column + i;
    const int x = (state.area.column + column) * state.cell;
    unsigned sums[CuvRcdPlanes<F>::n_all] = {};
    int64_t *to = state.cells
        + ((size_t) blockIdx.y * state.area.n_columns + column) * state.n_sums;

    add_cell<F> (tile, place, x, state.cell, sums);
#pragma unroll
    for (int k = 0; k < CuvRcdPlanes<F>::n_all; k++)
      sums[k] = cuv_rcd_warp_sum (sums[k]);
    if constexpr (CuvRcdPlanes<F>::place) {
      write_sums_and_places<F> (sums, x, place.y, state.cell, to);
    } else {
      cuv_rcd_remove_bias<F> (sums, (unsigned) (state.cell * state.cell));
      write_sums<F> (sums, to);
    }
  }
}

template <CuvRcdFeatures F>
static int
submit (const CuvRcdState &state, cudaStream_t stream)
{
  const int per_block = TILE / state.cell;
  const dim3 grid (cuv_div_up (state.area.n_columns, per_block),
      state.area.n_rows > state.n_targets ? state.area.n_rows
                                          : state.n_targets);

  cells_kernel<F><<<grid, THREADS, 0, stream>>> (
      state, cuv_rcd_source (state.frame), per_block);
  CUV_CUDA_LAUNCHED (cells_kernel);
  return 0;
}

int
cuv_rcd_cells_submit (const CuvRcdState &state, cudaStream_t stream)
{
  return CUV_RCD_FOR_FEATURES (state.features, submit, state, stream);
}
