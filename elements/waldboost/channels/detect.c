/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "channels/detect.h"
#include "reference/waldboost-reference.h"

#include <stdlib.h>

enum { MAX_OCTAVES = 16 };

/* The red, green and blue planes of a level. */
typedef struct {
  uint8_t *plane[CUV_CHANNELS_COLORS];
} Level;

typedef struct {
  const CuvChannelsModel *model;
  const CuvChannelsPicture *picture;
  CuvWaldboostPlan *plan;
  Level *levels; /* of the plan; those not computed yet have no planes */
  CuvChannelsBox *boxes;
  int64_t n, capacity;
} Detection;

/* The plan's window is what of the model's has to lie in a level. */
static CuvWaldboostPlan *
plan_levels (const CuvChannelsModel *model, const CuvChannelsPicture *picture)
{
  const CuvChannelsTrees *trees = &model->trees;
  const CuvWaldboostModel window = { .arithmetic = CUV_SUM_FIXED,
    .scan = CUV_SCAN_DENSE,
    .window_width = (trees->columns - 2 * trees->overhang) * trees->shrink,
    .window_height = (trees->rows - 2 * trees->overhang) * trees->shrink,
    .n_weak = trees->n_trees };
  const CuvWaldboostParams params = { .octaves = MAX_OCTAVES,
    .levels_per_octave = model->levels };

  return cuv_waldboost_plan_new (
      &window, &params, picture->width, picture->height);
}

/* Resizes a plane of the level's source. */
static uint8_t *
resize_plane (const CuvWaldboostPlan *plan, const CuvWaldboostLevel *level,
    const uint8_t *in)
{
  const int n_in =
      level->source < 0 ? plan->width : plan->levels[level->source].width;
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

    self->levels[index].plane[i] = resize_plane (self->plan, level, in);
    if (self->levels[index].plane[i] == NULL)
      return false;
  }
  return true;
}

/* Clips the interval first .. first + n - 1 to 0 .. n_picture - 1. */
static void
clip (int32_t *first, int32_t *n, int32_t n_picture)
{
  const int32_t end = *first + *n;

  *first = *first > 0 ? *first : 0;
  *n = (end < n_picture ? end : n_picture) - *first;
}

/* As cuv_scale_to_frame(), of positions that may be negative. */
static int32_t
scale_position (int32_t at, int32_t n_level, int32_t n_picture)
{
  const int32_t periods = at < 0 ? -at / n_level + 1 : 0;

  return cuv_scale_to_frame (at + periods * n_level, n_level, n_picture)
      - periods * n_picture;
}

/* An object that is not in the picture has no area. */
static CuvChannelsBox
box_of_hit (const Detection *self, int index, const CuvChannelsHit *hit)
{
  const CuvWaldboostLevel *level = &self->plan->levels[index];
  const int32_t w = self->picture->width, h = self->picture->height;
  const int32_t *object = self->model->object;
  const int32_t shrink = self->model->trees.shrink;
  CuvChannelsBox box = { index, *hit,
    scale_position (hit->column * shrink + object[0], level->width, w),
    scale_position (hit->row * shrink + object[1], level->height, h),
    cuv_scale_to_frame (object[2], level->width, w),
    cuv_scale_to_frame (object[3], level->height, h) };

  clip (&box.x, &box.width, w);
  clip (&box.y, &box.height, h);
  return box;
}

static void
add_box (Detection *self, CuvChannelsBox box)
{
  if (box.width <= 0 || box.height <= 0)
    return;
  if (self->n < self->capacity)
    self->boxes[self->n] = box;
  self->n++;
}

static bool
scan_level (Detection *self, int index)
{
  const CuvWaldboostLevel *size = &self->plan->levels[index];
  const Level *planes = &self->levels[index];
  const CuvChannelsTrees *trees = &self->model->trees;
  const CuvChannelsPicture picture = { { planes->plane[0], planes->plane[1],
                                           planes->plane[2] },
    size->width, size->height };
  const int columns = size->width / trees->shrink;
  const int rows = size->height / trees->shrink;
  uint8_t *channels =
      malloc (CUV_CHANNELS_N * (size_t) columns * (size_t) rows + 1);
  const CuvChannelsLevel level = { channels, columns, rows };
  const int64_t n_positions = (int64_t) cuv_channels_across (trees, &level)
      * cuv_channels_down (trees, &level);
  CuvChannelsHit *hits = malloc ((size_t) n_positions * sizeof *hits + 1);
  const bool ok = channels != NULL && hits != NULL
      && cuv_channels_compute (&picture, trees->shrink, channels);
  const int64_t n =
      ok ? cuv_channels_scan (trees, &level, hits, n_positions) : 0;

  for (int64_t i = 0; i < n; i++)
    add_box (self, box_of_hit (self, index, &hits[i]));
  free (hits);
  free (channels);
  return ok;
}

static void
detection_clear (Detection *self)
{
  for (int i = 0; self->levels != NULL && i < self->plan->n_levels; i++) {
    for (int k = 0; k < CUV_CHANNELS_COLORS; k++)
      free (self->levels[i].plane[k]);
  }
  free (self->levels);
  cuv_waldboost_plan_free (self->plan);
}

int64_t
cuv_channels_detect (const CuvChannelsModel *model,
    const CuvChannelsPicture *picture, CuvChannelsBox *boxes, int64_t capacity)
{
  Detection self = { .model = model,
    .picture = picture,
    .plan = plan_levels (model, picture),
    .boxes = boxes,
    .capacity = capacity };
  bool ok = self.plan != NULL;

  if (ok) {
    self.levels =
        calloc ((size_t) self.plan->n_levels + 1, sizeof *self.levels);
    ok = self.levels != NULL;
  }
  for (int i = 0; ok && i < self.plan->n_levels; i++)
    ok = make_level (&self, i) && scan_level (&self, i);
  detection_clear (&self);
  return ok ? self.n : -1;
}
