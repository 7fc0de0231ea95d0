/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "street.h"

#include <math.h>
#include <string.h>

#define MAX_GAP 20 /* frames out of sight */
#define BEGIN 10   /* frames at first that are all seen */
#define NO_ONE 45  /* frames after which a place is free for somebody else */
#define MARGIN 25  /* pixels between zones and the frame's edge */
#define TRIES 60   /* per actor */

const gchar *const street_labels[STREET_LABELS] = { "person", "car" };

static gdouble
between (GRand *random, gdouble low, gdouble high)
{
  return g_rand_double_range (random, low, high);
}

static gint
whole (GRand *random, gint low, gint high)
{
  return g_rand_int_range (random, low, high + 1);
}

static gboolean
once_in (GRand *random, gint n)
{
  return whole (random, 1, n) == 1;
}

/* ---- zones ---- */

static StreetPoint
inner_point (GRand *random)
{
  return (StreetPoint){ between (random, 2 * MARGIN, STREET_WIDTH - 2 * MARGIN),
    between (random, 130, STREET_HEIGHT - 2 * MARGIN) };
}

static gboolean
is_inner (StreetPoint p)
{
  return p.x > 0 && p.x < STREET_WIDTH && p.y < STREET_HEIGHT;
}

/* A line of at least 200 pixels. */
static void
make_line (GRand *random, StreetZone *zone)
{
  zone->is_line = TRUE;
  zone->n = 2;
  do {
    zone->points[0] = inner_point (random);
    zone->points[1] = inner_point (random);
  } while (hypot (zone->points[1].x - zone->points[0].x,
               zone->points[1].y - zone->points[0].y)
      < 200);
}

/* A star-shaped polygon. */
static void
make_polygon (GRand *random, StreetZone *zone)
{
  const StreetPoint middle = { between (random, 150, STREET_WIDTH - 150),
    between (random, 180, STREET_HEIGHT - 110) };

  zone->n = whole (random, 3, 6);
  for (gint i = 0; i < zone->n; i++) {
    const gdouble angle = 2 * G_PI * (i + between (random, 0, 0.5)) / zone->n;
    const gdouble radius = between (random, 50, 110);

    zone->points[i] = (StreetPoint){ middle.x + radius * cos (angle),
      middle.y + radius * sin (angle) };
  }
}

/* Coordinates are whole pixels, so that zones can be written as text. */
static void
make_zones (Street *self, GRand *random)
{
  self->n_zones = whole (random, 3, STREET_ZONES);
  for (gint i = 0; i < self->n_zones; i++) {
    StreetZone *zone = &self->zones[i];

    if (i % 2 == 0)
      make_line (random, zone);
    else
      make_polygon (random, zone);
    zone->hysteresis = whole (random, 3, 6);
    for (gint k = 0; k < zone->n; k++) {
      zone->points[k].x = rint (zone->points[k].x);
      zone->points[k].y = rint (zone->points[k].y);
    }
  }
}

/* ---- paths ---- */

/* A place at the frame's edge where little of the box is in the frame. */
static StreetPoint
edge_point (GRand *random, const StreetActor *actor)
{
  const gdouble half = actor->width / 2;

  if (once_in (random, 3))
    return (StreetPoint){ between (random, half, STREET_WIDTH - half),
      STREET_HEIGHT + actor->height };
  return (StreetPoint){ once_in (random, 2) ? -half : STREET_WIDTH + half,
    between (random, 130, STREET_HEIGHT) };
}

static StreetPoint
point_on (GRand *random, const StreetZone *line)
{
  const gdouble t = between (random, 0.2, 0.8);
  const StreetPoint a = line->points[0], b = line->points[1];

  return (StreetPoint){ a.x + t * (b.x - a.x), a.y + t * (b.y - a.y) };
}

/* Goes straight to a point, or as far as there are frames, at the speed of a
 * walk for somebody of this size. */
