/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Random models on channels and the comparison of results, for both processors.
 */
#ifndef WALDBOOST_CHANNELS_INPUTS_H
#define WALDBOOST_CHANNELS_INPUTS_H

#include "model/channels.h"
#include "reference/waldboost-reference.h"

/* Returns a random number from low to high. */
int cuv_channels_between (int low, int high);

/* Makes a model of random trees, for cuv_model_unref(). reject: percentage of
 * the trees that have a threshold, which rejects about the same percentage of
 * the windows. */
const CuvWaldboostModel *cuv_channels_model_random (
    int shrink, int depth, int overhang, int n_trees, int reject);

/* Makes a model of a few random trees, with a window of side x side pixels and
 * an object of object x object pixels in its upper left corner. */
const CuvWaldboostModel *cuv_channels_model_square (
    int side, int object, int levels);

/* Checks that a result has the hits and counts of the definition. */
void cuv_channels_check_same (const CuvWaldboostPlan *plan,
    const CuvHitList *wanted, const CuvWaldboostResult *found);

#endif
