/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tensors to factorise, and comparisons of factors. */
#ifndef NTF_INPUTS_H
#define NTF_INPUTS_H

#include "cpu/ntf-cpu.h"

/* A tensor with its own memory; free it with ntf_tensor_clear(). */
CuvNtfTensor ntf_tensor_new (int height, int width, int depth);
void ntf_tensor_clear (CuvNtfTensor *self);
void ntf_fill_noise (CuvNtfTensor *self);

/* In [0, 1). */
double ntf_random (void);

/* Random factors; sparse: half of the values are 0. The sum of their terms. */
void ntf_fill_factors (CuvNtfFactors *self, bool sparse);
void ntf_fill_planted (CuvNtfTensor *self, const CuvNtfFactors *factors);

/* A sum of sparse terms and a little noise: a well-determined factorisation. */
void ntf_fill_scene (CuvNtfTensor *self, int rank);

/* The tensor as a cube, without a copy. */
CuvCube ntf_cube (const CuvNtfTensor *self);

/* MU, GS, random init, no tolerance, normalised. */
CuvNtfParams ntf_params (int iterations);

/* Both have the same size. */
void ntf_copy_factors (CuvNtfFactors *to, const CuvNtfFactors *from);
bool ntf_are_equal (const CuvNtfFactors *a, const CuvNtfFactors *b);

/* The greatest difference relative to the greatest value of its mode; the
 * relative error of the sum of terms; the cosine of two terms' columns. */
double ntf_difference (const CuvNtfFactors *a, const CuvNtfFactors *b);
double ntf_sum_difference (const CuvNtfFactors *a, const CuvNtfFactors *b);
double ntf_cosine (
    const CuvNtfFactors *a, int k, const CuvNtfFactors *b, int l, int mode);

/* The limit of ntf_sum_difference() after an iteration of HALS: its sweeps
 * amplify rounding errors of the products with the tensor, the more the more
 * similar terms are. The maximum of 12 600 cases was 7.6e-6 on a CPU and 1.2e-5
 * on a GPU. */
#define NTF_HALS_DIFFERENCE 5e-5

/* Checks an iteration of HALS from the same factors: the sums of terms differ
 * by less than that limit, and the error is that of the factors found. By the
 * triangle inequality, errors differ by no more than the sums do. */
void ntf_check_hals (const CuvNtfTensor *tensor, const CuvNtfFactors *wanted,
    const CuvNtfFactors *found, const CuvNtfResult *result);

/* Whether all values are finite and at least 0, and padding is 0. */
bool ntf_is_sound (const CuvNtfFactors *self, const CuvNtfResult *result);

#endif
