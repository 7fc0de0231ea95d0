/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The trainer, which adds weak classifiers and their rejection thresholds until
 * the classifier is good enough. */
#include "reference/waldboost-reference.h"
#include "learner.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* A stage of a cascade ends when its threshold rejects this fraction of the
 * negatives with which the stage began; with a small fraction each stage would
 * have little to learn. The last stage has at least half of the weak
 * classifiers, because its sum alone is the score. Measured in
 * docs/benchmarks/training.md, "Cascades for OpenCV": row "128, 70 %, half or
 * more". */
#define STAGE_REJECTS 0.7
#define LAST_STAGE 0.5

/* ---- making and freeing ---- */

CuvTrainer *
cuv_trainer_new (const CuvTrainParams *params)
{
  CuvTrainer *self = calloc (1, sizeof *self);
  const size_t n = (size_t) params->n_weak;

  if (self == NULL)
    return NULL;
  self->params = *params;
  for (int p = 0; p < CUV_TRAIN_N_PARTS; p++)
    cuv_train_pool_init (&self->pools[p], params->folder);
  self->rounds = malloc ((n + 1) * sizeof *self->rounds);
  self->nodes = malloc ((n + 1) * sizeof *self->nodes);
  self->leaves = malloc ((n + 1) * CUV_TRAIN_MAX_CODES * sizeof *self->leaves);
  self->thresholds = malloc ((n + 1) * sizeof *self->thresholds);
  if (self->rounds == NULL || self->nodes == NULL || self->leaves == NULL
      || self->thresholds == NULL
      || !cuv_train_features_init (&self->features, params->feature,
          params->window_width, params->window_height, params->n_features,
          params->seed)) {
    cuv_trainer_free (self);
    return NULL;
  }
  self->features.cascade = params->cascade;
  return self;
}

void
cuv_trainer_free (CuvTrainer *self)
{
  if (self == NULL)
    return;
  for (int i = 0; i < CUV_TRAIN_N_PARTS; i++)
    cuv_train_pool_clear (&self->pools[i]);
  cuv_train_features_clear (&self->features);
  free (self->rounds);
  free (self->nodes);
  free (self->leaves);
  free (self->thresholds);
  free (self->sorted);
  cuv_backend_close (&self->backend);
  free (self);
}

bool
cuv_trainer_add_positive (
    CuvTrainer *self, CuvTrainPart part, const uint8_t *pixels)
{
  return cuv_train_pool_add_positive (self, &self->pools[part], pixels);
}

void
cuv_trainer_set_negatives (
    CuvTrainer *self, CuvTrainPart part, const CuvTrainPictures *pictures)
{
  self->pools[part].pictures = *pictures;
}

/* ---- negatives ---- */

static bool
needs_negatives (const CuvTrainer *self, const CuvTrainPool *pool)
{
  const int32_t n = pool->set.n - pool->set.n_positives;

  if (self->params.cascade)
    return self->n_weak == self->stage;
  return pool->n_draws == 0
      || cuv_train_pool_negatives (pool) < self->params.refill * n;
}

/* ---- rejection ---- */

/* Sorts by one byte of the differences from INT32_MIN. */
static void
sort_by_byte (const int32_t *in, int32_t n, int shift, int32_t *out)
{
  int32_t at[257] = { 0 };

  for (int32_t i = 0; i < n; i++)
    at[(((uint32_t) in[i] - (uint32_t) INT32_MIN) >> shift & 255) + 1]++;
  for (int byte = 0; byte < 256; byte++)
    at[byte + 1] += at[byte];
  for (int32_t i = 0; i < n; i++)
    out[at[((uint32_t) in[i] - (uint32_t) INT32_MIN) >> shift & 255]++] = in[i];
}

/* Sorts by radix; qsort() took 10 % of the time of a training. */
static void
sort (int32_t *sums, int32_t n, int32_t *scratch)
{
  for (int shift = 0; shift < 32; shift += 16) {
    sort_by_byte (sums, n, shift, scratch);
    sort_by_byte (scratch, n, shift + 8, sums);
  }
}

/* Returns the sums of samples first to end - 1 that are not rejected. rate:
 * fraction of the class that these samples stand for. sorted: memory for twice
 * as many sums, half of it scratch. */
static CuvTrainLiving
living (const CuvTrainPool *pool, int32_t first, int32_t end, double rate,
    int32_t *sorted)
{
  int32_t n = 0;

  for (int32_t i = first; i < end; i++) {
    if (pool->alive[i])
      sorted[n++] = pool->set.sums[i];
  }
  sort (sorted, n, sorted + n);
  return (
      CuvTrainLiving){ sorted, n, end > first ? rate * n / (end - first) : 0 };
}

static bool
may_end_stage (const CuvTrainer *self, int32_t threshold)
{
  return self->n_weak + 1 <= LAST_STAGE * self->params.n_weak
      && cuv_train_pool_share_below (
             &self->pools[CUV_TRAIN_CALIBRATION], threshold)
      >= STAGE_REJECTS;
}

