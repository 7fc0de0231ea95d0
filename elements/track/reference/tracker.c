/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The rounds of a frame (mot.h). */
#include "mot-private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- memory ---- */

CuvMot *
cuv_mot_new (void)
{
  CuvMot *self = calloc (1, sizeof *self);

  if (self == NULL)
    return NULL;
  self->assignment = cuv_mot_assignment_new ();
  if (self->assignment == NULL) {
    cuv_mot_free (self);
    return NULL;
  }
  self->next_id = 1;
  self->first = true;
  return self;
}

void
cuv_mot_free (CuvMot *self)
{
  if (self == NULL)
    return;
  cuv_mot_assignment_free (self->assignment);
  free (self->tracks);
  free (self->taken);
  free (self->rows);
  free (self->columns);
  free (self->column_of);
  free (self->by_left);
  free (self->pairs);
  free (self);
}

void
cuv_mot_reset (CuvMot *self)
{
  self->n_tracks = 0;
  self->first = true;
}

int
cuv_mot_next_id (const CuvMot *self)
{
  return self->next_id;
}

void
cuv_mot_set_next_id (CuvMot *self, int id)
{
  self->next_id = id;
}

void
cuv_mot_params_init (CuvMotParams *params)
{
  *params = (CuvMotParams){ 0.5, 0.1, 0.6, (int32_t) (0.8 * CUV_MOT_ONE),
    (int32_t) (0.5 * CUV_MOT_ONE), (int32_t) (0.7 * CUV_MOT_ONE), 30, 2 };
}

#define GROW(field, n) cuv_mot_grow (&self->field, (n), sizeof *self->field)

/* Room for these boxes, and for a track of each. column_of[] also has room for
 * the boxes, whose order is sorted in it. */
static int
reserve_tracks (CuvMot *self, int n)
{
  const int n_tracks = self->n_tracks + n;

  if (n > self->max_boxes) {
    if (GROW (taken, n) != 0 || GROW (columns, n) != 0
        || GROW (by_left, n) != 0)
      return -1;
    self->max_boxes = n;
  }
  if (n_tracks > self->max_tracks) {
    if (GROW (tracks, n_tracks + 64) != 0 || GROW (rows, n_tracks + 64) != 0
        || GROW (column_of, n_tracks + 64) != 0)
      return -1;
    self->max_tracks = n_tracks + 64;
  }
  return 0;
}

/* ---- rounds ---- */

typedef enum { LOW, HIGH } Score;

static bool
has_score (const CuvMot *self, int detection, Score score)
{
  const CuvMotDetection *box = &self->frame->detections[detection];
  const bool high = isnan (box->score) || box->score >= self->params->high;

  return score == HIGH ? high : !high && box->score >= self->params->low;
}

static void
choose_columns (CuvMot *self, Score score)
{
  self->n_columns = 0;
  for (int i = 0; i < self->frame->n; i++) {
    if (!self->taken[i] && !self->frame->detections[i].held
        && has_score (self, i, score))
      self->columns[self->n_columns++] = i;
  }
}

/* Chooses the tracks without a box that are in one of two states. */
static void
choose_rows (CuvMot *self, CuvMotState a, CuvMotState b)
{
  self->n_rows = 0;
  for (int i = 0; i < self->n_tracks; i++) {
    const CuvMotTrack *track = &self->tracks[i];

    if (track->detection < 0 && (track->state == a || track->state == b))
      self->rows[self->n_rows++] = i;
  }
}

static void
give (CuvMot *self, int track, int detection)
{
  self->taken[detection] = 1;
  cuv_mot_found (self, &self->tracks[track], detection);
}

static int
match (CuvMot *self, int32_t limit)
{
  if (self->n_rows == 0 || self->n_columns == 0)
    return 0;
  if (cuv_mot_find_pairs (self, limit) != 0
      || cuv_mot_assign (self->assignment, self->n_rows, self->n_columns,
             self->pairs, self->n_pairs, limit, self->column_of)
          != 0)
    return -1;
  for (int row = 0; row < self->n_rows; row++) {
    if (self->column_of[row] >= 0)
      give (self, self->rows[row], self->columns[self->column_of[row]]);
  }
  return 0;
}

static bool
boxes_equal (const CuvMotBox *a, const CuvMotBox *b)
{
  return a->left == b->left && a->top == b->top && a->right == b->right
      && a->bottom == b->bottom;
}

/* A box that is repeated belongs to the track that had it. */
static void
match_held (CuvMot *self, int detection)
{
  const CuvMotDetection *box = &self->frame->detections[detection];

  for (int i = 0; i < self->n_tracks; i++) {
    const CuvMotTrack *track = &self->tracks[i];

    if (track->detection < 0 && track->group == box->group
        && track->state <= CUV_MOT_TRACKED
        && boxes_equal (&track->box, &box->box)) {
      give (self, i, detection);
      return;
    }
  }
}

static void
begin_tracks (CuvMot *self)
{
  choose_columns (self, HIGH);
  for (int i = 0; i < self->n_columns; i++) {
    const int detection = self->columns[i];
    const double score = self->frame->detections[detection].score;

    if (isnan (score) || score >= self->params->begin)
      cuv_mot_begin (self, detection);
  }
}

static int
run_rounds (CuvMot *self)
{
  const CuvMotParams *params = self->params;

  choose_rows (self, CUV_MOT_TRACKED, CUV_MOT_LOST);
  choose_columns (self, HIGH);
  if (match (self, params->distance) != 0)
    return -1;
  choose_rows (self, CUV_MOT_TRACKED, CUV_MOT_TRACKED);
  choose_columns (self, LOW);
  if (match (self, params->distance_low) != 0)
    return -1;
  choose_rows (self, CUV_MOT_NEW, CUV_MOT_NEW);
  choose_columns (self, HIGH);
  return match (self, params->distance_new);
}

int
cuv_mot_run (CuvMot *self, const CuvMotParams *params, const CuvMotFrame *frame)
{
  self->params = params;
  self->frame = frame;
  if (reserve_tracks (self, frame->n) != 0) {
    cuv_mot_reset (self);
    return -1;
  }
  cuv_mot_advance (self);
  if (frame->n > 0)
    memset (self->taken, 0, (size_t) frame->n);
  for (int i = 0; i < frame->n; i++) {
    if (frame->detections[i].held)
      match_held (self, i);
  }
  if (run_rounds (self) != 0) {
    cuv_mot_reset (self);
    return -1;
  }
  for (int i = 0; i < self->n_tracks; i++) {
    if (self->tracks[i].detection < 0)
      cuv_mot_missed (self, &self->tracks[i]);
  }
  cuv_mot_expire (self);
  begin_tracks (self);
  self->first = self->first && frame->skipped;
  return 0;
}

const CuvMotTrack *
cuv_mot_tracks (const CuvMot *self, int *n)
{
  *n = self->n_tracks;
  return self->tracks;
}
