/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The detector for frames of one size and a region of interest, on the CPU or
 * on the GPU. */
#ifndef CUV_WALDBOOST_BACKEND_H
#define CUV_WALDBOOST_BACKEND_H

#include "cuvbackend.h"
#include "cuvroi.h"
#include "waldboost.h"

typedef struct {
  const CuvWaldboostModel *model;
  CuvWaldboostParams params;
  CuvWaldboostPlan *plan; /* of the part of the frame scanned last */
  int x, y;               /* position of that part in the frame */
  int n_levels; /* with windows, in the last run; before it, of plan */
  CuvRoi area;  /* the region of interest inside the frame */
  int frame_width, frame_height;
  bool on_device;
  CuvBackend backend; /* closed if no window fits or a run failed */
} CuvWaldboostDetector;

/* Keeps a reference to the model. roi is clipped to the frame; all 0 = the
 * whole frame. NULL on failure, and *error says why. */
CuvWaldboostDetector *cuv_waldboost_detector_new (
    const CuvWaldboostModel *model, const CuvWaldboostParams *params,
    const CuvRoi *roi, const CuvFrame *frame, const CuvProcessor *processor,
    const char **error);

/* NULL is allowed. On the device the context that it was made in must be
 * current. */
void cuv_waldboost_detector_free (CuvWaldboostDetector *self);

/* Whether self was made for these arguments and no run has failed; self may be
 * NULL. Padding of the params counts, too. */
bool cuv_waldboost_detector_matches (const CuvWaldboostDetector *self,
    const CuvWaldboostModel *model, const CuvWaldboostParams *params,
    const CuvRoi *roi, const CuvFrame *frame, const CuvProcessor *processor);

/* Scans region, NULL = all, clipped to the roi, as if it were the frame; hits
 * are relative to x, y. No hits if no window fits. Memory only grows. Returns
 * NULL, or an error, after which the backend is closed. */
const char *cuv_waldboost_detector_run (CuvWaldboostDetector *self,
    const CuvFrame *frame, const CuvRoi *region, const CuvProcessor *processor,
    CuvWaldboostResult *result);

#endif
