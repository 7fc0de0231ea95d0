/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions that the libraries call if the program defines them. */
#ifndef CUV_HOOKS_H
#define CUV_HOOKS_H

#include <stdbool.h>

/* Lets n more allocations of CUDA memory succeed; all later ones fail as if out
 * of memory. n < 0 disables this. */
void cuv_cuda_fail_allocation (int n);

/* Sets what cuv_gpu_is_busy() returns, at first false. */
void cuv_gpu_set_busy (bool busy);

/* Hides the instruction sets whose bits are not set in mask. */
void cuv_cpu_set_mask (unsigned mask);

#endif
