/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tracks of targets over frames: where each is searched, whether it is found,
 * what its model becomes. One path for CPU and GPU; plain C. */
#ifndef CUV_RCD_TRACKER_H
#define CUV_RCD_TRACKER_H

#include "rcd.h"
#include "track/update.h"

/* What the trackers' searchers are made for. */
typedef struct {
  CuvRcdFeatures features;
  CuvRcdMetric metric;
  int stride;      /* pixels from one window to the next; 0 = by the targets'
                    * size: their least side / 4, 2 .. 16, a power of two */
  int cell;        /* divides the stride; 0 = its greatest divisor <= 16 */
  int max_targets; /* 1 .. CUV_RCD_MAX_TARGETS */
  double lambda;   /* added to variances */
} CuvTrackerShape;

/* What may change at every frame. */
typedef struct {
  double scales[CUV_RCD_MAX_LEVELS]; /* > 0, ascending */
  int n_scales;
  bool full;  /* search the whole frame, too, while a target is not lost */
  int radius; /* pixels around the last box's centre that windows' centres are
               * searched in; 0 = the box's larger side */
  bool refine;
  CuvRcdLearning learning;
  /* Farther is lost; 0 = cuv_tracker_max_distance(), and after a few frames of
   * doubt. */
  double max_distance;
  int max_lost_frames; /* then it is given up; 0 = never */
} CuvTrackerParams;

/* What is best where nothing is known: tests/models/track.py has the figures.
 */
void cuv_tracker_params_init (CuvTrackerParams *params);

typedef enum {
  CUV_TRACK_TRACKED,
  CUV_TRACK_LOST,
} CuvTrackState;

typedef enum {
  CUV_TRACK_NOTHING,
  CUV_TRACK_ACQUIRED,
  CUV_TRACK_WENT_LOST,
  CUV_TRACK_REACQUIRED,
  CUV_TRACK_GIVEN_UP, /* its last frame */
} CuvTrackEvent;

typedef struct {
  int32_t id; /* from 1 up, never twice */
  CuvTrackState state;
  CuvTrackEvent event; /* in this frame */
  CuvRcdBox box;       /* the last place where it was found */
  double scale;        /* the box's size by that it was acquired with */
  double distance;     /* of this frame's best window; infinite if none */
  double second;       /* the least one elsewhere; infinite if none */
  int32_t lost_frames; /* since it was found */
} CuvTrack;

typedef struct _CuvTracker CuvTracker;

/* The distance up to which a target counts as found, where none is asked for.
 */
double cuv_tracker_max_distance (CuvRcdFeatures features, CuvRcdMetric metric);

/* How sure a distance makes: 2^(-distance / max_distance), 1 for the target
 * itself, 0.5 at the limit. */
double cuv_tracker_confidence (double distance, double max_distance);

/* A tracker without targets. NULL, and *problem says what is wrong with the
 * shape. */
CuvTracker *cuv_tracker_new (
    const CuvTrackerShape *shape, const char **problem);

/* NULL is allowed. If it ran on the device the context that it did it in must
 * be current, or have been left. */
void cuv_tracker_free (CuvTracker *self);

/* Frees all that is in the current CUDA context; targets stay. */
void cuv_tracker_leave_device (CuvTracker *self);

/* Changes what searchers are made for. Of other features or another lambda,
 * targets are measured anew in the next frame where they were, and given up if
 * they are lost. What is wrong with it, and nothing changes; or NULL. */
const char *cuv_tracker_reshape (
    CuvTracker *self, const CuvTrackerShape *shape);

/* A new target where it is in the next frame; of a box partly outside, the part
 * inside. Its id, or 0 if there are max_targets already; the next
 * cuv_tracker_run() says whether the box can be one. */
int32_t cuv_tracker_add (CuvTracker *self, const CuvRcdBox *box);

/* A new target that looks like a picture in host memory, of the frames' colour
 * model, to be found from the next frame on by full searches: it is lost until
 * then. Its id, or 0; *problem says why. */
int32_t cuv_tracker_add_picture (
    CuvTracker *self, const CuvFrame *picture, const char **problem);

bool cuv_tracker_remove (CuvTracker *self, int32_t id);
void cuv_tracker_clear (CuvTracker *self); /* ids go on */
int cuv_tracker_n_targets (const CuvTracker *self);

/* Makes what frames of this size in this place need for the targets and scales
 * that there are, the only place that allocates; run() calls it when it must.
 * NULL, or what went wrong. */
const char *cuv_tracker_prepare (CuvTracker *self,
    const CuvTrackerParams *params, const CuvFrame *frame, bool on_device,
    void *stream);

typedef struct {
  CuvTrack tracks[CUV_RCD_MAX_TARGETS];
  int n_tracks;
  /* the box of a target that could not be taken, as text for people; NULL */
  const char *refused;
  int64_t windows; /* compared, before refinement */
  float microseconds;
} CuvTrackerResult;

/* One frame. draw: the first target's distance map is drawn over it. NULL, or
 * what went wrong. */
const char *cuv_tracker_run (CuvTracker *self, const CuvFrame *frame,
    const CuvTrackerParams *params, bool draw, bool on_device, void *stream,
    int n_threads, CuvTrackerResult *result);

#endif
