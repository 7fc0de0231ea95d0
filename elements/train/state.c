/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Saves a training and resumes it. A saved state has a header, which identifies
 * the trainer's input, and a record of each round. */
#include "identity.h"
#include "learner.h"

#include <string.h>

/* Increase it when the same samples result in another classifier. */
#define VERSION 2

/* magnitude; sufficient, as e in cuv_train_leaves() is at least 2^-32 */
#define MAX_LEAF 65536

#define MAGIC UINT64_C (0x4e49415254565543) /* "CUVTRAIN" */

/* ---- the trainer's input ---- */

static const CuvTrainItem items[] = {
  { "the version of the state", CUV_TRAIN_COUNT },
  { "the kind of the features", CUV_TRAIN_COUNT },
  { "the kind of the classifier", CUV_TRAIN_COUNT },
  { "the window's width", CUV_TRAIN_COUNT },
  { "the window's height", CUV_TRAIN_COUNT },
  { "the number of features", CUV_TRAIN_COUNT },
  { "the number of weak classifiers", CUV_TRAIN_COUNT },
  { "the number of negatives", CUV_TRAIN_COUNT },
  { "alpha", CUV_TRAIN_SHARE },
  { "the false-positive rate", CUV_TRAIN_SHARE },
  { "the fraction of remaining negatives", CUV_TRAIN_SHARE },
  { "the seed", CUV_TRAIN_COUNT },
  { "the number of windows to learn from", CUV_TRAIN_COUNT },
  { "the windows to learn from", CUV_TRAIN_CHECKSUM },
  { "the pictures to learn from", CUV_TRAIN_CHECKSUM },
  { "the number of windows to calibrate with", CUV_TRAIN_COUNT },
  { "the windows to calibrate with", CUV_TRAIN_CHECKSUM },
  { "the pictures to calibrate with", CUV_TRAIN_CHECKSUM },
};

enum { N_ITEMS = sizeof items / sizeof *items };

_Static_assert((N_ITEMS + 2) * sizeof (uint64_t) == CUV_TRAIN_HEADER
        && (int) N_ITEMS <= CUV_TRAIN_MAX_ITEMS,
    "the items must fill the header");
_Static_assert(
    sizeof (CuvTrainParams) == 64 + sizeof (char *), "identify() covers all");

static uint32_t
checksum_of_picture (uint32_t before, const CuvTrainPicture *picture)
{
  const CuvFrame *frame = &picture->frame;
  const int32_t numbers[] = { frame->width, frame->height, picture->n_boxes };
  uint32_t sum = cuv_train_checksum (before, numbers, sizeof numbers);
  uint8_t row[1024];

  for (int y = 0; y < frame->height; y++) {
    for (int first = 0, n; first < frame->width; first += n) {
      n = frame->width - first < 1024 ? frame->width - first : 1024;
      for (int x = 0; x < n; x++)
        row[x] = cuv_frame_grey (frame, first + x, y);
      sum = cuv_train_checksum (sum, row, (size_t) n);
    }
  }
  return cuv_train_checksum (
      sum, picture->boxes, (size_t) picture->n_boxes * sizeof *picture->boxes);
}

static uint32_t
checksum_of_pictures (const CuvTrainPictures *pictures)
{
  uint32_t sum = 0;

  for (int32_t i = 0; i < pictures->n; i++) {
    CuvTrainPicture picture;

    sum = cuv_train_checksum (sum, &i, sizeof i);
    if (pictures->load (pictures->data, i, &picture))
      sum = checksum_of_picture (sum, &picture);
  }
  return sum;
}

static CuvTrainIdentity
identify (const CuvTrainer *self)
{
  const CuvTrainParams *params = &self->params;
  CuvTrainIdentity identity = { MAGIC, items, N_ITEMS,
    { VERSION, params->feature, params->cascade,
        (uint64_t) params->window_width, (uint64_t) params->window_height,
        (uint64_t) params->n_features, (uint64_t) params->n_weak,
        (uint64_t) params->n_negatives, cuv_train_bits_of (params->alpha),
        cuv_train_bits_of (params->rate), cuv_train_bits_of (params->refill),
        params->seed } };
  uint64_t *item = identity.values + N_ITEMS - 3 * CUV_TRAIN_N_PARTS;

  for (int p = 0; p < CUV_TRAIN_N_PARTS; p++) {
    const CuvTrainPool *pool = &self->pools[p];
    const size_t n = (size_t) pool->set.n_positives;

    *item++ = n;
    *item++ = cuv_train_checksum (0, pool->pixels.bytes,
        n * (size_t) params->window_width * (size_t) params->window_height);
    *item++ = checksum_of_pictures (&pool->pictures);
  }
  return identity;
}

