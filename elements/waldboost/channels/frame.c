/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "channels/frame.h"

#include <stdlib.h>
#include "channels/cpu/channels-cpu.h"
#include "channels/planes.h"

struct _CuvChannelsFrame {
  const CuvWaldboostPlan *plan;
  CuvChannelsPlanes planes;
  CuvChannelsCpu *cpu;
};

CuvChannelsFrame *
cuv_channels_frame_new (
    const CuvWaldboostModel *model, const CuvWaldboostPlan *plan)
{
  CuvChannelsFrame *self = calloc (1, sizeof *self);

  if (self == NULL)
    return NULL;
  self->plan = plan;
  self->cpu = cuv_channels_cpu_new (model, plan);
  if (self->cpu != NULL)
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
  cuv_channels_cpu_free (self->cpu);
  free (self);
}

bool
cuv_channels_frame_set_plan (
    CuvChannelsFrame *self, const CuvWaldboostPlan *plan)
{
  self->plan = plan;
  return cuv_channels_cpu_set_plan (self->cpu, plan);
}

bool
cuv_channels_frame_run (CuvChannelsFrame *self, const CuvFrame *frame, int left,
    int top, const CuvRgbMatrix *matrix, int n_threads,
    CuvWaldboostResult *result)
{
  const CuvWaldboostPlan *plan = self->plan;
  const CuvRoi part = { left, top, left + plan->width, top + plan->height };
  CuvChannelsPicture picture;

  if (!cuv_channels_planes_make (&self->planes, frame, &part, matrix,
          &plan->turn, n_threads, &picture))
    return false;
  cuv_channels_cpu_run (self->cpu, &picture, n_threads, result);
  return true;
}
