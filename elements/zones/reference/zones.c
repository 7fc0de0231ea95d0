/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One frame: objects in, events and who is inside out. */
#include "zones-private.h"

#include <stdlib.h>
#include <string.h>

struct CuvZones {
  const CuvZone *zones;
  int n_zones;
  CuvZoneCounts *counts; /* one per zone */
  CuvZoneGrid grid;
  CuvZoneTracks tracks;
  int64_t frame, time;

  CuvZoneEvent *events;
  int n_events, events_capacity;
  CuvZoneInside *inside;
  int n_inside, inside_capacity;
};

CuvZones *
cuv_zones_new (void)
{
  return calloc (1, sizeof (CuvZones));
}

static void
free_counts (CuvZoneCounts *counts, int n)
{
  for (int i = 0; i < n; i++)
    free (counts[i].list);
  free (counts);
}

void
cuv_zones_free (CuvZones *self)
{
  if (self == NULL)
    return;
  free_counts (self->counts, self->n_zones);
  cuv_zone_grid_close (&self->grid);
  cuv_zone_tracks_clear (&self->tracks);
  free (self->events);
  free (self->inside);
  free (self);
}

void
cuv_zones_forget (CuvZones *self)
{
  cuv_zone_tracks_clear (&self->tracks);
}

/* ---- other zones ---- */

static int
find_zone (const CuvZone *zones, int n_zones, const char *name)
{
  for (int i = 0; i < n_zones; i++) {
    if (strcmp (zones[i].name, name) == 0)
      return i;
  }
  return -1;
}

/* target[i]: which zone the i-th of before is now, -1 = none. */
static void
move_counts (CuvZones *self, CuvZoneCounts *counts, const int *target)
{
  for (int i = 0; i < self->n_zones; i++) {
    if (target[i] < 0)
      continue;
    counts[target[i]] = self->counts[i];
    self->counts[i].list = NULL;
  }
}

bool
cuv_zones_set (CuvZones *self, const CuvZone *zones, int n_zones)
{
  CuvZoneCounts *counts = calloc ((size_t) n_zones + 1, sizeof (CuvZoneCounts));
  int *target = calloc ((size_t) self->n_zones + 1, sizeof (int));
  CuvZoneGrid grid;
  const bool ok = counts != NULL && target != NULL
      && cuv_zone_grid_open (&grid, zones, n_zones);

  if (ok) {
    for (int i = 0; i < self->n_zones; i++)
      target[i] = find_zone (zones, n_zones, self->zones[i].name);
    cuv_zone_tracks_move (&self->tracks, self->zones, zones, target);
    move_counts (self, counts, target);
    free_counts (self->counts, self->n_zones);
    cuv_zone_grid_close (&self->grid);
    self->grid = grid;
    self->counts = counts;
    self->zones = zones;
    self->n_zones = n_zones;
    self->n_events = self->n_inside = 0;
  } else {
    free (counts);
  }
  free (target);
  return ok;
}

/* ---- results ---- */

static bool
add_event (CuvZones *self, const CuvZoneEvent *event)
{
  if (!cuv_zones_reserve ((void **) &self->events, &self->events_capacity,
          self->n_events + 1, sizeof (CuvZoneEvent)))
    return false;
  self->events[self->n_events++] = *event;
  return true;
}

static bool
add_inside (CuvZones *self, int zone, int64_t id, uint32_t label, int64_t since,
    CuvZonePoint at)
{
  if (self->n_inside == self->inside_capacity
      && !cuv_zones_reserve ((void **) &self->inside, &self->inside_capacity,
          self->n_inside + 1, sizeof (CuvZoneInside)))
    return false;
  self->inside[self->n_inside++] =
      (CuvZoneInside){ zone, id, label, since, at };
  self->counts[zone].inside++;
  return true;
}

static bool
count (CuvZones *self, int zone, uint32_t label, int direction)
{
  CuvZoneCounts *counts = &self->counts[zone];
  CuvZoneCount *row = cuv_zone_counts_row (counts, label);

  if (row == NULL)
    return false;
  row->in += direction > 0;
  row->out += direction < 0;
  counts->in += direction > 0;
  counts->out += direction < 0;
  return true;
}

