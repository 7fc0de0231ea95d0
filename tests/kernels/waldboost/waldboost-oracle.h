/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The oracle: an independent literal implementation of a scan, which sums
 * pixels one by one, without integral images and tables. */
#ifndef CUV_TEST_WALDBOOST_ORACLE_H
#define CUV_TEST_WALDBOOST_ORACLE_H

#include "cuvcheck.h"
#include "waldboost.h"

/* A window: the pixels from its top left corner on. */
typedef struct {
  const uint8_t *pixels;
  int stride;
} OracleWindow;

/* The grey frame; free() it. */
uint8_t *oracle_grey (const CuvFrame *frame);

/* The turned frame, enlarged: the picture whose windows are scanned; free() it.
 */
uint8_t *oracle_picture (const CuvFrame *frame, const CuvWaldboostPlan *plan,
    int *width, int *height);

/* Whether the box of a window of a turned frame is in the frame. */
bool oracle_keeps (const CuvWaldboostModel *model, const CuvWaldboostPlan *plan,
    const CuvWaldboostLevel *level, int x, int y);

/* One level's pixels; free() them. */
uint8_t *oracle_level (const CuvFrame *frame, const CuvWaldboostPlan *plan,
    const CuvWaldboostLevel *level);

/* The factor of Haar values, in WaldBoost models their divisor. Returns false
 * if a cascade's window has too little contrast. */
bool oracle_norm (
    const CuvWaldboostModel *model, OracleWindow window, float *norm);

/* A Haar node's value; in WaldBoost models before quantisation to bins. */
float oracle_haar (const CuvWaldboostModel *model, const CuvHaarNode *node,
    OracleWindow window, float norm);

/* The index of the leaf that weak classifier k selects. */
int oracle_leaf (
    const CuvWaldboostModel *model, int k, OracleWindow window, float norm);

/* free() hits and survivors. */
CuvWaldboostResult oracle_scan (const CuvWaldboostModel *model,
    const CuvWaldboostPlan *plan, const CuvFrame *frame);

#endif
