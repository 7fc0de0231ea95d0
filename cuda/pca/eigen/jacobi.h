/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Eigenvectors of a symmetric matrix: cyclic Jacobi rotations while the
 * estimate is far off, then iterative refinement by matrix products (Ogita,
 * Aishima: Iterative refinement for symmetric eigenvalue decomposition, 2018).
 * The rotations of a round touch disjoint rows, so a thread group applies them
 * in parallel. */
#ifndef CUV_PCA_EIGEN_JACOBI_H
#define CUV_PCA_EIGEN_JACOBI_H

#include <stdint.h>
#include "pca/eigen/thread-group.h"

/* Maximum numbers of sweeps of rotations, and of steps of either kind. */
enum { CUV_PCA_SWEEPS = 12, CUV_PCA_STEPS = 24 };

/* Thresholds for corrections, in radians. NEAR: if a step's corrections have a
 * smaller norm, refinement converges. DONE: a remaining error, at most n times
 * the square of the largest correction, below this is at rounding level.
 * IN_PLACE: if the corrections of all steps have a smaller norm, each vector is
 * still most similar to its own predecessor. */
#define CUV_PCA_NEAR 0.8f
#define CUV_PCA_DONE 2e-13f
#define CUV_PCA_IN_PLACE 0.25f

/* Rotation of rows p < q. */
typedef struct {
  double c, s;
  int p, q;
} CuvPcaRotation;

/* Rows that rotate in pairs: n, and a row of zeros if n is odd. */
#define CUV_PCA_EVEN(n) (((n) + 1) / 2 * 2)
#define CUV_PCA_PADDED(n) (((n) + 3) / 4 * 4)
/* Distance of rows, for which a 4 x 4 block of values falls into 16 different
 * banks of shared memory. */
#define CUV_PCA_PITCH(n) (CUV_PCA_PADDED (n) | 4)
#define CUV_PCA_PAIRS(n) (((n) + 1) / 2)
#define CUV_PCA_BLOCKS(n) (CUV_PCA_PAIRS (n) * (CUV_PCA_PAIRS (n) + 1) / 2)

/* Scratch memory of an update: matrices of CUV_PCA_PADDED (n) rows, `pitch`
 * values apart, which are 0 beyond n rows and columns. */
typedef struct {
  int32_t pitch;
  double *a, *b, *c, *vectors;
  double *values;                /* n; may be read up to a multiple of four */
  double *sign;                  /* n, followed by two zeros */
  CuvPcaGroupSlot *slots;        /* CUV_PCA_GROUP_SLOTS */
  CuvPcaRotation *rotations;     /* CUV_PCA_PAIRS (n) */
  int32_t *order, *best, *taken; /* n */
  uint16_t *rows;                /* CUV_PCA_BLOCKS (n) */
} CuvPcaScratch;

/* The number of doubles up to the two zeros, which must all be 0 initially, and
 * the total number of bytes. */
#define CUV_PCA_SCRATCH_DOUBLES(n)                                             \
  (4 * CUV_PCA_PADDED (n) * CUV_PCA_PITCH (n) + 2 * (n) + 2)
#define CUV_PCA_SCRATCH_BYTES(n)                                               \
  (CUV_PCA_SCRATCH_DOUBLES (n) * sizeof (double)                               \
      + CUV_PCA_GROUP_SLOTS * sizeof (CuvPcaGroupSlot)                         \
      + CUV_PCA_PAIRS (n) * sizeof (CuvPcaRotation)                            \
      + 3 * (n) * sizeof (int32_t) + CUV_PCA_BLOCKS (n) * sizeof (uint16_t))

CUV_HOST_DEVICE CuvPcaScratch
cuv_pca_scratch_in (double *memory, int n)
{
  const int size = CUV_PCA_PADDED (n) * CUV_PCA_PITCH (n);
  CuvPcaScratch scratch;

  scratch.pitch = CUV_PCA_PITCH (n);
  scratch.a = memory;
  scratch.b = memory + size;
  scratch.c = memory + 2 * size;
  scratch.vectors = memory + 3 * size;
  scratch.values = memory + 4 * size;
  scratch.sign = scratch.values + n;
  scratch.slots = (CuvPcaGroupSlot *) (scratch.sign + n + 2);
  scratch.rotations = (CuvPcaRotation *) (scratch.slots + CUV_PCA_GROUP_SLOTS);
  scratch.order = (int32_t *) (scratch.rotations + CUV_PCA_PAIRS (n));
  scratch.best = scratch.order + n;
  scratch.taken = scratch.best + n;
  scratch.rows = (uint16_t *) (scratch.taken + n);
  return scratch;
}

/* Finds pair i of a round of a sweep, as in a round-robin tournament: each pair
 * occurs once per sweep. */
