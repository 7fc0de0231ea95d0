/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which instruction sets a function table may use. */
#ifndef CUV_CPU_H
#define CUV_CPU_H

#include "cuv-api.h"

CUV_BEGIN

/* AVX2 with FMA on x86-64, NEON on aarch64. */
enum { CUV_CPU_SIMD = 1 << 0 };

/* Returns the instruction sets of this CPU: CUV_CPU_SIMD or 0. The environment
 * variable CUV_CPU_MASK is a mask of those to use; 0 = plain C only. */
CUV_API unsigned cuv_cpu_flags (void);

CUV_END

#endif
