// SPDX-License-Identifier: LGPL-2.1-or-later
// Codes and their histograms. A block of threads goes down its tile some rows
// at a time: from grey values to the signs of derivatives, a byte for all four
// directions, from those to codes, of four pixels at once, and to counts, all
// in shared memory.
#include "ldp/ldp-state.cuh"

#define WARPS 4
#define ROWS 16 // at a time
#define GREY_ROWS (ROWS + CUV_LDP_MAX_ORDER + 1)
#define GREY_PITCH (CUV_LDP_ACROSS + 2 * CUV_LDP_MAX_ORDER + 2)
#define SIGN_PITCH (CUV_LDP_ACROSS + 8) // the first pixel is its fourth

// What a block of threads has of the picture.
struct Tile {
  int column, n_columns, row; // blocks
  int x, y, width, height;    // pixels

  __device__ __forceinline__
  Tile (const CuvLdpPass &pass)
  {
    const CuvLdpShape &shape = pass.shape;
    const CuvLdpPlan &plan = pass.plan;
    const int block = shape.params.block;
    const int across = blockIdx.x % plan.slices_across * CUV_LDP_ACROSS;
    const int down = blockIdx.y % plan.slices_down * CUV_LDP_DOWN;

    column = blockIdx.x / plan.slices_across * plan.blocks;
    n_columns = min (plan.blocks, shape.columns - column);
    row = blockIdx.y / plan.slices_down;
    x = cuv_ldp_edge (block, shape.width, shape.columns, column) + across;
    y = cuv_ldp_edge (block, shape.height, shape.rows, row) + down;
    width = min (cuv_ldp_edge (
                     block, shape.width, shape.columns, column + n_columns),
                x + CUV_LDP_ACROSS)
        - x;
    height = min (cuv_ldp_edge (block, shape.height, shape.rows, row + 1),
                 y + CUV_LDP_DOWN)
        - y;
  }
};

struct Memory {
  uint8_t grey[GREY_ROWS * GREY_PITCH];
  alignas (16) uint8_t signs[(ROWS + 2) * SIGN_PITCH];
  uint8_t bin_of_code[CUV_LDP_CODES];
};

// ---- grey values and signs ----

// Of the rows from y - order on that signs of n rows, one above and one below
// need; and as many pixels to the left.
static __device__ __forceinline__ void
load_grey (const CuvLdpPass &pass, const Tile &tile, int y, int n, Memory *to)
{
  const int order = pass.shape.params.order;
  const int lane = threadIdx.x % 32;

  for (int r = threadIdx.x / 32; r < n + order + 1; r += WARPS) {
    const int from = min (max (y - order + r, 0), pass.shape.height - 1);

    for (int c = lane; c < CUV_LDP_ACROSS + 2 * order; c += 32)
      to->grey[r * GREY_PITCH + c] = cuv_frame_grey (&pass.picture,
          min (max (tile.x - order + c, 0), pass.shape.width - 1), from);
  }
}

// The K-th derivative in a direction, from its first value on. K 0: k.
template <int K>
static __device__ __forceinline__ int
derivative (const uint8_t *grey, int direction, int k)
{
  const int step = cuv_ldp_dx (direction) + cuv_ldp_dy (direction) * GREY_PITCH;

  if (K == 1)
    return grey[0] - grey[step];
  if (K == 2)
    return grey[0] - 2 * grey[step] + grey[2 * step];
  if (K == 3)
    return grey[0] - grey[3 * step] - 3 * (grey[step] - grey[2 * step]);
  int sum = 0, factor = 1; // k over i, and its sign

  for (int i = 0; i <= k; i++) {
    sum += factor * grey[i * step];
    factor = -factor * (k - i) / (i + 1);
  }
  return sum;
}

template <int K>
static __device__ __forceinline__ void
find_signs (int k, int n, Memory *memory)
{
  const int lane = threadIdx.x % 32, order = k + 1;

  for (int r = threadIdx.x / 32; r < n + 2; r += WARPS) {
    // row r is the one before the tile's first; its grey is k rows down
    const uint8_t *grey = &memory->grey[(r + k) * GREY_PITCH + order - 1];
    uint8_t *signs = &memory->signs[r * SIGN_PITCH + 3];

    for (int c = lane; c < CUV_LDP_ACROSS + 2; c += 32) {
      unsigned word = 0;

#pragma unroll
      for (int d = 0; d < CUV_LDP_DIRECTIONS; d++) {
        const int value = derivative<K> (grey + c, d, k);

        word |= (value > 0 ? 1u : value < 0 ? 2u : 0u) << 2 * d;
      }
      signs[c] = (uint8_t) word;
    }
  }
}

