// SPDX-License-Identifier: LGPL-2.1-or-later
// Bytes of 32 pixels x 32 bands in a warp's registers, as operands of matrix
// products: over bands ("by pixels") or over pixels ("by bands"). 16-bit
// samples have two planes, low and high bytes.
//
// Lane 4 r + q has eight words for two sets of 16 pixels.
// By pixels: word 4 set + 2 odd + w holds bands 8 q + 4 w + {0 .. 3} of pixel r
// of the set's even or odd pixels.
// By bands: word 4 set + 2 w + s holds band 8 (r / 2) + 4 w + 2 (r % 2) + s of
// four pixels of the set: even pixels 2 q and 2 q + 1, then the odd ones.
#ifndef CUV_PCA_BYTE_MATRIX_CUH
#define CUV_PCA_BYTE_MATRIX_CUH

#include "pca/pca-mma.cuh"

template <int PLANES> struct CuvPcaBytes {
  unsigned words[PLANES][8];

  // Clears the bits that are not in mask.
  __device__ __forceinline__ void
  keep (int word, unsigned mask)
  {
#pragma unroll
    for (int p = 0; p < PLANES; p++)
      words[p][word] &= mask;
  }

  // Returns a mask of the samples that equal value: 255 in their bytes.
  __device__ __forceinline__ unsigned
  equal (int word, unsigned value) const
  {
    unsigned equal = ~0u;

#pragma unroll
    for (int p = 0; p < PLANES; p++)
      equal &= __vcmpeq4 (words[p][word], (value >> 8 * p & 255) * 0x01010101u);
    return equal;
  }
};

// By bands, the four lanes 4 row + {0 .. 3} hold one band of each of four
// groups. Returns the band of row 0 .. 7 of group 2 w + s.
static __device__ __forceinline__ int
cuv_pca_band_of_row (int group, int row)
{
  return row / 2 * 8 + group / 2 * 4 + row % 2 * 2 + group % 2;
}

// Convert from one layout to the other.
template <int PLANES>
static __device__ __forceinline__ CuvPcaBytes<PLANES>
cuv_pca_by_bands (const CuvPcaBytes<PLANES> &by_pixels)
{
  CuvPcaBytes<PLANES> to;

#pragma unroll
  for (int i = 0; i < PLANES * 4; i++) {
    const unsigned *from = &by_pixels.words[i / 4][i % 4 / 2 * 4 + i % 2];
    unsigned *two = &to.words[i / 4][i % 4 / 2 * 4 + i % 2 * 2];
    const unsigned even = cuv_pca_transpose (from[0]);
    const unsigned odd = cuv_pca_transpose (from[2]);

    two[0] = __byte_perm (even, odd, 0x6420);
    two[1] = __byte_perm (even, odd, 0x7531);
  }
  return to;
}

template <int PLANES>
static __device__ __forceinline__ CuvPcaBytes<PLANES>
cuv_pca_by_pixels (const CuvPcaBytes<PLANES> &by_bands)
{
  CuvPcaBytes<PLANES> to;

#pragma unroll
  for (int i = 0; i < PLANES * 4; i++) {
    const unsigned *two = &by_bands.words[i / 4][i % 4 / 2 * 4 + i % 2 * 2];
    unsigned *four = &to.words[i / 4][i % 4 / 2 * 4 + i % 2];

    four[0] = cuv_pca_transpose (__byte_perm (two[0], two[1], 0x5140));
    four[2] = cuv_pca_transpose (__byte_perm (two[0], two[1], 0x7362));
  }
  return to;
}

// Saturates four values to bytes and packs them.
static __device__ __forceinline__ unsigned
cuv_pca_pack_bytes (const int values[4])
{
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 720
  unsigned high, word;

  asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, 0;"
      : "=r"(high)
      : "r"(values[3]), "r"(values[2]));
  asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;"
      : "=r"(word)
      : "r"(values[1]), "r"(values[0]), "r"(high));
  return word;
#else
  unsigned word = 0;

  for (int i = 0; i < 4; i++)
    word |= (unsigned) min (max (values[i], 0), 255) << 8 * i;
  return word;
#endif
}

// Transposes bytes over four lanes: lane q gets byte q of each lane's word.
// Selectors are 0x5410, or 0x3276 if q & 2, and 0x6240, or 0x3715 if q & 1.
static __device__ __forceinline__ unsigned
cuv_pca_transpose_bytes (unsigned word, const unsigned selectors[2])
{
  word = __byte_perm (word, __shfl_xor_sync (~0u, word, 2), selectors[0]);
  return __byte_perm (word, __shfl_xor_sync (~0u, word, 1), selectors[1]);
}

#endif
