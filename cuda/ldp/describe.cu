// SPDX-License-Identifier: LGPL-2.1-or-later
// Codes and their histograms. A block of threads works down its tile,
// CUV_LDP_ROWS rows at a time, all in shared memory: grey values, signs of
// derivatives, codes of four pixels at once, counts.
#include "ldp/ldp-codes.cuh"
#include "ldp/ldp-counts.cuh"
#include "ldp/ldp-signs.cuh"

struct Tile {
  CuvLdpSpan across, down;

  __device__ __forceinline__
  Tile (const CuvLdpPlan &plan)
      : across (plan.across[blockIdx.x]), down (plan.down[blockIdx.y])
  {
  }
};

struct Shared {
  uint4 grey[CUV_LDP_GREY_ROWS * CUV_LDP_GREY_WORDS / 4];
  Signs signs[CUV_LDP_SIGN_ROWS * CUV_LDP_SIGN_WORDS];
  uint8_t bin_of_code[CUV_LDP_CODES];
};

// ---- counts ----

// Counts rows `first` to `end` - 1 of those whose signs are in shared memory.
// Each warp works down a run of rows and keeps the signs of the last three in
// registers.
template <bool ALL>
static __device__ __forceinline__ void
count_rows (const CuvLdpPass &pass, const Shared &memory, const Lane &lane,
    int first, int end, unsigned flat[CUV_LDP_DIRECTIONS])
{
  const int run = CUV_LDP_ROWS / (CUV_LDP_THREADS / 32);
  const int top = cuv_warp_of_thread () * run;
  const Signs *signs =
      &memory.signs[top * CUV_LDP_SIGN_WORDS + threadIdx.x % 32];
  Row rows[3];

  rows[0].load (signs);
  rows[1].load (signs + CUV_LDP_SIGN_WORDS);
#pragma unroll
  for (int r = 0; r < run; r++) {
    unsigned codes[CUV_LDP_DIRECTIONS];

    rows[(r + 2) % 3].load (signs + (r + 2) * CUV_LDP_SIGN_WORDS);
    if (top + r < first || top + r >= end)
      continue;
    find_codes (rows[r % 3], rows[(r + 1) % 3], rows[(r + 2) % 3], codes);
    count_codes<ALL> (pass, memory.bin_of_code, lane, codes, flat);
  }
}

// ---- the kernel ----

template <typename Count, bool ALL, int K>
static __global__ void
__launch_bounds__ (CUV_LDP_THREADS, CUV_LDP_RESIDENT)
    describe_kernel (const __grid_constant__ CuvLdpPass pass)
{
  extern __shared__ uint4 shared_of_block[];
  __shared__ Shared memory;
  const Tile tile (pass.plan);
  const int margin = cuv_ldp_margin (&pass.layout);
  const unsigned *grey = (const unsigned *) memory.grey + CUV_LDP_LEFT / 4 - 1;
  unsigned *counts = (unsigned *) shared_of_block;
  const Lane lane (pass.plan, counts, stride_of_block<ALL> (pass.layout));
  unsigned flat[CUV_LDP_DIRECTIONS] = {};

  for (int i = threadIdx.x; !ALL && i < CUV_LDP_CODES; i += CUV_LDP_THREADS)
    memory.bin_of_code[i] = pass.layout.bin_of_code[i];
  for (int i = threadIdx.x; i < pass.plan.n_shared / 4; i += CUV_LDP_THREADS)
    shared_of_block[i] = uint4{};
#pragma unroll 1
  for (int from = 0; from < tile.down.size; from += CUV_LDP_ROWS) {
    const int y = tile.down.at + from,
              n = min (tile.down.size - from, CUV_LDP_ROWS);

    load_grey (pass, tile.across.at, y, n, memory.grey);
    __syncthreads ();
    if constexpr (K > 0)
      find_signs<K> (grey, n, memory.signs);
    else
      find_signs_of_order (grey, pass.layout.params.order - 1, n, memory.signs);
    __syncthreads ();
    count_rows<ALL> (pass, memory, lane, margin - y,
        min (n, pass.layout.height - margin - y), flat);
  }
  count_flat<ALL> (pass, memory.bin_of_code, lane, flat);
  __syncthreads ();
  store_blocks<Count, ALL> (pass, counts,
      tile.down.block * pass.layout.columns + tile.across.block,
      tile.across.n_blocks);
}

// ---- the launcher ----

typedef void (*Kernel) (const CuvLdpPass);

template <typename Count, bool ALL>
static Kernel
kernel_of (int order)
{
  return order == 2 ? describe_kernel<Count, ALL, 1>
      : order == 3  ? describe_kernel<Count, ALL, 2>
      : order == 4  ? describe_kernel<Count, ALL, 3>
                    : describe_kernel<Count, ALL, 0>;
}

static Kernel
kernel_of (const CuvLdpPass &pass)
{
  const CuvLdpParams &params = pass.layout.params;

  const bool all = params.bins == CUV_LDP_BINS_256
      && pass.layout.n_histograms == CUV_LDP_DIRECTIONS;

  if (pass.plan.count_size == 2)
    return all ? kernel_of<uint16_t, true> (params.order)
               : kernel_of<uint16_t, false> (params.order);
  return all ? kernel_of<uint32_t, true> (params.order)
             : kernel_of<uint32_t, false> (params.order);
}

int
cuv_ldp_describe_submit (const CuvLdpPass &pass, cudaStream_t stream)
{
  const CuvLdpPlan &plan = pass.plan;
  const size_t bytes = (size_t) plan.n_shared * sizeof (unsigned);
  const Kernel kernel = kernel_of (pass);

  if (cuv_cuda_allow_shared ((const void *) kernel, bytes) != 0)
    return -1;
  kernel<<<dim3 (plan.n_across, plan.n_down), CUV_LDP_THREADS, bytes,
      stream>>> (pass);
  CUV_CUDA_LAUNCHED (describe_kernel);
  return 0;
}
