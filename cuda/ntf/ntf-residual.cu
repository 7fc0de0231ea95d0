// SPDX-License-Identifier: LGPL-2.1-or-later
// The residual, G - sum of terms: its norm for the stopping test (test_kernel),
// or a map (residual_kernel).
#include "ntf/ntf-state.cuh"

#define CUV_NTF_RESIDUAL_THREADS 128
#define CUV_NTF_RESIDUAL_BANDS 32 // bands whose terms are in shared memory
#define CUV_NTF_BANDS_AT_ONCE 8   // bands per thread

// Loads terms u[y][k] * w[z][k] for bands from z on; 0 beyond the depth.
static __device__ __forceinline__ void
load_terms (const CuvNtfState &self, int n_terms, int y, int z,
    float (*terms)[CUV_NTF_RESIDUAL_BANDS])
{
  const int row = self.is_matrix ? 0 : y;
  const float *u = &self.factors[CUV_NTF_U].values[row * self.stride];
  const float *w = self.factors[CUV_NTF_W].values;

  __syncthreads ();
  for (int i = threadIdx.x; i < n_terms * CUV_NTF_RESIDUAL_BANDS;
       i += CUV_NTF_RESIDUAL_THREADS) {
    const int k = i / CUV_NTF_RESIDUAL_BANDS,
              band = z + i % CUV_NTF_RESIDUAL_BANDS;

    terms[k][i % CUV_NTF_RESIDUAL_BANDS] =
        band < self.depth ? u[k] * w[band * self.stride + k] : 0;
  }
  __syncthreads ();
}

// Adds the terms at 4 pixels of CUV_NTF_BANDS_AT_ONCE bands.
static __device__ __forceinline__ void
rebuild (const float *v, int pitch, int n_terms, const float *terms,
    float (*sums)[4])
{
#pragma unroll 2
  for (int k = 0; k < n_terms;
       k++, v += pitch, terms += CUV_NTF_RESIDUAL_BANDS) {
    const float4 factors = cuv_ntf_load4 (v);

#pragma unroll
    for (int z = 0; z < CUV_NTF_BANDS_AT_ONCE; z++) {
      sums[z][0] = fmaf (terms[z], factors.x, sums[z][0]);
      sums[z][1] = fmaf (terms[z], factors.y, sums[z][1]);
      sums[z][2] = fmaf (terms[z], factors.z, sums[z][2]);
      sums[z][3] = fmaf (terms[z], factors.w, sums[z][3]);
    }
  }
}

// Adds the squares of n bands of G times scale, minus sums. T: type of the
// difference.
template <typename T>
static __device__ __forceinline__ void
add_squares (const float *g, int pitch, int n, T scale, const float (*sums)[4],
    double *squares)
{
#pragma unroll
  for (int z = 0; z < CUV_NTF_BANDS_AT_ONCE; z++) {
    if (z >= n)
      break;
    const float4 four = cuv_ntf_load4 (&g[(size_t) z * pitch]);
    const float values[4] = { four.x, four.y, four.z, four.w };

#pragma unroll
    for (int i = 0; i < 4; i++) {
      const T left = values[i] * scale - sums[z][i];

      squares[i] = fma ((double) left, (double) left, squares[i]);
    }
  }
}

// Calls take (x, squares) for every 4 pixels from x on of row y, with the sums
// of their squares over bands.
template <typename T, typename F>
static __device__ __forceinline__ void
compare_row (const CuvNtfState &self, int n_terms, int y, T scale, F take)
{
  __shared__ float terms[CUV_NTF_MAX_RANK][CUV_NTF_RESIDUAL_BANDS];
  const float *v =
      &self.factors[CUV_NTF_V].values[self.is_matrix ? y * self.pitch : 0];
  const float *row = &self.g[(size_t) y * self.depth * self.pitch];

  for (int x0 = 0; x0 < self.pitch; x0 += 4 * CUV_NTF_RESIDUAL_THREADS) {
    const int x = x0 + 4 * threadIdx.x;
    double squares[4] = {};

    for (int z0 = 0; z0 < self.depth; z0 += CUV_NTF_RESIDUAL_BANDS) {
      const int end = min (z0 + CUV_NTF_RESIDUAL_BANDS, self.depth);

      if (x0 == 0 || self.depth > CUV_NTF_RESIDUAL_BANDS)
        load_terms (self, n_terms, y, z0, terms);
      for (int z = z0; z < (x < self.pitch ? end : 0);
           z += CUV_NTF_BANDS_AT_ONCE) {
        float sums[CUV_NTF_BANDS_AT_ONCE][4] = {};

        rebuild (&v[x], self.factors[CUV_NTF_V].k_step, n_terms,
            &terms[0][z - z0], sums);
        add_squares (&row[(size_t) z * self.pitch + x], self.pitch, end - z,
            scale, sums, squares);
      }
    }
    if (x < self.pitch)
      take (x, squares);
  }
}

