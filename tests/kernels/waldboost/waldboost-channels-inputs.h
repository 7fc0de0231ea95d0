/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Random models on channels, and the comparison of results, for tests of both
 * processors. */
#ifndef WALDBOOST_CHANNELS_INPUTS_H
#define WALDBOOST_CHANNELS_INPUTS_H

#include "model/channels.h"
#include "reference/waldboost-reference.h"

/* A random number, low .. high. */
int cuv_channels_between (int low, int high);

/* A model of random trees, for cuv_model_unref(). reject: share of the trees
 * with a threshold that rejects about that share of the windows, in percent. */
const CuvWaldboostModel *cuv_channels_model_random (
    int shrink, int depth, int overhang, int n_trees, int reject);

/* A model of a few random trees, in a window of side x side pixels, with an
 * object of object x object in its upper left corner. */
const CuvWaldboostModel *cuv_channels_model_square (
    int side, int object, int levels);

/* Checks that a result has the hits and counts of the definition. */
void cuv_channels_check_same (const CuvWaldboostPlan *plan,
    const CuvHitList *wanted, const CuvWaldboostResult *found);

#endif
