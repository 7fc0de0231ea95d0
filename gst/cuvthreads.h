/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Work split into pieces over the threads of one shared pool. */
#ifndef CUV_THREADS_H
#define CUV_THREADS_H

#include "cuv-api.h"

CUV_BEGIN

typedef void (*CuvThreadsFunc) (void *data, int piece);

/* Calls func (data, piece) once for each piece in 0 .. n_pieces - 1, on at most
 * n_threads threads (0 = one per processor), the caller being one of them, and
 * returns when all are done. Which thread takes a piece varies; what a piece
 * is must not depend on n_threads, so that results do not either. */
CUV_API void cuv_threads_run (
    int n_threads, int n_pieces, CuvThreadsFunc func, void *data);

/* The same where threads need memory of their own: of the calls func (data,
 * worker, piece) that are made at a time each has another worker in 0 ..
 * n_workers - 1, and there are no more threads than workers. */
typedef void (*CuvWorkersFunc) (void *data, int worker, int piece);
CUV_API void cuv_threads_run_workers (int n_threads, int n_workers,
    int n_pieces, CuvWorkersFunc func, void *data);

CUV_END

#endif