/* Counts and lists what a step means. */
static bool
report (CuvZones *self, const CuvZoneTrack *track, int zone,
    const CuvZoneStep *step)
{
  CuvZoneEvent event = { .zone = zone,
    .id = track->id,
    .label = track->label,
    .at = cuv_zone_anchor (&track->box, self->zones[zone].anchor) };
  const int direction = step->enters ? 1 : step->leaves ? -1 : step->crosses;

  if (direction != 0) {
    event.type = step->enters ? CUV_ZONE_ENTER
        : step->leaves        ? CUV_ZONE_LEAVE
                              : CUV_ZONE_CROSS;
    event.direction = direction;
    event.dwell = step->leaves ? step->dwell : 0;
    if (!count (self, zone, track->label, direction)
        || !add_event (self, &event))
      return false;
  }
  event.type = CUV_ZONE_DWELL;
  event.direction = 0;
  event.dwell = step->dwell;
  return !step->dwells || add_event (self, &event);
}

/* ---- one object ---- */

static bool
wants (const CuvZone *zone, uint32_t label)
{
  for (int i = 0; i < zone->n_labels; i++) {
    if (zone->labels[i] == label)
      return true;
  }
  return zone->n_labels == 0;
}

/* Without branches, which could not be predicted. */
static bool
in_bounds (const CuvZoneBox *bounds, CuvZonePoint p)
{
  return (p.x >= bounds->left) & (p.x <= bounds->right) & (p.y >= bounds->top)
      & (p.y <= bounds->bottom);
}

static bool
is_inside (const CuvZone *zone, const CuvZoneBox *box, const CuvZonePoint *p)
{
  const CuvZoneBox *bounds = &zone->bounds;

  if (zone->anchor != CUV_ANCHOR_ANY)
    return in_bounds (bounds, p[zone->anchor])
        && cuv_zone_contains (zone->points, zone->n_points, p[zone->anchor]);
  return box->left < bounds->right && box->right > bounds->left
      && box->top < bounds->bottom && box->bottom > bounds->top
      && cuv_zone_overlaps (zone->points, zone->n_points, box);
}

static void
anchors (CuvZonePoint points[2], const CuvZoneBox *box)
{
  for (int i = 0; i < 2; i++)
    points[i] = cuv_zone_anchor (box, (CuvZoneAnchor) i);
}

/* The zone with the lowest bit of a set's word. */
static int
lowest (uint64_t bits, int word)
{
  return word * 64 + __builtin_ctzll (bits);
}

/* An object without an id: it has no past. */
static bool
add_untracked (CuvZones *self, const CuvZoneObject *object)
{
  const uint64_t *near = cuv_zone_grid_find (&self->grid, &object->box, NULL);
  CuvZonePoint now[2];

  anchors (now, &object->box);
  for (int w = 0; w < self->grid.n_words; w++) {
    for (uint64_t bits = near[w]; bits != 0; bits &= bits - 1) {
      const int i = lowest (bits, w);
      const CuvZone *zone = &self->zones[i];

      if (!zone->is_line && wants (zone, object->label)
          && is_inside (zone, &object->box, now)
          && !add_inside (self, i, -1, object->label, self->time,
              cuv_zone_anchor (&object->box, zone->anchor)))
        return false;
    }
  }
  return true;
}

/* *at: where the track's visit of this zone is or would be; afterwards that of
 * the next zone. before: the anchors in the track's last frame. */
static bool
step_zone (CuvZones *self, CuvZoneTrack *track, int index, int *at,
    const CuvZonePoint before[2], const CuvZonePoint now[2])
{
  const CuvZone *zone = &self->zones[index];
  const bool present = wants (zone, track->label)
      && (zone->is_line || is_inside (zone, &track->box, now));
  const bool visited =
      *at < track->n_visits && track->visits[*at].zone == index;
  CuvZoneStep step = { 0 };
  CuvVisit *visit;

  if (!visited && !present)
    return true;
  if (!visited && !cuv_zone_track_enter (track, *at, index))
    return false;
  visit = &track->visits[*at];
  if (!zone->is_line)
    step = cuv_visit_polygon (visit, zone, present, self->time);
  else if (present)
    step =
        cuv_visit_line (visit, zone, before[zone->anchor], now[zone->anchor]);
  if (((step.enters || step.dwells || step.leaves || step.crosses != 0)
          && !report (self, track, index, &step))
      || (visit->inside
          && !add_inside (self, index, track->id, track->label, visit->since,
              now[zone->anchor != CUV_ANCHOR_BOTTOM_CENTER])))
    return false;
  if (present || visit->inside)
    ++*at;
  else
    cuv_zone_track_leave (track, *at);
  return true;
}