static void
go (GRand *random, StreetActor *self, StreetPoint to, const StreetZone *line)
{
  const StreetPoint from = self->feet[self->last];
  const gdouble way = hypot (to.x - from.x, to.y - from.y);
  const gdouble speed = self->width * between (random, 0.06, 0.1);
  const gint n = MAX ((gint) (way / speed), 1);

  self->turns[self->last] = TRUE;
  for (gint i = 1; i <= n && self->last < STREET_FRAMES - 1; i++) {
    self->feet[++self->last] = (StreetPoint){ from.x + (to.x - from.x) * i / n,
      from.y + (to.y - from.y) * i / n };
    self->on_line[self->last] = line;
  }
}

static void
stay (StreetActor *self, gint n, const StreetZone *line)
{
  const StreetPoint at = self->feet[self->last];

  self->turns[self->last] = TRUE;
  for (; n > 0 && self->last < STREET_FRAMES - 1; n--) {
    self->feet[++self->last] = at;
    self->on_line[self->last] = line;
  }
}

/* Nobody vanishes within the frame: whoever ends there stays. */
static void
make_path (const Street *street, GRand *random, StreetActor *self)
{
  const StreetZone *line =
      &street->zones[2 * whole (random, 0, (street->n_zones - 1) / 2)];
  const StreetPoint begin =
      once_in (random, 4) ? inner_point (random) : edge_point (random, self);
  StreetPoint end =
      once_in (random, 4) ? inner_point (random) : edge_point (random, self);

  self->feet[self->first] = begin;
  switch (whole (random, 0, 6)) {
    case 0: /* stops */
      go (random, self, inner_point (random), NULL);
      stay (self, whole (random, 10, 60), NULL);
      break;
    case 1: /* turns back */
      go (random, self, inner_point (random), NULL);
      end = begin;
      break;
    case 2: /* stands on a line, and goes back or on */
      go (random, self, point_on (random, line), NULL);
      stay (self, whole (random, 10, 60), line);
      end = once_in (random, 2) ? begin : end;
      break;
    case 3: /* walks along a line */
      go (random, self, point_on (random, line), NULL);
      go (random, self, point_on (random, line), line);
      break;
    default: /* walks straight on */
      break;
  }
  go (random, self, end, NULL);
  stay (self, is_inner (end) ? STREET_FRAMES : 0, NULL);
}

/* ---- what the detector finds ---- */

/* Noise of the place. Feet on a line are on its sides in turn. */
static StreetPoint
noise_of (const Street *street, GRand *random, const StreetActor *self, gint i)
{
  const StreetZone *line = self->on_line[i];
  const gint most = street->noise;
  const gdouble way = i & 1 ? 2 : -2;
  StreetPoint d;

  if (line == NULL)
    return (StreetPoint){ whole (random, -most, most),
      whole (random, -most, most) };
  d = (StreetPoint){ line->points[1].x - line->points[0].x,
    line->points[1].y - line->points[0].y };
  return (StreetPoint){ -d.y * way / hypot (d.x, d.y),
    d.x * way / hypot (d.x, d.y) };
}

/* The part of the box in the frame; its size is even, so that its middle is a
 * whole pixel. */
static void
make_box (const Street *street, GRand *random, const StreetActor *self, gint i,
    StreetBox *box)
{
  const StreetPoint noise = noise_of (street, random, self, i);
  const gint width = (gint) self->width + 2 * whole (random, 0, street->noise);
  const gint height = (gint) self->height + whole (random, 0, street->noise);
  const gint left = (gint) rint (self->feet[i].x + noise.x) - width / 2;
  const gint bottom = (gint) rint (self->feet[i].y + noise.y);
  const gint right = MIN (left + width, STREET_WIDTH);

  *box = (StreetBox){ self->label, MAX (left, 0), MAX (bottom - height, 0), 0,
    0, between (random, 0.65, 1) };
  box->width = right - box->x;
  box->height = MIN (bottom, STREET_HEIGHT) - box->y;
}

/* Overlooked in single frames, or behind a tree for some. */
static void
make_misses (GRand *random, StreetActor *self)
{
  const gint tree = whole (random, self->first, self->last);
  const gint behind = once_in (random, 3) ? whole (random, 5, 15) : 0;

  for (gint i = self->first; i <= self->last; i++)
    self->missed[i] = self->on_line[i] == NULL && once_in (random, 30);
  for (gint i = tree; i <= self->last && i < tree + behind; i++)
    self->missed[i] = self->on_line[i] == NULL;
}

