/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Detects with several models in frames of one size and a region of interest,
 * on the CPU or on the GPU. The element calls it; it calls cpu/waldboost-cpu.h,
 * channels/frame.h or cuda/waldboost/waldboost.h. */
#ifndef CUV_WALDBOOST_BACKEND_H
#define CUV_WALDBOOST_BACKEND_H

#include "cuvbackend.h"
#include "reference/cut.h"

/* Models that are searched for in one pass: either models of trees on channels,
 * which share channels (on the GPU only if their shrink is the same), or a
 * single model. */
typedef struct {
  /* index: positions among all models */
  int n, index[CUV_WALDBOOST_MAX_MODELS];
  CuvBackend backend;   /* closed before a window fits */
  CuvWaldboostCut *cut; /* what is scanned of the detector's plan; NULL: all */
  bool has_plans;       /* the backend has these plans */
} CuvWaldboostPass;

typedef struct {
  int n_models, n_passes;
  const CuvWaldboostModel *models[CUV_WALDBOOST_MAX_MODELS];
  CuvWaldboostParams params;
  /* For each model, the plan for the part of the frame that was last
   * searched. */
  CuvWaldboostPlan *plans[CUV_WALDBOOST_MAX_MODELS];
  int x, y; /* position of that part in the last run */
  /* Numbers of levels with windows in the last run or, before the first run, in
   * the plans. */
  int n_levels[CUV_WALDBOOST_MAX_MODELS];
  CuvRoi area; /* the region of interest inside the frame */
  int frame_width, frame_height;
  bool on_device;
  bool failed;    /* a run has failed, and all passes are closed */
  bool submitted; /* the next run only collects */
  CuvWaldboostPass passes[CUV_WALDBOOST_MAX_MODELS];
} CuvWaldboostDetector;

/* Creates a detector that keeps references to 1 to CUV_WALDBOOST_MAX_MODELS
 * models. roi is clipped to the frame; all 0: the whole frame. On failure,
 * returns NULL and sets *error to the cause. */
CuvWaldboostDetector *cuv_waldboost_detector_new (
    const CuvWaldboostModel *const *models, int n_models,
    const CuvWaldboostParams *params, const CuvRoi *roi, const CuvFrame *frame,
    const CuvProcessor *processor, const char **error);

/* self may be NULL. If on_device, the CUDA context must be current that was
 * current in cuv_waldboost_detector_new(). */
void cuv_waldboost_detector_free (CuvWaldboostDetector *self);

/* Returns whether self was created with these arguments and no run has failed;
 * self may be NULL. As params are compared including padding, clear their
 * memory first. */
bool cuv_waldboost_detector_matches (const CuvWaldboostDetector *self,
    const CuvWaldboostModel *const *models, int n_models,
    const CuvWaldboostParams *params, const CuvRoi *roi, const CuvFrame *frame,
    const CuvProcessor *processor);

/* Scans a region of the frame (NULL: all of it), clipped to the roi, as if it
 * were a frame; hits are relative to x, y. Writes a result for each model,
 * without hits if no window fits; the time of channels that models share is
 * counted for the first of them. Memory only grows. Returns NULL on success,
 * otherwise an error; the detector can then only be freed. */
const char *cuv_waldboost_detector_run (CuvWaldboostDetector *self,
    const CuvFrame *frame, const CuvRoi *region, const CuvProcessor *processor,
    CuvWaldboostResult *results);

/* Starts a scan without a region, and does not wait, if the detector has one
 * pass on the GPU and all is prepared; cuv_waldboost_detector_run() without a
 * region then does the rest. Returns false if nothing was started. */
bool cuv_waldboost_detector_submit (CuvWaldboostDetector *self,
    const CuvFrame *frame, const CuvProcessor *processor);

/* Like cuv_waldboost_detector_run() without a region, but only finds windows
 * whose centres lie in one of the regions, which are relative to the corner of
 * the roi. Each window is found once. Models on channels and turned frames are
 * scanned as a whole, and so are others if that is less work. */
const char *cuv_waldboost_detector_run_centred (CuvWaldboostDetector *self,
    const CuvFrame *frame, const CuvRoi *regions, int n_regions,
    const CuvProcessor *processor, CuvWaldboostResult *results);

#endif
