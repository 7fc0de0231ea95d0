/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Threads that work on small matrices together: a block of the GPU, or the one
 * thread that the CPU takes. What they compute does not depend on how many they
 * are, but for the last digits of sums. */
#ifndef CUV_PCA_TEAM_H
#define CUV_PCA_TEAM_H

#include <math.h>
#include <stdint.h>
#include "cuv-api.h"

#if defined __CUDA_ARCH__ || defined CUV_EMULATE_RUNTIME_H
#define CUV_TEAM_IS_BLOCK 1
#else
#define CUV_TEAM_IS_BLOCK 0
#endif

/* As a rectangle: rows are a block's warps, or, shorter than 32, parts of its
 * only one. Products of matrices are shared by whole warps. */
typedef struct {
  int row, rows, column, columns;
  int warp, warps, lane;
} CuvTeam;

/* What a warp of a team has for the others. */
typedef union {
  double value;
  uint32_t parts[2];
} CuvTeamSlot;

enum { CUV_TEAM_SLOTS = 32 };

#if CUV_TEAM_IS_BLOCK
#include "pca/pca-product.cuh"
#include "pca/pca-warp.cuh"
#endif

CUV_BOTH CuvTeam
cuv_team_alone (void)
{
  const CuvTeam team = { 0, 1, 0, 1, 0, 1, 0 };

  return team;
}

/* What is rarely called is not in the way of what is. */
#ifdef __CUDACC__
#define CUV_TEAM_APART static __host__ __device__ __noinline__
#else
#define CUV_TEAM_APART static inline
#endif

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

/* All i <= j of a symmetric matrix. Of a block's rows two share a turn, the
 * first and the last, and so on: together they are n + 1 long. */
#if CUV_TEAM_IS_BLOCK
#define CUV_TEAM_UPPER(team, i, j, n)                                          \
  CUV_TEAM_ROWS (team, fold, ((n) + 1) / 2)                                    \
  CUV_TEAM_COLUMNS (team, at, 0, (n) + 1)                                      \
  for (int i = at < (n) -fold ? fold : (n) -1 - fold,                          \
           j = at < (n) -fold ? fold + at : at - 1,                            \
           there = at < (n) -fold || i > fold;                                 \
       there; there = 0)
#else
#define CUV_TEAM_UPPER(team, i, j, n)                                          \
  for (int i = 0; i < (n); i++)                                                \
    for (int j = i; j < (n); j++)
#endif

/* Structures are each thread's own, what they point to is the team's. */

CUV_BOTH int
cuv_team_is_first (CuvTeam team)
{
  return team.row == 0 && team.column == 0;
}

/* What was written before can be read after it. By all of the team. */
CUV_BOTH void
cuv_team_meet (CuvTeam team)
{
#if CUV_TEAM_IS_BLOCK
  if (team.columns < 32)
    __syncwarp ();
  else
    __syncthreads ();
#else
  (void) team;
#endif
}

#if CUV_TEAM_IS_BLOCK
/* The lanes of a row. */
CUV_BOTH unsigned
cuv_team_row_mask (CuvTeam team)
{
  return team.columns == 32
      ? ~0u
      : ((1u << team.columns) - 1) << (team.lane - team.column);
}
#endif

/* The sum of what a row's threads have, for each of them. */
CUV_BOTH double
cuv_team_row_sum (CuvTeam team, double value)
{
#if CUV_TEAM_IS_BLOCK
  return cuv_lanes_sum (cuv_team_row_mask (team), team.columns, value);
#else
  (void) team;
  return value;
#endif
}

/* The largest of values that are not below 0. */
CUV_BOTH double
cuv_team_row_max (CuvTeam team, double value)
{
#if CUV_TEAM_IS_BLOCK
  return cuv_lanes_max (cuv_team_row_mask (team), team.columns, value);
#else
  (void) team;
  return value;
#endif
}

/* Where others of the team may put something, too: one of them stays. */
CUV_BOTH void
cuv_team_put (int32_t *at, int32_t value)
{
#if CUV_TEAM_IS_BLOCK
  atomicExch (at, value);
#else
  *at = value;
#endif
}

/* ---- of all the team, which meets in them ----
 *
 * slots have room for each warp's; not to be used again before the team meets
 * once more. */

CUV_BOTH double
cuv_team_sum (CuvTeam team, double value, CuvTeamSlot *slots)
{
#if CUV_TEAM_IS_BLOCK
  value = cuv_lanes_sum (~0u, 32, value);
  if (team.columns == 32 && team.lane == 0)
    slots[team.warp].value = value;
  cuv_team_meet (team);
  if (team.columns == 32) {
    value = team.lane < team.warps ? slots[team.lane].value : 0.0;
    value = cuv_lanes_sum (~0u, 32, value);
  }
#else
  (void) team;
  (void) slots;
#endif
  return value;
}

/* The largest of values that are not below 0. */
CUV_BOTH double
cuv_team_max (CuvTeam team, double value, CuvTeamSlot *slots)
{
#if CUV_TEAM_IS_BLOCK
  value = cuv_lanes_max (~0u, 32, value);
  if (team.columns == 32 && team.lane == 0)
    slots[team.warp].value = value;
  cuv_team_meet (team);
  if (team.columns == 32) {
    value = team.lane < team.warps ? slots[team.lane].value : 0.0;
    value = cuv_lanes_max (~0u, 32, value);
  }
#else
  (void) team;
  (void) slots;
#endif
  return value;
}

