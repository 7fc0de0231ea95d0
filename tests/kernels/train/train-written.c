/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Training: classifiers that are converted to models and written to files. */
#include "train-groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N_WEAK = 7 };

/* Returns a random leaf with so few digits that float sums are exact. */
static float
random_value (void)
{
  return ldexpf ((float) (int) cuv_check_below (20000) - 10000, -12);
}

/* Makes a random stump; some have two equal leaves. */
static void
random_stump (float leaves[CUV_TRAIN_MAX_CODES])
{
  const float pair[2] = { random_value (), random_value () };
  const uint32_t n_high = cuv_check_below (4);

  for (int code = 0; code < CUV_TRAIN_MAX_CODES; code++)
    leaves[code] = pair[cuv_check_below (3) < n_high];
}

typedef struct {
  CuvTrainFeatures features;
  CuvGridNode nodes[N_WEAK];
  float thresholds[N_WEAK], leaves[N_WEAK * CUV_TRAIN_MAX_CODES];
} Cascade;

/* Makes stages of one to three weak classifiers; the last stage may have no
 * threshold. */
static CuvGridClassifier
cascade_init (Cascade *self, int width, int height)
{
  int at = -1;

  cuv_train_features_init (
      &self->features, CUV_FEATURE_LBP, width, height, N_WEAK, 3);
  for (int k = 0; k < N_WEAK; k++) {
    self->nodes[k] = self->features.nodes[k];
    random_stump (self->leaves + (ptrdiff_t) k * CUV_TRAIN_MAX_CODES);
    self->thresholds[k] = k == at + 1 + (int) cuv_check_below (3) || k == at + 3
        ? random_value ()
        : -INFINITY;
    if (self->thresholds[k] > -INFINITY)
      at = k;
  }
  return (CuvGridClassifier){ CUV_FEATURE_LBP, true, width, height, N_WEAK,
    CUV_TRAIN_MAX_CODES, self->nodes, self->leaves, self->thresholds,
    random_value () };
}

static void
check_model (const CuvWaldboostModel *written, const CuvWaldboostModel *made)
{
  CUV_CHECK (written->n_weak == made->n_weak
      && written->n_leaves == made->n_leaves
      && written->feature == made->feature
      && written->window_width == made->window_width
      && written->window_height == made->window_height
      && written->fixed_bits == made->fixed_bits);
  for (int k = 0; k < N_WEAK; k++) {
    const CuvGridNode *a = &written->nodes[k], *b = &made->nodes[k];

    CUV_CHECK (a->x == b->x && a->y == b->y && a->width == b->width
        && a->height == b->height && a->a == b->a && a->b == b->b);
    CUV_CHECK (
        written->weak[k].fixed_threshold == made->weak[k].fixed_threshold);
  }
  CUV_CHECK (memcmp (written->fixed_leaves, made->fixed_leaves,
                 (size_t) made->n_leaves * sizeof *made->fixed_leaves)
      == 0);
}

/* Returns the value that weak classifier k of a cascade has for a code. */
static float
leaf_of (const CuvWaldboostModel *model, int k, int code)
{
  const CuvGridNode *node = &model->nodes[model->weak[k].first_node];
  const int child =
      node->subset[code / 32] >> code % 32 & 1 ? node->left : node->right;

  return model->leaves[model->weak[k].first_leaf - child];
}

static void
check_cascade (
    const CuvWaldboostModel *model, const CuvGridClassifier *classifier)
{
  CUV_CHECK (model->arithmetic == CUV_SUM_STAGES
      && model->scan == CUV_SCAN_OPENCV && model->inclusive
      && model->window_width == classifier->window_width
      && model->window_height == classifier->window_height
      && model->n_weak == N_WEAK);
  for (int k = 0; k < N_WEAK; k++) {
    const CuvGridNode *a = &model->nodes[k], *b = &classifier->nodes[k];
    const bool last = k == N_WEAK - 1;
    float threshold = classifier->thresholds[k];

    if (last && threshold == -INFINITY)
      threshold = classifier->final_threshold;
    CUV_CHECK (a->x == b->x && a->y == b->y && a->width == b->width
        && a->height == b->height);
    CUV_CHECK (model->weak[k].threshold == threshold - 1e-5f);
    CUV_CHECK (!model->weak[k].restart
        == (k > 0 && classifier->thresholds[k - 1] == -INFINITY));
    for (int code = 0; code < CUV_TRAIN_MAX_CODES; code++)
      CUV_CHECK (leaf_of (model, k, code)
          == classifier->leaves[k * CUV_TRAIN_MAX_CODES + code]);
  }
}

