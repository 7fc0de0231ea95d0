/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where objects were, for how long. */
#include "zones.h"

#include <math.h>
#include <stdlib.h>

bool
cuv_zone_heat_open (CuvZoneHeat *self, int width, int height, int cell)
{
  const int columns = (width - 1) / cell + 1, rows = (height - 1) / cell + 1;
  double *cells = calloc ((size_t) columns * (size_t) rows, sizeof (double));

  if (cells == NULL)
    return false;
  free (self->cells);
  *self = (CuvZoneHeat){ columns, rows, cell, cells, 0, false };
  return true;
}

void
cuv_zone_heat_close (CuvZoneHeat *self)
{
  free (self->cells);
  *self = (CuvZoneHeat){ 0 };
}

static double
elapsed (const CuvZoneHeat *self, int64_t time)
{
  return self->begun && time > self->time ? (double) (time - self->time) : 0;
}

void
cuv_zone_heat_add (CuvZoneHeat *self, const CuvZoneObject *objects, int n,
    CuvZoneAnchor anchor, int64_t time, double half_life)
{
  const int side = self->cell * CUV_ZONE_SCALE;
  const double passed = elapsed (self, time) / 1e9;
  const double step = fmin (passed, CUV_ZONE_HEAT_MAX_STEP / 1e9);
  const double keep = half_life > 0 ? exp2 (-passed / half_life) : 1;

  for (int i = 0; keep < 1 && i < self->columns * self->rows; i++)
    self->cells[i] *= keep;
  for (int i = 0; i < n; i++) {
    const CuvZonePoint p = cuv_zone_anchor (&objects[i].box, anchor);

    if (p.x >= 0 && p.y >= 0 && p.x / side < self->columns
        && p.y / side < self->rows)
      self->cells[p.y / side * self->columns + p.x / side] += step;
  }
  self->time = time;
  self->begun = true;
}
