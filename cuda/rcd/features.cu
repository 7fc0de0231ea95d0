// SPDX-License-Identifier: LGPL-2.1-or-later
// Computes the features of samples, as elements/rcd/correlation/hog-template.h
// does, and their spectra.
#include "rcd/filter.cuh"

// A block computes BAND rows of cells from ROWS rows of pixels, which begin
// FIRST_ROW pixels above the cells.
#define BAND 4
#define ROWS (BAND * CUV_RCD_HOG_CELL + CUV_RCD_HOG_CELL)
#define FIRST_ROW (CUV_RCD_HOG_CELL / 2)
#define HISTOGRAM_THREADS (BAND * CUV_RCD_GRID)

// ---- histograms ----

static __device__ __forceinline__ int
clamp (int v)
{
  return min (max (v, 0), CUV_RCD_HOG_SIDE - 1);
}

// Gradients of the rows that a block reads, and the grey values of these rows
// and of the ones above and below them.
struct Rows {
  uint8_t grey[ROWS + 2][CUV_RCD_HOG_SIDE];
  uint8_t bins[ROWS][CUV_RCD_HOG_SIDE];
  float magnitudes[ROWS][CUV_RCD_HOG_SIDE];
  float sums[CUV_RCD_HOG_SIGNED][HISTOGRAM_THREADS]; // sums of each thread over
                                                     // a row of pixels
};

static __device__ void
read_rows (const uint8_t *crop, const CuvRcdCrop &part, int top, Rows *rows)
{
  CuvFrame frame = {};

  frame.model = CUV_MODEL_GREY;
  frame.width = frame.height = CUV_RCD_CROP;
  frame.component[0].data = (uint8_t *) crop;
  frame.component[0].stride = CUV_RCD_CROP;
  frame.component[0].step = 1;
  for (int i = threadIdx.x; i < (ROWS + 2) * CUV_RCD_HOG_SIDE;
       i += HISTOGRAM_THREADS) {
    const int x = i % CUV_RCD_HOG_SIDE, y = i / CUV_RCD_HOG_SIDE;

    rows->grey[y][x] =
        cuv_rcd_crop_pixel (&frame, &part, x, clamp (top - 1 + y));
  }
  __syncthreads ();
  for (int i = threadIdx.x; i < ROWS * CUV_RCD_HOG_SIDE;
       i += HISTOGRAM_THREADS) {
    const int x = i % CUV_RCD_HOG_SIDE, y = i / CUV_RCD_HOG_SIDE;
    const int dx =
        rows->grey[y + 1][clamp (x + 1)] - rows->grey[y + 1][clamp (x - 1)];
    const int dy = rows->grey[y + 2][x] - rows->grey[y][x];

    rows->bins[y][x] = (uint8_t) cuv_hog_direction (dx, dy);
    rows->magnitudes[y][x] = sqrtf ((float) (dx * dx + dy * dy));
  }
  __syncthreads ();
}

// Computes what row y of pixels adds to a cell of column cx.
static __device__ __forceinline__ void
rcd_sum_row (Rows *rows, int y, int cx)
{
  const int left = cx * CUV_RCD_HOG_CELL - CUV_RCD_HOG_CELL / 2,
            t = threadIdx.x;

  for (int k = 0; k < CUV_RCD_HOG_SIGNED; k++)
    rows->sums[k][t] = 0.0f;
  for (int i = 0; i < 2 * CUV_RCD_HOG_CELL; i++) {
    const int x = left + i;

    if (x >= 0 && x < CUV_RCD_HOG_SIDE)
      rows->sums[rows->bins[y][x]][t] +=
          cuv_hog_weight (i % CUV_RCD_HOG_CELL, i < CUV_RCD_HOG_CELL)
          * rows->magnitudes[y][x];
  }
  // the first and last cells also get the half cell beyond the picture's border
  if (cx == 0 || cx == CUV_RCD_GRID - 1) {
    const int x = cx == 0 ? 0 : CUV_RCD_HOG_SIDE - CUV_RCD_HOG_CELL / 2;
    const int place = cx == 0 ? CUV_RCD_HOG_CELL / 2 : 0;
    const int bin = rows->bins[y][x], next = rows->bins[y][x + 1];
    const float a = cuv_hog_weight (place, cx != 0) * rows->magnitudes[y][x];
    const float b =
        cuv_hog_weight (place + 1, cx != 0) * rows->magnitudes[y][x + 1];

    rows->sums[bin][t] += bin == next ? a + b : a;
    if (bin != next)
      rows->sums[next][t] += b;
  }
}

