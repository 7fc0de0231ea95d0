// SPDX-License-Identifier: LGPL-2.1-or-later
// From numerators to a row's new values, and from columns to M = X^T X. STRIDE
// is the rank rounded up.
#ifndef CUV_NTF_UPDATE_CUH
#define CUV_NTF_UPDATE_CUH

#include "spectral/ntf.cuh"

// ---- new values ----

template <int STRIDE> struct CuvNtfRule {
  double product[STRIDE * STRIDE]; // of the other modes' M, value by value
  double penalty[STRIDE];
  double inverse[STRIDE]; // HALS: of the diagonal; 0 where a column has to wait
};

// By all threads of the block, which meet afterwards.
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
            * sqrt (__ldcg (&self.grams[mode][i]) / self.factors[mode].size)
                                                : 0;
    rule->inverse[k] = k >= self.rank
            || cuv_ntf_vanished (a, self.factors[p].size)
            || cuv_ntf_vanished (b, self.factors[q].size)
        ? 0
        : 1 / product;
  }
}

// Lanes have a column each, or two; of fewer columns than lanes, some the same.
template <int STRIDE> struct CuvNtfRow {
  static constexpr int n = (STRIDE + 31) / 32;
  float x[n];
  double numerators[n];
};

template <int STRIDE>
static __device__ __forceinline__ int
cuv_ntf_column (int i)
{
  return threadIdx.x % 32 % STRIDE + 32 * i;
}

// x <- x N / (X M), in all columns at once.
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

// x_k <- x_k + (N_k - X M_k) / M_kk, columns in order: each takes what it
// changes off what the others have left.
template <int STRIDE>
static __device__ __forceinline__ void
cuv_ntf_solve (const CuvNtfRule<STRIDE> &rule, int rank, CuvNtfRow<STRIDE> *row)
{
  constexpr int n = CuvNtfRow<STRIDE>::n;
  double rests[n];

#pragma unroll
  for (int i = 0; i < n; i++)
    rests[i] = row->numerators[i] - rule.penalty[cuv_ntf_column<STRIDE> (i)];
#pragma unroll
  for (int l = 0; l < STRIDE; l++) {
    const double x = __shfl_sync (~0u, row->x[l / 32], l % 32);

#pragma unroll
    for (int i = 0; i < n; i++)
      rests[i] = fma (
          -x, rule.product[l * STRIDE + cuv_ntf_column<STRIDE> (i)], rests[i]);
  }
#pragma unroll
  for (int c = 0; c < n; c++) {
    const double inverse = rule.inverse[cuv_ntf_column<STRIDE> (c)];

    for (int k = 32 * c; k < min (rank, 32 * c + 32); k++) {
      const float x =
          cuv_ntf_in_range (fma (rests[c], inverse, (double) row->x[c]));
      const double more =
          __shfl_sync (~0u, (double) x - (double) row->x[c], k % 32);

      if (cuv_ntf_column<STRIDE> (c) == k)
        row->x[c] = x;
#pragma unroll
      for (int i = 0; i < n; i++)
        rests[i] = fma (-more,
            rule.product[k * STRIDE + cuv_ntf_column<STRIDE> (i)], rests[i]);
    }
  }
}

// Row i of a mode, whose STRIDE numerators are in shared memory. By a warp.
template <int STRIDE>
static __device__ __forceinline__ void
cuv_ntf_update_row (const CuvNtfState &self, int mode, bool hals,
    const CuvNtfRule<STRIDE> &rule, const float *numerators, int i)
{
  constexpr int n = CuvNtfRow<STRIDE>::n;
  const CuvNtfMatrix &m = self.factors[mode];
  float *values = &m.values[i * m.row_step];
  CuvNtfRow<STRIDE> row;

#pragma unroll
  for (int c = 0; c < n; c++) {
    row.x[c] = values[cuv_ntf_column<STRIDE> (c) * m.k_step];
    row.numerators[c] = numerators[cuv_ntf_column<STRIDE> (c)];
  }
  if (hals)
    cuv_ntf_solve (rule, self.rank, &row);
  else
    cuv_ntf_multiply (rule, self.params.schedule == CUV_NTF_JACOBI, &row);
#pragma unroll
  for (int c = 0; c < n; c++) {
    const int k = threadIdx.x % 32 + 32 * c;

    if (k < self.rank)
      values[k * m.k_step] = row.x[c];
  }
}

// ---- M ----

// Room that a block of 256 threads needs for it: some rows, and M.
#define CUV_NTF_GRAM_ROWS 1024
template <int STRIDE>
using CuvNtfGramRoom = double[CUV_NTF_GRAM_ROWS + STRIDE * STRIDE];

template <int STRIDE>
static __device__ __forceinline__ void
cuv_ntf_gram_tile (const double *row, int k, int l, double (*sums)[4])
{
#pragma unroll
  for (int i = 0; i < 4; i++) {
#pragma unroll
    for (int j = 0; j < 4; j++)
      sums[i][j] = fma (row[k + i], row[l + j], sums[i][j]);
  }
}

// Over rows from first to below end. Each group of threads has some of the
// rows, and each of its threads 4 x 4 values of M.
template <int STRIDE>
static __device__ __forceinline__ void
cuv_ntf_gram_rows (
    const CuvNtfMatrix &m, int first, int end, double *room, double *gram)
{
  constexpr int side = STRIDE / 4, n_groups = 256 / (side * side);
  constexpr int n_rows = CUV_NTF_GRAM_ROWS / STRIDE;
  const int group = threadIdx.x / (side * side);
  const int tile = threadIdx.x % (side * side);
  const int k = tile / side * 4, l = tile % side * 4;
  double *all = room + CUV_NTF_GRAM_ROWS;
  double sums[4][4] = {};

  for (int from = first; from < end; from += n_rows) {
    const int n = min (n_rows, end - from);

    __syncthreads ();
    for (int i = threadIdx.x; i < n * STRIDE; i += 256)
      room[i] = __ldcg (
          &m.values[(from + i / STRIDE) * m.row_step + i % STRIDE * m.k_step]);
    __syncthreads ();
    for (int i = group; i < n; i += n_groups)
      cuv_ntf_gram_tile<STRIDE> (&room[i * STRIDE], k, l, sums);
  }
  for (int turn = 0; turn < n_groups; turn++) {
    for (int i = 0; i < 16 && group == turn; i++) {
      double *to = &all[(k + i / 4) * STRIDE + l + i % 4];

      *to = (turn > 0 ? *to : 0) + sums[i / 4][i % 4];
    }
    __syncthreads ();
  }
  for (int i = threadIdx.x; i < STRIDE * STRIDE; i += 256)
    gram[i] = all[i];
}

// One block's part of a mode's M; the last one adds up the parts.
template <int STRIDE>
static __device__ __forceinline__ void
cuv_ntf_gram_part (const CuvNtfState &self, int mode, int part, double *room)
{
  const CuvNtfMatrix &m = self.factors[mode];
  const int n_parts = self.n_parts[mode];
  double *parts = self.gram_parts[mode];

  cuv_ntf_gram_rows<STRIDE> (m, m.size * part / n_parts,
      m.size * (part + 1) / n_parts, room, &parts[part * STRIDE * STRIDE]);
  if (!cuv_ntf_is_last (&self.counters[mode], n_parts))
    return;
  for (int i = threadIdx.x; i < STRIDE * STRIDE; i += 256) {
    double sum = 0;

    for (int j = 0; j < n_parts; j++)
      sum += __ldcg (&parts[j * STRIDE * STRIDE + i]);
    self.grams[mode][i] = sum;
  }
}

#endif
