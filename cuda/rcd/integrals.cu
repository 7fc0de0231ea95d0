// SPDX-License-Identifier: LGPL-2.1-or-later
// Computes integral images of cells. A block integrates a group of rows of one
// plane. It does so in bands of as many rows as fit in shared memory, first
// along rows, then down columns.
#include <algorithm>
#include "rcd/search.cuh"

#define INTEGRAL_THREADS 1024
#define INTEGRAL_WARPS (INTEGRAL_THREADS / 32)
#define STEPS 4  // chunks of 32 columns in flight, to hide latency
#define GROUPS 4 // groups of rows per plane, one block each

static __device__ __forceinline__ long long
warp_inclusive_scan (long long value)
{
  const int lane = threadIdx.x % 32;

#pragma unroll
  for (int d = 1; d < 32; d *= 2) {
    const long long before = __shfl_up_sync (~0u, value, d);

    value += lane >= d ? before : 0;
  }
  return value;
}

// Computes the prefix sums of a row. Called by a warp. SHARED: `from` is in
// shared memory. clear: zeroes `from`.
template <bool SHARED>
static __device__ __forceinline__ void
sum_along (int64_t *from, int64_t *to, int n, bool clear)
{
  const int lane = threadIdx.x % 32;
  long long sum = 0;

  for (int x = 0; x < n; x += 32 * STEPS) {
    long long values[STEPS];

#pragma unroll
    for (int i = 0; i < STEPS; i++) {
      const int at = x + 32 * i + lane;

      values[i] = at >= n ? 0
          : SHARED        ? from[at]
                          : __ldcg ((const long long *) &from[at]);
      if (clear && at < n)
        from[at] = 0;
    }
#pragma unroll
    for (int i = 0; i < STEPS; i++)
      values[i] = warp_inclusive_scan (values[i]);
#pragma unroll
    for (int i = 0; i < STEPS; i++) {
      const int at = x + 32 * i + lane;

      if (at < n)
        to[at] = sum + values[i];
      sum += __shfl_sync (~0u, values[i], 31);
    }
  }
}

// Computes prefix sums down n columns from x on. Called by all threads of the
// block; each takes a part of the rows of a column. Row 0 of the band has the
// sums above the band on entry, and the sums including the band on return.
static __device__ __forceinline__ void
sum_down (int64_t *band, int pitch, int n_rows, int x, int n, int64_t *to)
{
  __shared__ int64_t totals[INTEGRAL_THREADS];
  const int n_parts = min (INTEGRAL_THREADS / n, n_rows);
  const int part = threadIdx.x / n, column = x + threadIdx.x - part * n;
  const bool works = part < n_parts;
  const int first = works ? 1 + part * n_rows / n_parts : 0;
  const int end = works ? 1 + (part + 1) * n_rows / n_parts : 0;
  int64_t sum = 0;

  for (int y = first; y < end; y++)
    sum += band[y * pitch + column];
  totals[threadIdx.x] = sum;
  __syncthreads ();
  if (works) {
    sum = band[column];
    for (int i = 0; i < part; i++)
      sum += totals[i * n + threadIdx.x - part * n];
  }
  for (int y = first; y < end; y++) {
    sum += band[y * pitch + column];
    to[(size_t) (y - 1) * (pitch + 1) + column] = sum;
  }
  __syncthreads ();
  if (works && end > n_rows)
    band[column] = sum;
}

// Adds n_rows rows to the columns' sums. Called by all threads of the block.
static __device__ __forceinline__ void
add_rows (const int64_t *from, int n_rows, int n, int64_t *sums)
{
  const int n_parts = max (INTEGRAL_THREADS / n, 1);

  for (int i = threadIdx.x; i < n * n_parts; i += INTEGRAL_THREADS) {
    const int part = i / n, x = i - part * n;
    long long sum = 0;

#pragma unroll 8
    for (int y = part; y < n_rows; y += n_parts)
      sum += __ldcg ((const long long *) &from[(size_t) y * n + x]);
    atomicAdd ((unsigned long long *) &sums[x], (unsigned long long) sum);
  }
}

// Grid: sums x grids x groups of rows. A block first adds up all rows above its
// group. Dynamic shared memory: row 0 for the sums above a band, and band_rows
// rows.
static __global__ void
__launch_bounds__ (INTEGRAL_THREADS) integrate_kernel (
    const __grid_constant__ CuvRcdIntegrals integrals, int band_rows)
{
  extern __shared__ int64_t band[];
  const int n = integrals.n_columns, pitch = n + 1;
  const size_t plane = (size_t) blockIdx.y * integrals.n_sums + blockIdx.x;
  const int above = blockIdx.z * integrals.n_rows / gridDim.z;
  const int end = (blockIdx.z + 1) * integrals.n_rows / gridDim.z;
  int64_t *from = integrals.from + plane * n * integrals.n_rows;
  int64_t *to = integrals.to + plane * pitch * (integrals.n_rows + 1);

  cuv_pdl_trigger ();
  for (int x = threadIdx.x; x < n; x += INTEGRAL_THREADS)
    band[x] = 0;
  cuv_pdl_wait ();
  for (int x = threadIdx.x; x < pitch && above == 0; x += INTEGRAL_THREADS)
    to[x] = 0;
  for (int y = above + threadIdx.x; y < end; y += INTEGRAL_THREADS)
    to[(size_t) (y + 1) * pitch] = 0;
  __syncthreads ();
  add_rows (from, above, n, band);
  __syncthreads ();
  if (above > 0 && threadIdx.x < 32)
    sum_along<true> (band, band, n, false);
  for (int first = above; first < end; first += band_rows) {
    const int n_rows = min (band_rows, end - first);

    for (int y = cuv_warp_of_thread (); y < n_rows; y += INTEGRAL_WARPS)
      sum_along<false> (from + (size_t) (first + y) * n, band + (y + 1) * n, n,
          integrals.clear);
    __syncthreads ();
    for (int x = 0; x < n; x += INTEGRAL_THREADS)
      sum_down (band, n, n_rows, x, min (n - x, INTEGRAL_THREADS),
          to + (size_t) (first + 1) * pitch + 1);
    __syncthreads ();
  }
}

int
cuv_rcd_integrate_submit (const CuvRcdIntegrals &integrals, cudaStream_t stream)
{
  // a group reads the rows above it, which another group must not clear
  const int n_groups = integrals.clear ? 1 : GROUPS;
  const size_t row = integrals.n_columns * sizeof (int64_t);
  const size_t max_shared =
      cuv_cuda_attribute (cudaDevAttrMaxSharedMemoryPerBlockOptin)
      - INTEGRAL_THREADS * sizeof (int64_t);
  const int fit = std::max ((int) (max_shared / row) - 1, 1);
  const int band_rows = std::min (fit, cuv_div_up (integrals.n_rows, n_groups));
  const size_t shared = (band_rows + 1) * row;

  if (cuv_cuda_allow_shared ((const void *) integrate_kernel, shared) != 0)
    return -1;
  return cuv_launch_dependent ("integrate_kernel",
      dim3 (integrals.n_sums, integrals.n_grids, n_groups), INTEGRAL_THREADS,
      shared, stream, integrate_kernel, integrals, band_rows);
}