// Adds row j of the eight rows of pixels of a cell to the cell's histogram.
static __device__ __forceinline__ void
add_row (const Rows &rows, int j, bool border, float h[CUV_RCD_HOG_SIGNED])
{
  const int place = j % CUV_RCD_HOG_CELL;

#pragma unroll
  for (int k = 0; k < CUV_RCD_HOG_SIGNED; k++) {
    const float sum = rows.sums[k][threadIdx.x];

    if (border) {
      h[k] += cuv_hog_weight (place, 0) * sum;
      h[k] += cuv_hog_weight (place, 1) * sum;
    } else {
      h[k] += cuv_hog_weight (place, j < CUV_RCD_HOG_CELL) * sum;
    }
  }
}

// A thread per cell. Grid: bands of cells x samples.
static __global__ void
__launch_bounds__ (HISTOGRAM_THREADS) histograms_kernel (
    CuvRcdFilters filters, const __grid_constant__ CuvRcdSamples samples)
{
  __shared__ Rows rows;
  const int sample = blockIdx.y, row = threadIdx.x / CUV_RCD_GRID;
  const int cx = threadIdx.x % CUV_RCD_GRID, cy = blockIdx.x * BAND + row;
  const int top = blockIdx.x * BAND * CUV_RCD_HOG_CELL - FIRST_ROW;
  const int cell = sample * CUV_RCD_GRID_CELLS + cy * CUV_RCD_GRID + cx;
  float h[CUV_RCD_HOG_SIGNED] = {}, energy = 0.0f;
  int grey = 0;

  cuv_pdl_trigger ();
  cuv_pdl_wait ();
  read_rows (filters.crops
          + samples.crop[sample / CUV_RCD_FILTER_SCALES] * CUV_RCD_CROP_PIXELS,
      samples.part[sample], top, &rows);
  for (int j = 0; j < 2 * CUV_RCD_HOG_CELL; j++) {
    const int y = cy * CUV_RCD_HOG_CELL - FIRST_ROW + j;

    if (y < 0 || y >= CUV_RCD_HOG_SIDE)
      continue;
    rcd_sum_row (&rows, y - top, cx);
    add_row (rows, j,
        y < CUV_RCD_HOG_CELL / 2
            || y >= CUV_RCD_HOG_SIDE - CUV_RCD_HOG_CELL / 2,
        h);
  }
#pragma unroll
  for (int k = 0; k < CUV_RCD_HOG_SIGNED; k++)
    filters.histograms[(size_t) sample * CUV_RCD_HOG_SIGNED * CUV_RCD_GRID_CELLS
        + k * CUV_RCD_GRID_CELLS + cy * CUV_RCD_GRID + cx] = h[k];
#pragma unroll
  for (int k = 0; k < CUV_RCD_HOG_UNSIGNED; k++) {
    const float v = h[k] + h[k + CUV_RCD_HOG_UNSIGNED];

    energy += v * v;
  }
  for (int i = 0; i < CUV_RCD_HOG_CELL * CUV_RCD_HOG_CELL; i++)
    grey += rows.grey[row * CUV_RCD_HOG_CELL + i / CUV_RCD_HOG_CELL + FIRST_ROW
        + 1][cx * CUV_RCD_HOG_CELL + i % CUV_RCD_HOG_CELL];
  filters.energies[cell] = energy;
  filters.greys[cell] = grey;
}

// ---- features ----

// The data from which the features of a cell are computed.
struct Cell {
  const float *histogram; // a plane of each orientation, from the cell on
  float factors[CUV_RCD_HOG_SUMS];
  int grey, total; // sums of the pixels of the cell, and of all pixels
};

