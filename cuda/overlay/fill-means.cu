// SPDX-License-Identifier: LGPL-2.1-or-later
// Computes the means of the cells of fills. Large cells are split into bands of
// rows, so that a few of them occupy the whole device: bands_kernel() sums
// bands, means_kernel() adds them.
#include "overlay/fill-means.cuh"

#include "overlay/fill-types.h"

#define CUV_OVERLAY_SUM_X 32 // adjacent samples of a row
#define CUV_OVERLAY_SUM_Y 16 // rows at a time; a warp each
#define CUV_OVERLAY_BAND 64  // rows of samples
#define CUV_OVERLAY_MEAN_THREADS 256

static __device__ unsigned
sum_of_thread (
    const CuvComponent &c, const CuvOverlayFillWindow &w, int y0, int y1)
{
  unsigned sum = 0;

  for (int y = y0 + threadIdx.y; y < y1; y += CUV_OVERLAY_SUM_Y) {
    const uint8_t *row = c.data + (int64_t) y * c.stride;

#pragma unroll 4
    for (int x = w.x0 + threadIdx.x; x < w.x1; x += CUV_OVERLAY_SUM_X)
      sum += row[(int64_t) x * c.step];
  }
  return sum;
}

// Returns the sum over all threads to the first warp. It fits in 32 bits: at
// most 64 rows of 32000 samples.
static __device__ unsigned
sum_of_block (unsigned value)
{
  __shared__ unsigned warps[CUV_OVERLAY_SUM_Y];

  value = cuv_warp_sum (value);
  if (threadIdx.x == 0)
    warps[threadIdx.y] = value;
  __syncthreads ();
  return threadIdx.y > 0
      ? 0
      : cuv_warp_sum (
          threadIdx.x < CUV_OVERLAY_SUM_Y ? warps[threadIdx.x] : 0u);
}

static __device__ uint64_t
n_samples (const CuvOverlayFillWindow &w)
{
  return (uint64_t) (w.x1 - w.x0) * (uint64_t) (w.y1 - w.y0);
}

// Each block sums a band of a cell and, if it is the only band, computes the
// mean. blockIdx.x: n_bands * cell + band; y: fill; z: component.
static __global__ void
__launch_bounds__ (CUV_OVERLAY_SUM_X *CUV_OVERLAY_SUM_Y)
    bands_kernel (const CuvFrame frame, const CuvPrimitive *fills, int n_bands,
        unsigned *sums, uint8_t *means)
{
  const CuvPrimitive *p = &fills[blockIdx.y];
  const CuvComponent &c = frame.component[blockIdx.z];
  const int cell = blockIdx.x / n_bands, band = blockIdx.x % n_bands;
  const int at = cuv_fill_means_of (p, blockIdx.z) + cell;
  CuvOverlayFillWindow w;
  int y0, y1;
  unsigned sum;

  if (cell >= p->fill.rows * p->fill.columns) // solid fills have no cells
    return;
  w = cuv_fill_window (
      p, &frame, &c, cell % p->fill.columns, cell / p->fill.columns);
  y0 = w.y0 + band * CUV_OVERLAY_BAND;
  y1 = min (y0 + CUV_OVERLAY_BAND, w.y1);
  sum = sum_of_block (sum_of_thread (c, w, y0, y1));
  if (threadIdx.x > 0 || threadIdx.y > 0)
    return;
  if (n_bands == 1)
    means[at] = cuv_fill_mean (sum, n_samples (w));
  else
    sums[(int64_t) at * n_bands + band] = sum;
}

// Each thread adds the bands of a cell. blockIdx.x: group of cells; y: fill; z:
// component.
static __global__ void
__launch_bounds__ (CUV_OVERLAY_MEAN_THREADS)
    means_kernel (const CuvFrame frame, const CuvPrimitive *fills, int n_bands,
        const unsigned *sums, uint8_t *means)
{
  const CuvPrimitive *p = &fills[blockIdx.y];
  const int cell = blockIdx.x * CUV_OVERLAY_MEAN_THREADS + threadIdx.x;
  const int at = cuv_fill_means_of (p, blockIdx.z) + cell;
  uint64_t sum = 0;

  if (cell >= p->fill.rows * p->fill.columns)
    return;
  for (int band = 0; band < n_bands; band++)
    sum += sums[(int64_t) at * n_bands + band];
  means[at] = cuv_fill_mean (sum,
      n_samples (cuv_fill_window (p, &frame, &frame.component[blockIdx.z],
          cell % p->fill.columns, cell / p->fill.columns)));
}

// ---- launcher ----

static int
most_cells (const CuvOverlayList *list)
{
  int most = 0;

  for (int i = 0; i < list->n_fills; i++) {
    const CuvPrimitive *p = &list->primitives[i];

    most = std::max (most, p->fill.rows * p->fill.columns);
  }
  return most;
}

// Returns the number of bands of the highest cell; no cell is higher than the
// frame.
static int
most_bands (const CuvOverlayList *list, const CuvFrame *frame)
{
  int rows = 1;

  for (int i = 0; i < list->n_fills; i++)
    rows = std::max (rows, (int) list->primitives[i].fill.cell);
  return cuv_div_up (std::min (rows, frame->height), CUV_OVERLAY_BAND);
}

size_t
cuv_fill_sums_bytes (const CuvOverlayList *list, const CuvFrame *frame)
{
  const int n_bands = most_bands (list, frame);

  return n_bands > 1 ? sizeof (unsigned) * n_bands * list->n_means : 0;
}

int
cuv_fill_launch_means (const CuvOverlayList *list,
    const CuvOverlayFillMemory *memory, const CuvFrame *frame,
    cudaStream_t stream)
{
  const int cells = most_cells (list), n_bands = most_bands (list, frame);

  if (cells == 0)
    return 0;
  bands_kernel<<<dim3 (cells * n_bands, list->n_fills, frame->n_components),
      dim3 (CUV_OVERLAY_SUM_X, CUV_OVERLAY_SUM_Y), 0, stream>>> (
      *frame, memory->primitives, n_bands, memory->sums, memory->means);
  CUV_CUDA_LAUNCHED (bands_kernel);
  if (n_bands == 1)
    return 0;
  means_kernel<<<dim3 (cuv_div_up (cells, CUV_OVERLAY_MEAN_THREADS),
                     list->n_fills, frame->n_components),
      CUV_OVERLAY_MEAN_THREADS, 0, stream>>> (
      *frame, memory->primitives, n_bands, memory->sums, memory->means);
  CUV_CUDA_LAUNCHED (means_kernel);
  return 0;
}
