/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counts by zone and label. */
#include "zones-private.h"

CuvZoneCount *
cuv_zone_counts_row (CuvZoneCounts *self, uint32_t label)
{
  for (int i = 0; i < self->n; i++) {
    if (self->list[i].label == label)
      return &self->list[i];
  }
  if (!cuv_zones_reserve ((void **) &self->list, &self->capacity, self->n + 1,
          sizeof (CuvZoneCount)))
    return NULL;
  self->list[self->n] = (CuvZoneCount){ label, 0, 0 };
  return &self->list[self->n++];
}