static __device__ __forceinline__ void
set_factors (const float *energies, Cell *cell)
{
  const int x = threadIdx.x % CUV_RCD_GRID, y = threadIdx.x / CUV_RCD_GRID;

#pragma unroll
  for (int i = 0; i < CUV_RCD_HOG_SUMS; i++) {
    const int column =
        min (max (x + (i % 2 == 0 ? -1 : 1), 0), CUV_RCD_GRID - 1);
    const int row = min (max (y + (i / 2 == 0 ? -1 : 1), 0), CUV_RCD_GRID - 1)
        * CUV_RCD_GRID;

    cell->factors[i] = cuv_hog_factor (energies[threadIdx.x],
        energies[y * CUV_RCD_GRID + column], energies[row + x],
        energies[row + column]);
  }
}

// Returns the sum of the values of all threads of a block.
static __device__ int
block_sum (int value)
{
  __shared__ unsigned sums[32];
  const unsigned sum = cuv_warp_sum ((unsigned) value);

  if (threadIdx.x % 32 == 0)
    sums[threadIdx.x / 32] = sum;
  __syncthreads ();
  return (int) cuv_warp_sum (sums[threadIdx.x % 32]);
}

static __device__ __forceinline__ float
normalised (float h, const float factors[CUV_RCD_HOG_SUMS])
{
  float sum = 0.0f;

#pragma unroll
  for (int i = 0; i < CUV_RCD_HOG_SUMS; i++)
    sum += cuv_hog_truncate (h * factors[i]);
  return 0.5f * sum;
}

static __device__ __forceinline__ float
feature (const Cell &cell, int channel)
{
  const float *h = cell.histogram;
  const int k = channel - CUV_RCD_HOG_SIGNED, i = k - CUV_RCD_HOG_UNSIGNED;
  float sum = 0.0f;

  if (k < 0)
    return normalised (h[channel * CUV_RCD_GRID_CELLS], cell.factors);
  if (i < 0)
    return normalised (h[k * CUV_RCD_GRID_CELLS]
            + h[(k + CUV_RCD_HOG_UNSIGNED) * CUV_RCD_GRID_CELLS],
        cell.factors);
  if (i == CUV_RCD_HOG_SUMS)
    return cuv_hog_grey (cell.grey, cell.total);
  for (int j = 0; j < CUV_RCD_HOG_SIGNED; j++)
    sum += cuv_hog_truncate (h[j * CUV_RCD_GRID_CELLS] * cell.factors[i]);
  return 0.2357f * sum;
}

// A thread per cell. Grid: pairs of channels x samples.
static __global__ void
__launch_bounds__ (CUV_RCD_GRID_CELLS) spectra_kernel (CuvRcdFilters filters)
{
  __shared__ CuvRcdTile tile;
  const int pair = blockIdx.x, sample = blockIdx.y, t = threadIdx.x;
  const int first = sample * CUV_RCD_GRID_CELLS;
  Cell cell = {};

  cuv_pdl_trigger ();
  cuv_pdl_wait ();
  const float weight = filters.window[t];

  cell.histogram = filters.histograms + (size_t) first * CUV_RCD_HOG_SIGNED + t;
  set_factors (filters.energies + first, &cell);
  if (pair == CUV_RCD_CHANNEL_PAIRS - 1) {
    cell.grey = filters.greys[first + t];
    cell.total = block_sum (cell.grey);
  }
  cuv_rcd_forward (CuvRcdComplex{ feature (cell, pair) * weight,
                       feature (cell, pair + CUV_RCD_CHANNEL_PAIRS) * weight },
      tile, filters.samples + (size_t) sample * CUV_RCD_SPECTRUM, pair);
}

// ---- launcher ----

int
cuv_rcd_samples_submit (const CuvRcdFilters &filters,
    const CuvRcdSamples &samples, int n, cudaStream_t stream)
{
  if (cuv_launch_dependent ("histograms_kernel", dim3 (CUV_RCD_GRID / BAND, n),
          HISTOGRAM_THREADS, 0, stream, histograms_kernel, filters, samples)
      != 0)
    return -1;
  return cuv_launch_dependent ("spectra_kernel",
      dim3 (CUV_RCD_CHANNEL_PAIRS, n), CUV_RCD_GRID_CELLS, 0, stream,
      spectra_kernel, filters);
}
