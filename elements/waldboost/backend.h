/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The detector for frames of one size and a region of interest, on the CPU or
 * on the GPU. The element calls it; it calls cpu/waldboost-cpu.h or
 * cuda/waldboost/waldboost.h. */
#ifndef CUV_WALDBOOST_BACKEND_H
#define CUV_WALDBOOST_BACKEND_H

#include "cuvbackend.h"
#include "cuvroi.h"
#include "waldboost.h"

typedef struct {
  const CuvWaldboostModel *model;
  CuvWaldboostParams params;
  CuvWaldboostPlan *plan; /* plan for the part of the frame scanned last */
  int x, y;               /* position of that part in the frame */
  int n_levels; /* levels with windows, of the last run; before the first run,
                 * of plan */
  CuvRoi area;  /* the region of interest inside the frame */
  int frame_width, frame_height;
  bool on_device;
  CuvBackend backend; /* closed if no window fits or a run failed */
} CuvWaldboostDetector;

/* Keeps a reference to the model. roi is clipped to the frame; all 0 = the
 * whole frame. Returns NULL on failure, and *error says why. */
CuvWaldboostDetector *cuv_waldboost_detector_new (
    const CuvWaldboostModel *model, const CuvWaldboostParams *params,
    const CuvRoi *roi, const CuvFrame *frame, const CuvProcessor *processor,
    const char **error);

/* NULL is allowed. If on_device, the CUDA context that was current in
 * cuv_waldboost_detector_new() must be current. */
void cuv_waldboost_detector_free (CuvWaldboostDetector *self);

/* Whether self was created with these arguments and no run has failed; self may
 * be NULL. params are compared with their padding: clear it. */
bool cuv_waldboost_detector_matches (const CuvWaldboostDetector *self,
    const CuvWaldboostModel *model, const CuvWaldboostParams *params,
    const CuvRoi *roi, const CuvFrame *frame, const CuvProcessor *processor);

/* Scans a region of the frame (NULL = all), clipped to the roi, as if it were a
 * frame; hits are relative to x, y. There are none if no window fits. Memory
 * only grows. Returns NULL, or an error, and then the backend is closed. */
const char *cuv_waldboost_detector_run (CuvWaldboostDetector *self,
    const CuvFrame *frame, const CuvRoi *region, const CuvProcessor *processor,
    CuvWaldboostResult *result);

#endif
