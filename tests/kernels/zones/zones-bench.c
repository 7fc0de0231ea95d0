/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Times of a frame with 200 zones and 200 objects. */
#include "cuvcheck.h"

#include <math.h>
#include "zones.h"

#define N 200
#define POINTS 8

typedef struct {
  CuvZones *zones;
  CuvZoneObject objects[N];
  int64_t time;
} Bench;

/* One frame: each object moves by up to 4 pixels. */
static void
add_frame (void *data)
{
  Bench *self = data;

  for (int i = 0; i < N; i++) {
    CuvZoneBox *box = &self->objects[i].box;
    const int dx = (int) cuv_check_below (129) - 64;
    const int dy = (int) cuv_check_below (129) - 64;

    *box = (CuvZoneBox){ box->left + dx, box->top + dy, box->right + dx,
      box->bottom + dy };
  }
  self->time += 40000000;
  cuv_zones_update (self->zones, self->objects, N, self->time, 30);
}

/* A polygon around a point, or a line through it. */
static CuvZone
make_zone (CuvZonePoint *points, char name[8], int i, int radius, bool is_line,
    CuvZoneAnchor anchor)
{
  const int n = is_line ? 2 : POINTS;
  const int x = (int) cuv_check_below (1920 * 16);
  const int y = (int) cuv_check_below (1080 * 16);

  snprintf (name, 8, "z%d", i);
  for (int k = 0; k < n; k++)
    points[k] = (CuvZonePoint){ x + (int) (radius * cos (k * 6.28 / n)),
      y + (int) (radius * sin (k * 6.28 / n)) };
  return (CuvZone){ .name = name,
    .is_line = is_line,
    .n_points = n,
    .points = points,
    .anchor = anchor,
    .hysteresis = 2,
    .bounds = { x - radius, y - radius, x + radius, y + radius } };
}

static void
run (const char *name, int radius, bool lines, CuvZoneAnchor anchor)
{
  static CuvZone zones[N];
  static CuvZonePoint points[N][POINTS];
  static char names[N][8];
  Bench bench = { cuv_zones_new (), { { 0 } }, 0 };

  for (int i = 0; i < N; i++) {
    const int x = (int) cuv_check_below (1900 * 16);
    const int y = (int) cuv_check_below (1000 * 16);

    zones[i] = make_zone (points[i], names[i], i, radius, lines, anchor);
    bench.objects[i] =
        (CuvZoneObject){ i, 1, { x, y, x + 40 * 16, y + 100 * 16 } };
  }
  if (!cuv_zones_set (bench.zones, zones, N))
    return;
  cuv_check_report (cuv_check_time (add_frame, &bench), N * N, 0, "%s", name);
  cuv_zones_free (bench.zones);
}

CUV_BENCH_CPU (frames)
{
  run ("polygons of 200 pixels", 100 * 16, false, CUV_ANCHOR_BOTTOM_CENTER);
  run ("polygons of 200 pixels, any", 100 * 16, false, CUV_ANCHOR_ANY);
  run ("polygons of 800 pixels", 400 * 16, false, CUV_ANCHOR_BOTTOM_CENTER);
  run ("lines of 400 pixels", 200 * 16, true, CUV_ANCHOR_BOTTOM_CENTER);
}
