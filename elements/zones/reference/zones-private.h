/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Structs and functions that the files of reference/ share. */
#ifndef CUV_ZONES_PRIVATE_H
#define CUV_ZONES_PRIVATE_H

#include <stddef.h>
#include "zones.h"

/* What a track does in a zone. All but `zone` are 0 before its first step
 * there. */
typedef struct {
  int zone;            /* index */
  int64_t since, last; /* polygon: first and last frame inside */
  uint16_t n;          /* frames outside, or on the other side */
  int8_t inside;       /* polygon: entered and not left */
  int8_t dwelled;      /* polygon: the DWELL event is out */
  int8_t from;         /* line: the last side that was not 0 */
  int8_t side;         /* line: the side it counts as being on; 0 = none yet */
  int8_t pending;      /* line: the direction of a crossing that is not yet
                        * counted */
} CuvVisit;

typedef struct {
  int64_t id;
  uint32_t label;
  CuvZoneBox box;   /* in the last frame that had it */
  int64_t frame;    /* that frame */
  CuvVisit *visits; /* in the order of zones: polygons that it is inside, and
                     * lines of its label */
  int n_visits, capacity;
} CuvZoneTrack;

typedef struct {
  CuvZoneTrack **list; /* by id */
  int n, capacity;
} CuvZoneTracks;

typedef struct {
  CuvZoneCount *list;
  int n, capacity;
  uint64_t in, out;
  int inside;
  bool crowded;
} CuvZoneCounts;

/* Makes room for n elements. */
bool cuv_zones_reserve (void **list, int *capacity, int n, size_t size);

/* ---- visits.c: one step ---- */

/* What a step means: events in this order. */
typedef struct {
  bool enters, dwells, leaves;
  int crosses;   /* direction */
  int64_t dwell; /* of dwells or leaves */
} CuvZoneStep;

CuvZoneStep cuv_visit_polygon (
    CuvVisit *self, const CuvZone *zone, bool inside, int64_t time);

/* before: where the track was in its last frame, which made this visit's state;
 * not used in the first step. */
CuvZoneStep cuv_visit_line (
    CuvVisit *self, const CuvZone *zone, CuvZonePoint before, CuvZonePoint now);

CuvZoneStep cuv_visit_end (CuvVisit *self);

/* Whether a visit goes on when its zone gets a new form. */
bool cuv_visit_survives (const CuvZone *from, const CuvZone *to);

/* ---- tracks.c ---- */

/* Returns the track, which is added if necessary; NULL with *ok if there are
 * too many. */
CuvZoneTrack *cuv_zone_tracks_get (CuvZoneTracks *self, int64_t id, bool *ok);
void cuv_zone_tracks_remove (CuvZoneTracks *self, int index);
void cuv_zone_tracks_clear (CuvZoneTracks *self);

/* Inserts a visit, which becomes the track's visit number `at`. */
bool cuv_zone_track_enter (CuvZoneTrack *self, int at, int zone);
void cuv_zone_track_leave (CuvZoneTrack *self, int at);

/* Moves the visits to the new zones. target[i]: which zone the i-th of before
 * is now, -1 = none. */
void cuv_zone_tracks_move (CuvZoneTracks *self, const CuvZone *before,
    const CuvZone *zones, const int *target);

/* ---- grid.c ---- */

/* Zones are bits of sets of n_words words each. */
typedef struct {
  int n_words;
  CuvZoneBox bounds; /* of all polygons: what the cells divide */
  uint64_t *cells;   /* for each the polygons whose bounds touch it */
  uint64_t *lines;
  uint64_t *found;
} CuvZoneGrid;

bool cuv_zone_grid_open (CuvZoneGrid *self, const CuvZone *zones, int n);
void cuv_zone_grid_close (CuvZoneGrid *self);

/* Returns the set of all lines, the polygons that the box may touch, and the
 * zones that the track (may be NULL) visits. It is valid until the next call.
 */
const uint64_t *cuv_zone_grid_find (
    CuvZoneGrid *self, const CuvZoneBox *box, const CuvZoneTrack *track);

/* ---- counts.c ---- */

/* Returns the row of a label, which is added if necessary. */
CuvZoneCount *cuv_zone_counts_row (CuvZoneCounts *self, uint32_t label);

#endif
