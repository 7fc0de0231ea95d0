// SPDX-License-Identifier: LGPL-2.1-or-later
// Codes of four pixels, a byte each in a word, from the signs of derivatives.
#ifndef CUV_LDP_CODES_CUH
#define CUV_LDP_CODES_CUH

#include "ldp/ldp-signs.cuh"

// Signs of a lane's four pixels, and of the ones to the left and the right.
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

// Bits of b where the mask is set, else of a. The compiler would make two
// instructions of it, with a mask each.
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

// Which of two neighbours are not alike: bits d of the one, d + 4 of the other.
static __device__ __forceinline__ unsigned
unlike (const Signs &here, const Signs &low, const Signs &high)
{
  return ~((here.above & select (low.above, high.above, 0xf0f0f0f0u))
      | (here.below & select (low.below, high.below, 0xf0f0f0f0u)));
}

// Swaps what a has of the mask, n bits up, with what b has below.
static __device__ __forceinline__ void
swap (unsigned *a, unsigned *b, int n, unsigned mask)
{
  const unsigned lower = select (*a, *b << n, mask);

  *b = select (*a >> n, *b, mask);
  *a = lower;
}

// Codes of all directions, of the row between two others. Of neighbours bits i
// and i + 4 of the codes tell, which are opposite ones: of each two all
// directions are found at once, and their bits turned to codes.
static __device__ __forceinline__ void
find_codes (const Row &above, const Row &at, const Row &below,
    unsigned codes[CUV_LDP_DIRECTIONS])
{
  codes[0] = unlike (at.here, at.left, at.right);
  codes[1] = unlike (at.here, below.left, above.right);
  codes[2] = unlike (at.here, below.here, above.here);
  codes[3] = unlike (at.here, below.right, above.left);
  swap (&codes[0], &codes[2], 2, 0xccccccccu);
  swap (&codes[1], &codes[3], 2, 0xccccccccu);
  swap (&codes[0], &codes[1], 1, 0xaaaaaaaau);
  swap (&codes[2], &codes[3], 1, 0xaaaaaaaau);
}

#endif
