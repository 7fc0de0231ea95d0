/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "channels/frame.h"

#include <stdlib.h>
#include <string.h>
#include "channels/detect.h"
#include "channels/planes.h"

struct _CuvChannelsFrame {
  const CuvWaldboostModel *model;
  const CuvWaldboostPlan *plan;
  CuvChannelsPlanes planes;
  CuvWaldboostHit *hits; /* CUV_WALDBOOST_MAX_HITS */
  uint64_t *survivors;   /* of the plan's segments */
};

CuvChannelsFrame *
cuv_channels_frame_new (
    const CuvWaldboostModel *model, const CuvWaldboostPlan *plan)
{
  CuvChannelsFrame *self = calloc (1, sizeof *self);

  if (self == NULL)
    return NULL;
  self->model = model;
  self->hits = malloc (CUV_WALDBOOST_MAX_HITS * sizeof *self->hits);
  if (self->hits != NULL && cuv_channels_frame_set_plan (self, plan))
    return self;
  cuv_channels_frame_free (self);
  return NULL;
}

void
cuv_channels_frame_free (CuvChannelsFrame *self)
{
  if (self == NULL)
    return;
  cuv_channels_planes_clear (&self->planes);
  free (self->hits);
  free (self->survivors);
  free (self);
}

bool
cuv_channels_frame_set_plan (
    CuvChannelsFrame *self, const CuvWaldboostPlan *plan)
{
  uint64_t *survivors =
      realloc (self->survivors, (size_t) plan->n_segments * sizeof *survivors);

  if (survivors == NULL)
    return false;
  self->survivors = survivors;
  self->plan = plan;
  return true;
}

bool
cuv_channels_frame_run (CuvChannelsFrame *self, const CuvFrame *frame,
    const CuvRgbMatrix *matrix, int n_threads, CuvWaldboostResult *result)
{
  const CuvWaldboostPlan *plan = self->plan;
  CuvHitList list = { .hits = self->hits,
    .capacity = CUV_WALDBOOST_MAX_HITS,
    .survivors = self->survivors };
  CuvChannelsPicture picture;

  memset (
      self->survivors, 0, (size_t) plan->n_segments * sizeof *self->survivors);
  if (!cuv_channels_planes_make (
          &self->planes, frame, matrix, &plan->turn, n_threads, &picture)
      || !cuv_channels_scan_plan (self->model->channels, plan, &picture, &list))
    return false;
  *result = (CuvWaldboostResult){ .hits = list.hits,
    .n_hits = list.n_hits,
    .overflow = (int32_t) (list.lost < INT32_MAX ? list.lost : INT32_MAX),
    .windows = list.windows,
    .weak = list.weak,
    .survivors = list.survivors };
  return true;
}
