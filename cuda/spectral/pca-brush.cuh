// SPDX-License-Identifier: LGPL-2.1-or-later
// Pictures of integers of few bands: products of samples' bytes with the digits
// of gains.
#ifndef CUV_PCA_BRUSH_CUH
#define CUV_PCA_BRUSH_CUH

#include "spectral/pca-fixed.cuh"
#include "spectral/pca-steps.cuh"

#define DIGITS 6     // of gains, to base 256, from -128 to 127
#define GAIN_BITS 46 // of gains times samples' bytes

// Gains of channel r / 2, of slots 8 q on. The last channel is 255 in pixels
// that count.
static __device__ __forceinline__ void
read_gains (const CuvPcaPass &pass, double of_slots[8])
{
  const int q = threadIdx.x % 4, c = threadIdx.x % 32 / 8;

#pragma unroll
  for (int i = 0; i < 8; i++) {
    const int band = pass.band_of_slot[8 * q + i];

    of_slots[i] = c == CUV_PCA_SHOWN       ? (8 * q + i == COUNTS ? 255.0 : 0.0)
        : band >= 0 && band < pass.bands.n ? pass.known->gains.gain[c][band]
                                           : 0.0;
  }
}

// What a lane needs to paint its channel.
template <CuvCubeFormat F> struct Brush {
  unsigned digits[Few<F>::size][DIGITS / 2][2];
  CuvPcaShading shading;
  int offset[DIGITS / 2];
  unsigned selectors[2]; // see cuv_pca_turn_bytes()
  bool coarse;           // some channel's gains are very large

  // Lane 4 r + q has, for two digits of channel r / 2, those of slots 8 q on;
  // and channel q is its own. By whole warps.
  __device__ __forceinline__ void
  load (const CuvPcaGains &gains, const double of_slots[8])
  {
    const int q = threadIdx.x % 4, r = threadIdx.x % 32 / 4;
    const int bits = // the last channel is of one byte
        r / 2 == CUV_PCA_SHOWN ? GAIN_BITS : GAIN_BITS - 8 * (Few<F>::size - 1);
    float largest = 0.0f;

#pragma unroll
    for (int i = 0; i < 8; i++)
      largest = fmaxf (largest, fabsf ((float) of_slots[i]));
    largest = fmaxf (largest, __shfl_xor_sync (~0u, largest, 1));
    largest = fmaxf (largest, __shfl_xor_sync (~0u, largest, 2));

    const int fraction = cuv_pca_fraction (largest, bits);

    set_digits (of_slots, fraction, (double) (1LL << bits), r % 2);
    shading = cuv_pca_shading (
        gains, min (q, 2), __shfl_sync (~0u, fraction, min (q, 2) * 8));
    if (q == CUV_PCA_SHOWN)
      shading = CuvPcaShading{ 0, 0, 256 };
    coarse = __any_sync (~0u, shading.shift != 0);
    selectors[0] = q & 2 ? 0x3276 : 0x5410;
    selectors[1] = q & 1 ? 0x3715 : 0x6240;
    offset[0] = (int) (shading.offset & 0xffff);
    offset[1] = (int) (shading.offset >> 16 & 0xffff);
    offset[2] = (int) (shading.offset >> 32);
  }

  // Digits of eight slots: of each pair of them the odd ones or the even.
  __device__ __forceinline__ void
  set_digits (const double of_slots[8], int fraction, double most, int odd)
  {
    const int64_t carries = 0x808080808080; // to what is below -128

#pragma unroll
    for (int w = 0; w < Few<F>::size * 2; w++) {
      unsigned low[4], high[4]; // words of gains

#pragma unroll
      for (int b = 0; b < 4; b++) {
        const int64_t gain =
            cuv_pca_fixed (of_slots[w % 2 * 4 + b], fraction, most)
                * (w / 2 == 1 ? 256 : 1)
            + carries;

        low[b] = (unsigned) gain;
        high[b] = (unsigned) (gain >> 32);
      }
#pragma unroll
      for (int pair = 0; pair < DIGITS / 2; pair++) {
        const unsigned *words = pair < 2 ? low : high;
        const unsigned two = 0x40u + 0x11u * (pair % 2 * 2 + odd);

        digits[w / 2][pair][w % 2] =
            __byte_perm (__byte_perm (words[0], words[1], two),
                __byte_perm (words[2], words[3], two), 0x5410)
            ^ 0x80808080u;
      }
    }
  }

  // A channel from sums of its digits, before it is cut to a byte.
  template <bool COARSE>
  __device__ __forceinline__ int
  shade (const int (*sums)[4], int odd) const
  {
    int pairs[DIGITS / 2];

#pragma unroll
    for (int i = 0; i < DIGITS / 2; i++)
      pairs[i] = offset[i] + sums[i][2 * odd] + sums[i][2 * odd + 1] * 256;
    if (COARSE)
      return shading.shade (
          pairs[0] + pairs[1] * 65536LL + pairs[2] * (1LL << 32));
    return pairs[2] + ((pairs[1] + (pairs[0] >> 16)) >> 16);
  }
};

// The four channels of 32 pixels; a lane's is that of pixel_of_lane().
template <bool COARSE, CuvCubeFormat F>
static __device__ __forceinline__ unsigned
channels (const typename Few<F>::Bytes &by_pixels, const Brush<F> &brush)
{
  int values[4]; // of a channel

#pragma unroll
  for (int set = 0; set < 2; set++) {
    int sums[DIGITS / 2][4] = {};

#pragma unroll
    for (int i = 0; i < Few<F>::size * DIGITS / 2; i++) {
      const int plane = i / (DIGITS / 2), pair = i % (DIGITS / 2);
      const unsigned *words = &by_pixels.words[plane][4 * set];
      const unsigned a[4] = { words[0], words[2], words[1], words[3] };

      cuv_pca_mma (sums[pair], a, brush.digits[plane][pair]);
    }
#pragma unroll
    for (int odd = 0; odd < 2; odd++)
      values[2 * set + odd] = brush.template shade<COARSE> (sums, odd);
  }
  return cuv_pca_turn_bytes (cuv_pca_pack_bytes (values), brush.selectors);
}

#endif
