/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* State of the tracker, shared by its source files. */
#ifndef CUV_RCD_TRACKER_PRIVATE_H
#define CUV_RCD_TRACKER_PRIVATE_H

#include "backend.h"
#include "correlation/correlation.h"
#include "track/tracker.h"
#include "rcd/rcd-distance.h"

typedef struct {
  CuvTrack track;
  CuvRcdAppearance appearance;
  bool pending;     /* is to be measured at its box in the next frame */
  bool drop;        /* is to be given up in the next frame */
  bool skip_search; /* is not searched in this frame: it was just measured */
  bool acquired;    /* found or measured at least once */
  double gain;      /* gain of the light in this search, 1 = none */
  double mean_divergence; /* running mean over reliable matches */
  int doubtful_frames;    /* successive frames with unreliable matches */
  CuvCorrelation *correlation;
  int crop;       /* crop of the filter in this frame; -1 = none */
  bool follows;   /* the filter has learned the target */
  bool candidate; /* found by covariance, to be verified by the filter */
  CuvPlace sure_place;
  double mean_peak; /* running mean of the filter's responses; 0 = none yet */
} CuvTrackerTarget;

/* Limit of windows per target; searches with more take larger steps. */
#define CUV_TRACKER_MAX_WINDOWS (1 << 18)

/* The search of one frame. */
typedef struct {
  int stride, cell;
  CuvRcdTarget targets[CUV_RCD_MAX_TARGETS];
  int target[CUV_RCD_MAX_TARGETS]; /* index of each in the tracker's targets */
  int n_targets;
  CuvRcdArea area;
  int n_windows;
  int max_windows; /* windows of a full plan: upper bound for all other plans */
  int spacing;     /* maximum distance between neighbouring windows, pixels */
  int n_candidates; /* candidates to refine */
} CuvTrackerPlan;

/* Correlation filters that work on a frame, with a crop for each. */
typedef struct {
  CuvCorrelationWork correlation;
  CuvCorrelation *filters[CUV_RCD_MAX_TARGETS];
  CuvRcdFilterJob job;
} CuvTrackerWork;

struct _CuvTracker {
  CuvTrackerConfig config;
  CuvTrackerTarget targets[CUV_RCD_MAX_TARGETS];
  int n_targets;
  int32_t last_id;
  int width, height; /* size of the last frame; 0 before the first */
  CuvModel model;    /* colour model of the last frame */
  CuvBackend backend;
  CuvRcdConfig backend_config; /* configuration of the open backend */
  CuvTrackerPlan plan;
  CuvRcdMatch matches[CUV_RCD_MAX_TARGETS];
  CuvTrackerWork *work;
  char rejected[256];  /* why the last run rejected a target, or empty */
  char ambiguous[256]; /* names a new target that looks like its surroundings,
                        * or empty */
};

/* Returns the intersection of a box and the frame; 0 x 0 pixels if it is
 * empty. */
CuvRcdBox cuv_tracker_clip (const CuvRcdBox *box, int width, int height);

/* Computes the target's first model from sums as cuv_rcd_box_sums() computes
 * them. Returns NULL, or why the box cannot be tracked: text that follows "the
 * target ...". */
const char *cuv_tracker_init_appearance (CuvTracker *self,
    CuvTrackerTarget *target, const int64_t *sums, const CuvRcdBox *box);

/* Sets self->rejected to "the <name> of 3 x 4 pixels at (1, 2) <why>". */
void cuv_tracker_reject (
    CuvTracker *self, const char *name, const CuvRcdBox *box, const char *why);

/* Schedules a measurement of all targets in the next frame; lost ones, whose
 * position is unknown, will be given up. */
void cuv_tracker_remeasure_all (CuvTracker *self);

void cuv_tracker_remove_at (CuvTracker *self, int t);

/* Plans the search of a frame of this size for all targets without skip_search.
 * full: search the whole frame for all of them, which needs the maximum number
 * of windows. */
void cuv_tracker_plan (CuvTracker *self, const CuvTrackerParams *params,
    int width, int height, bool full);

/* ---- tracker-match.c ---- */

bool cuv_tracker_is_distinct (const CuvTrack *track, CuvRcdMetric metric);
bool cuv_tracker_is_near (
    const CuvTrack *track, CuvRcdMetric metric, double limit);
bool cuv_tracker_is_reliable (
    const CuvTrackerTarget *target, CuvRcdMetric metric, double limit);
void cuv_tracker_update_model (CuvTrackerTarget *target,
    const CuvRcdMatch *match, const CuvRcdUpdateConfig *update,
    CuvRcdMetric metric);
void cuv_tracker_set_found (CuvTrackerTarget *target, const CuvRcdBox *box);
void cuv_tracker_set_lost (CuvTrackerTarget *target, int max_lost_frames);
void cuv_tracker_update_target (const CuvTracker *self,
    CuvTrackerTarget *target, const CuvRcdMatch *match,
    const CuvTrackerParams *params);
void cuv_tracker_set_relit (CuvTrackerTarget *target, const CuvRcdModel *model);
void cuv_tracker_update_relit (const CuvTracker *self, CuvTrackerTarget *target,
    const CuvRcdMatch *match, const CuvRcdModel *model, double limit);

/* ---- tracker-follow.c ---- */

/* Allocates what the targets need and do not have yet. Returns false if out of
 * memory. */
bool cuv_tracker_prepare_filters (CuvTracker *self);

/* Plans finding the targets that have a filter. cuv_tracker_filter_job()
 * returns the job, or NULL if there is none. */
void cuv_tracker_plan_filters (CuvTracker *self);
const CuvRcdFilterJob *cuv_tracker_filter_job (const CuvTracker *self);

/* Starts the filters of targets that were found without them: each learns its
 * target, or moves to it. */
const char *cuv_tracker_start_filters (
    CuvTracker *self, const CuvFrame *frame, const CuvProcessor *processor);
const char *cuv_tracker_follow (CuvTracker *self, CuvTrackerTarget *target,
    const CuvRcdMatch *match, const CuvTrackerParams *params,
    const CuvProcessor *processor);
bool cuv_tracker_find_again (CuvTracker *self, CuvTrackerTarget *target,
    const CuvRcdMatch *match, const CuvTrackerParams *params);
const char *cuv_tracker_verify (CuvTracker *self, const CuvFrame *frame,
    const CuvTrackerParams *params, const CuvProcessor *processor);

#endif