// ---- codes ----

// Bits 2 d of four pixels: alike in direction d.
static __device__ __forceinline__ unsigned
alike (unsigned here, unsigned other)
{
  const unsigned same = here & other;

  return (same | same >> 1) & 0x55555555u;
}

// Signs of four pixels: the lane's, and those one to the left and the right.
struct Row {
  unsigned left, here, right;

  __device__ __forceinline__
  Row (const uint8_t *signs)
  {
    const unsigned *words = (const unsigned *) signs;
    const unsigned before = words[0], after = words[2];

    here = words[1];
    left = __byte_perm (before, here, 0x6543);
    right = __byte_perm (here, after, 0x4321);
  }
};

// Which neighbours are alike: of a pair, one after the other, bits 2 d + 1 and
// 2 d, clockwise from above to the left.
struct Pairs {
  unsigned pair[4];

  __device__ __forceinline__
  Pairs (const Row &above, const Row &at, const Row &below)
  {
    const unsigned here = at.here;

    pair[0] = 2 * alike (here, above.left) | alike (here, above.here);
    pair[1] = 2 * alike (here, above.right) | alike (here, at.right);
    pair[2] = 2 * alike (here, below.right) | alike (here, below.here);
    pair[3] = 2 * alike (here, below.left) | alike (here, at.left);
  }

  // Codes of four pixels.
  __device__ __forceinline__ unsigned
  codes (int d) const
  {
    unsigned same = 0;

#pragma unroll
    for (int i = 0; i < 4; i++)
      same |= (pair[i] >> 2 * d & 0x03030303u) << (6 - 2 * i);
    return ~same;
  }
};

// ---- counts ----

template <typename Count>
static __device__ __forceinline__ void
add (unsigned *counts, int at, unsigned n)
{
  if (sizeof (Count) == 2)
    atomicAdd (&counts[at >> 1], n << (at & 1) * 16);
  else
    atomicAdd (&counts[at], n);
}

// Where a lane's four pixels are counted: in the histograms of a block each.
struct Lane {
  int at[4]; // their first count; -1: they are not
  bool one;  // all four in the same

  __device__ __forceinline__
  Lane (const CuvLdpPass &pass, const Tile &tile)
  {
    const CuvLdpShape &shape = pass.shape;
    const int margin = cuv_ldp_margin (&shape);
    const int of_block = shape.n_histograms * shape.n_bins;

#pragma unroll
    for (int i = 0; i < 4; i++) {
      const int c = 4 * (threadIdx.x % 32) + i, x = tile.x + c;
      const int column =
          cuv_ldp_block_at (shape.params.block, shape.width, shape.columns, x);
      const bool counts =
          c < tile.width && x >= margin && x < shape.width - margin;

      at[i] = counts ? (column - tile.column) * of_block : -1;
    }
    one = at[0] >= 0 && at[0] == at[1] && at[0] == at[2] && at[0] == at[3];
  }
};

// Of four pixels in a direction. Where nothing varies all codes are 255: what a
// lane finds of those waits in `flat`, lest all of them add to one count.
template <typename Count>
static __device__ __forceinline__ void
count_codes (const CuvLdpPass &pass, const Memory &memory, const Lane &lane,
    unsigned codes, int first, unsigned *counts, unsigned *flat)
{
  const bool mapped = pass.shape.params.bins != CUV_LDP_BINS_256;

#pragma unroll
  for (int i = 0; i < 4; i++) {
    const unsigned code = codes >> 8 * i & 255;

    if (lane.one && code == 255)
      *flat += 1;
    else if (lane.at[i] >= 0)
      add<Count> (counts,
          lane.at[i] + first + (mapped ? memory.bin_of_code[code] : (int) code),
          1);
  }
}

template <typename Count>
static __device__ __forceinline__ void
count_rows (const CuvLdpPass &pass, const Memory &memory, const Lane &lane,
    int first, int end, unsigned *counts, unsigned flat[CUV_LDP_DIRECTIONS])
{
  for (int r = threadIdx.x / 32; r < end; r += WARPS) {
    const uint8_t *signs =
        &memory.signs[r * SIGN_PITCH + 4 * (threadIdx.x % 32)];
    const Pairs pairs (
        Row (signs), Row (signs + SIGN_PITCH), Row (signs + 2 * SIGN_PITCH));

    if (r < first)
      continue;
#pragma unroll
    for (int d = 0; d < CUV_LDP_DIRECTIONS; d++) {
      if (pass.histogram_of[d] >= 0)
        count_codes<Count> (pass, memory, lane, pairs.codes (d),
            pass.histogram_of[d] * pass.shape.n_bins, counts, &flat[d]);
    }
  }
}

