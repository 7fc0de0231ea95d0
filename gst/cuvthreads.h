/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tasks on the threads of one pool that all elements of the process share. */
#ifndef CUV_THREADS_H
#define CUV_THREADS_H

#include "cuv-api.h"

CUV_BEGIN

typedef void (*CuvThreadsFunc) (void *data, int task);

/* Calls func (data, task) once for each task in 0 .. n_tasks - 1, on at most
 * n_threads threads (0 = one per processor), the caller being one of them, and
 * returns when all are done. Tasks are taken in their order, but which thread
 * takes one varies; what a task is must not depend on n_threads, so that
 * results do not either. */
CUV_API void cuv_threads_run (
    int n_threads, int n_tasks, CuvThreadsFunc func, void *data);

/* The same where threads need memory of their own: of the calls func (data,
 * worker, task) that are made at a time each has another worker in 0 ..
 * n_workers - 1, and there are no more threads than workers. */
typedef void (*CuvWorkersFunc) (void *data, int worker, int task);
CUV_API void cuv_threads_run_workers (
    int n_threads, int n_workers, int n_tasks, CuvWorkersFunc func, void *data);

enum { CUV_MAX_WORKERS = 64 };

/* Workers to allocate memory for: one per processor, but 4 ..
 * CUV_MAX_WORKERS. */
CUV_API int cuv_threads_n_workers (void);

CUV_END

#endif
