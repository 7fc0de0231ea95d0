/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Enumerates the features to choose from, and computes their codes. */
#include "reference/waldboost-reference.h"
#include "train.h"

#include <stdlib.h>

/* ---- enumeration ---- */

typedef struct {
  CuvTrainFeatures *features;
  int64_t left;    /* number of features not seen yet */
  uint64_t random; /* state of the generator */
  int32_t n_max;
} Chooser;

/* Keeps the feature with such a probability that n_max features are kept in
 * the end: D. Knuth, The Art of Computer Programming, volume 2, algorithm
 * 3.4.2 S. */
static void
keep_feature (Chooser *self, const CuvGridNode *node)
{
  CuvTrainFeatures *features = self->features;
  const uint64_t wanted = (uint64_t) (self->n_max - features->n);

  if (cuv_train_random (&self->random) % (uint64_t) self->left < wanted)
    features->nodes[features->n++] = *node;
  self->left--;
}

static void
choose_pairs (Chooser *self, CuvGridNode node)
{
  if (self->features->feature == CUV_FEATURE_LBP) {
    keep_feature (self, &node);
    return;
  }
  for (node.a = 0; node.a < 9; node.a++) {
    for (node.b = node.a + 1; node.b < 9; node.b++)
      keep_feature (self, &node);
  }
}

/* Counts the positions and sizes of three blocks along a side. */
static int64_t
count_along (int side)
{
  int64_t n = 0;

  for (int size = 1; 3 * size <= side; size++)
    n += side - 3 * size + 1;
  return n;
}

static void
choose_all (Chooser *self)
{
  const int right = self->features->window_width;
  const int bottom = self->features->window_height;

  for (int x = 0; x < right; x++) {
    for (int y = 0; y < bottom; y++) {
      for (int w = 1; x + 3 * w <= right; w++) {
        for (int h = 1; y + 3 * h <= bottom; h++)
          choose_pairs (self,
              (CuvGridNode){ .x = (int16_t) x,
                  .y = (int16_t) y,
                  .width = (int16_t) w,
                  .height = (int16_t) h });
      }
    }
  }
}

bool
cuv_train_features_init (CuvTrainFeatures *self, CuvFeature feature,
    int window_width, int window_height, int32_t n_max, uint64_t seed)
{
  static const int n_codes[] = {
    [CUV_FEATURE_LBP] = 256, [CUV_FEATURE_LRD] = 17, [CUV_FEATURE_LRP] = 100
  };
  const int n_pairs = feature == CUV_FEATURE_LBP ? 1 : 36;
  Chooser chooser = { self,
    count_along (window_width) * count_along (window_height) * n_pairs, seed,
    n_max };

  if (chooser.left < n_max)
    chooser.n_max = (int32_t) chooser.left;
  *self = (CuvTrainFeatures){ feature, window_width, window_height,
    n_codes[feature], 0, malloc ((size_t) chooser.n_max * sizeof *self->nodes),
    false };
  if (self->nodes == NULL)
    return false;
  choose_all (&chooser);
  return true;
}

void
cuv_train_features_clear (CuvTrainFeatures *self)
{
  free (self->nodes);
  *self = (CuvTrainFeatures){ 0 };
}

/* ---- codes ---- */

void
cuv_train_codes (const CuvTrainFeatures *self, const uint8_t *pixels,
    uint8_t *codes, size_t pitch)
{
  uint32_t sums[(CUV_TRAIN_MAX_WINDOW + 1) * (CUV_TRAIN_MAX_WINDOW + 1)] = {
    0
  };
  const int width = self->window_width;
  const CuvWaldboostModel model = { .feature = self->feature,
    .inclusive = self->cascade };
  const CuvIntegrals integrals = { .sums = sums, .stride = width + 1 };

  for (int y = 0; y < self->window_height; y++)
    cuv_sum_row (sums + (y + 1) * (width + 1), sums + y * (width + 1),
        pixels + y * width, width, 1, width + 1);
  for (int32_t f = 0; f < self->n; f++)
    codes[(size_t) f * pitch] =
        (uint8_t) cuv_grid_code (&model, &integrals, 0, &self->nodes[f]);
}
