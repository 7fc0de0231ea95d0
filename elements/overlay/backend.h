/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Draws a list of primitives on a frame, on the CPU or on the GPU: the same
 * pixels on both. */
#ifndef CUV_OVERLAY_BACKEND_H
#define CUV_OVERLAY_BACKEND_H

#include "cuvbackend.h"
#include "overlay/overlay-types.h"

CUV_BEGIN

/* A job. On the GPU, memory is allocated if the list is larger than all
 * previous lists. */
typedef struct {
  const CuvOverlayList *list;
  const CuvFrame *frame;
} CuvOverlayJob;

/* Backends of CuvOverlayJob; they need no config. */
extern const CuvBackendClasses cuv_overlay_backend_classes;

CUV_END

#endif
