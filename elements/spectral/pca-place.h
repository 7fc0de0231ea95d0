/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where eigenvectors go among the components of a basis; rows of numbers. */
#ifndef CUV_PCA_PLACE_H
#define CUV_PCA_PLACE_H

#include "pca.h"

/* Of scratch->vectors and ->values, in any order. By eigenvalue, the largest
 * component of each positive. */
void cuv_pca_place_freely (CuvPcaBasis *self, CuvPcaScratch *scratch);

/* Where the vectors most like them were, which it leaves in scratch->a. */
void cuv_pca_place_as_before (CuvPcaBasis *self, CuvPcaScratch *scratch);

/* After that: turns components of near eigenvalues, less than 1 % of the first
 * apart, in the space they span to those before. */
void cuv_pca_align (CuvPcaBasis *self, CuvPcaScratch *scratch);

/* In four sums, so that one addition does not wait for the other. */
static inline double
cuv_pca_dot (const double *a, const double *b, int n)
{
  double sums[4] = { 0 };
  int i = 0;

  for (; i + 4 <= n; i += 4) {
    for (int k = 0; k < 4; k++)
      sums[k] += a[i + k] * b[i + k];
  }
  for (; i < n; i++)
    sums[i % 4] += a[i] * b[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

static inline void
cuv_pca_add_scaled (double *to, const double *from, double factor, int n)
{
  for (int i = 0; i < n; i++)
    to[i] += factor * from[i];
}

/* c = a b^T, of rows_a and rows_b rows. */
static inline void
cuv_pca_multiply (
    const double *a, int rows_a, const double *b, int rows_b, int n, double *c)
{
  for (int i = 0; i < rows_a; i++) {
    for (int j = 0; j < rows_b; j++)
      c[i * rows_b + j] = cuv_pca_dot (&a[i * n], &b[j * n], n);
  }
}

#endif