/* Returns the threshold of this round. In a cascade, the threshold ends the
 * stage, or there is none. */
static int32_t
find_threshold (const CuvTrainer *self)
{
  const CuvTrainPool *pool = &self->pools[CUV_TRAIN_CALIBRATION];
  const int32_t n_positives = pool->set.n_positives;
  const CuvTrainLiving positives =
      living (pool, 0, n_positives, 1, self->sorted);
  const CuvTrainLiving negatives = living (
      pool, n_positives, pool->set.n, pool->rate, self->sorted + n_positives);
  const int32_t threshold =
      cuv_train_threshold (&positives, &negatives, self->params.alpha);

  return self->params.cascade && !may_end_stage (self, threshold)
      ? CUV_TRAIN_NO_THRESHOLD
      : threshold;
}

/* Returns the final threshold, which rejects at most the fraction alpha of
 * calibration's positives that have not been rejected before. */
static float
find_final_threshold (const CuvTrainer *self)
{
  const CuvTrainPool *pool = &self->pools[CUV_TRAIN_CALIBRATION];
  const CuvTrainLiving positives =
      living (pool, 0, pool->set.n_positives, 1, self->sorted);
  const int32_t n_missed = (int32_t) (self->params.alpha * positives.n);

  if (positives.n == 0)
    return 0;
  return ldexpf ((float) (positives.sums[n_missed] - 1), -CUV_TRAIN_LEAF_BITS);
}

/* ---- the processor ---- */

void
cuv_trainer_set_processor (CuvTrainer *self, const CuvProcessor *processor)
{
  cuv_backend_close (&self->backend);
  self->processor = *processor;
}

const char *
cuv_trainer_problem (const CuvTrainer *self)
{
  return self->problem;
}

/* ---- a weak classifier ---- */

/* Keeps leaves and thresholds as float, which is exact. */
static void
keep_weak (CuvTrainer *self, int32_t k)
{
  const CuvTrainWeak *weak = &self->rounds[k].weak;
  const int n_codes = self->features.n_codes;

  self->nodes[k] = self->features.nodes[weak->feature];
  for (int code = 0; code < n_codes; code++)
    self->leaves[k * n_codes + code] =
        ldexpf ((float) weak->leaves[code], -CUV_TRAIN_LEAF_BITS);
}

static void
keep_threshold (CuvTrainer *self, int32_t k)
{
  const int32_t threshold = self->rounds[k].threshold;

  self->thresholds[k] = threshold == CUV_TRAIN_NO_THRESHOLD
      ? -INFINITY
      : ldexpf ((float) threshold, -CUV_TRAIN_LEAF_BITS);
}

bool
cuv_trainer_ends_stage (const CuvTrainer *self, int32_t k)
{
  return self->params.cascade
      && self->rounds[k].threshold != CUV_TRAIN_NO_THRESHOLD;
}

void
cuv_trainer_keep_round (CuvTrainer *self)
{
  keep_weak (self, self->n_weak);
  keep_threshold (self, self->n_weak);
  self->n_weak++;
  if (cuv_trainer_ends_stage (self, self->n_weak - 1))
    self->stage = self->n_weak;
}

/* Chooses a feature and returns CUV_TRAIN_CONTINUE, or why it failed. */
static CuvTrainState
choose_feature (CuvTrainer *self, int32_t *feature)
{
  const CuvTrainPool *pool = &self->pools[CUV_TRAIN_LEARNING];
  const char *problem = NULL;

  if (self->backend.klass == NULL)
    problem = cuv_train_backend_open (&self->backend, &self->features,
        (int32_t) pool->set.pitch, self->max_bytes, &self->processor);
  if (problem == NULL)
    problem = cuv_train_backend_choose (
        &self->backend, &pool->set, pool->n_draws, feature, &self->processor);
  if (problem == NULL)
    return CUV_TRAIN_CONTINUE;
  snprintf (self->problem, sizeof self->problem, "%s", problem);
  return self->processor.on_device ? CUV_TRAIN_NO_DEVICE : CUV_TRAIN_NO_MEMORY;
}

static CuvTrainState
add_weak (CuvTrainer *self)
{
  CuvTrainPool *learning = &self->pools[CUV_TRAIN_LEARNING];
  CuvTrainSet *set = &learning->set;
  CuvTrainRound *round = &self->rounds[self->n_weak];
  CuvTrainState state;
  int32_t feature;

  set->n_alive =
      cuv_train_pool_positives (learning) + cuv_train_pool_negatives (learning);
  cuv_train_weigh (set);
  state = choose_feature (self, &feature);
  if (state != CUV_TRAIN_CONTINUE)
    return state;
  cuv_train_learn (&self->features, set, feature, &round->weak);
  keep_weak (self, self->n_weak);
  if (!cuv_train_pool_add_leaves (
          self, &self->pools[CUV_TRAIN_CALIBRATION], self->n_weak))
    return CUV_TRAIN_NO_MEMORY;
  round->threshold = find_threshold (self);
  cuv_trainer_keep_round (self);
  for (int p = 0; p < CUV_TRAIN_N_PARTS; p++) {
    cuv_train_pool_reject (&self->pools[p], round->threshold);
    if (self->stage == self->n_weak)
      cuv_train_pool_begin_stage (&self->pools[p]);
    round->n_draws[p] = self->pools[p].n_draws;
  }
  self->final_threshold = find_final_threshold (self);
  round->progress = cuv_trainer_progress (self);
  return CUV_TRAIN_CONTINUE;
}

