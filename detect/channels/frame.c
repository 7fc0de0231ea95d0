/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "channels/frame.h"

#include <stdlib.h>
#include "channels/planes.h"
#include "model/channels.h"

enum { N_SHRINKS = 2 }; /* shrink is 2 or 4 */

/* The models that have the same shrink. */
typedef struct {
  int32_t n;
  int32_t index[CUV_WALDBOOST_MAX_MODELS]; /* positions among all models */
  CuvChannelsCpu *cpu;                     /* NULL if n is 0 */
} Pyramid;

struct _CuvChannelsFrame {
  const CuvWaldboostPlan *plan; /* plan of the first model */
  CuvChannelsPlanes planes;
  Pyramid pyramids[N_SHRINKS];
};

static void
choose_searches (const Pyramid *self, const CuvWaldboostSearch *all,
    CuvWaldboostSearch *chosen)
{
  for (int i = 0; i < self->n; i++)
    chosen[i] = all[self->index[i]];
}

static bool
open_pyramid (Pyramid *self, const CuvWaldboostSearch *searches)
{
  CuvWaldboostSearch own[CUV_WALDBOOST_MAX_MODELS];

  if (self->n == 0)
    return true;
  choose_searches (self, searches, own);
  self->cpu = cuv_channels_cpu_new (own, self->n);
  return self->cpu != NULL;
}

static bool
open_pyramids (
    CuvChannelsFrame *self, const CuvWaldboostSearch *searches, int n)
{
  bool ok = true;

  for (int i = 0; i < n; i++) {
    Pyramid *pyramid =
        &self->pyramids[searches[i].model->channels->trees.shrink == 4];

    pyramid->index[pyramid->n++] = i;
  }
  for (int i = 0; i < N_SHRINKS && ok; i++)
    ok = open_pyramid (&self->pyramids[i], searches);
  return ok;
}

CuvChannelsFrame *
cuv_channels_frame_new (const CuvWaldboostSearch *searches, int n)
{
  CuvChannelsFrame *self = calloc (1, sizeof *self);

  if (self == NULL)
    return NULL;
  self->plan = searches[0].plan;
  if (open_pyramids (self, searches, n))
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
  for (int i = 0; i < N_SHRINKS; i++)
    cuv_channels_cpu_free (self->pyramids[i].cpu);
  free (self);
}

bool
cuv_channels_frame_set_plans (
    CuvChannelsFrame *self, const CuvWaldboostSearch *searches)
{
  CuvWaldboostSearch own[CUV_WALDBOOST_MAX_MODELS];

  self->plan = searches[0].plan;
  for (int i = 0; i < N_SHRINKS; i++) {
    const Pyramid *pyramid = &self->pyramids[i];

    choose_searches (pyramid, searches, own);
    if (pyramid->n > 0 && !cuv_channels_cpu_set_plans (pyramid->cpu, own))
      return false;
  }
  return true;
}

static void
run_pyramid (const Pyramid *self, const CuvChannelsPicture *picture,
    int n_threads, CuvWaldboostResult *results)
{
  CuvWaldboostResult own[CUV_WALDBOOST_MAX_MODELS];

  if (self->n == 0)
    return;
  cuv_channels_cpu_run (self->cpu, picture, n_threads, own);
  for (int i = 0; i < self->n; i++)
    results[self->index[i]] = own[i];
}

bool
cuv_channels_frame_run (CuvChannelsFrame *self, const CuvFrame *frame, int left,
    int top, const CuvRgbMatrix *matrix, int n_threads,
    CuvWaldboostResult *results)
{
  const CuvWaldboostPlan *plan = self->plan;
  const CuvRoi part = { left, top, left + plan->width, top + plan->height };
  CuvChannelsPicture picture;

  if (!cuv_channels_planes_make (&self->planes, frame, &part, matrix,
          &plan->turn, n_threads, &picture))
    return false;
  for (int i = 0; i < N_SHRINKS; i++)
    run_pyramid (&self->pyramids[i], &picture, n_threads, results);
  return true;
}
