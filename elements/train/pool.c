/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The samples of a part (learning or calibration): keeps positives, negatives,
 * their codes and sums, and replaces negatives when too many are rejected. */
#include "cpu/codes.h"
#include "learner.h"

#include <stdlib.h>
#include <string.h>

static size_t
window_size (const CuvTrainer *trainer)
{
  return (size_t) trainer->params.window_width
      * (size_t) trainer->params.window_height;
}

static uint8_t *
pixels_of (const CuvTrainer *trainer, const CuvTrainPool *self, int32_t i)
{
  return self->pixels.bytes + (size_t) i * window_size (trainer);
}

/* ---- samples that are not rejected ---- */

/* Returns the number of remaining samples among samples first to end - 1. */
static int32_t
count_alive (const CuvTrainPool *self, int32_t first, int32_t end)
{
  int32_t n = 0;

  for (int32_t i = first; i < end; i++)
    n += self->alive[i];
  return n;
}

int32_t
cuv_train_pool_positives (const CuvTrainPool *self)
{
  return count_alive (self, 0, self->set.n_positives);
}

int32_t
cuv_train_pool_negatives (const CuvTrainPool *self)
{
  return count_alive (self, self->set.n_positives, self->set.n);
}

static void
reject_samples (
    CuvTrainPool *self, int32_t first, int32_t end, int32_t threshold)
{
  for (int32_t i = first; i < end; i++) {
    if (self->alive[i] && self->set.sums[i] < threshold) {
      self->alive[i] = false;
      self->set.masses[i] = 0;
    }
  }
}

void
cuv_train_pool_reject (CuvTrainPool *self, int32_t threshold)
{
  reject_samples (self, 0, self->set.n, threshold);
}

double
cuv_train_pool_share_below (const CuvTrainPool *self, int32_t threshold)
{
  int32_t n = 0, n_below = 0;

  for (int32_t i = self->set.n_positives; i < self->set.n; i++) {
    n += self->alive[i];
    n_below += self->alive[i] && self->set.sums[i] < threshold;
  }
  return n > 0 ? (double) n_below / n : 0;
}

/* ---- stages of a cascade ---- */

/* Begins a stage for samples first to end - 1, which are of one class. */
static void
begin_stage (CuvTrainPool *self, int32_t first, int32_t end)
{
  const double mass = 0.5 / count_alive (self, first, end);

  for (int32_t i = first; i < end; i++) {
    self->set.sums[i] = 0;
    if (self->alive[i])
      self->set.masses[i] = mass;
  }
}

void
cuv_train_pool_begin_stage (CuvTrainPool *self)
{
  begin_stage (self, 0, self->set.n_positives);
  begin_stage (self, self->set.n_positives, self->set.n);
}

/* ---- leaves ---- */

/* Computes codes of samples first to end - 1 for the features of n_weak weak
 * classifiers, beginning with first_weak: the code of sample first + i for weak
 * classifier first_weak + k is at k * (end - first) + i. Returns NULL if memory
 * runs out. */
static uint8_t *
code_weak (const CuvTrainer *trainer, const CuvTrainPool *self, int32_t first,
    int32_t end, int32_t first_weak, int32_t n_weak)
{
  CuvTrainFeatures chosen = trainer->features;
  const size_t n = (size_t) (end - first);
  uint8_t *codes = malloc (n * (size_t) n_weak + 1);

  chosen.nodes = trainer->nodes + first_weak;
  chosen.n = n_weak;
  if (codes == NULL
      || cuv_train_code_samples (
          &chosen, pixels_of (trainer, self, first), end - first, codes, n, 0))
    return codes;
  free (codes);
  return NULL;
}

bool
cuv_train_pool_add_leaves (
    const CuvTrainer *trainer, CuvTrainPool *self, int32_t k)
{
  uint8_t *codes = code_weak (trainer, self, 0, self->set.n, k, 1);

  if (codes == NULL)
    return false;
  cuv_train_add_leaves (&self->set, 0, self->set.n,
      trainer->rounds[k].weak.leaves, trainer->features.n_codes, codes);
  free (codes);
  return true;
}

/* Computes codes of all features for samples first to end - 1. The codes of a
 * sample are on as many pages as there are features. */
