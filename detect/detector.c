/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "detector.h"

#include <stdlib.h>
#include <string.h>
#if HAVE_CUDA
#include "cuv-cuda.h"
#include "cuv-wait.h"
#endif

static CuvWaldboostParams
params_of (const CuvDetectorConfig *config, int rotation)
{
  CuvWaldboostParams params;

  memcpy (&params, config->params, sizeof params); /* copies padding, too */
  params.rotation = config->rotations[rotation];
  return params;
}

/* ---- new and free ---- */

static const char *
open_rotations (CuvDetector *self, const CuvDetectorConfig *config,
    const CuvFrame *frame, const CuvProcessor *processor)
{
  const char *error = NULL;

  for (int i = 0; i < self->n_rotations && error == NULL; i++) {
    const CuvWaldboostParams params = params_of (config, i);

    self->of[i] = cuv_waldboost_detector_new (config->models, config->n_models,
        &params, &config->roi, frame, processor, &error);
  }
  return error;
}

CuvDetector *
cuv_detector_new (const CuvDetectorConfig *config, const CuvFrame *frame,
    const CuvProcessor *processor, const char **error)
{
  CuvDetector *self = calloc (1, sizeof *self);

  *error = "out of memory";
  if (self == NULL)
    return NULL;
  self->n_models = config->n_models;
  self->n_rotations = config->n_rotations;
  self->grouper = cuv_waldboost_grouper_new ();
  if (self->grouper != NULL)
    *error = open_rotations (self, config, frame, processor);
  if (*error == NULL)
    return self;
  cuv_detector_free (self);
  return NULL;
}

void
cuv_detector_free (CuvDetector *self)
{
  if (self == NULL)
    return;
  for (int i = 0; i < self->n_rotations; i++)
    cuv_waldboost_detector_free (self->of[i]);
  cuv_waldboost_grouper_free (self->grouper);
  free (self);
}

bool
cuv_detector_matches (const CuvDetector *self, const CuvDetectorConfig *config,
    const CuvFrame *frame, const CuvProcessor *processor)
{
  bool match = self != NULL && self->n_rotations == config->n_rotations;

  for (int i = 0; i < config->n_rotations && match; i++) {
    const CuvWaldboostParams params = params_of (config, i);

    match = cuv_waldboost_detector_matches (self->of[i], config->models,
        config->n_models, &params, &config->roi, frame, processor);
  }
  return match;
}

/* ---- a frame ---- */

static const char *
scan_rotation (CuvDetector *self, int rotation, const CuvFrame *frame,
    const CuvDetectorPart *part, const CuvProcessor *processor)
{
  CuvWaldboostDetector *detector = self->of[rotation];
  CuvWaldboostResult *results = self->results[rotation];

  return part->n_areas > 0 ? cuv_waldboost_detector_run_centred (
             detector, frame, part->areas, part->n_areas, processor, results)
                           : cuv_waldboost_detector_run (detector, frame,
                               part->region, processor, results);
}

/* Drops a model's hits beyond the limit for all rotations. */
static void
limit_hits (CuvDetector *self, int model)
{
  int left = CUV_WALDBOOST_MAX_HITS;

  for (int i = 0; i < self->n_rotations; i++) {
    CuvWaldboostResult *result = &self->results[i][model];
    const int lost = result->n_hits > left ? result->n_hits - left : 0;

    result->n_hits -= lost;
    result->overflow += lost;
    left -= result->n_hits;
  }
}

bool
cuv_detector_submit (
    CuvDetector *self, const CuvFrame *frame, const CuvProcessor *processor)
{
  return self->n_rotations == 1
      && cuv_waldboost_detector_submit (self->of[0], frame, processor);
}

const char *
cuv_detector_scan (CuvDetector *self, const CuvFrame *frame,
    const CuvDetectorPart *part, const CuvProcessor *processor)
{
  const char *error = NULL;

  for (int i = 0; i < self->n_rotations && error == NULL; i++)
    error = scan_rotation (self, i, frame, part, processor);
  for (int i = 0; i < self->n_models && error == NULL; i++)
    limit_hits (self, i);
  return error;
}

int
cuv_detector_group (CuvDetector *self, int model, const CuvGrouping *grouping,
    const double *weights, const CuvWaldboostBox **boxes)
{
  CuvWaldboostHits scans[CUV_DETECTOR_MAX_ROTATIONS];

  for (int i = 0; i < self->n_rotations; i++) {
    const CuvWaldboostResult *result = &self->results[i][model];

    scans[i] = (CuvWaldboostHits){ self->of[i]->plans[model], result->hits,
      result->n_hits, i == 0 ? weights : NULL };
  }
  return cuv_waldboost_group_scans (
      self->grouper, grouping, scans, self->n_rotations, boxes);
}

size_t
cuv_detector_gpu_bytes (void)
{
#if HAVE_CUDA
  return cuv_cuda_allocated ();
#else
  return 0;
#endif
}

struct _CuvWaiters *
cuv_detector_join_waiters (struct _CuvWaiters *waiters)
{
#if HAVE_CUDA
  return cuv_waiters_join (waiters);
#else
  return NULL;
#endif
}
