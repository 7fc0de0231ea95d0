/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which zones a box may concern, without looking at all of them. */
#include "zones-private.h"

#include <stdlib.h>

/* Cells in each direction, of the bounds of all polygons. */
#define SIDE 16

static void
add_bit (uint64_t *set, int i)
{
  set[i / 64] |= (uint64_t) 1 << (i % 64);
}

static int
cell_of (int32_t p, int32_t first, int32_t last)
{
  return p <= first ? 0
      : p >= last   ? SIDE - 1
                    : (int) ((int64_t) (p - first) * SIDE / (last - first));
}

/* The cells that a box touches: column and row numbers, the last included. */
static CuvZoneBox
cells_under (const CuvZoneGrid *self, const CuvZoneBox *box)
{
  const CuvZoneBox *all = &self->bounds;

  return (CuvZoneBox){ cell_of (box->left, all->left, all->right),
    cell_of (box->top, all->top, all->bottom),
    cell_of (box->right, all->left, all->right),
    cell_of (box->bottom, all->top, all->bottom) };
}

static uint64_t *
cell (const CuvZoneGrid *self, int column, int row)
{
  return self->cells + (size_t) (row * SIDE + column) * (size_t) self->n_words;
}

static CuvZoneBox
bounds_of_all (const CuvZone *zones, int n)
{
  CuvZoneBox all = { CUV_ZONE_MAX, CUV_ZONE_MAX, -CUV_ZONE_MAX, -CUV_ZONE_MAX };

  for (int i = 0; i < n; i++) {
    const CuvZoneBox *b = &zones[i].bounds;

    if (zones[i].is_line)
      continue;
    all.left = b->left < all.left ? b->left : all.left;
    all.top = b->top < all.top ? b->top : all.top;
    all.right = b->right > all.right ? b->right : all.right;
    all.bottom = b->bottom > all.bottom ? b->bottom : all.bottom;
  }
  return all;
}

static void
add_polygon (CuvZoneGrid *self, int zone, const CuvZoneBox *bounds)
{
  const CuvZoneBox cells = cells_under (self, bounds);

  for (int row = cells.top; row <= cells.bottom; row++) {
    for (int column = cells.left; column <= cells.right; column++)
      add_bit (cell (self, column, row), zone);
  }
}

bool
cuv_zone_grid_open (CuvZoneGrid *self, const CuvZone *zones, int n)
{
  const int n_words = (n + 63) / 64;
  uint64_t *sets =
      calloc ((size_t) n_words * (SIDE * SIDE + 2) + 1, sizeof (uint64_t));

  if (sets == NULL)
    return false;
  *self = (CuvZoneGrid){ .n_words = n_words,
    .bounds = bounds_of_all (zones, n),
    .found = sets,
    .lines = sets + n_words,
    .cells = sets + 2 * n_words };
  for (int i = 0; i < n; i++) {
    if (zones[i].is_line)
      add_bit (self->lines, i);
    else
      add_polygon (self, i, &zones[i].bounds);
  }
  return true;
}

void
cuv_zone_grid_close (CuvZoneGrid *self)
{
  free (self->found);
  *self = (CuvZoneGrid){ 0 };
}

const uint64_t *
cuv_zone_grid_find (
    CuvZoneGrid *self, const CuvZoneBox *box, const CuvZoneTrack *track)
{
  const CuvZoneBox cells = cells_under (self, box);

  for (int w = 0; w < self->n_words; w++) {
    uint64_t set = self->lines[w];

    for (int row = cells.top; row <= cells.bottom; row++) {
      for (int column = cells.left; column <= cells.right; column++)
        set |= cell (self, column, row)[w];
    }
    self->found[w] = set;
  }
  for (int i = 0; track != NULL && i < track->n_visits; i++) {
    if (track->visits[i].inside)
      add_bit (self->found, track->visits[i].zone);
  }
  return self->found;
}
