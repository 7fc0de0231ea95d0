// SPDX-License-Identifier: LGPL-2.1-or-later
// Device functions that compute new values of rows from numerators N, and Gram
// matrices M. STRIDE is the rank rounded up.
#ifndef CUV_NTF_UPDATE_CUH
#define CUV_NTF_UPDATE_CUH

#include "ntf/ntf-state.cuh"

// Coefficients of the update, the same for all rows of a mode.
template <int STRIDE> struct CuvNtfRule {
  double product[STRIDE * STRIDE]; // elementwise product of the other modes' M
  double penalty[STRIDE];          // penalty of the sparsity
  double inverse[STRIDE]; // HALS: 1 / diagonal; 0: the column is not updated
};

// Spins until earlier blocks, of this kernel or a previous one, have computed a
// mode's M of this iteration. This cannot deadlock, because those blocks wait
// for no other, and a GPU starts the blocks of a kernel in order. Called by all
// threads.
static __device__ __forceinline__ void
cuv_ntf_wait_for_gram (const CuvNtfState &self, int mode)
{
  if (threadIdx.x == 0) {
    const volatile int *ready = &self.counters->ready[mode];

    while (*ready != self.iteration)
      ;
    __threadfence ();
  }
  __syncthreads ();
}

// Computes the coefficients. Called by all threads, which must synchronise
// afterwards.
template <int STRIDE>
static __device__ __forceinline__ void
cuv_ntf_prepare (const CuvNtfState &self, int mode, CuvNtfRule<STRIDE> *rule)
{
  const int p = (mode + 1) % CUV_NTF_MODES, q = (mode + 2) % CUV_NTF_MODES;

  for (int i = threadIdx.x; i < STRIDE * STRIDE; i += blockDim.x) {
    const double a = __ldcg (&self.grams[p][i]);
    const double b = __ldcg (&self.grams[q][i]), product = a * b;
    const int k = i / STRIDE;

    rule->product[i] = product;
    if (i % (STRIDE + 1) != 0)
      continue;
    rule->penalty[k] = self.params.sparsity > 0 ? self.params.sparsity * product
            * sqrt (__ldcg (&self.grams[mode][i]) / cuv_ntf_n_rows (self, mode))
                                                : 0;
    if (self.params.algorithm != CUV_NTF_HALS)
      continue;
    rule->inverse[k] = k >= self.rank
            || cuv_ntf_vanished (a, cuv_ntf_n_rows (self, p))
            || cuv_ntf_vanished (b, cuv_ntf_n_rows (self, q))
        ? 0
        : 1 / (product + cuv_ntf_damping (&self.params, mode));
  }
}

// A row of X over a warp: each lane has one or two columns; with fewer columns
// than lanes, some lanes have the same one.
template <int STRIDE> struct CuvNtfRow {
  static constexpr int n = (STRIDE + 31) / 32;
  float x[n];
  double numerators[n];
};

// Returns the i-th column of a lane.
template <int STRIDE>
static __device__ __forceinline__ int
cuv_ntf_column (int i)
{
  return threadIdx.x % 32 % STRIDE + 32 * i;
}

// Updates a row by multiplication: x <- x N / (x M), in all columns at once. M:
// product.
template <int STRIDE>
static __device__ __forceinline__ void
cuv_ntf_multiply (
    const CuvNtfRule<STRIDE> &rule, bool jacobi, CuvNtfRow<STRIDE> *row)
{
  constexpr int n = CuvNtfRow<STRIDE>::n;
  double denominators[n];

#pragma unroll
  for (int i = 0; i < n; i++)
    denominators[i] = rule.penalty[cuv_ntf_column<STRIDE> (i)];
#pragma unroll
  for (int l = 0; l < STRIDE; l++) {
    const double x = __shfl_sync (~0u, row->x[l / 32], l % 32);

#pragma unroll
    for (int i = 0; i < n; i++)
      denominators[i] =
          fma (x, rule.product[l * STRIDE + cuv_ntf_column<STRIDE> (i)],
              denominators[i]);
  }
#pragma unroll
  for (int i = 0; i < n; i++) {
    const double ratio = row->numerators[i] / fmax (denominators[i], 1e-20);

    row->x[i] = cuv_ntf_in_range (row->x[i] * (jacobi ? cbrt (ratio) : ratio));
  }
}

