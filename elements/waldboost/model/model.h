/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reading a detector's model from the bytes of a file. */
#ifndef CUV_WALDBOOST_MODEL_H
#define CUV_WALDBOOST_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include "waldboost/waldboost-types.h"

/* Limits of what is read; more is refused. */
#define CUV_MODEL_MAX_BYTES (64 << 20)
#define CUV_MODEL_MAX_DEPTH 32        /* of nested XML elements */
#define CUV_MODEL_MAX_WINDOW 1024     /* pixels, each side */
#define CUV_MODEL_MAX_STAGES 4096     /* weak classifiers of WaldBoost models */
#define CUV_MODEL_MAX_NODES (1 << 16) /* in the whole model */
#define CUV_MODEL_MAX_FEATURES (1 << 16)

/* What a file leaves open; all 0 is the default. */
typedef struct {
  enum {
    CUV_ARITHMETIC_AUTO, /* fixed for WaldBoostClassifier, float for WBDetector
                          */
    CUV_ARITHMETIC_FIXED,
    CUV_ARITHMETIC_FLOAT,
  } arithmetic;              /* cascades have their own */
  CuvBlockValue block_value; /* of WaldBoostClassifier models */
  int lrp_order_10ab;    /* LRP tables are indexed 10 * a + b, not a + 10 * b */
  float final_threshold; /* of WaldBoostClassifier models */
} CuvModelOptions;

/* The model in the given bytes of an XML file: an OpenCV cascade with LBP or
 * Haar features, a WaldBoostClassifier of BUT FIT, or a WBDetector of
 * opencv_contrib. What it is shows from its content, not from a name; of
 * several in a file the first is read. options may be NULL, and what they say
 * of other formats does not matter. Free it with cuv_model_unref(). On failure
 * returns NULL and sets *error to "line N: reason" in plain words, without a
 * newline: free() it. */
const CuvWaldboostModel *cuv_model_parse (const char *bytes, size_t size,
    const CuvModelOptions *options, char **error);

/* Whether all windows that pass get the same score, which then says nothing:
 * the last stage of a cascade can be passed in one way only. */
bool cuv_model_has_one_score (const CuvWaldboostModel *model);

/* A model does not change, so any number of threads may share it. */
const CuvWaldboostModel *cuv_model_ref (const CuvWaldboostModel *model);
void cuv_model_unref (const CuvWaldboostModel *model); /* NULL is allowed */

#endif
