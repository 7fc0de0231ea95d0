/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parses and writes detector models. model/reader.h has a map of the
 * parsers. */
#ifndef CUV_WALDBOOST_MODEL_H
#define CUV_WALDBOOST_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include "cuv-api.h"
#include "waldboost/waldboost-types.h"

/* Limits; a file that exceeds one of them is rejected. */
#define CUV_MODEL_MAX_BYTES (64 << 20)
#define CUV_MODEL_MAX_DEPTH 32        /* levels of nested XML elements */
#define CUV_MODEL_MAX_WINDOW 1024     /* width and height in pixels */
#define CUV_MODEL_MAX_STAGES 4096     /* weak classifiers in WaldBoost models */
#define CUV_MODEL_MAX_NODES (1 << 16) /* in the whole model */
#define CUV_MODEL_MAX_FEATURES (1 << 16)

/* Options that the file formats do not specify; all zeros are the defaults. */
typedef struct {
  enum {
    /* AUTO: FIXED for WaldBoostClassifier, FLOAT for WBDetector */
    CUV_ARITHMETIC_AUTO,
    CUV_ARITHMETIC_FIXED,
    CUV_ARITHMETIC_FLOAT,
  } arithmetic;              /* WaldBoost models only */
  CuvBlockValue block_value; /* WaldBoostClassifier only */
  /* boolean: LRP tables are indexed 10 * a + b instead of a + 10 * b */
  int lrp_order_10ab;
  float final_threshold; /* WaldBoostClassifier and trees on channels: added
                          * to the threshold in the file */
} CuvModelOptions;

/* Parses size bytes of XML, YAML or JSON, which may be compressed with gzip: an
 * OpenCV cascade with LBP or Haar features, a WaldBoostClassifier of BUT FIT, a
 * WBDetector of opencv_contrib, or trees on channels
 * (docs/definitions/channels.md). The format is recognised by content; if the
 * file contains several models, the first is read. options may be NULL; options
 * that do not apply to the format are ignored. Free the model with
 * cuv_model_unref(). On failure, returns NULL and sets *error to "line N:
 * reason", without a newline, which the caller passes to free(). */
CUV_API const CuvWaldboostModel *cuv_model_parse (const char *bytes,
    size_t size, const CuvModelOptions *options, char **error);

/* A classifier of features of 3x3 blocks, as arrays: a WaldBoost classifier, or
 * an OpenCV cascade of LBP stumps. The leaves of a stump have at most two
 * values. */
typedef struct {
  CuvFeature feature; /* not HAAR */
  bool cascade;
  int32_t window_width, window_height, n_weak;
  int32_t n_codes;          /* 256 for LBP, 17 for LRD, 100 for LRP */
  const CuvGridNode *nodes; /* one per weak classifier */
  const float *leaves;      /* n_codes for each weak classifier */
  /* one per weak classifier; -INFINITY: no test. In a cascade each test ends a
   * stage, and the next stage's sum starts at 0. */
  const float *thresholds;
  /* cascade: threshold of the last stage if thresholds has none for it */
  float final_threshold;
} CuvGridClassifier;

/* Returns the threshold after a weak classifier. After the last one of a
 * cascade this is final_threshold if thresholds has none. */
float cuv_grid_threshold (const CuvGridClassifier *classifier, int32_t k);

/* Returns a copy of the classifier as a model: a WaldBoost classifier in
 * fixed-point arithmetic and for a dense scan, a cascade for OpenCV's scan.
 * Release it with cuv_model_unref(). */
CUV_API const CuvWaldboostModel *cuv_model_new (
    const CuvGridClassifier *classifier);

/* Makes a model of trees on channels, and takes ownership of them. Release
 * it with cuv_model_unref(). */
CUV_API const CuvWaldboostModel *cuv_model_of_channels (
    CuvChannelsModel *channels);

/* Returns the classifier as XML that cuv_model_parse() reads; free() it. A
 * cascade is written in OpenCV's format, others in BUT FIT's, which has no
 * final threshold: the threshold is subtracted from the sums, so that it
 * becomes 0. comment: a text without "--". Returns NULL if memory runs out. */
CUV_API char *cuv_model_write (
    const CuvGridClassifier *classifier, const char *comment);

/* Returns whether all hits have the same score, which then carries no
 * information, because there is only one way to pass the cascade's last
 * stage. */
CUV_API bool cuv_model_has_one_score (const CuvWaldboostModel *model);

/* Returns whether the model rejects every window, as does a WBDetector whose
 * training failed. */
CUV_API bool cuv_model_rejects_all (const CuvWaldboostModel *model);

/* Adds a reference. Models are immutable and may be shared between threads. */
CUV_API const CuvWaldboostModel *cuv_model_ref (const CuvWaldboostModel *model);
/* NULL is allowed. */
CUV_API void cuv_model_unref (const CuvWaldboostModel *model);

#endif
