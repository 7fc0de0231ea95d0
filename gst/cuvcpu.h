/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef CUV_CPU_H
#define CUV_CPU_H

#include "cuv-api.h"

CUV_BEGIN

enum { CUV_CPU_AVX2 = 1 << 0 };

/* What this CPU has and the mask lets through. */
CUV_API unsigned cuv_cpu_flags (void);

/* Hides instruction sets from cuv_cpu_flags(), for tests. The environment
 * variable CUV_CPU_MASK (a number, 0 = plain C only) sets the first mask. */
CUV_API void cuv_cpu_set_mask (unsigned mask);

CUV_END

#endif