// Sweeps over a row with HALS: x_k <- x_k + (N_k - x M_k) / M_kk in order of k,
// where each column updates the residuals N - x M. Returns whether a value
// changed.
template <int STRIDE>
static __device__ __forceinline__ bool
cuv_ntf_sweep (const CuvNtfRule<STRIDE> &rule, int rank, double *residuals,
    CuvNtfRow<STRIDE> *row)
{
  constexpr int n = CuvNtfRow<STRIDE>::n;
  bool changed = false;

#pragma unroll
  for (int c = 0; c < n; c++) {
    const double inverse = rule.inverse[cuv_ntf_column<STRIDE> (c)];

    for (int k = 32 * c; k < min (rank, 32 * c + 32); k++) {
      const float x =
          cuv_ntf_in_range (fma (residuals[c], inverse, (double) row->x[c]));
      const double change =
          __shfl_sync (~0u, (double) x - (double) row->x[c], k % 32);

      if (cuv_ntf_column<STRIDE> (c) == k)
        row->x[c] = x;
      changed |= change != 0;
#pragma unroll
      for (int i = 0; i < n; i++)
        residuals[i] =
            fma (-change, rule.product[k * STRIDE + cuv_ntf_column<STRIDE> (i)],
                residuals[i]);
    }
  }
  return changed;
}

// Updates a row by up to CUV_NTF_SWEEPS sweeps of HALS.
template <int STRIDE>
static __device__ __forceinline__ void
cuv_ntf_solve (const CuvNtfRule<STRIDE> &rule, int rank, CuvNtfRow<STRIDE> *row)
{
  constexpr int n = CuvNtfRow<STRIDE>::n;
  double residuals[n];

#pragma unroll
  for (int i = 0; i < n; i++)
    residuals[i] =
        row->numerators[i] - rule.penalty[cuv_ntf_column<STRIDE> (i)];
#pragma unroll
  for (int l = 0; l < STRIDE; l++) {
    const double x = __shfl_sync (~0u, row->x[l / 32], l % 32);

#pragma unroll
    for (int i = 0; i < n; i++)
      residuals[i] = fma (-x,
          rule.product[l * STRIDE + cuv_ntf_column<STRIDE> (i)], residuals[i]);
  }
#pragma unroll 1
  for (int i = 0;
       i < CUV_NTF_SWEEPS && cuv_ntf_sweep<STRIDE> (rule, rank, residuals, row);
       i++)
    ;
}

// Loads row i of a mode into a warp; the loads overlap with the computation of
// numerators.
template <int STRIDE>
static __device__ __forceinline__ void
cuv_ntf_load_row (
    const CuvNtfState &self, int mode, int i, CuvNtfRow<STRIDE> *row)
{
  const CuvNtfMatrix &m = self.factors[mode];

#pragma unroll
  for (int c = 0; c < row->n; c++)
    row->x[c] =
        m.values[i * m.row_step + cuv_ntf_column<STRIDE> (c) * m.k_step];
}

// Computes new values of a row; called by a warp. They replace its STRIDE
// numerators in shared memory.
template <int STRIDE>
static __device__ __forceinline__ void
cuv_ntf_update_row (const CuvNtfState &self, int mode,
    const CuvNtfRule<STRIDE> &rule, float *numerators, int i,
    CuvNtfRow<STRIDE> *row)
{
  const CuvNtfMatrix &m = self.factors[mode];

#pragma unroll
  for (int c = 0; c < row->n; c++)
    row->numerators[c] = numerators[cuv_ntf_column<STRIDE> (c)];
  if (self.params.algorithm == CUV_NTF_HALS)
    cuv_ntf_solve (rule, self.rank, row);
  else
    cuv_ntf_multiply (rule, self.params.schedule == CUV_NTF_JACOBI, row);
  __syncwarp (); // all have read their numerators
#pragma unroll
  for (int c = 0; c < row->n; c++) {
    const int k = threadIdx.x % 32 + 32 * c;

    if (k < self.rank)
      m.values[i * m.row_step + k * m.k_step] = numerators[k] = row->x[c];
  }
}

