/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "train/cpu/choose.h"
#include "train/cpu/codes.h"
#include "train/train.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The samples of a part: its positives, and negatives that are replaced when
 * too few of them live. */
typedef struct {
  CuvTrainSet set;
  uint8_t *codes;  /* of set; NULL in calibration */
  uint8_t *pixels; /* of sample i, at i times the window's size */
  bool *alive;
  CuvTrainPictures pictures;
  int32_t n_draws; /* of negatives */
  double rate;     /* share of negatives that lived at the last draw */
} Part;

struct _CuvTrainer {
  CuvTrainParams params;
  CuvTrainFeatures features;
  Part parts[CUV_TRAIN_N_PARTS];
  CuvTrainWeak *weak;
  /* the same, and thresholds, as a CuvGridClassifier has them */
  CuvGridNode *nodes;
  float *leaves, *thresholds;
  float final_threshold;
  CuvTrainChooser *chooser;
  int32_t *sorted; /* scratch memory: sums of a part */
  int32_t n_weak;
  bool begun;
};

static size_t
window_size (const CuvTrainer *self)
{
  return (size_t) self->params.window_width
      * (size_t) self->params.window_height;
}

static uint8_t *
pixels_of (const CuvTrainer *self, const Part *part, int32_t i)
{
  return part->pixels + (size_t) i * window_size (self);
}

/* Living samples from first on, before end. */
static int32_t
count_alive (const Part *part, int32_t first, int32_t end)
{
  int32_t n = 0;

  for (int32_t i = first; i < end; i++)
    n += part->alive[i];
  return n;
}

static int32_t
living_positives (const Part *part)
{
  return count_alive (part, 0, part->set.n_positives);
}

static int32_t
living_negatives (const Part *part)
{
  return count_alive (part, part->set.n_positives, part->set.n);
}

/* ---- life ---- */

CuvTrainer *
cuv_trainer_new (const CuvTrainParams *params)
{
  CuvTrainer *self = calloc (1, sizeof *self);
  const size_t n = (size_t) params->n_weak;

  if (self == NULL)
    return NULL;
  self->params = *params;
  self->weak = malloc ((n + 1) * sizeof *self->weak);
  self->nodes = malloc ((n + 1) * sizeof *self->nodes);
  self->leaves = malloc ((n + 1) * CUV_TRAIN_MAX_CODES * sizeof *self->leaves);
  self->thresholds = malloc ((n + 1) * sizeof *self->thresholds);
  if (self->weak == NULL || self->nodes == NULL || self->leaves == NULL
      || self->thresholds == NULL
      || !cuv_train_features_init (&self->features, params->feature,
          params->window_width, params->window_height, params->n_features,
          params->seed)) {
    cuv_trainer_free (self);
    return NULL;
  }
  return self;
}

static void
clear_part (Part *part)
{
  free (part->codes);
  free (part->pixels);
  free (part->alive);
  free (part->set.masses);
  free (part->set.weights);
  free (part->set.sums);
}

void
cuv_trainer_free (CuvTrainer *self)
{
  if (self == NULL)
    return;
  for (int i = 0; i < CUV_TRAIN_N_PARTS; i++)
    clear_part (&self->parts[i]);
  cuv_train_features_clear (&self->features);
  free (self->weak);
  free (self->nodes);
  free (self->leaves);
  free (self->thresholds);
  free (self->sorted);
  cuv_train_chooser_free (self->chooser);
  free (self);
}

bool
cuv_trainer_add_positive (
    CuvTrainer *self, CuvTrainPart part, const uint8_t *pixels)
{
  Part *to = &self->parts[part];
  const int32_t n = to->set.n_positives;

  if ((n & (n - 1)) == 0) { /* doubles the room */
    uint8_t *more =
        realloc (to->pixels, 2 * ((size_t) n + 1) * window_size (self));

    if (more == NULL)
      return false;
    to->pixels = more;
  }
  memcpy (pixels_of (self, to, n), pixels, window_size (self));
  to->set.n_positives = to->set.n = n + 1;
  return true;
}

