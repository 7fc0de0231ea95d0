// SPDX-License-Identifier: LGPL-2.1-or-later
// Learns a model and computes its filter, as cuv_solve() does.
// elements/rcd/correlation/solve-template.h explains the steps.
#include "rcd/filter.cuh"

#define SOLVE_THREADS 32 // a thread per frequency

// Memory of a slot.
struct Slot {
  float *model, *filter, *ratio;
  const float *label, *mask;
};

static Slot
slot_of (const CuvRcdFilters &filters, int slot)
{
  return Slot{ filters.models + (size_t) slot * CUV_RCD_SPECTRUM,
    filters.filters + (size_t) slot * CUV_RCD_SPECTRUM,
    filters.ratios + slot * CUV_RCD_SPECTRUM_BINS,
    filters.labels + slot * CUV_RCD_SPECTRUM_BINS,
    filters.masks + slot * CUV_RCD_GRID_CELLS };
}

// Blends the model with a sample, and computes the ratio of the first solution
// to the model. A thread per frequency.
static __global__ void
__launch_bounds__ (SOLVE_THREADS)
    first_kernel (Slot slot, const float *sample, float rate)
{
  const int bin = blockIdx.x * SOLVE_THREADS + threadIdx.x;
  float energy = 0.0f;

  cuv_pdl_trigger ();
  cuv_pdl_wait ();
#pragma unroll 8
  for (int k = 0; k < CUV_RCD_CHANNELS; k++) {
    float *re = slot.model + k * CUV_RCD_SPECTRUM_BINS + bin;
    float *im = re + CUV_RCD_SPECTRUM_PLANES;
    float x_re = *re, x_im = *im;

    if (rate > 0.0f) {
      const float *new_re = sample + k * CUV_RCD_SPECTRUM_BINS + bin;

      x_re = (1.0f - rate) * x_re + rate * new_re[0];
      x_im = (1.0f - rate) * x_im + rate * new_re[CUV_RCD_SPECTRUM_PLANES];
      *re = x_re;
      *im = x_im;
    }
    energy += x_re * x_re + x_im * x_im;
  }
  slot.ratio[bin] = slot.label[bin]
      * (1.0f / (energy + CUV_RCD_GRID_CELLS * CUV_RCD_FILTER_PENALTY1));
}

// Returns a channel of the filter before masking.
template <bool FIRST>
static __device__ __forceinline__ CuvRcdComplex
unmasked (const Slot &slot, int channel, int bin)
{
  const int at = channel * CUV_RCD_SPECTRUM_BINS + bin;

  if (!FIRST)
    return CuvRcdComplex{ slot.filter[at],
      slot.filter[at + CUV_RCD_SPECTRUM_PLANES] };
  const float mu = CUV_RCD_FILTER_PENALTY1,
              factor = mu * cuv_filter_factor (mu);
  const float ratio = slot.ratio[bin];

  return CuvRcdComplex{ factor * (slot.model[at] * ratio),
    factor * (slot.model[at + CUV_RCD_SPECTRUM_PLANES] * ratio) };
}

// Masks the first solution (FIRST), or the filter. A thread per cell. Grid:
// pairs of channels.
template <bool FIRST>
static __global__ void
__launch_bounds__ (CUV_RCD_GRID_CELLS) mask_kernel (Slot slot)
{
  __shared__ CuvRcdTile tile;
  const int pair = blockIdx.x, x = threadIdx.x / 32, y = threadIdx.x % 32;
  const bool stored = x < CUV_RCD_SPECTRUM_COLUMNS;
  const int bin = stored
      ? y * CUV_RCD_SPECTRUM_COLUMNS + x
      : cuv_rcd_opposite (y) * CUV_RCD_SPECTRUM_COLUMNS + CUV_RCD_GRID - x;

  cuv_pdl_trigger ();
  cuv_pdl_wait ();
  const CuvRcdComplex a = unmasked<FIRST> (slot, pair, bin);
  const CuvRcdComplex b =
      unmasked<FIRST> (slot, pair + CUV_RCD_CHANNEL_PAIRS, bin);
  CuvRcdComplex z = { a.re - b.im, a.im + b.re };

  if (!stored)
    z = CuvRcdComplex{ a.re + b.im, b.re - a.im };
  z = cuv_rcd_inverse (z, tile);
  const float weight = slot.mask[threadIdx.x] * (1.0f / CUV_RCD_GRID_CELLS);

  z.re *= weight;
  z.im *= weight;
  cuv_rcd_forward (z, tile, slot.filter, pair);
}

