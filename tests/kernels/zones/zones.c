/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Zones: geometry and counts against brute force, and times. */
#include "cuvcheck.h"

#include <stdlib.h>
#include <string.h>
#include "zones-oracle.h"

#define STEPS 40 /* steps of a track */
#define GRID 12  /* few coordinates: many points on lines and corners */
#define N_ZONES 12
#define MAX_POINTS 7

typedef struct {
  CuvZone zones[N_ZONES];
  CuvZonePoint points[N_ZONES][MAX_POINTS];
  char names[N_ZONES][8];
} Scene;

static int
steps_wanted (void)
{
  const char *text = getenv ("CUV_TEST_STEPS");

  return text != NULL ? atoi (text) : cuv_check_options.few ? 2000 : 40000;
}

static CuvZonePoint
random_point (int range)
{
  return (CuvZonePoint){ (int) cuv_check_below ((unsigned) range),
    (int) cuv_check_below ((unsigned) range) };
}

static CuvZoneBox
bounds_of (const CuvZonePoint *points, int n)
{
  CuvZoneBox box = { points[0].x, points[0].y, points[0].x, points[0].y };

  for (int i = 1; i < n; i++) {
    box.left = points[i].x < box.left ? points[i].x : box.left;
    box.right = points[i].x > box.right ? points[i].x : box.right;
    box.top = points[i].y < box.top ? points[i].y : box.top;
    box.bottom = points[i].y > box.bottom ? points[i].y : box.bottom;
  }
  return box;
}

static void
random_zone (Scene *scene, int i, int range)
{
  CuvZone *zone = &scene->zones[i];
  CuvZonePoint *points = scene->points[i];

  zone->name = scene->names[i];
  zone->is_line = i % 2 == 1;
  zone->n_points = zone->is_line ? 2 : 3 + (int) cuv_check_below (5);
  zone->points = points;
  do {
    for (int k = 0; k < zone->n_points; k++)
      points[k] = random_point (range);
  } while (memcmp (&points[0], &points[1], sizeof (CuvZonePoint)) == 0);
  zone->bounds = bounds_of (points, zone->n_points);
  zone->hysteresis = 1 + (int) cuv_check_below (4);
  zone->anchor = (CuvZoneAnchor) cuv_check_below (zone->is_line ? 2 : 3);
  zone->dwell = (int) cuv_check_below (2) * 5;
}

static void
random_scene (Scene *scene, int range)
{
  memset (scene, 0, sizeof *scene);
  for (int i = 0; i < N_ZONES; i++) {
    snprintf (scene->names[i], sizeof scene->names[i], "z%d", i);
    random_zone (scene, i, range);
  }
}

static CuvZoneBox
random_box (int range)
{
  const CuvZonePoint p = random_point (range);
  const int w = 2 + (int) cuv_check_below (6) * 2;
  const int h = 2 + (int) cuv_check_below (6) * 2;

  return (CuvZoneBox){ p.x - w / 2, p.y - h, p.x + w / 2, p.y };
}

/* ---- geometry ---- */

static void
check_geometry (int range)
{
  Scene scene;

  random_scene (&scene, range);
  for (int i = 0; i < N_ZONES; i += 2) {
    const CuvZone *zone = &scene.zones[i];
    const CuvZoneBox box = random_box (range);
    const CuvZonePoint p = random_point (range);

    CUV_CHECK (cuv_zone_contains (zone->points, zone->n_points, p)
            == oracle_contains (zone->points, zone->n_points, p),
        ": %d,%d", p.x, p.y);
    CUV_CHECK (cuv_zone_overlaps (zone->points, zone->n_points, &box)
            == oracle_overlaps (zone->points, zone->n_points, &box),
        ": %d,%d %d,%d", box.left, box.top, box.right, box.bottom);
  }
}

CUV_CHECKS_CPU (geometry)
{
  for (int i = 0; i < steps_wanted () / 10; i++) {
    check_geometry (GRID);
    check_geometry (1920 * CUV_ZONE_SCALE);
    check_geometry (CUV_ZONE_MAX);
  }
}

/* More corners than a block of edges has. */
CUV_CHECKS_CPU (many_corners)
{
  CuvZonePoint points[100];

  for (int i = 0; i < steps_wanted () / 100; i++) {
    const int range = i % 2 > 0 ? 40 : CUV_ZONE_MAX;
    const int n = 3 + (int) cuv_check_below (98);

    for (int k = 0; k < n; k++)
      points[k] = random_point (range);
    for (int k = 0; k < 20; k++) {
      const CuvZonePoint p = random_point (range);

      CUV_CHECK (
          cuv_zone_contains (points, n, p) == oracle_contains (points, n, p),
          ": %d corners, %d,%d", n, p.x, p.y);
    }
  }
}

CUV_CHECKS_CPU (edges_of_polygons)
{
  const CuvZonePoint left[] = { { 0, 0 }, { 8, 0 }, { 8, 8 }, { 0, 8 } };
  const CuvZonePoint right[] = { { 8, 0 }, { 16, 0 }, { 16, 8 }, { 8, 8 } };
  const CuvZoneBox beside = { 16, 0, 20, 4 }, across = { 15, 0, 20, 4 };

  for (int y = -1; y <= 9; y++) {
    for (int x = -1; x <= 17; x++) {
      const CuvZonePoint p = { x, y };
      const int in =
          cuv_zone_contains (left, 4, p) + cuv_zone_contains (right, 4, p);

      CUV_CHECK (in == (x >= 0 && x < 16 && y >= 0 && y < 8), ": %d,%d", x, y);
    }
  }
  CUV_CHECK (!cuv_zone_overlaps (right, 4, &beside));
  CUV_CHECK (cuv_zone_overlaps (right, 4, &across));
}

