// SPDX-License-Identifier: LGPL-2.1-or-later
// Gains as integers, for samples that are: channels come out exact but for the
// last of very many bits.
#ifndef CUV_PCA_FIXED_CUH
#define CUV_PCA_FIXED_CUH

#include "spectral/pca-state.cuh"

#define CUV_PCA_COUNTS 31 // the slot that is 1 in pixels that count

// What a block's threads share. A slot is where a band is: planar its number,
// packed the sample in the pixel.
struct CuvPcaTable {
  int band[32];                        // of a slot; -1: there is none
  int64_t gain[CUV_PCA_SHOWN + 1][32]; // of a slot; the last channel's are 0
  int64_t offset[CUV_PCA_SHOWN + 1];
  int fraction[CUV_PCA_SHOWN + 1]; // bits of gains and offset
  int top;
};

// A channel's gains, of so many bits and a sign: with as many of them behind
// the point as there is room for, up to 32. By a warp, a lane a slot.
static __device__ __forceinline__ void
cuv_pca_set_channel (
    const CuvPcaGains &gains, int c, int bits, CuvPcaTable *table)
{
  const int slot = threadIdx.x % 32, band = table->band[slot];
  const bool is_band = c < CUV_PCA_SHOWN && band >= 0 && band < gains.n;
  const double gain = is_band ? gains.gain[c][band] : 0.0;
  const double most = (double) (1LL << bits);
  float largest = fabsf ((float) gain);

  for (int bit = 16; bit > 0; bit /= 2)
    largest = fmaxf (largest, __shfl_xor_sync (~0u, largest, bit));
  const int above = (int) (__float_as_uint (largest) >> 23) - 126;
  const int fraction = max (2, min (32, bits - above)); // largest < 2^above
  const double scale = (double) (1LL << fraction);

  table->gain[c][slot] = llrint (fmin (fmax (gain * scale, -most), most));
  if (slot > 0)
    return;
  table->fraction[c] = fraction;
  table->offset[c] = c < CUV_PCA_SHOWN
      ? llrint (
          fmin (fmax ((gains.offset[c] + gains.bias) * scale, -0x1p61), 0x1p61))
      : 0;
  if (c == 0)
    table->top = (int) gains.top;
}

// By all threads, at least a warp a channel. Gains are those of the picture.
static __device__ __forceinline__ void
cuv_pca_set_table (const CuvPcaPass &pass, int bits, CuvPcaTable *table)
{
  const int n = pass.bands.n, i = threadIdx.x;

  if (i < 32)
    table->band[i] = i == CUV_PCA_COUNTS ? n : -1;
  __syncthreads ();
  if (i < n) {
    const int64_t at = pass.bands.index[i] * pass.cube.band_step - pass.low;

    table->band[pass.packed ? (int) at / pass.sample_size : i] = i;
  }
  __syncthreads ();
  if ((pass.tasks & CUV_PCA_PAINT) && i / 32 <= CUV_PCA_SHOWN)
    cuv_pca_set_channel (pass.known->gains, i / 32, bits, table);
  __syncthreads ();
}

// From sums of a channel's gains times samples to its byte.
struct CuvPcaShading {
  int64_t offset;
  int shift, limit, top;

  // Of low + 2^32 high.
  __device__ __forceinline__ unsigned
  shade (int64_t low, int high) const
  {
    low += offset;
    high = min (max ((int) (low >> 32) + high, -1), limit); // far enough

    const int value =
        (int) __funnelshift_l ((unsigned) low, (unsigned) high, shift);

    return (unsigned) min (max (value, 0), top);
  }
};

static __device__ __forceinline__ CuvPcaShading
cuv_pca_shading_of (const CuvPcaTable &table, int c)
{
  const int fraction = table.fraction[c];

  return { table.offset[c], 32 - fraction,
    (int) max (1LL, 1LL << fraction >> 24), table.top };
}

#endif