static void
make_actor (Street *street, GRand *random, StreetActor *self)
{
  memset (self, 0, sizeof *self);
  self->label = once_in (random, 4);
  self->height = whole (random, 50, 110);
  self->width = 2 * whole (random, 12, 28);
  self->first = self->last =
      once_in (random, 3) ? 0 : whole (random, 0, STREET_FRAMES - 60);
  make_path (street, random, self);
  make_misses (random, self);
  for (gint i = self->first; i <= self->last; i++)
    make_box (street, random, self, i, &self->boxes[i]);
}

static gint
common (const StreetBox *a, const StreetBox *b)
{
  const gint width = MIN (a->x + a->width, b->x + b->width) - MAX (a->x, b->x);
  const gint height =
      MIN (a->y + a->height, b->y + b->height) - MAX (a->y, b->y);

  return MAX (width, 0) * MAX (height, 0);
}

static gboolean
is_there (const StreetActor *actor, gint frame)
{
  return frame >= actor->first && frame <= actor->last;
}

/* Whoever stands lower is nearer, and hides what is behind. */
static gboolean
is_hidden (const Street *street, const StreetActor *self, gint i)
{
  const StreetBox *box = &self->boxes[i];

  for (gint k = 0; k < street->n_actors; k++) {
    const StreetActor *other = &street->actors[k];

    if (other != self && is_there (other, i)
        && other->feet[i].y > self->feet[i].y
        && common (box, &other->boxes[i]) > box->width * box->height * 0.6)
      return TRUE;
  }
  return FALSE;
}

static void
look (Street *street, StreetActor *self)
{
  const gdouble area = self->width * self->height;

  for (gint i = self->first; i <= self->last; i++) {
    const StreetBox *box = &self->boxes[i];

    self->seen[i] = box->width >= 8 && box->height >= 16
        && box->width * box->height > area * 0.4 && !self->missed[i]
        && !is_hidden (street, self, i);
  }
}

/* ---- what makes a scene certain ---- */

static gint
first_seen (const StreetActor *self)
{
  gint i = self->first;

  while (i <= self->last && !self->seen[i])
    i++;
  return i;
}

static gint
last_seen (const StreetActor *self)
{
  gint i = self->last;

  while (i >= self->first && !self->seen[i])
    i--;
  return i;
}

/* Whether a tracker can follow: seen at once for some frames, and never out of
 * sight on a line, while turning, or for long compared with the way since the
 * last turn, from which the velocity is known. */
static gboolean
can_be_followed (const StreetActor *self)
{
  const gint begin = first_seen (self), end = last_seen (self);
  gint gap = 0, straight = 0;

  if (end - begin < 2 * BEGIN)
    return FALSE;
  for (gint i = begin; i <= end; i++) {
    gap = self->seen[i] ? 0 : gap + 1;
    if (gap > 0
        && (i < begin + BEGIN || self->on_line[i] != NULL || self->turns[i]
            || gap > MIN (MAX_GAP, straight / 2)))
      return FALSE;
    straight = self->turns[i] ? 0 : straight + (gap == 0);
  }
  return TRUE;
}

/* Of two boxes near somebody who has turned, either may be nearer to what a
 * tracker expects. */
static gboolean
goes_straight (const StreetActor *self, gint frame)
{
  for (gint i = MAX (frame - 3 * BEGIN, 0); i <= frame; i++) {
    if (self->turns[i] || self->on_line[i] != NULL)
      return FALSE;
  }
  return TRUE;
}

/* Whether somebody appears away from where another one is or was a moment
 * ago, whose track would go on. */
static gboolean
appears_alone (const Street *street, const StreetActor *self)
{
  const gint begin = first_seen (self);

  for (gint k = 0; k < street->n_actors; k++) {
    const StreetActor *other = &street->actors[k];

    if (other == self || other->label != self->label)
      continue;
    for (gint i = MAX (begin - NO_ONE, other->first);
         i <= MIN (begin + 5, other->last); i++) {
      if (common (&self->boxes[begin], &other->boxes[i]) > 0)
        return FALSE;
    }
  }
  return TRUE;
}

