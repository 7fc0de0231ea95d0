/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "trees/trainer.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "channels/cpu/channels-cpu.h"
#include "cuvthreads.h"
#include "model/model.h"

typedef struct {
  const CuvTrainScenes *scenes;
  const CuvTrainChannelsParams *params;
  const CuvTrainTree *trees;
  const int32_t *thresholds;
  int32_t n_trees;
  uint64_t seed;
  CuvTrainReservoir reservoir; /* of samples, as windows of one row */
  const CuvWaldboostModel *model;
  atomic_bool failed; /* memory ran out */
} Draw;

/* The search of a picture. */
typedef struct {
  Draw *draw;
  const CuvTrainScene *scene;
  CuvWaldboostPlan *plan;
  CuvChannelsCpu *cpu;
  uint64_t hash;
  ptrdiff_t *offsets; /* of the features of a window, in the current level */
  uint8_t *values;    /* features of a window */
} Search;

/* ---- a window ---- */

static bool
overlaps (const Search *self, const CuvWaldboostHit *hit)
{
  const CuvWaldboostBox at = cuv_waldboost_box (self->plan, hit);

  for (int32_t i = 0; i < self->scene->n_boxes; i++) {
    const CuvTrainBox *box = &self->scene->boxes[i];
    const double across = cuv_train_common (at.x, at.width, box->x, box->width);
    const double down = cuv_train_common (at.y, at.height, box->y, box->height);

    if (cuv_train_share (across, down,
            (double) at.width * at.height + box->width * box->height)
        > CUV_TRAIN_MAX_OVERLAP)
      return true;
  }
  return false;
}

/* Returns the leaf that a window reaches. Most windows are rejected by the
 * first trees, so they are not copied before. */
static int
leaf_at (const Search *self, const CuvTrainTree *tree, const uint8_t *first)
{
  const int n_nodes = (1 << self->draw->params->trees.depth) - 1;
  int at = 0;

  while (at < n_nodes)
    at = 2 * at + 1
        + (first[self->offsets[tree->feature[at]]] >= tree->threshold[at]);
  return tree->leaves[at - n_nodes];
}

static bool
is_rejected (const Search *self, const uint8_t *first)
{
  const Draw *draw = self->draw;
  int32_t sum = 0;

  for (int32_t i = 0; i < draw->n_trees; i++) {
    sum += leaf_at (self, &draw->trees[i], first);
    if (sum < draw->thresholds[i])
      return true;
  }
  return false;
}

/* ---- a picture ---- */

static void
draw_window (Search *self, const CuvWaldboostHit *hit, uint64_t number)
{
  uint64_t state = self->hash + number;
  const uint64_t rank = cuv_train_random (&state);
  CuvTrainReservoir *reservoir = &self->draw->reservoir;
  const uint8_t *first;

  if (!cuv_train_reservoir_wants (reservoir, rank))
    return;
  first = cuv_channels_cpu_window (self->cpu, hit);
  if (is_rejected (self, first) || overlaps (self, hit))
    return;
  for (int32_t i = 0; i < reservoir->window_width; i++)
    self->values[i] = first[self->offsets[i]];
  cuv_train_reservoir_add (reservoir, rank, self->values);
}

static void
draw_from_picture (Search *self)
{
  const CuvWaldboostPlan *plan = self->plan;
  uint64_t number = 0;

  for (int32_t i = 0; i < plan->n_levels; i++) {
    const CuvWaldboostLevel *level = &plan->levels[i];

    if (level->n_x > 0)
      cuv_channels_cpu_offsets (self->cpu, i, self->offsets);
    for (int32_t y = 0; y < level->n_y; y++) {
      for (int32_t x = 0; x < level->n_x; x++, number++) {
        const CuvWaldboostHit hit = { i, plan->first + x * level->step,
          plan->first + y * level->step, 0 };

        draw_window (self, &hit, number);
      }
    }
  }
}

