/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tracking of boxes over frames (MOT: multiple object tracking), and the map
 * of elements/track/.
 *
 * The method is that of Y. Zhang and others, ByteTrack, ECCV 2022: a Kalman
 * filter predicts the box of each track, boxes are assigned to tracks in
 * rounds, those with high scores first, by their intersection over union, and
 * a track without a box is lost for a while before it is dropped. No pixels are
 * read. Costs are integers and the filter has a fixed order of operations, so
 * that ids are the same on all processors.
 *
 *   reference/         the definition
 *     kalman.c         a track's filter
 *     pairs.c          which boxes may belong to which tracks, and the costs
 *     assignment.c     the assignment of least cost; among equal ones the first
 *     tracker.c        the rounds of a frame
 *     tracks.c         tracks begin, are found, lost and dropped
 *   gstvisiontrack.c   the element
 *   gsttrackstream.c   the state of one stream
 *   gsttrackobjects.c  objects of a buffer as boxes; ids and the message
 *   gstvisiontracksettings.c   its properties */
#ifndef CUV_MOT_H
#define CUV_MOT_H

#include <stdbool.h>
#include <stdint.h>

/* Coordinates are in 1/16 pixel, between -MAX and MAX. */
#define CUV_MOT_UNIT 16
#define CUV_MOT_MAX_COORDINATE (1 << 20)

/* Distances are 2^20 - floor (2^20 * IoU). */
#define CUV_MOT_ONE (1 << 20)

/* Further boxes of a frame have to be left out; further tracks do not begin. */
#define CUV_MOT_MAX_BOXES 2048
#define CUV_MOT_MAX_TRACKS 4096

/* A box with right > left and bottom > top. */
typedef struct {
  int32_t left, top, right, bottom;
} CuvMotBox;

/* A box that a detector has found. */
typedef struct {
  CuvMotBox box;
  double score; /* NAN: none, which counts as high */
  int group;    /* a track has boxes of one group only: a class, a detector */
  bool held;    /* repeats a box of an earlier frame */
} CuvMotDetection;

typedef struct {
  double high;          /* scores from here up are matched first */
  double low;           /* scores from here up to high are matched after that */
  double begin;         /* scores from here up begin tracks */
  int32_t distance;     /* maximum in the first round, for high scores */
  int32_t distance_low; /* maximum in the second round */
  int32_t distance_new; /* maximum for tracks that are not confirmed */
  double max_lost;      /* frames after which a lost track is dropped */
  int min_hits;         /* boxes that confirm a track */
} CuvMotParams;

typedef enum {
  CUV_MOT_NEW,     /* not confirmed */
  CUV_MOT_TRACKED, /* in this frame, or in the last one before skipped ones */
  CUV_MOT_LOST,
  CUV_MOT_GONE, /* dropped in this frame */
} CuvMotState;

typedef enum {
  CUV_MOT_NO_EVENT,
  CUV_MOT_ACQUIRED, /* confirmed */
  CUV_MOT_WENT_LOST,
  CUV_MOT_REACQUIRED,
  CUV_MOT_GIVEN_UP,
} CuvMotEvent;

/* Four filters of a value and its velocity per frame: of the centre's x and y,
 * of width / height and of the height, in pixels. */
typedef struct {
  struct {
    double value, velocity;
    double p, c, q; /* variance of the value, covariance, of the velocity */
  } axis[4];
} CuvMotKalman;

typedef struct {
  int id; /* from 1 up in the order of confirmation, 0 until then */
  CuvMotState state;
  CuvMotEvent event;   /* of this frame */
  int group, hits;     /* hits: number of boxes so far */
  int detection;       /* index of its box in this frame, -1: none */
  double lost_frames;  /* since its last box */
  uint64_t first_seen; /* time of its first and of its last box */
  uint64_t last_seen;
  CuvMotBox box;       /* the last one that a detector found */
  CuvMotBox predicted; /* for this frame, before its box is known */
  CuvMotKalman filter;
} CuvMotTrack;

typedef struct {
  const CuvMotDetection *detections;
  int n; /* up to CUV_MOT_MAX_BOXES */
  /* frames since the last one: 1, more if frames are missing */
  double elapsed;
  uint64_t time; /* becomes first_seen, last_seen */
  bool skipped;  /* no detector looked: that a track has no box means nothing */
} CuvMotFrame;

typedef struct _CuvMot CuvMot;

/* Returns NULL if memory runs out. */
CuvMot *cuv_mot_new (void);
void cuv_mot_free (CuvMot *self);

/* Drops all tracks; ids are not used again. */
void cuv_mot_reset (CuvMot *self);

/* The id of the next track that is confirmed. */
int cuv_mot_next_id (const CuvMot *self);
void cuv_mot_set_next_id (CuvMot *self, int id);

void cuv_mot_params_init (CuvMotParams *params);

/* Tracks the boxes of the next frame. Allocates only if there are more boxes
 * or tracks than ever before. Returns 0, or -1 if memory runs out: then all
 * tracks are dropped. */
int cuv_mot_run (
    CuvMot *self, const CuvMotParams *params, const CuvMotFrame *frame);

/* Returns all tracks after the last frame, the oldest first; valid until the
 * next call. */
const CuvMotTrack *cuv_mot_tracks (const CuvMot *self, int *n);

/* ---- parts ---- */

void cuv_mot_kalman_init (CuvMotKalman *self, const CuvMotBox *box);
/* Predicts the box after a number of frames. */
void cuv_mot_kalman_predict (CuvMotKalman *self, double elapsed);
void cuv_mot_kalman_update (CuvMotKalman *self, const CuvMotBox *box);
CuvMotBox cuv_mot_kalman_box (const CuvMotKalman *self);

/* Returns 2^20 - floor (2^20 * IoU). */
int32_t cuv_mot_distance (const CuvMotBox *a, const CuvMotBox *b);

/* An edge of the graph: a column that may be assigned to a row. */
typedef struct {
  int row, column;
  int32_t cost;
} CuvMotPair;

typedef struct _CuvMotAssignment CuvMotAssignment;

CuvMotAssignment *cuv_mot_assignment_new (void);
void cuv_mot_assignment_free (CuvMotAssignment *self);

/* Assigns each row a column that no other row has, or none, so that the sum of
 * the pairs' costs, plus `unassigned` for each row without a column, is
 * minimal. Among equal ones that assignment is chosen in which the first row
 * has its first column (none comes last); then the second row, and so on.
 *
 * @pairs: allowed pairs with costs from 0 up, ordered by row and column
 * @columns: set to the column of each row, -1: none
 *
 * Returns 0, or -1 if memory runs out. */
int cuv_mot_assign (CuvMotAssignment *self, int n_rows, int n_columns,
    const CuvMotPair *pairs, int n_pairs, int32_t unassigned, int *columns);

#endif
