/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tensors to factorise, and functions that compare factors. */
#ifndef NTF_INPUTS_H
#define NTF_INPUTS_H

#include "cpu/ntf-cpu.h"

/* A tensor with its own memory; free it with ntf_tensor_clear(). */
CuvNtfTensor ntf_tensor_new (int height, int width, int depth);
void ntf_tensor_clear (CuvNtfTensor *self);
void ntf_fill_noise (CuvNtfTensor *self);

/* Returns a random number in [0, 1). */
double ntf_random (void);

/* Fill factors with random values, half of which are 0 if sparse, and a tensor
 * with the sum of the factors' terms. */
void ntf_fill_factors (CuvNtfFactors *self, bool sparse);
void ntf_fill_planted (CuvNtfTensor *self, const CuvNtfFactors *factors);

/* Fills a tensor with a sum of sparse terms and a little noise, so that its
 * factorisation is well determined. */
void ntf_fill_scene (CuvNtfTensor *self, int rank);

/* Returns the tensor as a cube that shares its memory. */
CuvCube ntf_cube (const CuvNtfTensor *self);

/* Returns parameters: MU, Gauss-Seidel, random init, no tolerance, normalised.
 */
CuvNtfParams ntf_params (int iterations);

/* For factors of the same size. */
void ntf_copy_factors (CuvNtfFactors *to, const CuvNtfFactors *from);
bool ntf_are_equal (const CuvNtfFactors *a, const CuvNtfFactors *b);

/* Return the maximum difference relative to the maximum of its mode, the
 * relative difference of the sums of terms, and the cosine of two terms'
 * columns. */
double ntf_difference (const CuvNtfFactors *a, const CuvNtfFactors *b);
double ntf_sum_difference (const CuvNtfFactors *a, const CuvNtfFactors *b);
double ntf_cosine (
    const CuvNtfFactors *a, int k, const CuvNtfFactors *b, int l, int mode);

/* Limit of ntf_sum_difference() after an iteration of HALS. Its sweeps amplify
 * rounding errors of the products with the tensor, more so if terms are
 * similar. The maximum of 12 600 cases was 7.6e-6 on a CPU and 1.2e-5 on a GPU.
 */
#define NTF_HALS_DIFFERENCE 5e-5

/* Checks an iteration of HALS that started from the same factors as the
 * reference's: the sums of terms differ by less than NTF_HALS_DIFFERENCE, and
 * the error is that of the factors found. By the triangle inequality, errors
 * cannot differ by more than the sums do. */
void ntf_check_hals (const CuvNtfTensor *tensor, const CuvNtfFactors *wanted,
    const CuvNtfFactors *found, const CuvNtfResult *result);

/* Returns whether all values are finite and at least 0, and padding is 0. */
bool ntf_is_sound (const CuvNtfFactors *self, const CuvNtfResult *result);

#endif
