/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* For LD_PRELOAD: makes one allocation fail. The n-th call of the C library's
 * allocators by the project's own libraries after failing_arm() returns NULL.
 * GLib aborts without memory, so its allocations never fail. */
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC visibility push(default)

extern void *__libc_malloc (size_t size);
extern void *__libc_calloc (size_t n, size_t size);
extern void *__libc_realloc (void *memory, size_t size);
extern void *__libc_memalign (size_t alignment, size_t size);
long failing_arm (long nth);

static atomic_long armed, calls;

/* 0: none fails. Returns the number of allocations since the last call. */
long
failing_arm (long nth)
{
  long n;

  atomic_store (&armed, 0);
  n = atomic_exchange (&calls, 0);
  atomic_store (&armed, nth);
  return n;
}

static bool
fails (void *caller)
{
  const long nth = atomic_load (&armed);
  Dl_info info;

  if (nth == 0 || dladdr (caller, &info) == 0
      || (strstr (info.dli_fname, "libgstcuv") == NULL
          && strstr (info.dli_fname, "libcuvdetect") == NULL)
      || atomic_fetch_add (&calls, 1) + 1 != nth)
    return false;
  errno = ENOMEM;
  return true;
}

#define FAILS() fails (__builtin_return_address (0))

void *
malloc (size_t size)
{
  return FAILS () ? NULL : __libc_malloc (size);
}

void *
calloc (size_t n, size_t size)
{
  return FAILS () ? NULL : __libc_calloc (n, size);
}

void *
realloc (void *memory, size_t size)
{
  return FAILS () ? NULL : __libc_realloc (memory, size);
}

void *
aligned_alloc (size_t alignment, size_t size)
{
  return FAILS () ? NULL : __libc_memalign (alignment, size);
}

char *
strdup (const char *text)
{
  const size_t size = strlen (text) + 1;
  char *copy = FAILS () ? NULL : __libc_malloc (size);

  return copy != NULL ? memcpy (copy, text, size) : NULL;
}