static bool
code_all (
    const CuvTrainer *trainer, CuvTrainPool *self, int32_t first, int32_t end)
{
  bool ok;

  cuv_train_memory_expect (&self->codes, true);
  ok = cuv_train_code_samples (&trainer->features,
      pixels_of (trainer, self, first), end - first, self->codes.bytes + first,
      self->set.pitch, 0);
  cuv_train_memory_expect (&self->codes, false);
  return ok;
}

/* ---- the order of samples ---- */

typedef struct {
  double mass;
  int32_t sum, i;
  bool alive;
} Sample;

static int
compare_masses (const void *a, const void *b)
{
  const Sample *one = a, *other = b;

  if (one->mass != other->mass)
    return one->mass < other->mass ? 1 : -1;
  return one->i - other->i;
}

/* Sorts samples by descending mass. pixels: scratch memory. */
static void
put_in_order (const CuvTrainer *trainer, CuvTrainPool *self, int32_t first,
    int32_t n, Sample *samples, uint8_t *pixels)
{
  const size_t size = window_size (trainer);

  for (int32_t k = 0; k < n; k++) {
    const int32_t i = first + k;

    samples[k] =
        (Sample){ self->set.masses[i], self->set.sums[i], i, self->alive[i] };
  }
  qsort (samples, (size_t) n, sizeof *samples, compare_masses);
  for (int32_t k = 0; k < n; k++) {
    memcpy (pixels + (size_t) k * size, pixels_of (trainer, self, samples[k].i),
        size);
    self->set.masses[first + k] = samples[k].mass;
    self->set.sums[first + k] = samples[k].sum;
    self->alive[first + k] = samples[k].alive;
  }
  memcpy (pixels_of (trainer, self, first), pixels, (size_t) n * size);
}

/* Puts heavy samples first. The choice of features counts them first, and for
 * most features no others: if they are adjacent in memory, their codes take
 * fewer cache lines (a choice takes 41 instead of 47 ms:
 * docs/benchmarks/training.md, first section). Masses change, but heavy samples
 * stay heavy for some rounds. */
static bool
put_heaviest_first (
    const CuvTrainer *trainer, CuvTrainPool *self, int32_t first, int32_t end)
{
  const size_t n = (size_t) (end - first);
  Sample *samples = malloc (n * sizeof *samples + 1);
  uint8_t *pixels = malloc (n * window_size (trainer) + 1);
  const bool ok = samples != NULL && pixels != NULL;

  if (ok)
    put_in_order (trainer, self, first, end - first, samples, pixels);
  free (samples);
  free (pixels);
  return ok;
}

/* ---- sums of new samples ---- */

/* Gives new samples of one class the sums and masses that they would have if
 * they had been there since the first round. */
static bool
catch_up (
    const CuvTrainer *trainer, CuvTrainPool *self, int32_t first, int32_t end)
{
  const size_t n = (size_t) (end - first);
  uint8_t *codes = code_weak (trainer, self, first, end, 0, trainer->n_weak);

  if (codes == NULL)
    return false;
  for (int32_t i = first; i < end; i++)
    self->alive[i] = true;
  cuv_train_begin_class (&self->set, first, end);
  for (int32_t k = 0; k < trainer->n_weak; k++) {
    const CuvTrainRound *round = &trainer->rounds[k];

    cuv_train_add_leaves (&self->set, first, end, round->weak.leaves,
        trainer->features.n_codes, codes + (size_t) k * n);
    reject_samples (self, first, end, round->threshold);
    if (cuv_trainer_ends_stage (trainer, k))
      begin_stage (self, first, end);
  }
  free (codes);
  return self->codes.bytes == NULL
      || (put_heaviest_first (trainer, self, first, end)
          && code_all (trainer, self, first, end));
}

/* ---- memory ---- */

void
cuv_train_pool_init (CuvTrainPool *self, const char *folder)
{
  cuv_train_memory_init (&self->codes, folder);
  cuv_train_memory_init (&self->pixels, folder);
}

void
cuv_train_pool_clear (CuvTrainPool *self)
{
  cuv_train_memory_clear (&self->codes);
  cuv_train_memory_clear (&self->pixels);
  free (self->alive);
  free (self->set.masses);
  free (self->set.weights);
  free (self->set.sums);
}

