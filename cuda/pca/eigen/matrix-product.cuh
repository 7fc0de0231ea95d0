// SPDX-License-Identifier: LGPL-2.1-or-later
// Matrix products by a block. A warp computes 8 x 8 elements; lane l has those
// of row l / 4 and columns l % 4 * 2 + {0, 1}. Rows are `pitch` values apart
// and zero-padded to a multiple of four values; left operands also have as many
// zero rows.
#ifndef CUV_PCA_EIGEN_MATRIX_PRODUCT_CUH
#define CUV_PCA_EIGEN_MATRIX_PRODUCT_CUH

#include "pca/pca-mma.cuh"

// Multiplies eight values from k on, or four if the row ends after them.
template <int COUNT, typename A, typename B>
static __device__ __forceinline__ void
cuv_pca_add_eight (A a, B b, int k, bool is_full, double (*sums)[2])
{
  const double y[2] = { b (k), is_full ? b (k + 4) : 0.0 };

#pragma unroll
  for (int m = 0; m < COUNT; m++) {
    const double x[2] = { a (m, k), is_full ? a (m, k + 4) : 0.0 };

    cuv_pca_mma (sums[m], x, y);
  }
}

// Computes COUNT products with the same right side over n values: a (m, k) is
// the lane's value of the left side of product m, b (k) of the right side, for
// k = 0, 4, 8, ... Two accumulators shorten the dependency chain.
template <int COUNT, typename A, typename B>
static __device__ __forceinline__ void
cuv_pca_add_tile (A a, B b, int n, double (*sums)[2])
{
  // without MMA, unrolling takes too many registers
  [[maybe_unused]] constexpr int at_once = CUV_PCA_HAS_MMA ? 2 : 1;
  double odd_sums[COUNT][2] = {};
  int k = 0;

#pragma unroll(at_once)
  for (; k + 16 <= n; k += 16) {
    cuv_pca_add_eight<COUNT> (a, b, k, true, sums);
    cuv_pca_add_eight<COUNT> (a, b, k + 8, true, odd_sums);
  }
  if (k < n)
    cuv_pca_add_eight<COUNT> (a, b, k, k + 4 < n, sums);
  if (k + 8 < n)
    cuv_pca_add_eight<COUNT> (a, b, k + 8, k + 12 < n, odd_sums);
#pragma unroll
  for (int m = 0; m < COUNT; m++) {
    sums[m][0] += odd_sums[m][0];
    sums[m][1] += odd_sums[m][1];
  }
}

// Calls body (row, column) with the first elements of all down x across tiles,
// or of those on and above the diagonal.
template <bool UPPER, typename Body>
static __device__ __forceinline__ void
cuv_pca_each_tile (const CuvPcaGroup &group, int down, int across, Body body)
{
#pragma unroll 1
  for (int i = 0, j = group.warp;; j += group.warps) {
    while (j >= across && i < down) {
      i++;
      j -= across - (UPPER ? i : 0);
    }
    if (i >= down)
      return;
    body (8 * i, 8 * j);
  }
}

// Computes c = add + a b or, with ROWS, add + a b^T, with n values per row of
// a. Lanes beyond the last row or column multiply arbitrary elements and store
// nothing.
template <bool ROWS>
static __device__ __forceinline__ void
cuv_pca_product_tiles (const CuvPcaGroup &group, const double *add,
    const double *a, int rows, const double *b, int columns, int n, int pitch,
    double *c)
{
  const int line = group.lane / 4, k = group.lane % 4;

  cuv_pca_each_tile<false> (
      group, (rows + 7) / 8, (columns + 7) / 8, [&] (int row, int column) {
        const int i = min (row + line, rows - 1);
        const int j = min (column + line, columns - 1);
        const double *left = &a[i * pitch + k];
        const double *right = ROWS ? &b[j * pitch + k] : &b[k * pitch + j];
        double sums[1][2] = {};

        cuv_pca_add_tile<1> ([&] (int, int l) { return left[l]; },
            [&] (int l) { return right[ROWS ? l : l * pitch]; }, (n + 3) & ~3,
            sums);
#pragma unroll
        for (int half = 0; half < 2; half++) {
          const int at = column + 2 * k + half;

          if (row + line >= rows || at >= columns)
            continue;
          if (add != nullptr)
            sums[0][half] += add[(row + line) * pitch + at];
          c[(row + line) * pitch + at] = sums[0][half];
        }
      });
}

// Computes the upper halves of a b^T (symmetric) and b b^T, both n x n, and
// calls body (i, j, element of a b^T, of b b^T). a (i, k) must be finite for k
// up to the multiple of four after n.
template <typename A, typename Body>
static __device__ __forceinline__ void
cuv_pca_symmetric_tiles (
    const CuvPcaGroup &group, A a, const double *b, int n, int pitch, Body body)
{
  const int line = group.lane / 4, k = group.lane % 4, across = (n + 7) / 8;

  cuv_pca_each_tile<true> (group, across, across, [&] (int row, int column) {
    const int i = min (row + line, n - 1), j = min (column + line, n - 1);
    const double *left = &b[i * pitch + k], *right = &b[j * pitch + k];
    double sums[2][2] = {};

    cuv_pca_add_tile<2> (
        [&] (int m, int l) { return m == 0 ? a (i, k + l) : left[l]; },
        [&] (int l) { return right[l]; }, (n + 3) & ~3, sums);
#pragma unroll
    for (int half = 0; half < 2; half++) {
      const int at = column + 2 * k + half;

      if (row + line <= at && at < n)
        body (row + line, at, sums[0][half], sums[1][half]);
    }
  });
}

#endif
