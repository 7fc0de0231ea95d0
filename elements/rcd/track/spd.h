/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Symmetric positive definite n x n matrices, 1 <= n <= CUV_RCD_MAX_FEATURES,
 * and their means. These matrices form a curved space, so that there are
 * several means, one for each metric.
 *
 * X. Pennec, P. Fillard, N. Ayache, A Riemannian Framework for Tensor
 * Computing, IJCV 2006; V. Arsigny and others, Log-Euclidean Metrics, MRM 2006;
 * A. Cherian and others, Jensen-Bregman LogDet Divergence, PAMI 2013. */
#ifndef CUV_RCD_SPD_H
#define CUV_RCD_SPD_H

#include <stdbool.h>
#include "rcd/rcd-types.h"

/* Packed as in rcd-types.h. Also holds symmetric matrices that are not positive
 * definite: logarithms. */
typedef struct {
  double c[CUV_RCD_MAX_PACKED];
} CuvSpd;

/* Matrix functions by eigenvalues. They return false if an eigenvalue is not
 * positive and finite; then out is undefined. out may be a. */
bool cuv_spd_log (const CuvSpd *a, int n, CuvSpd *out);
bool cuv_spd_sqrt (const CuvSpd *a, int n, CuvSpd *root, CuvSpd *inverse_root);
bool cuv_spd_inverse (const CuvSpd *a, int n, CuvSpd *out);

/* Computes the exponential of a symmetric matrix. The result is positive
 * definite unless it overflows. */
void cuv_spd_exp (const CuvSpd *a, int n, CuvSpd *out);

/* Computes out = b a b; b is symmetric. */
void cuv_spd_congruence (const CuvSpd *a, const CuvSpd *b, int n, CuvSpd *out);

/* Computes out = a + t (b - a); out may be a. */
void cuv_spd_lerp (
    const CuvSpd *a, const CuvSpd *b, double t, int n, CuvSpd *out);

/* Returns the Frobenius norm of the full matrix. */
double cuv_spd_norm (const CuvSpd *a, int n);

/* Means of count >= 1 matrices; out must not be one of them. The functions
 * return false if a matrix is not positive definite. Iterations stop after at
 * most 200 rounds; the tests need up to 70, for variances that differ by a
 * factor of 100. */

/* Minimises the sum of squared Förstner distances: X <- X^1/2 exp (M) X^1/2
 * with M = mean of log (X^-1/2 C X^-1/2), until the norm of M is below 1e-6. */
bool cuv_spd_mean_riemann (
    const CuvSpd *matrices, int count, int n, CuvSpd *out);

/* Minimises the sum of JBLDs: X <- (mean of ((X + C) / 2)^-1)^-1, until the
 * relative change of X is below 1e-10. */
bool cuv_spd_mean_jbld (const CuvSpd *matrices, int count, int n, CuvSpd *out);

#endif