void
cuv_trainer_set_negatives (
    CuvTrainer *self, CuvTrainPart part, const CuvTrainPictures *pictures)
{
  self->parts[part].pictures = *pictures;
}

/* ---- the beginning ---- */

static bool
allocate (CuvTrainer *self, Part *part, bool with_codes)
{
  CuvTrainSet *set = &part->set;
  const size_t n =
      (size_t) set->n_positives + (size_t) self->params.n_negatives;
  uint8_t *pixels = realloc (part->pixels, n * window_size (self));

  if (pixels != NULL)
    part->pixels = pixels;
  set->pitch = n;
  set->masses = malloc (n * sizeof *set->masses);
  set->weights = malloc (n * sizeof *set->weights);
  set->sums = malloc (n * sizeof *set->sums);
  part->alive = malloc (n * sizeof *part->alive);
  if (with_codes)
    set->codes = part->codes = malloc (n * (size_t) self->features.n);
  return pixels != NULL && set->masses != NULL && set->weights != NULL
      && set->sums != NULL && part->alive != NULL
      && (part->codes != NULL || !with_codes);
}

/* Adds the leaves of n_weak weak classifiers from first_weak on to the samples
 * first .. end - 1. False if memory runs out. */
static bool
add_leaves (CuvTrainer *self, Part *part, int32_t first, int32_t end,
    int32_t first_weak, int32_t n_weak)
{
  CuvTrainFeatures chosen = self->features;
  const size_t n = (size_t) (end - first);
  uint8_t *codes = malloc (n * (size_t) n_weak + 1);
  bool ok;

  chosen.nodes = self->nodes + first_weak;
  chosen.n = n_weak;
  ok = codes != NULL
      && cuv_train_code_samples (
          &chosen, pixels_of (self, part, first), end - first, codes, n, 0);
  for (int32_t k = 0; k < n_weak && ok; k++) {
    const int32_t *leaves = self->weak[first_weak + k].leaves;

    for (size_t i = 0; i < n; i++)
      cuv_train_add_leaf (
          &part->set, first + (int32_t) i, leaves[codes[(size_t) k * n + i]]);
  }
  free (codes);
  return ok;
}

/* Brings samples to where they would be, had they been there from the first
 * round on. False if memory runs out. */
static bool
catch_up (CuvTrainer *self, Part *part, int32_t first, int32_t end)
{
  for (int32_t i = first; i < end; i++) {
    part->alive[i] = true;
    part->set.sums[i] = 0;
    part->set.masses[i] = 0.5 / (end - first);
  }
  return add_leaves (self, part, first, end, 0, self->n_weak)
      && (part->codes == NULL
          || cuv_train_code_samples (&self->features,
              pixels_of (self, part, first), end - first, part->codes + first,
              part->set.pitch, 0));
}

static bool
begin (CuvTrainer *self)
{
  size_t largest = 0;

  for (int p = 0; p < CUV_TRAIN_N_PARTS; p++) {
    Part *part = &self->parts[p];

    if (!allocate (self, part, p == CUV_TRAIN_LEARNING))
      return false;
    if (!catch_up (self, part, 0, part->set.n_positives))
      return false;
    largest = part->set.pitch > largest ? part->set.pitch : largest;
  }
  self->sorted = malloc (largest * sizeof *self->sorted);
  self->chooser = cuv_train_chooser_new (
      &self->features, (int32_t) self->parts[CUV_TRAIN_LEARNING].set.pitch);
  self->begun = true;
  return self->sorted != NULL && self->chooser != NULL;
}

/* ---- negatives ---- */

/* Rejects by the thresholds of the weak classifiers only. */
static const CuvWaldboostModel *
model_of (const CuvTrainer *self)
{
  CuvGridClassifier classifier = cuv_trainer_classifier (self);

  classifier.final_threshold = -CUV_TRAIN_MAX_SUM;
  return cuv_model_new (&classifier);
}

