/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Makes GLib's locks visible to ThreadSanitizer: the system's GLib is not built
 * with it, and its mutexes are not pthread's. These functions replace GLib's
 * and report the order that the locks enforce. */
#include <dlfcn.h>
#include <glib.h>
#include <string.h>

extern void __tsan_acquire (void *address);
extern void __tsan_release (void *address);

static gpointer
next (const gchar *name)
{
  return dlsym (RTLD_NEXT, name);
}

#pragma GCC visibility push(default)

/* The real function, looked up each time: a cached pointer would race. */
#define REAL(name) ((__typeof__ (&(name))) (guintptr) next (#name))

void
g_mutex_lock (GMutex *mutex)
{
  REAL (g_mutex_lock) (mutex);
  __tsan_acquire (mutex);
}

gboolean
g_mutex_trylock (GMutex *mutex)
{
  const gboolean locked = REAL (g_mutex_trylock) (mutex);

  if (locked)
    __tsan_acquire (mutex);
  return locked;
}

void
g_mutex_unlock (GMutex *mutex)
{
  __tsan_release (mutex);
  REAL (g_mutex_unlock) (mutex);
}

void
g_rec_mutex_lock (GRecMutex *mutex)
{
  REAL (g_rec_mutex_lock) (mutex);
  __tsan_acquire (mutex);
}

void
g_rec_mutex_unlock (GRecMutex *mutex)
{
  __tsan_release (mutex);
  REAL (g_rec_mutex_unlock) (mutex);
}

void
g_cond_wait (GCond *cond, GMutex *mutex)
{
  __tsan_release (mutex);
  REAL (g_cond_wait) (cond, mutex);
  __tsan_acquire (mutex);
}

gboolean
g_cond_wait_until (GCond *cond, GMutex *mutex, gint64 end)
{
  gboolean signalled;

  __tsan_release (mutex);
  signalled = REAL (g_cond_wait_until) (cond, mutex, end);
  __tsan_acquire (mutex);
  return signalled;
}

/* ---- data passed between threads ---- */

typedef struct {
  GFunc func;
  gpointer data;
} Pool;

static void
run_task (gpointer task, gpointer data)
{
  const Pool *pool = data;

  __tsan_acquire (task);
  pool->func (task, pool->data);
}

GThreadPool *
g_thread_pool_new (GFunc func, gpointer data, gint max_threads,
    gboolean exclusive, GError **error)
{
  Pool *pool = g_new (Pool, 1); /* pools live as long as the program */

  *pool = (Pool){ func, data };
  return REAL (g_thread_pool_new) (
      run_task, pool, max_threads, exclusive, error);
}

gboolean
g_thread_pool_push (GThreadPool *pool, gpointer task, GError **error)
{
  __tsan_release (task);
  return REAL (g_thread_pool_push) (pool, task, error);
}

static _Thread_local GDestroyNotify clear_func;

static void
clear_box (gpointer box)
{
  __tsan_acquire (box);
  if (clear_func != NULL)
    clear_func (box);
}

void
g_atomic_rc_box_release_full (gpointer box, GDestroyNotify clear)
{
  const GDestroyNotify before = clear_func;

  __tsan_release (box);
  clear_func = clear;
  REAL (g_atomic_rc_box_release_full) (box, clear_box);
  clear_func = before;
}
