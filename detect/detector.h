/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Detects with several models in several rotations: a frame -> hits -> boxes.
 * It has a backend for each rotation, each with all models. */
#ifndef CUV_DETECTOR_H
#define CUV_DETECTOR_H

#include "backend.h"

#define CUV_DETECTOR_MAX_ROTATIONS 12

/* What a detector is created for. */
typedef struct {
  const CuvWaldboostModel *const *models;
  int n_models; /* 1 to CUV_WALDBOOST_MAX_MODELS */
  /* rotation is not read; as params are compared including padding, clear their
   * memory first */
  const CuvWaldboostParams *params;
  int n_rotations; /* 1 to CUV_DETECTOR_MAX_ROTATIONS */
  const int32_t *rotations;
  CuvRoi roi; /* clipped to the frame; all 0: the whole frame */
} CuvDetectorConfig;

typedef struct {
  int n_models, n_rotations;
  CuvWaldboostDetector *of[CUV_DETECTOR_MAX_ROTATIONS];
  CuvWaldboostGrouper *grouper;
  /* Of the last scan, for each rotation and model. Each model keeps at most
   * CUV_WALDBOOST_MAX_HITS hits; overflow counts the others. */
  CuvWaldboostResult results[CUV_DETECTOR_MAX_ROTATIONS]
                            [CUV_WALDBOOST_MAX_MODELS];
} CuvDetector;

/* What is searched of a frame: a region of it, as if it were a frame, or the
 * windows whose centres lie in one of the areas, which are relative to the
 * corner of the roi. Without both, the roi. */
typedef struct {
  const CuvRoi *region; /* NULL = none */
  const CuvRoi *areas;
  int n_areas;
} CuvDetectorPart;

/* Creates a detector, which keeps references to the models, for frames like
 * this one. On failure, returns NULL and sets *error to the cause. */
CUV_API CuvDetector *cuv_detector_new (const CuvDetectorConfig *config,
    const CuvFrame *frame, const CuvProcessor *processor, const char **error);

/* self may be NULL. If it works on the device, the CUDA context must be current
 * that was current in cuv_detector_new(). */
CUV_API void cuv_detector_free (CuvDetector *self);

/* Returns whether self was created with these arguments and no scan has failed;
 * self may be NULL. */
CUV_API bool cuv_detector_matches (const CuvDetector *self,
    const CuvDetectorConfig *config, const CuvFrame *frame,
    const CuvProcessor *processor);

/* Writes results. Returns NULL on success, otherwise an error; the detector can
 * then only be freed. */
CUV_API const char *cuv_detector_scan (CuvDetector *self, const CuvFrame *frame,
    const CuvDetectorPart *part, const CuvProcessor *processor);

/* Starts the scan of the roi on the GPU, and does not wait, if the detector has
 * one rotation and its models one pass; cuv_detector_scan() of the same frame
 * then does the rest. Returns false if nothing was started. */
CUV_API bool cuv_detector_submit (
    CuvDetector *self, const CuvFrame *frame, const CuvProcessor *processor);

/* Groups the hits of a model in the last scan, as cuv_waldboost_group_scans();
 * boxes are relative to the position of the searched part,
 * self->of[0]->x and y. weights: of the hits of results[0], or NULL. */
CUV_API int cuv_detector_group (CuvDetector *self, int model,
    const CuvGrouping *grouping, const double *weights,
    const CuvWaldboostBox **boxes);

/* Returns the bytes of device memory that all detectors hold. */
CUV_API size_t cuv_detector_gpu_bytes (void);

/* See cuv_waiters_join() in cuda/cuv-wait.h. Without CUDA, returns NULL. */
CUV_API struct _CuvWaiters *cuv_detector_join_waiters (
    struct _CuvWaiters *waiters);

#endif
