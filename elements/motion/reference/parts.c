/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "motion.h"

#include <string.h>

typedef struct {
  const uint8_t *mask;
  int width, height;
  int32_t *queue;
  int n_queued;
  uint8_t *seen;
} Search;

static void
visit (Search *self, int x, int y)
{
  const int32_t at = y * self->width + x;

  if (self->mask[at] != CUV_MOTION_MOVING || self->seen[at])
    return;
  self->seen[at] = 1;
  self->queue[self->n_queued++] = at;
}

static void
visit_neighbours (Search *self, int x, int y)
{
  for (int j = cuv_motion_max (y - 1, 0);
       j <= cuv_motion_min (y + 1, self->height - 1); j++) {
    for (int i = cuv_motion_max (x - 1, 0);
         i <= cuv_motion_min (x + 1, self->width - 1); i++)
      visit (self, i, j);
  }
}

/* Returns the part of the pixels that were queued, and of all they touch. */
static CuvMotionPart
follow_part (Search *self)
{
  CuvMotionPart part = { INT32_MAX, INT32_MAX, 0, 0, 0 };

  for (int i = 0; i < self->n_queued; i++) {
    const int x = self->queue[i] % self->width;
    const int y = self->queue[i] / self->width;

    part.left = cuv_motion_min (part.left, x);
    part.top = cuv_motion_min (part.top, y);
    part.right = cuv_motion_max (part.right, x + 1);
    part.bottom = cuv_motion_max (part.bottom, y + 1);
    visit_neighbours (self, x, y);
  }
  part.area = self->n_queued;
  return part;
}

int
cuv_motion_parts (const uint8_t *mask, int width, int height, int32_t *queue,
    uint8_t *seen, CuvMotionPart *parts, int max)
{
  Search search = { mask, width, height, queue, 0, seen };
  int n = 0;

  memset (seen, 0, (size_t) width * height);
  for (int y = 0; y < height; y++) {
    for (int x = 0; x < width; x++) {
      search.n_queued = 0;
      visit (&search, x, y);
      if (search.n_queued == 0)
        continue;
      if (n < max)
        parts[n] = follow_part (&search);
      else
        follow_part (&search);
      n++;
    }
  }
  return n;
}
