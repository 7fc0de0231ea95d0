/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "trees/trainer.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "cuvthreads.h"

/* Numbers of trees in the rounds before the last. */
static const int32_t rounds[] = { 32, 128, 256 };

#define N_ROUNDS ((int) (sizeof rounds / sizeof *rounds))

typedef struct {
  const CuvTrainScenes *scenes[CUV_TRAIN_N_PARTS];
  const CuvTrainChannelsParams *params;
  CuvTrainSampleList lists[CUV_TRAIN_N_PARTS];
  int32_t n_positives[CUV_TRAIN_N_PARTS];
  CuvTrainTree *trees;
  int32_t *thresholds, final;
} Trainer;

/* ---- the shape ---- */

static int32_t
round_to (int32_t value, int32_t multiple)
{
  return (value + multiple / 2) / multiple * multiple;
}

/* Small windows have blocks of 2 pixels, because steps of 4 pixels are too
 * coarse for them: see docs/definitions/channels.md. */
void
cuv_train_channels_shape (CuvChannelsModel *self, int32_t width, int32_t height)
{
  CuvChannelsTrees *trees = &self->trees;
  const int32_t shorter = width < height ? width : height;

  *self = (CuvChannelsModel){ .levels = 4 };
  trees->shrink = shorter < 24 ? 2 : 4;
  self->object[2] = round_to (width, trees->shrink);
  self->object[3] = round_to (height, trees->shrink);
  trees->columns = self->object[2] / trees->shrink;
  trees->rows = self->object[3] / trees->shrink;
  trees->overhang =
      (trees->columns < trees->rows ? trees->columns : trees->rows) / 4;
}

/* ---- samples ---- */

uint8_t *
cuv_train_sample_list_add (CuvTrainSampleList *self)
{
  const size_t size = (size_t) self->n_features;

  if (self->n == self->capacity) {
    const int32_t capacity = self->capacity * 2 + 64;
    uint8_t *values = realloc (self->values, (size_t) capacity * size);

    if (values == NULL)
      return NULL;
    self->values = values;
    self->capacity = capacity;
  }
  return self->values + (size_t) self->n++ * size;
}

static CuvTrainSamples
samples_of (const Trainer *self, CuvTrainPart part)
{
  const CuvTrainSampleList *list = &self->lists[part];

  return (CuvTrainSamples){ list->n, self->n_positives[part], list->n_features,
    list->values };
}

/* The objects of a part: a list for each task. */
typedef struct {
  const Trainer *trainer;
  const CuvTrainScenes *scenes;
  CuvTrainSampleList *lists;
  atomic_bool failed; /* memory ran out */
} Objects;

/* Even tasks add the objects of a scene as it is, odd ones with another
 * contrast. */
static void
add_objects_task (void *data, int task)
{
  Objects *self = data;
  const CuvTrainChannelsParams *params = self->trainer->params;
  const uint64_t number = (uint64_t) task;
  CuvTrainScene scene = self->scenes->scenes[task / 2];
  CuvChannelsPicture changed = { .plane = { NULL } };
  bool ok = true;

  if (scene.n_objects == 0)
    return;
  if (task % 2) {
    ok = cuv_train_change_contrast (
        &scene.picture, params->trees.seed + number, &changed);
    scene.picture = changed;
  }
  ok = ok
      && cuv_train_add_objects (&scene, params,
          params->trees.seed + number * 7919, &self->lists[task]);
  free ((void *) changed.plane[0]);
  if (!ok)
    atomic_store (&self->failed, true);
}

/* Adds the samples of another list. */
static bool
append (CuvTrainSampleList *list, const CuvTrainSampleList *other)
{
  const size_t size = (size_t) list->n_features;

  for (int32_t i = 0; i < other->n; i++) {
    uint8_t *values = cuv_train_sample_list_add (list);

    if (values == NULL)
      return false;
    memcpy (values, other->values + (size_t) i * size, size);
  }
  return true;
}

static bool
add_positives (Trainer *self, CuvTrainPart part)
{
  const CuvTrainScenes *scenes = self->scenes[part];
  CuvTrainSampleList *list = &self->lists[part];
  const int32_t n = 2 * scenes->n;
  Objects objects = { self, scenes,
    calloc ((size_t) n + 1, sizeof *objects.lists), false };
  bool ok = objects.lists != NULL;

  for (int32_t i = 0; ok && i < n; i++)
    objects.lists[i].n_features = list->n_features;
  if (ok)
    cuv_threads_run (cuv_train_n_threads (&self->params->trees), n,
        add_objects_task, &objects);
  ok = ok && !atomic_load (&objects.failed);
  for (int32_t i = 0; objects.lists != NULL && i < n; i++) {
    ok = ok && append (list, &objects.lists[i]);
    free (objects.lists[i].values);
  }
  free (objects.lists);
  self->n_positives[part] = list->n;
  return ok;
}

static bool
add_negatives (Trainer *self, CuvTrainPart part, int round)
{
  const int32_t n = self->params->n_negatives;
  const int32_t n_trees = round == 0 ? 0 : rounds[round - 1];

  return cuv_train_add_negatives (self->scenes[part], self->params, self->trees,
      self->thresholds, n_trees, round == 0 ? n : n / 2,
      self->params->trees.seed + 104729 * (uint64_t) (2 * round + (int) part),
      &self->lists[part]);
}

/* ---- rounds ---- */