CUV_HOST_DEVICE void
cuv_pca_pair (int n, int round, int i, int *p, int *q)
{
  const int others = CUV_PCA_EVEN (n) - 1; /* the last one is fixed */
  const int a = round + i < others ? round + i : round + i - others;
  const int b = i == 0 ? others
      : round - i < 0  ? round - i + others
                       : round - i;

  *p = a < b ? a : b;
  *q = a < b ? b : a;
}

/* Returns an approximation of 1 / sqrt (x). */
CUV_HOST_DEVICE float
cuv_pca_rsqrt (float x)
{
#ifdef __CUDA_ARCH__
  return rsqrtf (x);
#else
  return 1.0f / sqrtf (x);
#endif
}

/* Returns the smaller rotation that makes a[p][q] 0, up to single precision;
 * scale brings a into the range of float. */
CUV_HOST_DEVICE CuvPcaRotation
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
  t = twice / (fabsf (difference) + squares * cuv_pca_rsqrt (squares));
  if (difference < 0.0f)
    t = -t;
  x = 1.0 + t * t;
  r.c =
      cuv_pca_rsqrt ((float) x); /* refined in double, so that c^2 + s^2 = 1 */
  r.c *= 1.5 - 0.5 * x * (r.c * r.c);
  r.c *= 1.5 - 0.5 * x * (r.c * r.c);
  r.s = t * r.c;
  return r;
}

/* Rotates the vector (*p, *q); c, s: cosine and sine of the angle. */
CUV_HOST_DEVICE void
cuv_pca_turn_pair (double *p, double *q, double c, double s)
{
  const double vp = *p, vq = *q;

  *p = c * vp - s * vq;
  *q = s * vp + c * vq;
}

/* Applies rotations x to rows and y to columns of a 2 x 2 block of a symmetric
 * matrix, and mirrors it. */
CUV_HOST_DEVICE void
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

/* Returns the number of the block of the pairs i <= j. */
CUV_HOST_DEVICE int
cuv_pca_block (int n, int i, int j)
{
  return i * CUV_PCA_PAIRS (n) - i * (i + 1) / 2 + j;
}

/* Applies a round of rotations to a and to the rows of v. */
CUV_PCA_GROUP_FUNC void
cuv_pca_round (CuvPcaGroup group, double *a, double *v, int n, int pitch,
    int round, double scale, double limit, CuvPcaRotation *rotations,
    const uint16_t *rows)
{
  CUV_PCA_GROUP_EACH (group, i, CUV_PCA_PAIRS (n))
  rotations[i] = cuv_pca_rotation (a, n, pitch, round, i, scale, limit);
  cuv_pca_group_sync (group);
  CUV_PCA_GROUP_EACH (group, k, CUV_PCA_BLOCKS (n))
  {
    const int i = rows[k], j = k - cuv_pca_block (n, i, 0);
    const CuvPcaRotation *x = &rotations[i], *y = &rotations[j];

    if (x->s != 0.0 || y->s != 0.0)
      cuv_pca_turn_block (a, pitch, x, y);
  }
  CUV_PCA_GROUP_ROWS (group, i, CUV_PCA_PAIRS (n))
  {
    const CuvPcaRotation *r = &rotations[i];

    CUV_PCA_GROUP_COLUMNS (group, k, 0, r->s != 0.0 ? n : 0)
    cuv_pca_turn_pair (&v[r->p * pitch + k], &v[r->q * pitch + k], r->c, r->s);
  }
  cuv_pca_group_sync (group);
}

/* Writes the row of each block. With one byte more per block, 81 bands would
 * not fit into shared memory. */
CUV_PCA_GROUP_FUNC void
cuv_pca_list_rows (CuvPcaGroup group, int n, uint16_t *rows)
{
  CUV_PCA_GROUP_ROWS (group, i, CUV_PCA_PAIRS (n))
  {
    CUV_PCA_GROUP_COLUMNS (group, j, i, CUV_PCA_PAIRS (n))
    rows[cuv_pca_block (n, i, j)] = (uint16_t) i;
  }
}

/* Returns an approximation of 1 / x. */
CUV_HOST_DEVICE double
cuv_pca_reciprocal (double x)
{
#ifdef __CUDA_ARCH__
  double y;

  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x)); /* 20 bits */
  y = fma (y, fma (-x, y, 1.0), y);
  return fma (y, fma (-x, y, 1.0), y);
#else
  return 1.0 / x;
#endif
}

/* Returns the first-order coefficient of vector j in the correction of vector
 * i, from elements of s = v a v^T and g = v v^T and the current values. Where s
 * is within limit of the mean value times g, it is only the part that restores
 * orthogonality. The coefficient of i in the correction of j is -g minus this
 * one. */