static bool
search_picture (Draw *draw, const CuvTrainScene *scene,
    const CuvChannelsPicture *picture, uint64_t hash)
{
  const CuvWaldboostParams params = { .scan = CUV_SCAN_AUTO };
  const size_t n_features = (size_t) draw->reservoir.window_width;
  Search self = { draw, scene,
    cuv_waldboost_plan_new (
        draw->model, &params, picture->width, picture->height),
    NULL, hash, malloc (n_features * sizeof *self.offsets),
    malloc (n_features) };

  if (self.plan != NULL && self.offsets != NULL && self.values != NULL)
    self.cpu = cuv_channels_cpu_new (
        &(CuvWaldboostSearch){ draw->model, self.plan }, 1);
  if (self.cpu != NULL) {
    cuv_channels_cpu_make (self.cpu, picture);
    draw_from_picture (&self);
  }
  cuv_channels_cpu_free (self.cpu);
  cuv_waldboost_plan_free (self.plan);
  free (self.offsets);
  free (self.values);
  return self.cpu != NULL;
}

/* Even tasks search pictures as they are, odd ones with another contrast. */
static void
channels_draw_task (void *data, int task)
{
  Draw *draw = data;
  const CuvTrainScene *scene = &draw->scenes->scenes[task / 2];
  CuvChannelsPicture changed = { .plane = { NULL } };
  uint64_t state = draw->seed + (uint64_t) task;
  const uint64_t hash = cuv_train_random (&state);
  bool ok;

  if (cuv_train_is_stopped (draw->params->trees.watch))
    return;
  ok = task % 2 == 0
      || cuv_train_change_contrast (&scene->picture,
          draw->params->trees.seed + (uint64_t) task, &changed);

  ok = ok
      && search_picture (
          draw, scene, task % 2 ? &changed : &scene->picture, hash);
  free ((void *) changed.plane[0]);
  if (!ok)
    atomic_store (&draw->failed, true);
}

/* ---- all pictures ---- */

/* Returns a model of the shape with a single tree that is not evaluated: plans
 * and CuvChannelsCpu need a model. */
static const CuvWaldboostModel *
shape_model (const CuvChannelsModel *shape)
{
  const CuvChannelsNode node = { .threshold = 1 };
  const int16_t leaves[2] = { 0 };
  const int32_t threshold = 0;
  CuvChannelsModel model = *shape;

  model.trees.depth = 1;
  model.trees.n_trees = 1;
  model.trees.nodes = &node;
  model.trees.leaves = leaves;
  model.trees.thresholds = &threshold;
  return cuv_model_of_channels (cuv_channels_model_copy (&model));
}

typedef struct {
  uint64_t rank;
  const uint8_t *values;
} Drawn;

static int
compare_drawn (const void *a, const void *b)
{
  const Drawn *one = a, *other = b;

  return (one->rank > other->rank) - (one->rank < other->rank);
}

/* Adds the reservoir's samples in an order that does not depend on threads. */
static bool
add_drawn (const CuvTrainReservoir *reservoir, CuvTrainSampleList *list)
{
  const size_t size = (size_t) reservoir->window_width;
  Drawn *drawn = malloc (((size_t) reservoir->n + 1) * sizeof *drawn);
  bool ok = drawn != NULL;

  for (int32_t i = 0; ok && i < reservoir->n; i++)
    drawn[i] =
        (Drawn){ reservoir->ranks[i], reservoir->pixels + (size_t) i * size };
  if (ok)
    qsort (drawn, (size_t) reservoir->n, sizeof *drawn, compare_drawn);
  for (int32_t i = 0; ok && i < reservoir->n; i++) {
    uint8_t *values = cuv_train_sample_list_add (list);

    ok = values != NULL;
    if (ok)
      memcpy (values, drawn[i].values, size);
  }
  free (drawn);
  return ok;
}

bool
cuv_train_add_negatives (const CuvTrainScenes *scenes,
    const CuvTrainChannelsParams *params, const CuvTrainTree *trees,
    const int32_t *thresholds, int32_t n_trees, int32_t n, uint64_t seed,
    CuvTrainSampleList *list)
{
  Draw draw = { .scenes = scenes,
    .params = params,
    .trees = trees,
    .thresholds = thresholds,
    .n_trees = n_trees,
    .seed = seed };
  bool ok =
      cuv_train_reservoir_init (&draw.reservoir, list->n_features, 1, n, seed);

  if (ok) {
    draw.model = shape_model (&params->shape);
    cuv_threads_run (cuv_train_n_threads (&params->trees), 2 * scenes->n,
        channels_draw_task, &draw);
    ok = !atomic_load (&draw.failed) && add_drawn (&draw.reservoir, list);
    cuv_model_unref (draw.model);
  }
  cuv_train_reservoir_clear (&draw.reservoir);
  return ok;
}