static void
check_written_cascade (void)
{
  Cascade cascade;
  const CuvGridClassifier classifier = cascade_init (&cascade, 20, 12);
  const CuvWaldboostModel *written, *made = cuv_model_new (&classifier);
  char *text, *problem = NULL;

  cuv_check_case ("writing a cascade");
  check_cascade (made, &classifier);
  text = cuv_model_write (&classifier, "a comment");
  written = cuv_model_parse (text, strlen (text), NULL, &problem);
  CUV_CHECK (written != NULL, ": %s", problem);
  check_cascade (written, &classifier);
  CUV_CHECK (written->n_stages == made->n_stages
      && memcmp (written->stage_first, made->stage_first,
             ((size_t) made->n_stages + 1) * sizeof *made->stage_first)
          == 0);
  cuv_model_unref (written);
  cuv_model_unref (made);
  cuv_train_features_clear (&cascade.features);
  free (text);
}

/* Checks a picture with more hits than the detector's list holds. The windows
 * that OpenCV's scan skips are not drawn. */
void
check_full_list (void)
{
  CuvCheckFrame frame =
      cuv_check_frame_new ("GRAY8", 800, 500, CUV_CHECK_TEXTURE);
  Cascade cascade;
  CuvGridClassifier classifier = cascade_init (&cascade, 12, 10);
  const CuvTrainBox boxes[] = { { 20, 30, 40, 30 }, { 31, 10, 90, 70.5 } };
  const CuvTrainPicture picture = { frame.frame, boxes,
    (int32_t) cuv_check_below (3) };
  const CuvWaldboostModel *model;
  CuvTrainReservoir reservoir;

  for (int k = 0; k < N_WEAK; k++) { /* the first stump decides */
    cascade.thresholds[k] = k > 0 ? -1000 : 0;
    for (int code = 0; code < CUV_TRAIN_MAX_CODES; code++)
      cascade.leaves[k * CUV_TRAIN_MAX_CODES + code] = code % 3 ? 1 : -1;
  }
  model = cuv_model_new (&classifier);
  cuv_check_case ("more hits than the list holds, %d boxes", picture.n_boxes);
  CUV_CHECK (cuv_train_reservoir_init (&reservoir, 12, 10, 1000000, 1));
  reservoir.cascade = true;
  CUV_CHECK (cuv_train_draw (&reservoir, model, &picture, 0));
  CUV_CHECK (reservoir.n > CUV_WALDBOOST_MAX_HITS
          && (uint64_t) reservoir.n == reservoir.n_alive,
      ": %d windows drawn of %d", reservoir.n, (int) reservoir.n_alive);
  cuv_train_reservoir_clear (&reservoir);
  cuv_model_unref (model);
  cuv_train_features_clear (&cascade.features);
  cuv_check_frame_free (&frame);
}

/* Checks that a model that is read again is the one that was written. */
static void
check_written_waldboost (CuvFeature feature)
{
  CuvTrainFeatures features;
  CuvGridNode nodes[N_WEAK];
  float thresholds[N_WEAK], leaves[N_WEAK * CUV_TRAIN_MAX_CODES];
  CuvGridClassifier classifier = { feature, false, 20, 12, N_WEAK, 0, nodes,
    leaves, thresholds, 0 };
  const CuvWaldboostModel *written, *made;
  char *text, *problem = NULL;

  cuv_check_case ("writing a model of feature %d", feature);
  cuv_train_features_init (&features, feature, 20, 12, N_WEAK, 3);
  classifier.n_codes = features.n_codes;
  for (int k = 0; k < N_WEAK; k++) {
    nodes[k] = features.nodes[k];
    thresholds[k] = k % 3 == 1 ? -INFINITY : random_value ();
  }
  for (int i = 0; i < N_WEAK * features.n_codes; i++)
    leaves[i] = random_value ();
  classifier.final_threshold = random_value ();
  text = cuv_model_write (&classifier, "a comment");
  written = cuv_model_parse (text, strlen (text), NULL, &problem);
  CUV_CHECK (written != NULL, ": %s", problem);
  /* the file's first leaves are smaller by the final threshold */
  for (int i = 0; i < features.n_codes; i++)
    leaves[i] -= classifier.final_threshold;
  for (int k = 0; k < N_WEAK; k++)
    thresholds[k] -= classifier.final_threshold;
  classifier.final_threshold = 0;
  made = cuv_model_new (&classifier);
  check_model (written, made);
  cuv_model_unref (written);
  cuv_model_unref (made);
  cuv_train_features_clear (&features);
  free (text);
}

void
check_written (CuvFeature feature)
{
  check_written_waldboost (feature);
  check_written_cascade ();
}