// Returns the sum over all threads to thread 0.
static __device__ __forceinline__ double
block_sum (double value)
{
  __shared__ double sums[CUV_NTF_RESIDUAL_THREADS / 32];

  value = cuv_warp_sum (value);
  __syncthreads ();
  sums[threadIdx.x / 32] = value;
  __syncthreads ();
  for (int i = 1; i < CUV_NTF_RESIDUAL_THREADS / 32; i++)
    value += sums[i];
  return value;
}

// Records the error of the test after iteration n. square: squared norm of the
// residual.
static __device__ __forceinline__ void
record_test (const CuvNtfState &self, int n, double square)
{
  CuvNtfProgress *progress = self.progress;
  CuvNtfResult *result = &progress->result;
  const double tensor_square = progress->square;

  if (n == 0) {
    progress->square = square;
    return;
  }
  result->iterations = n;
  cuv_ntf_record_error (result, &self.params,
      tensor_square > 0 ? sqrt (square / tensor_square) : 0);
  progress->stop = result->converged || n == self.params.iterations;
}

// Grid: rows. The last block of all launches for a test adds up the rows and
// records the error.
static __global__ void
__launch_bounds__ (CUV_NTF_RESIDUAL_THREADS)
    test_kernel (const __grid_constant__ CuvNtfState self, int n, int first_row)
{
  const int y = first_row + blockIdx.x;
  double square = 0;

  cuv_pdl_trigger ();
  cuv_pdl_wait ();
  if (__ldcg (&self.progress->stop))
    return;
  compare_row (self, n == 0 ? 0 : self.rank, y, 1.0f,
      [&] (int x, const double *squares) {
        square += squares[0] + squares[1] + squares[2] + squares[3];
      });
  square = block_sum (square);
  if (threadIdx.x == 0)
    self.row_squares[y] = square;
  if (!cuv_ntf_is_last (&self.counters->test, self.height))
    return;
  square = 0;
  for (int i = threadIdx.x; i < self.height; i += CUV_NTF_RESIDUAL_THREADS)
    square += __ldcg (&self.row_squares[i]);
  square = block_sum (square);
  if (threadIdx.x == 0)
    record_test (self, n, square);
}

int
cuv_ntf_test_submit (
    const CuvNtfState &self, int n, int row, int n_rows, cudaStream_t stream)
{
  return cuv_launch_dependent ("test_kernel", n_rows, CUV_NTF_RESIDUAL_THREADS,
      0, stream, test_kernel, self, n, row);
}

// Grid: rows.
static __global__ void
__launch_bounds__ (CUV_NTF_RESIDUAL_THREADS) residual_kernel (
    const __grid_constant__ CuvNtfState self, int first_row, float *map)
{
  const int y = first_row + blockIdx.x;
  float *to = &map[(size_t) y * self.width];

  cuv_pdl_wait ();
  compare_row (
      self, self.rank, y, self.scale, [&] (int x, const double *squares) {
        for (int i = 0; i < min (4, self.width - x); i++)
          to[x + i] = (float) sqrt (squares[i] / self.depth);
      });
}

int
cuv_ntf_residual_submit (const CuvNtfState &self, int row, int n_rows,
    float *map, cudaStream_t stream)
{
  return cuv_launch_dependent ("residual_kernel", n_rows,
      CUV_NTF_RESIDUAL_THREADS, 0, stream, residual_kernel, self, row, map);
}