int32_t
cuv_train_channels_count (const CuvTrainChannelsParams *params)
{
  int32_t n = params->trees.n_trees;

  for (int i = 0; i < N_ROUNDS && rounds[i] < params->trees.n_trees; i++)
    n += rounds[i];
  return n;
}

static bool
learn_round (Trainer *self, int32_t n_trees)
{
  const CuvTrainSamples learning = samples_of (self, CUV_TRAIN_LEARNING);
  const CuvTrainSamples calibration = samples_of (self, CUV_TRAIN_CALIBRATION);
  CuvTrainTreesParams params = self->params->trees;

  params.n_trees = n_trees;
  return cuv_train_trees (&learning, &calibration, &params, self->trees,
      self->thresholds, &self->final);
}

/* Each round adds negatives to learn from. Those of calibration are only drawn
 * once, from all windows, because all windows meet the rejection thresholds. */
static CuvTrainChannelsState
run_rounds (Trainer *self)
{
  for (int part = 0; part < CUV_TRAIN_N_PARTS; part++) {
    if (!add_positives (self, (CuvTrainPart) part))
      return CUV_TRAIN_CHANNELS_NO_MEMORY;
    if (self->n_positives[part] == 0)
      return CUV_TRAIN_CHANNELS_NO_OBJECTS;
    if (!add_negatives (self, (CuvTrainPart) part, 0))
      return CUV_TRAIN_CHANNELS_NO_MEMORY;
    if (self->lists[part].n == self->n_positives[part])
      return CUV_TRAIN_CHANNELS_NO_NEGATIVES;
  }
  for (int i = 0; i < N_ROUNDS && rounds[i] < self->params->trees.n_trees;
       i++) {
    if (!learn_round (self, rounds[i])
        || !add_negatives (self, CUV_TRAIN_LEARNING, i + 1))
      return CUV_TRAIN_CHANNELS_NO_MEMORY;
  }
  return learn_round (self, self->params->trees.n_trees)
      ? CUV_TRAIN_CHANNELS_DONE
      : CUV_TRAIN_CHANNELS_NO_MEMORY;
}

/* What a watch stopped is not a lack of memory, nor a result. */
static CuvTrainChannelsState
run (Trainer *self)
{
  const CuvTrainChannelsState state = run_rounds (self);

  return cuv_train_is_stopped (self->params->trees.watch)
      ? CUV_TRAIN_CHANNELS_STOPPED
      : state;
}

/* ---- the model ---- */

static CuvChannelsNode
node_of (const CuvChannelsTrees *shape, int32_t feature, uint8_t threshold)
{
  const int32_t n = shape->columns * shape->rows;

  return (CuvChannelsNode){ (uint8_t) (feature / n),
    (uint8_t) (feature % shape->columns),
    (uint8_t) (feature % n / shape->columns), threshold };
}

/* Returns NULL if memory runs out. */
static CuvChannelsModel *
make_model (const Trainer *self)
{
  const CuvTrainTreesParams *params = &self->params->trees;
  const size_t n_nodes = (1u << params->depth) - 1;
  const size_t n_leaves = 1u << params->depth;
  const size_t n_trees = (size_t) params->n_trees;
  CuvChannelsNode *nodes = malloc (n_nodes * n_trees * sizeof *nodes);
  int16_t *leaves = malloc (n_leaves * n_trees * sizeof *leaves);
  CuvChannelsModel model = self->params->shape, *copy = NULL;

  for (size_t i = 0; nodes != NULL && leaves != NULL && i < n_trees; i++) {
    const CuvTrainTree *tree = &self->trees[i];

    for (size_t k = 0; k < n_nodes; k++)
      nodes[i * n_nodes + k] =
          node_of (&model.trees, tree->feature[k], tree->threshold[k]);
    memcpy (leaves + i * n_leaves, tree->leaves, n_leaves * sizeof *leaves);
  }
  model.trees.depth = params->depth;
  model.trees.n_trees = params->n_trees;
  model.trees.nodes = nodes;
  model.trees.leaves = leaves;
  model.trees.thresholds = self->thresholds;
  model.trees.final_threshold = self->final;
  if (nodes != NULL && leaves != NULL)
    copy = cuv_channels_model_copy (&model);
  free (nodes);
  free (leaves);
  return copy;
}

/* ---- entry point ---- */

CuvTrainChannelsState
cuv_train_channels (const CuvTrainScenes *learning,
    const CuvTrainScenes *calibration, const CuvTrainChannelsParams *params,
    CuvChannelsModel **model)
{
  const CuvChannelsTrees *shape = &params->shape.trees;
  const int32_t n_features = CUV_CHANNELS_N * shape->columns * shape->rows;
  Trainer self = { .scenes = { learning, calibration },
    .params = params,
    .lists = { { .n_features = n_features }, { .n_features = n_features } },
    .trees = malloc ((size_t) params->trees.n_trees * sizeof *self.trees),
    .thresholds =
        malloc ((size_t) params->trees.n_trees * sizeof *self.thresholds) };
  CuvTrainChannelsState state = CUV_TRAIN_CHANNELS_NO_MEMORY;

  *model = NULL;
  if (self.trees != NULL && self.thresholds != NULL)
    state = run (&self);
  if (state == CUV_TRAIN_CHANNELS_DONE) {
    *model = make_model (&self);
    if (*model == NULL)
      state = CUV_TRAIN_CHANNELS_NO_MEMORY;
  }
  for (int part = 0; part < CUV_TRAIN_N_PARTS; part++)
    free (self.lists[part].values);
  free (self.trees);
  free (self.thresholds);
  return state;
}
