/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tracks targets over frames: plans the search, decides whether each target was
 * found, and updates its model. The same code serves searches on CPU and GPU.
 */
#ifndef CUV_RCD_TRACKER_H
#define CUV_RCD_TRACKER_H

#include "cuvbackend.h"
#include "rcd.h"
#include "track/update.h"

/* Settings whose change needs other memory, or new measurements of targets. */
typedef struct {
  CuvRcdFeatures features;
  CuvRcdMetric metric;
  int stride;      /* pixels from one window to the next; 0 = automatic: a
                    * quarter of the shortest side of all targets, rounded down
                    * to 2, 4, 8 or 16 */
  int cell;        /* pixels, divides stride; 0 = its largest divisor <= 16 */
  int max_targets; /* 1 .. CUV_RCD_MAX_TARGETS */
  double lambda;   /* added to variances */
} CuvTrackerConfig;

/* Settings that may change with every frame. */
typedef struct {
  double scales[CUV_RCD_MAX_LEVELS]; /* > 0, ascending */
  int n_scales;
  int full;        /* boolean: search the whole frame also while a target is not
                    * lost */
  int radius;      /* maximum distance of a window's centre from the last box's
                    * centre along each axis, pixels; 0 = the box's larger side */
  int refine;      /* boolean: refine position and size */
  int correlation; /* boolean: a correlation filter follows a target in a local
                    * search */
  CuvRcdUpdateConfig update;
  /* Maximum distance of a target that is found. 0 = a limit by features and
   * metric; then a target is also lost after several unreliable matches in a
   * row. */
  double max_distance;
  int max_lost_frames; /* frames after which a lost target is given up; 0 =
                        * unlimited */
} CuvTrackerParams;

/* Sets the defaults, which were chosen by figures of tests/models/rcd/track.py:
 * see docs/benchmarks/rcd.md, "How well it tracks". */
void cuv_tracker_params_init (CuvTrackerParams *params);

typedef enum {
  CUV_TRACK_TRACKED,
  CUV_TRACK_LOST,
} CuvTrackState;

typedef enum {
  CUV_TRACK_NO_EVENT,
  CUV_TRACK_ACQUIRED,
  CUV_TRACK_WENT_LOST,
  CUV_TRACK_REACQUIRED,
  CUV_TRACK_GIVEN_UP, /* this is the track's last frame */
} CuvTrackEvent;

typedef struct {
  int32_t id; /* counts from 1 up, never reused */
  CuvTrackState state;
  CuvTrackEvent event; /* what happened in this frame */
  CuvRcdBox box;       /* where it was found last */
  double scale;        /* box size relative to the model's */
  double distance; /* distance of the best window; infinite if there is none */
  double second;   /* see CuvRcdMatch; infinite if there is none */
  int32_t lost_frames; /* frames since it was last found */
} CuvTrack;

typedef struct _CuvTracker CuvTracker;

/* Returns the maximum distance of a target that is found: that of params, or
 * the default. */
double cuv_tracker_max_distance (
    const CuvTrackerConfig *config, const CuvTrackerParams *params);

/* Returns 2^(-distance / max_distance): 1 for distance 0, 0.5 at the limit. */
double cuv_tracker_confidence (double distance, double max_distance);

/* Creates a tracker without targets. On failure returns NULL and sets
 * *problem. */
CuvTracker *cuv_tracker_new (
    const CuvTrackerConfig *config, const char **problem);

/* NULL is allowed. If the last run was on the GPU, its CUDA context must be
 * current, unless cuv_tracker_leave_device() was called. */
void cuv_tracker_free (CuvTracker *self);

/* Frees all memory in the current CUDA context; keeps the targets. */
void cuv_tracker_leave_device (CuvTracker *self);

/* If features or lambda change, targets are measured again at their boxes in
 * the next frame, and given up if they are lost. Returns NULL, or what is wrong
 * with config; then nothing changes. */
const char *cuv_tracker_reconfigure (
    CuvTracker *self, const CuvTrackerConfig *config);

/* Adds the target inside box in the next frame; the box is clipped to the
 * frame. Returns its id, or 0 if there are max_targets already. Whether the box
 * is usable is known after the next cuv_tracker_run(): see rejected. */
int32_t cuv_tracker_add (CuvTracker *self, const CuvRcdBox *box);

/* Adds a target that looks like a picture in host memory, whose colour model
 * must be that of the frames. The target counts as lost until a full search
 * finds it. Returns its id, or 0 and sets *problem. */
int32_t cuv_tracker_add_picture (
    CuvTracker *self, const CuvFrame *picture, const char **problem);

bool cuv_tracker_remove (CuvTracker *self, int32_t id);
void cuv_tracker_clear (CuvTracker *self); /* ids are not reused */
int cuv_tracker_n_targets (const CuvTracker *self);

/* Allocates what searches in frames like this need for the present targets and
 * scales, unless it is allocated already. cuv_tracker_run() calls it. Returns
 * NULL, or what went wrong. */
const char *cuv_tracker_prepare (CuvTracker *self,
    const CuvTrackerParams *params, const CuvFrame *frame,
    const CuvProcessor *processor);

typedef struct {
  CuvTrack tracks[CUV_RCD_MAX_TARGETS];
  int n_tracks;
  /* NULL, or which new target was rejected and why; valid until the next run */
  const char *rejected;
  const char *ambiguous; /* likewise, one that looks like its surroundings */
  int64_t windows;       /* windows that were compared before refinement */
  float microseconds;
} CuvTrackerResult;

/* Tracks all targets in one frame. draw: draw the first target's distance map
 * over it. Returns NULL, or what went wrong. */
const char *cuv_tracker_run (CuvTracker *self, const CuvFrame *frame,
    const CuvTrackerParams *params, bool draw, const CuvProcessor *processor,
    CuvTrackerResult *result);

#endif
