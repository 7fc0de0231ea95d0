/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What someone counts in a zone, from the path without noise. A frame in which
 * the feet are closer to the zone's edge than the margin is unclear: nothing is
 * assumed about its side. */
#include "street.h"

#include <math.h>

static StreetPoint
minus (StreetPoint a, StreetPoint b)
{
  return (StreetPoint){ a.x - b.x, a.y - b.y };
}

static gdouble
dot (StreetPoint a, StreetPoint b)
{
  return a.x * b.x + a.y * b.y;
}

/* Distance from the infinite line; positive on its left, as y points down. */
static gdouble
left_of (StreetPoint a, StreetPoint b, StreetPoint p)
{
  const StreetPoint d = minus (b, a), q = minus (p, a);

  return (d.y * q.x - d.x * q.y) / hypot (d.x, d.y);
}

static gdouble
along (StreetPoint a, StreetPoint b, StreetPoint p)
{
  const StreetPoint d = minus (b, a);

  return dot (minus (p, a), d) / hypot (d.x, d.y);
}

/* Distance from the polygon's edge; positive inside. Angles of the corners as
 * seen from p sum up to a full turn if p is inside. */
static gdouble
inside_of (const StreetZone *zone, StreetPoint p)
{
  gdouble distance = G_MAXDOUBLE, angle = 0;

  for (gint i = 0; i < zone->n; i++) {
    const StreetPoint a = zone->points[i];
    const StreetPoint b = zone->points[(i + 1) % zone->n];
    const StreetPoint u = minus (a, p), v = minus (b, p), d = minus (b, a);
    const gdouble t = CLAMP (-dot (u, d) / dot (d, d), 0, 1);

    distance = fmin (distance, hypot (u.x + t * d.x, u.y + t * d.y));
    angle += atan2 (u.x * v.y - u.y * v.x, dot (u, v));
  }
  return fabs (angle) > G_PI ? distance : -distance;
}

/* What is known after some frames. */
typedef struct {
  const StreetZone *zone;
  gdouble margin;
  gint *counts;
  gboolean certain;
  gint side;      /* in the last clear frame, 0: none so far */
  StreetPoint at; /* there */
  gint change;    /* line: the crossing that has to last; 0: none */
  gboolean entered;
  gint n;       /* clear frames in succession since the last change */
  gint unclear; /* other frames since then */
  gint gap;     /* unclear frames since the last clear one */
} Known;

/* Whether the feet were beyond the edge for `hysteresis` frames. */
static gboolean
lasted (Known *self)
{
  const gint least = self->zone->hysteresis;

  if (self->n < least && self->n + self->unclear >= least)
    self->certain = FALSE;
  return self->n >= least;
}

/* ---- lines ---- */

/* Whether the way from one clear frame to the next meets the line between its
 * ends. */
static gboolean
meets (Known *self, StreetPoint a, StreetPoint b)
{
  const StreetPoint *l = self->zone->points;
  const gdouble from = left_of (l[0], l[1], a), to = left_of (l[0], l[1], b);
  const gdouble t = from / (from - to);
  const StreetPoint p = { a.x + t * (b.x - a.x), a.y + t * (b.y - a.y) };
  const gdouble at = along (l[0], l[1], p);
  const gdouble length = along (l[0], l[1], l[1]);
  const gdouble close = 4 * self->margin; /* ways may be aslant */

  if (fabs (at) < close || fabs (at - length) < close)
    self->certain = FALSE;
  return at > 0 && at < length;
}

static void
count_crossing (Known *self)
{
  if (self->change != 0 && lasted (self))
    self->counts[self->change < 0]++;
}

/* Going back within `hysteresis` frames takes a crossing back. */
static void
step_line (Known *self, gint side, StreetPoint feet)
{
  const gint hysteresis = self->zone->hysteresis;

  self->unclear += self->gap;
  if (self->side != 0 && side != self->side) {
    const gboolean back = self->change != 0 && self->n < hysteresis;
    const gboolean crosses = meets (self, self->at, feet);

    count_crossing (self);
    self->change = crosses && !back ? side : 0;
    self->n = 0;
    self->unclear = self->gap;
  } else if (self->gap > 0 && self->n < hysteresis) {
    self->unclear += self->n;
    self->n = 0;
  }
  self->n++;
}

/* ---- polygons ---- */

/* Entering takes one frame; n and unclear are frames outside after that. */
static void
step_polygon (Known *self, gint side)
{
  if (side > 0) {
    gboolean left;

    self->unclear += self->side < 0 ? self->gap : 0;
    left = self->entered && lasted (self);
    self->counts[0] += left || !self->entered;
    self->counts[1] += left;
    self->entered = TRUE;
    self->n = self->unclear = 0;
    return;
  }
  if (self->side < 0 && self->gap > 0) {
    if (!self->entered || self->n + self->unclear >= self->zone->hysteresis)
      self->certain = FALSE; /* noise may have entered */
    self->unclear += self->n;
    self->n = 0;
  }
  self->unclear += self->gap;
  self->n++;
}

static void
end (Known *self)
{
  if (self->zone->is_line) {
    self->unclear += self->gap;
    count_crossing (self);
    return;
  }
  if (self->gap > 0 && self->side < 0)
    self->certain = FALSE;
  self->counts[1] +=
      self->entered; /* leaves at the track's end at the latest */
}

/* ---- both ---- */

/* Feet that are kept on a line are on each side in turn, up to 3 pixels away,
 * so that noise does not last. */
static void
step (Known *self, StreetPoint feet, const StreetZone *on_line, gint n_seen)
{
  const StreetZone *zone = self->zone;
  const gdouble d = zone->is_line
      ? left_of (zone->points[0], zone->points[1], feet)
      : inside_of (zone, feet);
  const gdouble margin =
      on_line != NULL ? fmax (self->margin, 3) : self->margin;
  const gint side = fabs (d) < margin ? 0 : d > 0 ? 1 : -1;

  if (n_seen <= 3 && (side == 0 || (n_seen > 1 && side != self->side)))
    self->certain = FALSE; /* the track has no id yet */
  if (side == 0) {
    self->gap++;
    if (self->gap >= zone->hysteresis && on_line != zone)
      self->certain = FALSE;
    return;
  }
  if (zone->is_line)
    step_line (self, side, feet);
  else
    step_polygon (self, side);
  self->side = side;
  self->at = feet;
  self->gap = 0;
}

gboolean
street_count (const StreetActor *actor, const StreetZone *zone, gdouble margin,
    gint counts[2])
{
  Known known = {
    .zone = zone, .margin = margin, .counts = counts, .certain = TRUE
  };
  gint n_seen = 0;

  for (gint i = actor->first; known.certain && i <= actor->last; i++) {
    if (actor->seen[i])
      step (&known, actor->feet[i], actor->on_line[i], ++n_seen);
  }
  end (&known);
  return known.certain;
}
