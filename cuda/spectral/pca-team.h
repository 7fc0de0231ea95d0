/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Threads that work on small matrices together: a block of the GPU, or the one
 * thread that the CPU takes. What they compute does not depend on how many they
 * are. */
#ifndef CUV_PCA_TEAM_H
#define CUV_PCA_TEAM_H

#include <math.h>
#include "cuv-api.h"

#if defined __CUDA_ARCH__ || defined CUV_EMULATE_RUNTIME_H
#define CUV_TEAM_IS_BLOCK 1
#else
#define CUV_TEAM_IS_BLOCK 0
#endif

/* As a rectangle: rows of a block are warps. */
typedef struct {
  int row, rows, column, columns;
} CuvTeam;

#if CUV_TEAM_IS_BLOCK
#include "spectral/pca-product.cuh"
#endif

CUV_BOTH CuvTeam
cuv_team_alone (void)
{
  const CuvTeam team = { 0, 1, 0, 1 };

  return team;
}

/* Loops whose turns the team shares: all of them, those of rows, of columns. A
 * block's threads have one turn or two of most: more code would only have to be
 * fetched. */
#ifdef __CUDA_ARCH__
#define CUV_TEAM_ROLLED _Pragma ("unroll 1")
#else
#define CUV_TEAM_ROLLED
#endif
#define CUV_TEAM_EACH(team, i, n)                                              \
  CUV_TEAM_ROLLED                                                              \
  for (int i = (team).row * (team).columns + (team).column; i < (n);           \
       i += (team).rows * (team).columns)
#define CUV_TEAM_ROWS(team, i, n)                                              \
  CUV_TEAM_ROLLED for (int i = (team).row; i < (n); i += (team).rows)
#define CUV_TEAM_COLUMNS(team, j, first, n)                                    \
  CUV_TEAM_ROLLED                                                              \
  for (int j = (first) + (team).column; j < (n); j += (team).columns)

CUV_BOTH int
cuv_team_is_first (CuvTeam team)
{
  return team.row == 0 && team.column == 0;
}

/* What was written before can be read after it. By all of the team. */
CUV_BOTH void
cuv_team_meet (CuvTeam team)
{
  (void) team;
#if CUV_TEAM_IS_BLOCK
  __syncthreads ();
#endif
}

/* The sum of what a row's threads have, for each of them. */
CUV_BOTH double
cuv_team_row_sum (CuvTeam team, double value)
{
  (void) team;
#if CUV_TEAM_IS_BLOCK
  for (int bit = 16; bit > 0; bit /= 2)
    value += __shfl_xor_sync (~0u, value, bit);
#endif
  return value;
}

/* The largest. */
CUV_BOTH double
cuv_team_row_max (CuvTeam team, double value)
{
  (void) team;
#if CUV_TEAM_IS_BLOCK
  for (int bit = 16; bit > 0; bit /= 2)
    value = fmax (value, __shfl_xor_sync (~0u, value, bit));
#endif
  return value;
}

/* What one of the row's threads has, for each of them: others have 0. */
CUV_BOTH int
cuv_team_row_any (CuvTeam team, int place)
{
  (void) team;
#if CUV_TEAM_IS_BLOCK
  for (int bit = 16; bit > 0; bit /= 2) {
    const int other = __shfl_xor_sync (~0u, place, bit);

    place = other > place ? other : place;
  }
#endif
  return place;
}

/* What each row has, one a column; none where there are no more rows. slots is
 * room for a value a row. */
CUV_BOTH double
cuv_team_gather (CuvTeam team, double value, double none, double *slots)
{
#if CUV_TEAM_IS_BLOCK
  if (team.column == 0)
    slots[team.row] = value;
  __syncthreads ();
  value = team.column < team.rows ? slots[team.column] : none;
  __syncthreads ();
#else
  (void) none;
  (void) slots;
#endif
  return value;
}

/* The sum of what all the team has, and the largest. */
CUV_BOTH double
cuv_team_sum (CuvTeam team, double value, double *slots)
{
  value = cuv_team_row_sum (team, value);
  return cuv_team_row_sum (team, cuv_team_gather (team, value, 0.0, slots));
}

CUV_BOTH double
cuv_team_max (CuvTeam team, double value, double *slots)
{
  value = cuv_team_row_max (team, value);
  return cuv_team_row_max (team, cuv_team_gather (team, value, value, slots));
}

/* ---- vectors and matrices ---- */

