/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs tasks on a pool of threads that all elements share. libcuvdetect has its
 * own. */
#ifndef CUV_THREADS_H
#define CUV_THREADS_H

#include "cuv-api.h"

CUV_BEGIN

typedef void (*CuvThreadsFunc) (void *data, int task);

/* Calls func (data, task) once for each task in 0 .. n_tasks - 1, on at most
 * n_threads threads (0 = one per processor) including the caller's, and returns
 * when all are done. Tasks are started in order, but the thread varies. The
 * tasks must not depend on n_threads, so that results do not either. */
CUV_API void cuv_threads_run (
    int n_threads, int n_tasks, CuvThreadsFunc func, void *data);

/* Like cuv_threads_run(), but for tasks that need memory for each thread: calls
 * func (data, worker, task). Concurrent calls have different workers in 0 ..
 * n_workers - 1, and there are at most n_workers threads. */
typedef void (*CuvWorkersFunc) (void *data, int worker, int task);
CUV_API void cuv_threads_run_workers (
    int n_threads, int n_workers, int n_tasks, CuvWorkersFunc func, void *data);

enum { CUV_THREADS_MAX_WORKERS = 64 };

/* Returns the number of workers to allocate memory for: one per processor, but
 * at least 4 and at most CUV_THREADS_MAX_WORKERS. */
CUV_API int cuv_threads_n_workers (void);

CUV_END

#endif