#define CUV_NTF_MAX_ROWS 8 // maximum per block of 256 threads
// Shared memory of cuv_ntf_update_rows().
template <int STRIDE> struct CuvNtfUpdateShared {
  CuvNtfRule<STRIDE> rule;
  float parts[1024], numerators[CUV_NTF_MAX_ROWS * STRIDE];
};

// Adds up the n_sums partial sums of n numerators from `first` on, four
// numerators per thread; the remaining threads share the partial sums.
static __device__ __forceinline__ void
cuv_ntf_load_sums (
    const CuvNtfState &self, int mode, int first, int n, float *parts)
{
  const int n_threads = n / 4, n_parts = 256 / n_threads;
  const int part = threadIdx.x / n_threads, i = threadIdx.x % n_threads * 4;
  const size_t step = cuv_ntf_n_values (self, mode);
  const int end = part < n_parts ? self.n_sums[mode] : 0;
  const float *from = &self.sums[mode][first + i];
  float4 sum = make_float4 (0, 0, 0, 0);

#pragma unroll 8
  for (int s = part; s < end; s += n_parts) {
    const float4 addend = __ldcg ((const float4 *) &from[s * step]);

    sum.x += addend.x;
    sum.y += addend.y;
    sum.z += addend.z;
    sum.w += addend.w;
  }
  *(float4 *) &parts[4 * threadIdx.x] = sum;
}

// Adds up the sums that cuv_ntf_load_sums() stored in parts.
static __device__ __forceinline__ void
cuv_ntf_add_parts (const float *parts, int n, float *numerators)
{
  const int n_parts = 256 / (n / 4);

  for (int i = threadIdx.x; i < n; i += 256) {
    float sum = 0;

    for (int p = 0; p < n_parts; p++)
      sum += parts[p * n + i];
    numerators[i] = sum;
  }
}

// Updates rows from first on, whose numerators are complete. Does nothing if
// stop is set; the caller loads stop so that its load overlaps with those of
// the rows.
template <int STRIDE>
static __device__ __forceinline__ void
cuv_ntf_update_rows (const CuvNtfState &self, int mode, int first, int n_rows,
    int stop, CuvNtfUpdateShared<STRIDE> *shared)
{
  const int n = n_rows * STRIDE, warp = cuv_warp_of_thread ();
  CuvNtfRow<STRIDE> row;

  if (warp < n_rows)
    cuv_ntf_load_row (self, mode, first + warp, &row);
  cuv_ntf_load_sums (self, mode, first * STRIDE, n, shared->parts);
  if (stop)
    return;
  if (self.params.schedule == CUV_NTF_GS)
    cuv_ntf_wait_for_gram (self, cuv_ntf_mode_before (mode));
  cuv_ntf_prepare (self, mode, &shared->rule);
  __syncthreads ();
  cuv_ntf_add_parts (shared->parts, n, shared->numerators);
  __syncthreads ();
  if (warp < n_rows)
    cuv_ntf_update_row (self, mode, shared->rule,
        &shared->numerators[warp * STRIDE], first + warp, &row);
}

// Shared memory for M, in values: some rows, then the M of each group of
// threads.
#define CUV_NTF_GRAM_VALUES 1024

// Loads n rows from `first` on into shared memory, all loads in flight at once.
template <int STRIDE>
static __device__ __forceinline__ void
cuv_ntf_load_some (const CuvNtfMatrix &m, int first, int n, double *shared)
{
  float values[CUV_NTF_GRAM_VALUES / 256];

#pragma unroll
  for (int j = 0; j < CUV_NTF_GRAM_VALUES / 256; j++) {
    const int i = threadIdx.x + j * 256, row = first + i / STRIDE;

    values[j] = i < n * STRIDE
        ? __ldcg (&m.values[row * m.row_step + i % STRIDE * m.k_step])
        : 0;
  }
  __syncthreads ();
#pragma unroll
  for (int j = 0; j < CUV_NTF_GRAM_VALUES / 256; j++) {
    if (threadIdx.x < 256)
      shared[threadIdx.x + j * 256] = values[j];
  }
  __syncthreads ();
}

