// SPDX-License-Identifier: LGPL-2.1-or-later
// Products of matrices by a block: a warp makes 8 x 8 elements.
#ifndef CUV_PCA_PRODUCT_CUH
#define CUV_PCA_PRODUCT_CUH

#include "spectral/pca-mma.cuh"

// See cuv_pca_add_product(). Two sums, so that one product need not wait for
// the other. In one place, for it is called from many.
static __device__ __noinline__ void
cuv_pca_product_tiles (const CuvTeam &team, const double *add, const double *a,
    int rows_a, const double *b, int step_j, int step_k, int rows_b, int n,
    int pitch, double *c)
{
  const int across = (rows_b + 7) / 8, tiles = across * ((rows_a + 7) / 8);
  const int line = team.column / 4, k0 = team.column % 4;

  for (int tile = team.row; tile < tiles; tile += team.rows) {
    const int i = tile / across * 8 + line, first = tile % across * 8;
    const int j = first + line;
    double sums[2][2] = {};

    for (int k = 0; k < n; k += 16) {
#pragma unroll
      for (int half = 0; half < 2; half++) {
        double x[2], y[2];

#pragma unroll
        for (int l = 0; l < 2; l++) {
          const int at = k + 8 * half + 4 * l + k0;

          x[l] = i < rows_a && at < n ? a[i * pitch + at] : 0.0;
          y[l] = j < rows_b && at < n ? b[j * step_j + at * step_k] : 0.0;
        }
        cuv_pca_mma (sums[half], x, y);
      }
    }
#pragma unroll
    for (int half = 0; half < 2; half++) {
      const int column = first + 2 * k0 + half;
      const int at = i * pitch + column;

      if (i < rows_a && column < rows_b)
        c[at] =
            sums[0][half] + sums[1][half] + (add != nullptr ? add[at] : 0.0);
    }
  }
}

#endif
