/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions that libgstcuvision calls if the program defines them. */
#ifndef CUV_HOOKS_H
#define CUV_HOOKS_H

/* The next n allocations of CUDA memory succeed, all after them fail as if the
 * memory had run out; n < 0 turns that off. */
void cuv_cuda_fail_allocation (int n);

/* Hides the instruction sets whose bits mask does not have. */
void cuv_cpu_set_mask (unsigned mask);

#endif