CUV_HOST_DEVICE double
cuv_pca_correction (
    double s, double g, double value_i, double value_j, double limit)
{
  if (fabs (s - 0.5 * (value_i + value_j) * g) <= limit)
    return -0.5 * g;
  return (s - value_i * g) * cuv_pca_reciprocal (value_i - value_j);
}

/* Stores elements i <= j of s and g: c holds s above the diagonal, g below it,
 * and on the diagonal the correction of the vector's length; values become s /
 * g to first order. */
CUV_HOST_DEVICE void
cuv_pca_store_products (
    const CuvPcaScratch *self, int i, int j, double s, double g)
{
  self->c[i * self->pitch + j] = i < j ? s : 0.5 - 0.5 * g;
  if (i < j)
    self->c[j * self->pitch + i] = g;
  else
    self->values[i] = s * (2.0 - g);
}

/* Computes s = v a v^T and g = v v^T, which cuv_pca_store_products() stores. */
CUV_PCA_GROUP_FUNC void
cuv_pca_find_products (CuvPcaGroup group, const CuvPcaScratch *self, int n)
{
  const int pitch = self->pitch;
  const double *v = self->vectors, *va = self->b;

#ifdef __CUDACC__
  cuv_pca_multiply (group, v, n, self->a, n, n, pitch, self->b);
  cuv_pca_symmetric_tiles (
      group, [&] (int i, int k) { return va[i * pitch + k]; }, v, n, pitch,
      [&] (int i, int j, double s, double g) {
        cuv_pca_store_products (self, i, j, s, g);
      });
#else
  cuv_pca_add_product (group, 0, v, n, self->a, n, n, pitch, self->b);
  CUV_PCA_GROUP_UPPER (group, i, j, n)
  cuv_pca_store_products (self, i, j,
      cuv_pca_dot (&va[i * pitch], &v[j * pitch], n),
      cuv_pca_dot (&v[i * pitch], &v[j * pitch], n));
#endif
  cuv_pca_group_sync (group);
}

/* Replaces c, as left by cuv_pca_find_products(), by the corrections. For equal
 * eigenvalues they are infinite or NaN, which counts as too large. */
CUV_PCA_GROUP_FUNC CuvPcaMagnitude
cuv_pca_find_corrections (
    CuvPcaGroup group, const CuvPcaScratch *self, int n, double limit)
{
  const double *values = self->values;
  float squares = 0.0f, largest = 0.0f;

  CUV_PCA_GROUP_UPPER (group, i, j, n)
  {
    double *to_i = &self->c[i * self->pitch + j];
    double *to_j = &self->c[j * self->pitch + i];

    if (i < j) {
      const double g = *to_j;

      *to_i = cuv_pca_correction (*to_i, g, values[i], values[j], limit);
      *to_j = -g - *to_i;
      squares += (float) (*to_j * *to_j);
      largest = fmaxf (largest, fabsf ((float) *to_j));
    }
    squares += (float) (*to_i * *to_i);
    largest = fmaxf (largest, fabsf ((float) *to_i));
  }
  return cuv_pca_group_magnitude (group, squares, largest, self->slots);
}

/* Adds to the corrections of vectors i <= j those of the corrected vectors,
 * whose s is (value_i + value_j) g - m to second order. They are dropped unless
 * smaller than the largest first-order correction. */
CUV_HOST_DEVICE void
cuv_pca_refine_pair (const CuvPcaScratch *self, int i, int j, double m,
    double g, double limit, float largest)
{
  const double value_i = self->values[i], value_j = self->values[j];
  const int to_i = i * self->pitch + j, to_j = j * self->pitch + i;
  double x = -0.5 * g;

  if (i < j) {
    x = cuv_pca_correction (
        (value_i + value_j) * g - m, g, value_i, value_j, limit);
    if (!(fabs (x) < largest))
      x = -0.5 * g;
    self->b[to_j] = self->c[to_j] - g - x;
  }
  self->b[to_i] = self->c[to_i] + x;
}

/* Computes second-order corrections of orthonormal vectors: g = c c^T, m = c
 * values c^T. */
