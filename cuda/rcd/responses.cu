// SPDX-License-Identifier: LGPL-2.1-or-later
// Computes the responses of filters to samples, and their maxima, as
// cuv_respond(), cuv_response_inverse() and cuv_response_peak() of
// elements/rcd/correlation do.
#include "rcd/filter.cuh"

// ---- the response ----

// Computes the spectrum of the response. Called by all threads of the block.
static __device__ void
respond (const float *filter, const float *sample,
    CuvRcdComplex response[CUV_RCD_SPECTRUM_BINS])
{
  const int bin = threadIdx.x;
  CuvRcdComplex sum = {};

  if (bin < CUV_RCD_SPECTRUM_BINS) {
#pragma unroll 8
    for (int k = 0; k < CUV_RCD_CHANNELS; k++) {
      const int at = k * CUV_RCD_SPECTRUM_BINS + bin;
      const float h_re = filter[at],
                  h_im = filter[at + CUV_RCD_SPECTRUM_PLANES];
      const float z_re = sample[at],
                  z_im = sample[at + CUV_RCD_SPECTRUM_PLANES];

      sum.re += h_re * z_re + h_im * z_im;
      sum.im += h_re * z_im - h_im * z_re;
    }
    response[bin] = sum;
  }
  __syncthreads ();
}

// Returns the value of the thread's cell.
static __device__ __forceinline__ float
value_at (const CuvRcdComplex response[CUV_RCD_SPECTRUM_BINS], CuvRcdTile tile)
{
  const int x = threadIdx.x / 32, y = threadIdx.x % 32;
  const bool stored = x < CUV_RCD_SPECTRUM_COLUMNS;
  CuvRcdComplex z = response[stored
          ? y * CUV_RCD_SPECTRUM_COLUMNS + x
          : cuv_rcd_opposite (y) * CUV_RCD_SPECTRUM_COLUMNS + CUV_RCD_GRID - x];

  z.im = stored ? z.im : -z.im;
  return cuv_rcd_inverse (z, tile).re * (1.0f / CUV_RCD_GRID_CELLS);
}

// ---- the greatest cell ----

struct Best {
  float value;
  int cell;
};

static __device__ __forceinline__ Best
warp_best (Best best)
{
#pragma unroll
  for (int bit = 16; bit > 0; bit /= 2) {
    const Best other = { __shfl_xor_sync (~0u, best.value, bit),
      __shfl_xor_sync (~0u, best.cell, bit) };

    if (other.value > best.value
        || (other.value == best.value && other.cell < best.cell))
      best = other;
  }
  return best;
}

// Returns the cell with the greatest value to the threads of the first warp.
static __device__ int
greatest_cell (float value)
{
  __shared__ Best bests[32];
  const Best best = warp_best (Best{ value, (int) threadIdx.x });

  if (threadIdx.x % 32 == 0)
    bests[threadIdx.x / 32] = best;
  __syncthreads ();
  return threadIdx.x < 32 ? warp_best (bests[threadIdx.x]).cell : 0;
}

// ---- the maximum near it ----

struct Power {
  double re, im;

  // Multiplies by a complex number of magnitude 1.
  __device__ __forceinline__ void
  advance (double cosine, double sine)
  {
    const double next = re * cosine - im * sine;

    im = re * sine + im * cosine;
    re = next;
  }
};

// For a row, the sums of frequency^n times its terms at x, n = 0 .. 2.
struct RowSums {
  double re[3], im[3];
};

static __device__ RowSums
rcd_sum_row (const CuvRcdComplex *row, double x)
{
  RowSums sums = {};
  Power power = { 1.0, 0.0 };
  double cosine, sine;

  cuv_filter_turn (x / CUV_RCD_GRID, &cosine, &sine);
  for (int i = 0; i < CUV_RCD_GRID / 2; i++) {
    const double weight = (i == 0 ? 1.0 : 2.0) / CUV_RCD_GRID_CELLS;
    const double c = power.re * weight, d = power.im * weight;
    const double z_re = row[i].re, z_im = row[i].im;
    const double w_re = z_re * c - z_im * d, w_im = z_re * d + z_im * c;

    sums.re[0] += w_re;
    sums.im[0] += w_im;
    sums.re[1] += (double) i * w_re;
    sums.im[1] += (double) i * w_im;
    sums.re[2] += (double) (i * i) * w_re;
    sums.im[2] += (double) (i * i) * w_im;
    power.advance (cosine, sine);
  }
  return sums;
}

