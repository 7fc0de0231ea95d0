/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tensors to factorise, and runs of them. */
#ifndef NTF_INPUTS_H
#define NTF_INPUTS_H

#include "cpu/ntf-cpu.h"

/* A tensor of its own memory; free it by clear(). */
CuvNtfTensor ntf_tensor_new (int height, int width, int depth);
void ntf_tensor_clear (CuvNtfTensor *self);
void ntf_fill_noise (CuvNtfTensor *self);

/* From 0 to below 1. */
double ntf_random (void);

/* The sum of terms; factors random, sparse: half of their values 0. */
void ntf_fill_factors (CuvNtfFactors *self, bool sparse);
void ntf_fill_planted (CuvNtfTensor *self, const CuvNtfFactors *factors);

/* Planted terms and a little noise: what is well determined. */
void ntf_fill_scene (CuvNtfTensor *self, int rank);

/* As a cube, bsq of rows: nothing is copied. */
CuvCube ntf_cube (const CuvNtfTensor *self);

/* MU, GS, random, no tolerance, normalised. */
CuvNtfParams ntf_params (int iterations);

/* Loads the tensor and runs it to the end. With init PREVIOUS factors are where
 * it starts; they are replaced by the result, which comes back. */
CuvNtfResult ntf_run_cpu (const CuvNtfTensor *tensor,
    const CuvNtfParams *params, int n_threads, CuvNtfFactors *factors);

/* Of the same size. */
void ntf_copy_factors (CuvNtfFactors *to, const CuvNtfFactors *from);
bool ntf_are_equal (const CuvNtfFactors *a, const CuvNtfFactors *b);

/* The greatest difference of a mode, by the mode's greatest value; how much of
 * the sum of terms is another; and of two terms' columns the cosine. */
double ntf_difference (const CuvNtfFactors *a, const CuvNtfFactors *b);
double ntf_sum_difference (const CuvNtfFactors *a, const CuvNtfFactors *b);
double ntf_cosine (
    const CuvNtfFactors *a, int k, const CuvNtfFactors *b, int l, int mode);

/* How much that may be after an iteration of HALS: its sweeps amplify roundings
 * of the products with the tensor, the more the more alike terms are. The most
 * of 12 600 cases on a CPU was 7.6e-6, on a GPU 1.2e-5. */
#define NTF_HALS_DIFFERENCE 5e-5

/* Whether all values are finite and not below 0, and padding is 0. */
bool ntf_is_sound (const CuvNtfFactors *self, const CuvNtfResult *result);

#endif