static bool
allocate_samples (
    const CuvTrainer *trainer, CuvTrainPool *self, bool with_codes)
{
  CuvTrainSet *set = &self->set;
  const size_t n =
      (size_t) set->n_positives + (size_t) trainer->params.n_negatives;

  set->pitch = n;
  set->masses = malloc (n * sizeof *set->masses);
  set->weights = malloc (n * sizeof *set->weights);
  set->sums = malloc (n * sizeof *set->sums);
  self->alive = malloc (n * sizeof *self->alive);
  return set->masses != NULL && set->weights != NULL && set->sums != NULL
      && self->alive != NULL
      && cuv_train_memory_grow (&self->pixels, n * window_size (trainer))
      && (!with_codes
          || cuv_train_memory_grow (
              &self->codes, n * (size_t) trainer->features.n));
}

/* ---- positives ---- */

bool
cuv_train_pool_add_positive (
    const CuvTrainer *trainer, CuvTrainPool *self, const uint8_t *pixels)
{
  const int32_t n = self->set.n_positives;

  if ((n & (n - 1)) == 0 /* double the capacity */
      && !cuv_train_memory_grow (
          &self->pixels, 2 * ((size_t) n + 1) * window_size (trainer)))
    return false;
  memcpy (pixels_of (trainer, self, n), pixels, window_size (trainer));
  self->set.n_positives = self->set.n = n + 1;
  return true;
}

bool
cuv_train_pool_begin (
    const CuvTrainer *trainer, CuvTrainPool *self, bool with_codes)
{
  if (!allocate_samples (trainer, self, with_codes))
    return false;
  self->set.codes = self->codes.bytes;
  return catch_up (trainer, self, 0, self->set.n_positives);
}

/* ---- negatives ---- */

/* Returns a model that rejects by the thresholds of weak classifiers only,
 * without a final threshold. */
static const CuvWaldboostModel *
model_of (const CuvTrainer *trainer, int32_t n_weak)
{
  CuvGridClassifier classifier = cuv_trainer_classifier (trainer);

  classifier.n_weak = n_weak;
  classifier.final_threshold = -CUV_TRAIN_MAX_SUM;
  return cuv_model_new (&classifier);
}

static bool
take_drawn (const CuvTrainer *trainer, CuvTrainPool *self,
    const CuvTrainReservoir *reservoir)
{
  CuvTrainSet *set = &self->set;

  set->n = set->n_positives + reservoir->n;
  memcpy (pixels_of (trainer, self, set->n_positives), reservoir->pixels,
      (size_t) reservoir->n * window_size (trainer));
  self->n_windows = (double) reservoir->n_windows;
  self->rate = cuv_train_reservoir_rate (reservoir);
  return catch_up (trainer, self, set->n_positives, set->n);
}

/* Returns the fraction of the windows to evaluate first so that enough of them
 * are not rejected, with 10 % to spare. It follows from the rate at the last
 * draw and the fraction of that draw's samples that remain. */
static double
share_to_draw_from (const CuvTrainer *trainer, const CuvTrainPool *self)
{
  const int32_t n = self->set.n - self->set.n_positives;
  const double alive =
      n > 0 ? self->rate * cuv_train_pool_negatives (self) / n : 0;
  const double wanted = 1.1 * trainer->params.n_negatives;

  return alive * self->n_windows > wanted ? wanted / (alive * self->n_windows)
                                          : 1;
}

static bool
draw_negatives (const CuvTrainer *trainer, CuvTrainPool *self,
    const CuvWaldboostModel *model)
{
  const CuvTrainParams *params = &trainer->params;
  CuvTrainReservoir reservoir;
  bool ok = cuv_train_reservoir_init (&reservoir, params->window_width,
      params->window_height, params->n_negatives,
      params->seed + ((uint64_t) ++self->n_draws << 32));

  reservoir.cascade = params->cascade;
  ok = ok
      && cuv_train_draw_all (&reservoir, model, &self->pictures,
          share_to_draw_from (trainer, self));
  ok = ok && take_drawn (trainer, self, &reservoir);
  cuv_train_reservoir_clear (&reservoir);
  return ok;
}

bool
cuv_train_pool_draw (
    const CuvTrainer *trainer, CuvTrainPool *self, int32_t n_weak)
{
  const CuvWaldboostModel *model =
      n_weak > 0 ? model_of (trainer, n_weak) : NULL;
  const bool ok =
      (n_weak == 0 || model != NULL) && draw_negatives (trainer, self, model);

  cuv_model_unref (model);
  return ok;
}