// Returns the wave of frequency n at y.
static __device__ Power
row_power (int n, double y)
{
  Power power = { 1.0, 0.0 }, found = power;
  double cosine, sine;

  cuv_filter_turn (y / CUV_RCD_GRID, &cosine, &sine);
  for (int i = 1; i < CUV_RCD_GRID / 2; i++) {
    power.advance (cosine, sine);
    if (i == abs (n))
      found = power;
  }
  return Power{ found.re, n < 0 ? -found.im : found.im };
}

// Returns the response and its derivatives at (x, y). Called by a warp; each
// lane has a row.
static __device__ CuvRcdFilterSlope
slope_at (const CuvRcdComplex *response, double x, double y)
{
  const double unit = 6.283185307179586 / CUV_RCD_GRID;
  const int lane = threadIdx.x;
  const int n = lane == CUV_RCD_GRID / 2 ? 0 : cuv_filter_from_zero (lane);
  const RowSums s = rcd_sum_row (response + lane * CUV_RCD_SPECTRUM_COLUMNS, x);
  const Power p = row_power (n, y);
  const double re0 = s.re[0] * p.re - s.im[0] * p.im;
  const double im0 = s.re[0] * p.im + s.im[0] * p.re;
  const double re1 = s.re[1] * p.re - s.im[1] * p.im;
  const double im1 = s.re[1] * p.im + s.im[1] * p.re;
  const double re2 = s.re[2] * p.re - s.im[2] * p.im;
  CuvRcdFilterSlope slope;

  slope.value = cuv_warp_sum (re0);
  slope.x = -unit * cuv_warp_sum (im1);
  slope.y = -unit * cuv_warp_sum (n * im0);
  slope.xx = -(unit * unit) * cuv_warp_sum (re2);
  slope.xy = -(unit * unit) * cuv_warp_sum (n * re1);
  slope.yy = -(unit * unit) * cuv_warp_sum (n * n * re0);
  return slope;
}

static __device__ CuvRcdFilterPeak
find_peak (const CuvRcdComplex *response, int cell)
{
  CuvRcdFilterPeak peak = { 0.0,
    (double) cuv_filter_from_zero (cell % CUV_RCD_GRID),
    (double) cuv_filter_from_zero (cell / CUV_RCD_GRID) };
  CuvRcdFilterSlope slope;

  for (int i = 0;; i++) {
    slope = slope_at (response, peak.x, peak.y);
    if (i == CUV_RCD_FILTER_STEPS
        || !cuv_filter_step (&slope, &peak.x, &peak.y))
      break;
  }
  peak.value = slope.value;
  return peak;
}

// A thread per cell. Grid: samples.
static __global__ void
__launch_bounds__ (CUV_RCD_GRID_CELLS) responses_kernel (CuvRcdFilters filters,
    const __grid_constant__ CuvRcdSlots slots, bool first)
{
  __shared__ CuvRcdComplex response[CUV_RCD_SPECTRUM_BINS];
  __shared__ CuvRcdTile tile;
  const int sample = blockIdx.x;
  const int slot = slots.slot[sample / CUV_RCD_FILTER_SCALES];

  cuv_pdl_trigger ();
  cuv_pdl_wait ();
  respond (filters.filters + (size_t) slot * CUV_RCD_SPECTRUM,
      filters.samples + (size_t) sample * CUV_RCD_SPECTRUM, response);
  const float value = value_at (response, tile);

  if (first) {
    if (threadIdx.x == 0)
      filters.peaks[sample] = CuvRcdFilterPeak{ value, 0.0, 0.0 };
    return;
  }
  const int cell = greatest_cell (value);

  if (threadIdx.x < 32) {
    const CuvRcdFilterPeak peak = find_peak (response, cell);

    if (threadIdx.x == 0)
      filters.peaks[sample] = peak;
  }
}

// ---- launcher ----

int
cuv_rcd_responses_submit (const CuvRcdFilters &filters,
    const CuvRcdSlots &slots, int n, bool first, cudaStream_t stream)
{
  return cuv_launch_dependent ("responses_kernel", n, CUV_RCD_GRID_CELLS, 0,
      stream, responses_kernel, filters, slots, first);
}
