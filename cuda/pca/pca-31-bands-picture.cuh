// SPDX-License-Identifier: LGPL-2.1-or-later
// Pictures of integer cubes of up to 31 bands: tensor cores multiply bytes of
// the samples by digits of fixed-point gains.
#ifndef CUV_PCA_31_BANDS_PICTURE_CUH
#define CUV_PCA_31_BANDS_PICTURE_CUH

#include "pca/pca-fixed-point.cuh"
#include "pca/pca-31-bands-load.cuh"

// Gains are split into digits to base 256, from -128 to 127, in pairs:
//
//   precision    pairs  fraction bits        when
//   FOUR_DIGITS  0, 1   24 to 30             8-bit samples, gains up to 2^6
//   SIX_DIGITS   0 - 2  32 and more          all other gains
//   COARSE       0 - 2  less than 32         gains so large that the integer
//                                              part needs the bits
//
// A channel is offset + pair 0 + 2^16 pair 1 + 2^32 pair 2, where a pair is the
// sum of its low digits' products plus 256 times that of its high digits'. 64
// products of 255 and 128 add up to less than 2^21, so that pairs fit in 32
// bits.
enum CuvPcaPrecision {
  CUV_PCA_FOUR_DIGITS,
  CUV_PCA_SIX_DIGITS,
  CUV_PCA_COARSE
};

#define CUV_PCA_DIGIT_PAIRS 3   // pairs of digits of a gain
#define CUV_PCA_31_GAIN_BITS 46 // bits of a gain of 8-bit samples
// Gains of 16-bit samples are smaller, so that most of their bits are fraction
// bits.
#define CUV_PCA_31_FRACTION_BITS(size) ((size) == 1 ? 32 : 48)
// Bounds of gains (2^CUV_PCA_31_SMALL_BITS) and of offsets for four digits.
#define CUV_PCA_31_SMALL_BITS 6
#define CUV_PCA_31_SMALL_OFFSET 65536.0

// Fixed-point gains in shared memory, by channel and slot (see
// CuvPcaPass.band_of_slot), converted once per block. The last channel is the
// fourth byte of a pixel: 255 times the slot of counts, which is 1 in valid
// pixels.
struct alignas (16) CuvPcaDigitGains {
  int64_t gain[CUV_PCA_SHOWN + 1][32], offset[CUV_PCA_SHOWN + 1];
  int fraction[CUV_PCA_SHOWN + 1];
  int four_fraction[CUV_PCA_SHOWN]; // fraction bits with four digits
};

// A thread's part of loading CuvPcaDigitGains: warp c loads channel c.
struct CuvPcaGainReader {
  const CuvPcaGains *state;
  const double *gain_at, *mean_at; // null: no such band
  int c, slot;                     // channel
  double gain, mean, offset;

  __device__ __forceinline__
  CuvPcaGainReader (const CuvPcaPass &pass)
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
    gain = gain_at != nullptr                               ? *gain_at
        : c == CUV_PCA_SHOWN && slot == CUV_PCA_COUNTS_SLOT ? 255.0
                                                            : 0.0;
    mean = mean_at != nullptr ? *mean_at : 0.0;
    offset = c < CUV_PCA_SHOWN ? state->offset[c] + state->bias : 0.0;
  }

  // Called by whole warps. The offset compensates for the rounding of gains at
  // the mean, so that pixels near the mean are exact.
  template <CuvCubeFormat F>
  __device__ __forceinline__ void
  store (CuvPcaDigitGains *to) const
  {
    const int bits = // the last channel is of one byte
        c < CUV_PCA_SHOWN
        ? CUV_PCA_31_GAIN_BITS - 8 * (CuvPcaStepFormat<F>::size - 1)
        : CUV_PCA_31_GAIN_BITS;
    const float largest =
        __uint_as_float (cuv_warp_max (__float_as_uint (fabsf ((float) gain))));
    const int fraction = cuv_pca_fraction (
        largest, bits, CUV_PCA_31_FRACTION_BITS (CuvPcaStepFormat<F>::size));
    const double scaled =
        cuv_pca_scaled (gain, fraction, (double) (1LL << bits));
    const int64_t fixed = llrint (scaled);
    const double error = cuv_warp_sum ((scaled - (double) fixed) * mean);

    if (c > CUV_PCA_SHOWN)
      return;
    to->gain[c][slot] = fixed;
    if (slot != 0)
      return;
    to->offset[c] = cuv_pca_fixed_offset (offset, fraction, error);
    to->fraction[c] = fraction;
    if (c < CUV_PCA_SHOWN)
      to->four_fraction[c] = fabs (offset) < CUV_PCA_31_SMALL_OFFSET
          ? cuv_pca_fraction (largest, 30)
          : 0;
  }
};

