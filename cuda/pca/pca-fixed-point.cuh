// SPDX-License-Identifier: LGPL-2.1-or-later
// Fixed-point gains for integer samples. Before rounding, a channel, 0 .. 255,
// is within 2^-12 of the result in double. Exceptions: within a few hundredths,
// if gains of 16-bit samples exceed 64 or one band's gain is much larger than
// the others, which share its exponent; some whole steps off at samples far
// from the mean, with gains around 10^7 (pictures that are black or white
// except for a few pixels).
#ifndef CUV_PCA_FIXED_POINT_CUH
#define CUV_PCA_FIXED_POINT_CUH

#include "pca/pca-state.cuh"

// Returns the number of fraction bits for gains up to largest in `bits` bits
// plus sign; at most max_bits.
static __device__ __forceinline__ int
cuv_pca_fraction (float largest, int bits, int max_bits = 32)
{
  const int above = (int) (__float_as_uint (largest) >> 23) - 126;

  return max (2, min (max_bits, bits - above)); // largest < 2^above
}

// Returns value * 2^fraction + addend, clamped to +- limit.
static __device__ __forceinline__ double
cuv_pca_scaled (double value, int fraction, double limit, double addend = 0.0)
{
  const double scaled = value * (double) (1LL << fraction) + addend;

  return fmin (fmax (scaled, -limit), limit);
}

static __device__ __forceinline__ int64_t
cuv_pca_fixed (double value, int fraction, double limit)
{
  return llrint (cuv_pca_scaled (value, fraction, limit));
}

// Converts an offset to fixed point and adds addend, which is in fixed point.
static __device__ __forceinline__ int64_t
cuv_pca_fixed_offset (double offset, int fraction, double addend = 0.0)
{
  return llrint (cuv_pca_scaled (offset, fraction, 0x1p61, addend));
}

// Turns sum, the offset plus the sum of gains times samples in fixed point,
// into a channel. Values beyond 0 .. 255 stay beyond, but are otherwise
// arbitrary.
struct CuvPcaFixedChannel {
  int64_t offset;   // in fixed point
  int shift, limit; // 32 - fraction bits; bound of the sum's upper word

  __device__ __forceinline__ int
  value (int64_t sum) const
  {
    const int high = min (
        max ((int) (sum >> 32), -1), limit); // clamp, far enough out of range

    return (int) __funnelshift_l ((unsigned) sum, (unsigned) high, shift);
  }
};

static __device__ __forceinline__ CuvPcaFixedChannel
cuv_pca_fixed_channel (int64_t offset, int fraction)
{
  return { offset, 32 - fraction, (int) max (1LL, 1LL << fraction >> 24) };
}

#endif
