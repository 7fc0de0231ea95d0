// SPDX-License-Identifier: LGPL-2.1-or-later
// Gains as integers, for samples that are: channels come out as in double, but
// for 2^-12 of a step at most; if gains of 16-bit samples are beyond 64 steps,
// or one band's is very much larger than the others', which share its bits, for
// some hundredths; gains of 10^7 steps, of pictures that are black or white but
// for a few pixels, for some steps where samples are far from the mean.
#ifndef CUV_PCA_FIXED_CUH
#define CUV_PCA_FIXED_CUH

#include "pca/pca-state.cuh"

// How many bits behind the point gains of up to largest can have, of so many
// bits and a sign: `most`, if they are small.
static __device__ __forceinline__ int
cuv_pca_fraction (float largest, int bits, int most = 32)
{
  const int above = (int) (__float_as_uint (largest) >> 23) - 126;

  return max (2, min (most, bits - above)); // largest < 2^above
}

// As it is to be rounded.
static __device__ __forceinline__ double
cuv_pca_scaled (double value, int fraction, double most, double more = 0.0)
{
  const double scaled = value * (double) (1LL << fraction) + more;

  return fmin (fmax (scaled, -most), most);
}

static __device__ __forceinline__ int64_t
cuv_pca_fixed (double value, int fraction, double most)
{
  return llrint (cuv_pca_scaled (value, fraction, most));
}

// more: in fixed point.
static __device__ __forceinline__ int64_t
cuv_pca_fixed_offset (double offset, int fraction, double more = 0.0)
{
  return llrint (cuv_pca_scaled (offset, fraction, 0x1p61, more));
}

// From the sum of offset and a channel's gains times samples to the channel,
// where it is beyond bytes to anything that is, too.
struct CuvPcaShading {
  int64_t offset;
  int shift, limit;

  __device__ __forceinline__ int
  shade (int64_t sum) const
  {
    const int high = min (max ((int) (sum >> 32), -1), limit); // far enough

    return (int) __funnelshift_l ((unsigned) sum, (unsigned) high, shift);
  }
};

static __device__ __forceinline__ CuvPcaShading
cuv_pca_shading (int64_t offset, int fraction)
{
  return { offset, 32 - fraction, (int) max (1LL, 1LL << fraction >> 24) };
}

#endif