// A lane's operands of the projection, and how it turns sums into a channel.
template <CuvCubeFormat F> struct CuvPcaPainter {
  unsigned digits[CuvPcaStepFormat<F>::size][CUV_PCA_DIGIT_PAIRS][2];
  CuvPcaFixedChannel fixed;
  int offset[CUV_PCA_DIGIT_PAIRS];
  unsigned selectors[2];     // see cuv_pca_transpose_bytes()
  CuvPcaPrecision precision; // the same for all lanes
  int four_fraction;         // fraction bits with four digits
  int extra_fraction;        // fraction bits beyond 32

  // Column r of the right factor has channel r / 2, the low digits of each pair
  // if r is even, otherwise the high ones; lane 4 r + q holds those of slots 8
  // q .. 8 q + 7. The channel that the lane itself returns is q. Called by
  // whole warps.
  __device__ __forceinline__ void
  load (const CuvPcaDigitGains &gains)
  {
    const int q = threadIdx.x % 4, r = threadIdx.x % 32 / 4;
    const int64_t *of_slots = &gains.gain[r / 2][8 * q];

    four_fraction = 30;
#pragma unroll
    for (int c = 0; c < CUV_PCA_SHOWN; c++)
      four_fraction = min (four_fraction, gains.four_fraction[c]);
    extra_fraction = max (gains.fraction[q] - 32, 0);
    fixed =
        cuv_pca_fixed_channel (gains.offset[q], min (gains.fraction[q], 32));
    precision = __any_sync (~0u, fixed.shift != 0) ? CUV_PCA_COARSE
        : CuvPcaStepFormat<F>::size == 1
            && four_fraction >= 30 - CUV_PCA_31_SMALL_BITS
        ? CUV_PCA_FOUR_DIGITS
        : CUV_PCA_SIX_DIGITS;
    if (precision == CUV_PCA_FOUR_DIGITS) {
      const int64_t half = 1LL << (31 - four_fraction);

      set_digits (r % 2, [&] (int i) {
        // the last channel may have any number that saturates to 255
        return r / 2 < CUV_PCA_SHOWN
            ? (of_slots[i] + half) >> (32 - four_fraction)
            : of_slots[i] > 0 ? 1LL << 30
                              : 0;
      });
      fixed.offset = (fixed.offset + half) >> (32 - four_fraction);
      offset[1] = (int) (fixed.offset >> 16);
    } else {
      set_digits (r % 2, [&] (int i) { return of_slots[i]; });
      offset[1] = (int) (fixed.offset >> 16 & 0xffff);
      offset[2] = (int) (fixed.offset >> 32);
    }
    offset[0] = (int) (fixed.offset & 0xffff);
    selectors[0] = q & 2 ? 0x3276 : 0x5410;
    selectors[1] = q & 1 ? 0x3715 : 0x6240;
  }

  // Packs digits of eight slots, the odd or the even one of each pair. of_slot
  // (i): gain of the i-th slot. The plane of the high bytes of 16-bit samples
  // has 256 times the gains.
  template <typename OfSlot>
  __device__ __forceinline__ void
  set_digits (int odd, OfSlot of_slot)
  {
    // added to each byte, with its top bit flipped afterwards: turns bytes from
    // 0 to 255 into digits from -128 to 127 and carries
    const int64_t carries = 0x808080808080;

#pragma unroll
    for (int w = 0; w < CuvPcaStepFormat<F>::size * 2; w++) {
      unsigned low[4], high[4];

#pragma unroll
      for (int b = 0; b < 4; b++) {
        const int64_t gain =
            of_slot (w % 2 * 4 + b) * (w / 2 == 1 ? 256 : 1) + carries;

        low[b] = (unsigned) gain;
        high[b] = (unsigned) (gain >> 32);
      }
#pragma unroll
      for (int pair = 0; pair < CUV_PCA_DIGIT_PAIRS; pair++) {
        const unsigned *words = pair < 2 ? low : high;
        // selects the same byte of two words
        const unsigned two = 0x40u + 0x11u * (pair % 2 * 2 + odd);

        digits[w / 2][pair][w % 2] =
            __byte_perm (__byte_perm (words[0], words[1], two),
                __byte_perm (words[2], words[3], two), 0x5410)
            ^ 0x80808080u;
      }
    }
  }

  // Computes a channel, before clamping to a byte, from the sums of its digits.
  template <CuvPcaPrecision PRECISION>
  __device__ __forceinline__ int
  channel (const int (*sums)[4], int odd) const
  {
    int pairs[CUV_PCA_DIGIT_PAIRS];

#pragma unroll
    for (int i = 0; i < CUV_PCA_DIGIT_PAIRS; i++)
      pairs[i] = offset[i] + sums[i][2 * odd] + sums[i][2 * odd + 1] * 256;
    if (PRECISION == CUV_PCA_COARSE)
      return fixed.value (
          (pairs[0] + pairs[1] * 65536LL + pairs[2] * (1LL << 32))
          >> extra_fraction);
    if (PRECISION == CUV_PCA_FOUR_DIGITS)
      return (pairs[1] + (pairs[0] >> 16)) >> (four_fraction - 16);
    return (pairs[2] + ((pairs[1] + (pairs[0] >> 16)) >> 16)) >> extra_fraction;
  }
};

