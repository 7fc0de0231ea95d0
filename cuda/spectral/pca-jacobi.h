/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Eigenvectors of a symmetric matrix: Jacobi's rotations in fixed order, as
 * long as they are far, and where they are near corrections of all at once
 * (Ogita, Aishima: Iterative refinement for symmetric eigenvalue decomposition,
 * 2018), which are products of matrices. Of a round's rotations no two touch
 * the same rows: a team makes them at once. */
#ifndef CUV_PCA_JACOBI_H
#define CUV_PCA_JACOBI_H

#include <stdint.h>
#include "spectral/pca-team.h"

enum { CUV_PCA_SWEEPS = 12, CUV_PCA_STEPS = 24 };

/* Sizes of corrections, in radians: from where on they are tried at all, and
 * from where on what they leave, their square, is rounding. */
#define CUV_PCA_NEAR 0.8
#define CUV_PCA_DONE 2e-7

/* Of rows p < q. */
typedef struct {
  double c, s;
  int p, q;
} CuvPcaRotation;

/* Rows that rotate: pairs of all n, and if n is odd of one more, of zeros. */
#define CUV_PCA_EVEN(n) (((n) + 1) / 2 * 2)
#define CUV_PCA_PAIRS(n) (((n) + 1) / 2)
#define CUV_PCA_BLOCKS(n) (CUV_PCA_PAIRS (n) * (CUV_PCA_PAIRS (n) + 1) / 2)

/* What an update works with: matrices of CUV_PCA_EVEN (n) rows, `pitch` values
 * apart, at least as many. */
typedef struct {
  int32_t pitch;
  double *a, *b, *c, *vectors;
  double *values;                /* n */
  double *room;                  /* 2 n + CUV_PCA_SLOTS */
  CuvPcaRotation *rotations;     /* CUV_PCA_PAIRS (n) */
  uint16_t *blocks;              /* CUV_PCA_BLOCKS (n) */
  int32_t *order, *best, *taken; /* n */
} CuvPcaScratch;

#define CUV_PCA_SLOTS 32

/* Pair i of a round: all pairs meet once in the rounds of a sweep, as in a
 * tournament. */
CUV_BOTH void
cuv_pca_pair (int n, int round, int i, int *p, int *q)
{
  const int others = CUV_PCA_EVEN (n) - 1; /* the last stays where it is */
  const int a = round + i < others ? round + i : round + i - others;
  const int b = i == 0 ? others
      : round - i < 0  ? round - i + others
                       : round - i;

  *p = a < b ? a : b;
  *q = a < b ? b : a;
}

/* 1 / sqrt (x), but for the last digits. */
CUV_BOTH float
cuv_pca_root_by (float x)
{
#ifdef __CUDA_ARCH__
  return rsqrtf (x);
#else
  return 1.0f / sqrtf (x);
#endif
}

/* By the smaller of the two angles that make a[p][q] 0, but for the digits that
 * single precision lacks; scale brings a into its range. */
CUV_BOTH CuvPcaRotation
cuv_pca_rotation (const double *a, int n, int pitch, int round, int i,
    double scale, double limit)
{
  CuvPcaRotation r = { 1.0, 0.0, 0, 0 };
  float twice, difference, squares;
  double apq, t, x;

  cuv_pca_pair (n, round, i, &r.p, &r.q);
  apq = a[r.p * pitch + r.q];
  if (fabs (apq) <= limit)
    return r;
  twice = (float) (2.0 * apq * scale);
  difference = (float) ((a[r.q * pitch + r.q] - a[r.p * pitch + r.p]) * scale);
  squares = twice * twice + difference * difference;
  t = twice / (fabsf (difference) + squares * cuv_pca_root_by (squares));
  if (difference < 0.0f)
    t = -t;
  x = 1.0 + t * t;
  r.c = cuv_pca_root_by ((float) x); /* then in double: c^2 + s^2 = 1 */
  r.c *= 1.5 - 0.5 * x * (r.c * r.c);
  r.c *= 1.5 - 0.5 * x * (r.c * r.c);
  r.s = t * r.c;
  return r;
}