// Computes M of rows first .. end - 1. Each of 256 threads has N x N values of
// M; groups of side x side threads share the rows.
template <int STRIDE>
static __device__ __forceinline__ void
cuv_ntf_gram_rows (
    const CuvNtfMatrix &m, int first, int end, double *shared, double *gram)
{
  constexpr int N = STRIDE < 64 ? 2 : 4, side = STRIDE / N;
  constexpr int n_tiles = side * side, n_groups = 256 / n_tiles;
  constexpr int n_rows = CUV_NTF_GRAM_VALUES / STRIDE;
  const int group = threadIdx.x / n_tiles, tile = threadIdx.x % n_tiles;
  const int k = tile / side * N, l = tile % side * N;
  double sums[N][N] = {}, *to = n_groups > 1 ? shared : gram;

  for (int from = first; from < end; from += n_rows) {
    const int n = min (n_rows, end - from);

    cuv_ntf_load_some<STRIDE> (m, from, n, shared);
    for (int i = group; i < (group < n_groups ? n : 0); i += n_groups) {
#pragma unroll
      for (int j = 0; j < N * N; j++)
        sums[j / N][j % N] = fma (shared[i * STRIDE + k + j / N],
            shared[i * STRIDE + l + j % N], sums[j / N][j % N]);
    }
  }
  __syncthreads ();
  for (int j = 0; j < (group < n_groups ? N * N : 0); j++)
    to[(group * STRIDE + k + j / N) * STRIDE + l + j % N] = sums[j / N][j % N];
  if (n_groups == 1)
    return;
  __syncthreads ();
  for (int i = threadIdx.x; i < STRIDE * STRIDE; i += blockDim.x) {
    double sum = 0;

    for (int j = 0; j < n_groups; j++)
      sum += shared[j * STRIDE * STRIDE + i];
    gram[i] = sum;
  }
}

// Adds up the parts of a mode's M, in the last block that has computed one.
template <int STRIDE>
static __device__ __forceinline__ void
cuv_ntf_add_gram_parts (const CuvNtfState &self, int mode)
{
  const int n_parts = self.n_parts[mode];
  const double *parts = self.gram_parts[mode];

  if (!cuv_ntf_is_last (&self.counters->grams[mode], n_parts))
    return;
  for (int i = threadIdx.x; i < STRIDE * STRIDE; i += blockDim.x) {
    double sum = 0;

#pragma unroll
    for (int j = 0; j < CUV_NTF_GRAM_PARTS; j++)
      sum += j < n_parts ? __ldcg (&parts[j * STRIDE * STRIDE + i]) : 0;
#pragma unroll 8
    for (int j = CUV_NTF_GRAM_PARTS; j < n_parts; j++)
      sum += __ldcg (&parts[j * STRIDE * STRIDE + i]);
    self.grams[mode][i] = sum;
  }
  __syncthreads ();
  if (threadIdx.x == 0) {
    __threadfence ();
    atomicExch (&self.counters->ready[mode], self.iteration);
  }
}

// Computes a block's part of a mode's M.
template <int STRIDE>
static __device__ __forceinline__ void
cuv_ntf_gram_part (const CuvNtfState &self, int mode, int part, double *shared)
{
  const CuvNtfMatrix &m = self.factors[mode];
  const int n_parts = self.n_parts[mode];
  const int64_t size = m.size;

  cuv_ntf_gram_rows<STRIDE> (m, (int) (size * part / n_parts),
      (int) (size * (part + 1) / n_parts), shared,
      &self.gram_parts[mode][part * STRIDE * STRIDE]);
  cuv_ntf_add_gram_parts<STRIDE> (self, mode);
}

#endif