/* ---- tracks ---- */

typedef struct {
  CuvZoneBox boxes[STEPS];
  int64_t times[STEPS];
} Path;

/* Small steps, so that paths come back to lines and corners. */
static void
random_path (Path *path)
{
  CuvZoneBox box = random_box (GRID);
  int64_t time = cuv_check_below (5);

  for (int i = 0; i < STEPS; i++) {
    const int dx = (int) cuv_check_below (7) - 3;
    const int dy = (int) cuv_check_below (7) - 3;

    if (cuv_check_below (4) > 0)
      box = (CuvZoneBox){ box.left + dx, box.top + dy, box.right + dx,
        box.bottom + dy };
    if (cuv_check_below (10) == 0)
      box = random_box (GRID);
    path->boxes[i] = box;
    time += cuv_check_below (4);
    path->times[i] = time;
  }
}

static int
count_events (
    const CuvZones *zones, int zone, CuvZoneEventType type, CuvZoneEvent *last)
{
  int n, found = 0;
  const CuvZoneEvent *events = cuv_zones_events (zones, &n);

  for (int i = 0; i < n; i++) {
    if (events[i].zone != zone || events[i].type != type)
      continue;
    *last = events[i];
    found++;
  }
  return found;
}

static void
check_line (
    const CuvZones *zones, const Scene *scene, int z, const Path *path, int n)
{
  const CuvZone *line = &scene->zones[z];
  CuvZonePoint points[STEPS];
  CuvZoneEvent event = { 0 };
  int expected, found;

  for (int i = 0; i < n; i++)
    points[i] = cuv_zone_anchor (&path->boxes[i], line->anchor);
  expected = oracle_crosses (line, points, n);
  found = count_events (zones, z, CUV_ZONE_CROSS, &event);
  CUV_CHECK (
      found == (expected != 0) && (found == 0 || event.direction == expected),
      ": line %d, step %d: %d instead of %d", z, n, event.direction, expected);
}

static void
check_polygon (
    const CuvZones *zones, const Scene *scene, int z, const Path *path, int n)
{
  const CuvZone *zone = &scene->zones[z];
  CuvZoneEvent event = { 0 };
  bool inside[STEPS], now, before;
  int entered, left, dwelled;

  for (int i = 0; i < n; i++)
    inside[i] = zone->anchor == CUV_ANCHOR_ANY
        ? oracle_overlaps (zone->points, zone->n_points, &path->boxes[i])
        : oracle_contains (zone->points, zone->n_points,
            cuv_zone_anchor (&path->boxes[i], zone->anchor));
  before = n > 1 && oracle_visit (inside, n - 1, zone->hysteresis, &entered);
  left = entered;
  now = oracle_visit (inside, n, zone->hysteresis, &entered);
  CUV_CHECK (
      count_events (zones, z, CUV_ZONE_ENTER, &event) == (now && !before),
      ": polygon %d, step %d", z, n);
  CUV_CHECK (
      count_events (zones, z, CUV_ZONE_LEAVE, &event) == (before && !now),
      ": polygon %d, step %d", z, n);
  if (before && !now)
    CUV_CHECK (event.dwell
        == path->times[n - 1 - zone->hysteresis] - path->times[left]);
  CUV_CHECK (cuv_zones_totals (zones, z).inside == now);
  dwelled = now && inside[n - 1] && zone->dwell > 0
      && path->times[n - 1] - path->times[entered] >= zone->dwell;
  for (int i = entered; dwelled && i < n - 1; i++)
    dwelled =
        !(inside[i] && path->times[i] - path->times[entered] >= zone->dwell);
  CUV_CHECK (count_events (zones, z, CUV_ZONE_DWELL, &event) == dwelled,
      ": polygon %d, step %d", z, n);
}

static void
check_path (const Scene *scene, const Path *path)
{
  CuvZones *zones = cuv_zones_new ();
  uint64_t in[N_ZONES] = { 0 }, out[N_ZONES] = { 0 };

  CUV_CHECK (cuv_zones_set (zones, scene->zones, N_ZONES));
  for (int i = 0; i < STEPS; i++) {
    const CuvZoneObject object = { 5, 7, path->boxes[i] };
    int n;
    const CuvZoneEvent *events;

    CUV_CHECK (cuv_zones_update (zones, &object, 1, path->times[i], 10));
    events = cuv_zones_events (zones, &n);
    for (int k = 0; k < n; k++) {
      in[events[k].zone] += events[k].direction > 0;
      out[events[k].zone] += events[k].direction < 0;
    }
    for (int z = 0; z < N_ZONES; z++) {
      const CuvZoneTotals totals = cuv_zones_totals (zones, z);

      if (scene->zones[z].is_line)
        check_line (zones, scene, z, path, i + 1);
      else
        check_polygon (zones, scene, z, path, i + 1);
      CUV_CHECK (totals.in == in[z] && totals.out == out[z]);
      CUV_CHECK (totals.n_counts == (in[z] + out[z] > 0));
    }
  }
  cuv_zones_free (zones);
}

CUV_CHECKS_CPU (tracks)
{
  Scene scene;
  Path path;

  for (int i = 0; i < steps_wanted () / STEPS; i++) {
    if (i % 8 == 0)
      random_scene (&scene, GRID);
    random_path (&path);
    cuv_check_case ("path %d", i);
    check_path (&scene, &path);
  }
}
