/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuvcpu.h"

#include <glib.h>

/* A test program may define this, to hide instruction sets. */
CUV_API unsigned cuv_test_cpu_mask (void) __attribute__ ((weak));

unsigned
cuv_cpu_flags (void)
{
  const char *text = g_getenv ("CUV_CPU_MASK");
  unsigned mask =
      text != NULL ? (unsigned) g_ascii_strtoull (text, NULL, 0) : ~0u;
  unsigned flags = 0;

  if (cuv_test_cpu_mask != NULL)
    mask &= cuv_test_cpu_mask ();
#if defined(__x86_64__)
  if (__builtin_cpu_supports ("avx2") && __builtin_cpu_supports ("fma"))
    flags |= CUV_CPU_SIMD;
#elif defined(__aarch64__)
  flags |= CUV_CPU_SIMD;
#endif
  return flags & mask;
}
