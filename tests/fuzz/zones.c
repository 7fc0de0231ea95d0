/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Any text is zones that can be placed in frames and count objects, or an
 * error. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "gstzonesconfig.h"

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

static void
check (const CuvZone *zone, int width, int height)
{
  const int32_t most = CUV_ZONE_SCALE * MAX (1 << 20, 2 * MAX (width, height));

  if (zone->name[0] == '\0' || !g_utf8_validate (zone->name, -1, NULL)
      || zone->hysteresis < 1 || zone->dwell < 0 || zone->crowd < 0
      || zone->anchor > CUV_ANCHOR_ANY
      || (zone->is_line
          && (zone->n_points != 2 || zone->anchor == CUV_ANCHOR_ANY))
      || (!zone->is_line && zone->n_points < 3))
    abort ();
  for (int i = 0; i < zone->n_points; i++) {
    const CuvZonePoint p = zone->points[i];

    if (p.x < -most || p.x > most || p.y < -most || p.y > most
        || p.x < zone->bounds.left || p.x > zone->bounds.right
        || p.y < zone->bounds.top || p.y > zone->bounds.bottom)
      abort ();
  }
}

/* Moves objects from corner to corner of the zones and of the frame. */
static void
count_objects (const GstZonesPlaced *placed, int width, int height)
{
  CuvZones *zones = cuv_zones_new ();
  uint64_t events = 0, totals = 0;
  int n;

  if (!cuv_zones_set (zones, placed->zones, placed->n))
    abort ();
  for (int frame = 0; frame < 8; frame++) {
    CuvZoneObject objects[8];

    for (int i = 0; i < 8; i++) {
      const CuvZone *zone =
          placed->n > 0 ? &placed->zones[i % placed->n] : NULL;
      const int32_t x = zone != NULL && (frame & 2)
          ? MAX (zone->points[frame % zone->n_points].x, 0)
          : frame % 3 * width;
      const int32_t y = zone != NULL && (frame & 4)
          ? MAX (zone->points[i % zone->n_points].y, 0)
          : i % 3 * height;

      objects[i] = (CuvZoneObject){ i - 1, (uint32_t) i & 3,
        { x, y, x + 16 + i, y + 32 } };
    }
    if (!cuv_zones_update (zones, objects, 8, frame * 1000, 1))
      abort ();
    for (const CuvZoneEvent *event = cuv_zones_events (zones, &n); n > 0;
         n--, event++)
      events += event->direction != 0;
  }
  for (int i = 0; i < placed->n; i++) {
    const CuvZoneTotals t = cuv_zones_totals (zones, i);

    totals += t.in + t.out;
  }
  if (events != totals)
    abort ();
  cuv_zones_free (zones);
}

static void
place (const GstZonesConfig *config, int width, int height)
{
  uint32_t label = 1;
  const GstZonesDefaults defaults = { CUV_ANCHOR_ANY, 3, 0, 0, &label, 1 };
  char *problem;
  GstZonesPlaced *placed =
      gst_zones_config_place (config, &defaults, 0, width, height, &problem);

  if ((placed == NULL) != (problem != NULL))
    abort ();
  free (problem);
  if (placed == NULL)
    return;
  for (int i = 0; i < placed->n; i++)
    check (&placed->zones[i], width, height);
  count_objects (placed, width, height);
  gst_zones_placed_free (placed);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  char *text = g_strndup ((const char *) data, size), *problem;
  GstZonesConfig *config = gst_zones_config_parse (text, &problem);

  if ((config == NULL) != (problem != NULL)
      || (problem != NULL && *problem == '\0'))
    abort ();
  if (config != NULL) {
    place (config, 640, 480);
    place (config, 1, 1);
    place (config, CUV_ZONE_MAX / (4 * CUV_ZONE_SCALE), 3);
    g_boxed_free (GST_TYPE_ZONES_CONFIG, config);
  }
  g_free (problem);
  g_free (text);
  return 0;
}