/* In four sums, so that one addition does not wait for the other. */
CUV_BOTH double
cuv_pca_dot (const double *a, const double *b, int n)
{
  double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0;
  int i = 0;

  for (; i + 4 <= n; i += 4) {
    s0 += a[i] * b[i];
    s1 += a[i + 1] * b[i + 1];
    s2 += a[i + 2] * b[i + 2];
    s3 += a[i + 3] * b[i + 3];
  }
  for (; i < n; i++)
    s0 += a[i] * b[i];
  return (s0 + s1) + (s2 + s3);
}

/* Rows of matrices are `pitch` values apart. */

/* c = a b^T, of rows_a and rows_b rows of n values. c is neither of them. */
CUV_BOTH void
cuv_pca_multiply (CuvTeam team, const double *a, int rows_a, const double *b,
    int rows_b, int n, int pitch, double *c)
{
#if CUV_TEAM_IS_BLOCK
  cuv_pca_product_tiles (team, 0, a, rows_a, b, pitch, 1, rows_b, n, pitch, c);
#else
  for (int i = 0; i < rows_a; i++) {
    for (int j = 0; j < rows_b; j++)
      c[i * pitch + j] = cuv_pca_dot (&a[i * pitch], &b[j * pitch], n);
  }
#endif
  cuv_team_meet (team);
}

/* c = add + a b, of n values a row of a, and as many rows of b; no add is 0. c
 * is none of them. */
CUV_BOTH void
cuv_pca_add_product (CuvTeam team, const double *add, const double *a, int rows,
    const double *b, int columns, int n, int pitch, double *c)
{
#if CUV_TEAM_IS_BLOCK
  cuv_pca_product_tiles (team, add, a, rows, b, 1, pitch, columns, n, pitch, c);
#else
  for (int i = 0; i < rows; i++) {
    double *to = &c[i * pitch];

    for (int j = 0; j < columns; j++)
      to[j] = add != 0 ? add[i * pitch + j] : 0.0;
    for (int k = 0; k < n; k++) {
      for (int j = 0; j < columns; j++)
        to[j] += a[i * pitch + k] * b[k * pitch + j];
    }
  }
#endif
  cuv_team_meet (team);
}

CUV_BOTH void
cuv_pca_copy_rows (CuvTeam team, double *to, int pitch_to, const double *from,
    int pitch_from, int rows, int n)
{
  CUV_TEAM_ROWS (team, i, rows)
  {
    CUV_TEAM_COLUMNS (team, j, 0, n)
    to[i * pitch_to + j] = from[i * pitch_from + j];
  }
  cuv_team_meet (team);
}

CUV_BOTH void
cuv_pca_set_unit (CuvTeam team, double *a, int n, int pitch)
{
  CUV_TEAM_ROWS (team, i, n)
  {
    CUV_TEAM_COLUMNS (team, j, 0, n)
    a[i * pitch + j] = i == j ? 1.0 : 0.0;
  }
  cuv_team_meet (team);
}

/* How far product, g x g, is from the unit matrix. */
CUV_BOTH double
cuv_pca_far_from_unit (
    CuvTeam team, const double *product, int g, int pitch, double *slots)
{
  double far = 0.0;

  CUV_TEAM_ROWS (team, i, g)
  {
    CUV_TEAM_COLUMNS (team, j, 0, g)
    far = fmax (far, fabs (product[i * pitch + j] - (i == j ? 1.0 : 0.0)));
  }
  return cuv_team_max (team, far, slots);
}

/* Turns g rows q of n values into the nearest that are orthonormal, by Newton's
 * and Schulz's q = (3 - q q^T) / 2 q. product and other are room for as many
 * rows, slots for a value a row of the team. 0: they are too far from any. */
CUV_BOTH int
cuv_pca_orthonormalise (CuvTeam team, double *q, int g, int n, int pitch,
    double *product, double *other, double *slots)
{
  for (int step = 0; step < 40; step++) {
    cuv_pca_multiply (team, q, g, q, g, n, pitch, product);
    if (cuv_pca_far_from_unit (team, product, g, pitch, slots) <= 1e-13 * g)
      return 1;
    CUV_TEAM_ROWS (team, i, g)
    {
      CUV_TEAM_COLUMNS (team, j, 0, g)
      product[i * pitch + j] =
          (i == j ? 1.5 : 0.0) - 0.5 * product[i * pitch + j];
    }
    cuv_team_meet (team);
    cuv_pca_add_product (team, 0, product, g, q, n, g, pitch, other);
    cuv_pca_copy_rows (team, q, pitch, other, pitch, g, n);
  }
  return 0;
}

#endif
