/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Structs and functions that the files of reference/ share. */
#ifndef CUV_ZONES_PRIVATE_H
#define CUV_ZONES_PRIVATE_H

#include <stddef.h>
#include "zones.h"

/* What a track does in a zone. All zeros before its first step there. */
typedef struct {
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
  CuvZoneBox box; /* in the last frame that had it */
  int64_t frame;  /* that frame */
  CuvVisit *visits;
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

/* Keeps what holds for the zone's new form. */
void cuv_visit_move (CuvVisit *self, const CuvZone *from, const CuvZone *to);

/* ---- tracks.c ---- */

/* Returns the track, which is added if necessary; NULL with *ok if there are
 * too many. */
CuvZoneTrack *cuv_zone_tracks_get (
    CuvZoneTracks *self, int64_t id, int n_zones, bool *ok);
void cuv_zone_tracks_remove (CuvZoneTracks *self, int index);
void cuv_zone_tracks_clear (CuvZoneTracks *self);

/* Gives each track visits of the new zones. source[i]: which zone of before the
 * i-th zone was, -1 = none. */
bool cuv_zone_tracks_move (CuvZoneTracks *self, const CuvZone *before,
    const CuvZone *zones, const int *source, int n_zones);

/* ---- counts.c ---- */

/* Returns the row of a label, which is added if necessary. */
CuvZoneCount *cuv_zone_counts_row (CuvZoneCounts *self, uint32_t label);

#endif
