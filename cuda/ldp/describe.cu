// SPDX-License-Identifier: LGPL-2.1-or-later
// Computes codes and their histograms. A thread block works down its tile,
// CUV_LDP_STEP_ROWS rows at a time: it loads grey values and computes the signs
// of their derivatives, both in shared memory, then each lane computes the
// codes of four pixels at once and counts them in shared memory.
#include "ldp/ldp-counts.cuh"
#include "ldp/ldp-signs.cuh"

// Shared memory of a thread block, besides the counts.
struct Shared {
  uint4 grey[CUV_LDP_GREY_ROWS * CUV_LDP_GREY_WORDS / 4];
  CuvLdpSigns signs[CUV_LDP_SIGN_ROWS * CUV_LDP_SIGN_WORDS];
  uint8_t bin_of_code[CUV_LDP_CODES];
};

// ---- codes of four pixels, one byte each, from the signs of derivatives ----

// Returns the bits of b where the mask is set, otherwise those of a, in one
// instruction; the compiler would use two.
static __device__ __forceinline__ unsigned
select_bits (unsigned a, unsigned b, unsigned mask)
{
#ifdef __CUDA_ARCH__
  unsigned result;

  asm("lop3.b32 %0, %1, %2, %3, 0xd8;"
      : "=r"(result)
      : "r"(a), "r"(b), "r"(mask));
  return result;
#else
  return (a & ~mask) | (b & mask);
#endif
}

// Signs, and the same with the halves of each byte swapped.
struct SignPair {
  CuvLdpSigns signs, swapped;

  __device__ __forceinline__ void
  set (CuvLdpSigns value)
  {
    signs = value;
    swapped = select_bits (value >> 4, value << 4, 0xf0f0f0f0u);
  }
};

// Signs of a lane's four pixels and of their left and right neighbours.
struct RowSigns {
  SignPair left, centre, right;

  __device__ __forceinline__ void
  load (const CuvLdpSigns *words)
  {
    const CuvLdpSigns before = words[0], here = words[1], after = words[2];

    left.set (__byte_perm (before, here, 0x6543));
    centre.set (here);
    right.set (__byte_perm (here, after, 0x4321));
  }
};

// Compares four pixels with two neighbours of each: bit d is set if the sign of
// neighbour `low` differs in direction d, bit d + 4 for neighbour `high`.
static __device__ __forceinline__ unsigned
compare_two (const SignPair &centre, const SignPair &low, const SignPair &high)
{
  const unsigned mask = 0xf0f0f0f0u;

  return ~((centre.signs & select_bits (low.signs, high.signs, mask))
      | (centre.swapped & select_bits (low.swapped, high.swapped, mask)));
}

// A step of a bit transpose: swaps a's bits under the mask with b's bits n
// places lower.
static __device__ __forceinline__ void
swap_bits (unsigned *a, unsigned *b, int n, unsigned mask)
{
  const unsigned lower = select_bits (*a, *b << n, mask);

  *b = select_bits (*a >> n, *b, mask);
  *a = lower;
}

// Computes the codes of the middle row in all directions. Bits i and i + 4 of a
// code belong to opposite neighbours: each pair is compared in all directions
// at once, giving words by neighbour with bits by direction, which are then
// transposed.
static __device__ __forceinline__ void
find_codes (const RowSigns &above, const RowSigns &row, const RowSigns &below,
    unsigned codes[CUV_LDP_DIRECTIONS])
{
  codes[0] = compare_two (row.centre, row.left, row.right);
  codes[1] = compare_two (row.centre, below.left, above.right);
  codes[2] = compare_two (row.centre, below.centre, above.centre);
  codes[3] = compare_two (row.centre, below.right, above.left);
  swap_bits (&codes[0], &codes[2], 2, 0xccccccccu);
  swap_bits (&codes[1], &codes[3], 2, 0xccccccccu);
  swap_bits (&codes[0], &codes[1], 1, 0xaaaaaaaau);
  swap_bits (&codes[2], &codes[3], 1, 0xaaaaaaaau);
}

// ---- counting ----

// Counts the codes of rows first .. end - 1, whose signs are in shared memory.
// Each warp works down a run of rows and keeps the signs of the last three in
// registers.
template <bool FULL>
static __device__ __forceinline__ void
cuv_ldp_count_rows (const CuvLdpDescribeArgs &args, const Shared &memory,
    const CuvLdpLane &lane, int first, int end,
    unsigned n_flat[CUV_LDP_DIRECTIONS])
{
  const int run = CUV_LDP_STEP_ROWS / (CUV_LDP_THREADS / 32);
  const int top = cuv_warp_of_thread () * run;
  const CuvLdpSigns *signs =
      &memory.signs[top * CUV_LDP_SIGN_WORDS + threadIdx.x % 32];
  RowSigns rows[3];

  rows[0].load (signs);
  rows[1].load (signs + CUV_LDP_SIGN_WORDS);
#pragma unroll
  for (int r = 0; r < run; r++) {
    unsigned codes[CUV_LDP_DIRECTIONS];

    rows[(r + 2) % 3].load (signs + (r + 2) * CUV_LDP_SIGN_WORDS);
    if (top + r < first || top + r >= end)
      continue;
    find_codes (rows[r % 3], rows[(r + 1) % 3], rows[(r + 2) % 3], codes);
    count_codes<FULL> (args, memory.bin_of_code, lane, codes, n_flat);
  }
}

