// SPDX-License-Identifier: LGPL-2.1-or-later
#include "motion/clean.cuh"

#include "cuv-cuda.cuh"

#define CUV_CLEAN_THREADS 1024

// A block cleans a tile of words of 32 bits. What is around it may change it:
// four passes reach up to 15 pixels further each.
#define CUV_CLEAN_WORDS (2 * CUV_MOTION_MARK_WORDS)
#define CUV_CLEAN_ROWS 16
#define CUV_CLEAN_MARGIN_WORDS 2
#define CUV_CLEAN_MARGIN_ROWS (4 * (CUV_MOTION_MAX_SIDE / 2))
#define CUV_CLEAN_COLUMNS (CUV_CLEAN_WORDS + 2 * CUV_CLEAN_MARGIN_WORDS)

namespace
{

typedef uint32_t Rows[CUV_CLEAN_ROWS + 2 * CUV_CLEAN_MARGIN_ROWS]
                     [CUV_CLEAN_COLUMNS];

// The words that a block reads: `rows` rows, the first word of which is word x,
// row y of the mask.
struct Area {
  int x, y, rows;
};

} // namespace

// Returns the bits of a word of the area that are inside of the mask.
static __device__ __forceinline__ uint32_t
inside (const CuvMotionBits &mask, const Area &area, int row, int column)
{
  const int y = area.y + row, x = area.x + column;
  const int n = mask.width - 32 * x;

  if (x < 0 || n <= 0 || y < 0 || y >= mask.height)
    return 0;
  return n >= 32 ? ~0u : ~(~0u << n);
}

// Reads the area, inverted or not; bits outside of the mask are 0 in either.
// Returns how many bits are set in the thread's words of the tile.
static __device__ unsigned
read_area (
    const CuvMotionBits &mask, const Area &area, bool inverted, Rows &rows)
{
  const int margin = (area.rows - CUV_CLEAN_ROWS) / 2;
  unsigned n = 0;

  for (int i = threadIdx.x; i < area.rows * CUV_CLEAN_COLUMNS;
       i += CUV_CLEAN_THREADS) {
    const int row = i / CUV_CLEAN_COLUMNS, column = i % CUV_CLEAN_COLUMNS;
    const uint32_t bits = inside (mask, area, row, column);
    const size_t at =
        (size_t) (area.y + row) * 2 * mask.stride + area.x + column;
    const uint32_t word = bits != 0 ? ((const uint32_t *) mask.words)[at] : 0;

    rows[row][column] = (inverted ? ~word : word) & bits;
    if (row >= margin && row < margin + CUV_CLEAN_ROWS
        && column >= CUV_CLEAN_MARGIN_WORDS
        && column < CUV_CLEAN_MARGIN_WORDS + CUV_CLEAN_WORDS)
      n += __popc (word);
  }
  return n;
}

// Sets each bit if any is set in the square around it, r pixels in each
// direction; then inverts all, or not. Bits within r pixels of the area's
// border become wrong, which the margin is for.
static __device__ void
spread (const CuvMotionBits &mask, const Area &area, int r, bool inverted,
    const Rows &from, Rows &to)
{
  __syncthreads ();
  for (int at = threadIdx.x; at < area.rows * CUV_CLEAN_COLUMNS;
       at += CUV_CLEAN_THREADS) {
    const int row = at / CUV_CLEAN_COLUMNS, i = at % CUV_CLEAN_COLUMNS;
    const int last = min (row + r, area.rows - 1);
    uint32_t before = 0, here = 0, after = 0;

    for (int k = max (row - r, 0); k <= last; k++) {
      before |= i > 0 ? from[k][i - 1] : 0;
      here |= from[k][i];
      after |= i + 1 < CUV_CLEAN_COLUMNS ? from[k][i + 1] : 0;
    }
    uint32_t bits = here;
    for (int d = 1; d <= r; d++)
      bits |= here << d | before >> (32 - d) | here >> d | after << (32 - d);
    to[row][i] = (inverted ? ~bits : bits) & inside (mask, area, row, i);
  }
}