/* How large a matrix's elements are: the sum of their squares, which is not
 * exact, but not too small, and the largest of them. Sums beyond 1 mean no more
 * than that: a block adds them as whole numbers, which is fast. */
typedef struct {
  float squares, largest;
} CuvTeamSize;

CUV_BOTH CuvTeamSize
cuv_team_size (CuvTeam team, float squares, float largest, CuvTeamSlot *slots)
{
  CuvTeamSize size = { squares, largest };

#if CUV_TEAM_IS_BLOCK /* 512 times 1 is within 32 bits */
  unsigned sum =
      cuv_warp_sum ((unsigned) (fminf (squares, 1.0f) * (1 << 22)) + 1);
  unsigned most = cuv_warp_max (__float_as_uint (largest));

  if (team.columns == 32 && team.lane == 0) {
    slots[team.warp].parts[0] = sum;
    slots[team.warp].parts[1] = most;
  }
  cuv_team_meet (team);
  if (team.columns == 32) {
    sum = team.lane < team.warps ? slots[team.lane].parts[0] : 0;
    most = team.lane < team.warps ? slots[team.lane].parts[1] : 0;
    sum = cuv_warp_sum (sum);
    most = cuv_warp_max (most);
  }
  size.squares = (float) sum / (1 << 22);
  size.largest = __uint_as_float (most);
#else
  (void) team;
  (void) slots;
#endif
  return size;
}

/* ---- vectors and matrices ---- */

/* In sums of every fourth, which need not wait for each other. */
CUV_BOTH double
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

/* Rows of matrices are `pitch` values apart. For a block to multiply them they
 * end in zeros, see pca-product.cuh. */

/* c = a b^T, of rows_a and rows_b rows of n values. c is neither of them. */
CUV_BOTH void
cuv_pca_multiply (CuvTeam team, const double *a, int rows_a, const double *b,
    int rows_b, int n, int pitch, double *c)
{
#if CUV_TEAM_IS_BLOCK
  cuv_pca_product_tiles<true> (team, 0, a, rows_a, b, rows_b, n, pitch, c);
#else
  for (int i = 0; i < rows_a; i++) {
    for (int j = 0; j < rows_b; j++)
      c[i * pitch + j] = cuv_pca_dot (&a[i * pitch], &b[j * pitch], n);
  }
#endif
  cuv_team_meet (team);
}

/* The same of rows and n values, where c is symmetric: the CPU makes half. */
CUV_BOTH void
cuv_pca_multiply_half (CuvTeam team, const double *a, const double *b, int rows,
    int n, int pitch, double *c)
{
#if CUV_TEAM_IS_BLOCK
  cuv_pca_multiply (team, a, rows, b, rows, n, pitch, c);
#else
  CUV_TEAM_UPPER (team, i, j, rows)
  c[i * pitch + j] = c[j * pitch + i] =
      cuv_pca_dot (&a[i * pitch], &b[j * pitch], n);
#endif
}

/* Adds x[0 .. 3] times four rows, which are n long. */
CUV_BOTH void
cuv_pca_add_rows (double *__restrict to, const double *__restrict x,
    const double *__restrict rows, int pitch, int n)
{
  for (int j = 0; j < n; j++)
    to[j] += (x[0] * rows[j] + x[1] * rows[pitch + j])
        + (x[2] * rows[2 * pitch + j] + x[3] * rows[3 * pitch + j]);
}

/* c = add + a b, of n values a row of a, and as many rows b; no add is 0. c is
 * none of them. */
CUV_BOTH void
cuv_pca_add_product (CuvTeam team, const double *add, const double *a, int rows,
    const double *b, int columns, int n, int pitch, double *c)
{
#if CUV_TEAM_IS_BLOCK
  cuv_pca_product_tiles<false> (team, add, a, rows, b, columns, n, pitch, c);
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

/* The zeros that g rows of g values end in, and as many rows. */
CUV_BOTH void
cuv_pca_pad (CuvTeam team, double *a, int g, int pitch)
{
#if CUV_TEAM_IS_BLOCK
  const int end = (g + 3) & ~3;

  CUV_TEAM_ROWS (team, i, end)
  {
    CUV_TEAM_COLUMNS (team, j, i < g ? g : 0, end)
    a[i * pitch + j] = 0.0;
  }
#else
  (void) team, (void) a, (void) g, (void) pitch;
#endif
}

/* How far product, g x g, is from the unit matrix. */
CUV_BOTH double
cuv_pca_far_from_unit (
    CuvTeam team, const double *product, int g, int pitch, CuvTeamSlot *slots)
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
 * rows. 0: they are too far from any. */
CUV_BOTH int
cuv_pca_orthonormalise (CuvTeam team, double *q, int g, int n, int pitch,
    double *product, double *other, CuvTeamSlot *slots)
{
  for (int step = 0; step < 40; step++) {
    cuv_pca_multiply_half (team, q, q, g, n, pitch, product);
    if (cuv_pca_far_from_unit (team, product, g, pitch, slots) <= 1e-14 * g)
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
