/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Thread groups that work on small matrices: in CUDA a block or part of a warp,
 * on the CPU one thread. The size of the group affects only the last digits of
 * sums. */
#ifndef CUV_PCA_EIGEN_THREAD_GROUP_H
#define CUV_PCA_EIGEN_THREAD_GROUP_H

#include <math.h>
#include <stdint.h>
#include "cuv-api.h"

#ifdef __CUDACC__
#define CUV_PCA_GROUP_FUNC static inline __device__
#define CUV_PCA_GROUP_NOINLINE                                                 \
  static __device__ __noinline__ /* rarely called */
#else
#define CUV_PCA_GROUP_FUNC static inline
#define CUV_PCA_GROUP_NOINLINE static inline
#endif

/* A 2D arrangement of threads. Rows are the warps of a block or, if shorter
 * than 32 lanes, parts of its only warp. Matrix products are split over whole
 * warps. */
typedef struct {
  int row, rows, column, columns; /* place of this thread; size of the group */
  int warp, warps, lane;
} CuvPcaGroup;

/* A warp's part of a reduction over the group, in shared memory. */
typedef union {
  double value;
  uint32_t parts[2];
} CuvPcaGroupSlot;

enum { CUV_PCA_GROUP_SLOTS = 32 };

/* Magnitude of a matrix's elements: an upper bound of the sum of squares, and
 * the largest absolute value. On the GPU a sum above 1 means only that it is
 * above 1. */
typedef struct {
  float squares, largest;
} CuvPcaMagnitude;

CUV_HOST_DEVICE CuvPcaGroup
cuv_pca_group_single (void)
{
  const CuvPcaGroup group = { 0, 1, 0, 1, 0, 1, 0 };

  return group;
}

/* Loops split over the group: over all threads, over rows, over columns. They
 * are not unrolled: most have one or two iterations per thread, and a larger
 * kernel would take longer to fetch. */
#ifdef __CUDACC__
#define CUV_PCA_GROUP_ROLLED _Pragma ("unroll 1")
#else
#define CUV_PCA_GROUP_ROLLED
#endif
#define CUV_PCA_GROUP_EACH(group, i, n)                                        \
  CUV_PCA_GROUP_ROLLED                                                         \
  for (int i = (group).row * (group).columns + (group).column; i < (n);        \
       i += (group).rows * (group).columns)
#define CUV_PCA_GROUP_ROWS(group, i, n)                                        \
  CUV_PCA_GROUP_ROLLED for (int i = (group).row; i < (n); i += (group).rows)
#define CUV_PCA_GROUP_COLUMNS(group, j, first, n)                              \
  CUV_PCA_GROUP_ROLLED                                                         \
  for (int j = (first) + (group).column; j < (n); j += (group).columns)

/* All i <= j of a symmetric matrix. For load balance a row of threads takes
 * rows i and n - 1 - i together: n + 1 elements. */
#ifdef __CUDACC__
#define CUV_PCA_GROUP_UPPER(group, i, j, n)                                    \
  CUV_PCA_GROUP_ROWS (group, fold, ((n) + 1) / 2)                              \
  CUV_PCA_GROUP_COLUMNS (group, at, 0, (n) + 1)                                \
  for (int i = at < (n) -fold ? fold : (n) -1 - fold,                          \
           j = at < (n) -fold ? fold + at : at - 1,                            \
           there = at < (n) -fold || i > fold;                                 \
       there; there = 0)
#else
#define CUV_PCA_GROUP_UPPER(group, i, j, n)                                    \
  for (int i = 0; i < (n); i++)                                                \
    for (int j = i; j < (n); j++)
#endif

/* All threads of a group call its functions. Structures are private to a
 * thread; the memory that they point to is shared. */

CUV_PCA_GROUP_FUNC int
cuv_pca_group_is_first (CuvPcaGroup group)
{
  return group.row == 0 && group.column == 0;
}

#ifdef __CUDACC__
#include "pca/eigen/matrix-product.cuh"
#include "pca/eigen/reductions.cuh"
#else
/* With one thread there is nothing to synchronise or reduce; reductions.cuh
 * says what the functions do. */
#define cuv_pca_group_sync(group) ((void) 0)
#define cuv_pca_group_row_sum(group, value) (value)
#define cuv_pca_group_row_max(group, value) (value)
#define cuv_pca_group_sum(group, value, slots) (value)
#define cuv_pca_group_max(group, value, slots) (value)
#define cuv_pca_group_magnitude(group, squares, largest, slots)                \
  ((CuvPcaMagnitude){ squares, largest })
#endif

/* ---- vectors and matrices ---- */

/* Returns the dot product, from four independent partial sums to hide
 * latency. */
