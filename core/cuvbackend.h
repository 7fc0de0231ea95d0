/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* CuvBackend: the same work on the CPU or on the GPU.
 *
 * A family implements a CuvBackendClass for each processor and lists both in
 * CuvBackendClasses, in its backend.c. The element opens a backend for the
 * memory that its frames are in and gives it jobs, without knowing which
 * processor does them. */
#ifndef CUV_BACKEND_H
#define CUV_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include "cuv-frame.h"

CUV_BEGIN

/* Where frames are, and what processes them. */
typedef struct {
  bool on_device; /* frames are in CUDA memory; the context is current */
  void *stream;   /* the CUDA stream; NULL for frames in host memory */
  int n_threads;  /* threads for work on the CPU, 0 = one per processor */
} CuvProcessor;

/* config and job are structs of the family; config may be NULL. Functions that
 * can fail return NULL or an error text, which stays valid until the same
 * thread calls any backend again. */
typedef struct {
  /* Allocates all memory that jobs with this config need for frames like this
   * one. On the device it also runs every kernel once, as the first launch
   * loads it. Sets *state; after an error, close() is called if it was set.
   * Optional. */
  const char *(*open) (void **state, const void *config, const CuvFrame *frame,
      const CuvProcessor *processor);

  /* Does a job and waits for its results, which are in the job or in the state.
   * Allocates no memory, unless the family's header says so. */
  const char *(*run) (void *state, void *job, const CuvProcessor *processor);

  /* Frees the state. On the device, the context that it was opened in must be
   * current. Optional if open() sets no state. */
  void (*close) (void *state);
} CuvBackendClass;

typedef struct {
  const CuvBackendClass *cpu;
  const CuvBackendClass *cuda; /* NULL in a build without CUDA */
} CuvBackendClasses;

typedef struct {
  const CuvBackendClass *klass; /* NULL = closed */
  void *state;
  bool on_device;
} CuvBackend;

/* Opens a backend for the processor. self must be closed, as all zeros are, and
 * stays closed after an error, whose text is returned. */
CUV_API const char *cuv_backend_open (CuvBackend *self,
    const CuvBackendClasses *classes, const void *config, const CuvFrame *frame,
    const CuvProcessor *processor);
/* Closes a backend, if it is open. */
CUV_API void cuv_backend_close (CuvBackend *self);

/* Does a job. self must be open, for a processor of this kind. Returns NULL or
 * an error text. */
CUV_API const char *cuv_backend_run (
    CuvBackend *self, void *job, const CuvProcessor *processor);

CUV_END

#endif
