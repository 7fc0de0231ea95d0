/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What one step of a track means for one zone. */
#include "zones-private.h"

#include <string.h>

static CuvZoneStep
leave (CuvVisit *self)
{
  const CuvZoneStep step = { .leaves = true,
    .dwell = self->last - self->since };

  self->inside = 0;
  return step;
}

CuvZoneStep
cuv_visit_polygon (
    CuvVisit *self, const CuvZone *zone, bool inside, int64_t time)
{
  CuvZoneStep step = { 0 };

  if (!inside) {
    if (self->inside && ++self->n >= zone->hysteresis)
      return leave (self);
    return step;
  }
  if (!self->inside) {
    step.enters = true;
    self->inside = 1;
    self->since = time;
  }
  self->n = 0;
  self->last = time;
  step.dwell = time - self->since;
  step.dwells = zone->dwell > 0 && !self->dwelled && step.dwell >= zone->dwell;
  self->dwelled |= step.dwells;
  return step;
}

CuvZoneStep
cuv_visit_end (CuvVisit *self)
{
  return self->inside ? leave (self) : (CuvZoneStep){ 0 };
}

/* The side that the track counts as being on. A track that touches the line has
 * arrived on the other side; one that touches it again, or leaves it on that
 * side, has not arrived twice. */
static int
side_after (const CuvVisit *self, const CuvZone *zone, int side, CuvZonePoint p)
{
  if (side != 0)
    return side;
  return cuv_zone_between (zone->points[0], zone->points[1], p) ? -self->from
                                                                : self->side;
}

/* Whether the step to the other side meets the line between its ends. */
static bool
meets (const CuvZone *zone, CuvZonePoint before, CuvZonePoint now)
{
  const CuvZonePoint a = zone->points[0], b = zone->points[1];

  if (cuv_zone_side (a, b, before) == 0 && cuv_zone_side (a, b, now) == 0)
    return cuv_zone_between (a, b, now);
  return cuv_zone_side (before, now, a) * cuv_zone_side (before, now, b) <= 0;
}

CuvZoneStep
cuv_visit_line (
    CuvVisit *self, const CuvZone *zone, CuvZonePoint before, CuvZonePoint now)
{
  const int strict = cuv_zone_side (zone->points[0], zone->points[1], now);
  const int side = side_after (self, zone, strict, now);
  CuvZoneStep step = { 0 };

  if (self->side != 0 && side != self->side) {
    /* back through the line, or around it, ends a crossing */
    if (self->pending != 0)
      self->pending = 0;
    else if (meets (zone, before, now))
      self->pending = (int8_t) side;
    self->n = 0;
  }
  if (strict != 0)
    self->from = (int8_t) strict;
  self->side = (int8_t) side;
  if (self->pending != 0 && ++self->n >= zone->hysteresis) {
    step.crosses = self->pending;
    self->pending = 0;
  }
  return step;
}

static bool
same_line (const CuvZone *a, const CuvZone *b)
{
  return a->anchor == b->anchor
      && memcmp (a->points, b->points, 2 * sizeof (CuvZonePoint)) == 0;
}

bool
cuv_visit_survives (const CuvZone *from, const CuvZone *to)
{
  return from->is_line == to->is_line && (!to->is_line || same_line (from, to));
}
