/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuvthreads.h"

#include <glib.h>

typedef struct {
  CuvThreadsFunc func;
  void *data;
  gint n_tasks;
  gint next; /* the first task that has not been started */
  gint done;
  GMutex lock;
  GCond finished;
} Job;

/* Does tasks until none is left. A helper thread that starts after that does
 * nothing. */
static void
work (Job *job)
{
  gint task, done = 0;

  while ((task = g_atomic_int_add (&job->next, 1)) < job->n_tasks) {
    job->func (job->data, task);
    done++;
  }
  if (done == 0)
    return;
  g_mutex_lock (&job->lock);
  job->done += done;
  if (job->done == job->n_tasks)
    g_cond_signal (&job->finished);
  g_mutex_unlock (&job->lock);
}

static void
job_clear (gpointer data)
{
  Job *job = data;

  g_mutex_clear (&job->lock);
  g_cond_clear (&job->finished);
}

static void
help (gpointer data, gpointer unused)
{
  work (data);
  g_atomic_rc_box_release_full (data, job_clear);
}

static gpointer
make_pool (gpointer unused)
{
  return g_thread_pool_new (
      help, NULL, (gint) g_get_num_processors (), FALSE, NULL);
}

void
cuv_threads_run (int n_threads, int n_tasks, CuvThreadsFunc func, void *data)
{
  static GOnce once = G_ONCE_INIT;
  GThreadPool *pool = g_once (&once, make_pool, NULL);
  Job *job;

  if (n_threads <= 0)
    n_threads = (int) g_get_num_processors ();
  if (n_threads > n_tasks)
    n_threads = n_tasks;
  if (n_threads <= 1) {
    for (int i = 0; i < n_tasks; i++)
      func (data, i);
    return;
  }

  job = g_atomic_rc_box_new0 (Job);
  job->func = func;
  job->data = data;
  job->n_tasks = n_tasks;
  g_mutex_init (&job->lock);
  g_cond_init (&job->finished);
  for (int i = 1; i < n_threads; i++) /* if this fails, fewer threads run */
    g_thread_pool_push (pool, g_atomic_rc_box_acquire (job), NULL);
  work (job);
  g_mutex_lock (&job->lock);
  while (job->done < job->n_tasks)
    g_cond_wait (&job->finished, &job->lock);
  g_mutex_unlock (&job->lock);
  g_atomic_rc_box_release_full (job, job_clear);
}

typedef struct {
  CuvWorkersFunc func;
  void *data;
  gint n_tasks;
  gint next;
} Workers;

static void
work_as (void *data, int worker)
{
  Workers *self = data;
  gint task;

  while ((task = g_atomic_int_add (&self->next, 1)) < self->n_tasks)
    self->func (self->data, worker, task);
}

void
cuv_threads_run_workers (
    int n_threads, int n_workers, int n_tasks, CuvWorkersFunc func, void *data)
{
  Workers workers = { func, data, n_tasks, 0 };
  const gint n = n_threads > 0 && n_threads < n_workers ? n_threads : n_workers;

  cuv_threads_run (n_threads, MIN (n, n_tasks), work_as, &workers);
}

int
cuv_threads_n_workers (void)
{
  return CLAMP ((int) g_get_num_processors (), 4, CUV_THREADS_MAX_WORKERS);
}
