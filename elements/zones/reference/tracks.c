/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tracks that are followed, sorted by id, and their visits. */
#include "zones-private.h"

#include <stdlib.h>
#include <string.h>

bool
cuv_zones_reserve (void **list, int *capacity, int n, size_t size)
{
  int wanted = *capacity < 16 ? 16 : *capacity;
  void *bigger;

  if (n <= *capacity)
    return true;
  while (wanted < n)
    wanted += wanted / 2;
  bigger = realloc (*list, (size_t) wanted * size);
  if (bigger == NULL)
    return false;
  *list = bigger;
  *capacity = wanted;
  return true;
}

/* Returns the index of the first track whose id is not less. */
static int
find (const CuvZoneTracks *self, int64_t id)
{
  int low = 0, high = self->n;

  while (low < high) {
    const int middle = low + (high - low) / 2;

    if (self->list[middle]->id < id)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static CuvZoneTrack *
track_new (int64_t id)
{
  CuvZoneTrack *self = calloc (1, sizeof (CuvZoneTrack));

  if (self == NULL)
    return NULL;
  self->id = id;
  self->frame = -1;
  return self;
}

static void
track_free (CuvZoneTrack *self)
{
  free (self->visits);
  free (self);
}

static void
move_tail (CuvZoneTracks *self, int from, int to)
{
  memmove (self->list + to, self->list + from,
      (size_t) (self->n - from) * sizeof (CuvZoneTrack *));
}

CuvZoneTrack *
cuv_zone_tracks_get (CuvZoneTracks *self, int64_t id, bool *ok)
{
  const int at = find (self, id);
  CuvZoneTrack *track;

  *ok = true;
  if (at < self->n && self->list[at]->id == id)
    return self->list[at];
  if (self->n >= CUV_ZONES_MAX_TRACKS)
    return NULL;
  *ok = cuv_zones_reserve ((void **) &self->list, &self->capacity, self->n + 1,
      sizeof (CuvZoneTrack *));
  track = *ok ? track_new (id) : NULL;
  *ok = track != NULL;
  if (track == NULL)
    return NULL;
  move_tail (self, at, at + 1);
  self->list[at] = track;
  self->n++;
  return track;
}

void
cuv_zone_tracks_remove (CuvZoneTracks *self, int index)
{
  track_free (self->list[index]);
  move_tail (self, index + 1, index);
  self->n--;
}

void
cuv_zone_tracks_clear (CuvZoneTracks *self)
{
  for (int i = 0; i < self->n; i++)
    track_free (self->list[i]);
  free (self->list);
  *self = (CuvZoneTracks){ 0 };
}

bool
cuv_zone_track_enter (CuvZoneTrack *self, int at, int zone)
{
  if (!cuv_zones_reserve ((void **) &self->visits, &self->capacity,
          self->n_visits + 1, sizeof (CuvVisit)))
    return false;
  memmove (self->visits + at + 1, self->visits + at,
      (size_t) (self->n_visits++ - at) * sizeof (CuvVisit));
  self->visits[at] = (CuvVisit){ .zone = zone };
  return true;
}

void
cuv_zone_track_leave (CuvZoneTrack *self, int at)
{
  memmove (self->visits + at, self->visits + at + 1,
      (size_t) (--self->n_visits - at) * sizeof (CuvVisit));
}

static int
by_zone (const void *a, const void *b)
{
  return ((const CuvVisit *) a)->zone - ((const CuvVisit *) b)->zone;
}

static void
move_visits (CuvZoneTrack *track, const CuvZone *before, const CuvZone *zones,
    const int *target)
{
  int n = 0;

  for (int i = 0; i < track->n_visits; i++) {
    CuvVisit visit = track->visits[i];
    const CuvZone *from = &before[visit.zone];

    visit.zone = target[visit.zone];
    if (visit.zone >= 0 && cuv_visit_survives (from, &zones[visit.zone]))
      track->visits[n++] = visit;
  }
  track->n_visits = n;
  if (n > 1)
    qsort (track->visits, (size_t) n, sizeof (CuvVisit), by_zone);
}

void
cuv_zone_tracks_move (CuvZoneTracks *self, const CuvZone *before,
    const CuvZone *zones, const int *target)
{
  for (int i = 0; i < self->n; i++)
    move_visits (self->list[i], before, zones, target);
}