void
cuv_trainer_save_header (const CuvTrainer *self, uint8_t *bytes)
{
  const CuvTrainIdentity identity = identify (self);

  cuv_train_identity_write (&identity, bytes);
}

/* ---- records ---- */

/* A record, except for its leaves, which follow. */
typedef struct {
  int32_t feature, threshold, n_draws[CUV_TRAIN_N_PARTS];
  int32_t alive[CUV_TRAIN_N_PARTS][2];
  double rate, recall;
} Record;

static size_t
size_of_leaves (const CuvTrainer *self)
{
  return (size_t) self->features.n_codes * sizeof (int32_t);
}

size_t
cuv_trainer_record_size (const CuvTrainer *self)
{
  return sizeof (Record) + size_of_leaves (self) + sizeof (uint32_t);
}

static uint32_t
checksum_of_record (const CuvTrainer *self, int32_t k, const uint8_t *bytes)
{
  return cuv_train_checksum (cuv_train_checksum (0, &k, sizeof k), bytes,
      sizeof (Record) + size_of_leaves (self));
}

void
cuv_trainer_save_record (const CuvTrainer *self, int32_t k, uint8_t *bytes)
{
  const CuvTrainRound *round = &self->rounds[k];
  Record record = { .feature = round->weak.feature,
    .threshold = round->threshold,
    .rate = round->progress.rate,
    .recall = round->progress.recall };
  uint32_t sum;

  memcpy (record.n_draws, round->n_draws, sizeof record.n_draws);
  memcpy (record.alive, round->progress.alive, sizeof record.alive);
  memcpy (bytes, &record, sizeof record);
  memcpy (bytes + sizeof record, round->weak.leaves, size_of_leaves (self));
  sum = checksum_of_record (self, k, bytes);
  memcpy (bytes + sizeof record + size_of_leaves (self), &sum, sizeof sum);
}

/* ---- resuming ---- */

static bool
is_possible (const CuvTrainer *self, const CuvTrainRound *round, int32_t k)
{
  bool ok = round->weak.feature >= 0 && round->weak.feature < self->features.n;

  for (int p = 0; p < CUV_TRAIN_N_PARTS; p++) {
    const int32_t before = k > 0 ? round[-1].n_draws[p] : 0;

    ok = ok
        && (round->n_draws[p] == before + 1
            || (k > 0 && round->n_draws[p] == before));
  }
  for (int code = 0; code < self->features.n_codes; code++)
    ok = ok && round->weak.leaves[code] >= -MAX_LEAF
        && round->weak.leaves[code] <= MAX_LEAF;
  return ok;
}

/* Restores a round. Returns false if the record is damaged. */
static bool
restore_record (CuvTrainer *self, int32_t k, const uint8_t *bytes)
{
  CuvTrainRound *round = &self->rounds[k];
  Record record;
  uint32_t sum;

  memcpy (&record, bytes, sizeof record);
  memcpy (round->weak.leaves, bytes + sizeof record, size_of_leaves (self));
  memcpy (&sum, bytes + sizeof record + size_of_leaves (self), sizeof sum);
  round->weak.feature = record.feature;
  round->threshold = record.threshold;
  round->progress = (CuvTrainProgress){
    .n_weak = k + 1, .rate = record.rate, .recall = record.recall
  };
  memcpy (round->n_draws, record.n_draws, sizeof record.n_draws);
  memcpy (round->progress.alive, record.alive, sizeof record.alive);
  return sum == checksum_of_record (self, k, bytes)
      && is_possible (self, round, k);
}

size_t
cuv_trainer_restore (
    CuvTrainer *self, const uint8_t *bytes, size_t size, char *problem)
{
  const size_t record_size = cuv_trainer_record_size (self);
  const CuvTrainIdentity identity = identify (self);
  size_t used = CUV_TRAIN_HEADER;

  if (!cuv_train_identity_check (&identity, bytes, size, problem))
    return 0;
  for (int32_t k = 0; k < self->params.n_weak && size - used >= record_size
       && restore_record (self, k, bytes + used);
       k++) {
    used += record_size;
    cuv_trainer_keep_round (self);
  }
  return used;
}