CUV_BOTH void
cuv_pca_turn_pair (double *p, double *q, double c, double s)
{
  const double vp = *p, vq = *q;

  *p = c * vp - s * vq;
  *q = s * vp + c * vq;
}

/* Elements of the rows of one pair and the columns of another, and those they
 * are mirrored to. */
CUV_BOTH void
cuv_pca_turn_block (
    double *a, int pitch, const CuvPcaRotation *x, const CuvPcaRotation *y)
{
  const int px = x->p, qx = x->q, py = y->p, qy = y->q;
  double pp = a[px * pitch + py], pq = a[px * pitch + qy];
  double qp = a[qx * pitch + py], qq = a[qx * pitch + qy];

  cuv_pca_turn_pair (&pp, &qp, x->c, x->s);
  cuv_pca_turn_pair (&pq, &qq, x->c, x->s);
  cuv_pca_turn_pair (&pp, &pq, y->c, y->s);
  cuv_pca_turn_pair (&qp, &qq, y->c, y->s);
  a[px * pitch + py] = a[py * pitch + px] = pp;
  a[px * pitch + qy] = a[qy * pitch + px] = pq;
  a[qx * pitch + py] = a[py * pitch + qx] = qp;
  a[qx * pitch + qy] = a[qy * pitch + qx] = qq;
}

/* A round of rotations of a, and of the rows of v. */
CUV_BOTH void
cuv_pca_round (CuvTeam team, double *a, double *v, int n, int pitch, int round,
    double scale, double limit, CuvPcaRotation *rotations,
    const uint16_t *blocks)
{
  CUV_TEAM_EACH (team, i, CUV_PCA_PAIRS (n))
  rotations[i] = cuv_pca_rotation (a, n, pitch, round, i, scale, limit);
  cuv_team_meet (team);
  CUV_TEAM_EACH (team, k, CUV_PCA_BLOCKS (n))
  {
    const CuvPcaRotation *x = &rotations[blocks[k] >> 8];
    const CuvPcaRotation *y = &rotations[blocks[k] & 255];

    if (x->s != 0.0 || y->s != 0.0)
      cuv_pca_turn_block (a, pitch, x, y);
  }
  CUV_TEAM_ROWS (team, i, CUV_PCA_PAIRS (n))
  {
    const CuvPcaRotation *r = &rotations[i];

    CUV_TEAM_COLUMNS (team, k, 0, r->s != 0.0 ? n : 0)
    cuv_pca_turn_pair (&v[r->p * pitch + k], &v[r->q * pitch + k], r->c, r->s);
  }
  cuv_team_meet (team);
}

/* All pairs of pairs: i << 8 | j. */
CUV_BOTH void
cuv_pca_list_blocks (CuvTeam team, int n, uint16_t *blocks)
{
  const int pairs = CUV_PCA_PAIRS (n);

  CUV_TEAM_ROWS (team, i, pairs)
  {
    CUV_TEAM_COLUMNS (team, j, i, pairs)
    blocks[i * pairs - i * (i + 1) / 2 + j] = (uint16_t) (i << 8 | j);
  }
}

/* The root of the sum of a's squares. */
CUV_BOTH double
cuv_pca_norm (CuvTeam team, const double *a, int n, int pitch, double *slots)
{
  double sum = 0.0;

  CUV_TEAM_ROWS (team, i, n)
  {
    CUV_TEAM_COLUMNS (team, j, 0, n)
    sum += a[i * pitch + j] * a[i * pitch + j];
  }
  return sqrt (cuv_team_sum (team, sum, slots));
}

/* ---- corrections ---- */

/* How much of vector j is to be added to vector i, by first order: s = v a v^T,
 * g = v v^T, values as found so far. What is within limit is 0. Of i to j it is
 * -g less that: they stay orthonormal. */
CUV_BOTH double
cuv_pca_correction (
    double s, double g, double value_i, double value_j, double limit)
{
  if (fabs (s - 0.5 * (value_i + value_j) * g) <= limit)
    return -0.5 * g;
  return (s - value_i * g) / (value_i - value_j);
}

/* Finds values, and makes g the corrections; the root of the sum of their
 * squares, of vectors that are next to each other infinite. */
