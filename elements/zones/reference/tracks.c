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
track_new (int64_t id, int n_zones)
{
  CuvZoneTrack *self = calloc (1, sizeof (CuvZoneTrack));

  if (self == NULL)
    return NULL;
  self->id = id;
  self->frame = -1;
  self->visits = calloc ((size_t) n_zones + 1, sizeof (CuvVisit));
  if (self->visits != NULL)
    return self;
  free (self);
  return NULL;
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
cuv_zone_tracks_get (CuvZoneTracks *self, int64_t id, int n_zones, bool *ok)
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
  track = *ok ? track_new (id, n_zones) : NULL;
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

static void
move_visits (CuvVisit *to, const CuvVisit *from, const CuvZone *before,
    const CuvZone *zones, const int *source, int n_zones)
{
  for (int i = 0; i < n_zones; i++) {
    if (source[i] < 0)
      continue;
    to[i] = from[source[i]];
    cuv_visit_move (&to[i], &before[source[i]], &zones[i]);
  }
}

bool
cuv_zone_tracks_move (CuvZoneTracks *self, const CuvZone *before,
    const CuvZone *zones, const int *source, int n_zones)
{
  CuvVisit **visits =
      calloc ((size_t) self->n + 1, sizeof (CuvVisit *)); /* all or none */
  bool ok = visits != NULL;

  for (int i = 0; ok && i < self->n; i++) {
    visits[i] = calloc ((size_t) n_zones + 1, sizeof (CuvVisit));
    ok = visits[i] != NULL;
  }
  for (int i = 0; visits != NULL && i < self->n; i++) {
    CuvVisit *old = ok ? self->list[i]->visits : visits[i];

    if (ok) {
      move_visits (visits[i], old, before, zones, source, n_zones);
      self->list[i]->visits = visits[i];
    }
    free (old);
  }
  free (visits);
  return ok;
}
