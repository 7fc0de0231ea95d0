/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parses and writes detector models. For the parsers see model/reader.h. */
#ifndef CUV_WALDBOOST_MODEL_H
#define CUV_WALDBOOST_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include "waldboost/waldboost-types.h"

/* Limits; a file beyond one of them is rejected. */
#define CUV_MODEL_MAX_BYTES (64 << 20)
#define CUV_MODEL_MAX_DEPTH 32        /* depth of nested XML elements */
#define CUV_MODEL_MAX_WINDOW 1024     /* pixels, each side */
#define CUV_MODEL_MAX_STAGES 4096     /* weak classifiers of WaldBoost models */
#define CUV_MODEL_MAX_NODES (1 << 16) /* in the whole model */
#define CUV_MODEL_MAX_FEATURES (1 << 16)

/* Options that the file formats do not specify; all zeros are the defaults. */
typedef struct {
  enum {
    /* fixed for WaldBoostClassifier, float for WBDetector */
    CUV_ARITHMETIC_AUTO,
    CUV_ARITHMETIC_FIXED,
    CUV_ARITHMETIC_FLOAT,
  } arithmetic;              /* WaldBoost models only */
  CuvBlockValue block_value; /* WaldBoostClassifier only */
  int lrp_order_10ab;    /* LRP tables are indexed 10 * a + b, not a + 10 * b */
  float final_threshold; /* WaldBoostClassifier and trees on channels: added
                          * to the threshold in the file */
} CuvModelOptions;

/* Parses size bytes of XML: an OpenCV cascade with LBP or Haar features, a
 * WaldBoostClassifier of BUT FIT, a WBDetector of opencv_contrib, or trees on
 * channels (docs/definitions/channels.md). The format
 * is recognised by content; if the file holds several models, the first is
 * read. options may be NULL; those that do not apply to the format are ignored.
 * Free the model with cuv_model_unref(). On failure returns NULL and sets
 * *error to "line N: reason", without a newline; free() it. */
const CuvWaldboostModel *cuv_model_parse (const char *bytes, size_t size,
    const CuvModelOptions *options, char **error);

/* A classifier of features of 3x3 blocks, as arrays: a WaldBoost classifier, or
 * an OpenCV cascade of LBP stumps. The leaves of a stump have at most two
 * values. */
typedef struct {
  CuvFeature feature; /* not HAAR */
  bool cascade;
  int32_t window_width, window_height, n_weak;
  int32_t n_codes;          /* 256 of LBP, 17 of LRD, 100 of LRP */
  const CuvGridNode *nodes; /* n_weak */
  const float *leaves;      /* n_codes of each weak classifier */
  /* n_weak; -INFINITY: no test. In a cascade each test ends a stage, and the
   * next stage's sum starts at 0. */
  const float *thresholds;
  float final_threshold; /* of a cascade: threshold of the last stage, if
                          * thresholds has none for it */
} CuvGridClassifier;

/* The threshold after a weak classifier; after the last of a cascade,
 * final_threshold counts, too. */
float cuv_grid_threshold (const CuvGridClassifier *classifier, int32_t k);

/* A copy of the classifier as a model: a WaldBoost classifier in fixed-point
 * arithmetic and for a dense scan, a cascade for OpenCV's scan. Release it
 * with cuv_model_unref(). */
const CuvWaldboostModel *cuv_model_new (const CuvGridClassifier *classifier);

/* Makes a model of trees on channels, and takes ownership of them. Release
 * it with cuv_model_unref(). */
const CuvWaldboostModel *cuv_model_of_channels (CuvChannelsModel *channels);

/* The classifier as XML that cuv_model_parse() reads; free() it. A cascade is
 * written in OpenCV's format, others in BUT FIT's. The latter has no final
 * threshold: it is subtracted from the sums, so that 0 takes its place.
 * comment: text without "--". Returns NULL if memory runs out. */
char *cuv_model_write (
    const CuvGridClassifier *classifier, const char *comment);

/* Whether all hits have the same score, which then carries no information:
 * there is only one way to pass the last stage of the cascade. */
bool cuv_model_has_one_score (const CuvWaldboostModel *model);

/* Whether the model rejects every window, as a WBDetector whose training failed
 * does. */
bool cuv_model_rejects_all (const CuvWaldboostModel *model);

/* Models are immutable and may be shared between threads. */
const CuvWaldboostModel *cuv_model_ref (const CuvWaldboostModel *model);
void cuv_model_unref (const CuvWaldboostModel *model); /* NULL is allowed */

#endif