// Projects 32 pixels. A lane returns the four channels, a byte each, of pixel
// pixel_of_lane() (pca-31-bands-load.cuh).
template <CuvPcaPrecision PRECISION, CuvCubeFormat F>
static __device__ __forceinline__ unsigned
channels (const typename CuvPcaStepFormat<F>::Bytes &by_pixels,
    const CuvPcaPainter<F> &painter)
{
  constexpr int pairs =
      PRECISION == CUV_PCA_FOUR_DIGITS ? 2 : CUV_PCA_DIGIT_PAIRS;
  int values[4]; // of one channel

#pragma unroll
  for (int set = 0; set < 2; set++) {
    int sums[CUV_PCA_DIGIT_PAIRS][4] = {};

#pragma unroll
    for (int i = 0; i < CuvPcaStepFormat<F>::size * pairs; i++) {
      const int plane = i / pairs, pair = i % pairs;
      const unsigned *words = &by_pixels.words[plane][4 * set];
      // rows: eight even pixels, then eight odd ones (pca-byte-matrix.cuh)
      const unsigned a[4] = { words[0], words[2], words[1], words[3] };

      cuv_pca_mma (sums[pair], a, painter.digits[plane][pair]);
    }
#pragma unroll
    for (int odd = 0; odd < 2; odd++)
      values[2 * set + odd] = painter.template channel<PRECISION> (sums, odd);
  }
  return cuv_pca_transpose_bytes (
      cuv_pca_pack_bytes (values), painter.selectors);
}

template <CuvCubeFormat F>
static __device__ __forceinline__ unsigned
cuv_pca_31_bands_paint (const typename CuvPcaStepFormat<F>::Bytes &by_pixels,
    const CuvPcaPainter<F> &painter)
{
  if constexpr (CuvPcaStepFormat<F>::size == 1) {
    if (painter.precision == CUV_PCA_FOUR_DIGITS)
      return channels<CUV_PCA_FOUR_DIGITS> (by_pixels, painter);
  }
  return painter.precision == CUV_PCA_SIX_DIGITS
      ? channels<CUV_PCA_SIX_DIGITS> (by_pixels, painter)
      : channels<CUV_PCA_COARSE> (by_pixels, painter);
}

#endif