CUV_HOST_DEVICE double
cuv_pca_dot (const double *a, const double *b, int n)
{
  double sums[4] = { 0.0, 0.0, 0.0, 0.0 };
  int i = 0;

  for (; i + 4 <= n; i += 4) {
    for (int l = 0; l < 4; l++)
      sums[l] += a[i + l] * b[i + l];
  }
  for (; i < n; i++)
    sums[0] += a[i] * b[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/* Rows of matrices are `pitch` values apart, and zero-padded for products by a
 * block, see matrix-product.cuh. */

/* Computes c = a b^T with rows_a x n and rows_b x n operands; c must not alias
 * them. */
CUV_PCA_GROUP_FUNC void
cuv_pca_multiply (CuvPcaGroup group, const double *a, int rows_a,
    const double *b, int rows_b, int n, int pitch, double *c)
{
#ifdef __CUDACC__
  cuv_pca_product_tiles<true> (group, 0, a, rows_a, b, rows_b, n, pitch, c);
#else
  for (int i = 0; i < rows_a; i++) {
    for (int j = 0; j < rows_b; j++)
      c[i * pitch + j] = cuv_pca_dot (&a[i * pitch], &b[j * pitch], n);
  }
#endif
  cuv_pca_group_sync (group);
}

/* Multiplies two rows x n matrices whose product c is symmetric; the CPU
 * computes half of it. */
CUV_PCA_GROUP_FUNC void
cuv_pca_multiply_half (CuvPcaGroup group, const double *a, const double *b,
    int rows, int n, int pitch, double *c)
{
#ifdef __CUDACC__
  cuv_pca_multiply (group, a, rows, b, rows, n, pitch, c);
#else
  CUV_PCA_GROUP_UPPER (group, i, j, rows)
  c[i * pitch + j] = c[j * pitch + i] =
      cuv_pca_dot (&a[i * pitch], &b[j * pitch], n);
#endif
}

/* Adds the sum of x[i] times row i, i = 0 .. 3, to n values. */
CUV_HOST_DEVICE void
cuv_pca_add_rows (double *__restrict to, const double *__restrict x,
    const double *__restrict rows, int pitch, int n)
{
  for (int j = 0; j < n; j++)
    to[j] += (x[0] * rows[j] + x[1] * rows[pitch + j])
        + (x[2] * rows[2 * pitch + j] + x[3] * rows[3 * pitch + j]);
}

/* Computes c = add + a b, or a b if add is NULL, where a has n values per row
 * and b n rows. c must not alias them. */
CUV_PCA_GROUP_FUNC void
cuv_pca_add_product (CuvPcaGroup group, const double *add, const double *a,
    int rows, const double *b, int columns, int n, int pitch, double *c)
{
#ifdef __CUDACC__
  cuv_pca_product_tiles<false> (group, add, a, rows, b, columns, n, pitch, c);
#else
  for (int i = 0; i < rows; i++) {
    double *to = &c[i * pitch];

    const double *x = &a[i * pitch];
    int k = 0;

    for (int j = 0; j < columns; j++)
      to[j] = add != 0 ? add[i * pitch + j] : 0.0;
    for (; k + 4 <= n; k += 4)
      cuv_pca_add_rows (to, &x[k], &b[k * pitch], pitch, columns);
    for (; k < n; k++) {
      for (int j = 0; j < columns; j++)
        to[j] += x[k] * b[k * pitch + j];
    }
  }
#endif
  cuv_pca_group_sync (group);
}

CUV_PCA_GROUP_FUNC void
cuv_pca_copy_rows (CuvPcaGroup group, double *to, int pitch_to,
    const double *from, int pitch_from, int rows, int n)
{
  CUV_PCA_GROUP_ROWS (group, i, rows)
  {
    CUV_PCA_GROUP_COLUMNS (group, j, 0, n)
    to[i * pitch_to + j] = from[i * pitch_from + j];
  }
  cuv_pca_group_sync (group);
}

CUV_PCA_GROUP_FUNC void
cuv_pca_set_unit (CuvPcaGroup group, double *a, int n, int pitch)
{
  CUV_PCA_GROUP_ROWS (group, i, n)
  {
    CUV_PCA_GROUP_COLUMNS (group, j, 0, n)
    a[i * pitch + j] = i == j ? 1.0 : 0.0;
  }
  cuv_pca_group_sync (group);
}

/* Zero-pads g x g values at row ends, and adds as many zero rows. */
CUV_PCA_GROUP_FUNC void
cuv_pca_pad (CuvPcaGroup group, double *a, int g, int pitch)
{
#ifdef __CUDACC__
  const int end = (g + 3) & ~3;

  CUV_PCA_GROUP_ROWS (group, i, end)
  {
    CUV_PCA_GROUP_COLUMNS (group, j, i < g ? g : 0, end)
    a[i * pitch + j] = 0.0;
  }
#else
  (void) group, (void) a, (void) g, (void) pitch;
#endif
}

/* Returns the largest absolute difference of the g x g product from the unit
 * matrix. */
CUV_PCA_GROUP_FUNC double
cuv_pca_unit_distance (CuvPcaGroup group, const double *product, int g,
    int pitch, CuvPcaGroupSlot *slots)
{
  double far = 0.0;

  CUV_PCA_GROUP_ROWS (group, i, g)
  {
    CUV_PCA_GROUP_COLUMNS (group, j, 0, g)
    far = fmax (far, fabs (product[i * pitch + j] - (i == j ? 1.0 : 0.0)));
  }
  return cuv_pca_group_max (group, far, slots);
}

/* Replaces g rows q of n values by the nearest orthonormal ones: Newton-Schulz
 * iteration q = (3 - q q^T) / 2 q. product and other are scratch for as many
 * rows. Returns 0 if the rows are too far from orthonormal. */
CUV_PCA_GROUP_FUNC int
cuv_pca_orthonormalise (CuvPcaGroup group, double *q, int g, int n, int pitch,
    double *product, double *other, CuvPcaGroupSlot *slots)
{
  for (int step = 0; step < 40; step++) {
    cuv_pca_multiply_half (group, q, q, g, n, pitch, product);
    if (cuv_pca_unit_distance (group, product, g, pitch, slots) <= 1e-14 * g)
      return 1;
    CUV_PCA_GROUP_ROWS (group, i, g)
    {
      CUV_PCA_GROUP_COLUMNS (group, j, 0, g)
      product[i * pitch + j] =
          (i == j ? 1.5 : 0.0) - 0.5 * product[i * pitch + j];
    }
    cuv_pca_group_sync (group);
    cuv_pca_add_product (group, 0, product, g, q, n, g, pitch, other);
    cuv_pca_copy_rows (group, q, pitch, other, pitch, g, n);
  }
  return 0;
}

#endif
