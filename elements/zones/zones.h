/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Zones: who is inside, who crossed a line; and a map of this folder.
 *
 *   reference/       the definition, plain C:
 *     geometry.c     points, boxes and steps against polygons and lines
 *     visits.c       what one step of a track means for one zone
 *     tracks.c       the tracks that are followed, and their visits
 *     grid.c         which zones a box may concern
 *     counts.c       counts by zone and label
 *     zones.c        one frame: objects in, events and who is inside out
 *     heat.c         where objects were, for how long
 *     zones-private.h  shared by these files
 *   gstvisionzones.c          the element
 *   gstvisionzonessettings.c  its properties
 *   gstzonesstream.c          the state of one stream
 *   gstzonesconfig.c          zones as JSON, and their place in a frame
 *   gstzonestables.c          results as tables
 *   gstzonesmessages.c        events as element messages
 *   plugin.c                  registers the element
 *
 * Coordinates are in 1/16 pixel, y downwards; their magnitude is at most
 * CUV_ZONE_MAX, so that cross products fit 64 bits. Times are in ns. */
#ifndef CUV_ZONES_H
#define CUV_ZONES_H

#include <stdbool.h>
#include <stdint.h>

#define CUV_ZONE_SCALE 16
#define CUV_ZONE_MAX (1 << 28)

/* Objects with further ids count as objects without an id. */
#define CUV_ZONES_MAX_TRACKS 4096

typedef struct {
  int32_t x, y;
} CuvZonePoint;

typedef struct {
  int32_t left, top, right, bottom; /* right and bottom are not part of it */
} CuvZoneBox;

/* The point of a box that stands for an object. */
typedef enum {
  CUV_ANCHOR_BOTTOM_CENTER,
  CUV_ANCHOR_CENTER,
  CUV_ANCHOR_ANY, /* the whole box: any part of it; polygons only */
} CuvZoneAnchor;

/* ---- geometry ---- */

CuvZonePoint cuv_zone_anchor (const CuvZoneBox *box, CuvZoneAnchor anchor);

/* The side of a line that a point is on, as seen when looking from a to b: 1 =
 * left, -1 = right, 0 = on it. */
int cuv_zone_side (CuvZonePoint a, CuvZonePoint b, CuvZonePoint p);

/* Whether a point is in a polygon, by the parity of the edges to its right. Of
 * the edges, the upper and left ones belong to the polygon, the lower and right
 * ones do not: of two polygons with a common edge exactly one has a point on
 * that edge. */
bool cuv_zone_contains (const CuvZonePoint *polygon, int n, CuvZonePoint p);

/* Whether the inner part of a box and a polygon have a point in common. */
bool cuv_zone_overlaps (
    const CuvZonePoint *polygon, int n, const CuvZoneBox *box);

/* Whether a point on the line through a and b is between them; the ends are. */
bool cuv_zone_between (CuvZonePoint a, CuvZonePoint b, CuvZonePoint p);

/* ---- zones ---- */

/* A polygon, or a directed line from its first to its second point. */
typedef struct {
  const char *name; /* unique */
  bool is_line;
  int n_points;
  const CuvZonePoint *points;
  CuvZoneBox bounds; /* of the points; right and bottom are the maxima */
  CuvZoneAnchor anchor;
  int hysteresis; /* frames from 1 up: outside before a track has left a
                   * polygon, on the other side before it has crossed a line */
  int64_t dwell;  /* time inside after which there is an event; 0 = never */
  int crowd;      /* objects inside from which there is an event; 0 = never */
  int n_labels;   /* 0 = all */
  const uint32_t *labels;
} CuvZone;

typedef struct {
  int64_t id;     /* of the track, -1 = none */
  uint32_t label; /* what it is */
  CuvZoneBox box; /* at least 2 units wide and high */
} CuvZoneObject;

typedef enum {
  CUV_ZONE_ENTER, /* the first frame inside a polygon */
  CUV_ZONE_LEAVE, /* `hysteresis` frames outside, or the track ended */
  CUV_ZONE_CROSS, /* of a line */
  CUV_ZONE_DWELL, /* inside for `dwell`; once a visit */
  CUV_ZONE_CROWD, /* `crowd` objects are inside, which were fewer before */
} CuvZoneEventType;

typedef struct {
  CuvZoneEventType type;
  int zone;        /* index */
  int64_t id;      /* of the track; -1 for CROWD */
  uint32_t label;  /* of the object; 0 for CROWD */
  int direction;   /* 1: in (ENTER; CROSS to the left side), -1: out, 0 */
  int64_t dwell;   /* LEAVE and DWELL: time inside so far */
  int count;       /* CROWD: objects inside */
  CuvZonePoint at; /* the object's anchor; for CROWD the middle of bounds */
} CuvZoneEvent;

/* An object in a polygon. */
typedef struct {
  int zone;        /* index */
  int64_t id;      /* of the track, -1 = none */
  uint32_t label;  /* of the object */
  int64_t since;   /* the first frame of the visit; without a track this one */
  CuvZonePoint at; /* anchor */
} CuvZoneInside;

/* Polygons: in = entered, out = left. Lines: crossed to the left, right. */
typedef struct {
  uint32_t label;
  uint64_t in, out;
} CuvZoneCount;

typedef struct {
  const CuvZoneCount *counts; /* by label, in the order of their first event */
  int n_counts;
  uint64_t in, out; /* of all labels */
  int inside;       /* objects inside in this frame */
} CuvZoneTotals;

typedef struct CuvZones CuvZones;

/* Functions that return bool return false if memory is exhausted. */
CuvZones *cuv_zones_new (void);
void cuv_zones_free (CuvZones *self);

/* Replaces the zones, which must stay unchanged until they are replaced. Counts
 * and visits of zones whose names stay are kept; who was inside a polygon
 * leaves it by the rules if its new shape is elsewhere. After a failure the
 * zones before stay. */
bool cuv_zones_set (CuvZones *self, const CuvZone *zones, int n_zones);

/* Adds a frame. A track that no frame had for more than max_lost frames has
 * ended; until then, it stays where it was. Of several objects with the same id
 * the first counts. */
bool cuv_zones_update (CuvZones *self, const CuvZoneObject *objects,
    int n_objects, int64_t time, int max_lost);

/* Forgets the tracks, without events. Counts stay. */
void cuv_zones_forget (CuvZones *self);

/* The results of the last frame, valid until the next call. Events come in the
 * order of objects, then of zones; those of ended tracks and CROWD last. */
const CuvZoneEvent *cuv_zones_events (const CuvZones *self, int *n);
const CuvZoneInside *cuv_zones_inside (const CuvZones *self, int *n);
CuvZoneTotals cuv_zones_totals (const CuvZones *self, int zone);

/* ---- heat map ---- */

/* Time spent per cell: s = s 2^(-dt / half_life) + dt [number of anchors]. */
typedef struct {
  int columns, rows;
  int cell;      /* side of a cell in pixels */
  double *cells; /* seconds, row by row */
  int64_t time;  /* of the last frame */
  bool begun;
} CuvZoneHeat;

/* A frame without objects is assumed between frames that are further apart. */
#define CUV_ZONE_HEAT_MAX_STEP 1000000000

bool cuv_zone_heat_open (CuvZoneHeat *self, int width, int height, int cell);
void cuv_zone_heat_close (CuvZoneHeat *self);

/* half_life: in seconds, 0 = no decay. Anchors outside the frame are ignored.
 */
void cuv_zone_heat_add (CuvZoneHeat *self, const CuvZoneObject *objects, int n,
    CuvZoneAnchor anchor, int64_t time, double half_life);

#endif
