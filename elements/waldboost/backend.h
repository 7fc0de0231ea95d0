/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The detector of several models in frames of one size and a region of
 * interest, on the CPU or on the GPU. The element calls it; it calls
 * cpu/waldboost-cpu.h, channels/frame.h or cuda/waldboost/waldboost.h. */
#ifndef CUV_WALDBOOST_BACKEND_H
#define CUV_WALDBOOST_BACKEND_H

#include "cuvbackend.h"
#include "cuvroi.h"
#include "waldboost.h"

/* Models that are searched for in one pass: those of trees on channels, which
 * share channels (on the GPU those of the same shrink), or a single one. */
typedef struct {
  int n, index[CUV_WALDBOOST_MAX_MODELS]; /* index: among all models */
  CuvBackend backend;                     /* closed until a window fits */
} CuvWaldboostPass;

typedef struct {
  int n_models, n_passes;
  const CuvWaldboostModel *models[CUV_WALDBOOST_MAX_MODELS];
  CuvWaldboostParams params;
  /* For the part of the frame in which the model was searched for last. */
  CuvWaldboostPlan *plans[CUV_WALDBOOST_MAX_MODELS];
  int x, y; /* position of the part of the last run */
  /* Levels with windows, of the last run; before the first run, of plans. */
  int n_levels[CUV_WALDBOOST_MAX_MODELS];
  CuvRoi area; /* the region of interest inside the frame */
  int frame_width, frame_height;
  bool on_device;
  bool failed; /* a run has failed, and all passes are closed */
  CuvWaldboostPass passes[CUV_WALDBOOST_MAX_MODELS];
} CuvWaldboostDetector;

/* Keeps references to the models, 1 .. CUV_WALDBOOST_MAX_MODELS. roi is clipped
 * to the frame; all 0 = the whole frame. NULL on failure, and *error says
 * why. */
CuvWaldboostDetector *cuv_waldboost_detector_new (
    const CuvWaldboostModel *const *models, int n_models,
    const CuvWaldboostParams *params, const CuvRoi *roi, const CuvFrame *frame,
    const CuvProcessor *processor, const char **error);

/* NULL is allowed. If on_device, the CUDA context that was current in
 * cuv_waldboost_detector_new() must be current. */
void cuv_waldboost_detector_free (CuvWaldboostDetector *self);

/* Whether self was created with these arguments and no run has failed; self may
 * be NULL. params are compared with their padding: clear it. */
bool cuv_waldboost_detector_matches (const CuvWaldboostDetector *self,
    const CuvWaldboostModel *const *models, int n_models,
    const CuvWaldboostParams *params, const CuvRoi *roi, const CuvFrame *frame,
    const CuvProcessor *processor);

/* Scans a region of the frame (NULL = all), clipped to the roi, as if it were a
 * frame; hits are relative to x, y. Writes a result for each model, without
 * hits if no window fits; channels that models share take the time of the first
 * one. Memory only grows. Returns NULL, or an error, and then the detector can
 * only be freed. */
const char *cuv_waldboost_detector_run (CuvWaldboostDetector *self,
    const CuvFrame *frame, const CuvRoi *region, const CuvProcessor *processor,
    CuvWaldboostResult *results);

#endif
