// SPDX-License-Identifier: LGPL-2.1-or-later
// Projection of integer samples of few bands in tensor cores: products of
// samples' bytes with digits of fixed-point gains.
#ifndef CUV_PCA_BRUSH_CUH
#define CUV_PCA_BRUSH_CUH

#include "pca/pca-fixed.cuh"
#include "pca/pca-steps.cuh"

// Gains are split into digits to base 256, from -128 to 127, usually six. Bytes
// with small gains need four; very large gains have fewer fraction bits.
enum Precision { FOUR_DIGITS, SIX_DIGITS, COARSE };

#define PAIRS 3      // of digits
#define GAIN_BITS 46 // of gain times sample bytes
// Gains of 16-bit samples are smaller and have fewer bits, most of them in the
// fraction.
#define FRACTION_BITS(size) ((size) == 1 ? 32 : 48)
// Bounds of gains (2^6) and offsets for four digits.
#define SMALL_BITS 6
#define SMALL_OFFSET 65536.0

// Fixed-point gains by slot, one copy per block: it is too costly for each
// thread to read and convert them. The last channel is nonzero in valid pixels.
struct alignas (16) Gains {
  int64_t gain[CUV_PCA_SHOWN + 1][32], offset[CUV_PCA_SHOWN + 1];
  int fraction[CUV_PCA_SHOWN + 1];
  int room[CUV_PCA_SHOWN]; // fraction bits of four digits
};

// A thread's part of loading Gains: warp c loads channel c.
struct GainReader {
  const CuvPcaGains *state;
  const double *gain_at, *mean_at; // null: no such band
  int c, slot;
  double gain, mean, offset;

  __device__ __forceinline__
  GainReader (const CuvPcaPass &pass)
      : state (&pass.state->gains), gain_at (nullptr), mean_at (nullptr),
        c (cuv_warp_of_thread ()), slot (threadIdx.x % 32)
  {
    const int band = pass.band_of_slot[slot];

    if (c < CUV_PCA_SHOWN && band >= 0 && band < pass.bands.n) {
      gain_at = &state->gain[c][band];
      mean_at = &pass.state->basis.mean[band];
    }
  }

  __device__ __forceinline__ void
  load ()
  {
    gain = gain_at != nullptr                       ? *gain_at
        : c == CUV_PCA_SHOWN && slot == CUV_PCA_FEW ? 255.0
                                                    : 0.0;
    mean = mean_at != nullptr ? *mean_at : 0.0;
    offset = c < CUV_PCA_SHOWN ? state->offset[c] + state->bias : 0.0;
  }

  // Called by whole warps. The offset compensates the rounding of gains at the
  // mean, so that pixels near the mean are exact.
  template <CuvCubeFormat F>
  __device__ __forceinline__ void
  store (Gains *to) const
  {
    const int bits = // the last channel is of one byte
        c < CUV_PCA_SHOWN ? GAIN_BITS - 8 * (Few<F>::size - 1) : GAIN_BITS;
    const float largest =
        __uint_as_float (cuv_warp_max (__float_as_uint (fabsf ((float) gain))));
    const int fraction =
        cuv_pca_fraction (largest, bits, FRACTION_BITS (Few<F>::size));
    const double scaled =
        cuv_pca_scaled (gain, fraction, (double) (1LL << bits));
    const int64_t fixed = llrint (scaled);
    const double missing = cuv_warp_sum ((scaled - (double) fixed) * mean);

    if (c > CUV_PCA_SHOWN)
      return;
    to->gain[c][slot] = fixed;
    if (slot != 0)
      return;
    to->offset[c] = cuv_pca_fixed_offset (offset, fraction, missing);
    to->fraction[c] = fraction;
    if (c < CUV_PCA_SHOWN)
      to->room[c] =
          fabs (offset) < SMALL_OFFSET ? cuv_pca_fraction (largest, 30) : 0;
  }
};