CUV_BOTH double
cuv_pca_find_corrections (CuvTeam team, const double *s, double *g, int n,
    int pitch, double limit, double *values, double *slots)
{
  double sum = 0.0;

  CUV_TEAM_EACH (team, i, n)
  values[i] = s[i * pitch + i] / g[i * pitch + i];
  cuv_team_meet (team);
  CUV_TEAM_ROWS (team, i, n)
  {
    CUV_TEAM_COLUMNS (team, j, i, n)
    {
      double *to_i = &g[i * pitch + j], *to_j = &g[j * pitch + i];
      const double f = i == j ? 0.5 - 0.5 * *to_i
                              : cuv_pca_correction (s[i * pitch + j], *to_i,
                                  values[i], values[j], limit);

      if (i < j)
        *to_j = -*to_i - f;
      *to_i = f;
      sum += f * f + *to_j * *to_j;
    }
  }
  return sqrt (cuv_team_sum (team, sum, slots));
}

/* Zeros where no band is. */
CUV_BOTH void
cuv_pca_pad (CuvTeam team, const CuvPcaScratch *self, int n)
{
  const int pitch = self->pitch;

  CUV_TEAM_EACH (team, i, CUV_PCA_EVEN (n) > n ? n + 1 : 0)
  self->c[i * pitch + n] = self->c[n * pitch + i] =
      self->vectors[n * pitch + i] = 0.0;
  cuv_team_meet (team);
}

/* c = v a v^T: a as the vectors see it. */
CUV_BOTH void
cuv_pca_see (CuvTeam team, const CuvPcaScratch *self, int n)
{
  const int pitch = self->pitch;

  cuv_pca_add_product (
      team, 0, self->vectors, n, self->a, n, n, pitch, self->b);
  cuv_pca_multiply (team, self->b, n, self->vectors, n, n, pitch, self->c);
}

/* A sweep from orthonormal vectors on, or from those of the bands. */
CUV_BOTH void
cuv_pca_rotate (CuvTeam team, const CuvPcaScratch *self, int n, double norm)
{
  const int pitch = self->pitch;
  double *a = self->c, *v = self->vectors;

  if (!cuv_pca_orthonormalise (team, v, n, n, pitch, self->b, a, self->room))
    cuv_pca_set_unit (team, v, n, pitch);
  cuv_pca_see (team, self, n);
  cuv_pca_pad (team, self, n);
  for (int round = 0; round < CUV_PCA_EVEN (n) - 1; round++)
    cuv_pca_round (team, a, v, n, pitch, round, 1.0 / norm, 1e-14 * norm,
        self->rotations, self->blocks);
}

/* Eigenvectors of the symmetric a, n x n, as rows of vectors, which begins with
 * an orthonormal guess, and their values; a stays. Until corrections are so
 * small that what is left, their square, is rounding. Matrices have room for
 * CUV_PCA_EVEN (n) rows and columns. How many sweeps of rotations it took. */
CUV_BOTH int
cuv_pca_find_vectors (CuvTeam team, const CuvPcaScratch *self, int n)
{
  const int pitch = self->pitch;
  const double norm = cuv_pca_norm (team, self->a, n, pitch, self->room);
  double *v = self->vectors;
  int sweeps = 0;

  CUV_TEAM_EACH (team, i, n)
  self->values[i] = 0.0;
  cuv_pca_list_blocks (team, n, self->blocks);
  for (int step = 0; step < CUV_PCA_STEPS && norm > 0.0; step++) {
    double size;

    cuv_pca_see (team, self, n);
    cuv_pca_multiply (team, v, n, v, n, n, pitch, self->b);
    size = cuv_pca_find_corrections (team, self->c, self->b, n, pitch,
        1e-14 * norm, self->values, self->room);
    if (size <= CUV_PCA_NEAR) {
      cuv_pca_add_product (team, v, self->b, n, v, n, n, pitch, self->c);
      cuv_pca_copy_rows (team, v, pitch, self->c, pitch, n, n);
      if (size <= CUV_PCA_DONE)
        break;
    } else {
      if (sweeps++ == CUV_PCA_SWEEPS)
        break;
      cuv_pca_rotate (team, self, n, norm);
    }
  }
  return sweeps;
}

#endif
