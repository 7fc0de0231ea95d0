/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Eigenvectors of a symmetric matrix, by rotations in fixed order. In a round
 * no two touch the same rows: a team makes them at once. */
#ifndef CUV_PCA_JACOBI_H
#define CUV_PCA_JACOBI_H

#include <stdint.h>
#include "spectral/pca-team.h"

enum { CUV_PCA_SWEEPS = 12 };

/* Rows p < q, of which a[p][q] becomes 0. */
typedef struct {
  double c, s, change; /* of a[q][q], and of a[p][p] the other way */
  int p, q;
} CuvPcaRotation;

/* Rows that rotate: pairs of all n, and if n is odd of one more, of zeros. */
#define CUV_PCA_EVEN(n) (((n) + 1) / 2 * 2)
#define CUV_PCA_PAIRS(n) (((n) + 1) / 2)
#define CUV_PCA_BLOCKS(n) (CUV_PCA_PAIRS (n) * (CUV_PCA_PAIRS (n) + 1) / 2)

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

/* Too small to change what it would be added to, or the end. */
CUV_BOTH int
cuv_pca_is_negligible (double apq, double app, double aqq, double limit)
{
  const double x = fabs (apq);

  return x <= 1e-16 * fmin (fabs (app), fabs (aqq)) || x <= limit;
}

/* By the smaller of the two angles that make a[p][q] 0. */
CUV_BOTH CuvPcaRotation
cuv_pca_rotation (
    const double *a, int n, int pitch, int round, int i, double limit)
{
  CuvPcaRotation r = { 1.0, 0.0, 0.0, 0, 0 };
  double apq, app, aqq, twice, difference, sum, norm;

  cuv_pca_pair (n, round, i, &r.p, &r.q);
  apq = a[r.p * pitch + r.q];
  app = a[r.p * pitch + r.p];
  aqq = a[r.q * pitch + r.q];
  if (cuv_pca_is_negligible (apq, app, aqq, limit))
    return r;
  difference = fabs (aqq - app);
  twice = aqq < app ? -2.0 * apq : 2.0 * apq;
  sum = difference + sqrt (difference * difference + twice * twice);
  norm = sqrt (sum * sum + twice * twice);
  r.c = sum / norm;
  r.s = twice / norm;
  r.change = twice / sum * apq;
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

CUV_BOTH void
cuv_pca_turn_diagonal (double *a, int pitch, const CuvPcaRotation *x)
{
  if (x->s == 0.0)
    return;
  a[x->p * pitch + x->p] -= x->change;
  a[x->q * pitch + x->q] += x->change;
  a[x->p * pitch + x->q] = a[x->q * pitch + x->p] = 0.0;
}

/* A round of rotations of a, and of the rows of v. */
CUV_BOTH void
cuv_pca_round (CuvTeam team, double *a, double *v, int n, int pitch, int round,
    double limit, CuvPcaRotation *rotations, const uint16_t *blocks)
{
  CUV_TEAM_EACH (team, i, CUV_PCA_PAIRS (n))
  rotations[i] = cuv_pca_rotation (a, n, pitch, round, i, limit);
  cuv_team_meet (team);
  CUV_TEAM_EACH (team, k, CUV_PCA_BLOCKS (n))
  {
    const CuvPcaRotation *x = &rotations[blocks[k] >> 8];
    const CuvPcaRotation *y = &rotations[blocks[k] & 255];

    if (x == y)
      cuv_pca_turn_diagonal (a, pitch, x);
    else if (x->s != 0.0 || y->s != 0.0)
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

/* The largest element of a that is off the diagonal. */
CUV_BOTH double
cuv_pca_largest_off (
    CuvTeam team, const double *a, int n, int pitch, double *slots)
{
  double largest = 0.0;

  CUV_TEAM_ROWS (team, i, n)
  {
    CUV_TEAM_COLUMNS (team, j, i + 1, n)
    largest = fmax (largest, fabs (a[i * pitch + j]));
  }
  return cuv_team_max (team, largest, slots);
}

/* The root of the sum of a's squares; sums is room for n values. */
CUV_BOTH double
cuv_pca_norm (CuvTeam team, const double *a, int n, int pitch, double *sums)
{
  double sum = 0.0;

  CUV_TEAM_EACH (team, i, n)
  sums[i] = cuv_pca_dot (&a[i * pitch], &a[i * pitch], n);
  cuv_team_meet (team);
  for (int i = 0; i < n; i++)
    sum += sums[i];
  cuv_team_meet (team);
  return sqrt (sum);
}

/* Turns the symmetric a, n x n, into a diagonal matrix, and the rows of v along
 * with it, until what is off the diagonal is 1e-12 of the whole, at most
 * CUV_PCA_SWEEPS times each pair. How many times. Both have room for
 * CUV_PCA_EVEN (n) rows and columns, where those beyond n are 0; room is for n
 * values and one a row of the team, rotations for CUV_PCA_PAIRS (n), blocks for
 * CUV_PCA_BLOCKS (n). */
CUV_BOTH int
cuv_pca_diagonalise (CuvTeam team, double *a, double *v, int n, int pitch,
    double *room, CuvPcaRotation *rotations, uint16_t *blocks)
{
  const double norm = cuv_pca_norm (team, a, n, pitch, room);

  cuv_pca_list_blocks (team, n, blocks);
  for (int sweep = 0; sweep < CUV_PCA_SWEEPS; sweep++) {
    if (cuv_pca_largest_off (team, a, n, pitch, room) <= 1e-12 * norm / n)
      return sweep;
    for (int round = 0; round < CUV_PCA_EVEN (n) - 1; round++)
      cuv_pca_round (
          team, a, v, n, pitch, round, 1e-13 * norm / n, rotations, blocks);
  }
  return CUV_PCA_SWEEPS;
}

#endif
