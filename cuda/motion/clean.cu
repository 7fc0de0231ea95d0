// SPDX-License-Identifier: LGPL-2.1-or-later
#include "motion/clean.cuh"

#define CUV_SPREAD_THREADS 128

// A mask as words of 32 bits, or its complement: outside the frame bits are 0
// in either.
struct Words {
  const uint32_t *words;
  int width, height, stride;
  bool inverted;
};

static __device__ __forceinline__ uint32_t
valid_bits (const Words &mask, int i)
{
  const int n = mask.width - i * 32;

  return n >= 32 ? ~0u : n <= 0 ? 0 : ~(~0u << n);
}

static __device__ __forceinline__ uint32_t
word_at (const Words &mask, int i, int y)
{
  if (i < 0 || i >= mask.stride)
    return 0;
  const uint32_t word = mask.words[(size_t) y * mask.stride + i];

  return mask.inverted ? ~word & valid_bits (mask, i) : word;
}

// Sets each bit if any bit of the square around it is set; in the complement if
// the mask is inverted. One thread per word.
static __global__ void
__launch_bounds__ (CUV_SPREAD_THREADS)
    spread_kernel (const __grid_constant__ Words mask, int r, uint32_t *out)
{
  const int at = blockIdx.x * CUV_SPREAD_THREADS + threadIdx.x;
  const int i = at % mask.stride, y = at / mask.stride;
  uint32_t before = 0, here = 0, after = 0;

  if (y >= mask.height)
    return;
  for (int row = max (y - r, 0); row <= min (y + r, mask.height - 1); row++) {
    before |= word_at (mask, i - 1, row);
    here |= word_at (mask, i, row);
    after |= word_at (mask, i + 1, row);
  }
  uint32_t bits = here;
  for (int d = 1; d <= r; d++)
    bits |= here << d | before >> (32 - d) | here >> d | after << (32 - d);
  out[at] = (mask.inverted ? ~bits : bits) & valid_bits (mask, i);
}

static int
spread_mask (const CuvMotionBits *from, const CuvMotionBits *to, int side,
    bool inverted, cudaStream_t stream)
{
  const Words mask = { (const uint32_t *) from->words, from->width,
    from->height, from->stride * 2, inverted };
  const int n = mask.stride * mask.height;

  spread_kernel<<<cuv_div_up (n, CUV_SPREAD_THREADS), CUV_SPREAD_THREADS, 0,
      stream>>> (mask, side / 2, (uint32_t *) to->words);
  CUV_CUDA_LAUNCHED (spread_kernel);
  return 0;
}

int
cuv_motion_clean (const CuvMotionBits *mask, const CuvMotionBits *scratch,
    int opening, int closing, cudaStream_t stream)
{
  if (opening > 1
      && (spread_mask (mask, scratch, opening, true, stream) != 0
          || spread_mask (scratch, mask, opening, false, stream) != 0))
    return -1;
  if (closing > 1
      && (spread_mask (mask, scratch, closing, false, stream) != 0
          || spread_mask (scratch, mask, closing, true, stream) != 0))
    return -1;
  return 0;
}