static bool
add_tracked (CuvZones *self, CuvZoneTrack *track, const CuvZoneObject *object)
{
  const uint64_t *near = cuv_zone_grid_find (&self->grid, &object->box, track);
  CuvZonePoint before[2], now[2];

  anchors (before, &track->box);
  anchors (now, &object->box);
  track->label = object->label;
  track->box = object->box;
  track->frame = self->frame;
  for (int w = 0, at = 0; w < self->grid.n_words; w++) {
    for (uint64_t bits = near[w]; bits != 0; bits &= bits - 1) {
      if (!step_zone (self, track, lowest (bits, w), &at, before, now))
        return false;
    }
  }
  return true;
}

static bool
step_object (CuvZones *self, const CuvZoneObject *object)
{
  CuvZoneTrack *track = NULL;
  bool ok = true;

  if (object->id >= 0)
    track = cuv_zone_tracks_get (&self->tracks, object->id, &ok);
  if (track != NULL && track->frame == self->frame)
    return true;
  return ok
      && (track != NULL ? add_tracked (self, track, object)
                        : add_untracked (self, object));
}

/* ---- tracks that this frame does not have ---- */

static bool
end_track (CuvZones *self, CuvZoneTrack *track)
{
  for (int i = 0; i < track->n_visits; i++) {
    const CuvZoneStep step = cuv_visit_end (&track->visits[i]);

    if (step.leaves && !report (self, track, track->visits[i].zone, &step))
      return false;
  }
  return true;
}

static bool
keep_track (CuvZones *self, const CuvZoneTrack *track)
{
  for (int i = 0; i < track->n_visits; i++) {
    const CuvVisit *visit = &track->visits[i];

    if (visit->inside
        && !add_inside (self, visit->zone, track->id, track->label,
            visit->since,
            cuv_zone_anchor (&track->box, self->zones[visit->zone].anchor)))
      return false;
  }
  return true;
}

static bool
add_missing (CuvZones *self, int max_lost)
{
  for (int i = 0; i < self->tracks.n; i++) {
    CuvZoneTrack *track = self->tracks.list[i];

    if (track->frame == self->frame)
      continue;
    if (self->frame - track->frame <= max_lost) {
      if (!keep_track (self, track))
        return false;
    } else {
      if (!end_track (self, track))
        return false;
      cuv_zone_tracks_remove (&self->tracks, i--);
    }
  }
  return true;
}

static bool
add_crowds (CuvZones *self)
{
  for (int i = 0; i < self->n_zones; i++) {
    const CuvZone *zone = &self->zones[i];
    CuvZoneCounts *counts = &self->counts[i];
    const bool crowded = zone->crowd > 0 && counts->inside >= zone->crowd;
    const CuvZoneBox *b = &zone->bounds;
    const CuvZoneEvent event = { .type = CUV_ZONE_CROWD,
      .zone = i,
      .id = -1,
      .count = counts->inside,
      .at = cuv_zone_anchor (b, CUV_ANCHOR_CENTER) };

    if (crowded && !counts->crowded && !add_event (self, &event))
      return false;
    counts->crowded = crowded;
  }
  return true;
}

/* ---- a frame ---- */

bool
cuv_zones_update (CuvZones *self, const CuvZoneObject *objects, int n_objects,
    int64_t time, int max_lost)
{
  self->frame++;
  self->time = time;
  self->n_events = self->n_inside = 0;
  for (int i = 0; i < self->n_zones; i++)
    self->counts[i].inside = 0;
  for (int i = 0; i < n_objects; i++) {
    if (!step_object (self, &objects[i]))
      return false;
  }
  return add_missing (self, max_lost) && add_crowds (self);
}

const CuvZoneEvent *
cuv_zones_events (const CuvZones *self, int *n)
{
  *n = self->n_events;
  return self->events;
}

const CuvZoneInside *
cuv_zones_inside (const CuvZones *self, int *n)
{
  *n = self->n_inside;
  return self->inside;
}

CuvZoneTotals
cuv_zones_totals (const CuvZones *self, int zone)
{
  const CuvZoneCounts *counts = &self->counts[zone];

  return (CuvZoneTotals){ counts->list, counts->n, counts->in, counts->out,
    counts->inside };
}
