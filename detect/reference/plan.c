/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Makes the plan: what to scan in frames of one size, and where the windows lie
 * in the frame. */
#include "model/channels.h"
#include "reference/waldboost-reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- segments ---- */

int
cuv_compare_ints (const void *a, const void *b)
{
  int32_t x = *(const int32_t *) a, y = *(const int32_t *) b;

  return (x > y) - (x < y);
}

/* Sets the ends of the segments. Those of a cascade are its stages; in other
 * models segments end as requested, sorted, unique and not beyond the model's
 * end. */
static bool
choose_segments (CuvWaldboostPlan *plan, const CuvWaldboostModel *model,
    const CuvWaldboostParams *params)
{
  static const int32_t usual[] = { 1, 8, 64, 256, 512 };
  bool stages = model->arithmetic == CUV_SUM_STAGES;
  const int32_t *from = stages ? model->stage_first + 1
      : params->n_segments > 0 ? params->segment_end
                               : usual;
  int n = stages               ? model->n_stages
      : params->n_segments > 0 ? params->n_segments
                               : (int) (sizeof usual / sizeof *usual);
  int32_t *ends = malloc ((n + 1) * sizeof *ends);

  plan->segment_end = ends;
  if (ends == NULL)
    return false;
  memcpy (ends, from, n * sizeof *ends);
  qsort (ends, n, sizeof *ends, cuv_compare_ints);
  for (int i = 0; i < n && ends[i] < model->n_weak; i++) {
    if (plan->n_segments == 0 || ends[i] != ends[plan->n_segments - 1])
      ends[plan->n_segments++] = ends[i];
  }
  ends[plan->n_segments++] = model->n_weak;
  return true;
}

/* ---- the picture ---- */

static double
upscale_of (const CuvWaldboostParams *params)
{
  return params->upscale == 0 ? 1 : params->upscale;
}

static void
set_picture_size (CuvWaldboostPlan *plan, const CuvWaldboostParams *params)
{
  const double upscale = upscale_of (params);

  plan->turn = cuv_turn_new (params->rotation, plan->width, plan->height);
  plan->upright_width = (int32_t) lrint (plan->width * upscale);
  plan->upright_height = (int32_t) lrint (plan->height * upscale);
  plan->picture_width = (int32_t) lrint (plan->turn.width * upscale);
  plan->picture_height = (int32_t) lrint (plan->turn.height * upscale);
}

bool
cuv_waldboost_picture_size (
    const CuvWaldboostParams *params, int *width, int *height)
{
  const bool as_is = params->rotation == 0 && upscale_of (params) == 1;
  CuvWaldboostPlan plan = { .width = *width, .height = *height };
  const int largest = *width > *height ? *width : *height;

  set_picture_size (&plan, params);
  *width = plan.picture_width;
  *height = plan.picture_height;
  return as_is
      || (largest <= CUV_WALDBOOST_MAX_SIDE && *width <= CUV_WALDBOOST_MAX_SIDE
          && *height <= CUV_WALDBOOST_MAX_SIDE
          && (int64_t) *width * *height <= CUV_WALDBOOST_MAX_PIXELS);
}

static bool
has_valid_picture (const CuvWaldboostParams *params, int width, int height)
{
  const double upscale = upscale_of (params);

  return upscale >= 1 && upscale <= CUV_WALDBOOST_MAX_UPSCALE
      && abs (params->rotation) <= 180
      && cuv_waldboost_picture_size (params, &width, &height);
}

/* ---- the window ---- */

static void
set_window (CuvWaldboostPlan *plan, const CuvWaldboostModel *model)
{
  const CuvChannelsModel *channels = model->channels;

  plan->window_width = plan->box_width = model->window_width;
  plan->window_height = plan->box_height = model->window_height;
  if (channels == NULL)
    return;
  plan->box_x = channels->object[0];
  plan->box_y = channels->object[1];
  plan->box_width = channels->object[2];
  plan->box_height = channels->object[3];
  plan->first = -channels->trees.overhang * channels->trees.shrink;
}

