// SPDX-License-Identifier: LGPL-2.1-or-later
// Arithmetic on the four bytes of a word; the lowest byte is the first.
#ifndef CUV_CHANNELS_BYTES_CUH
#define CUV_CHANNELS_BYTES_CUH

#include "cuv-cuda.cuh"

// Returns in each byte a where the mask is 255, b where it is 0.
static __device__ __forceinline__ unsigned
cuv_bytes_select (unsigned mask, unsigned a, unsigned b)
{
  return (a & mask) | (b & ~mask);
}

// Return floor ((a + b) / 2) and floor ((a + b + 1) / 2).
static __device__ __forceinline__ unsigned
cuv_bytes_mean_down (unsigned a, unsigned b)
{
  return (a & b) + (((a ^ b) >> 1) & 0x7f7f7f7fu);
}

static __device__ __forceinline__ unsigned
cuv_bytes_mean_up (unsigned a, unsigned b)
{
  return (a | b) - (((a ^ b) >> 1) & 0x7f7f7f7fu);
}

static __device__ __forceinline__ unsigned
cuv_bytes_difference (unsigned a, unsigned b)
{
  return __vabsdiffu4 (a, b);
}

// Returns in bit 7 of each byte whether a < b. The other bits are undefined.
static __device__ __forceinline__ unsigned
cuv_bytes_below (unsigned a, unsigned b)
{
  const unsigned difference = (a | 0x80808080u) - (b & 0x7f7f7f7fu);

  return (~a & b) | (~(a ^ b) & ~difference);
}

// Returns 255 in bytes whose bit 7 is set, otherwise 0.
static __device__ __forceinline__ unsigned
cuv_bytes_of_bit_7 (unsigned a)
{
#ifdef __CUDA_ARCH__
  unsigned result; // __byte_perm() cannot replicate signs

  asm("prmt.b32 %0, %1, %1, 0xba98;" : "=r"(result) : "r"(a));
  return result;
#else
  return (a >> 7 & 0x01010101u) * 255;
#endif
}

// Returns in bytes 0 and 1: 255 if a, or b, is negative, otherwise 0.
static __device__ __forceinline__ unsigned
cuv_bytes_of_two_signs (int a, int b)
{
#ifdef __CUDA_ARCH__
  unsigned result;

  asm("prmt.b32 %0, %1, %2, 0x00fb;" : "=r"(result) : "r"(a), "r"(b));
  return result;
#else
  return (a < 0 ? 255u : 0) | (b < 0 ? 255u << 8 : 0);
#endif
}

// Returns 255 in the bytes whose number is negative, otherwise 0.
static __device__ __forceinline__ unsigned
cuv_bytes_of_signs (const int number[4])
{
  return __byte_perm (cuv_bytes_of_two_signs (number[0], number[1]),
      cuv_bytes_of_two_signs (number[2], number[3]), 0x5410);
}

// Returns sum plus the products of the unsigned bytes of a with the signed
// bytes of b.
static __device__ __forceinline__ int
cuv_bytes_dot (unsigned a, unsigned b, int sum)
{
#ifdef __CUDA_ARCH__
  int result;

  asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(sum));
  return result;
#else
  for (int i = 0; i < 32; i += 8)
    sum += (int) (a >> i & 255) * (int8_t) (b >> i & 255);
  return sum;
#endif
}

#endif