/* ---- the beginning ---- */

/* Draws the negatives of the last round again, with the classifier that drew
 * them before. */
static bool
draw_again (CuvTrainer *self, CuvTrainPart part)
{
  const int32_t n = self->rounds[self->n_weak - 1].n_draws[part];
  int32_t k = self->n_weak - 1;

  while (k > 0 && self->rounds[k - 1].n_draws[part] == n)
    k--;
  self->pools[part].n_draws = n - 1;
  return cuv_train_pool_draw (self, &self->pools[part], k);
}

static bool
begin_pools (CuvTrainer *self)
{
  bool ok = true;

  for (int p = 0; p < CUV_TRAIN_N_PARTS && ok; p++)
    ok = cuv_train_pool_begin (self, &self->pools[p], p == CUV_TRAIN_LEARNING)
        && (self->n_weak == 0 || draw_again (self, (CuvTrainPart) p));
  return ok;
}

static bool
begin_training (CuvTrainer *self)
{
  if (!begin_pools (self))
    return false;
  self->sorted = malloc (
      2 * self->pools[CUV_TRAIN_CALIBRATION].set.pitch * sizeof *self->sorted);
  self->begun = self->sorted != NULL;
  if (self->begun && self->n_weak > 0)
    self->final_threshold = find_final_threshold (self);
  return self->begun;
}

/* ---- a step ---- */

static bool
is_done (const CuvTrainer *self)
{
  return self->n_weak == self->params.n_weak
      || (self->n_weak > 0
          && cuv_trainer_progress (self).rate <= self->params.rate);
}

CuvTrainState
cuv_trainer_failure (const CuvTrainer *self)
{
  bool is_full = false;

  for (int p = 0; p < CUV_TRAIN_N_PARTS; p++)
    is_full = is_full || self->pools[p].codes.is_full
        || self->pools[p].pixels.is_full;
  return is_full ? CUV_TRAIN_NO_SPACE : CUV_TRAIN_NO_MEMORY;
}

CuvTrainState
cuv_trainer_step (CuvTrainer *self)
{
  const CuvTrainPool *learning = &self->pools[CUV_TRAIN_LEARNING];

  if (!self->begun && !begin_training (self))
    return cuv_trainer_failure (self);
  if (is_done (self))
    return CUV_TRAIN_DONE;
  if (cuv_train_pool_positives (learning) == 0)
    return CUV_TRAIN_NO_POSITIVES;
  for (int p = 0; p < CUV_TRAIN_N_PARTS; p++) {
    if (needs_negatives (self, &self->pools[p])
        && !cuv_train_pool_draw (self, &self->pools[p], self->n_weak))
      return cuv_trainer_failure (self);
  }
  if (cuv_train_pool_negatives (learning) == 0)
    return CUV_TRAIN_NO_NEGATIVES;
  return add_weak (self);
}

/* ---- the result ---- */

CuvTrainProgress
cuv_trainer_progress (const CuvTrainer *self)
{
  const CuvTrainPool *pool = &self->pools[CUV_TRAIN_CALIBRATION];
  const int32_t n_positives = pool->set.n_positives;
  const int32_t n_negatives = pool->set.n - n_positives;
  CuvTrainProgress progress = { .n_weak = self->n_weak };

  if (!self->begun)
    return progress;
  for (int p = 0; p < CUV_TRAIN_N_PARTS; p++) {
    progress.alive[p][0] = cuv_train_pool_negatives (&self->pools[p]);
    progress.alive[p][1] = cuv_train_pool_positives (&self->pools[p]);
  }
  if (n_negatives > 0)
    progress.rate =
        pool->rate * progress.alive[CUV_TRAIN_CALIBRATION][0] / n_negatives;
  if (n_positives > 0)
    progress.recall =
        (double) progress.alive[CUV_TRAIN_CALIBRATION][1] / n_positives;
  return progress;
}

CuvTrainProgress
cuv_trainer_progress_after (const CuvTrainer *self, int32_t n_weak)
{
  return self->rounds[n_weak - 1].progress;
}

CuvGridClassifier
cuv_trainer_classifier (const CuvTrainer *self)
{
  return (CuvGridClassifier){ .feature = self->params.feature,
    .cascade = self->params.cascade,
    .window_width = self->params.window_width,
    .window_height = self->params.window_height,
    .n_weak = self->n_weak,
    .n_codes = self->features.n_codes,
    .nodes = self->nodes,
    .leaves = self->leaves,
    .thresholds = self->thresholds,
    .final_threshold = self->final_threshold };
}