/* Returns the parameters for the model: with trees on channels, the model
 * determines the number of levels per octave, and as many octaves are searched
 * as fit. */
static CuvWaldboostParams
params_for (const CuvWaldboostModel *model, const CuvWaldboostParams *params)
{
  CuvWaldboostParams own = *params;

  if (model->channels != NULL && params->scan == CUV_SCAN_AUTO) {
    own.octaves = CUV_WALDBOOST_MAX_OCTAVES;
    own.levels_per_octave = model->channels->levels;
  }
  return own;
}

/* ---- the plan ---- */

static bool
are_valid (const CuvWaldboostParams *params, CuvScan scan)
{
  if (params->n_segments < 0 || params->n_segments > CUV_WALDBOOST_MAX_SEGMENTS)
    return false;
  for (int i = 0; i < params->n_segments; i++) {
    if (params->segment_end[i] < 1)
      return false;
  }
  if (params->block_size != 0 && params->block_size != 8
      && params->block_size != 16 && params->block_size != 32)
    return false;
  switch (scan) {
    case CUV_SCAN_OPENCV:
      return params->scale_factor >= CUV_WALDBOOST_MIN_SCALE_FACTOR;
    case CUV_SCAN_WBD:
      return true;
    case CUV_SCAN_DENSE:
      return params->octaves >= 0
          && params->octaves <= CUV_WALDBOOST_MAX_OCTAVES
          && params->levels_per_octave >= 0 && params->levels_per_octave <= 64;
    default:
      return false;
  }
}

CuvWaldboostPlan *
cuv_waldboost_plan_new (const CuvWaldboostModel *model,
    const CuvWaldboostParams *params, int width, int height)
{
  CuvScan scan = params->scan == CUV_SCAN_AUTO ? model->scan : params->scan;
  const CuvWaldboostParams own = params_for (model, params);
  CuvWaldboostPlan *plan;

  if (!are_valid (params, scan) || width < 0 || height < 0
      || (model->channels != NULL && scan != CUV_SCAN_DENSE)
      || !has_valid_picture (params, width, height))
    return NULL;
  plan = calloc (1, sizeof *plan);
  if (plan == NULL)
    return NULL;
  plan->scan = scan;
  plan->skip = scan == CUV_SCAN_OPENCV && model->arithmetic == CUV_SUM_STAGES;
  plan->width = width;
  plan->height = height;
  set_window (plan, model);
  set_picture_size (plan, params);
  plan->rearrangement = params->rearrangement;
  plan->block_size = params->block_size;
  if (!choose_segments (plan, model, params)
      || !cuv_pyramid_fill (plan, model, &own)) {
    cuv_waldboost_plan_free (plan);
    return NULL;
  }
  return plan;
}

void
cuv_waldboost_plan_free (CuvWaldboostPlan *plan)
{
  if (plan == NULL)
    return;
  free ((void *) plan->levels);
  free ((void *) plan->taps);
  free ((void *) plan->ranges);
  free ((void *) plan->segment_end);
  free (plan);
}

CuvWaldboostBox
cuv_waldboost_box (const CuvWaldboostPlan *plan, const CuvWaldboostHit *hit)
{
  const CuvWaldboostLevel *level = &plan->levels[hit->level];
  CuvWaldboostBox box = { 0, 0, level->box_width, level->box_height, hit->score,
    1, 0, 0 };

  switch (plan->scan) {
    case CUV_SCAN_WBD:
      box.x = (int) ((float) hit->x / level->factor);
      box.y = (int) ((float) hit->y / level->factor);
      break;
    case CUV_SCAN_DENSE:
      box.x = cuv_scale_to_frame (
          hit->x + plan->box_x, level->width, plan->picture_width);
      box.y = cuv_scale_to_frame (
          hit->y + plan->box_y, level->height, plan->picture_height);
      break;
    default:
      box.x = (int) lrintf ((float) hit->x * level->scale);
      box.y = (int) lrintf ((float) hit->y * level->scale);
  }
  return plan->turn.degrees == 0 ? box : cuv_turn_back (plan, box);
}
