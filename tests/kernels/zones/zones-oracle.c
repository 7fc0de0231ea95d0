/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "zones-oracle.h"

#include <stddef.h>

__extension__ typedef __int128 Wide;

/* Compares a / b with c / d; b and d are positive. */
static int
compare (Wide a, Wide b, Wide c, Wide d)
{
  return (a * d > c * b) - (a * d < c * b);
}

/* ---- polygons ---- */

/* Counts the edges that the ray from p to the right meets: p.y is in the edge's
 * half-open range, and the point there is not left of p. */
bool
oracle_contains (const CuvZonePoint *polygon, int n, CuvZonePoint p)
{
  int met = 0;

  for (int i = 0; i < n; i++) {
    CuvZonePoint low = polygon[i], high = polygon[(i + 1) % n];
    Wide height;

    if (low.y > high.y) {
      low = high;
      high = polygon[i];
    }
    height = (Wide) high.y - low.y;
    if (low.y <= p.y && p.y < high.y)
      met += compare (low.x * height
                     + ((Wide) high.x - low.x) * ((Wide) p.y - low.y),
                 height, p.x, 1)
          > 0;
  }
  return met % 2 == 1;
}

/* Narrows [low, high], the part of an edge in the box, to low < at + t d < high
 * as fractions num[i] / den[i]. Returns whether anything is left. */
static bool
narrow (Wide num[2], Wide den[2], Wide at, Wide d, Wide low, Wide high)
{
  const Wide limit[2] = { d > 0 ? low - at : high - at,
    d > 0 ? high - at : low - at };
  const Wide size = d < 0 ? -d : d;

  if (d == 0)
    return low < at && at < high;
  for (int i = 0; i < 2; i++) {
    const Wide value = d < 0 ? -limit[i] : limit[i];
    const int order = compare (value, size, num[i], den[i]);

    if (i == 0 ? order > 0 : order < 0) {
      num[i] = value;
      den[i] = size;
    }
  }
  return compare (num[0], den[0], num[1], den[1]) < 0;
}

static bool
edge_in_box (CuvZonePoint a, CuvZonePoint b, const CuvZoneBox *box)
{
  Wide num[2] = { 0, 1 }, den[2] = { 1, 1 };

  if (a.x == b.x && a.y == b.y)
    return false;
  return narrow (num, den, a.x, (Wide) b.x - a.x, box->left, box->right)
      && narrow (num, den, a.y, (Wide) b.y - a.y, box->top, box->bottom);
}

bool
oracle_overlaps (const CuvZonePoint *polygon, int n, const CuvZoneBox *box)
{
  const CuvZonePoint some = { box->left + 1, box->top + 1 };
  bool met = oracle_contains (polygon, n, some);

  for (int i = 0; i < n; i++)
    met |= edge_in_box (polygon[i], polygon[(i + 1) % n], box);
  return met;
}

bool
oracle_visit (const bool *inside, int n_steps, int hysteresis, int *entered)
{
  int last = n_steps - 1;

  while (last >= 0 && !inside[last])
    last--;
  *entered = last;
  if (last < 0 || n_steps - 1 - last >= hysteresis)
    return false;
  /* back over visits that were not interrupted for long enough */
  for (int i = last, out = 0; i >= 0 && out < hysteresis; i--) {
    out = inside[i] ? 0 : out + 1;
    if (inside[i])
      *entered = i;
  }
  return true;
}

/* ---- lines ---- */

/* Signed distance times length: positive on the left. */
static Wide
offset (const CuvZone *line, CuvZonePoint p)
{
  const CuvZonePoint a = line->points[0], b = line->points[1];

  return ((Wide) b.y - a.y) * ((Wide) p.x - a.x)
      - ((Wide) b.x - a.x) * ((Wide) p.y - a.y);
}

/* Position along the line, times its length squared. */
static bool
is_between (const CuvZone *line, Wide x_num, Wide y_num, Wide den)
{
  const CuvZonePoint a = line->points[0], b = line->points[1];
  const Wide dx = (Wide) b.x - a.x, dy = (Wide) b.y - a.y;
  const Wide along = dx * (x_num - a.x * den) + dy * (y_num - a.y * den);

  return along >= 0 && along <= (dx * dx + dy * dy) * den;
}

/* Where the step from p to q, whose offsets differ, meets the infinite line. */
static bool
passes (const CuvZone *line, CuvZonePoint p, CuvZonePoint q)
{
  const Wide from = offset (line, p), to = offset (line, q);
  const Wide den = from > to ? from - to : to - from;
  const Wide part = from > to ? from : -from;

  if (den == 0)
    return is_between (line, q.x, q.y, 1);
  return is_between (line, p.x * den + part * ((Wide) q.x - p.x),
      p.y * den + part * ((Wide) q.y - p.y), den);
}

/* The side that counts at a step: touching is arriving on the side opposite of
 * the last one that was not the line. */
static int
side_at (const CuvZone *line, const CuvZonePoint *path, int at)
{
  int from = 0, side = 0;

  for (int i = 0; i <= at; i++) {
    const Wide d = offset (line, path[i]);

    if (d != 0)
      side = from = d > 0 ? 1 : -1;
    else if (is_between (line, path[i].x, path[i].y, 1))
      side = -from;
  }
  return side;
}

/* Looks for the step that began the crossing, hysteresis - 1 steps ago, with no
 * change of side since. Earlier changes may have cancelled it. */
int
oracle_crosses (const CuvZone *line, const CuvZonePoint *path, int n_steps)
{
  const int begin = n_steps - line->hysteresis;
  int pending = 0, since = 0, side = 0;

  if (begin < 1)
    return 0;
  for (int i = 0; i < n_steps; i++) {
    const int now = side_at (line, path, i);

    if (side != 0 && now != side) {
      const bool open = pending != 0 && i - since < line->hysteresis;

      pending = !open && passes (line, path[i - 1], path[i]) ? now : 0;
      since = i;
    }
    side = now;
  }
  return pending != 0 && since == begin ? pending : 0;
}
