// SPDX-License-Identifier: LGPL-2.1-or-later
// Codes and their histograms. A block of threads goes down its tile some rows
// at a time: from grey values to the signs of derivatives, from those to codes,
// of four pixels at once, and to counts, all in shared memory.
#include "ldp/ldp-codes.cuh"
#include "ldp/ldp-counts.cuh"
#include "ldp/ldp-state.cuh"

#define WARPS (CUV_LDP_THREADS / 32)
#define ROWS 16 // at a time
#define LEFT 12 // pixels before the first: whole words, and enough of them
#define WORDS ((LEFT + CUV_LDP_ACROSS + LEFT) / 4) // of a row of grey values
#define GREY_ROWS (ROWS + CUV_LDP_MAX_ORDER + 1)
#define SIGN_WORDS (CUV_LDP_ACROSS / 4 + 2) // a word before the first, too

// What a block of threads has of the picture.
struct Tile {
  CuvLdpPiece across, down;

  __device__ __forceinline__
  Tile (const CuvLdpPlan &plan)
      : across (plan.across[blockIdx.x]), down (plan.down[blockIdx.y])
  {
  }
};

// Bytes of four pixels in a word.
struct Memory {
  unsigned grey[GREY_ROWS * WORDS];
  Signs signs[(ROWS + 2) * SIGN_WORDS];
  uint8_t bin_of_code[CUV_LDP_CODES];
};

// ---- grey values ----

// Four pixels from (x, y) on, of a picture that goes on with its border's.
static __device__ __forceinline__ unsigned
load_four (const CuvFrame &picture, int x, int y)
{
  const CuvComponent &c = picture.component[0];
  const int row = min (max (y, 0), picture.height - 1);
  unsigned four = 0;

  if (picture.model != CUV_MODEL_RGB && c.step == 1 && x >= 4
      && x + 8 <= picture.width) { // so that whole words can be read
    const uint8_t *from = c.data + (int64_t) row * c.stride + x;
    const unsigned skip = (unsigned) (uintptr_t) from % 4;
    const unsigned *words = (const unsigned *) (from - skip);

    return __funnelshift_r (words[0], words[1], 8 * skip);
  }
#pragma unroll
  for (int i = 0; i < 4; i++)
    four |= (unsigned) cuv_frame_grey (
                &picture, min (max (x + i, 0), picture.width - 1), row)
        << 8 * i;
  return four;
}

// Rows y - order to y + n, which the signs of rows y - 1 to y + n need.
static __device__ __forceinline__ void
load_grey (const CuvLdpPass &pass, const Tile &tile, int y, int n, Memory *to)
{
  const int order = pass.shape.params.order;

#pragma unroll 1
  for (int i = threadIdx.x; i < (n + order + 1) * WORDS; i += CUV_LDP_THREADS)
    to->grey[i] = load_four (pass.picture,
        tile.across.at - LEFT + 4 * (i % WORDS), y - order + i / WORDS);
}

// ---- signs ----

// The four pixels that begin `at` pixels behind words[0]'s first.
static __device__ __forceinline__ unsigned
four_at (const unsigned *words, int at)
{
  const int word = (at + 256) / 4 - 64, skip = (at + 256) % 4;

  return skip == 0 ? words[word]
                   : __funnelshift_r (words[word], words[word + 1], 8 * skip);
}

// 255 for those of four pixels whose 16 bits are below 0, of which two are the
// even ones and two the odd ones.
static __device__ __forceinline__ unsigned
negative (unsigned even, unsigned odd)
{
#ifdef __CUDA_ARCH__
  unsigned result; // __byte_perm() copies no signs

  asm("prmt.b32 %0, %1, %2, 0xfbd9;" : "=r"(result) : "r"(even), "r"(odd));
  return result;
#else
  return (__byte_perm (even, odd, 0x7351) >> 7 & 0x01010101u) * 255;
#endif
}