// A lane's operands for painting its channel.
template <CuvCubeFormat F> struct Painter {
  unsigned digits[Few<F>::size][PAIRS][2];
  CuvPcaFixedChannel shading;
  int offset[PAIRS];
  unsigned selectors[2]; // see cuv_pca_transpose_bytes()
  Precision kind;        // the same for all lanes
  int room;              // fraction bits of four digits
  int finer;             // fraction bits beyond 32

  // Lane 4 r + q holds two digits of channel r / 2 for slots from 8 q on; its
  // own channel is q. Called by whole warps.
  __device__ __forceinline__ void
  load (const Gains &gains)
  {
    const int q = threadIdx.x % 4, r = threadIdx.x % 32 / 4;
    const int64_t *of_slots = &gains.gain[r / 2][8 * q];

    room = 30;
#pragma unroll
    for (int c = 0; c < CUV_PCA_SHOWN; c++)
      room = min (room, gains.room[c]);
    finer = max (gains.fraction[q] - 32, 0);
    shading = cuv_pca_shading (gains.offset[q], min (gains.fraction[q], 32));
    kind = __any_sync (~0u, shading.shift != 0)        ? COARSE
        : Few<F>::size == 1 && room >= 30 - SMALL_BITS ? FOUR_DIGITS
                                                       : SIX_DIGITS;
    if (kind == FOUR_DIGITS) {
      const int64_t half = 1LL << (31 - room);

      set_digits (r % 2, [&] (int i) {
        return r / 2 < CUV_PCA_SHOWN ? (of_slots[i] + half) >> (32 - room)
            : of_slots[i] > 0        ? 1LL << 30
                                     : 0;
      });
      shading.offset = (shading.offset + half) >> (32 - room);
      offset[1] = (int) (shading.offset >> 16);
    } else {
      set_digits (r % 2, [&] (int i) { return of_slots[i]; });
      offset[1] = (int) (shading.offset >> 16 & 0xffff);
      offset[2] = (int) (shading.offset >> 32);
    }
    offset[0] = (int) (shading.offset & 0xffff);
    selectors[0] = q & 2 ? 0x3276 : 0x5410;
    selectors[1] = q & 1 ? 0x3715 : 0x6240;
  }

  // Packs digits of eight slots: of each pair of digits the odd or the even
  // ones.
  template <typename OfSlot>
  __device__ __forceinline__ void
  set_digits (int odd, OfSlot of_slot)
  {
    const int64_t carries = 0x808080808080; // bias for signed digits

#pragma unroll
    for (int w = 0; w < Few<F>::size * 2; w++) {
      unsigned low[4], high[4];

#pragma unroll
      for (int b = 0; b < 4; b++) {
        const int64_t gain =
            of_slot (w % 2 * 4 + b) * (w / 2 == 1 ? 256 : 1) + carries;

        low[b] = (unsigned) gain;
        high[b] = (unsigned) (gain >> 32);
      }
#pragma unroll
      for (int pair = 0; pair < PAIRS; pair++) {
        const unsigned *words = pair < 2 ? low : high;
        const unsigned two = 0x40u + 0x11u * (pair % 2 * 2 + odd);

        digits[w / 2][pair][w % 2] =
            __byte_perm (__byte_perm (words[0], words[1], two),
                __byte_perm (words[2], words[3], two), 0x5410)
            ^ 0x80808080u;
      }
    }
  }

  // A channel, before clamping to a byte, from the sums of its digits.
  template <Precision KIND>
  __device__ __forceinline__ int
  shade (const int (*sums)[4], int odd) const
  {
    int pairs[PAIRS];

#pragma unroll
    for (int i = 0; i < PAIRS; i++)
      pairs[i] = offset[i] + sums[i][2 * odd] + sums[i][2 * odd + 1] * 256;
    if (KIND == COARSE)
      return shading.shade (
          (pairs[0] + pairs[1] * 65536LL + pairs[2] * (1LL << 32)) >> finer);
    if (KIND == FOUR_DIGITS)
      return (pairs[1] + (pairs[0] >> 16)) >> (room - 16);
    return (pairs[2] + ((pairs[1] + (pairs[0] >> 16)) >> 16)) >> finer;
  }
};

// The four channels of 32 pixels; a lane returns those of pixel_of_lane().
template <Precision KIND, CuvCubeFormat F>
static __device__ __forceinline__ unsigned
channels (const typename Few<F>::Bytes &by_pixels, const Painter<F> &brush)
{
  constexpr int pairs = KIND == FOUR_DIGITS ? 2 : PAIRS;
  int values[4]; // of one channel

#pragma unroll
  for (int set = 0; set < 2; set++) {
    int sums[PAIRS][4] = {};

#pragma unroll
    for (int i = 0; i < Few<F>::size * pairs; i++) {
      const int plane = i / pairs, pair = i % pairs;
      const unsigned *words = &by_pixels.words[plane][4 * set];
      const unsigned a[4] = { words[0], words[2], words[1], words[3] };

      cuv_pca_mma (sums[pair], a, brush.digits[plane][pair]);
    }
#pragma unroll
    for (int odd = 0; odd < 2; odd++)
      values[2 * set + odd] = brush.template shade<KIND> (sums, odd);
  }
  return cuv_pca_transpose_bytes (cuv_pca_pack_bytes (values), brush.selectors);
}

template <CuvCubeFormat F>
static __device__ __forceinline__ unsigned
paint (const typename Few<F>::Bytes &by_pixels, const Painter<F> &brush)
{
  if constexpr (Few<F>::size == 1) {
    if (brush.kind == FOUR_DIGITS)
      return channels<FOUR_DIGITS> (by_pixels, brush);
  }
  return brush.kind == SIX_DIGITS ? channels<SIX_DIGITS> (by_pixels, brush)
                                  : channels<COARSE> (by_pixels, brush);
}

#endif
