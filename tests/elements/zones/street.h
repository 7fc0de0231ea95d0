/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Street scenes: boxes of people and cars whose paths are known, as a detector
 * would find them, and the counts that follow from the paths.
 *
 * Paths are such that the counts are certain: nobody passes so close to the end
 * of a line, turns so close to a zone or stays in it so briefly that noise
 * would decide; nobody is out of sight for long or while turning, or vanishes
 * within the frame, as no tracker of boxes could know. Within these limits
 * people walk, stop, turn back, stand on lines, walk along them, cross and hide
 * each other, are missed, and are found twice or where nobody is. */
#ifndef STREET_H
#define STREET_H

#include <glib.h>

#define STREET_WIDTH 640
#define STREET_HEIGHT 360
#define STREET_FRAMES 240
#define STREET_ZONES 6
#define STREET_ACTORS 9
#define STREET_LABELS 2
#define STREET_MOST_BOXES (STREET_ACTORS + 1)

extern const gchar *const street_labels[STREET_LABELS];

typedef struct {
  gdouble x, y;
} StreetPoint;

typedef struct {
  gboolean is_line;
  gint n; /* points */
  StreetPoint points[6];
  gint hysteresis;
} StreetZone;

/* What a detector finds. */
typedef struct {
  gint label, x, y, width, height;
  gdouble score;
} StreetBox;

/* Someone with a path. */
typedef struct {
  gint label, first, last; /* frames */
  gdouble width, height;
  StreetPoint feet[STREET_FRAMES]; /* without noise */
  /* stands on a line, or walks along it */
  const StreetZone *on_line[STREET_FRAMES];
  gboolean turns[STREET_FRAMES];  /* changes speed or direction */
  gboolean missed[STREET_FRAMES]; /* by the detector, or behind a tree */
  gboolean seen[STREET_FRAMES];
  StreetBox boxes[STREET_FRAMES];
} StreetActor;

typedef struct {
  gint n_zones, n_actors, noise; /* noise: pixels */
  StreetZone zones[STREET_ZONES];
  StreetActor actors[STREET_ACTORS];
  gint n_boxes[STREET_FRAMES];
  StreetBox boxes[STREET_FRAMES][STREET_MOST_BOXES];
  gint counts[STREET_ZONES][STREET_LABELS][2]; /* [0]: in, [1]: out */
} Street;

Street *street_new (guint32 seed);
void street_free (Street *self);

/* street-truth.c: adds what an actor counts in a zone; FALSE if that is not
 * certain. Coordinates of feet are known up to `margin` pixels. */
gboolean street_count (const StreetActor *actor, const StreetZone *zone,
    gdouble margin, gint counts[2]);

#endif
