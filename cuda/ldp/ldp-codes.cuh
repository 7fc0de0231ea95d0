// SPDX-License-Identifier: LGPL-2.1-or-later
// Codes of four pixels, one byte each, from the signs of derivatives.
#ifndef CUV_LDP_CODES_CUH
#define CUV_LDP_CODES_CUH

#include "ldp/ldp-signs.cuh"

// Signs of a lane's four pixels and of their left and right neighbours.
struct Row {
  Signs left, here, right;

  __device__ __forceinline__ void
  load (const Signs *words)
  {
    const Signs before = words[0], after = words[2];

    here = words[1];
    left.above = __byte_perm (before.above, here.above, 0x6543);
    left.below = __byte_perm (before.below, here.below, 0x6543);
    right.above = __byte_perm (here.above, after.above, 0x4321);
    right.below = __byte_perm (here.below, after.below, 0x4321);
  }
};

// Bits of b where the mask is set, else of a. One instruction: the compiler
// makes two of the C expression.
static __device__ __forceinline__ unsigned
select (unsigned a, unsigned b, unsigned mask)
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

// Bits d: the neighbour `low` differs in direction d; bits d + 4: `high`.
static __device__ __forceinline__ unsigned
unlike (const Signs &here, const Signs &low, const Signs &high)
{
  return ~((here.above & select (low.above, high.above, 0xf0f0f0f0u))
      | (here.below & select (low.below, high.below, 0xf0f0f0f0u)));
}

// A step of a bit transpose: swaps a's bits under the mask with b's bits n
// places lower.
static __device__ __forceinline__ void
swap_bits (unsigned *a, unsigned *b, int n, unsigned mask)
{
  const unsigned lower = select (*a, *b << n, mask);

  *b = select (*a >> n, *b, mask);
  *a = lower;
}

// Codes of the middle row in all directions. Bits i and i + 4 of a code belong
// to opposite neighbours: each pair is compared in all directions at once,
// giving words by neighbour with bits by direction, which are then transposed.
static __device__ __forceinline__ void
find_codes (const Row &above, const Row &at, const Row &below,
    unsigned codes[CUV_LDP_DIRECTIONS])
{
  codes[0] = unlike (at.here, at.left, at.right);
  codes[1] = unlike (at.here, below.left, above.right);
  codes[2] = unlike (at.here, below.here, above.here);
  codes[3] = unlike (at.here, below.right, above.left);
  swap_bits (&codes[0], &codes[2], 2, 0xccccccccu);
  swap_bits (&codes[1], &codes[3], 2, 0xccccccccu);
  swap_bits (&codes[0], &codes[1], 1, 0xaaaaaaaau);
  swap_bits (&codes[2], &codes[3], 1, 0xaaaaaaaau);
}

#endif