template <typename Count>
static __device__ __forceinline__ void
count_flat (const CuvLdpPass &pass, const Memory &memory, const Lane &lane,
    const unsigned flat[CUV_LDP_DIRECTIONS], unsigned *counts)
{
#pragma unroll
  for (int d = 0; d < CUV_LDP_DIRECTIONS; d++) {
    if (flat[d] > 0)
      add<Count> (counts,
          lane.at[0] + pass.histogram_of[d] * pass.shape.n_bins
              + memory.bin_of_code[255],
          flat[d]);
  }
}

// To the picture's, of which these are the first and those next to it.
template <typename Count>
static __device__ __forceinline__ void
give (const CuvLdpPass &pass, const Tile &tile, unsigned *counts)
{
  const int of_block = pass.shape.n_histograms * pass.shape.n_bins;
  const int64_t first =
      ((int64_t) tile.row * pass.shape.columns + tile.column) * of_block;
  const int n = tile.n_columns * of_block;
  const Count *from = (const Count *) counts;
  Count *to = (Count *) pass.counts + first;

  if (pass.plan.adds) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
      const int64_t at = first + i;

      if (from[i] != 0 && sizeof (Count) == 2)
        atomicAdd ((unsigned *) pass.counts + (at >> 1),
            (unsigned) from[i] << (at & 1) * 16);
      else if (from[i] != 0)
        atomicAdd ((unsigned *) pass.counts + at, (unsigned) from[i]);
    }
  } else if (of_block * sizeof (Count) % 16 == 0) {
    for (int i = threadIdx.x; i < n * (int) sizeof (Count) / 16;
         i += blockDim.x)
      ((uint4 *) to)[i] = ((const uint4 *) from)[i];
  } else {
    for (int i = threadIdx.x; i < n; i += blockDim.x)
      to[i] = from[i];
  }
}

// ---- the kernel ----

template <typename Count, int K>
static __global__ void __launch_bounds__ (32 * WARPS)
    describe_kernel (const __grid_constant__ CuvLdpPass pass)
{
  extern __shared__ uint4 shared_of_block[];
  __shared__ Memory memory;
  const Tile tile (pass);
  const Lane lane (pass, tile);
  const int margin = cuv_ldp_margin (&pass.shape);
  const int k = K > 0 ? K : pass.shape.params.order - 1;
  unsigned *counts = (unsigned *) shared_of_block;
  unsigned flat[CUV_LDP_DIRECTIONS] = {};

  for (int i = threadIdx.x; i < CUV_LDP_CODES; i += blockDim.x)
    memory.bin_of_code[i] = pass.shape.bin_of_code[i];
  for (int i = threadIdx.x; i < pass.plan.n_shared * (int) sizeof (Count) / 16;
       i += blockDim.x)
    shared_of_block[i] = uint4{};
  for (int from = 0; from < tile.height; from += ROWS) {
    const int y = tile.y + from, n = min (tile.height - from, ROWS);

    load_grey (pass, tile, y, n, &memory);
    __syncthreads ();
    find_signs<K> (k, n, &memory);
    __syncthreads ();
    count_rows<Count> (pass, memory, lane, margin - y,
        min (n, pass.shape.height - margin - y), counts, flat);
  }
  count_flat<Count> (pass, memory, lane, flat, counts);
  __syncthreads ();
  give<Count> (pass, tile, counts);
}

// ---- the launcher ----

typedef void (*Kernel) (const CuvLdpPass);

template <typename Count>
static Kernel
kernel_of (int order)
{
  return order == 2 ? describe_kernel<Count, 1>
      : order == 3  ? describe_kernel<Count, 2>
      : order == 4  ? describe_kernel<Count, 3>
                    : describe_kernel<Count, 0>;
}

int
cuv_ldp_describe_submit (const CuvLdpPass &pass, cudaStream_t stream)
{
  const CuvLdpPlan &plan = pass.plan;
  const int order = pass.shape.params.order;
  const size_t bytes = (size_t) plan.n_shared * plan.count_size;
  const Kernel kernel = plan.count_size == 2 ? kernel_of<uint16_t> (order)
                                             : kernel_of<uint32_t> (order);

  if (cuv_cuda_allow_shared ((const void *) kernel, bytes) != 0)
    return -1;
  kernel<<<dim3 (plan.n_across, plan.n_down), 32 * WARPS, bytes, stream>>> (
      pass);
  CUV_CUDA_LAUNCHED (describe_kernel);
  return 0;
}
