/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Symmetric positive definite n x n matrices, 1 <= n <= CUV_RCD_MAX_FEATURES,
 * and their means. They do not lie in a flat space: what an average of
 * covariances is depends on what is called straight.
 *
 * X. Pennec, P. Fillard, N. Ayache, A Riemannian Framework for Tensor
 * Computing, IJCV 2006; V. Arsigny and others, Log-Euclidean Metrics, MRM 2006;
 * A. Cherian and others, Jensen-Bregman LogDet Divergence, PAMI 2013. */
#ifndef CUV_RCD_SPD_H
#define CUV_RCD_SPD_H

#include <stdbool.h>
#include "rcd/rcd-types.h"

/* Packed as rcd-types.h says. Logarithms are symmetric matrices of any sign. */
typedef struct {
  double c[CUV_RCD_MAX_PACKED];
} CuvSpd;

/* Functions of the eigenvalues. false if one of them is not positive or not a
 * number; then out is not to be used. out may be the same as a. */
bool cuv_spd_log (const CuvSpd *a, int n, CuvSpd *out);
bool cuv_spd_sqrt (const CuvSpd *a, int n, CuvSpd *root, CuvSpd *inverse_root);
bool cuv_spd_inverse (const CuvSpd *a, int n, CuvSpd *out);

/* Of a symmetric matrix; always positive definite, but for overflow. */
void cuv_spd_exp (const CuvSpd *a, int n, CuvSpd *out);

/* out = b a b: congruence by a symmetric matrix. */
void cuv_spd_congruence (const CuvSpd *a, const CuvSpd *b, int n, CuvSpd *out);

/* out = a + share (b - a); out may be the same as a. */
void cuv_spd_mix (
    const CuvSpd *a, const CuvSpd *b, double share, int n, CuvSpd *out);

/* Frobenius' norm of the full matrix. */
double cuv_spd_norm (const CuvSpd *a, int n);

/* Means of count >= 1 matrices, out apart from them; false if one is not
 * positive definite. Those that iterate stop after 200 rounds at the latest;
 * for variances that are apart up to a hundredfold the tests saw 70. */

/* exp of the mean logarithm. */
bool cuv_spd_mean_log_euclid (
    const CuvSpd *matrices, int count, int n, CuvSpd *out);

/* That with the least sum of squared Förstner distances: X <- X^1/2 exp (mean
 * of log (X^-1/2 C X^-1/2)) X^1/2, until the mean is shorter than 1e-6. */
bool cuv_spd_mean_riemann (
    const CuvSpd *matrices, int count, int n, CuvSpd *out);

/* That with the least sum of JBLDs: X <- (mean of ((X + C) / 2)^-1)^-1, until X
 * changes by less than 1e-10 of itself. */
bool cuv_spd_mean_jbld (const CuvSpd *matrices, int count, int n, CuvSpd *out);

#endif