// A sum of conj (x) y.
struct Product {
  float re, im;

  __device__ __forceinline__ void
  add (CuvRcdComplex x, CuvRcdComplex y)
  {
    re += x.re * y.re + x.im * y.im;
    im += x.re * y.im - x.im * y.re;
  }
};

static __device__ __forceinline__ CuvRcdComplex
load (const float *spectrum, int at)
{
  return CuvRcdComplex{ spectrum[at], spectrum[at + CUV_RCD_SPECTRUM_PLANES] };
}

// Computes the second solution. A thread per frequency.
static __global__ void
__launch_bounds__ (SOLVE_THREADS) second_kernel (Slot slot)
{
  const int bin = blockIdx.x * SOLVE_THREADS + threadIdx.x;
  const float mu = CUV_RCD_FILTER_PENALTY2,
              inv_mu = 1.0f / CUV_RCD_FILTER_PENALTY2;
  const float factor = cuv_filter_factor (CUV_RCD_FILTER_PENALTY2);
  Product xh = {}, xl = {};
  float energy = 0.0f;

  cuv_pdl_trigger ();
  cuv_pdl_wait ();
  const float ratio = slot.ratio[bin];

#pragma unroll 8
  for (int k = 0; k < CUV_RCD_CHANNELS; k++) {
    const int at = k * CUV_RCD_SPECTRUM_BINS + bin;
    const CuvRcdComplex x = load (slot.model, at), h = load (slot.filter, at);

    energy += x.re * x.re + x.im * x.im;
    xh.add (x, h);
    xl.add (x, CuvRcdComplex{ x.re * ratio - h.re, x.im * ratio - h.im });
  }
  const float inv = 1.0f / (energy + CUV_RCD_GRID_CELLS * mu);
  const float re = (slot.label[bin] - xh.re + xl.re * inv_mu) * inv;
  const float im = (xl.im * inv_mu - xh.im) * inv;

#pragma unroll 8
  for (int k = 0; k < CUV_RCD_CHANNELS; k++) {
    const int at = k * CUV_RCD_SPECTRUM_BINS + bin;
    const CuvRcdComplex x = load (slot.model, at), h = load (slot.filter, at);
    const CuvRcdComplex l = { x.re * ratio - h.re, x.im * ratio - h.im };
    const CuvRcdComplex g = { h.re - l.re * inv_mu + x.re * re - x.im * im,
      h.im - l.im * inv_mu + x.re * im + x.im * re };

    slot.filter[at] = (mu * factor) * g.re + factor * l.re;
    slot.filter[at + CUV_RCD_SPECTRUM_PLANES] =
        (mu * factor) * g.im + factor * l.im;
  }
}

// ---- launcher ----

static_assert (
    CUV_RCD_SPECTRUM_BINS % SOLVE_THREADS == 0, "all blocks must be full");

int
cuv_rcd_solve_submit (
    const CuvRcdFilters &filters, int slot, float rate, cudaStream_t stream)
{
  const int n_blocks = CUV_RCD_SPECTRUM_BINS / SOLVE_THREADS;
  const Slot memory = slot_of (filters, slot);

  if (cuv_launch_dependent ("first_kernel", n_blocks, SOLVE_THREADS, 0, stream,
          first_kernel, memory, filters.samples, rate)
          != 0
      || cuv_launch_dependent ("mask_kernel", CUV_RCD_CHANNEL_PAIRS,
             CUV_RCD_GRID_CELLS, 0, stream, mask_kernel<true>, memory)
          != 0
      || cuv_launch_dependent ("second_kernel", n_blocks, SOLVE_THREADS, 0,
             stream, second_kernel, memory)
          != 0)
    return -1;
  return cuv_launch_dependent ("mask_kernel", CUV_RCD_CHANNEL_PAIRS,
      CUV_RCD_GRID_CELLS, 0, stream, mask_kernel<false>, memory);
}