// Adds a direction's of four pixels. Derivatives are of 16 bits, two in a word:
// 2^15 - 1 is added to them, so that none borrows from the other. K 0: of order
// k.
template <int K>
static __device__ __forceinline__ void
add_signs (const unsigned *grey, int d, int k, Signs *signs)
{
  const int dx = cuv_ldp_dx (d), dy = cuv_ldp_dy (d);
  unsigned even = 0x7fff7fffu, odd = even;
  int factor = 1; // k over i, and its sign

#pragma unroll
  for (int i = 0; i <= (K > 0 ? K : k); i++) {
    const unsigned four = four_at (grey + i * dy * WORDS, i * dx);

    even += (unsigned) factor * __byte_perm (four, 0, 0x4240);
    odd += (unsigned) factor * __byte_perm (four, 0, 0x4341);
    factor = -factor * ((K > 0 ? K : k) - i) / (i + 1);
  }
  signs->above |= negative (even, odd) & 0x11111111u << d;
  signs->below |=
      negative (0xfffefffeu - even, 0xfffefffeu - odd) & 0x11111111u << d;
}

template <int K>
static __device__ __forceinline__ void
find_signs (int k, int n, Memory *memory)
{
#pragma unroll 1
  for (int i = threadIdx.x; i < (n + 2) * SIGN_WORDS; i += CUV_LDP_THREADS) {
    // the first row is the one above the tile's: its grey is k rows down
    const unsigned *grey = &memory->grey[(i / SIGN_WORDS + k) * WORDS + LEFT / 4
        - 1 + i % SIGN_WORDS];
    Signs signs = {};

#pragma unroll
    for (int d = 0; d < CUV_LDP_DIRECTIONS; d++)
      add_signs<K> (grey, d, k, &signs);
    memory->signs[i] = signs;
  }
}

// ---- counts ----

// Rows `first` to before `end` of those whose signs there are.
template <bool ALL>
static __device__ __forceinline__ void
count_rows (const CuvLdpPass &pass, const Memory &memory, const Lane &lane,
    int first, int end, unsigned flat[CUV_LDP_DIRECTIONS])
{
#pragma unroll 1
  for (int r = threadIdx.x / 32; r < end; r += WARPS) {
    const Signs *signs = &memory.signs[r * SIGN_WORDS + threadIdx.x % 32];

    unsigned codes[CUV_LDP_DIRECTIONS];

    if (r < first)
      continue;
    find_codes (Row (signs), Row (signs + SIGN_WORDS),
        Row (signs + 2 * SIGN_WORDS), codes);
#pragma unroll
    for (int d = 0; d < CUV_LDP_DIRECTIONS; d++) {
      if (ALL || pass.histogram_of[d] >= 0)
        count_codes<ALL> (
            pass, memory.bin_of_code, lane, d, codes[d], &flat[d]);
    }
  }
}

// ---- the kernel ----

template <typename Count, bool ALL, int K>
static __global__ void
__launch_bounds__ (CUV_LDP_THREADS, 8)
    describe_kernel (const __grid_constant__ CuvLdpPass pass)
{
  extern __shared__ uint4 shared_of_block[];
  __shared__ Memory memory;
  const Tile tile (pass.plan);
  const int margin = cuv_ldp_margin (&pass.shape);
  const int k = K > 0 ? K : pass.shape.params.order - 1;
  unsigned *counts = (unsigned *) shared_of_block;
  const Lane lane (pass.plan, counts, words_of_block<ALL> (pass.shape));
  unsigned flat[CUV_LDP_DIRECTIONS] = {};

  for (int i = threadIdx.x; !ALL && i < CUV_LDP_CODES; i += CUV_LDP_THREADS)
    memory.bin_of_code[i] = pass.shape.bin_of_code[i];
  for (int i = threadIdx.x; i < pass.plan.n_shared / 4; i += CUV_LDP_THREADS)
    shared_of_block[i] = uint4{};
#pragma unroll 1
  for (int from = 0; from < tile.down.size; from += ROWS) {
    const int y = tile.down.at + from, n = min (tile.down.size - from, ROWS);

    load_grey (pass, tile, y, n, &memory);
    __syncthreads ();
    find_signs<K> (k, n, &memory);
    __syncthreads ();
    count_rows<ALL> (pass, memory, lane, margin - y,
        min (n, pass.shape.height - margin - y), flat);
  }
  count_flat<ALL> (pass, memory.bin_of_code, lane, flat);
  __syncthreads ();
  give_blocks<Count, ALL> (pass, counts,
      tile.down.block * pass.shape.columns + tile.across.block,
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
  const CuvLdpParams &params = pass.shape.params;

  const bool all = params.bins == CUV_LDP_BINS_256
      && pass.shape.n_histograms == CUV_LDP_DIRECTIONS;

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
