/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Declarations shared by the files of the learner: learner.c, pool.c,
 * state.c. */
#ifndef CUV_TRAIN_LEARNER_H
#define CUV_TRAIN_LEARNER_H

#include "backend.h"
#include "sample-memory.h"
#include "train.h"

/* The samples of a part: its positives, and its negatives, which are replaced
 * when too many of them are rejected. */
typedef struct {
  CuvTrainSet set;
  CuvTrainMemory codes; /* codes of `set`; empty for calibration */
  /* pixels of sample i begin at i times the window's size */
  CuvTrainMemory pixels;
  bool *alive;
  CuvTrainPictures pictures;
  int32_t n_draws;  /* number of draws of negatives so far */
  double n_windows; /* number of negative windows, 0 before the first draw */
  /* fraction of these windows not rejected at the last draw */
  double rate;
} CuvTrainPool;

/* The decisions of a round, from which samples and sums follow. */
typedef struct {
  CuvTrainWeak weak;
  int32_t threshold;
  /* number of draws of negatives before the round */
  int32_t n_draws[CUV_TRAIN_N_PARTS];
  CuvTrainProgress progress; /* progress after the round */
} CuvTrainRound;

struct _CuvTrainer {
  CuvTrainParams params;
  CuvTrainFeatures features;
  CuvTrainPool pools[CUV_TRAIN_N_PARTS];
  CuvTrainRound *rounds;
  /* the weak classifiers of rounds, as arrays for a CuvGridClassifier */
  CuvGridNode *nodes;
  float *leaves, *thresholds;
  float final_threshold;
  CuvProcessor processor;
  CuvBackend backend; /* closed until the first choice */
  /* limit of device memory for codes; 0 = the free memory */
  size_t max_bytes;
  char problem[CUV_TRAIN_PROBLEM];
  int32_t *sorted; /* scratch memory for the sums of a part */
  int32_t n_weak;
  /* cascade: index of the current stage's first weak classifier */
  int32_t stage;
  bool begun;
};

/* ---- learner.c ---- */

/* Adds rounds[n_weak] to the classifier. */
void cuv_trainer_keep_round (CuvTrainer *self);

/* Returns whether weak classifier k is the last of a cascade's stage. */
bool cuv_trainer_ends_stage (const CuvTrainer *self, int32_t k);

/* ---- pool.c: functions that can fail return false if memory, or the space in
 * the folder, runs out ---- */

void cuv_train_pool_init (CuvTrainPool *self, const char *folder);
void cuv_train_pool_clear (CuvTrainPool *self);

bool cuv_train_pool_add_positive (
    const CuvTrainer *trainer, CuvTrainPool *self, const uint8_t *pixels);

/* Allocates memory for the positives and negatives, and computes the codes of
 * the positives and their sums over the trainer's weak classifiers. */
bool cuv_train_pool_begin (
    const CuvTrainer *trainer, CuvTrainPool *self, bool with_codes);

/* Replaces the negatives by others that the first n_weak weak classifiers do
 * not reject. */
bool cuv_train_pool_draw (
    const CuvTrainer *trainer, CuvTrainPool *self, int32_t n_weak);

/* Adds the leaves of weak classifier k to all samples. */
bool cuv_train_pool_add_leaves (
    const CuvTrainer *trainer, CuvTrainPool *self, int32_t k);

void cuv_train_pool_reject (CuvTrainPool *self, int32_t threshold);

/* Restarts with the remaining samples: sums are 0, masses are as before the
 * first round. */
void cuv_train_pool_begin_stage (CuvTrainPool *self);

/* Returns the fraction of the negatives that a threshold rejects. */
double cuv_train_pool_share_below (const CuvTrainPool *self, int32_t threshold);

/* Return the numbers of positives and negatives that are not rejected. */
int32_t cuv_train_pool_positives (const CuvTrainPool *self);
int32_t cuv_train_pool_negatives (const CuvTrainPool *self);

#endif