static bool
take (CuvTrainer *self, Part *part, const CuvTrainReservoir *reservoir)
{
  CuvTrainSet *set = &part->set;

  set->n = set->n_positives + reservoir->n;
  memcpy (pixels_of (self, part, set->n_positives), reservoir->pixels,
      (size_t) reservoir->n * window_size (self));
  part->rate = reservoir->n_windows > 0
      ? (double) reservoir->n_alive / (double) reservoir->n_windows
      : 0;
  return catch_up (self, part, set->n_positives, set->n);
}

static bool
draw (CuvTrainer *self, Part *part)
{
  const CuvTrainPictures *pictures = &part->pictures;
  const CuvWaldboostModel *model = self->n_weak > 0 ? model_of (self) : NULL;
  CuvTrainReservoir reservoir;
  CuvTrainPicture picture;
  bool ok = cuv_train_reservoir_init (&reservoir, self->params.window_width,
      self->params.window_height, self->params.n_negatives,
      self->params.seed + ((uint64_t) ++part->n_draws << 32));

  for (int32_t i = 0; i < pictures->n && ok; i++) {
    if (pictures->load (pictures->data, i, &picture))
      ok = cuv_train_draw (&reservoir, model, &picture, i);
  }
  ok = ok && take (self, part, &reservoir);
  cuv_train_reservoir_clear (&reservoir);
  if (model != NULL)
    cuv_model_unref (model);
  return ok;
}

static bool
needs_negatives (const CuvTrainer *self, const Part *part)
{
  const int32_t n = part->set.n - part->set.n_positives;

  return part->n_draws == 0
      || living_negatives (part) < self->params.refill * n;
}

/* ---- rejection ---- */

static int
compare (const void *a, const void *b)
{
  const int32_t x = *(const int32_t *) a, y = *(const int32_t *) b;

  return (x > y) - (x < y);
}

/* Living samples from first on, before end; alive: the share of all that they
 * are a part of. */
static CuvTrainLiving
living (
    const Part *part, int32_t first, int32_t end, double rate, int32_t *sorted)
{
  int32_t n = 0;

  for (int32_t i = first; i < end; i++) {
    if (part->alive[i])
      sorted[n++] = part->set.sums[i];
  }
  qsort (sorted, (size_t) n, sizeof *sorted, compare);
  return (
      CuvTrainLiving){ sorted, n, end > first ? rate * n / (end - first) : 0 };
}

static int32_t
find_threshold (const CuvTrainer *self)
{
  const Part *part = &self->parts[CUV_TRAIN_CALIBRATION];
  const int32_t n_positives = part->set.n_positives;
  const CuvTrainLiving positives =
      living (part, 0, n_positives, 1, self->sorted);
  const CuvTrainLiving negatives = living (
      part, n_positives, part->set.n, part->rate, self->sorted + n_positives);

  return cuv_train_threshold (&positives, &negatives, self->params.alpha);
}

/* Misses at most the share alpha of calibration's positives that live. */
static float
find_final_threshold (const CuvTrainer *self)
{
  const Part *part = &self->parts[CUV_TRAIN_CALIBRATION];
  const CuvTrainLiving positives =
      living (part, 0, part->set.n_positives, 1, self->sorted);
  const int32_t n_missed = (int32_t) (self->params.alpha * positives.n);

  if (positives.n == 0)
    return 0;
  return ldexpf ((float) (positives.sums[n_missed] - 1), -CUV_TRAIN_LEAF_BITS);
}

static void
reject (Part *part, int32_t threshold)
{
  for (int32_t i = 0; i < part->set.n; i++) {
    if (part->alive[i] && part->set.sums[i] < threshold) {
      part->alive[i] = false;
      part->set.masses[i] = 0;
    }
  }
}

/* ---- a round ---- */

/* Leaves and thresholds are exact in float. */
static void
keep_weak (CuvTrainer *self, const CuvTrainWeak *weak)
{
  const int k = self->n_weak, n_codes = self->features.n_codes;

  self->nodes[k] = self->features.nodes[weak->feature];
  for (int code = 0; code < n_codes; code++)
    self->leaves[k * n_codes + code] =
        ldexpf ((float) weak->leaves[code], -CUV_TRAIN_LEAF_BITS);
}

