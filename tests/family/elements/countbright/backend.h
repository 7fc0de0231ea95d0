/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The count on the CPU or on the GPU. Backends need no config. */
#ifndef CUV_COUNTBRIGHT_BACKEND_H
#define CUV_COUNTBRIGHT_BACKEND_H

#include "cuvbackend.h"

/* A job of cuv_backend_run(). */
typedef struct {
  const CuvFrame *frame;
  int threshold;
  uint64_t count; /* the result */
} CuvCountbrightJob;

extern const CuvBackendClasses cuv_countbright_backend_classes;

#endif
