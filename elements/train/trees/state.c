/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "trees/trainer.h"
#include "identity.h"

#include <string.h>

/* Increase it when the same pictures give other trees. */
#define VERSION 1

#define MAGIC UINT64_C (0x5345455254565543) /* "CUVTREES" */

static const CuvTrainItem items[] = {
  { "the version of the state", CUV_TRAIN_COUNT },
  { "the window's width in blocks", CUV_TRAIN_COUNT },
  { "the window's height in blocks", CUV_TRAIN_COUNT },
  { "the side of a block", CUV_TRAIN_COUNT },
  { "the overhang of windows", CUV_TRAIN_COUNT },
  { "the number of levels per octave", CUV_TRAIN_COUNT },
  { "the object's rectangle", CUV_TRAIN_COUNT },
  { "the depth of trees", CUV_TRAIN_COUNT },
  { "the number of trees", CUV_TRAIN_COUNT },
  { "the fraction of features", CUV_TRAIN_SHARE },
  { "alpha", CUV_TRAIN_SHARE },
  { "the seed", CUV_TRAIN_COUNT },
  { "the number of copies", CUV_TRAIN_COUNT },
  { "the number of negatives", CUV_TRAIN_COUNT },
  { "mirroring", CUV_TRAIN_COUNT },
  { "the number of pictures to learn from", CUV_TRAIN_COUNT },
  { "the pictures to learn from", CUV_TRAIN_CHECKSUM },
  { "the number of pictures to calibrate with", CUV_TRAIN_COUNT },
  { "the pictures to calibrate with", CUV_TRAIN_CHECKSUM },
};

enum { N_ITEMS = sizeof items / sizeof *items };

_Static_assert((N_ITEMS + 2) * sizeof (uint64_t) == CUV_TRAIN_TREES_HEADER,
    "the items must fill the header");

/* ---- what a training was given ---- */

static uint32_t
checksum_of_scene (uint32_t before, const CuvTrainScene *scene)
{
  const CuvChannelsPicture *picture = &scene->picture;
  const int32_t numbers[] = { picture->width, picture->height, scene->n_objects,
    scene->n_boxes };
  uint32_t sum = cuv_train_checksum (before, numbers, sizeof numbers);

  for (int i = 0; i < CUV_CHANNELS_COLORS; i++)
    sum = cuv_train_checksum (sum, picture->plane[i],
        (size_t) picture->width * (size_t) picture->height);
  sum = cuv_train_checksum (
      sum, scene->objects, (size_t) scene->n_objects * sizeof *scene->objects);
  return cuv_train_checksum (
      sum, scene->boxes, (size_t) scene->n_boxes * sizeof *scene->boxes);
}

static uint64_t
checksum_of_scenes (const CuvTrainScenes *scenes)
{
  uint32_t sum = 0;

  for (int32_t i = 0; i < scenes->n; i++)
    sum = checksum_of_scene (sum, &scenes->scenes[i]);
  return sum;
}

static CuvTrainIdentity
identify_trees (const CuvTrainScenes *learning,
    const CuvTrainScenes *calibration, const CuvTrainChannelsParams *params)
{
  const CuvTrainTreesParams *trees = &params->trees;
  const CuvChannelsTrees *shape = &params->shape.trees;
  const int32_t *object = params->shape.object;
  const uint64_t rectangle = ((uint64_t) object[0] << 48)
      + ((uint64_t) object[1] << 32) + ((uint64_t) object[2] << 16)
      + (uint64_t) object[3];

  return (CuvTrainIdentity){ MAGIC, items, N_ITEMS,
    { VERSION, (uint64_t) shape->columns, (uint64_t) shape->rows,
        (uint64_t) shape->shrink, (uint64_t) shape->overhang,
        (uint64_t) params->shape.levels, rectangle, (uint64_t) trees->depth,
        (uint64_t) trees->n_trees, cuv_train_bits_of (trees->share),
        cuv_train_bits_of (trees->alpha), trees->seed,
        (uint64_t) params->n_copies, (uint64_t) params->n_negatives,
        params->mirror, (uint64_t) learning->n, checksum_of_scenes (learning),
        (uint64_t) calibration->n, checksum_of_scenes (calibration) } };
}

void
cuv_train_channels_save_header (const CuvTrainScenes *learning,
    const CuvTrainScenes *calibration, const CuvTrainChannelsParams *params,
    uint8_t *bytes)
{
  const CuvTrainIdentity identity =
      identify_trees (learning, calibration, params);

  cuv_train_identity_write (&identity, bytes);
}

bool
cuv_train_channels_check_header (const CuvTrainScenes *learning,
    const CuvTrainScenes *calibration, const CuvTrainChannelsParams *params,
    const uint8_t *bytes, size_t size, char *problem)
{
  const CuvTrainIdentity identity =
      identify_trees (learning, calibration, params);

  return cuv_train_identity_check (&identity, bytes, size, problem);
}

/* ---- trees ---- */

static uint32_t
checksum_of_tree (int32_t number, const uint8_t *bytes)
{
  return cuv_train_checksum (cuv_train_checksum (0, &number, sizeof number),
      bytes, sizeof (CuvTrainTree));
}

void
cuv_train_channels_save_tree (
    const CuvTrainTree *tree, int32_t number, uint8_t *bytes)
{
  uint32_t sum;

  memcpy (bytes, tree, sizeof *tree);
  sum = checksum_of_tree (number, bytes);
  memcpy (bytes + sizeof *tree, &sum, sizeof sum);
}

bool
cuv_train_channels_restore_tree (const CuvTrainChannelsParams *params,
    const uint8_t *bytes, int32_t number, CuvTrainTree *tree)
{
  const CuvChannelsTrees *shape = &params->shape.trees;
  const int32_t n_features = CUV_CHANNELS_N * shape->columns * shape->rows;
  uint32_t sum;
  bool ok;

  memcpy (tree, bytes, sizeof *tree);
  memcpy (&sum, bytes + sizeof *tree, sizeof sum);
  ok = sum == checksum_of_tree (number, bytes);
  for (int i = 0; i < (1 << params->trees.depth) - 1; i++)
    ok = ok && tree->feature[i] >= 0 && tree->feature[i] < n_features
        && tree->threshold[i] > 0;
  return ok;
}