// Writes the tile's words that are not 0, and marks them.
static __device__ void
write_tile (const CuvMotionBits &mask, const Area &area, const Rows &rows,
    const uint64_t *unmasked, const CuvMotionCleaned &cleaned)
{
  const int margin = (area.rows - CUV_CLEAN_ROWS) / 2;
  const int row = threadIdx.x / CUV_MOTION_MARK_WORDS;
  const int column = threadIdx.x % CUV_MOTION_MARK_WORDS;
  const int y = blockIdx.y * CUV_CLEAN_ROWS + row;
  const int x = blockIdx.x * CUV_MOTION_MARK_WORDS + column;
  const size_t at = (size_t) y * mask.stride + x;
  uint64_t word = 0;

  if (row >= CUV_CLEAN_ROWS) // whole warps
    return;
  if (y < mask.height && x < mask.stride) {
    const uint32_t *from =
        &rows[row + margin][2 * column + CUV_CLEAN_MARGIN_WORDS];

    word = (from[0] | (uint64_t) from[1] << 32)
        & (unmasked != nullptr ? unmasked[at] : ~UINT64_C (0));
  }
  const uint32_t marks = __ballot_sync (~0u, word != 0);
  if (word != 0)
    cleaned.words[at] = word;
  if (column == 0 && y < mask.height)
    cleaned.marks[(size_t) y * gridDim.x + blockIdx.x] =
        (CuvMotionMark) (marks >> threadIdx.x % 32);
}

// Grid: tiles. Eroding a mask is spreading its complement.
static __global__ void
__launch_bounds__ (CUV_CLEAN_THREADS)
    clean_kernel (const __grid_constant__ CuvMotionBits mask, int opening,
        int closing, const uint64_t *unmasked, CuvMotionCleaned cleaned)
{
  __shared__ Rows rows, scratch;
  __shared__ unsigned n_moving;
  const int margin = 2 * (opening / 2) + 2 * (closing / 2);
  const Area area = { (int) blockIdx.x * CUV_CLEAN_WORDS
        - CUV_CLEAN_MARGIN_WORDS,
    (int) blockIdx.y * CUV_CLEAN_ROWS - margin, CUV_CLEAN_ROWS + 2 * margin };

  if (threadIdx.x == 0)
    n_moving = 0;
  cuv_pdl_wait ();
  const unsigned n = cuv_warp_sum (read_area (mask, area, opening > 1, rows));
  if (opening > 1) {
    spread (mask, area, opening / 2, true, rows, scratch);
    spread (mask, area, opening / 2, false, scratch, rows);
  }
  if (closing > 1) {
    spread (mask, area, closing / 2, true, rows, scratch);
    spread (mask, area, closing / 2, true, scratch, rows);
  }
  __syncthreads ();
  if (threadIdx.x % 32 == 0)
    atomicAdd (&n_moving, n);
  write_tile (mask, area, rows, unmasked, cleaned);
  __syncthreads ();
  if (threadIdx.x == 0)
    cleaned.n_moving[blockIdx.y * gridDim.x + blockIdx.x] = n_moving;
}

static dim3
grid_of (const CuvMotionBits *mask)
{
  return dim3 (cuv_div_up (2 * mask->stride, CUV_CLEAN_WORDS),
      cuv_div_up (mask->height, CUV_CLEAN_ROWS));
}

int
cuv_motion_n_tiles (const CuvMotionBits *mask)
{
  const dim3 grid = grid_of (mask);

  return (int) (grid.x * grid.y);
}

int
cuv_motion_clean (const CuvMotionBits *mask, int opening, int closing,
    const uint64_t *unmasked, const CuvMotionCleaned &cleaned,
    cudaStream_t stream)
{
  return cuv_launch_dependent ("clean_kernel", grid_of (mask),
      CUV_CLEAN_THREADS, 0, stream, clean_kernel, *mask, opening, closing,
      unmasked, cleaned);
}
