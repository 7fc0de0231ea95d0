/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "channels/detect.h"

#include <stdlib.h>

/* The red, green and blue planes of a level. */
typedef struct {
  uint8_t *plane[CUV_CHANNELS_COLORS];
} Level;

typedef struct {
  const CuvChannelsModel *model;
  const CuvChannelsPicture *picture;
  const CuvWaldboostPlan *plan;
  /* levels of the plan; they have no planes until these are computed */
  Level *levels;
  CuvHitList *list;
} Detection;

/* Resizes a plane of the level's source to the level's size. */
static uint8_t *
resize_plane (
    const Detection *self, const CuvWaldboostLevel *level, const uint8_t *in)
{
  const CuvWaldboostPlan *plan = self->plan;
  const int n_in = level->source < 0 ? self->picture->width
                                     : plan->levels[level->source].width;
  const CuvTap *rows = plan->taps + level->first_y_tap;
  uint8_t *out = malloc ((size_t) level->width * (size_t) level->height);

  for (int y = 0; y < level->height && out != NULL; y++) {
    const uint8_t *top = in + (ptrdiff_t) rows[y].index * n_in;

    cuv_resize_row (out + (ptrdiff_t) y * level->width, level->width, top,
        rows[y].weight > 0 ? top + n_in : top, n_in, rows[y].weight,
        plan->taps + level->first_x_tap, NULL);
  }
  return out;
}

static bool
make_level (Detection *self, int index)
{
  const CuvWaldboostLevel *level = &self->plan->levels[index];

  for (int i = 0; i < CUV_CHANNELS_COLORS; i++) {
    const uint8_t *in = level->source < 0
        ? self->picture->plane[i]
        : self->levels[level->source].plane[i];

    self->levels[index].plane[i] = resize_plane (self, level, in);
    if (self->levels[index].plane[i] == NULL)
      return false;
  }
  return true;
}

static void
scan_windows (const Detection *self, int index, const CuvChannelsLevel *planes)
{
  const CuvWaldboostLevel *level = &self->plan->levels[index];
  const CuvChannelsTrees *trees = &self->model->trees;

  for (int y = 0; y < level->n_y; y++) {
    for (int x = 0; x < level->n_x; x++) {
      int32_t score = 0;
      const int passed = cuv_channels_evaluate (
          trees, planes, x - trees->overhang, y - trees->overhang, &score);

      cuv_hit_list_count (self->list, self->plan, passed);
      if (passed == trees->n_trees)
        cuv_hit_list_add (self->list, index,
            self->plan->first + x * level->step,
            self->plan->first + y * level->step, (float) score / 256);
    }
  }
}

static bool
scan_level (Detection *self, int index)
{
  const CuvWaldboostLevel *size = &self->plan->levels[index];
  const Level *planes = &self->levels[index];
  const int32_t shrink = self->model->trees.shrink;
  const CuvChannelsPicture picture = { { planes->plane[0], planes->plane[1],
                                           planes->plane[2] },
    size->width, size->height };
  const int columns = size->width / shrink, rows = size->height / shrink;
  uint8_t *channels =
      malloc (CUV_CHANNELS_N * (size_t) columns * (size_t) rows + 1);
  const CuvChannelsLevel level = { channels, columns, rows };
  const bool ok =
      channels != NULL && cuv_channels_compute (&picture, shrink, channels);

  if (ok)
    scan_windows (self, index, &level);
  free (channels);
  return ok;
}

bool
cuv_channels_scan_plan (const CuvChannelsModel *model,
    const CuvWaldboostPlan *plan, const CuvChannelsPicture *picture,
    CuvHitList *list)
{
  Detection self = { model, picture, plan,
    calloc ((size_t) plan->n_levels + 1, sizeof *self.levels), list };
  bool ok = self.levels != NULL;

  for (int i = 0; ok && i < plan->n_levels; i++)
    ok = make_level (&self, i)
        && (plan->levels[i].n_x == 0 || scan_level (&self, i));
  for (int i = 0; self.levels != NULL && i < plan->n_levels; i++) {
    for (int k = 0; k < CUV_CHANNELS_COLORS; k++)
      free (self.levels[i].plane[k]);
  }
  free (self.levels);
  return ok;
}
