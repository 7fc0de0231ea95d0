/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Saves a training and resumes it. A saved state is a header, which identifies
 * the input of the trainer, and a record of each round. Numbers are in this
 * machine's byte order: other machines may round differently and would
 * continue differently. */
#include "train/learner.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* Increase it when the same samples give another classifier. */
#define VERSION 2

#define MAX_LEAF 65536 /* e of cuv_train_leaves() is not below 2^-32 */

#define MAGIC UINT64_C (0x4e49415254565543) /* "CUVTRAIN" */

/* ---- what a trainer was given ---- */

typedef enum { COUNT, SHARE, CHECKSUM } Kind;

static const struct {
  const char *name;
  Kind kind;
} items[] = {
  { "the version of the state", COUNT },
  { "the kind of the features", COUNT },
  { "the kind of the classifier", COUNT },
  { "the window's width", COUNT },
  { "the window's height", COUNT },
  { "the number of features", COUNT },
  { "the number of weak classifiers", COUNT },
  { "the number of negatives", COUNT },
  { "alpha", SHARE },
  { "the false-positive rate", SHARE },
  { "the share of remaining negatives", SHARE },
  { "the seed", COUNT },
  { "the number of windows to learn from", COUNT },
  { "the windows to learn from", CHECKSUM },
  { "the pictures to learn from", CHECKSUM },
  { "the number of windows to calibrate with", COUNT },
  { "the windows to calibrate with", CHECKSUM },
  { "the pictures to calibrate with", CHECKSUM },
};

enum { N_ITEMS = sizeof items / sizeof *items };

typedef struct {
  uint64_t magic, items[N_ITEMS], checksum;
} Header;

_Static_assert(sizeof (Header) == CUV_TRAIN_HEADER, "its size");
_Static_assert(
    sizeof (CuvTrainParams) == 64 + sizeof (char *), "identify() covers all");

/* crc32_z() restarts if bytes is NULL. */
static uint32_t
checksum (uint32_t before, const void *bytes, size_t size)
{
  return size > 0 ? (uint32_t) crc32_z (before, bytes, size) : before;
}

static uint32_t
checksum_of_picture (uint32_t before, const CuvTrainPicture *picture)
{
  const CuvFrame *frame = &picture->frame;
  const int32_t numbers[] = { frame->width, frame->height, picture->n_boxes };
  uint32_t sum = checksum (before, numbers, sizeof numbers);
  uint8_t row[1024];

  for (int y = 0; y < frame->height; y++) {
    for (int first = 0, n; first < frame->width; first += n) {
      n = frame->width - first < 1024 ? frame->width - first : 1024;
      for (int x = 0; x < n; x++)
        row[x] = cuv_frame_grey (frame, first + x, y);
      sum = checksum (sum, row, (size_t) n);
    }
  }
  return checksum (
      sum, picture->boxes, (size_t) picture->n_boxes * sizeof *picture->boxes);
}

static uint32_t
checksum_of_pictures (const CuvTrainPictures *pictures)
{
  uint32_t sum = 0;

  for (int32_t i = 0; i < pictures->n; i++) {
    CuvTrainPicture picture;

    sum = checksum (sum, &i, sizeof i);
    if (pictures->load (pictures->data, i, &picture))
      sum = checksum_of_picture (sum, &picture);
  }
  return sum;
}

static uint64_t
bits_of (double share)
{
  uint64_t bits;

  memcpy (&bits, &share, sizeof bits);
  return bits;
}

static Header
identify (const CuvTrainer *self)
{
  const CuvTrainParams *params = &self->params;
  Header header = { MAGIC,
    { VERSION, params->feature, params->cascade,
        (uint64_t) params->window_width, (uint64_t) params->window_height,
        (uint64_t) params->n_features, (uint64_t) params->n_weak,
        (uint64_t) params->n_negatives, bits_of (params->alpha),
        bits_of (params->rate), bits_of (params->refill), params->seed },
    0 };
  uint64_t *item = header.items + N_ITEMS - 3 * CUV_TRAIN_N_PARTS;

  for (int p = 0; p < CUV_TRAIN_N_PARTS; p++) {
    const CuvTrainPool *pool = &self->pools[p];
    const size_t n = (size_t) pool->set.n_positives;

    *item++ = n;
    *item++ = checksum (0, pool->pixels.bytes,
        n * (size_t) params->window_width * (size_t) params->window_height);
    *item++ = checksum_of_pictures (&pool->pictures);
  }
  header.checksum = checksum (0, &header, offsetof (Header, checksum));
  return header;
}

void
cuv_trainer_save_header (const CuvTrainer *self, uint8_t *bytes)
{
  const Header header = identify (self);

  memcpy (bytes, &header, sizeof header);
}

/* ---- records ---- */

/* A record without its leaves, which follow. */
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
  return checksum (checksum (0, &k, sizeof k), bytes,
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

/* Returns false if the record is damaged. */
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

static void
tell_difference (int item, uint64_t now, uint64_t saved, char *problem)
{
  const char *name = items[item].name;
  double shares[2];

  memcpy (&shares[0], &now, sizeof now);
  memcpy (&shares[1], &saved, sizeof saved);
  if (items[item].kind == CHECKSUM)
    snprintf (problem, CUV_TRAIN_PROBLEM, "%s are not those of the saved state",
        name);
  else if (items[item].kind == SHARE)
    snprintf (problem, CUV_TRAIN_PROBLEM, "%s is %g, but %g in the saved state",
        name, shares[0], shares[1]);
  else
    snprintf (problem, CUV_TRAIN_PROBLEM,
        "%s is %" PRIi64 ", but %" PRIi64 " in the saved state", name,
        (int64_t) now, (int64_t) saved);
}

static bool
check_header (const CuvTrainer *self, const Header *saved, char *problem)
{
  const Header now = identify (self);

  if (saved->checksum != checksum (0, saved, offsetof (Header, checksum))) {
    snprintf (problem, CUV_TRAIN_PROBLEM, "the saved state is damaged");
    return false;
  }
  for (int i = 0; i < N_ITEMS; i++) {
    if (now.items[i] != saved->items[i]) {
      tell_difference (i, now.items[i], saved->items[i], problem);
      return false;
    }
  }
  return true;
}

size_t
cuv_trainer_restore (
    CuvTrainer *self, const uint8_t *bytes, size_t size, char *problem)
{
  const size_t record_size = cuv_trainer_record_size (self);
  size_t used = sizeof (Header);
  Header saved = { 0 };

  memcpy (&saved, bytes, size < sizeof saved ? size : sizeof saved);
  if (size < sizeof saved || saved.magic != MAGIC) {
    snprintf (
        problem, CUV_TRAIN_PROBLEM, "this is not a saved state of a training");
    return 0;
  }
  if (!check_header (self, &saved, problem))
    return 0;
  for (int32_t k = 0; k < self->params.n_weak && size - used >= record_size
       && restore_record (self, k, bytes + used);
       k++) {
    used += record_size;
    cuv_trainer_keep_round (self);
  }
  return used;
}