static void
keep_threshold (CuvTrainer *self, int32_t threshold)
{
  self->thresholds[self->n_weak] = threshold == CUV_TRAIN_NO_THRESHOLD
      ? -INFINITY
      : ldexpf ((float) threshold, -CUV_TRAIN_LEAF_BITS);
}

/* False if memory runs out. */
static bool
add_weak (CuvTrainer *self)
{
  Part *learning = &self->parts[CUV_TRAIN_LEARNING];
  Part *calibration = &self->parts[CUV_TRAIN_CALIBRATION];
  CuvTrainSet *set = &learning->set;
  CuvTrainWeak *weak = &self->weak[self->n_weak];
  int32_t threshold;

  set->n_alive = count_alive (learning, 0, set->n);
  cuv_train_weigh (set);
  cuv_train_learn (&self->features, set,
      cuv_train_chooser_run (self->chooser, set, 0), weak);
  keep_weak (self, weak);
  if (!add_leaves (self, calibration, 0, calibration->set.n, self->n_weak, 1))
    return false;
  threshold = find_threshold (self);
  keep_threshold (self, threshold);
  for (int p = 0; p < CUV_TRAIN_N_PARTS; p++)
    reject (&self->parts[p], threshold);
  self->final_threshold = find_final_threshold (self);
  self->n_weak++;
  return true;
}

static bool
is_done (const CuvTrainer *self)
{
  return self->n_weak == self->params.n_weak
      || (self->n_weak > 0
          && cuv_trainer_progress (self).rate <= self->params.rate);
}

CuvTrainState
cuv_trainer_step (CuvTrainer *self)
{
  const Part *learning = &self->parts[CUV_TRAIN_LEARNING];

  if (!self->begun && !begin (self))
    return CUV_TRAIN_NO_MEMORY;
  if (is_done (self))
    return CUV_TRAIN_DONE;
  if (living_positives (learning) == 0)
    return CUV_TRAIN_NO_POSITIVES;
  for (int p = 0; p < CUV_TRAIN_N_PARTS; p++) {
    if (needs_negatives (self, &self->parts[p])
        && !draw (self, &self->parts[p]))
      return CUV_TRAIN_NO_MEMORY;
  }
  if (living_negatives (learning) == 0)
    return CUV_TRAIN_NO_NEGATIVES;
  return add_weak (self) ? CUV_TRAIN_CONTINUE : CUV_TRAIN_NO_MEMORY;
}

/* ---- what came of it ---- */

CuvTrainProgress
cuv_trainer_progress (const CuvTrainer *self)
{
  const Part *part = &self->parts[CUV_TRAIN_CALIBRATION];
  const int32_t n_positives = part->set.n_positives;
  const int32_t n_negatives = part->set.n - n_positives;
  CuvTrainProgress progress = { .n_weak = self->n_weak };

  if (!self->begun)
    return progress;
  for (int p = 0; p < CUV_TRAIN_N_PARTS; p++) {
    progress.alive[p][0] = living_negatives (&self->parts[p]);
    progress.alive[p][1] = living_positives (&self->parts[p]);
  }
  if (n_negatives > 0)
    progress.rate =
        part->rate * progress.alive[CUV_TRAIN_CALIBRATION][0] / n_negatives;
  if (n_positives > 0)
    progress.recall =
        (double) progress.alive[CUV_TRAIN_CALIBRATION][1] / n_positives;
  return progress;
}

CuvGridClassifier
cuv_trainer_classifier (const CuvTrainer *self)
{
  return (CuvGridClassifier){ .feature = self->params.feature,
    .window_width = self->params.window_width,
    .window_height = self->params.window_height,
    .n_weak = self->n_weak,
    .n_codes = self->features.n_codes,
    .nodes = self->nodes,
    .leaves = self->leaves,
    .thresholds = self->thresholds,
    .final_threshold = self->final_threshold };
}