// ---- the kernel ----

// Grid: tile columns x tile rows. Dynamic shared memory: counts. FULL: a
// histogram per direction and a bin per code, so that sizes are known at
// compile time. K: order of the derivatives, one less than that of the pattern;
// 0: known at run time only.
template <typename Count, bool FULL, int K>
static __global__ void
__launch_bounds__ (CUV_LDP_THREADS, CUV_LDP_BLOCKS_PER_SM)
    describe_kernel (const __grid_constant__ CuvLdpDescribeArgs args)
{
  extern __shared__ uint4 shared_counts[];
  __shared__ Shared memory;
  const CuvLdpSpan column = args.plan.columns[blockIdx.x];
  const CuvLdpSpan row = args.plan.rows[blockIdx.y];
  const int margin = cuv_ldp_margin (&args.layout);
  const unsigned *grey = // signs begin a word before the tile
      (const unsigned *) memory.grey + CUV_LDP_TILE_MARGIN / 4 - 1;
  unsigned *counts = (unsigned *) shared_counts;
  const CuvLdpLane lane (args.plan, counts, block_stride<FULL> (args.layout));
  unsigned n_flat[CUV_LDP_DIRECTIONS] = {}; // flat pixels not yet added to
                                            // counts

  for (int i = threadIdx.x; !FULL && i < CUV_LDP_CODES; i += CUV_LDP_THREADS)
    memory.bin_of_code[i] = args.layout.bin_of_code[i];
  for (int i = threadIdx.x; i < args.plan.n_shared_words / 4;
       i += CUV_LDP_THREADS)
    shared_counts[i] = uint4{};
#pragma unroll 1
  for (int done = 0; done < row.length; done += CUV_LDP_STEP_ROWS) {
    const int y = row.begin + done,
              n = min (row.length - done, CUV_LDP_STEP_ROWS);

    cuv_ldp_load_grey (args, column.begin, y, n, memory.grey);
    __syncthreads ();
    if constexpr (K > 0)
      find_signs<K> (grey, n, memory.signs);
    else
      find_signs_of_order (grey, args.layout.params.order - 1, n, memory.signs);
    __syncthreads ();
    cuv_ldp_count_rows<FULL> (args, memory, lane, margin - y,
        min (n, args.layout.height - margin - y), n_flat);
  }
  count_flat<FULL> (args, memory.bin_of_code, lane, n_flat);
  __syncthreads ();
  store_blocks<Count, FULL> (args, counts,
      row.first_block * args.layout.columns + column.first_block,
      column.n_blocks);
}

// ---- the launcher ----

typedef void (*Kernel) (const CuvLdpDescribeArgs);

template <typename Count, bool FULL>
static Kernel
choose_kernel (int order)
{
  return order == 2 ? describe_kernel<Count, FULL, 1>
      : order == 3  ? describe_kernel<Count, FULL, 2>
      : order == 4  ? describe_kernel<Count, FULL, 3>
                    : describe_kernel<Count, FULL, 0>;
}

static Kernel
choose_kernel (const CuvLdpDescribeArgs &args)
{
  const CuvLdpParams &params = args.layout.params;
  const bool full = params.bins == CUV_LDP_BINS_256
      && args.layout.n_histograms == CUV_LDP_DIRECTIONS;

  if (args.plan.count_size == 2)
    return full ? choose_kernel<uint16_t, true> (params.order)
                : choose_kernel<uint16_t, false> (params.order);
  return full ? choose_kernel<uint32_t, true> (params.order)
              : choose_kernel<uint32_t, false> (params.order);
}

int
cuv_ldp_describe_submit (const CuvLdpDescribeArgs &args, cudaStream_t stream)
{
  const CuvLdpPlan &plan = args.plan;
  const size_t bytes = (size_t) plan.n_shared_words * sizeof (unsigned);
  const Kernel kernel = choose_kernel (args);

  if (cuv_cuda_allow_shared ((const void *) kernel, bytes) != 0)
    return -1;
  kernel<<<dim3 (plan.n_tile_columns, plan.n_tile_rows), CUV_LDP_THREADS, bytes,
      stream>>> (args);
  CUV_CUDA_LAUNCHED (describe_kernel);
  return 0;
}
