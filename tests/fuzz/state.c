/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Any bytes are a state that training can continue from, or an error. The
 * first byte selects whether header and checksums are corrected before
 * parsing. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include "trees/trainer.h"

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

enum { SIDE = 8, WIDTH = 24, HEIGHT = 16, N_WEAK = 6, N_POSITIVES = 12 };

static uint8_t pixels[WIDTH * HEIGHT];

static bool
load (void *data, int32_t i, CuvTrainPicture *picture)
{
  *picture = (CuvTrainPicture){
    .frame = { .model = CUV_MODEL_GREY,
        .width = WIDTH,
        .height = HEIGHT,
        .n_components = 1,
        .component = { { .data = pixels, .stride = WIDTH, .step = 1 } } }
  };
  return true;
}

static CuvTrainer *
trainer_new (void)
{
  const CuvTrainParams params = { .feature = CUV_FEATURE_LRD,
    .window_width = SIDE,
    .window_height = SIDE,
    .n_features = 20,
    .n_weak = N_WEAK,
    .n_negatives = 30,
    .alpha = 0.1,
    .refill = 0.5,
    .seed = 1 };
  const CuvTrainPictures pictures = { 1, load, NULL };
  CuvTrainer *self = cuv_trainer_new (&params);

  for (size_t i = 0; i < sizeof pixels; i++)
    pixels[i] = (uint8_t) (i * i >> 3);
  for (int i = 0; i < N_POSITIVES; i++)
    cuv_trainer_add_positive (
        self, (CuvTrainPart) (i % CUV_TRAIN_N_PARTS), pixels + 9 * i);
  for (int p = 0; p < CUV_TRAIN_N_PARTS; p++)
    cuv_trainer_set_negatives (self, (CuvTrainPart) p, &pictures);
  return self;
}

/* Computes the checksum as state.c does. */
static void
seal (const CuvTrainer *trainer, uint8_t *bytes, size_t size)
{
  const size_t record = cuv_trainer_record_size (trainer);

  if (size < CUV_TRAIN_HEADER)
    return;
  cuv_trainer_save_header (trainer, bytes);
  for (int32_t k = 0; CUV_TRAIN_HEADER + (size_t) (k + 1) * record <= size;
       k++) {
    uint8_t *at = bytes + CUV_TRAIN_HEADER + (size_t) k * record;
    const uint32_t sum = (uint32_t) crc32_z (
        crc32_z (0, (const uint8_t *) &k, sizeof k), at, record - sizeof sum);

    memcpy (at + record - sizeof sum, &sum, sizeof sum);
  }
}

/* Restores trees on channels from the same bytes without the header. */
static void
restore_trees (const uint8_t *bytes, size_t size, bool sealed)
{
  const CuvTrainChannelsParams params = { .shape.trees = { .columns = 4,
                                              .rows = 4 },
    .trees.depth = CUV_CHANNELS_MAX_DEPTH };
  uint8_t record[CUV_TRAIN_TREE_RECORD];
  CuvTrainTree tree;

  for (int32_t k = 0; size >= sizeof record;
       k++, bytes += sizeof record, size -= sizeof record) {
    memcpy (record, bytes, sizeof record);
    memcpy (&tree, record, sizeof tree);
    if (sealed)
      cuv_train_channels_save_tree (&tree, k, record);
    if (!cuv_train_channels_restore_tree (&params, record, k, &tree))
      continue;
    for (int i = 0; i < CUV_TRAIN_TREE_NODES; i++)
      if (tree.feature[i] < 0 || tree.feature[i] >= 16 * CUV_CHANNELS_N)
        abort ();
  }
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  CuvTrainer *trainer = trainer_new ();
  char problem[CUV_TRAIN_PROBLEM] = "";
  uint8_t *bytes = malloc (size + 1);
  size_t used;

  if (size > 0) {
    memcpy (bytes, data, size);
    if (data[0] & 1)
      seal (trainer, bytes, size);
  }
  restore_trees (data, size, size > 0 && data[0] & 1);
  used = cuv_trainer_restore (trainer, bytes, size, problem);
  if (used > size || (used == 0) != (problem[0] != '\0'))
    abort ();
  if (used > CUV_TRAIN_HEADER)
    cuv_trainer_step (trainer);
  cuv_trainer_free (trainer);
  free (bytes);
  return 0;
}
