/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The oracle: an independent, literal implementation of a scan. It adds up
 * pixels one by one, without integral images and tables. */
#ifndef CUV_TEST_WALDBOOST_ORACLE_H
#define CUV_TEST_WALDBOOST_ORACLE_H

#include "cuvcheck.h"
#include "waldboost.h"

/* A window, as the pixels from its top left corner on. */
typedef struct {
  const uint8_t *pixels;
  int stride;
} OracleWindow;

/* Returns the grey frame; free() it. */
uint8_t *oracle_grey (const CuvFrame *frame);

/* Returns the picture whose windows are scanned: the frame, turned and
 * enlarged. free() it. */
uint8_t *oracle_picture (const CuvFrame *frame, const CuvWaldboostPlan *plan,
    int *width, int *height);

/* Returns whether the box of a window of a turned frame lies in the frame. */
bool oracle_keeps (const CuvWaldboostModel *model, const CuvWaldboostPlan *plan,
    const CuvWaldboostLevel *level, int x, int y);

/* Returns the pixels of one level; free() them. */
uint8_t *oracle_level (const CuvFrame *frame, const CuvWaldboostPlan *plan,
    const CuvWaldboostLevel *level);

/* Computes the factor of Haar values or, in WaldBoost models, their divisor.
 * Returns false if a cascade's window has too little contrast. */
bool oracle_norm (
    const CuvWaldboostModel *model, OracleWindow window, float *norm);

/* Returns the value of a Haar node; in WaldBoost models before it is quantised
 * to bins. */
float oracle_haar (const CuvWaldboostModel *model, const CuvHaarNode *node,
    OracleWindow window, float norm);

/* Returns the index of the leaf that weak classifier k selects. */
int oracle_leaf (
    const CuvWaldboostModel *model, int k, OracleWindow window, float norm);

/* Scans a frame; free() the hits and survivors of the result. */
CuvWaldboostResult oracle_scan (const CuvWaldboostModel *model,
    const CuvWaldboostPlan *plan, const CuvFrame *frame);

#endif
