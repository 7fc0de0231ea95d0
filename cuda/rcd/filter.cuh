// SPDX-License-Identifier: LGPL-2.1-or-later
// Correlation filters on the GPU: memory and launchers. They compute what
// elements/rcd/correlation does: the same bits, except for the signs of zeros.
//
// features.cu   histograms of samples, then their features and spectra
// responses.cu  the response to a sample, and its maximum
// solve.cu      learning: the model and its filter
// filter.cu     the order of these kernels
#ifndef CUV_RCD_FILTER_CUH
#define CUV_RCD_FILTER_CUH

#include "cuv-cuda.cuh"
#include "rcd/rcd-crop.h"
#include "rcd/rcd-filter.h"

// A spectrum has a plane of real parts for each channel, then a plane of
// imaginary parts for each channel. A plane has the frequencies row by row.
#define CUV_RCD_SPECTRUM_PLANES (CUV_RCD_CHANNELS * CUV_RCD_SPECTRUM_BINS)
#define CUV_RCD_SPECTRUM (2 * CUV_RCD_SPECTRUM_PLANES)

// Memory of all filters. A search has CUV_RCD_FILTER_SCALES samples of each
// crop. Learning uses the memory of the first sample.
struct CuvRcdFilters {
  const uint8_t *crops;
  const float *window;
  float *histograms; // a plane for each signed orientation, by sample
  float *energies;   // energies of cells, by sample
  int *greys;        // sums of pixels, by sample and cell
  float *samples;    // spectra, by sample
  // By slot: spectra of the model and of the filter; the first solution's ratio
  // to the model; the label; the mask.
  float *models, *filters, *ratios, *labels, *masks;
  CuvRcdFilterPeak *peaks; // maxima by sample, in host memory
};

// Sample i is taken from crop[i / CUV_RCD_FILTER_SCALES].
struct CuvRcdSamples {
  CuvRcdCrop part[CUV_RCD_MAX_TARGETS * CUV_RCD_FILTER_SCALES];
  uint8_t crop[CUV_RCD_MAX_TARGETS];
};

// The slots of the filters that respond to samples.
struct CuvRcdSlots {
  uint8_t slot[CUV_RCD_MAX_TARGETS];
};

// Launchers. Return 0, or -1 and set cuv_cuda_error().

// Computes the spectra of n samples.
int cuv_rcd_samples_submit (const CuvRcdFilters &filters,
    const CuvRcdSamples &samples, int n, cudaStream_t stream);

// Finds the maxima of the responses to n samples or, if `first` is set, the
// response at the place where the sample was taken.
int cuv_rcd_responses_submit (const CuvRcdFilters &filters,
    const CuvRcdSlots &slots, int n, bool first, cudaStream_t stream);

// Moves the slot's model towards the first sample by a learning rate, and
// solves its filter.
int cuv_rcd_solve_submit (
    const CuvRcdFilters &filters, int slot, float rate, cudaStream_t stream);

// ---- transforms ----

struct CuvRcdComplex {
  float re, im;
};

// Rows and columns of a transform. One more column avoids bank conflicts.
typedef CuvRcdComplex CuvRcdTile[CUV_RCD_GRID][CUV_RCD_GRID + 1];

static __device__ const float cuv_rcd_cosines[CUV_RCD_GRID / 2] =
    CUV_RCD_FILTER_COSINES;
static __device__ const float cuv_rcd_sines[CUV_RCD_GRID / 2] =
    CUV_RCD_FILTER_SINES;

// Transforms a line. Each lane of the warp has one of its elements.
static __device__ __forceinline__ CuvRcdComplex
cuv_rcd_transform (CuvRcdComplex z, bool inverse)
{
  const int lane = threadIdx.x % 32;

  z.re = __shfl_sync (~0u, z.re, cuv_filter_reversed (lane));
  z.im = __shfl_sync (~0u, z.im, cuv_filter_reversed (lane));
#pragma unroll
  for (int half = 1; half < CUV_RCD_GRID; half *= 2) {
    const int i = (lane & (half - 1)) * (CUV_RCD_GRID / 2 / half);
    const float w_re = cuv_rcd_cosines[i];
    const float w_im = inverse ? cuv_rcd_sines[i] : -cuv_rcd_sines[i];
    const CuvRcdComplex other = { __shfl_xor_sync (~0u, z.re, half),
      __shfl_xor_sync (~0u, z.im, half) };
    const bool second = (lane & half) != 0;
    const CuvRcdComplex a = second ? other : z, b = second ? z : other;
    CuvRcdComplex v = { b.re * w_re - b.im * w_im, b.re * w_im + b.im * w_re };

    if (i == 0)
      v = b;
    z.re = second ? a.re - v.re : a.re + v.re;
    z.im = second ? a.im - v.im : a.im + v.im;
  }
  return z;
}

// Returns the index of the frequency with the opposite sign.
static __device__ __forceinline__ int
cuv_rcd_opposite (int i)
{
  return (CUV_RCD_GRID - i) % CUV_RCD_GRID;
}

// Transforms the rows of a pair of channels to the spectra of both channels.
// Each thread has an element. Called by all threads of a block of
// CUV_RCD_GRID_CELLS.
static __device__ __forceinline__ void
cuv_rcd_forward (CuvRcdComplex z, CuvRcdTile tile, float *spectrum, int pair)
{
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int bin = threadIdx.x;

  z = cuv_rcd_transform (z, false);
  __syncthreads (); // before the tile is used again
  tile[warp][lane] = z;
  __syncthreads ();
  z = cuv_rcd_transform (tile[lane][warp], false);
  tile[lane][warp] = z; // a column is read and written by the same warp
  __syncthreads ();
  if (bin < CUV_RCD_SPECTRUM_BINS) {
    const int y = bin / CUV_RCD_SPECTRUM_COLUMNS;
    const int x = bin - y * CUV_RCD_SPECTRUM_COLUMNS;
    const CuvRcdComplex o = tile[cuv_rcd_opposite (y)][cuv_rcd_opposite (x)];
    float *re = spectrum + pair * CUV_RCD_SPECTRUM_BINS + bin;
    float *im = re + CUV_RCD_SPECTRUM_PLANES;

    z = tile[y][x];
    re[0] = 0.5f * (z.re + o.re);
    im[0] = 0.5f * (z.im - o.im);
    re[CUV_RCD_CHANNEL_PAIRS * CUV_RCD_SPECTRUM_BINS] = 0.5f * (z.im + o.im);
    im[CUV_RCD_CHANNEL_PAIRS * CUV_RCD_SPECTRUM_BINS] = 0.5f * (o.re - z.re);
  }
}

// Transforms columns to rows. Each thread has an element of a column: the warp
// is the column, the lane the row.
static __device__ __forceinline__ CuvRcdComplex
cuv_rcd_inverse (CuvRcdComplex z, CuvRcdTile tile)
{
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;

  tile[lane][warp] = cuv_rcd_transform (z, true);
  __syncthreads ();
  return cuv_rcd_transform (tile[warp][lane], true);
}

#endif
