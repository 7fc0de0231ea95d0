/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuvcpu.h"

#include <glib.h>

static gint mask = -1;

static gpointer
read_environment (gpointer unused)
{
  const char *text = g_getenv ("CUV_CPU_MASK");

  if (text != NULL)
    g_atomic_int_set (&mask, (gint) g_ascii_strtoull (text, NULL, 0));
  return NULL;
}

unsigned
cuv_cpu_flags (void)
{
  static GOnce once = G_ONCE_INIT;
  unsigned flags = 0;

  g_once (&once, read_environment, NULL);
#if defined(__x86_64__)
  if (__builtin_cpu_supports ("avx2"))
    flags |= CUV_CPU_AVX2;
#endif
  return flags & (unsigned) g_atomic_int_get (&mask);
}

void
cuv_cpu_set_mask (unsigned new_mask)
{
  cuv_cpu_flags (); /* so that the environment does not win later */
  g_atomic_int_set (&mask, (gint) new_mask);
}
