/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the parts of the tracker share. */
#ifndef CUV_RCD_TRACKER_PRIVATE_H
#define CUV_RCD_TRACKER_PRIVATE_H

#include "searcher.h"
#include "track/tracker.h"

typedef struct {
  CuvTrack track;
  CuvRcdMemory memory;
  bool pending;  /* to be measured at the track's box in the next frame */
  bool stale;    /* to be given up: it cannot be measured anew */
  bool idle;     /* not searched in this frame */
  bool acquired; /* has been found once, or measured */
  double usual;  /* divergence where it is found without doubt: running mean */
  int doubts;    /* frames in a row in which it was found with doubt */
} CuvTrackerTarget;

/* A target has at most this many windows: where there would be more, full
 * searches take larger steps. */
#define CUV_TRACKER_MAX_WINDOWS (1 << 18)

/* The windows of a frame's search. */
typedef struct {
  int stride, cell;
  CuvRcdTarget targets[CUV_RCD_MAX_TARGETS];
  int target[CUV_RCD_MAX_TARGETS]; /* which of the tracker's each one is */
  int n_targets;
  CuvRcdArea area;
  int n_windows;
  int most;     /* of a full search: windows that any other has at most */
  int spacing;  /* pixels between windows, at most */
  int n_places; /* that are refined */
} CuvTrackerPlan;

struct _CuvTracker {
  CuvTrackerShape shape;
  CuvTrackerTarget targets[CUV_RCD_MAX_TARGETS];
  int n_targets;
  int32_t last_id;
  int width, height; /* of the last frame; 0 before the first */
  CuvModel model;    /* of colours, likewise */
  CuvRcdSearcher *searcher;
  CuvTrackerPlan plan;
  CuvRcdMatch matches[CUV_RCD_MAX_TARGETS];
  char refused[256];
};

/* The part of a box inside the frame; no pixels if there is none. */
CuvRcdBox cuv_tracker_clip (const CuvRcdBox *box, int width, int height);

/* What a target looks like, from sums over a box of which x and y count from
 * it. NULL, or why it cannot be one. */
const char *cuv_tracker_first_look (CuvTracker *self, CuvTrackerTarget *target,
    const int64_t *sums, const CuvRcdBox *box);

/* Sets the text for people: "the <name> of 3 x 4 pixels at (1, 2) <why>". */
void cuv_tracker_refuse (
    CuvTracker *self, const char *name, const CuvRcdBox *box, const char *why);

/* All targets, in the next frame; those without a place to measure them at go.
 */
void cuv_tracker_measure_anew (CuvTracker *self);

void cuv_tracker_remove_at (CuvTracker *self, int t);

/* Plans the search of all targets that are not idle in frames of this size.
 * full: of the whole frame for each, and of those to be measured, too: what
 * takes the most windows. */
void cuv_tracker_plan (CuvTracker *self, const CuvTrackerParams *params,
    int width, int height, bool full);

#endif