/* Whether nobody else is near when somebody turns. */
static gboolean
turns_alone (const Street *street, const StreetActor *self)
{
  for (gint k = 0; k < street->n_actors; k++) {
    const StreetActor *other = &street->actors[k];

    if (other == self || other->label != self->label)
      continue;
    for (gint i = MAX (self->first, other->first);
         i <= MIN (self->last, other->last); i++) {
      if (common (&self->boxes[i], &other->boxes[i]) > 0
          && !goes_straight (self, i))
        return FALSE;
    }
  }
  return TRUE;
}

static gboolean
count_actor (Street *street, const StreetActor *self)
{
  const gdouble margin = 1.5 * street->noise + 1;

  for (gint k = 0; k < street->n_zones; k++) {
    if (!street_count (
            self, &street->zones[k], margin, street->counts[k][self->label]))
      return FALSE;
  }
  return TRUE;
}

static gboolean
is_certain (Street *self)
{
  memset (self->counts, 0, sizeof self->counts);
  for (gint k = 0; k < self->n_actors; k++) {
    StreetActor *actor = &self->actors[k];

    look (self, actor);
    if (!can_be_followed (actor) || !count_actor (self, actor))
      return FALSE;
  }
  for (gint k = 0; k < self->n_actors; k++) {
    if (!appears_alone (self, &self->actors[k])
        || !turns_alone (self, &self->actors[k]))
      return FALSE;
  }
  return TRUE;
}

/* ---- frames ---- */

static gboolean
is_free (const Street *self, gint frame, const StreetBox *box,
    const StreetActor *except)
{
  for (gint k = 0; k < self->n_actors; k++) {
    const StreetActor *actor = &self->actors[k];

    for (gint i = MAX (frame - NO_ONE, actor->first);
         i <= MIN (frame + 2, actor->last); i++) {
      if (actor != except && common (box, &actor->boxes[i]) > 0)
        return FALSE;
    }
  }
  return TRUE;
}

static void
add_box (Street *self, gint frame, const StreetBox *box)
{
  self->boxes[frame][self->n_boxes[frame]++] = *box;
}

/* Somebody is found twice; or something where nobody is. */
static void
add_false_box (Street *self, GRand *random, gint frame)
{
  const StreetActor *actor =
      &self->actors[whole (random, 0, self->n_actors - 1)];
  StreetBox box = { once_in (random, 2), whole (random, 0, 600),
    whole (random, 0, 280), 40, 80, between (random, 0.05, 1) };

  if (once_in (random, 2) && is_there (actor, frame) && actor->seen[frame]
      && goes_straight (actor, frame)) {
    box = actor->boxes[frame];
    box.x += box.width / 3;
    box.width -= box.width / 3;
  } else {
    actor = NULL;
  }
  if (is_free (self, frame, &box, actor))
    add_box (self, frame, &box);
}

/* A low score in a single frame continues a track. */
static void
make_frame (Street *self, GRand *random, gint frame)
{
  for (gint k = 0; k < self->n_actors; k++) {
    StreetActor *actor = &self->actors[k];
    StreetBox *box = &actor->boxes[frame];

    if (!is_there (actor, frame) || !actor->seen[frame])
      continue;
    if (frame > first_seen (actor) + BEGIN && actor->seen[frame - 1]
        && actor->boxes[frame - 1].score > 0.5 && once_in (random, 20))
      box->score = between (random, 0.15, 0.45);
    add_box (self, frame, box);
  }
  /* two in succession would begin a track */
  if (self->n_actors > 0 && frame % 2 == 1 && once_in (random, 2))
    add_false_box (self, random, frame);
}

Street *
street_new (guint32 seed)
{
  Street *self = g_new0 (Street, 1);
  GRand *random = g_rand_new_with_seed (seed);
  gint tries = TRIES;

  self->noise = whole (random, 0, 2);
  make_zones (self, random);
  while (self->n_actors < STREET_ACTORS && tries-- > 0) {
    make_actor (self, random, &self->actors[self->n_actors++]);
    if (!is_certain (self))
      self->n_actors--;
  }
  is_certain (self);
  for (gint frame = 0; frame < STREET_FRAMES; frame++)
    make_frame (self, random, frame);
  g_rand_free (random);
  return self;
}

void
street_free (Street *self)
{
  g_free (self);
}
