/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compares the versions of the detector that the command line selects with
 * plain C, and fails checks where they differ: AVX2 and threads with --cpu,
 * CUDA with --cuda. */
#ifndef CUV_TEST_WALDBOOST_VERSIONS_H
#define CUV_TEST_WALDBOOST_VERSIONS_H

#include "waldboost-models.h"

/* ---- results ---- */

/* Returns a deep copy; free_result() it. */
CuvWaldboostResult copy_result (
    const CuvWaldboostResult *result, const CuvWaldboostPlan *plan);
void free_result (CuvWaldboostResult *result);

/* Checks that all fields except times are equal. what: the two versions, as
 * text. */
void check_equal (const char *what, const CuvWaldboostPlan *plan,
    const CuvWaldboostResult *a, const CuvWaldboostResult *b);

/* ---- one scan ---- */

/* Returns the result of plain C with one thread; free_result() it. */
CuvWaldboostResult run_reference (const CuvWaldboostModel *model,
    const CuvWaldboostPlan *plan, const CuvFrame *frame);

/* Checks that the other versions give the expected result, also when they run a
 * second time. */
void check_versions (const CuvWaldboostModel *model,
    const CuvWaldboostPlan *plan, const CuvCheckFrame *frame,
    const CuvWaldboostResult *expected);

/* Checks a scan: plain C against the oracle (waldboost-oracle.h) if
 * with_oracle, and the other versions against plain C. With CUDA, WaldBoost
 * models also run with each rearrangement, block size and several lists of
 * segments. Returns the number of hits. */
int check_scan (const CuvWaldboostModel *model,
    const CuvWaldboostParams *params, const CuvCheckFrame *frame,
    bool with_oracle);

/* ---- groups of tests, called by waldboost.c ---- */

/* Checks that a detector whose plan changes between frames gives the results of
 * a new detector, and allocates only when frames grow. */
void check_changes_of_plan (void);

void check_large_windows (void); /* waldboost-shapes.c */
void check_flat_area (void);
void check_contrast (void);
void check_files (void);

#endif
