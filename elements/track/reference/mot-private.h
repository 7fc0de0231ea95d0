/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files of this folder share. */
#ifndef CUV_MOT_PRIVATE_H
#define CUV_MOT_PRIVATE_H

#include "mot.h"

#include <stddef.h>

struct _CuvMot {
  CuvMotTrack *tracks; /* the oldest first */
  int n_tracks, max_tracks;
  int next_id;
  bool first; /* no frame since the reset: its boxes are confirmed at once */

  /* of one frame */
  const CuvMotParams *params;
  const CuvMotFrame *frame;
  char *taken; /* of each box: a track has it */
  int max_boxes;

  /* of one round */
  int *rows, *columns, *column_of; /* indices of tracks, of boxes */
  int n_rows, n_columns;
  int *by_left; /* positions in columns[], ordered by the boxes' left edges */
  CuvMotPair *pairs;
  int n_pairs, max_pairs;
  CuvMotAssignment *assignment;
};

/* Makes an array have room for n elements; array: the address of the pointer.
 * Returns 0, or -1 if memory runs out. */
int cuv_mot_grow (void *array, int n, size_t size);

/* Finds the pairs of rows and columns whose boxes overlap, are of one group and
 * are not farther apart than the limit. Returns 0, or -1 if memory runs out.
 */
int cuv_mot_find_pairs (CuvMot *self, int32_t limit);

/* Begins a track; nothing happens if there are too many. */
void cuv_mot_begin (CuvMot *self, int detection);
/* A track has a box in this frame. */
void cuv_mot_found (CuvMot *self, CuvMotTrack *track, int detection);
/* It has none. */
void cuv_mot_missed (CuvMot *self, CuvMotTrack *track);
void cuv_mot_drop (CuvMotTrack *track);

/* Removes what was dropped in the last frame, and predicts all boxes. */
void cuv_mot_advance (CuvMot *self);
/* Drops tracks that have been without a box for too long. */
void cuv_mot_expire (CuvMot *self);

#endif
