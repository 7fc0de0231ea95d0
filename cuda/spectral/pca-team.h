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

CUV_BOTH CuvTeam
cuv_team_alone (void)
{
  const CuvTeam team = { 0, 1, 0, 1 };

  return team;
}

/* Loops whose turns the team shares: all of them, those of rows, of columns. */
#define CUV_TEAM_EACH(team, i, n)                                              \
  for (int i = (team).row * (team).columns + (team).column; i < (n);           \
       i += (team).rows * (team).columns)
#define CUV_TEAM_ROWS(team, i, n)                                              \
  for (int i = (team).row; i < (n); i += (team).rows)
#define CUV_TEAM_COLUMNS(team, j, first, n)                                    \
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

/* The largest of what the team's threads have; slots is room for a value a row.
 */
CUV_BOTH double
cuv_team_max (CuvTeam team, double value, double *slots)
{
  (void) team;
  (void) slots;
#if CUV_TEAM_IS_BLOCK
  for (int bit = 16; bit > 0; bit /= 2)
    value = fmax (value, __shfl_xor_sync (~0u, value, bit));
  if (team.column == 0)
    slots[team.row] = value;
  __syncthreads ();
  for (int i = 0; i < team.rows; i++)
    value = fmax (value, slots[i]);
  __syncthreads ();
#endif
  return value;
}

/* ---- vectors and matrices ---- */

/* Of values that are a step apart, in four sums, so that one addition does not
 * wait for the other. */
CUV_BOTH double
cuv_pca_dot_steps (
    const double *a, int step_a, const double *b, int step_b, int n)
{
  double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0;
  int i = 0;

  for (; i + 4 <= n; i += 4) {
    s0 += a[i * step_a] * b[i * step_b];
    s1 += a[(i + 1) * step_a] * b[(i + 1) * step_b];
    s2 += a[(i + 2) * step_a] * b[(i + 2) * step_b];
    s3 += a[(i + 3) * step_a] * b[(i + 3) * step_b];
  }
  for (; i < n; i++)
    s0 += a[i * step_a] * b[i * step_b];
  return (s0 + s1) + (s2 + s3);
}

CUV_BOTH double
cuv_pca_dot (const double *a, const double *b, int n)
{
  return cuv_pca_dot_steps (a, 1, b, 1, n);
}

/* c = a b^T, of rows_a and rows_b rows of n values; all rows `pitch` apart. */
CUV_BOTH void
cuv_pca_multiply (CuvTeam team, const double *a, int rows_a, const double *b,
    int rows_b, int n, int pitch, double *c)
{
  CUV_TEAM_ROWS (team, i, rows_a)
  {
    CUV_TEAM_COLUMNS (team, j, 0, rows_b)
    c[i * pitch + j] = cuv_pca_dot (&a[i * pitch], &b[j * pitch], n);
  }
  cuv_team_meet (team);
}

/* One step of Newton and Schulz: to = q (3 - q^T q) / 2, which for a matrix of
 * g rows of n values that is almost orthonormal is more so. product = q q^T. */
CUV_BOTH void
cuv_pca_straighten (CuvTeam team, const double *q, const double *product, int g,
    int n, int pitch, double *to)
{
  CUV_TEAM_ROWS (team, i, g)
  {
    CUV_TEAM_COLUMNS (team, k, 0, n)
    to[i * pitch + k] = 1.5 * q[i * pitch + k]
        - 0.5 * cuv_pca_dot_steps (&product[i * pitch], 1, &q[k], pitch, g);
  }
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

#endif