CUV_PCA_GROUP_FUNC void
cuv_pca_refine (
    CuvPcaGroup group, CuvPcaScratch *self, int n, double limit, float largest)
{
  const int pitch = self->pitch;
  const double *values = self->values;
  double *c = self->c;

#ifdef __CUDACC__
  cuv_pca_symmetric_tiles (
      group, [&] (int i, int k) { return c[i * pitch + k] * values[k]; }, c, n,
      pitch,
      [&] (int i, int j, double m, double g) {
        cuv_pca_refine_pair (self, i, j, m, g, limit, largest);
      });
#else
  for (int i = 0; i < n; i++) {
    double *weighted = self->sign; /* not in use here */

    for (int k = 0; k < n; k++)
      weighted[k] = values[k] * c[i * pitch + k];
    for (int j = i; j < n; j++)
      cuv_pca_refine_pair (self, i, j, cuv_pca_dot (weighted, &c[j * pitch], n),
          cuv_pca_dot (&c[i * pitch], &c[j * pitch], n), limit, largest);
  }
#endif
  cuv_pca_group_sync (group);
  self->c = self->b;
  self->b = c;
}

/* Adds the corrections to the vectors. */
CUV_PCA_GROUP_FUNC void
cuv_pca_correct (CuvPcaGroup group, CuvPcaScratch *self, int n)
{
  double *corrected = self->b;

  cuv_pca_add_product (group, self->vectors, self->c, n, self->vectors, n, n,
      self->pitch, corrected);
  self->b = self->vectors;
  self->vectors = corrected;
}

/* Whether corrections of this size leave only rounding errors. */
CUV_HOST_DEVICE int
cuv_pca_is_done (int n, float largest)
{
  return (float) n * largest * largest <= CUV_PCA_DONE;
}

/* Whether second-order corrections save a step: a first-order step typically
 * leaves 1.5 times the square of its correction, a second-order one up to 4
 * times the cube. */
CUV_HOST_DEVICE int
cuv_pca_saves_step (int n, float largest)
{
  return !cuv_pca_is_done (n, 1.5f * largest * largest)
      && cuv_pca_is_done (n, 4.0f * largest * largest * largest);
}

/* Returns the trace to every thread. */
CUV_PCA_GROUP_FUNC double
cuv_pca_trace (CuvPcaGroup group, const double *a, int n, int pitch)
{
  double sum = 0.0;

  CUV_PCA_GROUP_COLUMNS (group, i, 0, n)
  sum += a[i * pitch + i];
  return cuv_pca_group_row_sum (group, sum);
}

/* Does a sweep of rotations, starting from the orthonormalised vectors or, if
 * these are too far from orthonormal, from the unit matrix. It is rarely
 * needed. */
CUV_PCA_GROUP_NOINLINE void
cuv_pca_rotate (CuvPcaGroup group, CuvPcaScratch self, int n, double norm)
{
  const int pitch = self.pitch;
  double *v = self.vectors;

  cuv_pca_list_rows (group, n, self.rows);
  if (!cuv_pca_orthonormalise (
          group, v, n, n, pitch, self.b, self.c, self.slots))
    cuv_pca_set_unit (group, v, n, pitch);
  cuv_pca_add_product (group, 0, v, n, self.a, n, n, pitch, self.b);
  cuv_pca_multiply_half (group, self.b, v, n, n, pitch, self.c);
  for (int round = 0; round < CUV_PCA_EVEN (n) - 1; round++)
    cuv_pca_round (group, self.c, v, n, pitch, round, 1.0 / norm, 1e-14 * norm,
        self.rotations, self.rows);
}

/* Computes eigenvectors of a (n x n, symmetric, positive semidefinite) as rows
 * of vectors, which hold the initial estimate, and their values; a is kept.
 * Iterates until corrections are at rounding level. Returns the number of
 * sweeps of rotations. turned: norm of all corrections, infinite after a sweep.
 */
CUV_PCA_GROUP_FUNC int
cuv_pca_find_vectors (
    CuvPcaGroup group, CuvPcaScratch *self, int n, float *turned)
{
  const double norm = cuv_pca_trace (group, self->a, n, self->pitch);
  const double limit = 1e-14 * norm;
  int sweeps = 0, orthonormal = 1;

  *turned = 0.0f;
  for (int step = 0; step < CUV_PCA_STEPS; step++) {
    CuvPcaMagnitude size;

    cuv_pca_find_products (group, self, n);
    if (!(norm > 0.0))
      break;
    size = cuv_pca_find_corrections (group, self, n, limit);
    if (size.squares <= CUV_PCA_NEAR * CUV_PCA_NEAR) {
      *turned += sqrtf (size.squares);
      if (orthonormal && cuv_pca_saves_step (n, size.largest))
        cuv_pca_refine (group, self, n, limit, size.largest);
      cuv_pca_correct (group, self, n);
      orthonormal = 0; /* the next step corrects that, too */
      if (cuv_pca_is_done (n, size.largest))
        break;
    } else {
      *turned = INFINITY;
      if (sweeps++ == CUV_PCA_SWEEPS)
        break;
      cuv_pca_rotate (group, *self, n, norm);
      orthonormal = 1;
    }
  }
  return sweeps;
}

#endif
