/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Motion detection on the CPU or on the GPU. The config is a CuvMotionConfig.
 */
#ifndef CUV_MOTION_BACKEND_H
#define CUV_MOTION_BACKEND_H

#include "cuvbackend.h"
#include "motion.h"

typedef struct {
  const CuvFrame *frame;
  const CuvMotionParams *params;
  bool reset;              /* first forget the background */
  bool submitted;          /* the GPU works on it already */
  CuvMotionResult *result; /* NULL: the job is only submitted, to the GPU */
} CuvMotionJob;

extern const CuvBackendClasses cuv_motion_classes;

#endif
